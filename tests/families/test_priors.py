"""s with a prior: what is averaged over, what is shared, and where the limits were."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import oracles
from bursty.engines import Assignment, Chunk, Levels
from bursty.families import DCM, EDCM
from bursty.families.dcm import DCMFamily, WordUrns
from bursty.families.edcm import EDCMFamily
from bursty.families.priors import Between, UrnPrior, Weak, learn_between, solve_with_prior
from bursty.families.sparse_urns import PairUrns
from bursty.kernels import tables, threads

ALONE = UrnPrior(between=False)


def plain(function):
    return getattr(function, "py_func", function)


def documents(s, n_documents, length, n_words, rng):
    """Documents of a DCM with Zipf's proportions."""
    p = 1.0 / np.arange(1, n_words + 1)
    draws = rng.standard_gamma(np.broadcast_to(s * p / p.sum(), (n_documents, n_words)))
    return rng.multinomial(length, draws / draws.sum(axis=1, keepdims=True))


def statistics(X, labels=None, family=None):
    labels = np.zeros(len(X), dtype=np.int32) if labels is None else labels.astype(np.int32)
    resp = Assignment(labels, int(labels.max()) + 1, np.ones(len(X)))
    return (family or DCMFamily()).summarize(Chunk(sp.csr_array(X)), resp)


@pytest.mark.parametrize("counts", [[2, 1, 1], [5, 3, 3, 1], [300, 2, 1], [7], [1, 1]])
@pytest.mark.parametrize("a", [1e-3, 0.5, 4.0, 1e4])
def test_tables_of_a_word(counts, a):
    counts = np.array(counts)
    tails = (counts[:, None] > np.arange(counts.max())).sum(axis=0).astype(float)
    draws, _, bias = oracles.urn_tables(a, tails, 0.3)
    values, weights = np.unique(counts, return_counts=True)
    at_least = np.cumsum(weights[::-1])[::-1].astype(float)
    for kernel in (tables.pair_tables, plain(tables.pair_tables)):
        got = kernel(a, float(len(counts)), 0, values, at_least, 0.3)
        np.testing.assert_allclose(got[0], draws, rtol=1e-12)
        np.testing.assert_allclose(got[1], bias, rtol=1e-5, atol=1e-14)
    repeated = values > 1
    as_repeats = values[repeated] - 1, at_least[repeated]
    np.testing.assert_allclose(tables.pair_tables(a, float(len(counts)), 1, *as_repeats, 0.3), got, rtol=1e-12)


