"""Units: samples, taxa and reads in the place of documents, words and tokens, in every label and in no data."""

from __future__ import annotations

import json
import re

import pytest

import bursty
from bursty import BayesClassifier, Corpus, Mixture, plot, report
from bursty.corpus import write_shards
from bursty.corpus.units import units_of
from bursty.families import DCM, EDCM

UNITS = ("sample", "taxon", "read")
OURS = re.compile(r"\b(documents?|words?|tokens?)\b", re.IGNORECASE)


def renamed(corpus):
    """The corpus with words that are not among ours, and units of its own."""
    return Corpus(
        corpus.counts, [f"t{i}" for i in range(corpus.n_words)], ids=[f"s{i}" for i in range(len(corpus))],
        labels=corpus.labels, label_names=corpus.label_names, metadata=corpus.metadata, units=UNITS,
    )  # fmt: skip


@pytest.fixture(scope="module")
def samples(corpus):
    return renamed(corpus)


@pytest.fixture(scope="module")
def model(samples):
    return Mixture(3, random_state=0).fit(samples)


def test_they_are_saved_with_the_corpus_and_the_model(samples, model, tmp_path):
    assert repr(samples).startswith("<Corpus 120 samples x 60 taxa,")
    assert bursty.read_corpus(samples.save(tmp_path / "c")).units == samples.units
    assert samples.select([0, 1]).units == samples.units
    assert samples.with_units("document,word,token").units.are_default
    assert bursty.load(bursty.save(model, tmp_path / "m")).units == samples.units
    assert units_of(None, model) == samples.units
    assert "<th>sample</th>" in samples._repr_html_()
    shards = write_shards(tmp_path / "all.bshards", samples)
    assert shards.units == samples.units
    assert repr(shards).startswith("<ShardedCorpus 120 samples x 60 taxa,")


def test_plots_of_counts_and_families_have_them(samples):
    dcm, edcm = DCM().fit(samples), EDCM().fit(samples)
    assert plot.count_probabilities(samples).get_xlabel() == "occurrences in a sample"
    assert plot.probabilities(dcm, edcm, samples).get_title(loc="left") == "One dot per sample"
    assert plot.parameters(dcm, edcm).get_title(loc="left") == "One dot per taxon"


def test_every_label_of_a_report(samples, model):
    classifier = BayesClassifier(smoothing=0.01).fit(samples)
    several = bursty.DCMLDA(4, n_iter=5, tol=0, random_state=0).fit(samples)
    for fitted in (model, several, classifier):
        page = report.render(fitted, samples)
        script = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
        text = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
        text = re.sub(r"<[^>]*>", " ", text)
        assert OURS.findall(text.replace("Modeling word burstiness", "")) == []  # the title of a paper
        assert "samples" in text
        data = json.loads(script)
        titles = [column["title"] for column in data["documents"]["columns"]]
        assert titles[0] == "Sample"
        assert titles[-1] == "Reads"
        assert not OURS.search(str(re.findall(r'"title":"([^"]*)"', script)))
        assert data["units"]["plural"] == ["samples", "taxa", "reads"]


def test_labels_of_plots(model):
    import matplotlib.pyplot as plt

    ax = plot.cluster_sizes(model)
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("samples", "120 samples in 3 clusters")
    plt.close(ax.figure)
