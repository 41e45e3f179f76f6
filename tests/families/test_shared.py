"""Components that share s and lean towards the corpus."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import oracles
from bursty import datasets
from bursty.engines import Chunk
from bursty.families import get_family
from bursty.families.shared import Shared
from bursty.families.solve import tails
from bursty.kernels import polya

FAMILIES = ["dcm", "edcm", "multinomial", "vonmisesfisher"]


@pytest.fixture(scope="module")
def chunk():
    return Chunk(datasets.make_bursty_mixture(n_documents=40, n_words=12, mean_length=30, random_state=0)[0].counts)


@pytest.fixture(scope="module")
def resp(chunk):
    return np.random.default_rng(0).dirichlet(np.ones(3), size=chunk.n_documents)


def test_draws_of_an_urn(chunk, resp):
    stats = get_family("dcm").summarize(chunk, resp)
    alpha = np.random.default_rng(1).gamma(1.0, size=stats.types.shape)
    counts = chunk.counts.toarray()
    expected = np.zeros_like(alpha)
    for row, weights in zip(counts, resp, strict=True):
        for word, count in enumerate(row):
            for j in range(count):
                expected[word] += weights * alpha[word] / (alpha[word] + j)
    params = get_family("dcm").from_weights(alpha)
    np.testing.assert_allclose(get_family("dcm").effective_counts(stats, params), expected, rtol=1e-10)
    plain = np.empty_like(alpha)
    levels = stats.repeats.first, stats.repeats.values, tails(stats.repeats)
    polya.expected_draws.py_func(*levels, stats.types, alpha, plain, 0, len(alpha))
    np.testing.assert_allclose(plain, expected, rtol=1e-10)


def test_is_the_mode_of_the_posterior(chunk, resp):
    """With s fixed, the proportions that a general optimiser finds under the Dirichlet prior."""
    family = get_family("dcm")
    stats = family.summarize(chunk, resp)
    prior = Shared.of(family, stats, chunk.n_documents, 5.0)
    params = None
    for _ in range(300):
        params = prior.update(family, stats, params)
    s = prior.corpus.s[0]
    np.testing.assert_allclose(params.s, s)
    counts = chunk.counts.toarray()
    seen = prior.counts > 0

    def loss(logits, weights):
        shares = np.zeros(len(seen))
        shares[seen] = np.exp(logits - np.logaddexp.reduce(logits))
        fit = weights @ oracles.dcm_log_prob(counts[:, seen], s * shares[seen])
        return -(fit + prior.counts[seen] @ np.log(shares[seen]))

    for k in range(3):
        found = minimize(loss, np.log(params.alpha[seen, k]), args=(resp[:, k],), method="BFGS", tol=1e-9)
        shares = np.exp(found.x - np.logaddexp.reduce(found.x))
        np.testing.assert_allclose(params.alpha[seen, k] / s, shares, atol=2e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_more_shrinkage_is_nearer_the_corpus(chunk, resp, family):
    family = get_family(family)
    stats = family.summarize(chunk, resp)
    distances = []
    for shrinkage in (0.0, 1.0, 10.0, 1e6):
        prior = Shared.of(family, stats, chunk.n_documents, shrinkage)
        params = prior.update(family, stats)
        distances.append(float(np.abs(params.table - prior.corpus.table).sum()))
    assert distances[0] > distances[1] > distances[2] > distances[3]
    assert distances[3] < 1e-3 * prior.corpus.table.sum() * resp.shape[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_components_share_what_is_not_proportions(chunk, resp, family):
    family = get_family(family)
    stats = family.summarize(chunk, resp)
    params = Shared.of(family, stats, chunk.n_documents, 2.0).update(family, stats)
    shared = params.kappa if family.name == "vonmisesfisher" else params.table.sum(axis=0)
    np.testing.assert_allclose(shared, shared[0])


@pytest.mark.parametrize("family", ["dcm", "edcm", "multinomial"])
def test_smoothing_reaches_words_the_corpus_never_had(family):
    family = get_family(family)
    chunk = Chunk(sp.csr_array(np.array([[2, 1, 0], [1, 1, 0], [0, 3, 0]], dtype=np.int32)))
    stats = family.summarize(chunk, np.ones((3, 1)))
    prior = Shared.of(family, stats, 3, 1.0)
    assert prior.update(family, stats).table[2, 0] == 0.0
    assert prior.update(family, stats, smoothing=0.01).table[2, 0] > 0.0
