"""Held-out likelihood and topics of new documents, against sums over all topics of all tokens."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp

from bursty.engines import Chunk
from bursty.inference import heldout
from bursty.kernels import gibbs_heldout, gibbs_pseudo, threads
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import Tokens
from samplers import oracles_topics as oracles

ALPHA = np.array([0.7, 1.6, 0.4])
BETA = np.array([[0.05, 2.0, 0.3], [1.2, 0.1, 0.3], [0.05, 0.4, 4.0], [0.9, 0.1, 0.3]])
PHI = BETA / BETA.sum(axis=0)
DOCUMENTS = [[0, 0, 0, 1, 3, 3], [2, 2, 3], [1], [], [0, 1, 2, 3, 3]]
MODELS = {"dcmlda": dcmlda.Hyperparameters(ALPHA, BETA), "lda": lda.Topics(ALPHA, PHI)}


@pytest.fixture
def counts():
    return sp.csr_array(np.array([np.bincount(words, minlength=4) for words in DOCUMENTS], dtype=np.int32))


def exact(name):
    if name == "lda":
        return np.array([oracles.lda_log_prob(words, ALPHA, PHI) for words in DOCUMENTS])
    return np.array([oracles.dcmlda_log_prob(words, ALPHA, BETA) for words in DOCUMENTS])


@pytest.mark.parametrize("name", MODELS)
def test_left_to_right_is_the_likelihood(counts, name):
    got, error = heldout.left_to_right(Chunk(counts), MODELS[name], 0, 20_000, (20, 0.0)).T
    np.testing.assert_allclose(got, exact(name), atol=0.02)
    assert np.all(np.abs(got - exact(name)) <= 4 * error + 1e-7)
    assert got[3] == error[3] == 0.0
    np.testing.assert_allclose(got[2], exact(name)[2], rtol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_left_to_right_with_few_moves_is_close(counts, name):
    got, _ = heldout.left_to_right(Chunk(counts), MODELS[name], 1, 20_000, (2, 0.0)).T
    np.testing.assert_allclose(got, exact(name), atol=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_few_particles_have_little_bias_and_know_their_error(counts, name):
    """The mean of many estimates is the likelihood; the error is their standard deviation."""
    found = np.array([heldout.left_to_right(Chunk(counts), MODELS[name], seed, 5, (20, 0.0)) for seed in range(400)])
    values, errors = found[:, :2, 0], found[:, :2, 1]
    spread = values.std(axis=0)
    plain = np.log(np.exp(values).mean(axis=0))
    assert np.all(spread > 0.05)
    np.testing.assert_allclose(values.mean(axis=0), exact(name)[:2], atol=4 * spread.max() / 20 + 0.02)
    np.testing.assert_allclose(np.sqrt((errors**2).mean(axis=0)), spread, rtol=0.35)
    assert np.all(np.abs(values.mean(axis=0) - plain) < spread)


def test_short_documents_of_distinct_topics_have_no_bias():
    """One move for each earlier word would leave the particles where they began: values are then a quarter too high."""
    alpha = np.array([0.1, 0.1])
    phi = np.array([[0.47, 0.11], [0.38, 0.03], [0.02, 0.49], [0.13, 0.37]])
    words = [0, 0, 0, 1, 1, 2, 2, 3]
    counts = Chunk(sp.csr_array([np.bincount(words, minlength=4)], dtype=np.int32))
    model, moves = lda.Topics(alpha, phi), heldout.GROWING_MOVES
    found = np.array([heldout.left_to_right(counts, model, seed, 200, moves)[0] for seed in range(100)])
    values, errors = found.T
    spread = values.std()
    assert abs(values.mean() - oracles.lda_log_prob(words, alpha, phi)) < 4 * spread / 10 + 0.02
    assert spread < 0.3
    np.testing.assert_allclose(np.sqrt((errors**2).mean()), spread, rtol=0.35)


@pytest.mark.parametrize("name", MODELS)
def test_empirical_likelihood_is_the_likelihood(counts, name):
    got, error = heldout.empirical_likelihood(Chunk(counts), MODELS[name], 0, 20_000)
    assert np.all(np.abs(got - exact(name)) <= 4 * error + 1e-12)
    assert error.max() < 0.1
    assert got[3] == pytest.approx(0.0, abs=1e-12)
    few = heldout.empirical_likelihood(Chunk(counts), MODELS[name], 0, 200)[1]
    np.testing.assert_allclose(few[:3] / error[:3], 10.0, rtol=0.5)


def posterior(name, words):
    """All topics of a document's tokens, and the probability of each."""
    states = oracles.all_topics(len(words), 3)
    if name == "dcmlda":
        log_joint = [oracles.dcmlda_log_joint(words, z, ALPHA, BETA) for z in states]
    else:
        prior = [oracles.log_beta(np.bincount(z, minlength=3) + ALPHA) for z in states]
        log_joint = [p + np.log(PHI[words, list(z)]).sum() for p, z in zip(prior, states, strict=True)]
    weights = np.exp(np.array(log_joint) - np.max(log_joint))
    return states, weights / weights.sum()


