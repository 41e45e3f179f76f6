"""Every estimator takes every kind of documents, and gives the same answers for all of them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from bursty import DCMLDA, DPMFS, LDA, BayesClassifier, Mixture, datasets, families, select_components
from bursty.corpus import shards
from bursty.corpus.shards import write_shards
from bursty.engines import chunks, local
from bursty.models import selection

# Python and Dask warn about their own doings when clusters come and go.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*Port .* is already in use"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SIZE = 25
SHORT = {"n_iter": 4, "n_samples": 2, "burn_in": 2, "tol": 0, "random_state": 0}
MODELS = {
    **{name: kind() for name, kind in families.FAMILIES.items() if kind.__module__.startswith("bursty.")},
    "mixture": Mixture(3, random_state=0),
    "auto": Mixture("auto", init="perturb", max_iter=5, tol=1e-2, random_state=0),
    "classifier": BayesClassifier(),
    "tfidf": BayesClassifier("multinomial", transform="tfidf"),
    "dpmfs": DPMFS(n_iter=6, random_state=0),
    "lda": LDA(3, **SHORT),
    "dcmlda": DCMLDA(3, **SHORT),
}


@pytest.fixture(scope="module", autouse=True)
def small():
    """Chunks of a few documents, from memory and from disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "cut", lambda table: chunks.cut(table, SIZE))
        patch.setattr(shards, "SHARD_SIZE", SIZE)
        patch.setattr(selection, "DEFAULT_KS", (1, 3))
        yield


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(60, 30, 3, random_state=0)[0]


@pytest.fixture(scope="module")
def inputs(corpus, tmp_path_factory):
    dense, words = corpus.counts.toarray(), [str(word) for word in corpus.vocabulary]
    return {
        "list": dense.tolist(),
        "dense": dense,
        "floats": dense.astype(np.float64),
        "csr_matrix": sp.csr_matrix(dense),
        "csr_array": sp.csr_array(dense),
        "csc_array": sp.csc_array(dense),
        "pandas": pd.DataFrame(dense, columns=words),
        "sparse pandas": pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(dense), columns=words),
        "polars": pl.DataFrame(dense, schema=words),
        "corpus": corpus,
        "shards": write_shards(tmp_path_factory.mktemp("shards") / "corpus", corpus),
    }


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="EM did not converge")
        return clone(model).fit(X, y)


def answers(model, X):
    """What the model says of documents, as arrays."""
    names = ("log_prob", "predict", "predict_proba", "score_samples", "transform", "scores")
    found = {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}
    if hasattr(model, "perplexity") and getattr(model, "_family", families.DCM._family).has_perplexity:
        found["perplexity"] = np.asarray(model.perplexity(X))
    assert found
    return found


def assert_same(model, other, X, Y):
    kept = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray) and name.endswith("_")}
    for name in kept.keys() - {"feature_names_in_", "class_names_"}:
        np.testing.assert_array_equal(getattr(other, name), kept[name], err_msg=name)
    here, there = answers(model, X), answers(other, Y)
    for name, value in here.items():
        np.testing.assert_array_equal(there[name], value, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_and_every_input(name, corpus, inputs):
    plain = fitted(MODELS[name], inputs["csr_array"], corpus.labels)
    for kind, X in inputs.items():
        own = corpus.labels if kind != "shards" else X.labels
        model = fitted(MODELS[name], X, own)
        assert_same(plain, model, inputs["csr_array"], X)
        if kind in ("pandas", "polars", "corpus", "shards"):
            assert model.feature_names_in_.tolist() == corpus.vocabulary.tolist()
        # A model does not care what it was fitted on.
        if kind in ("corpus", "shards"):
            assert_same(plain, model, inputs["csr_array"], inputs["corpus"])


@pytest.mark.parametrize("name", MODELS)
def test_a_dask_collection_needs_its_engine(name, corpus):
    da = pytest.importorskip("dask.array")
    X = da.from_array(corpus.counts.toarray(), chunks=(20, -1))
    with pytest.raises(ValueError, match=r'use engine="dask"'):
        clone(MODELS[name]).fit(X, corpus.labels)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with pytest.MonkeyPatch.context() as patch:
        from bursty.engines import dask, dask_collections

        patch.setattr(dask, "cut", lambda table: chunks.cut(table, SIZE))
        patch.setattr(dask_collections, "SHARD_SIZE", SIZE)
        with distributed.LocalCluster(**options) as workers, distributed.Client(workers) as client:
            yield client


@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_and_every_input_of_dask(name, corpus, inputs, client):
    import dask.array as da
    import dask.bag as db

    dense = inputs["dense"]
    placed = {
        "array": da.from_array(dense, chunks=(17, -1)),
        "bag": db.from_sequence(list(dense), npartitions=3),
        "corpus": corpus,
        "shards": inputs["shards"],
    }
    plain = fitted(MODELS[name], inputs["csr_array"], corpus.labels)
    for X in placed.values():
        model = fitted(clone(MODELS[name]).set_params(engine="dask"), X, corpus.labels)
        assert_same(plain, model, inputs["csr_array"], X)


def test_numbers_of_clusters_from_shards(corpus, inputs):
    options = {"ks": [1, 3, 5], "cv": 3, "init": "perturb", "max_iter": 50, "random_state": 0}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="EM did not converge")
        for criterion in ("heldout", "bic", "icl"):
            here, there = (select_components(X, criterion=criterion, **options) for X in (corpus, inputs["shards"]))
            np.testing.assert_array_equal(here.scores, there.scores)


def test_shards_read_like_a_corpus(corpus, inputs):
    sharded = inputs["shards"]
    assert (sharded.n_documents, sharded.n_words, len(sharded.shards)) == (60, 30, 3)
    np.testing.assert_array_equal(sharded.counts.toarray(), corpus.counts.toarray())
    np.testing.assert_array_equal(sharded.labels, corpus.labels)
    np.testing.assert_array_equal(sharded.ids, corpus.ids)
    np.testing.assert_array_equal(sharded.label_matrix.toarray(), corpus.label_matrix.toarray())
    assert sharded.metadata.keys() == corpus.metadata.keys()
    for rows in (slice(3, 40, 2), np.array([59, 0, 30, 30, 1]), corpus.labels == 1):
        mine, theirs = sharded.select(rows), corpus.select(rows)
        np.testing.assert_array_equal(mine.counts.toarray(), theirs.counts.toarray())
        np.testing.assert_array_equal(mine.ids, theirs.ids)
        np.testing.assert_array_equal(mine.labels, theirs.labels)
