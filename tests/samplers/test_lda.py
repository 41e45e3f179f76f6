"""The LDA sampler against lists of all states, against the serial collapsed sampler, and as a chain."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from bursty.engines import Chunk
from bursty.kernels import gibbs_counts, gibbs_lda, threads, variates
from bursty.samplers import lda
from bursty.samplers.tokens import State, Tokens, item_levels, random_topics
from samplers import oracles_topics as oracles

ALPHA = np.array([0.7, 1.6])
BETA = np.array([0.3, 0.5, 1.1])
DOCUMENTS = [[0, 0, 1], [1, 2]]


def tokens_of(dense):
    return Tokens.numbered(Chunk(sp.csr_array(np.asarray(dense, dtype=np.int32))), 0)


def begin(tokens, n_topics, seed):
    return State(tokens, random_topics(tokens, n_topics, seed))


def tiny():
    return tokens_of([np.bincount(words, minlength=3) for words in DOCUMENTS])


def step(state, params, seed, number):
    word_topics = state.tokens.word_topics(state.topics, params.n_topics)
    phi = lda.draw_phi(word_topics, params.beta, seed, number)
    return lda.Topics(params.alpha, phi).sweep(state, seed, number)


def posterior():
    states = oracles.all_topics(5, 2)
    joint = np.exp([oracles.lda_log_joint(DOCUMENTS, [z[:3], z[3:]], ALPHA, BETA) for z in states])
    return joint / joint.sum()


def test_log_joint():
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = State(tiny(), rng.integers(0, 2, size=5).astype(np.uint8))
        expected = oracles.lda_log_joint(DOCUMENTS, [state.topics[:3], state.topics[3:]], ALPHA, BETA)
        np.testing.assert_allclose(lda.log_joint(state, lda.Hyperparameters(ALPHA, BETA)), expected, rtol=1e-12)


def test_conditional_given_phi():
    """Many copies of a document, all its states: one sweep from the exact posterior given phi stays there."""
    rng = np.random.default_rng(1)
    phi = rng.dirichlet(np.ones(4), size=3).T.copy()
    alpha, words, n = np.array([0.5, 1.0, 0.2]), [0, 0, 2, 3], 20_000
    states = np.array(oracles.all_topics(4, 3))
    prior = [oracles.log_beta(np.bincount(z, minlength=3) + alpha) for z in states]
    weights = np.exp(prior + np.log(phi[words, states]).sum(axis=1))
    expected = weights / weights.sum()
    start = states[rng.choice(len(states), size=n, p=expected)]
    tokens = tokens_of(np.tile(np.bincount(words, minlength=4), (n, 1)))
    state = State(tokens, start.ravel().astype(np.uint8))
    for number in range(2):
        state = lda.Topics(alpha, phi).sweep(state, 3, number)
    observed = np.bincount(state.topics.reshape(n, 4) @ 3 ** np.arange(4)[::-1], minlength=len(states))
    often = expected * n >= 5
    observed = np.append(observed[often], observed[~often].sum())
    expected = n * np.append(expected[often], expected[~often].sum())
    keep = expected > 0
    assert stats.chisquare(observed[keep], expected[keep]).pvalue > 1e-3


def test_stationary_distribution():
    params = lda.Hyperparameters(ALPHA, BETA)
    state, observed = begin(tiny(), 2, 0), np.zeros(32)
    for number in range(12_000):
        state = step(state, params, 4, number)
        if number % 3 == 2:
            observed[state.topics @ 2 ** np.arange(5)[::-1]] += 1
    assert stats.chisquare(observed, posterior() * observed.sum()).pvalue > 1e-3


def test_the_serial_sampler_has_the_same_distribution():
    rng = np.random.default_rng(2)
    topics, observed = [np.array([0, 1, 0]), np.array([1, 0])], np.zeros(32)
    for number in range(4500):
        oracles.collapsed_lda_sweep(DOCUMENTS, topics, ALPHA, BETA, rng)
        if number % 3 == 2:
            observed[np.concatenate(topics) @ 2 ** np.arange(5)[::-1]] += 1
    assert stats.chisquare(observed, posterior() * observed.sum()).pvalue > 1e-3


def test_geweke():
    """Drawing data and state together, and alternating sweeps with new data, give the same distribution."""
    rng, params = np.random.default_rng(3), lda.Hyperparameters(ALPHA, BETA)
    n, lengths = 1500, (4, 3)

    def draw_words(topics, phi):
        return [[rng.choice(3, p=phi[:, k]) for k in own] for own in topics]

    def statistics(words, topics):
        flat_words, flat_topics = np.concatenate(words), np.concatenate(topics)
        table = oracles.counts_of(flat_words, flat_topics, 3, 2)
        first = oracles.counts_of(words[0], topics[0], 3, 2)
        return [table[:, 0].sum(), (table**2).sum(), table[0, 0], table[2, 1], first[:, 0].sum() ** 2, (first**2).sum()]

    forward, alternating = [], []
    for replicate in range(n):
        for chain in (forward, alternating):
            phi = rng.dirichlet(BETA, size=2).T
            topics = [rng.choice(2, size=m, p=rng.dirichlet(ALPHA)) for m in lengths]
            words = draw_words(topics, phi)
            for number in range(0 if chain is forward else 3):
                order = [np.argsort(own, kind="stable") for own in words]
                topics = np.concatenate([own[o] for own, o in zip(topics, order, strict=True)])
                tokens = tokens_of([np.bincount(own, minlength=3) for own in words])
                phi = lda.draw_phi(tokens.word_topics(topics, 2), BETA, replicate, number)
                state = lda.Topics(ALPHA, phi).sweep(State(tokens, topics.astype(np.uint8)), replicate, number)
                topics = [state.topics[: lengths[0]].astype(int), state.topics[lengths[0] :].astype(int)]
                words = draw_words(topics, phi)
            chain.append(statistics(words, topics))
    forward, alternating = np.array(forward, dtype=float), np.array(alternating, dtype=float)
    error = np.sqrt((forward.var(axis=0) + alternating.var(axis=0)) / n)
    assert np.all(np.abs(forward.mean(axis=0) - alternating.mean(axis=0)) < 3.5 * error)
    assert params.n_topics == 2


def test_plain_python_agrees():
    rng = np.random.default_rng(4)
    tokens = tokens_of(rng.poisson(0.7, size=(20, 30)))
    alpha, phi = rng.gamma(1.0, size=5), rng.dirichlet(np.full(30, 0.1), size=5).T.copy()
    model = lda.Topics(alpha, phi)
    state = model.sweep(begin(tokens, 5, 2), 2, 0)
    topics = begin(tokens, 5, 2).topics
    plain = getattr(gibbs_lda.sweep, "py_func", gibbs_lda.sweep)
    smooth = np.empty(30)
    both(gibbs_lda.smooth_sums)[-1](phi, alpha, smooth, 0, 30)
    np.testing.assert_allclose(smooth, phi @ alpha, rtol=1e-14)
    np.testing.assert_array_equal(model.tables.smooth, smooth)
    plain(tokens.documents, topics, model.tables, 2, 0, 0, 20)
    np.testing.assert_array_equal(state.topics, topics)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_same_bits_for_any_number_of_threads(n_threads, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    tokens = tokens_of(np.random.default_rng(4).poisson(0.7, size=(20, 30)))
    params = lda.Hyperparameters(np.full(5, 0.3), np.full(30, 0.1))
    results = []
    for n in (1, n_threads):
        with threads.using(n):
            state = begin(tokens, 5, 1)
            for number in range(3):
                state = step(state, params, 1, number)
            results.append(state.topics.tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("shape", [0.02, 0.3, 0.97, 1.0, 1.4, 30.0])
def test_gamma_variates(shape):
    def draw(count, n, kernel):
        out, sums = np.empty((1, n)), np.empty((1, n))
        kernel(np.full((1, n), count), np.array([shape]), 1e-300, 3, 1, np.array([0, 1]), out, sums, 0, 1)
        np.testing.assert_array_equal(out, sums)
        return out[0]

    for count in (0, 1, 5, 40):
        kernel = gibbs_lda.draw_gammas
        values = draw(count, 20_000, kernel)
        assert stats.kstest(values, stats.gamma(shape + count).cdf).pvalue > 1e-3
        np.testing.assert_allclose(draw(count, 50, both(kernel)[-1]), draw(count, 50, kernel), rtol=1e-9)


@pytest.mark.parametrize("shape", [1e-4, 0.02, 0.5, 2.0])
def test_variates_that_matter(shape):
    """Those above a bound, of many alike: as many as there should be, anywhere, and distributed as they should."""
    n, least, law = 40_000, 1e-3, stats.gamma(shape)
    items, values = np.empty(n, dtype=np.int64), np.empty(n)
    found, draws = variates.gammas_above(shape, n, least, np.uint64(5), np.uint64(77), 0, items, values)
    above = law.sf(least)
    assert stats.binomtest(found, n, above).pvalue > 1e-3
    assert stats.kstest(items[:found] / n, "uniform").pvalue > 1e-3
    assert np.all(np.diff(items[:found]) > 0)
    assert stats.kstest(values[:found], lambda x: 1.0 - law.sf(x) / above).pvalue > 1e-3
    again, same = np.empty(n, dtype=np.int64), np.empty(n)
    plain = both(variates.gammas_above)[-1](shape, n // 40, least, np.uint64(5), np.uint64(77), 0, again, same)
    np.testing.assert_array_equal(again[: plain[0]], items[: plain[0]])
    np.testing.assert_allclose(same[: plain[0]], values[: plain[0]], rtol=1e-9)
    assert plain[1] <= draws


def test_weights_and_where_a_number_falls_along_them():
    rng = np.random.default_rng(0)
    for n in (1, 3, 4, 5, 8, 17, 48, 49, 90):
        sizes, row, present = rng.integers(1, 9, n).astype(float), rng.random(100), rng.permutation(100)[:n]
        weights = np.empty(n)
        for weigh in both(gibbs_lda.weigh):
            total = weigh(sizes, present.astype(np.uint32), np.uint64(n), np.append(0.5, row), np.uint64(1), weights)
            np.testing.assert_array_equal(weights[:n], (sizes * row[present])[:n])
            np.testing.assert_allclose(total, weights[:n].sum(), rtol=1e-14)
        for find in both(gibbs_lda.find):
            for left in total * rng.random(50):
                assert find(weights, np.uint64(n), left) == np.searchsorted(np.cumsum(weights[:n]), left, "right")
            assert find(weights, np.uint64(n), 2 * total) == n - 1


def both(kernel):
    return [kernel] if not hasattr(kernel, "py_func") else [kernel, kernel.py_func]


def test_phi_is_a_dirichlet():
    counts = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    draws = np.array([lda.draw_phi(counts, BETA, 0, i) for i in range(4000)])
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)
    np.testing.assert_allclose(draws.mean(axis=0), lda.mean_phi(counts, BETA), atol=0.02)
    tiny_shapes = lda.draw_phi(np.zeros((50, 4)), np.full(50, 1e-6), 0, 0)
    assert np.all(np.isfinite(tiny_shapes))
    assert np.all(tiny_shapes > 0)


@pytest.mark.parametrize(("shape", "mean"), [((40, 5), 2.0), ((5, 3), 1e6), ((0, 4), 1.0)])
def test_levels_of_columns(shape, mean):
    """Rows by column and value, whether they are counted or sorted, in both orders of the array."""
    rng = np.random.default_rng(0)
    counts = (rng.poisson(mean, size=shape) * rng.integers(0, 2, size=shape)).astype(np.int32)
    expected = [(k, v, (counts[:, k] == v).sum()) for k in range(shape[1]) for v in np.unique(counts[:, k]) if v > 0]
    for table in (counts, np.asfortranarray(counts)):
        levels = item_levels(table)
        found = zip(levels.items, levels.values, levels.weights[:, 0], strict=True)
        assert [(int(k), int(v), int(n)) for k, v, n in found] == expected
    for kernel in both(gibbs_counts.by_value):
        values, weights, sizes = np.zeros(8, dtype=np.int32), np.zeros(8), np.zeros(2, dtype=np.int64)
        kernel(np.array([[3, 1], [9000, 0], [3, 0], [9000, 2000]]), values, weights, sizes, 0, 2)
        assert sizes.tolist() == [2, 2]
        assert values.tolist() == [3, 9000, 0, 0, 1, 2000, 0, 0]
        assert weights.tolist() == [2, 2, 0, 0, 1, 1, 0, 0]
