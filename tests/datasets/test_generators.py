"""Corpora made to order have the truth they claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom, chisquare

from bursty import datasets
from bursty.datasets.generators import _urn


def test_yu2010_is_as_the_paper_describes():
    corpus, truth = datasets.make_yu2010(random_state=7)
    table = corpus.counts.toarray()
    assert table.shape == (300, 1_000)
    assert np.bincount(corpus.labels).tolist() == [100, 100, 100]
    assert truth.discriminative.tolist() == [True] * 50 + [False] * 950
    assert np.all(table[:, truth.discriminative].sum(axis=1) == 100)
    assert np.all(table[:, ~truth.discriminative].sum(axis=1) == 100)
    for cluster in range(3):
        seen = table[corpus.labels == cluster][:, :50].sum(axis=0)
        assert np.abs(seen / 10_000 - truth.profiles[cluster]).max() < 0.02
    assert np.abs(table[:, 50:].sum(axis=0) / 30_000 - truth.noise).max() < 0.01


def test_same_state_same_corpus():
    for make in (datasets.make_yu2010, datasets.make_bursty_mixture):
        one, other = make(random_state=3)[0], make(random_state=3)[0]
        assert (one.counts != other.counts).nnz == 0
        assert (one.counts != make(random_state=4)[0].counts).nnz > 0
        assert make(random_state=np.random.default_rng(1))[0].counts.sum() > 0
        assert make(random_state=np.random.RandomState(1))[0].counts.sum() > 0


def test_urn_is_the_dirichlet_compound_multinomial():
    mean, s, length, n_documents = np.array([0.5, 0.3, 0.2]), 1.5, 6, 20_000
    rng = np.random.default_rng(0)
    zeros = np.zeros(n_documents, dtype=int)
    tokens = _urn(mean[None, :], np.array([s]), zeros, np.full(n_documents, length), rng).reshape(-1, length)
    for word in range(3):
        seen = np.bincount((tokens == word).sum(axis=1), minlength=length + 1)
        expected = betabinom(length, s * mean[word], s * (1 - mean[word])).pmf(np.arange(length + 1))
        assert chisquare(seen, expected * n_documents).pvalue > 1e-4


def test_mixture_sizes_labels_and_truth():
    corpus, truth = datasets.make_bursty_mixture(400, 50, 4, 80, [1.0, 5.0, 50.0, 5000.0], random_state=1)
    assert corpus.counts.shape == (400, 50)
    assert truth.alpha.shape == (4, 50)
    assert np.allclose(truth.alpha.sum(axis=1), [1.0, 5.0, 50.0, 5000.0])
    assert abs(corpus.describe().mean_length - 80) < 3
    distinct = [np.diff(corpus.select(corpus.labels == k).counts.indptr).mean() for k in range(4)]
    assert distinct == sorted(distinct)
    for k in range(4):
        total = corpus.select(corpus.labels == k).counts.sum(axis=0)
        assert np.corrcoef(total, truth.alpha[k])[0, 1] > 0.9


def test_lengths_differ_and_no_document_is_empty():
    corpus, _ = datasets.make_bursty_mixture(300, 20, 2, 0.5, random_state=0)
    lengths = corpus.counts.sum(axis=1)
    assert lengths.min() == 1
    assert lengths.max() > 1


@pytest.mark.parametrize("bad", [{"n_documents": 0}, {"mean_length": 0}, {"s": -1.0}, {"concentration": 0.0}])
def test_mixture_refuses(bad):
    with pytest.raises(ValueError, match="positive"):
        datasets.make_bursty_mixture(**bad)
