"""The M step of DCMLDA: maximum likelihood, words that are new to a topic, the prior of s."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import gammaln

from bursty.engines import Chunk, total
from bursty.families import DCM
from bursty.families.priors import UrnPrior
from bursty.families.solve import solve_urns
from bursty.families.sparse_urns import PairUrns
from bursty.inference.stream import Stream
from bursty.inference.topics import dcmlda as methods
from bursty.samplers.dcmlda import Hyperparameters
from bursty.samplers.tokens import State, Tokens
from samplers.oracles_topics import N_WORDS, make_three_topics


def test_the_m_step_is_maximum_likelihood():
    """Against L-BFGS on the complete likelihood, as the paper maximises it."""
    rng = np.random.default_rng(0)
    counts = make_three_topics(40)[0]
    tokens = Tokens.numbered(Chunk(sp.csr_array(counts.astype(np.int32))), 0)
    words = np.repeat(tokens.chunk.indices, tokens.chunk.values)
    documents = np.repeat(np.arange(40), counts.sum(axis=1))
    topics = (rng.random(len(words)) < rng.beta(1.0, 2.0, size=40)[documents]).astype(np.uint8)
    stats = methods.statistics(State(tokens, topics), 2)
    table = np.zeros((40, N_WORDS, 2))
    np.add.at(table, (documents, words, topics), 1)

    def log_likelihood(a, rows):
        rises = np.sum(gammaln(rows + a) - gammaln(a))
        return rises + np.sum(gammaln(a.sum()) - gammaln(a.sum() + rows.sum(axis=1)))

    def lbfgs(rows):
        start = np.zeros(rows.shape[1])
        return np.exp(minimize(lambda log_a: -log_likelihood(np.exp(log_a), rows), start, method="L-BFGS-B").x)

    alpha, mixtures = methods.learn_alpha(stats), table.sum(axis=1)
    np.testing.assert_allclose(alpha, lbfgs(mixtures), rtol=1e-3)
    assert log_likelihood(alpha, mixtures) >= log_likelihood(lbfgs(mixtures), mixtures) - 1e-9
    beta, background = methods.learn_beta(stats, np.ones((N_WORDS, 2)), exact=True)
    np.testing.assert_allclose(background, 1.0)  # both topics have all words, several times
    for k in range(2):
        rows = table[:, :, k]
        expected = lbfgs(rows)
        np.testing.assert_allclose(beta[:, k], expected + methods.FLOOR * expected.sum() / N_WORDS, rtol=0.02)
        bare = beta[:, k] - methods.FLOOR / (1 + methods.FLOOR) * beta[:, k].sum() / N_WORDS
        assert log_likelihood(bare, rows) >= log_likelihood(expected, rows) - 1e-9


def test_a_topic_keeps_a_share_for_words_that_are_new_to_it():
    """What its words give up (Kneser and Ney), in proportion to the number of topics that have a word."""
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.03, size=(30, N_WORDS)) + sp.eye_array(30, N_WORDS)).astype(np.int32)
    counts.eliminate_zeros()
    tokens = Tokens.numbered(Chunk(counts), 0)
    words = np.repeat(tokens.chunk.indices, tokens.chunk.values)
    documents = np.repeat(np.arange(30), counts.sum(axis=1))
    topics = rng.integers(0, 2, size=len(words)).astype(np.uint8)
    stats = methods.statistics(State(tokens, topics), 2)
    bare = solve_urns(PairUrns(stats.words, 2), stats.sizes(), None)
    beta, background = methods.learn_beta(stats, np.ones((N_WORDS, 2)), exact=True)
    table = np.zeros((30, N_WORDS, 2))
    np.add.at(table, (documents, words, topics), 1)
    # Draws behind the counts of a pair: of n tokens in a document the i-th is one with probability a / (a + i - 1).
    draws = np.zeros((N_WORDS, 2))
    for document, word, k in np.argwhere(table > 0):
        a = bare[word, k]
        draws[word, k] += sum(a / (a + i) for i in range(int(table[document, word, k])))
    once, twice = np.sum(np.rint(draws) == 1), np.sum(np.rint(draws) == 2)
    assert once > 10
    given = np.minimum(draws, once / (once + 2 * twice))
    weights = np.count_nonzero(draws > 0.5, axis=1) + 0.1
    np.testing.assert_allclose(background, weights / weights.mean())
    kept = np.divide(draws - given, draws, out=np.zeros_like(draws), where=draws > 0)
    expected = (
        bare * kept + bare.sum(axis=0) * given.sum(axis=0) / draws.sum(axis=0) * (weights / weights.sum())[:, None]
    )
    np.testing.assert_allclose(beta, expected, rtol=1e-6)
    np.testing.assert_allclose(beta.sum(axis=0), bare.sum(axis=0))
    # The mean of several samples, and a stream's mean of a document, say the same.
    thirds = total([stats * (1 / 3)] * 3)
    np.testing.assert_allclose(methods.learn_beta(thirds, beta, exact=True)[0], beta, rtol=1e-6)
    a_document = Stream.begin(stats, 30)
    of_stream = methods.Method().of_stream(a_document.mean, a_document.n_documents)
    np.testing.assert_allclose(methods.learn_beta(of_stream, beta, exact=True)[0], beta, rtol=1e-6)


def test_the_prior_is_that_of_the_dcm():
    """A topic's s is what `DCM(prior="auto")` learns from the words that each document gave it."""
    X = make_three_topics(40)[0].astype(np.int32)
    tokens = Tokens.numbered(Chunk(sp.csr_array(X)), 0)
    stats = methods.statistics(State(tokens, np.zeros(int(tokens.first[-1]), dtype=np.uint8)), 1)
    begin = Hyperparameters(np.ones(1), np.ones((N_WORDS, 1)))
    result = methods.Method(prior=UrnPrior()).conclude(stats, begin)
    plain = methods.Method().conclude(stats, begin)
    np.testing.assert_allclose(result.totals, DCM(prior="auto").fit(X).s_, rtol=1e-4)
    np.testing.assert_allclose(result.beta / result.totals, plain.beta / plain.totals, rtol=1e-10)


def test_a_lost_topic_keeps_its_beta_and_a_small_alpha():
    tokens = Tokens.numbered(Chunk(sp.csr_array(make_three_topics(20)[0].astype(np.int32))), 0)
    topics = np.random.default_rng(0).integers(0, 2, size=int(tokens.first[-1])).astype(np.uint8)
    last = np.random.default_rng(0).gamma(1.0, size=(N_WORDS, 3))
    stats = methods.statistics(State(tokens, topics), 3)
    np.testing.assert_array_equal(methods.learn_beta(stats, last)[0][:, 2], last[:, 2])
    alpha = methods.learn_alpha(stats)
    assert 0 < alpha[2] < 0.01 * alpha[:2].min()