@pytest.mark.parametrize("name", MODELS)
def test_mixtures_are_posterior_means(counts, name):
    got = heldout.mixtures(Chunk(counts), MODELS[name], 0, heldout.ShortChains(200, 5, 10))
    for d, words in enumerate(DOCUMENTS):
        states, weights = posterior(name, words)
        means = np.array([np.bincount(z, minlength=3) if z else np.zeros(3) for z in states]) + ALPHA
        expected = weights @ means
        np.testing.assert_allclose(got[d], expected / expected.sum(), atol=0.015)


@pytest.mark.parametrize("name", MODELS)
def test_topics_of_cells_are_posterior_means(counts, name):
    chains = heldout.ShortChains(800, 5, 10)
    cells, words, values, best, sizes, columns, shares = heldout.cell_topics(Chunk(counts), MODELS[name], 0, chains)
    np.testing.assert_array_equal(cells, np.diff(counts.indptr))
    got = np.zeros((len(words), 3))
    got[np.repeat(np.arange(len(words)), sizes), columns] = shares
    expected = []
    for own in DOCUMENTS:
        states, weights = posterior(name, own)
        for word in np.unique(own).astype(int):
            tokens = np.flatnonzero(np.array(own) == word)
            expected.append(weights @ [np.bincount(np.array(z)[tokens], minlength=3) for z in states] / len(tokens))
    np.testing.assert_allclose(got, expected, atol=0.02)
    np.testing.assert_array_equal(best, got.argmax(axis=1))
    np.testing.assert_array_equal(values, counts.data)


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_for_any_threads_and_neighbours(counts, name, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    results = []
    for n in (1, 2, 5):
        with threads.using(n):
            parts = (
                heldout.left_to_right(Chunk(counts), MODELS[name], 0, 3, (1, 0.5)),
                heldout.mixtures(Chunk(counts), MODELS[name], 0, heldout.ShortChains()),
                heldout.empirical_likelihood(Chunk(counts), MODELS[name], 0, 70)[0],
            )
            results.append(b"".join(part.tobytes() for part in parts))
    assert len(set(results)) == 1
    order = np.array([4, 2, 0])
    whole = heldout.mixtures(Chunk(counts), MODELS[name], 0, heldout.ShortChains())
    some = heldout.mixtures(Chunk(counts[order]), MODELS[name], 0, heldout.ShortChains())
    np.testing.assert_array_equal(whole[order], some)


def test_plain_python_agrees(counts):
    tokens, params = Tokens.by_content(Chunk(counts)), MODELS["dcmlda"]
    for kernel, args in (
        (gibbs_heldout.dcmlda, params.tables),
        (gibbs_heldout.lda, MODELS["lda"].tables),
    ):
        out, plain = np.empty((5, 2)), np.empty((5, 2))
        kernel(tokens.documents, args, 3, 4, (2, 0.5), out, 0, 5)
        getattr(kernel, "py_func", kernel)(tokens.documents, args, 3, 4, (2, 0.5), plain, 0, 5)
        np.testing.assert_allclose(out, plain, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_pseudo_documents_have_the_moments_of_the_model(name):
    n = 20_000
    probabilities = np.exp(heldout.pseudo_documents(MODELS[name], 5, range(n)))
    np.testing.assert_allclose(probabilities.sum(axis=0), 1.0, rtol=1e-9)
    theta, s = ALPHA / ALPHA.sum(), BETA.sum(axis=0)
    own = BETA * (BETA + 1.0) / (s * (s + 1.0)) if name == "dcmlda" else PHI**2
    pairs = (np.outer(ALPHA, ALPHA) + np.diag(ALPHA)) / (ALPHA.sum() * (ALPHA.sum() + 1.0))
    squares = np.einsum("wk,kl,wl->w", PHI, pairs - np.diag(np.diag(pairs)), PHI) + own @ np.diag(pairs)
    error = probabilities.std(axis=1) / np.sqrt(n)
    assert np.all(np.abs(probabilities.mean(axis=1) - PHI @ theta) < 4 * error)
    np.testing.assert_allclose((probabilities**2).mean(axis=1), squares, rtol=0.05)


def test_pseudo_documents_in_plain_python():
    """With shapes that nearly always underflow, and some above 1."""
    beta = np.where(np.arange(12).reshape(4, 3) % 3 == 1, 1e-5, np.array([2.0, 0.4, 1.5]))
    params, rows = dcmlda.Hyperparameters(ALPHA, beta), []
    for kernels in ("compiled", "plain"):
        own = [getattr(gibbs_pseudo, kernel) for kernel in ("mixtures", "dcmlda", "lda")]
        mixtures, bursty, plain = (getattr(k, "py_func", k) if kernels == "plain" else k for k in own)
        theta, out, other = np.empty((5, 3)), np.empty((5, 4)), np.empty((4, 5))
        mixtures(ALPHA, 3, 7, theta, 0, 5)
        bursty(theta, params.tables, np.array([0, 4]), np.arange(4), 3, 7, out, 0, 5)
        plain(PHI, theta.T.copy(), other, 0, 4)
        rows.append((theta, out, other))
        np.testing.assert_allclose(other, np.log(PHI @ theta.T), rtol=1e-12)
    for compiled, plain in zip(*rows, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-9)
    later = heldout.pseudo_documents(params, 3, range(9, 12))
    np.testing.assert_array_equal(later.T, rows[0][1][2:])


def test_a_word_with_many_tokens():
    """One word 400 times, whose topics are tallied: the sum over all numbers of tokens of each topic is exact."""
    n, word = 400, 1
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    inside = first + second <= n
    m = np.stack([first[inside], second[inside], n - first[inside] - second[inside]])
    s = BETA.sum(axis=0)[:, None]
    terms = gammaln(n + 1) - gammaln(m + 1).sum(axis=0) + gammaln(ALPHA.sum()) - gammaln(ALPHA.sum() + n)
    terms = terms + (gammaln(ALPHA[:, None] + m) - gammaln(ALPHA)[:, None]).sum(axis=0)
    beta = BETA[word][:, None]
    terms = terms + (gammaln(beta + m) - gammaln(beta) - gammaln(s + m) + gammaln(s)).sum(axis=0)
    document = Chunk(sp.csr_array(([n], [word], [0, 1]), shape=(1, len(BETA)), dtype=np.int32))
    found, _ = heldout.left_to_right(document, MODELS["dcmlda"], 0, 400, (20, 0.0)).T
    assert n > gibbs_heldout.LARGE
    np.testing.assert_allclose(found, logsumexp(terms), rtol=0.05)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 150])
