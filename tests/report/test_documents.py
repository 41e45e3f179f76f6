"""Documents on a page: those without words, sparse periods, and tables of bounded size."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from tests.report.test_render import read

from bursty import BayesClassifier, Corpus, Mixture, report
from bursty.report import documents


def test_periods_with_few_documents_are_not_shown(corpus, topics):
    years = np.array([1990, 1991, *[2000 + i % 4 for i in range(118)]])
    page = read(report.render(topics, Corpus(corpus.counts, corpus.vocabulary, metadata={"year": years})))
    assert "Not shown: 2 years with fewer than 3 documents." in page.text
    values = page.data["charts"]["trend-0"]["data"]["values"]
    assert {value["when"] for value in values} == {"2000", "2001", "2002", "2003"}


def test_documents_without_words_are_in_no_cluster_and_no_topic(corpus, topics):
    counts = corpus.counts.toarray()
    counts[[3, 50]] = 0
    gaps = Corpus(counts, corpus.vocabulary)
    with pytest.warns(UserWarning, match="no words"):
        model = Mixture(3, random_state=0).fit(gaps)
    page = read(report.render(model, gaps))
    assert "2 documents have no words and are in no cluster." in page.text
    sizes = [value["value"] for value in page.data["charts"]["sizes"]["data"]["values"]]
    assert sizes == model.sizes_.tolist()
    assert sum(sizes) == 118
    columns = {column["title"]: column["values"] for column in page.data["documents"]["columns"]}
    for title in ("Cluster", "Certainty", "Runner-up", "Its probability"):
        assert title not in columns or columns[title][3] is columns[title][50] is None
    page = read(report.render(topics, gaps))
    columns = {column["title"]: column["values"] for column in page.data["documents"]["columns"]}
    assert columns["Main topic"][3] is columns["Its share"][50] is None


def test_the_table_of_documents_is_bounded(corpus, mixture, monkeypatch):
    monkeypatch.setattr(documents, "MOST_ROWS", 20)
    table = read(report.render(mixture, corpus)).data["documents"]
    assert table["total"] == 120
    assert {len(column["values"]) for column in table["columns"]} == {20}
    assert len(table["keywords"]) == 20


def test_rows_shown_are_the_least_certain_and_the_most_certain_of_each_group(monkeypatch):
    monkeypatch.setattr(documents, "MOST_ROWS", 6)
    codes = np.array([0, 0, 0, 0, 0, 1, 1, 2, -1])
    certainty = np.array([0.9, 0.5, 0.8, 0.3, 0.7, 0.6, 0.95, 0.4, np.nan])
    # Row 8 has no group; 3 and 7 are the least certain; 0 and 6 lead their groups, then 2 is next of the larger one.
    assert documents.rows_shown(codes, certainty).tolist() == [0, 2, 3, 6, 7, 8]


def test_discriminative_words_of_classes_are_not_those_that_all_have_in_common():
    rng = np.random.default_rng(0)
    counts = rng.poisson([20.0, 18.0, 16.0, *[1.0] * 9], (90, 12))
    labels = np.arange(90) % 3
    for k in range(3):
        counts[labels == k, 3 + 3 * k : 6 + 3 * k] += rng.poisson(3.0, (30, 3))
    words = ["the", "of", "to", *[f"{kind}{i}" for kind in ("sea", "law", "tree") for i in range(3)]]
    corpus = Corpus(counts, words, labels=np.array(["sea", "law", "tree"])[labels])
    page = read(report.render(BayesClassifier().fit(corpus)))
    assert not re.search(r"Discriminative words (the|of|to) ", " ".join(page.text.split()))


def test_small_groups_are_on_the_map_of_many_documents():
    n = 10 * documents.MOST_DOTS
    groups = np.zeros(n, dtype=int)
    groups[1:12] = 1
    groups[12:112] = 2
    groups[-5:] = -1
    chart = documents.document_map(np.zeros((n, 2)), groups, ["1: a", "2: b", "3: c", "4: d"], ["x"] * n, ["y"] * n)
    dots = Counter(point["group"] for point in chart.spec["data"]["values"])
    assert dots["2: b"] == 11
    assert documents.FEWEST_DOTS <= dots["3: c"] <= 2 * documents.FEWEST_DOTS
    assert dots["1: a"] <= documents.MOST_DOTS
    assert set(dots) == {"1: a", "2: b", "3: c"}
    assert f"{sum(dots.values()):,} of {n - 5:,}" in chart.caption
    assert documents.document_map(np.zeros((2, 2)), np.full(2, -1), ["1: a"], ["x"] * 2, ["y"] * 2).caption
