"""The M steps of the topic models and the statistics they need, against direct maximisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from bursty.engines import Chunk, LocalEngine
from bursty.families import DCM
from bursty.families.priors import UrnPrior
from bursty.inference import mcem
from bursty.inference.topics import base, lda
from bursty.inference.topics import dcmlda as methods
from bursty.inference.topics.base import symmetric
from bursty.samplers import lda as sampler
from bursty.samplers.dcmlda import Hyperparameters
from bursty.samplers.tokens import Levels, State, Tokens, item_levels, length_levels
from bursty.storage.schema import Mismatch, check
from samplers import oracles_topics as oracles

N_WORDS = 40


def make(n_documents, seed=0):
    """Documents of three topics over their own words, of different burstiness, and some words that all share."""
    beta = np.full((N_WORDS, 3), 0.02)
    for k, s in enumerate((4.0, 12.0, 40.0)):
        beta[10 * k : 10 * k + 10, k] = 0.7 * s / 10
        beta[30:, k] = 0.3 * s / 10
    rng = np.random.default_rng(seed)
    return oracles.make_dcmlda(rng.integers(40, 120, size=n_documents), np.array([0.5, 1.0, 0.3]), beta, rng)


def make_lda(n_documents, seed=0):
    phi = np.full((N_WORDS, 3), 0.002)
    for k in range(3):
        phi[12 * k : 12 * k + 12, k] = 1.0
    rng = np.random.default_rng(seed)
    return oracles.make_lda(rng.integers(40, 100, size=n_documents), np.array((0.3, 0.6, 0.2)), phi / phi.sum(0), rng)


def place(counts):
    return LocalEngine(1).place(sp.csr_array(counts.astype(np.int32)))


def tables(seed=0, n_topics=3, n_documents=12, n_words=5):
    """Documents, random topics of their tokens, and how many tokens each document, word and topic have in common."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.2, size=(n_documents, n_words))
    counts[4] = 0
    chunk = Chunk(sp.csr_array(counts.astype(np.int32)))
    tokens = Tokens.numbered(chunk, 0)
    topics = rng.integers(0, n_topics, size=int(tokens.first[-1])).astype(np.uint8)
    table = np.zeros((n_documents, n_words, n_topics), dtype=int)
    documents = np.repeat(np.arange(n_documents), counts.sum(axis=1))
    np.add.at(table, (documents, np.repeat(chunk.indices, chunk.values), topics), 1)
    return State(tokens, topics), table


def dense(levels, n_levels=40):
    """Levels as a table: item, value."""
    out = np.zeros((levels.n_items, n_levels))
    np.add.at(out, (levels.items, levels.values), levels.weights[:, 0])
    return out


def levels_of(rows, n_levels=40):
    """Rows (documents) by column and value, without zeros."""
    out = np.zeros((rows.shape[1], n_levels))
    for row in rows:
        for item, value in enumerate(row):
            out[item, value] += value > 0
    return out


def test_statistics_count_documents_by_tokens():
    state, table = tables()
    stats = methods.statistics(state, 3, log_joint=-2.5)
    np.testing.assert_array_equal(dense(stats.mixtures), levels_of(table.sum(axis=1)))
    np.testing.assert_array_equal(dense(stats.lengths), levels_of(table.sum(axis=(1, 2))[:, None]))
    np.testing.assert_array_equal(dense(stats.words), levels_of(table.reshape(12, 15)))
    assert stats.log_joint == -2.5
    sizes = stats.sizes()
    expected = levels_of(table.sum(axis=1))
    for value, weights in zip(sizes.values, sizes.weights, strict=True):
        np.testing.assert_array_equal(weights, expected[:, value])
    assert sizes.weights.sum() == expected.sum()
    nothing = methods.statistics(state, 3, log_joint=-2.5, learn=False)
    assert (nothing.mixtures.n_items, nothing.words.n_items, nothing.log_joint) == (0, 0, -2.5)


def test_stored_counts_of_words_and_topics_may_be_zero_and_no_less():
    one, two = (Levels(np.zeros(1, np.int32), np.ones(1, np.int32), np.ones((1, 1)), n_items) for n_items in (1, 2))
    stats = lda.LDAStatistics(one, one, -2.0, two, one, np.array([[0.0], [5.0]]))
    check(stats, {"n_words": 2, "K": 1})
    with pytest.raises(Mismatch, match="word_topics"):
        check(replace(stats, word_topics=-stats.word_topics), {"n_words": 2, "K": 1})


