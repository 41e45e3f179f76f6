"""Spherical k-means: directions against scikit-learn, draws against their probabilities, steps against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from bursty.engines import LocalEngine, chunks, local
from bursty.inference import points, spherical

X = np.array([[5, 1, 0, 0], [3, 0, 1, 0], [0, 0, 4, 2], [0, 1, 2, 2], [0, 0, 0, 0], [1, 0, 0, 7], [2, 2, 0, 0]])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 3))


def place(counts):
    return LocalEngine(1).place(sp.csr_array(counts))


def rows(documents, values, counts=X):
    table = sp.csr_array(counts)
    return sp.csr_array((documents.gather(values), table.indices, table.indptr), table.shape).toarray()


def test_directions_are_those_of_scikit_learn():
    documents = place(X)
    expected = TfidfTransformer(sublinear_tf=True).fit_transform(X).toarray()
    np.testing.assert_allclose(rows(documents, spherical.tfidf_directions(documents)), expected)


def test_weights_of_directions_stand_for_copies():
    weights = np.array([2.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0])
    copies = np.repeat(np.arange(7), weights.astype(int))
    documents, many = place(X), place(X[copies])
    expected = rows(many, spherical.tfidf_directions(many), X[copies])
    found = rows(documents, spherical.tfidf_directions(documents, weights))
    np.testing.assert_allclose(found[copies], expected)


def test_numbers_below_one_are_not_made_negative():
    fractions = X * 0.3
    documents = place(fractions)
    found = rows(documents, spherical.tfidf_directions(documents))
    df = np.count_nonzero(X, axis=0)
    damped = np.where(fractions >= 1, 1 + np.log(np.maximum(fractions, 1)), fractions) * (1 + np.log(8 / (1 + df)))
    norms = np.linalg.norm(damped, axis=1, keepdims=True)
    np.testing.assert_allclose(found, damped / np.where(norms > 0, norms, 1.0))


def test_roots_of_proportions():
    documents = place(X)
    found = rows(documents, spherical.hellinger_directions(documents))
    np.testing.assert_allclose(found**2 * X.sum(axis=1, keepdims=True), X, atol=1e-12)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 0.0, 1.0, 4.0, 1.0])])
def test_result_is_a_fixed_point(weights):
    """Every document is nearest to the mean direction of its own cluster; the cosine is that with the centres."""
    documents = place(X)
    directions = spherical.tfidf_directions(documents)
    column = None if weights is None else documents.split(weights)
    labels, cosine = spherical.spherical_kmeans(documents, directions, 3, np.random.default_rng(1), column)
    labels, table, one = (
        documents.gather(labels),
        rows(documents, directions),
        np.ones(7) if weights is None else weights,
    )
    sums = np.stack([(one[:, None] * table)[labels == k].sum(axis=0) for k in range(3)])
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    assert np.all(norms > 0)
    cosines = table @ (sums / norms).T
    np.testing.assert_array_equal(labels, cosines.argmax(axis=1))
    assert cosine == pytest.approx(np.sum(one * cosines.max(axis=1)) / 7)


def test_few_steps_are_enough_for_none_and_one():
    documents = place(X)
    directions = spherical.tfidf_directions(documents)
    labels, cosine = spherical.spherical_kmeans(documents, directions, 3, np.random.default_rng(1), max_iter=0)
    assert (set(documents.gather(labels)), cosine) == ({-1}, 0.0)


# Documents 0 and 1 are alike, 2 is at a right angle to both, 3 is between.
SQUARE = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
WEIGHTS = np.array([1.0, 2.0, 1.0, 3.0])


def probabilities(weights):
    """Of each pair of first and second centre (k-means++ with squared distances)."""
    squared = ((SQUARE[:, None] - SQUARE[None]) ** 2).sum(axis=2) * weights
    return weights[:, None] / weights.sum() * squared / squared.sum(axis=1, keepdims=True)


def frequencies(draw, n=3000):
    """How often the pairs of centres are drawn; documents 0 and 1 are not told apart."""
    table, rng = np.zeros((4, 4)), np.random.default_rng(0)
    for _ in range(n):
        centres = draw(rng)
        first, second = (int(np.argmin(((SQUARE - centre) ** 2).sum(axis=1))) for centre in centres.T)
        table[first, second] += 1 / n
    return table


def alike(table):
    """Documents 0 and 1 as one."""
    joined = np.add.reduceat(np.add.reduceat(table, [0, 2, 3], axis=0), [0, 2, 3], axis=1)
    return joined


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_centres_start_far_apart(weights):
    documents = place(SQUARE)
    values = documents.keep(lambda chunk: chunk.values)
    column = documents.split(weights)
    found = frequencies(lambda rng: spherical._far_apart(documents, values, 2, rng, column))
    expected = alike(probabilities(np.ones(4) if weights is None else weights))
    np.testing.assert_allclose(alike(found), expected, atol=0.035)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_dense_centres_start_far_apart(weights):
    found = frequencies(lambda rng: points._far_apart(SQUARE.astype(np.float32), weights, 2, rng))
    expected = alike(probabilities(np.ones(4) if weights is None else weights))
    np.testing.assert_allclose(alike(found), expected, atol=0.035)


def test_more_centres_than_different_documents():
    """The rest are drawn evenly."""
    same = np.array([[2, 1], [2, 1], [2, 1]])
    documents = place(same)
    directions = spherical.tfidf_directions(documents)
    seen = set()
    rng = np.random.default_rng(0)
    for _ in range(40):
        ends = np.array([3])
        zero = documents.keep(lambda chunk: np.zeros(chunk.n_documents))
        seen.add(spherical._draw(documents, zero, documents.split(None), rng, ends)[1])
    assert seen == {0, 1, 2}
    labels, cosine = spherical.spherical_kmeans(documents, directions, 3, rng)
    assert len(set(documents.gather(labels))) == 1
    assert cosine == pytest.approx(1.0)
