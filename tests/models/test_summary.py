"""Clusters and topics as a frame."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bursty import DCMLDA, DPMFS, LDA, Corpus, Mixture, datasets
from bursty.metrics import match_topics
from bursty.models.naming import representative
from bursty.models.summary import make_frame


@pytest.fixture(scope="module")
def corpus():
    made, _ = datasets.make_bursty_mixture(60, 40, 3, mean_length=40, random_state=0)
    return Corpus(made.counts, [f"word{i}" for i in range(40)], ids=[f"d{i}" for i in range(60)])


@pytest.fixture(
    scope="module",
    params=[
        Mixture(3, random_state=0),
        DPMFS(n_iter=30, burn_in=10, random_state=0),
        LDA(3, n_iter=5, tol=0, random_state=0),
        DCMLDA(3, n_iter=5, tol=0, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def model(request, corpus):
    return request.param.fit(corpus)


def test_one_row_per_group(model, corpus):
    frame = model.summary(corpus, n_words=4, n_examples=2)
    assert isinstance(frame, pd.DataFrame)
    n = len(frame)
    assert frame["number"].tolist() == list(range(1, n + 1))
    assert frame["words"].tolist() == model.top_words(4, by="representative")
    assert frame["name"].tolist() == model.names_
    assert all(len(name.split(", ")) == 3 for name in model.names_)
    assert frame["size"].sum() == len(corpus)
    np.testing.assert_allclose(frame["share"].sum(), 1.0)
    assert all(len(names) <= 2 and set(names) <= set(corpus.ids) for names in frame["examples"])
    assert "examples" not in model.summary()


def test_examples_without_names_are_numbers(corpus):
    model = Mixture(2, random_state=0).fit(corpus.counts)
    with pytest.warns(UserWarning, match="words are numbers of columns"):
        frame = model.summary(corpus.counts)
    assert all(name.isdecimal() for names in frame["examples"] for name in names)


def test_another_library_serves_where_pandas_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = make_frame({"a": np.arange(2), "b": [["x"], ["y", "z"]]})
    assert isinstance(frame, pl.DataFrame)
    assert frame["b"].to_list() == [["x"], ["y", "z"]]
    monkeypatch.setitem(sys.modules, "polars", None)
    assert make_frame({"a": np.arange(2)}).column_names == ["a"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        make_frame({"a": [1]})


@pytest.mark.parametrize("kind", [LDA, DCMLDA])
def test_topics_are_numbered_by_size_through_and_through(kind, corpus):
    model = kind(4, n_iter=8, tol=0, random_state=0).fit(corpus)
    assert np.all(np.diff(model.doc_topic_.mean(axis=0)) <= 0)
    shares = np.bincount(model._topics, minlength=4) / len(model._topics)
    np.testing.assert_allclose(shares, model.doc_topic_.mean(axis=0), atol=0.1)
    before = model.components_.copy()
    order, overlap = match_topics(before, model.partial_fit(corpus).components_)
    assert order.tolist() == [0, 1, 2, 3]
    assert overlap.min() > 0.5
    beta = np.full((4, 40), 0.5) if kind is DCMLDA else None
    fixed = {"alpha": [1.0, 2.0, 3.0, 4.0], "beta": beta, "learn_hyperparameters": False}
    own = kind(4, **fixed, n_iter=2, tol=0, random_state=0).fit(corpus)
    assert own.alpha_.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("family", ["edcm", "dcm", "multinomial", "vonmisesfisher", "dirichlet"])
def test_clusters_are_numbered_by_size_through_and_through(family, corpus):
    skewed = corpus.select(np.r_[np.arange(60), np.flatnonzero(np.arange(60) % 3 == 1)])
    model = Mixture(3, family=family, random_state=1).fit(skewed)
    assert np.all(np.diff(model.sizes_) <= 0)
    np.testing.assert_array_equal(np.bincount(model.labels_, minlength=3), model.sizes_)
    np.testing.assert_array_equal(model.predict(skewed), model.labels_)
    np.testing.assert_allclose(model.trace_["weights"][-1], model.weights_, atol=0.05)
    continued = model.partial_fit(skewed)
    assert np.mean(continued.predict(skewed) == model.labels_) > 0.9


def test_an_empty_document_is_a_member_of_no_cluster(corpus):
    counts = corpus.counts.toarray()
    counts[[3, 7]] = 0
    with pytest.warns(UserWarning, match="2"):
        model = Mixture(2, random_state=0).fit(counts)
    assert len(model.labels_) == 60
    assert model.sizes_.sum() == 58


def test_the_order_of_given_responsibilities_is_kept(corpus):
    resp = np.zeros((60, 2))
    resp[:5, 0] = resp[5:, 1] = 1.0
    mine = Mixture(2, family="dcm", init=resp, random_state=0).fit(corpus)
    other = Mixture(2, family="dcm", init=resp[:, ::-1], random_state=0).fit(corpus)
    np.testing.assert_array_equal(mine.labels_, 1 - other.labels_)


def test_certainties_are_calibrated_and_change_no_label(corpus):
    model = Mixture(3, tempering="distinct", random_state=0).fit(corpus)
    counts = corpus.counts.toarray()
    log_prob = model._place(corpus).collect(model._family.log_prob, params=model._state.params)
    own = log_prob / np.sqrt((counts > 0).sum(axis=1))[:, None] + np.log(model.weights_)
    np.testing.assert_array_equal(own.argmax(axis=1), model.labels_)
    powers = np.exp((own - own.max(axis=1, keepdims=True)) / 4.0)
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(corpus), expected, atol=1e-6)
    np.testing.assert_allclose(model.probabilities_, expected.max(axis=1), atol=1e-6)
    np.testing.assert_allclose(model.runner_up_probabilities_, np.sort(expected, axis=1)[:, -2], atol=1e-6)
    np.testing.assert_array_equal(model.runner_up_, np.argsort(expected, axis=1)[:, -2])
    empty = Corpus(np.zeros((1, 40), dtype=int), corpus.vocabulary)
    np.testing.assert_allclose(model.predict_proba(empty)[0], model.weights_)
    plain = Mixture(3, tempering=None, random_state=0).fit(corpus)
    log_prob = plain._place(corpus).collect(plain._family.log_prob, params=plain._state.params)
    joint = log_prob + np.log(plain.weights_)
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(plain.predict_proba(corpus), joint / joint.sum(axis=1, keepdims=True), atol=1e-6)


def test_the_runner_up_of_new_documents_and_of_one_cluster(corpus):
    model = Mixture(3, random_state=0).fit(corpus)
    few = corpus.select(np.arange(5))
    for new, old in zip(model.runners_up(few), model.runners_up(corpus), strict=True):
        np.testing.assert_allclose(new, old[:5])
    assert Mixture(1, random_state=0).fit(corpus).runner_up_.tolist() == [-1] * 60


def test_words_of_other_groups_do_not_fill_the_list():
    counts = np.kron(np.eye(2, dtype=int), np.full((10, 3), 4)) + np.pad(np.ones((20, 1), int), ((0, 0), (0, 5)))
    for model in (Mixture(2, random_state=0), DCMLDA(2, n_iter=10, tol=0, random_state=0)):
        words = model.fit(Corpus(counts, list("abcdef"))).top_words(6, by="representative")
        assert all(words)
        assert all(set(row) <= set("abc") or set(row) <= set("def") for row in words)


def test_odd_documents_are_not_the_most_central_ones():
    """Six documents in words that nothing else has are in some cluster, which they do not represent."""
    rng = np.random.default_rng(0)
    counts = np.zeros((86, 40), dtype=np.int64)
    counts[:, :10] = rng.poisson(1.0, (86, 10))
    counts[:40, 10:20] = rng.poisson(1.0, (40, 10))
    counts[40:80, 20:30] = rng.poisson(1.0, (40, 10))
    counts[80:, 10] = 4
    counts[80:, 30:] = rng.poisson(3.0, (6, 10))
    model = Mixture(2, random_state=0).fit(counts)
    odd = model.labels_[80]
    assert np.all(model.labels_[80:] == odd)
    assert model.sizes_[odd] == 46
    best = model.core_documents(counts, 8)[odd]
    assert not np.any(best >= 80)
    # The same by hand: the cosine with what represents the cluster.
    p, weights = model._group_words()
    cosine = counts @ representative(p, weights, weights @ p)[odd] / np.linalg.norm(counts, axis=1)
    members = np.flatnonzero(model.labels_ == odd)
    np.testing.assert_array_equal(best, members[np.argsort(-cosine[members], kind="stable")[:8]])
