"""Dense rows of real numbers: the sums of a sparse chunk, and mixtures of directions with negative entries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import Mixture, metrics
from bursty.engines import Assignment, Chunk, LocalEngine, local, with_trace
from bursty.engines.dense import DenseChunk, cut_rows
from bursty.families import VonMisesFisher
from bursty.kernels import threads


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(40, 7))


def test_sums_are_those_of_a_sparse_chunk(rows):
    dense, sparse = DenseChunk(rows), Chunk(sp.csr_array(rows))
    rng = np.random.default_rng(1)
    table, resp = rng.normal(size=(7, 3)), rng.dirichlet(np.ones(3), size=40)
    sure = resp.copy()
    sure[:30] = np.eye(3)[rng.integers(0, 3, 30)]
    labels = rng.integers(0, 3, 40).astype(np.int32)
    np.testing.assert_allclose(dense.tokens(table), sparse.tokens(table))
    for weights in (resp, with_trace(sure, 1e-6), Assignment(labels, 3, rng.random(40))):
        np.testing.assert_allclose(dense.sum_tokens(weights), sparse.sum_tokens(weights), atol=1e-12)
    np.testing.assert_allclose(dense.norms, sparse.norms)
    np.testing.assert_array_equal(dense.counts.toarray(), sparse.counts.toarray())
    np.testing.assert_array_equal(dense.indices, sparse.indices)
    np.testing.assert_array_equal(dense.indptr, sparse.indptr)
    np.testing.assert_array_equal(dense.select(np.array([3, 5])).rows, rows[[3, 5]])
    assert dense.row_sums(dense.values) == pytest.approx(rows.sum(axis=1))


@pytest.fixture(scope="module")
def embeddings():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    centres = rng.normal(size=(3, 16))
    return (centres[truth] + 0.5 * rng.normal(size=(200, 16))).astype(np.float32), truth


def test_clusters_of_embeddings(embeddings):
    X, truth = embeddings
    model = Mixture(3, family="vonmisesfisher", random_state=0).fit(X)
    assert metrics.normalized_mutual_information(truth, model.labels_) > 0.95
    assert model.components_.min() < 0
    np.testing.assert_array_equal(model.predict(X[:9]), model.labels_[:9])
    sparse = Mixture(3, family="vonmisesfisher", random_state=0).fit(sp.csr_array(X))
    np.testing.assert_allclose(model.components_, sparse.components_, rtol=1e-4, atol=1e-5)
    double = VonMisesFisher().fit(X.astype(np.float64))
    assert VonMisesFisher().fit(X).kappa_ == pytest.approx(double.kappa_, rel=1e-5)


def test_same_bits_for_any_number_of_threads(embeddings, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    monkeypatch.setattr(local, "cut_rows", lambda rows: cut_rows(rows, 70))
    fits = [Mixture(3, family="vonmisesfisher", n_jobs=n, random_state=0).fit(embeddings[0]) for n in (1, 2, 5)]
    assert len(LocalEngine(1).place(embeddings[0]).sizes) == 3
    assert len({fit.components_.tobytes() for fit in fits}) == 1


def test_refusals(embeddings):
    X = embeddings[0].copy()
    with pytest.raises(ValueError, match="Negative values"):
        Mixture(2).fit(X)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        Mixture(2, family="vonmisesfisher").fit(X)
    with pytest.raises(ValueError, match="whose squares are not finite"):
        Mixture(2, family="vonmisesfisher").fit(np.array([[-1e200, 1.0], [1.0, 2.0]]))


def test_rows_of_zeros_have_no_direction(embeddings):
    X = embeddings[0].copy()
    X[7] = 0.0
    with pytest.warns(UserWarning, match="1 document has no words"):
        model = Mixture(3, family="vonmisesfisher", random_state=0).fit(X)
    assert np.all(np.isfinite(model.predict_proba(X)))
