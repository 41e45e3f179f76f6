"""Every kernel three ways: NumPy says what it equals, plain Python and compiled agree."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma, gammaln, logsumexp, polygamma

from bursty.kernels import (
    gather,
    gibbs_counts,
    gibbs_dcmlda,
    gibbs_maximise,
    maximise,
    normaliser,
    order,
    polya,
    posterior,
    select,
    threads,
)


def both(kernel):
    """The kernel as compiled and as plain Python (the same thing when the JIT is off)."""
    return [kernel] if not hasattr(kernel, "py_func") else [kernel, kernel.py_func]


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.7, size=(23, 17)) * rng.integers(1, 5, size=(23, 17))
    dense[3] = 0
    dense[:, 5] = 0
    dense[2, 2] = 700
    counts = sp.csr_array(dense.astype(np.int32))
    return counts, dense


@pytest.fixture
def resp():
    return np.random.default_rng(1).dirichlet(np.ones(4), size=23)


def test_sum_rows(matrix):
    counts, dense = matrix
    table = np.random.default_rng(2).normal(size=(17, 4))
    expected = (dense > 0) @ table
    for kernel in both(gather.sum_rows):
        out = np.full((23, 4), np.nan)
        kernel(counts.indptr, counts.indices, table, out, 0, 10)
        assert np.all(np.isnan(out[10:]))
        kernel(counts.indptr, counts.indices, table, out, 10, 23)
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-13)


def test_inner_products(matrix):
    counts, dense = matrix
    by_column = order.transpose(counts.indptr, counts.indices, counts.data, 17)
    for kernel in both(gather.inner_products):
        out = np.zeros((23, 23))
        kernel(counts.indptr, counts.indices, counts.data, *by_column, out, 0, 10)
        assert not out[10:].any()
        kernel(counts.indptr, counts.indices, counts.data, *by_column, out, 10, 23)
        np.testing.assert_array_equal(out, dense @ dense.T)


def test_sum_weighted_rows(matrix):
    counts, dense = matrix
    table = np.random.default_rng(2).normal(size=(17, 4))
    for kernel in both(gather.sum_weighted_rows):
        out = np.full((23, 4), np.nan)
        kernel(counts.indptr, counts.indices, counts.data, table, out, 0, 23)
        np.testing.assert_allclose(out, dense @ table, rtol=1e-12, atol=1e-11)


def test_sums_of_rows_in_single_precision(matrix):
    counts, dense = matrix
    table = np.random.default_rng(2).normal(size=(17, 6)).astype(np.float32)
    out = np.empty((23, 6))
    gather.sum_rows(counts.indptr, counts.indices, table, out, 0, 23)
    np.testing.assert_allclose(out, (dense > 0) @ table.astype(np.float64), rtol=1e-12, atol=1e-13)


def test_add_rows():
    rng = np.random.default_rng(0)
    table, codes, constants = rng.random((3, 4)), rng.integers(0, 3, 9).astype(np.int32), rng.random(9)
    for kernel in both(gather.add_rows):
        out = np.ones((9, 4))
        kernel(table, codes, constants, out, 2, 9)
        np.testing.assert_array_equal(out[:2], 1.0)
        np.testing.assert_allclose(out[2:], 1.0 + table[codes[2:]] + constants[2:, None])


def test_tallies(matrix):
    counts, dense = matrix
    rng = np.random.default_rng(3)
    labels, weights = rng.integers(-1, 3, size=23).astype(np.int32), rng.random(23)
    onehot = (labels[:, None] == np.arange(3)) * weights[:, None]
    csc = counts.tocsc()
    for kernel in both(gather.tally_by_row):
        out = np.zeros((17, 3))
        kernel(counts.indptr, counts.indices, labels, weights, out)
        np.testing.assert_allclose(out, (dense > 0).T @ onehot, rtol=1e-13)
    for kernel in both(gather.tally_weighted_by_row):
        out = np.zeros((17, 3))
        kernel(counts.indptr, counts.indices, counts.data, labels, weights, out)
        np.testing.assert_allclose(out, dense.T @ onehot, rtol=1e-13)
    shares = rng.random((23, 3))
    mixed = np.where(labels[:, None] < 0, shares, onehot)
    for rows, resp, trace in ((np.empty((0, 3)), onehot, 0.0), (shares, mixed, 0.25)):
        traced = resp + trace * resp.sum(axis=1, keepdims=True)
        for kernel in both(gather.tally_by_column):
            out = np.full((17, 3), np.nan)
            kernel(csc.indptr, csc.indices, labels, weights, rows, trace, out, 0, 17)
            np.testing.assert_allclose(out, (dense > 0).T @ traced, rtol=1e-13)
        for kernel in both(gather.tally_weighted_by_column):
            out = np.full((17, 3), np.nan)
            kernel(csc.indptr, csc.indices, csc.data, labels, weights, rows, trace, out, 0, 17)
            np.testing.assert_allclose(out, dense.T @ traced, rtol=1e-13)


def test_column_sums(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    table = np.random.default_rng(0).random((2500, 3))
    with threads.using(1):
        alone = gather.column_sums(table)
    with threads.using(2):
        np.testing.assert_array_equal(gather.column_sums(table), alone)
    np.testing.assert_allclose(alone, table.sum(axis=0), rtol=1e-13)
    np.testing.assert_array_equal(gather.column_sums(table[:0]), 0.0)
    for kernel in both(gather.block_sums):
        sums = np.empty((3, 3))
        kernel(table, sums, 0, 3)
        np.testing.assert_allclose(sums.sum(axis=0), alone, rtol=1e-13)


def test_copy_rows():
    table, rows = np.arange(12.0).reshape(4, 3), np.array([3, 0, 3], dtype=np.int32)
    np.testing.assert_array_equal(gather.rows_of(table, rows), table[rows])
    for kernel in both(gather.copy_rows):
        out = np.full((3, 3), np.nan)
        kernel(table, rows, out, 1, 3)
        np.testing.assert_array_equal(out[1:], table[rows[1:]])
        assert np.isnan(out[0]).all()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_mix_rows(n_threads, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    rng = np.random.default_rng(0)
    table = rng.random((50, 7)) * (rng.random((50, 7)) < 0.3)
    matrix, rows = sp.csr_array(table), rng.integers(0, 50, 30)
    base, pulls, factors = rng.random(50), rng.random(7), rng.random(7)
    out = np.full((30, 7), np.nan)
    parts = matrix.indptr, matrix.indices, matrix.data, rows, base, pulls, factors, out
    with threads.using(n_threads):
        threads.run(gather.mix_rows, np.arange(31) * 7, *parts)
    np.testing.assert_array_equal(out, (table[rows] + base[rows, None] * pulls) * factors)


def test_certain_labels():
    resp = np.array([[1.0, 0.0], [0.5, 0.5], [1e-300, 1.0], [1.0 - 1e-15, 1e-15]])
    for kernel in both(gather.certain_labels):
        labels = np.full(4, 7, dtype=np.int32)
        kernel(resp, 1.0 - 1e-9, labels, 0, 4)
        np.testing.assert_array_equal(labels, [0, -1, 1, 0])


def test_transpose_and_levels(matrix):
    counts, dense = matrix
    csc = counts.tocsc()
    for kernel in both(order.transpose):
        starts, rows, values = kernel(counts.indptr, counts.indices, counts.data, 17)
        np.testing.assert_array_equal(starts, csc.indptr)
        np.testing.assert_array_equal(rows, csc.indices)
        np.testing.assert_array_equal(values, csc.data)
    coo = counts.tocoo()
    pairs, inverse = np.unique(np.stack([coo.coords[1], coo.data]), axis=1, return_inverse=True)
    for kernel in both(order.order_levels):
        words, values, starts, level_rows = kernel(csc.indptr, csc.indices, csc.data)
        np.testing.assert_array_equal(np.stack([words, values]), pairs)
        for i, (word, value) in enumerate(pairs.T):
            np.testing.assert_array_equal(
                level_rows[starts[i] : starts[i + 1]], np.flatnonzero(dense[:, word] == value)
            )
    first = np.searchsorted(pairs[0], np.arange(18)).astype(np.int32)
    for kernel in both(order.level_codes):
        codes = np.empty(counts.nnz, dtype=np.int32)
        kernel(counts.indptr, counts.indices, counts.data, first, pairs[1].astype(np.int32), codes, 0, 23)
        np.testing.assert_array_equal(codes, inverse)
    for kernel in both(order.row_sums):
        out = np.zeros(23, dtype=np.int64)
        kernel(counts.indptr, counts.data, out, 0, 23)
        np.testing.assert_array_equal(out, dense.sum(1))


def test_level_codes_search_long_columns():
    values = np.unique(np.random.default_rng(0).integers(1, 5000, size=900)).astype(np.int32)
    counts = sp.csr_array(np.random.default_rng(1).permutation(values)[:, None])
    for kernel in both(order.level_codes):
        codes = np.empty(len(values), dtype=np.int32)
        first = np.array([0, len(values)], dtype=np.int32)
        kernel(counts.indptr, counts.indices, counts.data, first, values, codes, 0, len(values))
        np.testing.assert_array_equal(values[codes], counts.data)


@pytest.mark.parametrize("a", [1e-12, 1e-3, 0.7, 3.0, 40.0, 1e4])
@pytest.mark.parametrize(("lo", "hi"), [(0, 0), (0, 1), (0, 5), (0, 17), (3, 60), (0, 10_000), (200, 9_000)])
def test_rising_factorials(a, lo, hi):
    expected = math.fsum(math.log(a + j) for j in range(lo, hi))
    first = math.fsum(1 / (a + j) for j in range(lo, hi))
    second = math.fsum(1 / (a + j) ** 2 for j in range(lo, hi))
    for kernel in both(polya.log_rising):
        assert kernel(a, lo, hi) == pytest.approx(expected, rel=1e-13, abs=1e-12)
    for kernel in both(polya.inverse_sums):
        np.testing.assert_allclose(kernel(a, lo, hi), (first, second), rtol=1e-13)
    if a + lo > 1e-3:
        np.testing.assert_allclose(gammaln(a + hi) - gammaln(a + lo), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(digamma(a + hi) - digamma(a + lo), first, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(polygamma(1, a + lo) - polygamma(1, a + hi), second, rtol=1e-8, atol=1e-12)


def test_rising_factorial_of_an_empty_urn():
    for kernel in both(polya.log_rising):
        assert kernel(0.0, 0, 3) == -math.inf
        assert kernel(0.0, 0, 0) == 0.0


def test_log_rising_table():
    first = np.array([0, 2, 2, 5], dtype=np.int32)
    values = np.array([1, 4, 1, 2, 300], dtype=np.int32)
    alpha = np.array([[0.3, 2.0], [1.0, 1.0], [0.0, 5.0]])
    words = np.array([0, 0, 2, 2, 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = gammaln(alpha[words] + values[:, None]) - gammaln(alpha[words])
    expected[2:, 0] = -np.inf
    np.testing.assert_allclose(polya.log_rising_table(first, values, alpha), expected, rtol=1e-12)
    for steps, add_up in zip(both(polya.rising_steps), both(polya.add_up_steps), strict=True):
        out = np.full((5, 2), np.nan)
        steps(first, values, alpha, out, 0, 3)
        np.testing.assert_allclose(
            out, [[0.3, 2.0], [1.3 * 2.3 * 3.3, 3.0 * 4.0 * 5.0], [0.0, 5.0], [1.0, 6.0], [1, 1]]
        )
        with np.errstate(divide="ignore"):
            np.log(out, out=out)
        add_up(first, values, alpha, out, 0, 3)
        np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_tail_sums():
    first = np.array([0, 3, 3, 4], dtype=np.int32)
    for kernel in both(polya.tail_sums):
        weights, out = np.arange(8.0).reshape(4, 2), np.full((4, 2), np.nan)
        kernel(first, weights, out, 0, 3)
        np.testing.assert_array_equal(out, [[6, 9], [6, 8], [4, 5], [6, 7]])


def test_harmonic_equals_digamma():
    values = np.array([0, 1, 4, 90, 2000], dtype=np.int32)
    weights = np.random.default_rng(0).random((5, 3))
    weights[3:, 1] = 0.0
    tails = weights[::-1].cumsum(axis=0)[::-1].copy()
    s = np.array([0.01, 3.0, 500.0])
    expected = np.array([weights[:, k] @ (digamma(s[k] + values) - digamma(s[k])) for k in range(3)])
    slope = np.array([weights[:, k] @ (polygamma(1, s[k]) - polygamma(1, s[k] + values)) for k in range(3)])
    for kernel in both(maximise.harmonic):
        first, second = np.empty(3), np.empty(3)
        kernel(values, tails, s, first, second, 0, 3)
        np.testing.assert_allclose(first, expected, rtol=1e-12)
        np.testing.assert_allclose(second, slope, rtol=1e-10)


def test_solve_pairs_gives_every_word_the_slope():
    rng = np.random.default_rng(0)
    first = np.array([0, 1, 3, 3, 5], dtype=np.int32)
    values = np.array([1, 2, 50, 2, 9], dtype=np.int32)  # repeats: counts less one
    weights, once = rng.random((5, 2)), rng.random((4, 2))
    weights[1:3, 1] = 0.0
    tails = np.empty_like(weights)
    polya.tail_sums(first, weights, tails, 0, 4)
    words, components = np.repeat(np.array([0, 1, 3], dtype=np.int32), 2), np.tile(np.array([0, 1], dtype=np.int32), 3)
    pair_first = np.array([0, 2, 4, 4, 6], dtype=np.int32)
    types = once.copy()
    for word in (0, 1, 3):
        types[word] += weights[first[word] : first[word + 1]].sum(axis=0)
    urns = pair_first, components, types, first, values, tails
    lambdas = np.array([0.3, 20.0])
    for kernel in both(maximise.solve_pairs):
        alpha, slope, sums, slopes = np.full(6, 1e-3), np.zeros(6), np.full((1, 2), np.nan), np.full((1, 2), np.nan)
        kernel(*urns, lambdas, 100, alpha, slope, sums, slopes, 0, 1)
        for word, k, a in zip(words, components, alpha, strict=True):
            cells = slice(first[word], first[word + 1])
            g = weights[cells, k] @ (digamma(a + values[cells] + 1) - digamma(a)) + once[word, k] / a
            assert g == pytest.approx(lambdas[k], rel=1e-12)
        np.testing.assert_allclose(sums[0], [alpha[::2].sum(), alpha[1::2].sum()], rtol=1e-13)
        np.testing.assert_allclose(slopes[0], [slope[::2].sum(), slope[1::2].sum()], rtol=1e-13)
        before = alpha.copy()
        kernel(*urns, np.array([0.3, 0.0]), 100, alpha, slope, sums, slopes, 0, 1)
        np.testing.assert_array_equal(alpha[1::2], before[1::2])
        nearby = alpha.copy()
        kernel(*urns, lambdas * 1.0001, 100, nearby, slope, sums, slopes, 0, 1)
        np.testing.assert_allclose((before - nearby) / (0.0001 * lambdas[components]), slope, rtol=1e-3)


def test_repeated_pairs():
    first = np.array([0, 2, 2, 3], dtype=np.int32)
    tails = np.array([[1.0, 0.0], [1.0, 0.0], [4.0, 2.0]])
    types = np.array([[2.0, 3.0], [5.0, 0.0], [4.0, 7.0]])
    for kernel in both(maximise.repeated_pairs):
        pair_first, components, single = kernel(first, types, tails)
        np.testing.assert_array_equal(pair_first, [0, 1, 1, 3])
        np.testing.assert_array_equal(components, [0, 0, 1])
        np.testing.assert_array_equal(single, [5.0, 3.0])


def test_pairs_are_picked_and_spread():
    pair_first, components = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 1], dtype=np.int32)
    table, scale = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]), np.array([2.0, 10.0])
    for kernel in both(maximise.pick_pairs):
        picked = np.empty(3)
        kernel(pair_first, components, table, scale, picked, 0, 3)
        np.testing.assert_array_equal(picked, [20.0, 10.0, maximise.TINY])
    for kernel in both(maximise.spread_pairs):
        out = np.empty((3, 2))
        found = np.array([9.0, 9.0, 0.0]), np.array([1.0, 2.0, 0.0]), np.array([0.5, 3.0])
        kernel(pair_first, components, *found, table, scale, out, 0, 3)
        np.testing.assert_array_equal(out, [[0.5, 6.0], [1.5, 0.4], [8.0, 0.0]])


def test_repeated_pairs_of_many_words():
    first = np.arange(5001, dtype=np.int32)
    for kernel in both(maximise.repeated_pairs):
        pair_first, components, single = kernel(first, np.ones((5000, 3)), np.ones((5000, 3)))
        np.testing.assert_array_equal(pair_first, 3 * np.arange(5001))
        np.testing.assert_array_equal(components, np.tile(np.arange(3), 5000))
        np.testing.assert_array_equal(single, 0.0)


def test_bernoulli_sum():
    odds = np.random.default_rng(0).random(9) * 3
    expected = np.abs(np.poly(odds)) / np.prod(1 + odds)
    for kernel in both(normaliser.bernoulli_sum):
        law, cut = np.zeros(10), np.zeros(5)
        law[0] = cut[0] = 1.0
        kernel(odds, law)
        np.testing.assert_allclose(law, expected, rtol=1e-13)
        kernel(odds, cut)
        np.testing.assert_allclose(cut, expected[:5], rtol=1e-13)


def test_bernoulli_sum_drops_what_is_too_small():
    odds = np.full(400, 1e6)
    for kernel in both(normaliser.bernoulli_sum):
        law = np.zeros(401)
        law[0] = 1.0
        kernel(odds, law)
        assert law[0] == 0.0
        assert law[400] == pytest.approx((1e6 / (1e6 + 1)) ** 400, rel=1e-12)
        assert law[380] == pytest.approx(math.comb(400, 20) * 1e-120, rel=1e-3)


def test_occupancy_sums():
    y, n = 1.7, 7
    law = np.array([1.0])
    for i in range(n):
        fresh = y / (y + i)
        law = np.append(law * (1 - fresh), 0.0) + np.append(0.0, law * fresh)
    terms = np.linspace(0.0, -3.0, n + 1)
    for kernel in both(normaliser.occupancy_sums):
        q, out = np.zeros(n + 1), np.empty(2)
        q[0] = 1.0
        kernel(y, np.array([0, n]), terms, q, out)
        np.testing.assert_allclose(q, law, rtol=1e-13)
        np.testing.assert_allclose(out, [0.0, np.log(law @ np.exp(terms))], rtol=1e-13)


def test_urn_draws():
    uniforms = np.array([[0.0, 0.9], [0.9, 0.3], [0.1, 0.1], [0.5, 0.5]])
    for kernel in both(polya.urn_draws):
        words = np.empty(4, dtype=np.int64)
        kernel(np.array([3, 1]), np.array([1.0, 2.0]), 2.0, uniforms, words)
        # fresh word 1; 0.9 * 3 > 2, so a copy of token 0; 0.1 * 4 < 2, fresh word 0; a new document, fresh word 1
        np.testing.assert_array_equal(words, [1, 1, 0, 1])


def test_soft_max(resp):
    log_prob = np.random.default_rng(0).normal(size=(6, 4)) * 1000
    log_prob[2] = -np.inf
    log_prob[3, 1] = -np.inf
    log_weights = np.log(resp[0])
    log_weights[2] = -np.inf
    joint = log_prob / 5.0 + log_weights
    with np.errstate(invalid="ignore"):
        expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    expected[2] = np.exp(log_weights) / np.exp(log_weights).sum()
    for join, share_out in zip(both(posterior.join), both(posterior.share_out), strict=True):
        table, evidence = log_prob.copy(), np.empty(6)
        join(table, log_weights, np.full(6, 0.2), evidence, 0, 6)
        table = np.exp(table)
        share_out(table, evidence, 0, 6)
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(evidence, logsumexp(joint, axis=1), rtol=1e-12)
    table, evidence = posterior.posterior(log_prob.copy(), log_weights, 5.0)
    np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(evidence, logsumexp(joint, axis=1), rtol=1e-12)


@given(st.integers(0, 10**6))
def test_compact_columns_is_its_oracle(seed):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.poisson(0.7, size=(6, 9)).astype(np.int32))
    known = rng.random(9) < 0.6
    for run in both(select.compact_columns):
        indptr, indices, values = np.empty_like(X.indptr), np.empty_like(X.indices), np.empty_like(X.data)
        place, words = np.where(known, np.int32(-1), np.int32(-2)), np.empty(9, dtype=np.int32)
        args = X.indptr, X.indices, X.data, place, indptr, indices, values, words
        kept, n_words = run(*args)
        local = sp.csr_array((values[:kept], indices[:kept], indptr), shape=(6, n_words))
        np.testing.assert_array_equal(local.toarray(), X.toarray()[:, words[:n_words]])
        np.testing.assert_array_equal(np.sort(words[:n_words]), np.flatnonzero(known & (X.toarray().sum(axis=0) > 0)))
        np.testing.assert_array_equal(place, np.where(known, -1, -2))


@given(st.integers(0, 10**6))
def test_keep_known_is_its_oracle(seed):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.poisson(0.7, size=(5, 7)).astype(np.int32))
    known = rng.random(7) < 0.6
    for function in both(select.keep_known):
        indptr, indices, values = (np.zeros(size, np.int32) for size in (6, X.nnz + 1, X.nnz + 1))
        kept = function(X.indptr, X.indices, X.data, known, indptr, indices, values)
        found = sp.csr_array((values[:kept], indices[:kept], indptr), shape=X.shape)
        np.testing.assert_array_equal(found.toarray(), X.toarray() * known)


def test_places(resp):
    resp[4] = [0.1, 0.4, 0.4, 0.1]
    for kernel in both(posterior.find_places):
        places = np.full((23, 2), np.nan, dtype=np.float32)
        kernel(resp, places, 0, 9)
        assert np.all(np.isnan(places[9:]))
        kernel(resp, places, 9, 23)
        np.testing.assert_array_equal(places[:, 0], resp.argmax(axis=1))
        np.testing.assert_array_equal(places[:, 1], resp.max(axis=1).astype(np.float32))


def test_soft_max_is_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    monkeypatch.setattr(threads, "BLOCK", 36)
    log_prob, found = np.random.default_rng(0).normal(size=(501, 7)) * 20, []
    for n_threads in (1, 2, 5):
        with threads.using(n_threads):
            found.append(posterior.posterior(log_prob.copy(), np.log(np.full(7, 1 / 7))))
    for table, evidence in found[1:]:
        assert table.tobytes() == found[0][0].tobytes()
        assert evidence.tobytes() == found[0][1].tobytes()


def test_codes_of_tokens(matrix):
    counts, dense = matrix
    expected = []
    for row in dense:
        for word in np.flatnonzero(row):
            expected += [4 * word] if row[word] == 1 else [4 * word + 1] + [4 * word + 2] * (row[word] - 1)
    first = np.append(0, np.cumsum(counts.data, dtype=np.int64))
    for kernel in both(gibbs_counts.token_codes):
        codes = np.full(len(expected), -1, dtype=np.int32)
        kernel(first, counts.indices, counts.data, codes, 0, 7)
        assert np.all(codes[first[7] :] == -1)
        kernel(first, counts.indices, counts.data, codes, 7, counts.nnz)
        np.testing.assert_array_equal(codes, expected)


def test_tables_of_pairs(matrix):
    counts, dense = matrix
    first, topics, rng = counts.indptr, counts.indices, np.random.default_rng(4)
    words, n_topics = np.repeat(np.arange(23), np.diff(first)), dense.shape[1]
    values, alpha, slope, kept = rng.random((4, counts.nnz))
    table, rest, lambdas, change = rng.random((23, n_topics)), *rng.random((3, n_topics))
    background = rng.random(23)
    by_block = [np.bincount(topics[i : i + 10], values[i : i + 10], n_topics) for i in range(0, counts.nnz, 10)]
    spread = np.tile(rest, (23, 1))
    spread[words, topics] = values
    scaled = table.copy()
    scaled[words, topics] *= kept
    for number in range(len(both(gibbs_maximise.pick))):
        sum_by_topic, pick, spread_out, move, add = (
            both(kernel)[number]
            for kernel in (
                gibbs_maximise.sum_by_topic,
                gibbs_maximise.pick,
                gibbs_maximise.spread,
                gibbs_maximise.move,
                gibbs_maximise.add_background,
            )
        )
        sums = np.full((len(by_block), n_topics), np.nan)
        sum_by_topic(topics, values, 10, sums, 0, len(by_block))
        np.testing.assert_allclose(sums, by_block)
        picked = np.full(counts.nnz, np.nan)
        pick(first, topics, table, picked, 0, 23)
        np.testing.assert_array_equal(picked, table[words, topics])
        out = np.full((23, n_topics), np.nan)
        spread_out(first, topics, values, rest, out, 0, 23)
        np.testing.assert_array_equal(out, spread)
        moved = np.full(counts.nnz, np.nan)
        move(topics, values, alpha, slope, lambdas, change, moved, 0, counts.nnz)
        np.testing.assert_allclose(moved, np.maximum(alpha - slope * change[topics], values / lambdas[topics]))
        beta = table.copy()
        add(first, topics, kept, rest, background, beta, 0, 23)
        np.testing.assert_allclose(beta, scaled + background[:, None] * rest)


def test_draws_of_pairs_and_their_discount(matrix):
    counts, dense = matrix
    first, topics, rng = counts.indptr, counts.indices, np.random.default_rng(5)
    words, table, lambdas = (
        np.repeat(np.arange(23), np.diff(first)),
        rng.random(dense.shape),
        rng.random(dense.shape[1]),
    )
    lambdas *= 4
    expected = (table * lambdas)[words, topics]
    table[words[0], topics[0]] = expected[0] = 0.0
    given = np.minimum(expected, 0.7)
    kept = np.divide(expected - given, expected, out=np.zeros_like(given), where=expected > 0)
    classes = [(0.5, 1.5), (1.5, 2.5), (0.5, np.inf)]
    numbers = [np.bincount(words[(expected > low) & (expected < high)], minlength=23) for low, high in classes]
    assert all(own.sum() > 3 for own in numbers)
    for count_draws, give_up in zip(both(gibbs_maximise.count_draws), both(gibbs_maximise.give_up), strict=True):
        draws, found, left = np.full((3, counts.nnz), np.nan)
        of_words = np.full((23, 3), -1)
        count_draws(first, topics, table, lambdas, draws, of_words, 0, 23)
        np.testing.assert_array_equal(draws, expected)
        np.testing.assert_array_equal(of_words.T, numbers)
        give_up(draws, 0.7, found, left, 0, counts.nnz)
        np.testing.assert_array_equal(found, given)
        np.testing.assert_array_equal(left, kept)


def test_least_ratios_of_blocks():
    rng = np.random.default_rng(6)
    beta, background, edges = rng.random((23, 4)), rng.random(23), np.array([0, 5, 20, 23])
    expected = [(beta / background[:, None])[a:b].min(axis=0) for a, b in pairwise(edges)]
    for kernel in both(gibbs_dcmlda.least_ratios):
        out = np.full((3, 4), np.nan)
        kernel(beta, background, edges, out, 0, 2)
        assert np.isnan(out[2]).all()
        kernel(beta, background, edges, out, 2, 3)
        np.testing.assert_array_equal(out, expected)