def test_empirical_likelihood_is_a_plain_mean(counts, name, n):
    """Of the likelihoods under all pseudo-documents, in blocks of any number, with the error of that mean."""
    found, error = heldout.empirical_likelihood(Chunk(counts), MODELS[name], 7, n)
    likelihoods = np.exp(counts @ heldout.pseudo_documents(MODELS[name], 7, range(n)))
    np.testing.assert_allclose(np.exp(found), likelihoods.mean(axis=1))
    expected = likelihoods.std(axis=1) / likelihoods.mean(axis=1) / np.sqrt(n)
    np.testing.assert_allclose(error, expected, atol=1e-7)


def test_chains_are_those_of_the_documentation():
    """`metrics.document_completion` says 16 chains of 2 sweeps that are discarded and 3 that count."""
    chains = heldout.ShortChains()
    assert (chains.n_chains, chains.burn_in, chains.n_samples) == (16, 2, 3)


@pytest.mark.parametrize("name", MODELS)
def test_topics_of_cells_in_blocks(counts, name, monkeypatch):
    """However many documents are in a block: shares of the samples of each cell, and the most frequent topic."""
    chains = heldout.ShortChains(3, 1, 2)
    whole = heldout.cell_topics(Chunk(counts), MODELS[name], 0, chains)
    n_cells, words, values, best, sizes, columns, shares = whole
    table = np.zeros((len(words), 3))
    table[np.repeat(np.arange(len(words)), sizes), columns] = shares
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    np.testing.assert_array_equal(best, table.argmax(axis=1))
    np.testing.assert_array_equal(n_cells, np.diff(counts.indptr))
    np.testing.assert_array_equal(values, counts.data)
    expected = np.zeros((len(words), 3))
    tokens = Tokens.by_content(Chunk(counts))
    for topics in heldout.samples(tokens, MODELS[name], 0, chains):
        np.add.at(expected, (np.repeat(np.arange(len(words)), values), topics), 1.0)
    np.testing.assert_allclose(table, expected / expected.sum(axis=1, keepdims=True))
    for size in (1, 10, 12, 30):
        monkeypatch.setattr(heldout, "_TABLE", size)
        parts = heldout.cell_topics(Chunk(counts), MODELS[name], 0, chains)
        for one, other in zip(whole, parts, strict=True):
            np.testing.assert_array_equal(one, other)


def test_samples_come_after_burn_in(counts):
    tokens = Tokens.by_content(Chunk(counts))
    some = list(heldout.samples(tokens, MODELS["lda"], 0, heldout.ShortChains(2, 3, 2)))
    all_of_them = list(heldout.samples(tokens, MODELS["lda"], 0, heldout.ShortChains(2, 0, 5)))
    assert len(some) == 4
    for one, other in zip(some, [all_of_them[i] for i in (3, 4, 8, 9)], strict=True):
        np.testing.assert_array_equal(one, other)
