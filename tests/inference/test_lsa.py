"""Starts in the space of the leading singular vectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import oracles
from bursty import datasets, metrics
from bursty.corpus import Corpus
from bursty.corpus.shards import write_shards
from bursty.engines import LocalEngine, chunks, local
from bursty.inference import lsa, points
from bursty.inference.spherical import hellinger_directions, tfidf_directions
from bursty.kernels import threads


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(n_documents=120, n_words=150, n_components=3, mean_length=60, random_state=0)[0]


@pytest.mark.parametrize("rank", [3, 20])
def test_coordinates_are_those_of_the_singular_value_decomposition(corpus, rank):
    documents = LocalEngine(1).place(corpus.counts)
    directions = tfidf_directions(documents)
    found = documents.gather(lsa.coordinates(documents, directions, rank, np.random.default_rng(0)))
    table = sp.csr_array((documents.gather(directions), corpus.counts.indices, corpus.counts.indptr), (120, 150))
    left, values, _ = np.linalg.svd(table.toarray(), full_matrices=False)
    expected = left[:, :rank] * values[:rank]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-6)
    # Signs and rotations are free: cosines between documents are not. Later vectors are less exact.
    difference = np.abs(found @ found.T - expected @ expected.T)
    assert np.median(difference) < 0.01
    assert difference.max() < 0.1


def test_fewer_dimensions_than_asked_for():
    counts = sp.csr_array(np.array([[2, 1, 0, 0], [4, 2, 0, 0], [0, 0, 3, 1], [0, 0, 0, 0]]))
    documents = LocalEngine(1).place(counts)
    found = documents.gather(lsa.coordinates(documents, hellinger_directions(documents), 50, np.random.default_rng(0)))
    assert found.shape[1] == 2
    cosines = found @ found.T
    np.testing.assert_allclose(cosines[:3, :3], [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-6)
    np.testing.assert_array_equal(found[3], 0.0)


def test_hellinger_distance(corpus):
    documents = LocalEngine(1).place(corpus.counts[:2])
    values = documents.gather(hellinger_directions(documents))
    rows = sp.csr_array((values, corpus.counts[:2].indices, corpus.counts[:2].indptr), (2, 150)).toarray()
    p, q = (row / row.sum() for row in corpus.counts[:2].toarray())
    assert np.sum((rows[0] - rows[1]) ** 2) == pytest.approx(oracles.hellinger(p, q) ** 2 * 2)


def start(documents, seed=0):
    rng = np.random.default_rng(seed)
    where = lsa.coordinates(documents, tfidf_directions(documents), 10, rng)
    return documents.gather(where), documents.gather(points.kmeans(documents, where, 3, rng, 5, 50))


def test_finds_the_clusters(corpus):
    labels = start(LocalEngine(1).place(corpus.counts))[1]
    assert metrics.normalized_mutual_information(corpus.labels, labels) > 0.9


def test_a_sample_of_the_documents_chooses_the_run(corpus, monkeypatch):
    monkeypatch.setattr(points, "SAMPLE", 60)
    monkeypatch.setattr(points, "SAMPLE_PER_CLUSTER", 1)
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 50))
    labels = start(LocalEngine(1).place(corpus.counts))[1]
    assert metrics.normalized_mutual_information(corpus.labels, labels) > 0.9


def test_same_bits_for_threads_and_shards(corpus, monkeypatch, tmp_path):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    monkeypatch.setattr(points, "SAMPLE", 60)
    monkeypatch.setattr(points, "SAMPLE_PER_CLUSTER", 1)
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 50))
    monkeypatch.setattr("bursty.corpus.shards.SHARD_SIZE", 50)
    shards = write_shards(tmp_path / "corpus", Corpus(corpus.counts))
    placed = [LocalEngine(n).place(corpus.counts) for n in (1, 2, 5)] + [LocalEngine(2).place(shards)]
    found = [b"".join(part.tobytes() for part in start(documents)) for documents in placed]
    assert len(set(found)) == 1


def test_more_clusters_than_distinct_points():
    documents = LocalEngine(1).place(sp.csr_array(np.array([[1, 0], [1, 0], [0, 1]])))
    where = lsa.coordinates(documents, hellinger_directions(documents), 5, np.random.default_rng(0))
    labels = documents.gather(points.kmeans(documents, where, 3, np.random.default_rng(0), 2, 50))
    assert labels[0] == labels[1] != labels[2]
