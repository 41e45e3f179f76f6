"""Spherical k-means of dense points, against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.engines import LocalEngine, chunks, local
from bursty.inference import lsa, points


def groups(n=60, seed=0):
    """Unit vectors around three axes, in single precision."""
    rng = np.random.default_rng(seed)
    rows = np.eye(3)[np.arange(n) % 3] + 0.25 * rng.standard_normal((n, 3))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def place(rows):
    documents = LocalEngine(1).place(sp.csr_array(np.ones((len(rows), 1), dtype=np.int32)))
    return documents, documents.put(documents.split(rows))


@pytest.mark.parametrize("weights", [None, np.arange(60) % 4.0])
@pytest.mark.parametrize("sample", [60, 25])
def test_result_is_a_fixed_point(monkeypatch, weights, sample):
    """Whether runs are compared on all documents or on a sample of them."""
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 7))
    monkeypatch.setattr(points, "SAMPLE", sample)
    monkeypatch.setattr(points, "SAMPLE_PER_CLUSTER", 1)
    rows, one = groups(), np.ones(60) if weights is None else weights
    documents, column = place(rows)
    labels = documents.gather(
        points.kmeans(documents, column, 3, np.random.default_rng(0), 3, 50, documents.split(weights))
    )
    sums = np.stack([(one[:, None] * rows)[labels == k].sum(axis=0) for k in range(3)])
    cosines = rows @ (sums / np.linalg.norm(sums, axis=1, keepdims=True)).T
    np.testing.assert_array_equal(labels, cosines.argmax(axis=1))
    assert len(set(zip(labels, np.arange(60) % 3, strict=True))) == 3  # the groups are found


def test_a_run_says_how_near_its_points_are():
    rows = groups()
    centres, cosine = points._run(rows, None, 3, np.random.default_rng(0), 50)
    np.testing.assert_allclose(np.linalg.norm(centres, axis=0), 1.0)
    assert cosine == pytest.approx((rows @ centres).max(axis=1).mean(), rel=1e-6)
    # After one step the centres are means of what was nearest to the points that were drawn.
    drawn = points._far_apart(rows, None, 3, np.random.default_rng(5))
    once, first = points._run(rows, None, 3, np.random.default_rng(5), 1)
    nearest = (rows @ drawn).argmax(axis=1)
    means = np.stack([rows[nearest == k].sum(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(once, means / np.linalg.norm(means, axis=0), rtol=1e-5)
    assert first == pytest.approx((rows @ drawn).max(axis=1).mean(), rel=1e-6)


def test_the_best_run_is_kept(monkeypatch):
    """Its centres label the documents, whichever run it is."""
    rows = groups()
    documents, column = place(rows)
    for best in range(3):
        numbers = iter(range(3))

        def run(*args, best=best, numbers=numbers):
            number = next(numbers)
            return np.roll(np.eye(3), number, axis=1), float(number == best)

        monkeypatch.setattr(points, "_run", run)
        labels = documents.gather(points.kmeans(documents, column, 3, np.random.default_rng(0), 3, 1))
        np.testing.assert_array_equal(labels, (rows @ np.roll(np.eye(3), best, axis=1)).argmax(axis=1))


def test_only_a_sample_is_improved_on_all_documents(monkeypatch):
    """Runs on all documents have ended as they should: their centres are not moved again."""
    rows = groups()
    documents, column = place(rows)
    tilted = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    monkeypatch.setattr(points, "_run", lambda *args: (tilted, 1.0))
    nearest = (rows @ tilted).argmax(axis=1)
    labels = documents.gather(points.kmeans(documents, column, 3, np.random.default_rng(0), 1, 5))
    np.testing.assert_array_equal(labels, nearest)
    monkeypatch.setattr(points, "SAMPLE", 10)
    monkeypatch.setattr(points, "SAMPLE_PER_CLUSTER", 1)
    labels = documents.gather(points.kmeans(documents, column, 3, np.random.default_rng(0), 1, 5))
    assert (labels != nearest).any()


@pytest.mark.parametrize("weights", [None, np.arange(60.0)])
def test_a_sample_is_of_different_documents(monkeypatch, weights):
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 7))
    rows = np.arange(60, dtype=np.float32)[:, None]
    documents, column = place(rows)
    seen = np.zeros(60)
    for seed in range(200):
        found, own = points._sample(documents, column, documents.split(weights), 20, np.random.default_rng(seed))
        assert len(np.unique(found)) == 20
        seen[found[:, 0].astype(int)] += 1 / 200
        assert (own is None) == (weights is None)
        if own is not None:
            np.testing.assert_array_equal(own, found[:, 0])
    assert np.all(np.abs(seen - 1 / 3) < 0.15)
    all_of_them, _ = points._sample(documents, column, documents.split(weights), 60, np.random.default_rng(0))
    np.testing.assert_array_equal(all_of_them, rows)


def test_an_empty_cluster_keeps_its_centre():
    centres = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    sums = np.array([[0.0, 3.0], [0.0, 0.0], [2.0, 0.0]])
    np.testing.assert_array_equal(points._means(sums, centres), [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])


def test_points_that_are_all_centres_already():
    """Any of them may be drawn."""
    same = np.tile(np.float32([0.6, 0.8]), (3, 1))
    np.testing.assert_allclose(points._far_apart(same, None, 5, np.random.default_rng(0)), np.tile(same[0], (5, 1)).T)


def test_rows_of_length_one_or_zero():
    np.testing.assert_allclose(lsa.unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])
    assert lsa.unit_rows(np.eye(2)).dtype == np.float32


def test_weights_of_the_leading_directions_stand_for_copies():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(12, 6)) + np.eye(6, dtype=int)[rng.integers(0, 6, 12)]
    weights = np.where(np.arange(12) < 4, 3.0, 1.0)
    copies = np.repeat(np.arange(12), weights.astype(int))
    found = []
    for table, column in ((counts, weights), (counts[copies], None)):
        documents = LocalEngine(1).place(sp.csr_array(table.astype(np.int32)))
        values = documents.keep(lambda chunk: chunk.values / np.sqrt(chunk.lengths).repeat(np.diff(chunk.indptr)))
        where = lsa.coordinates(documents, values, 2, np.random.default_rng(0), documents.split(column))
        found.append(documents.gather(where))
    cosines = [rows @ rows.T for rows in found]
    np.testing.assert_allclose(cosines[0][np.ix_(copies, copies)], cosines[1], atol=1e-4)
