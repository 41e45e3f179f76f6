"""`bursty infer` on raw texts, with the tokens of the fit: of a pipeline, of a corpus, of the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import bursty

VECTORIZERS = {
    "counts": CountVectorizer(stop_words=["the", "and"], ngram_range=(1, 2), min_df=2),
    "binary": CountVectorizer(binary=True),
    "tf-idf": TfidfVectorizer(),
    "hashing": HashingVectorizer(n_features=128, alternate_sign=False, norm=None),
}


def texts_of(folder):
    paths = sorted((folder / "mails").rglob("*.txt"), key=lambda path: path.relative_to(folder).as_posix())
    return [path.read_text() for path in paths], [path.parent.name for path in paths]


@pytest.mark.parametrize("name", VECTORIZERS)
def test_a_pipeline_reads_raw_texts(name, bench):
    texts, kinds = texts_of(bench.folder)
    family = "multinomial" if name == "tf-idf" else "dcm"
    pipeline = make_pipeline(VECTORIZERS[name], bursty.BayesClassifier(family)).fit(texts, kinds)
    bursty.save(pipeline, bench.folder / "pipeline.bursty")
    for verb in (["infer"], ["classify", "predict"]):
        outcome = bench(*verb, "pipeline.bursty", "mails", "--json")
        assert outcome.code == 0, outcome.err
        rows = json.loads(outcome.out)["tables"]["documents"]
        assert [row["label"] for row in rows] == kinds
        assert [row["class"] for row in rows] == pipeline.predict(texts).tolist()
        np.testing.assert_allclose([row["probability"] for row in rows], pipeline.predict_proba(texts).max(axis=1))
    outcome = bench("evaluate", "pipeline.bursty", "mails", "--json")
    if name == "tf-idf":
        assert outcome.code == 2
        assert "weighs its counts" in outcome.err
    else:
        assert json.loads(outcome.out)["facts"]["accuracy"] == pipeline.score(texts, kinds)
    assert bench("info", "pipeline.bursty").code == 0


def test_a_model_fitted_in_python_reads_texts_as_its_corpus_did(bench):
    texts, _ = texts_of(bench.folder)
    corpus = bursty.Corpus.from_texts(texts, ngram_range=(1, 2), stop_words="english")
    model = bursty.Mixture(2, random_state=0).fit(corpus)
    bursty.save(model, bench.folder / "model.bursty")
    outcome = bench("infer", "model.bursty", "mails", "--json")
    assert "not in the vocabulary" not in outcome.err
    rows = json.loads(outcome.out)["tables"]["documents"]
    assert [row["cluster"] for row in rows] == model.labels_.tolist()


def test_a_corpus_file_between_texts_and_model_keeps_the_tokens(bench):
    assert bench("import", "mails", "--ngrams", "2", "-o", "pairs.bcorpus").code == 0
    assert bench("cluster", "pairs.bcorpus", "--k", "2", "-o", "pairs").code == 0
    outcome = bench("infer", "pairs", "mails", "--json")
    assert "not in the vocabulary" not in outcome.err
    labels = bursty.load(bench.folder / "pairs" / "model.bursty").labels_.tolist()
    assert [row["cluster"] for row in json.loads(outcome.out)["tables"]["documents"]] == labels
