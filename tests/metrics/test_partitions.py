"""Partitions that stand for many, and whether chains agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bursty import metrics

LABELS = st.lists(st.integers(0, 3), min_size=6, max_size=6)


def pairs(labels):
    labels = np.asarray(labels)
    return labels[:, None] == labels


def test_similarity():
    samples = [[0, 0, 1], [5, 5, 5], [2, 1, 0], [1, 1, 0]]
    expected = np.mean([pairs(labels) for labels in samples], axis=0)
    np.testing.assert_allclose(metrics.posterior_similarity(samples), expected)


@given(LABELS, LABELS, LABELS)
def test_variation_of_information_is_a_distance(a, b, c):
    vi = metrics.variation_of_information
    assert vi(a, a) == 0.0
    assert vi(a, b) == pytest.approx(vi(b, a))
    assert vi(a, c) <= vi(a, b) + vi(b, c) + 1e-9
    entropies = [metrics.mutual_information(x, x) for x in (a, b)]
    assert vi(a, b) == pytest.approx(sum(entropies) - 2 * metrics.mutual_information(a, b), abs=1e-9)
    assert (vi(a, b) < 1e-9) == np.array_equal(pairs(a), pairs(b))


@given(st.lists(LABELS, min_size=1, max_size=8))
def test_best_partition_is_the_nearest_draw(samples):
    best = metrics.best_partition(samples, "binder")
    losses = [np.mean([np.mean(pairs(a) != pairs(b)) for b in samples]) for a in samples]
    assert np.mean([np.mean(pairs(best) != pairs(b)) for b in samples]) == pytest.approx(min(losses))
    best = metrics.best_partition(samples)
    vi = metrics.variation_of_information
    losses = [np.mean([vi(a, b) for b in samples]) for a in samples]
    assert np.mean([vi(best, b) for b in samples]) == pytest.approx(min(losses), abs=1e-9)
    assert best[0] == 0


def test_best_partition_does_not_see_names():
    samples = [[0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]] * 3 + [[0, 1, 2, 3]] * 4
    np.testing.assert_array_equal(metrics.best_partition(samples), [0, 0, 1, 1])


def test_many_different_draws():
    rng = np.random.default_rng(0)
    samples = np.tile(np.repeat([0, 1, 2], 10), (400, 1))
    for i, row in enumerate(samples):
        row[rng.integers(0, 30, size=1 + i % 2)] = 3
    best = metrics.best_partition(samples)
    assert metrics.variation_of_information(best, np.repeat([0, 1, 2], 10)) < 0.3


def test_r_hat():
    rng = np.random.default_rng(1)
    same = rng.normal(size=(4, 1000))
    assert metrics.r_hat(same) == pytest.approx(1.0, abs=0.01)
    assert metrics.r_hat(same + np.arange(4)[:, None]) > 1.3
    assert metrics.r_hat(np.linspace(0, 1, 1000) + 0.01 * same[0]) > 1.3
    assert metrics.r_hat(np.ones((2, 10))) == 1.0
    assert metrics.r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_effective_sample_size(correlation):
    """An autoregression has a known autocorrelation time."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=(4, 5000))
    for i in range(1, 5000):
        values[:, i] = correlation * values[:, i - 1] + np.sqrt(1 - correlation**2) * values[:, i]
    expected = 20_000 * (1 - correlation) / (1 + correlation)
    assert metrics.effective_sample_size(values) == pytest.approx(expected, rel=0.15)


def test_effective_sample_size_of_constants():
    assert metrics.effective_sample_size(np.ones((2, 10))) == 20
    assert metrics.effective_sample_size([[0.0] * 10, [1.0] * 10]) == 1.0


def test_bad_input():
    with pytest.raises(ValueError, match="draws x documents"):
        metrics.posterior_similarity([1, 2, 3])
    with pytest.raises(ValueError, match="loss must be"):
        metrics.best_partition([[0, 1]], "hamming")
    with pytest.raises(ValueError, match="4 draws"):
        metrics.r_hat([[1.0, 2.0]])
    with pytest.raises(ValueError, match="finite"):
        metrics.effective_sample_size([[1.0, np.nan, 2.0, 3.0]])


def effective_size(chains):
    """Geyer's initial monotone sequence over the halves of the chains, lag by lag, with plain loops."""
    halves = [half for chain in chains for half in (chain[: len(chain) // 2], chain[-(len(chain) // 2) :])]
    n, within = len(halves[0]), np.mean([np.var(half, ddof=1) for half in halves])
    total = within * (n - 1) / n + np.var([np.mean(half) for half in halves], ddof=1)

    def correlation(lag):
        centred = [half - np.mean(half) for half in halves]
        covariance = np.mean([sum(x[i] * x[i + lag] for i in range(n - lag)) / n for x in centred])
        return 1.0 - (within - covariance) / total if lag else 1.0

    time, last = -1.0, np.inf
    for lag in range(0, n - 1, 2):
        pair = correlation(lag) + correlation(lag + 1)
        if pair < 0:
            break
        last = min(last, pair)
        time += 2.0 * last
    return len(halves) * n / max(time, 1.0)


@pytest.mark.parametrize("n", [8, 9, 22, 26, 27])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_effective_sample_size_is_that_of_the_definition(n, seed):
    rng = np.random.default_rng(seed)
    for chains in (np.cumsum(rng.normal(size=(3, n)), axis=1), rng.normal(size=(3, n))):
        assert metrics.effective_sample_size(chains) == pytest.approx(effective_size(chains), rel=1e-9)