def test_topics_in_another_order_and_merged():
    """Statistics do what the same change of every token's topic does; what is merged stays two documents."""
    state, table = tables()
    stats = methods.statistics(state, 3)
    order = np.array([2, 0, 1])
    other = stats.reordered(order)
    np.testing.assert_array_equal(dense(other.mixtures), levels_of(table.sum(axis=1)[:, order]))
    np.testing.assert_array_equal(dense(other.words), levels_of(table[:, :, order].reshape(12, 15)))
    into = np.array([1, 0, 1])
    merged = stats.merged(into)
    one = levels_of(table.sum(axis=1))
    np.testing.assert_array_equal(dense(merged.mixtures), [one[1], one[0] + one[2]])
    words = levels_of(table.reshape(12, 15)).reshape(5, 3, 40)
    np.testing.assert_array_equal(
        dense(merged.words).reshape(5, 2, 40), np.stack([words[:, 1], words[:, 0] + words[:, 2]], 1)
    )
    nothing = methods.statistics(state, 3, learn=False)
    assert nothing.merged(into).mixtures.n_items == 0


def test_statistics_of_lda():
    """Tokens of every word and topic, and topics by (word, number of tokens) for beta."""
    counts = make_lda(20)
    chains = mcem.Chains.start(place(counts), 3, 4)
    params = sampler.Hyperparameters(np.full(3, 0.5), np.full(N_WORDS, 0.1))
    stats = lda.Method("all").sweeps(chains, params, 2)
    topics = chains.gather()
    assert chains.number == 2
    words, documents = np.nonzero(counts.T)[0], np.repeat(np.arange(20), counts.sum(axis=1))
    words = np.concatenate([np.repeat(np.arange(N_WORDS), row) for row in counts])
    table = np.zeros((N_WORDS, 3), dtype=int)
    np.add.at(table, (words, topics), 1)
    np.testing.assert_array_equal(stats.word_topics, table)
    np.testing.assert_array_equal(dense(stats.words, 1000), levels_of(table.T, 1000))
    np.testing.assert_array_equal(dense(stats.sizes, 2000), levels_of(table.sum(axis=0)[:, None], 2000))
    mixtures = np.zeros((20, 3), dtype=int)
    np.add.at(mixtures, (documents, topics), 1)
    np.testing.assert_array_equal(dense(stats.mixtures, 200), levels_of(mixtures, 200))

    def log_dcm(rows, a):
        rises = np.sum(gammaln(rows + a) - gammaln(a))
        return rises + np.sum(gammaln(a.sum()) - gammaln(a.sum() + rows.sum(axis=1)))

    assert stats.log_joint == pytest.approx(log_dcm(mixtures, params.alpha) + log_dcm(table.T, params.beta))
    order = np.array([2, 0, 1])
    np.testing.assert_array_equal(stats.reordered(order).word_topics, table[:, order])
    np.testing.assert_array_equal(stats.merged(np.array([0, 1, 0])).word_topics, [[a + c, b] for a, b, c in table])
    still = lda.Method("nothing").sweeps(chains, params, 1)
    assert still.words.n_items == still.mixtures.n_items == 0


def test_learning_of_lda():
    """Nothing, one number each, or all of them, each at its maximum."""
    counts = make_lda(20)
    chains = mcem.Chains.start(place(counts), 3, 4)
    params = sampler.Hyperparameters(np.full(3, 0.5), np.full(N_WORDS, 0.1))
    stats = lda.Method("all").sweeps(chains, params, 2)
    assert lda.Method("nothing").update(stats, params) is params
    even = lda.Method("symmetric").update(stats, params)
    np.testing.assert_allclose(even.alpha, symmetric(stats.mixtures, stats.lengths, params.alpha))
    np.testing.assert_allclose(even.beta, symmetric(stats.words, stats.sizes, params.beta))
    free = lda.Method("all").update(stats, params)
    floor = base.FLOOR / (1 + base.FLOOR) * free.beta.sum() / N_WORDS
    seen = stats.word_topics.sum(axis=1) > 0
    np.testing.assert_allclose(free.beta[~seen], floor)
    bare, rows = (free.beta - floor)[seen], stats.word_topics[seen].T.astype(int)
    rises = [[np.sum(1.0 / (a + np.arange(n))) for a, n in zip(bare, row, strict=True)] for row in rows]
    falls = [np.sum(1.0 / (bare.sum() + np.arange(n))) for n in rows.sum(axis=1)]
    np.testing.assert_allclose(np.sum(rises, axis=0), np.sum(falls), rtol=1e-6)
    same = lda.Method("all").conclude(stats, params)
    np.testing.assert_array_equal(same.beta, free.beta)


def test_a_stream_of_lda_counts_as_if_all_documents_were_like_the_mean():
    counts = make_lda(20)
    chains = mcem.Chains.start(place(counts), 3, 4)
    params = sampler.Hyperparameters(np.full(3, 0.5), np.full(N_WORDS, 0.1))
    stats = lda.Method("all").sweeps(chains, params, 2)
    found = lda.Method("all").of_stream(stats * (1 / 20), 60)
    np.testing.assert_allclose(found.word_topics, 3 * stats.word_topics)
    np.testing.assert_array_equal(dense(found.words, 3000), levels_of(3 * stats.word_topics.T.astype(int), 3000))
    assert lda.Method("nothing").of_stream(stats, 2).words.n_items == 0


