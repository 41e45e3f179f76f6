"""The DPMFS samplers against lists of all states, against each other, and as chains."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import gammaln, logsumexp

from bursty.samplers import dpmfs, dpmfs_collapsed, dpmfs_draws, dpmfs_paper
from samplers import oracles_dpmfs as oracles

X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 1, 1]])
LAM = np.array([0.5, 0.8, 1.3])
OMEGA, ALPHA, MOST = 0.4, 1.3, 3


def problem_of(x, most=MOST, lam=LAM, held=None, **options):
    csr = sp.csr_array(np.asarray(x, dtype=np.int32))
    held = np.zeros(len(x), dtype=np.uint8) if held is None else held
    return dpmfs.DPMFSData(csr.indptr.astype(np.int64), csr.indices, csr.data, lam, OMEGA, most, held, **options)


def state_of(problem, labels, gamma, seed=0, **changes):
    state = dpmfs.init(problem, 1, np.zeros(problem.n_documents, dtype=np.int32), seed, ALPHA)
    labels, chosen = np.array(labels, dtype=np.int32), np.array(gamma, dtype=np.uint8)
    return replace(state, labels=labels, chosen=chosen, **changes)


def sweeper(problem, sampler):
    if sampler == "paper":
        return lambda state, number: dpmfs_paper.sweep(problem, state, dpmfs_paper.Steps(2, 2), 5, number)[0]
    steps = dpmfs_collapsed.Steps(splits=2, scans=2 if sampler == "collapsed" else 0)
    steps = steps if sampler == "collapsed" else dpmfs_collapsed.Steps(splits=0)
    return lambda state, number: dpmfs_collapsed.sweep(problem, state, steps, 5, number)[0]


def visits(problem, sampler, n_sweeps, thin):
    """How often a chain is in each state (partition, gamma)."""
    sweep, counts = sweeper(problem, sampler), {}
    state = dpmfs.init(problem, problem.most or 2, np.zeros(problem.n_documents, dtype=np.int32), 3, ALPHA)
    for number in range(n_sweeps):
        state = sweep(state, number)
        if number % thin == thin - 1:
            key = oracles.canonical(state.labels.tolist()), tuple(state.chosen.tolist())
            counts[key] = counts.get(key, 0) + 1
    return counts


def agree(counts, log_joint):
    """A chi-square test of the visits; states with few expected visits are taken together."""
    keys = list(log_joint)
    assert set(counts) <= set(keys)
    values = np.array([log_joint[key] for key in keys])
    observed = np.array([counts.get(key, 0) for key in keys], dtype=float)
    expected = np.exp(values - logsumexp(values)) * observed.sum()
    often = expected >= 8
    observed = np.append(observed[often], observed[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    if expected[-1] < 8:
        observed[0], expected[0] = observed[0] + observed[-1], expected[0] + expected[-1]
        observed, expected = observed[:-1], expected[:-1]
    assert len(expected) > 10
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def exact(x, most, keep=lambda labels: True):
    return {
        (labels, gamma): oracles.multinomial_log_joint(x, labels, gamma, LAM, OMEGA, ALPHA, most)
        for labels, gamma in oracles.states(len(x), x.shape[1], most)
        if keep(labels)
    }


@pytest.mark.parametrize("most", [None, 3])
def test_log_joint(most):
    problem = problem_of(X, most)
    for (labels, gamma), value in exact(X, most).items():
        np.testing.assert_allclose(dpmfs.log_joint(problem, state_of(problem, labels, gamma)), value, rtol=1e-10)


def test_the_partition_prior_is_a_probability():
    for most in (None, 2, 3, 10):
        total = sum(math.exp(oracles.log_partition(z, ALPHA, most)) for z in oracles.partitions(4, most))
        assert total == pytest.approx(1.0)
        for labels in oracles.partitions(4, most):
            ours = dpmfs.log_partition(np.bincount(labels), ALPHA, most)
            assert ours == pytest.approx(oracles.log_partition(labels, ALPHA, most))


@pytest.mark.parametrize("sampler", ["paper", "collapsed", "no splits"])
def test_stationary_distribution(sampler):
    agree(visits(problem_of(X), sampler, 8_000, 4), exact(X, MOST))


def test_stationary_distribution_without_a_bound():
    agree(visits(problem_of(X, None), "collapsed", 8_000, 4), exact(X, None))


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_held_documents_stay(sampler):
    """Documents 0 and 1 are known to be of classes 0 and 1."""
    held = np.array([1, 1, 0, 0], dtype=np.uint8)
    problem = problem_of(X, held=held)
    sweep, counts = sweeper(problem, sampler), {}
    state = dpmfs.init(problem, MOST, np.array([0, 1, -1, -1], dtype=np.int32), 3, ALPHA)
    for number in range(8_000):
        state = sweep(state, number)
        assert state.labels[0] == 0
        assert state.labels[1] == 1
        if number % 4 == 3:
            key = oracles.canonical(state.labels.tolist()), tuple(state.chosen.tolist())
            counts[key] = counts.get(key, 0) + 1
    agree(counts, exact(X, MOST, keep=lambda labels: labels[0] != labels[1]))


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_learned_alpha(sampler):
    grid = np.linspace(-9, 4, 300)
    alphas = np.exp(grid)
    log_weights = grid - alphas / 0.7

    def integrated(labels):
        return logsumexp(log_weights + [oracles.log_partition(labels, alpha, MOST) for alpha in alphas])

    priors = {labels: integrated(labels) for labels in oracles.partitions(4, MOST)}
    joint = {
        key: value - oracles.log_partition(key[0], ALPHA, MOST) + priors[key[0]]
        for key, value in exact(X, MOST).items()
    }
    problem = problem_of(X, learn_alpha=True, alpha_mean=0.7)
    agree(visits(problem, sampler, 8_000, 4), joint)


@pytest.mark.parametrize(("sampler", "prior"), [("paper", "gamma"), ("collapsed", "lognormal")])
def test_learned_lambda(sampler, prior):
    grid = np.linspace(-7, 5, 160)
    log_weights = grid - np.exp(grid) if prior == "gamma" else -0.5 * grid**2
    joint = {}
    for (labels, gamma), value in exact(X, MOST).items():
        parts = [oracles.log_components(X, gamma, labels, LAM * scale) for scale in np.exp(grid)]
        joint[labels, gamma] = value - oracles.log_components(X, gamma, labels, LAM) + logsumexp(log_weights + parts)
    agree(visits(problem_of(X, lam_prior=prior), sampler, 8_000, 4), joint)


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_learned_lambda_of_each_word(sampler):
    """log lambda is normal with variance 2 and covariance 1: a standard normal factor of all, and one of each word."""
    grid = np.linspace(-6.5, 5.5, 31)
    logs = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3)
    lams = LAM * np.exp(logs)
    log_weights = -0.5 * np.sum(logs @ np.linalg.inv(np.eye(3) + 1.0) * logs, axis=1)
    log_weights -= logsumexp(log_weights)

    def log_side(counts, on):
        """log B(counts + lambda) / B(lambda) for every lambda."""
        if not on.any():
            return 0.0
        lam, n = lams[:, on], counts[on]
        sums = lam.sum(axis=1)
        return np.sum(gammaln(lam + n) - gammaln(lam), axis=1) + gammaln(sums) - gammaln(sums + n.sum())

    joint = {}
    for (labels, gamma), value in exact(X, MOST).items():
        on = np.array(gamma, dtype=bool)
        parts = log_side(X.sum(axis=0), ~on)
        for k in set(labels):
            parts = parts + log_side(X[np.array(labels) == k].sum(axis=0), on)
        joint[labels, gamma] = value - oracles.log_components(X, gamma, labels, LAM) + logsumexp(log_weights + parts)
    agree(visits(problem_of(X, lam_prior="words"), sampler, 8_000, 4), joint)


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_learned_omega(sampler):
    joint = {
        (labels, gamma): value - oracles.log_prior(gamma, OMEGA) + oracles.learned_log_prior(gamma, 2.0, 3.0)
        for (labels, gamma), value in exact(X, MOST).items()
    }
    agree(visits(problem_of(X, omega_prior=(2.0, 3.0)), sampler, 8_000, 4), joint)


def test_omega_is_drawn_from_a_beta():
    problem = problem_of(X, omega_prior=(2.0, 3.0))
    state = state_of(problem, [0, 1, 0, 0], [1, 0, 1])
    draws = [dpmfs_draws.draw_omega(problem, state, 4, number).omega for number in range(1500)]
    assert stats.kstest(draws, stats.beta(2 + 2, 3 + 1).cdf).pvalue > 1e-3


@pytest.mark.parametrize("spread", [0.01, 1.0, 4.0])
def test_slice_sampling(spread):
    """A normal density of the logarithm, from far away and whatever its width is."""
    rng, value, draws = np.random.default_rng(1), 1e4, []
    for number in range(6_050):
        value = dpmfs_draws.slice_log(value, lambda v: -0.5 * ((math.log(v) + 2.0) / spread) ** 2, rng)
        if number >= 50 and number % 4 == 0:
            draws.append(math.log(value))
    assert stats.kstest(draws, stats.norm(-2.0, spread).cdf).pvalue > 1e-3


def test_the_odds_of_a_word_are_those_of_the_joint():
    """What Bayes factors are made of: exact log-odds of each word given all else, as the joint has them."""
    problem = problem_of(X, None)
    state = state_of(problem, [0, 1, 0, 1], [1, 0, 1])
    sums = dpmfs.Sums.of(problem, state, 2)
    # No draw is below 0, so that the first word is never changed.
    _, log_odds = dpmfs.flip_words(problem, state, sums, np.array([0]), np.array([1.0]), gibbs=True)
    both = [dpmfs.log_joint(problem, state_of(problem, [0, 1, 0, 1], [on, 0, 1])) for on in (0, 1)]
    assert log_odds[0] == pytest.approx(both[1] - both[0])


def bursty_joint(x, most):
    """t and s summed out."""
    tables, joint = list(oracles.all_tables(x)), {}
    for labels, gamma in oracles.states(len(x), x.shape[1], most):
        on, parts = np.array(gamma, dtype=bool), []
        lengths = [tuple(x[:, side].sum(axis=1).tolist()) for side in (on, ~on)]
        for t, weight in tables:
            weight += oracles.integrated_burst(*lengths, int(t[:, on].sum()), int(t[:, ~on].sum()))
            parts.append(weight + oracles.log_components(t, gamma, labels, LAM))
        prior = oracles.log_prior(gamma, OMEGA) + oracles.log_partition(labels, ALPHA, most)
        joint[labels, gamma] = prior + oracles.log_orders(x, gamma) + logsumexp(parts)
    return joint


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_bursty_stationary_distribution(sampler):
    x = np.array([[3, 0, 1], [0, 2, 1], [2, 1, 0]])
    most = None if sampler == "collapsed" else 3
    agree(visits(problem_of(x, most, bursty=True), sampler, 9_000, 6), bursty_joint(x, most))


def test_a_sweep_of_the_paper_says_which_share_of_the_tried_words_changed():
    problem, n_steps, shares = problem_of(X), 4, []
    state = state_of(problem, [0, 0, 1, 1], [1, 0, 1])
    for number in range(40):
        after, info = dpmfs_paper.sweep(problem, state, dpmfs_paper.Steps(n_steps, 1), 5, number)
        assert info.words == np.count_nonzero(after.chosen != state.chosen) / n_steps
        shares.append(info.words)
        state = after
    assert 0 < np.mean(shares) < 1


def test_burstiness_that_no_document_shows_has_its_prior():
    """Documents of one word say nothing about s, whose logarithm is normal."""
    problem = problem_of(np.eye(3), None, bursty=True)
    state, logs = state_of(problem, [0, 0, 1], [1, 1, 0]), []
    log_eta, slot = np.log(np.full((2, 2), 0.5)), np.array([0, 1, -1], dtype=np.int32)
    for number in range(4_000):
        state = dpmfs_draws.draw_bursts(problem, state, log_eta, np.zeros(3), slot, 5, number)
        logs.append(np.log(state.burst.sum()))
    assert np.mean(logs) == pytest.approx(dpmfs.LOG_BURST, abs=0.4)
    assert np.std(logs) == pytest.approx(3.0, rel=0.1)
    np.testing.assert_array_equal(state.tables, 1)


def test_bursty_log_joint():
    x = np.array([[3, 0, 1], [0, 2, 1], [2, 1, 0]])
    problem, s = problem_of(x, None, bursty=True), np.array([7.0, 20.0])
    for labels, gamma in oracles.states(3, 3):
        on = np.array(gamma, dtype=bool)
        for t, weight in oracles.all_tables(x):
            value = weight + oracles.log_components(t, gamma, labels, LAM) + oracles.log_orders(x, gamma)
            for side, value_s in ((on, s[:1]), (~on, s[1:])):
                value += oracles.log_burst(x[:, side].sum(axis=1), t[:, side].sum(), value_s)[0]
            value += oracles.log_prior(gamma, OMEGA) + oracles.log_partition(labels, ALPHA, None)
            state = state_of(problem, labels, gamma, tables=t[x > 0].astype(np.int32), burst=s)
            np.testing.assert_allclose(dpmfs.log_joint(problem, state), value, rtol=1e-9)


def draw_documents(rng, lengths, labels, gamma, burst, lam):
    """Documents given gamma and z: a uniform division of each length, then urns for both sides."""
    on = np.array(gamma, dtype=bool)
    eta = {k: rng.dirichlet(lam[on]) for k in set(labels)} if on.any() else {}
    eta_0 = rng.dirichlet(lam[~on]) if not on.all() else None
    x = np.zeros((len(lengths), len(lam)), dtype=int)
    for i, n in enumerate(lengths):
        inside = n if on.all() else 0 if not on.any() else rng.integers(n + 1)
        for side, size, mean, s in ((on, inside, eta.get(labels[i]), burst[0]), (~on, n - inside, eta_0, burst[1])):
            if size:
                p = mean if s is None else rng.dirichlet(np.maximum(s * mean, 1e-12))
                x[i, side] = rng.multinomial(size, p / p.sum())
    return x


@pytest.mark.parametrize(("sampler", "bursty"), [("paper", False), ("collapsed", False), ("collapsed", True)])
def test_geweke(sampler, bursty):
    """Drawing all together, and alternating sweeps with new documents, give the same distribution.

    With bursts, omega and the factor of lambda are learned too, as they are by default.
    """
    rng, lengths, n = np.random.default_rng(8), (5, 4, 3, 3), 600
    most = 3 if sampler == "paper" else None
    gammas = list(dict.fromkeys(gamma for _, gamma in oracles.states(1, 3)))
    # A gamma with both sides has the weight of all divisions.
    prior = oracles.learned_log_prior if bursty else partial(oracles.log_prior, omega=OMEGA)
    learned = {"omega_prior": (1.0, 1.0), "lam_prior": "lognormal"} if bursty else {}
    weights = [prior(g) + (0 < sum(g) < 3) * sum(math.log(m + 1) for m in lengths) for g in gammas]
    weights = np.exp(weights - logsumexp(weights))
    partitions = list(oracles.partitions(4, most))
    priors = np.exp([oracles.log_partition(z, ALPHA, most) for z in partitions])

    def statistics(x, labels, gamma, omega, scale):
        on = np.array(gamma, dtype=bool)
        sizes = np.bincount(labels)
        inside = x[:, on].sum(axis=1)
        pairs = sum((x[i] @ x[j]) * (labels[i] == labels[j]) for i in range(4) for j in range(i))
        return [np.count_nonzero(sizes), (sizes**2).sum(), on.sum(), on[0], inside.sum(), (inside**2).sum(),
                (x**2).sum(), (x[:, on] ** 2).sum(), pairs, omega, omega * on.sum(), math.log(scale),
                math.log(scale) ** 2, math.log(scale) * (x**2).sum()]  # fmt: skip

    forward, alternating = [], []
    for replicate in range(n):
        for chain in (forward, alternating):
            gamma, labels = gammas[rng.choice(8, p=weights)], partitions[rng.choice(len(partitions), p=priors)]
            burst = 100.0 * np.exp(3.0 * rng.standard_normal()) * np.array([1, 5]) / 6 if bursty else (None, None)
            omega = rng.beta(1 + sum(gamma), 4 - sum(gamma)) if bursty else OMEGA
            scale = math.exp(rng.standard_normal()) if bursty else 1.0
            x = draw_documents(rng, lengths, labels, gamma, burst, LAM * scale)
            for number in range(0 if chain is forward else 2):
                problem = problem_of(x, most, bursty=bursty, **learned)
                state = state_of(problem, labels, gamma, omega=omega, scale=scale)
                if bursty:
                    tables = draw_tables(rng, x, labels, gamma, burst, LAM * scale)
                    state = replace(state, burst=burst, tables=tables)
                if sampler == "paper":
                    state, _ = dpmfs_paper.sweep(problem, state, dpmfs_paper.Steps(3, 3), replicate, number)
                else:
                    state, _ = dpmfs_collapsed.sweep(problem, state, dpmfs_collapsed.Steps(2, 2), replicate, number)
                labels, gamma = tuple(state.labels.tolist()), tuple(state.chosen.tolist())
                burst = state.burst if bursty else burst
                omega, scale = state.omega, state.scale
                x = draw_documents(rng, lengths, labels, gamma, burst, LAM * scale)
            chain.append(statistics(x, labels, gamma, omega, scale))
    forward, alternating = np.array(forward, dtype=float), np.array(alternating, dtype=float)
    error = np.sqrt((forward.var(axis=0) + alternating.var(axis=0)) / n)
    assert np.all(np.abs(forward.mean(axis=0) - alternating.mean(axis=0)) <= 3.5 * error)


def draw_tables(rng, x, labels, gamma, burst, lam):
    """t given the documents, gamma, z and s, from the list of all t."""
    on = np.array(gamma, dtype=bool)
    tables, weights = [], []
    for t, weight in oracles.all_tables(x):
        fresh = t[:, on].sum() * np.log(burst[0]) + t[:, ~on].sum() * np.log(burst[1])
        tables.append(t)
        weights.append(weight + fresh + oracles.log_components(t, gamma, labels, lam))
    weights = np.exp(np.array(weights) - logsumexp(weights))
    return tables[rng.choice(len(tables), p=weights)][x > 0].astype(np.int32)


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
@pytest.mark.parametrize("bursty", [False, True])
def test_a_sweep_is_a_function_of_state_seed_and_number(sampler, bursty):
    """Stopped after any sweep and gone on from a copy of the state, a chain has the same bits."""
    x = np.random.default_rng(0).poisson(0.6, size=(30, 12)) + 0
    problem = problem_of(
        x, 8, lam=np.full(12, 0.5), bursty=bursty, learn_alpha=True, lam_prior="words", omega_prior=(1.0, 1.0)
    )
    sweep = sweeper(problem, sampler)
    state = dpmfs.init(problem, 8, np.zeros(30, dtype=np.int32), 1, 1.0)
    for number in range(6):
        if number == 3:
            middle = replace(state, labels=state.labels.copy(), chosen=state.chosen.copy(), tables=state.tables.copy())
        state = sweep(state, number)
    again = middle
    for number in range(3, 6):
        again = sweep(again, number)
    for name in ("labels", "chosen", "tables", "burst", "own"):
        assert getattr(again, name).tobytes() == getattr(state, name).tobytes()
    assert (again.alpha, again.scale, again.omega) == (state.alpha, state.scale, state.omega)
