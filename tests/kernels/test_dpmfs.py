"""The kernels of DPMFS: oracle, plain Python and compiled agree; variates have the distributions they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from bursty.kernels import dpmfs_bursts, dpmfs_labels, dpmfs_splits, dpmfs_words, variates
from bursty.kernels.random import stream
from samplers import oracles_dpmfs as oracles


def both(kernel):
    """As plain Python, and compiled."""
    return getattr(kernel, "py_func", kernel), kernel


def small():
    """Documents of chosen words: where they begin, slots, t; and labels of two components."""
    indptr = np.array([0, 2, 3, 3, 6])
    slots, tables = np.array([0, 2, 1, 0, 1, 2], dtype=np.int32), np.array([3, 1, 2, 1, 1, 12], dtype=np.int32)
    return indptr, slots, tables, np.array([0, 1, 1, 0], dtype=np.int32)


def test_normal_variates():
    key, step = stream(1, 2, 3)
    draws = [variates.normal(np.uint64(key), np.uint64(step), 2 * i)[0] for i in range(4000)]
    assert stats.kstest(draws, "norm").pvalue > 1e-3


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 3.5, 200.0])
def test_gamma_variates(shape):
    draws = []
    for name in range(2000):
        key, step = stream(1, 2, name)
        value, used = variates.log_gamma(shape, np.uint64(key), np.uint64(step), 0)
        draws.append(value)
        assert used > 0
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > 1e-3


def test_dirichlet_draws_and_their_streams():
    lam, results = np.array([0.4, 2.0, 5.0]), []
    for kernel in both(variates.log_dirichlet):
        values = lam.copy()
        kernel(values, 5, 6, 7)
        assert np.exp(values).sum() == pytest.approx(1.0)
        results.append(values)
    np.testing.assert_allclose(*results, rtol=1e-12)
    draws = np.tile(lam, (3000, 1))
    for name, row in enumerate(draws):
        variates.log_dirichlet(row, 5, 6, name)
    np.testing.assert_allclose(np.exp(draws).mean(axis=0), lam / lam.sum(), atol=0.01)
    vanishing = np.full(50, 1e-5)
    variates.log_dirichlet(vanishing, 0, 0, 0)
    assert np.all(np.isfinite(vanishing))


def test_stirling_numbers():
    values = np.array([1, 3, 6])
    first = np.array([0, 1, 4, 10])
    expected = np.log([oracles.stirling(int(x), t) for x in values for t in range(1, x + 1)])
    for kernel in both(dpmfs_bursts.log_stirling):
        out = np.empty(10)
        kernel(values, first, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_fresh_tokens_of_an_urn():
    """t of one cell has probability |S1(x, t)| a^t over the rising factorial."""
    n, x, a = 4000, 4, 1.7
    indptr, words, counts = np.arange(n + 1), np.zeros(n, dtype=np.int32), np.full(n, x, dtype=np.int32)
    labels, slot, out = np.zeros(n, dtype=np.int32), np.array([0], dtype=np.int32), np.empty(n, dtype=np.int32)
    log_s = np.array([math.log(a), 0.0])
    urns = dpmfs_bursts.BurstUrns(slot, np.zeros((1, 1)), np.zeros(1), log_s)
    dpmfs_bursts.draw_tables(dpmfs_bursts.LabelledDocuments(indptr, words, counts, labels), urns, 1, 2, 0, out)
    weights = np.array([oracles.stirling(x, t) * a**t for t in range(1, x + 1)])
    assert stats.chisquare(np.bincount(out, minlength=x + 1)[1:], n * weights / weights.sum()).pvalue > 1e-3


def test_tally():
    indptr, slots, tables, labels = small()
    expected = np.zeros((2, 3))
    rows = np.repeat(labels, np.diff(indptr))
    np.add.at(expected, (rows, slots), tables)
    for kernel in both(dpmfs_labels.tally_component):
        for words_first in (False, True):
            table = np.zeros((3, 2) if words_first else (2, 3))
            kernel(indptr, slots, tables, labels, words_first, table)
            np.testing.assert_array_equal(table.T if words_first else table, expected)


def test_log_prob_with_t_summed_out():
    """DCM log-probabilities of the chosen words, less what all components share; large counts take many factors."""
    x = np.array([[3, 0, 1, 2], [0, 40, 0, 7], [0, 0, 5, 0]])
    indptr, words = np.array([0, 3, 5, 6]), np.array([0, 2, 3, 1, 3, 2], dtype=np.int32)
    documents = dpmfs_bursts.LabelledDocuments(indptr, words, x[x > 0].astype(np.int32), np.zeros(3, dtype=np.int32))
    slot, fresh = np.array([1, 0, -1, 2], dtype=np.int32), np.array([[0.3, 5.0], [2.0, 1e-9], [0.01, 30.0]])
    chosen = x[:, [1, 0, 3]]
    expected = np.sum(gammaln(chosen[:, :, None] + fresh) - gammaln(fresh), axis=1)
    for kernel in both(dpmfs_bursts.log_prob):
        out = np.full((3, 2), np.nan)
        kernel(documents, slot, fresh, np.log(fresh), out)
        np.testing.assert_allclose(out, expected, rtol=1e-10)


def test_reseat():
    """Conditionals given the parameters: a row that is alone, held or kept apart stays where it is."""
    scores = np.log([[0.5, 0.2, 0.9], [0.5, 0.2, 0.9], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3], [0.1, 0.8, 0.1]])
    mass, held = np.array([1, 2, 1, 1, 1]), np.array([0, 0, 0, 1, 0], dtype=np.uint8)
    apart_indptr, apart = np.array([0, 1, 1, 1, 1, 2]), np.array([4, 0])
    none = np.empty(0, dtype=np.int32)
    documents = dpmfs_labels.UnitArrays(np.zeros(6, dtype=np.int64), none, none, mass, held, apart_indptr, apart)
    prior, first = dpmfs_labels.LabelPrior(1.0, 0.25, 3, np.empty(0), 0.0), np.array([0, 0, 2, 0, 1], dtype=np.int32)
    counts, results = np.zeros(3), []
    for sweep in range(3_000):
        labels, sizes = first.copy(), np.array([4, 1, 1])
        dpmfs_labels.reseat(scores, documents, prior, labels, sizes, 3, sweep, 50)
        np.testing.assert_array_equal(sizes, np.bincount(labels, weights=mass, minlength=3))
        assert labels[3] == 0
        assert labels[0] != labels[4]
        counts[labels[0]] += 1
        results.append(labels)
    # Row 0 goes first: component 0 has 3 others, component 1 only the row it is kept apart from, component 2 one.
    weights = np.exp(scores[0]) * [3.25, 0.0, 1.25]
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2]], 3_000 * weights[[0, 2]] / weights.sum()).pvalue > 1e-3
    alone = [labels for labels in results if labels[0] == 0 and labels[1] == 0]
    assert all(labels[2] == 2 for labels in alone)
    for sweep in range(20):
        labels, sizes = first.copy(), np.array([4, 1, 1])
        getattr(dpmfs_labels.reseat, "py_func", dpmfs_labels.reseat)(
            scores, documents, prior, labels, sizes, 3, sweep, 50
        )
        np.testing.assert_array_equal(labels, results[sweep])


def test_pick():
    weights = np.log([0.2, 0.5, 0.3])
    for u, expected in ((0.1, 0), (0.25, 1), (0.69, 1), (0.71, 2), (1.0 - 1e-17, 2)):
        for kernel in both(dpmfs_labels.pick):
            assert kernel(np.append(weights, -np.inf), 4, u) == expected


def test_splits_in_plain_python():
    """The same proposal, compiled and not; a split that is accepted keeps every document."""
    indptr, slots, tables, _ = small()
    lam, results = np.array([0.3, 0.6, 1.0]), []
    mass, none = np.ones(4, dtype=np.int64), np.empty(0, dtype=np.int32)
    documents = dpmfs_labels.UnitArrays(
        indptr, slots, tables, mass, np.zeros(4, dtype=np.uint8), np.zeros(5, dtype=np.int64), none
    )
    prior = dpmfs_labels.LabelPrior(1.0, 0.0, 3, lam, lam.sum())
    for kernel in both(dpmfs_splits.split_or_merge):
        labels, sizes = np.zeros(4, dtype=np.int32), np.array([4, 0, 0, 0])
        accepted = 0
        for name in range(60):
            accepted += kernel(documents, prior, labels, sizes, 2, 1, 0, name, np.empty(4, dtype=np.int64))
            np.testing.assert_array_equal(sizes, np.bincount(labels, minlength=4))
        results.append((accepted, labels.tolist()))
    assert results[0] == results[1]
    assert results[0][0] > 0


def test_flips_in_plain_python():
    rng = np.random.default_rng(3)
    x = rng.poisson(0.8, size=(12, 7))
    documents, starts = [], [0]
    for word in range(7):
        documents += np.flatnonzero(x[:, word]).tolist()
        starts.append(len(documents))
    documents = np.array(documents, dtype=np.int32)
    counts = np.concatenate([x[x[:, word] > 0, word] for word in range(7)]).astype(np.int32)
    labels, lam = rng.integers(0, 3, size=12).astype(np.int32), rng.gamma(2.0, size=7)
    term, words, draws = gammaln(np.arange(x.sum() + 1) + 1.0), rng.integers(0, 7, size=40), rng.random(40)
    results = []
    for kernel in both(dpmfs_words.flip):
        chosen = np.array([1, 0, 0, 1, 0, 0, 0], dtype=np.uint8)
        on = chosen.astype(bool)
        inside = x[:, on].sum(axis=1)
        totals = np.array([inside[labels == k].sum() for k in range(3)], dtype=float)
        sums = np.array([lam[on].sum(), lam[~on].sum(), x[:, ~on].sum()], dtype=float)
        sizes, outside = np.bincount(labels, minlength=3), x[:, ~on].sum(axis=1)
        cells = dpmfs_words.Cells(np.array(starts), documents, counts, counts, x.sum(axis=0))
        prior, lengths = dpmfs_words.WordPrior(lam, -0.5, 0.0), dpmfs_words.Lengths(inside, outside, term, term)
        clusters = dpmfs_words.ClusterSums(labels, sizes, totals, np.zeros(3))
        changed = kernel(words, draws, False, cells, prior, lengths, clusters, chosen, sums, np.zeros(7))
        on = chosen.astype(bool)
        np.testing.assert_array_equal(inside, x[:, on].sum(axis=1))
        np.testing.assert_array_equal(outside, x[:, ~on].sum(axis=1))
        np.testing.assert_allclose(sums, [lam[on].sum(), lam[~on].sum(), x[:, ~on].sum()], atol=1e-9)
        results.append((changed, chosen.tolist()))
    assert results[0] == results[1]
    assert results[0][0] > 0