def test_sweeps_of_dcmlda_move_blocks_now_and_then(monkeypatch):
    """Before sweeps 0, 20, 40, ..., whatever the number of the first."""
    moved, kind = [], Hyperparameters
    monkeypatch.setattr(kind, "move_blocks", lambda self, state, seed, number: moved.append(number) or state)
    state, _ = tables()
    params = Hyperparameters(np.ones(3), np.ones((5, 3)))
    for numbers in (range(0, 3), range(18, 43)):
        methods.sweeps(state.tokens.chunk, 0, state.topics, params, 1, numbers, True)
    assert moved == [0, 20, 40]


def test_the_start_of_dcmlda_learns_beta_from_sweeps_of_lda():
    counts = make(30)[0]
    chains = mcem.Chains.start(place(counts), 3, 4)
    params = methods.start(chains, np.full(3, 0.5), N_WORDS)
    assert chains.number == 20
    np.testing.assert_array_equal(params.alpha, 0.5)
    stats = chains.sum(methods.begin_statistics, n_topics=3)
    beta, background = methods.learn_beta(stats, np.full((N_WORDS, 3), 7.0), exact=True)
    np.testing.assert_allclose(params.beta, beta)
    np.testing.assert_allclose(params.background, background)


def test_nothing_is_learned_where_nothing_shall_be():
    state, _ = tables()
    params = Hyperparameters(np.ones(3), np.ones((5, 3)))
    stats = methods.statistics(state, 3)
    fixed = methods.Method(learn=False, prior=UrnPrior())
    assert fixed.update(stats, params) is params
    assert fixed.conclude(stats, params) is params


def test_symmetric_hyperparameters_are_the_maximum():
    counts = make_lda(60)
    levels, lengths = item_levels(counts), length_levels(counts.sum(axis=1, keepdims=True))

    def minus(log_a):
        a, m = np.exp(log_a), N_WORDS
        rises = np.sum(gammaln(counts + a) - gammaln(a))
        return -rises - np.sum(gammaln(m * a) - gammaln(m * a + counts.sum(axis=1)))

    best = minimize_scalar(minus, bounds=(-10, 5), method="bounded", options={"xatol": 1e-9}).x
    np.testing.assert_allclose(symmetric(levels, lengths, np.ones(N_WORDS)), np.exp(best), rtol=1e-5)


def test_symmetric_hyperparameters_at_their_limits():
    one_each = np.eye(4, dtype=int)[[0, 1, 2, 3, 0]]
    never = symmetric(item_levels(one_each), length_levels(one_each.sum(axis=1, keepdims=True)), np.ones(4))
    assert never.sum() in (pytest.approx(1e10), pytest.approx(1e-10))
    same = 5 * one_each
    bursts = symmetric(item_levels(same), length_levels(same.sum(axis=1, keepdims=True)), np.ones(4))
    np.testing.assert_allclose(bursts.sum(), 1e-10)
    nothing = np.zeros((2, 4), dtype=int)
    kept = symmetric(item_levels(nothing), length_levels(nothing.sum(axis=1, keepdims=True)), np.full(4, 0.7))
    np.testing.assert_array_equal(kept, 0.7)


def test_words_are_not_counted_twice(monkeypatch):
    """A second call of `sweeps` knows the counts that the first ended with, and gets the same as if it did not."""
    params = sampler.Hyperparameters(np.full(3, 0.5), np.full(N_WORDS, 0.1))
    results, counted = [], []
    count = lda.word_topics_of
    monkeypatch.setattr(lda, "word_topics_of", lambda *args, **options: counted.append(1) or count(*args, **options))
    for forget in (False, True):
        chains = mcem.Chains.start(place(make_lda(60)), 3, 4)
        method = lda.Method("all")
        for _ in range(3):
            stats = method.sweeps(chains, params, 2)
            if forget:
                chains.counted = None
        results.append((chains.gather().tobytes(), stats.word_topics.tobytes(), stats.log_joint))
        counted.append(0)
    assert results[0] == results[1]
    assert counted == [1, 0, 1, 1, 1, 0]


def test_the_prior_of_a_bursty_topic():
    """An s below 1, as `DCM(prior="auto")` learns it."""
    bursts = 30 * np.eye(N_WORDS, dtype=np.int32)[np.arange(60) % N_WORDS] + (np.arange(60) == 3)[:, None].astype(
        np.int32
    )
    tokens = Tokens.numbered(Chunk(sp.csr_array(bursts)), 0)
    stats = methods.statistics(State(tokens, np.zeros(int(tokens.first[-1]), dtype=np.uint8)), 1)
    found = methods.Method(prior=UrnPrior()).conclude(stats, Hyperparameters(np.ones(1), np.ones((N_WORDS, 1))))
    assert found.totals[0] < 1
    np.testing.assert_allclose(found.totals, DCM(prior="auto").fit(bursts).s_, rtol=1e-4)