def test_derivative_of_what_is_removed():
    values, weights = np.array([1, 3, 4, 90]), np.array([9.0, 5.0, 2.0, 1.0])
    for a in (0.01, 0.7, 30.0):
        low, high = (tables.pair_tables(a * np.exp(step), 9.0, 0, values, weights, 0.0)[1] for step in (-1e-5, 1e-5))
        got = tables.pair_tables(a, 9.0, 0, values, weights, 0.0)[2]
        np.testing.assert_allclose(got, (high - low) / 2e-5, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("s", [20.0, 200.0])
def test_score_is_that_of_the_integrated_likelihood(s):
    """The slope of the likelihood averaged over the proportions, where the profile's slope is far off."""
    rng = np.random.default_rng(0)
    X = documents(s, 6, 60, 30, rng)
    X = X[:, X.sum(axis=0) > 0]
    stats = statistics(X)
    urns = WordUrns(stats.types, stats.repeats)
    # The proportions of greatest likelihood given s, by iterating draws / sum of draws.
    p = X.sum(axis=0) / X.sum()
    for _ in range(500):
        draws, bias, _ = urns.tables(s * p[:, None], 0.0)
        p = draws[:, 0] / draws.sum()
    n = X.sum(axis=1)
    length = s * sum((1.0 / (s + np.arange(k))).sum() for k in n)
    profile, ours = draws.sum() - length, (draws - bias).sum() - length
    truth = oracles.dcm_integrated_score(X, s, p, 200_000, rng)
    assert abs(ours - truth) < 0.2 * abs(profile - truth)


def test_lists_and_tables_agree():
    rng = np.random.default_rng(1)
    X = np.vstack([documents(s, 8, 40, 50, rng) for s in (20.0, 200.0, 50.0)])
    labels = np.repeat([0, 1, 2], 8)
    stats = statistics(X, labels)
    rows = [(w * 3 + k, x) for d, k in enumerate(labels) for w, x in enumerate(X[d]) if x > 0]
    keys, weights = np.unique(np.array(rows), axis=0, return_counts=True)
    items, values = keys.astype(np.int32).T.copy()
    pairs = PairUrns(Levels(items, values, weights[:, None].astype(float), 50 * 3), 3)
    for prior in (ALONE, UrnPrior()):
        for start in (None, np.full((50, 3), 0.5)):
            table = solve_with_prior(WordUrns(stats.types, stats.repeats), stats.lengths, prior, start)
            listed = solve_with_prior(pairs, stats.lengths, prior, start)
            np.testing.assert_allclose(listed.alpha, table.alpha, rtol=1e-4)
            np.testing.assert_allclose(listed.error, table.error, rtol=1e-3)


@pytest.mark.parametrize("family", [DCMFamily, EDCMFamily])
@pytest.mark.parametrize("prior", [None, UrnPrior()])
def test_totals_are_the_sums_of_the_parameters(family, prior):
    rng = np.random.default_rng(7)
    X, labels = np.vstack([documents(s, 10, 50, 80, rng) for s in (20.0, 60.0)]), np.repeat([0, 1], 10)
    stats = statistics(X, labels, family())
    with_prior = family().with_prior(prior)
    np.testing.assert_allclose(with_prior.totals(stats), with_prior.update(stats).s, rtol=1e-3)


@pytest.mark.parametrize("family", [DCMFamily, EDCMFamily])
def test_one_step_from_the_solution_stays_there(family):
    rng = np.random.default_rng(2)
    X, labels = np.vstack([documents(s, 20, 50, 40, rng) for s in (20.0, 60.0)]), np.repeat([0, 1], 20)
    stats = statistics(X, labels, family())
    with_prior = family().with_prior(UrnPrior())
    solution = with_prior.update(stats)
    again = with_prior.update(stats, start=solution)
    np.testing.assert_allclose(again.s, solution.s, rtol=1e-3)


def test_bias_goes_and_nothing_runs_away():
    """Ten documents of 100 words, s = 1000: maximum likelihood is at its limit nearly always."""
    rng = np.random.default_rng(3)
    X = np.vstack([documents(1000.0, 10, 100, 2000, rng) for _ in range(20)])
    stats = statistics(X, np.repeat(np.arange(20), 10))
    assert (DCMFamily().update(stats).s > 1e9).sum() >= 10
    alone = np.log(DCMFamily(ALONE).update(stats).s / 1000.0)
    assert abs(alone.mean()) < 0.5
    assert np.sqrt(np.mean(alone**2)) < 0.8
    shared = np.log(DCMFamily(UrnPrior()).update(stats).s / 1000.0)
    assert np.sqrt(np.mean(shared**2)) < np.sqrt(np.mean(alone**2))


def test_interval_covers():
    rng = np.random.default_rng(4)
    X = np.vstack([documents(100.0, 15, 80, 500, rng) for _ in range(40)])
    solution = DCMFamily().solve(statistics(X, np.repeat(np.arange(40), 15)), ALONE)
    inside = np.abs(np.log(solution.s / 100.0)) < 1.96 * solution.error
    assert inside.mean() > 0.8


@pytest.mark.parametrize("model", [DCM, EDCM])
def test_no_estimate_is_at_a_limit(model):
    no_repeats = np.eye(6, 12, dtype=int) + np.eye(6, 12, k=3, dtype=int)
    one_word = 5 * np.eye(6, 12, dtype=int)
    for X in (no_repeats, one_word, no_repeats[:1], one_word[:1]):
        fitted = model(prior="auto").fit(X)
        assert 1e-3 < fitted.s_ < 1e4
        parameters = fitted.alpha_ if model is DCM else fitted.beta_
        assert np.all(np.isfinite(parameters))
        assert np.all(parameters >= 0)
        np.testing.assert_allclose(parameters.sum(), fitted.s_, rtol=1e-9)


def test_words_not_seen_get_what_words_seen_once_give_up():
    X = np.array([[3, 1, 0, 0, 0], [2, 0, 1, 0, 0], [2, 1, 0, 1, 0]])
    alpha = DCM(prior="auto").fit(X).alpha_
    assert 0 < alpha[4] < alpha[2] < alpha[0]
    assert DCM().fit(X).alpha_[4] == 0.0


def test_prior_is_auto_or_none():
    with pytest.raises(ValueError, match='prior must be "auto" or None'):
        DCM(prior="strong").fit(np.eye(3, dtype=int))


def test_location_and_scale_between_components():
    rng = np.random.default_rng(5)
    log_s = rng.normal(4.0, 0.7, 500)
    sure = learn_between(log_s, np.zeros(500), np.full(500, 1e6))
    np.testing.assert_allclose([sure.location, sure.scale], [log_s.mean(), log_s.std()], rtol=0.01)
    noisy = learn_between(log_s + rng.normal(0.0, 0.5, 500), np.zeros(500), np.full(500, 4.0))
    np.testing.assert_allclose([noisy.location, noisy.scale], [4.0, 0.7], rtol=0.15)
    # A slope says where the maximum is; what has no information does not matter.
    moved = learn_between(
        np.append(log_s - 0.1, 4.1), np.append(np.full(500, 1e5), 0.0), np.append(np.full(500, 1e6), 0.0)
    )
    np.testing.assert_allclose(moved.location, log_s.mean(), atol=0.01)


@pytest.mark.parametrize("pull", [Weak(np.ones(3)), Between(2.0, 0.5)])
def test_pulls_are_derivatives(pull):
    s, step = np.array([0.3, 20.0, 1e5]), 1e-5
    high, low = pull(s * np.exp(step))[0], pull(s * np.exp(-step))[0]
    np.testing.assert_allclose(pull(s)[1], (high - low) / (2 * step), rtol=1e-4, atol=1e-9)


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    rng = np.random.default_rng(6)
    X = np.vstack([documents(50.0, 10, 60, 300, rng) for _ in range(3)])
    stats = statistics(X, np.repeat([0, 1, 2], 10))
    results = set()
    for n_threads in (1, 2, 5):
        with threads.using(n_threads):
            results.add(DCMFamily(UrnPrior()).update(stats).alpha.tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("family", [DCMFamily, EDCMFamily])
def test_a_component_without_words_has_nothing(family):
    X, labels = np.array([[2, 1, 0], [0, 1, 3], [0, 0, 0]]), np.array([0, 0, 1])
    with_prior = family().with_prior(UrnPrior())
    stats = statistics(X, labels, family())
    assert with_prior.totals(stats)[1] == 0.0
    assert with_prior.update(stats).s[0] > 0.0
    assert np.all(with_prior.update(stats).table[:, 1] == 0.0)
    nothing = statistics(X[2:], None, family())
    assert with_prior.totals(nothing)[0] == 0.0
