"""The DCMLDA sampler against lists of all states, against the joint, and as a chain."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from bursty.engines import Chunk
from bursty.kernels import gibbs_dcmlda, threads
from bursty.samplers import dcmlda
from bursty.samplers.tokens import State, Tokens, random_topics
from samplers import oracles_topics as oracles

ALPHA = np.array([0.7, 1.6, 0.4])
# The floors differ between topics, and some words stand at them.
BETA = np.array([[0.05, 2.0, 0.3], [1.2, 0.1, 0.3], [0.05, 0.4, 4.0], [0.9, 0.1, 0.3]])
WORDS = [0, 0, 0, 1, 3, 3]


def tokens_of(dense):
    return Tokens.numbered(Chunk(sp.csr_array(np.asarray(dense, dtype=np.int32))), 0)


def begin(tokens, n_topics, seed):
    return State(tokens, random_topics(tokens, n_topics, seed))


def copies(n):
    return tokens_of(np.tile(np.bincount(WORDS, minlength=4), (n, 1)))


def both(kernel):
    return [kernel] if not hasattr(kernel, "py_func") else [kernel, kernel.py_func]


@pytest.fixture
def params():
    return dcmlda.Hyperparameters(ALPHA, BETA)


@pytest.fixture(params=["even", "background"])
def corpus(request):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.4, size=(30, 40)) * rng.integers(1, 6, size=(30, 40))
    dense[4] = 0
    alpha, beta = rng.gamma(1.0, size=7) + 0.01, rng.gamma(0.2, size=(40, 7))
    beta, floor = np.where(beta < 0.1, 0.0, beta), rng.uniform(0.001, 0.01, size=7)
    background = None if request.param == "even" else rng.integers(1, 5, size=40) / 2.5
    beta += floor if background is None else floor * background[:, None]
    return tokens_of(dense), dcmlda.Hyperparameters(alpha, beta, background)


def test_log_joint(params):
    rng = np.random.default_rng(1)
    state = State(copies(20), rng.integers(0, 3, size=120).astype(np.uint8))
    expected = [oracles.dcmlda_log_joint(WORDS, state.topics[6 * d : 6 * d + 6], ALPHA, BETA) for d in range(20)]
    np.testing.assert_allclose(dcmlda.log_joint(state, params), expected, rtol=1e-12)


def test_conditional_is_the_ratio_of_joints():
    """All states of the other tokens, every token: conditional = joint over the sum of the joints."""
    for others in oracles.all_topics(len(WORDS) - 1, 3):
        for token in range(len(WORDS)):
            states = [[*others[:token], k, *others[token:]] for k in range(3)]
            joint = np.exp([oracles.dcmlda_log_joint(WORDS, z, ALPHA, BETA) for z in states])
            rest = oracles.counts_of(np.delete(WORDS, token), others, 4, 3)
            args = rest.sum(axis=0), rest[WORDS[token]], ALPHA, BETA[WORDS[token]], BETA.sum(axis=0)
            weights = oracles.dcmlda_conditional(*args)
            np.testing.assert_allclose(weights / weights.sum(), joint / joint.sum(), rtol=1e-12)


def test_sparse_parts_add_up_to_the_conditional(corpus):
    _, params = corpus
    rng = np.random.default_rng(2)
    first, table_topics, table_values = params.tables[4:]
    for _ in range(200):
        word = rng.integers(40)
        n_w = rng.integers(0, 3, size=7) * rng.integers(0, 2, size=7).astype(float)
        n_k = n_w + rng.integers(0, 5, size=7)
        ratio = (n_k + params.alpha) / (n_k + params.totals)
        weights, bounds = np.empty(10), np.empty(2)
        expected = oracles.dcmlda_conditional(n_k, n_w, params.alpha, params.beta[word], params.totals)
        begin, end = np.uint64(first[word]), np.uint64(first[word + 1])
        own, values = table_topics[begin:end], table_values[begin:end]
        by_topic = ratio * (n_w + params.floor * params.tables.background[word])
        np.add.at(by_topic, own, ratio[own] * values)
        np.testing.assert_allclose(by_topic, expected, rtol=1e-12)
        ends = np.cumsum(ratio[own] * values)
        for kernel, along in zip(both(gibbs_dcmlda.above_floor), both(gibbs_dcmlda.along_table), strict=True):
            above = kernel(ratio, table_topics, table_values, begin, end, weights, bounds)
            np.testing.assert_allclose(above, (ratio[own] * values).sum(), rtol=1e-12)
            for left in above * rng.random(10 if above > 0 else 0):
                k = along(left, begin, end, table_topics, weights, bounds)
                assert k == own[np.searchsorted(ends, left, "right")]


@pytest.mark.parametrize(("along", "n_topics"), [("mates", 5), ("floor", 5), ("floor", 16), ("floor", 53)])
def test_where_a_number_falls_along_the_other_parts(along, n_topics):
    rng = np.random.default_rng(3)
    ratio, floor = rng.random(n_topics), rng.random(n_topics)
    topics = rng.integers(0, n_topics, size=9).astype(np.uint8)
    mates = np.delete(np.arange(2, 7), 2)
    terms, of_term = (ratio[topics[mates]], topics[mates]) if along == "mates" else (ratio * floor, np.arange(n_topics))
    begin, end, token = np.uint64(2), np.uint64(7), np.uint64(4)
    sixteens = np.add.reduceat(ratio * floor, range(0, n_topics, 16))
    for total in both(gibbs_dcmlda.of_the_mates) if along == "mates" else ():
        np.testing.assert_allclose(total(token, begin, end, topics, ratio), terms.sum(), rtol=1e-12)
    for left in terms.sum() * rng.random(30):
        expected = of_term[np.searchsorted(np.cumsum(terms), left, "right")]
        for kernel in both(getattr(gibbs_dcmlda, f"along_{along}")):
            rest = (token, begin, end, topics, ratio) if along == "mates" else (ratio, floor, sixteens)
            assert kernel(left, *rest) == expected


@pytest.mark.parametrize("n_topics", [5, 16, 53])
def test_sums_of_the_floor_follow_the_counts(n_topics):
    rng = np.random.default_rng(5)
    alpha, totals, floor = rng.random(n_topics), 1 + rng.random(n_topics), rng.random(n_topics)
    for begin, recount in zip(both(gibbs_dcmlda.begin_ratios), both(gibbs_dcmlda.recount), strict=True):
        n_k = rng.integers(0, 3, size=n_topics).astype(float)
        ratio, sixteens = np.empty(n_topics), np.empty(-(-n_topics // 16))
        rest = begin(n_k, alpha, totals, floor, ratio, sixteens)
        for k in rng.integers(0, n_topics, size=40).astype(np.uint64):
            rest += recount(k, 1.0 if n_k[k] == 0 else -1.0, n_k, alpha, totals, floor, ratio, sixteens)
            expected = (n_k + alpha) / (n_k + totals)
            np.testing.assert_allclose(ratio, expected, rtol=1e-15)
            sums = np.add.reduceat(expected * floor, range(0, n_topics, 16))
            np.testing.assert_allclose(sixteens, sums, rtol=1e-12)
            np.testing.assert_allclose(rest, sums.sum(), rtol=1e-12)


def test_table_holds_what_stands_above_the_floor(corpus):
    _, params = corpus
    first, topics, values = params.tables[4:]
    for kernel in both(gibbs_dcmlda.build_table):
        again, same = np.empty_like(topics), np.empty_like(values)
        kernel(params.beta, params.floor, params.tables.background, first, again, same, 0, 40)
        assert again.tobytes() == topics.tobytes()
        assert same.tobytes() == values.tobytes()
    for word in range(40):
        own = slice(first[word], first[word + 1])
        assert np.all(np.diff(values[own]) <= 0)
        assert (own.stop - own.start) % 4 == 0
        beta = params.floor * params.tables.background[word]
        np.add.at(beta, topics[own], values[own])
        np.testing.assert_allclose(beta, params.beta[word], rtol=1e-12)


def test_plain_python_agrees(corpus):
    tokens, params = corpus
    state = params.sweep(begin(tokens, 7, 3), 3, 0)
    topics = begin(tokens, 7, 3).topics
    both(gibbs_dcmlda.sweep)[-1](tokens.documents, topics, params.tables, 3, 0, 0, 30)
    np.testing.assert_array_equal(state.topics, topics)


def test_stationary_distribution(params):
    """Many independent copies of one document, some sweeps: their states have the exact posterior."""
    n = 20_000
    state = begin(copies(n), 3, 12)
    for number in range(25):
        state = params.sweep(state, 12, number)
    states = oracles.all_topics(len(WORDS), 3)
    joint = np.exp([oracles.dcmlda_log_joint(WORDS, z, ALPHA, BETA) for z in states])
    codes = state.topics.reshape(n, -1) @ 3 ** np.arange(len(WORDS))[::-1]
    observed = np.bincount(codes, minlength=len(states))
    expected = n * joint / joint.sum()
    often = expected >= 5
    observed = np.append(observed[often], observed[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize("counts", [(5, 1), (3, 2)])
def test_repeated_words_keep_the_posterior(counts):
    """Many copies of a document, all its states: sweeps from the exact posterior stay there, if words repeat, too.

    The first word is at its floor in the last topic, so that it can have topics that are not in its table.
    """
    alpha, beta = np.array([0.5, 0.8, 0.4]), np.array([[0.9, 0.3, 0.2], [0.1, 0.6, 0.2], [0.4, 0.2, 0.7]])
    words, n = np.repeat([0, 1], counts), 60_000
    states = np.array(oracles.all_topics(len(words), 3))
    joint = np.exp([oracles.dcmlda_log_joint(words, z, alpha, beta) for z in states])
    expected = joint / joint.sum()
    start = states[np.random.default_rng(5).choice(len(states), size=n, p=expected)]
    state = State(tokens_of(np.tile(np.bincount(words, minlength=3), (n, 1))), start.ravel().astype(np.uint8))
    params = dcmlda.Hyperparameters(alpha, beta)
    for number in range(2):
        state = params.sweep(state, 7, number)
    codes = state.topics.reshape(n, len(words)) @ 3 ** np.arange(len(words))[::-1]
    observed = np.bincount(codes, minlength=len(states))
    often = expected * n >= 5
    observed = np.append(observed[often], observed[~often].sum())
    expected = n * np.append(expected[often], expected[~often].sum())
    keep = expected > 0
    assert stats.chisquare(observed[keep], expected[keep]).pvalue > 1e-3


def test_geweke(params):
    """Drawing data and state together, and alternating sweeps with new data, give the same distribution."""
    n, length = 4000, 8
    rng = np.random.default_rng(5)

    def draw_tables(mixtures):
        """Tokens by word and topic, given tokens by topic."""
        return np.array(
            [[rng.multinomial(m, rng.dirichlet(BETA[:, k])) for k, m in enumerate(row)] for row in mixtures]
        ).transpose(0, 2, 1)

    def statistics(tables):
        n_k, n_w = tables.sum(axis=1), tables.sum(axis=2)
        own = [n_k[:, 0], n_k[:, 1], n_k[:, 0] ** 2, n_w[:, 2], (n_w**2).sum(axis=1), (tables**2).sum(axis=(1, 2))]
        return np.array([*own, tables[:, 1, 0], tables[:, 2, 1], (tables > 0).sum(axis=(1, 2))], dtype=float)

    mixtures = np.array([rng.multinomial(length, rng.dirichlet(ALPHA)) for _ in range(n)])
    forward = statistics(draw_tables(mixtures))
    tables = draw_tables(np.array([rng.multinomial(length, rng.dirichlet(ALPHA)) for _ in range(n)]))
    for number in range(4):
        tokens = tokens_of(tables.sum(axis=2))
        # Given the counts, all orders of a word's tokens are as likely.
        topics = np.concatenate([rng.permuted(np.repeat(np.arange(3), row)) for row in tables.reshape(-1, 3)])
        state = params.sweep(State(tokens, topics.astype(np.uint8)), 6, number)
        tables = draw_tables(tokens.document_topics(state.topics, 3))
    alternating = statistics(tables)
    error = np.sqrt((forward.var(axis=1) + alternating.var(axis=1)) / n)
    assert np.all(np.abs(forward.mean(axis=1) - alternating.mean(axis=1)) < 3.5 * error)


def test_same_bits_for_any_number_of_threads_and_any_chunks(corpus, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    tokens, params = corpus
    results = []
    for n_threads in (1, 2, 5):
        with threads.using(n_threads):
            state = begin(tokens, 7, 1)
            for number in range(3):
                state = params.sweep(state, 1, number)
            results.append(state.topics.tobytes())
    chunk = tokens.chunk
    counts = sp.csr_array((chunk.values, chunk.indices, chunk.indptr), shape=(30, 40))
    parts = []
    for low, high in ((0, 7), (7, 8), (8, 30)):
        state = begin(Tokens.numbered(Chunk(counts[low:high]), low), 7, 1)
        for number in range(3):
            state = params.sweep(state, 1, number)
        parts.append(state.topics)
    results.append(np.concatenate(parts).tobytes())
    assert len(set(results)) == 1


def test_counts_of_topics(corpus):
    tokens, _ = corpus
    state = begin(tokens, 7, 1)
    words = np.repeat(tokens.chunk.indices, tokens.chunk.values)
    documents = np.repeat(np.arange(30), tokens.chunk.lengths)
    table = np.zeros((30, 40, 7), dtype=int)
    np.add.at(table, (documents, words, state.topics), 1)
    np.testing.assert_array_equal(tokens.document_topics(state.topics, 7), table.sum(axis=1))
    np.testing.assert_array_equal(tokens.word_topics(state.topics, 7), table.sum(axis=0))
    levels = tokens.word_levels(state.topics, 7)
    for item, value, weight in zip(levels.items, levels.values, levels.weights[:, 0], strict=True):
        assert weight == (table[:, item // 7, item % 7] == value).sum()
    assert np.all(np.diff((levels.items.astype(np.int64) << 32) | levels.values) > 0)
    assert levels.values @ levels.weights[:, 0] == tokens.first[-1]


def test_many_topics_take_two_bytes():
    tokens = tokens_of(np.ones((3, 400)))
    assert begin(tokens, 256, 0).topics.dtype == np.uint8
    state = begin(tokens, 300, 0)
    assert state.topics.dtype == np.uint16
    params = dcmlda.Hyperparameters(np.full(300, 0.1), np.random.default_rng(0).gamma(1.0, size=(400, 300)) + 0.1)
    assert params.sweep(state, 0, 0).topics.max() < 300
