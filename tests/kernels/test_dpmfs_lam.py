"""Each word's own factor of lambda: density against an oracle, draws against the density, compiled against not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from bursty.kernels import dpmfs_lam, dpmfs_words
from bursty.kernels.random import stream

TOTALS, TALLY = np.array([9.0, 0.0, 4.0]), np.array([3.0, 0.0, 0.0])
BASE, REST = 0.4, 1.7
TERMS = {
    "integrated": dpmfs_lam.Terms(TOTALS, TALLY, 0.0, 0.0),
    "given": dpmfs_lam.Terms(np.empty(0), np.empty(0), 4.0, -11.0),
}


def plain(kernel):
    """The kernel as plain Python, which it is without the JIT."""
    return getattr(kernel, "py_func", kernel)


def oracle(v, kind):
    lam = BASE * np.exp(v)
    value = -0.5 * v**2
    if kind == "given":
        return value + 4.0 * (gammaln(REST + lam) - gammaln(lam)) - 11.0 * lam
    for total, tally in zip(TOTALS, TALLY, strict=True):
        value += gammaln(REST + lam) - gammaln(REST + lam + total) + gammaln(lam + tally) - gammaln(lam)
    return value


@pytest.mark.parametrize("kind", TERMS)
def test_log_density(kind):
    for kernel in (dpmfs_lam.log_density, plain(dpmfs_lam.log_density)):
        for v in (-3.0, 0.0, 1.2):
            # The integrated form leaves out what does not depend on v: components without tokens have no term.
            np.testing.assert_allclose(kernel(v, BASE, REST, TERMS[kind]), oracle(v, kind), rtol=1e-10)


@pytest.mark.parametrize("kind", TERMS)
def test_draws_have_the_density(kind):
    grid = np.linspace(-8, 8, 4001)
    weights = np.exp(oracle(grid, kind) - oracle(grid, kind).max())
    cdf = np.cumsum(weights) / weights.sum()
    v, draws = 4.0, []
    for name in range(5_000):
        key, step = stream(1, 2, name)
        v = dpmfs_lam.slice_word(v, BASE, REST, TERMS[kind], np.uint64(key), np.uint64(step))
        if name >= 20 and name % 3 == 0:
            draws.append(v)
    assert stats.kstest(draws, lambda x: np.interp(x, grid, cdf)).pvalue > 1e-3


def test_compiled_and_plain_python_agree_and_sums_are_kept():
    x = np.random.default_rng(0).poisson(0.8, size=(9, 6)).astype(np.int32)
    indptr = np.append(0, np.cumsum(np.count_nonzero(x, axis=0)))
    documents = np.concatenate([np.flatnonzero(column) for column in x.T]).astype(np.int32)
    tables = np.concatenate([column[column > 0] for column in x.T])
    cells = dpmfs_words.Cells(indptr, documents, tables, tables, x.sum(axis=0))
    labels, chosen = np.arange(9, dtype=np.int32) % 3, np.array([1, 0, 1, 1, 0, 0], dtype=np.uint8)
    on, base = chosen.astype(bool), np.linspace(0.2, 1.5, 6)
    totals = np.array([x[labels == k][:, on].sum() for k in range(3)], dtype=float)
    results = []
    for integrated in (True, False):
        for compiled in (True, False):
            own, clusters = np.ones(6), dpmfs_words.ClusterSums(labels, np.bincount(labels), totals, np.zeros(3))
            sums = np.array([base[on].sum(), base[~on].sum(), float(x[:, ~on].sum())])
            kernel = dpmfs_lam.draw_integrated if integrated else dpmfs_lam.draw_given
            kernel = kernel if compiled else plain(kernel)
            rest = (cells, clusters) if integrated else (3.0, np.full(6, -5.0))
            for sweep in range(3):
                kernel(own, base, chosen, sums, *rest, 7, sweep, 100)
            np.testing.assert_allclose(sums[:2], [(base * own)[on].sum(), (base * own)[~on].sum()])
            np.testing.assert_array_equal(clusters.tally, 0.0)
            results.append(own)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)
    np.testing.assert_allclose(results[2], results[3], rtol=1e-12)
    assert len(np.unique(np.concatenate([results[0], results[2]]))) == 12
