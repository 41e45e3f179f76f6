from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

import oracles
from bursty import datasets
from bursty.families import DCM, EDCM
from bursty.families.normaliser import log_normaliser
from bursty.families.solve import S_MAX, S_MIN


def model_with(beta):
    model = EDCM().fit(np.ones((1, len(beta)), dtype=int))
    model._set_parameters(type(model._parameters)(np.asarray(beta, float)[:, None]))
    return model


def test_the_papers_equations_hold():
    rng = np.random.default_rng(0)
    X = np.array([rng.multinomial(30, rng.dirichlet(np.full(15, 0.1))) for _ in range(50)])
    weights = rng.random(50)
    model = EDCM().fit(X, sample_weight=weights)
    n = X.sum(axis=1)
    slope = weights @ (digamma(model.s_ + n) - digamma(model.s_))
    np.testing.assert_allclose(model.beta_, weights @ (X > 0) / slope, rtol=1e-10)
    assert model.s_ == pytest.approx(weights @ (X > 0).sum(axis=1) / slope, rel=1e-10)
    np.testing.assert_allclose(model.log_prob(X), oracles.edcm_log_prob(X, model.beta_), rtol=1e-11)


def test_limits():
    assert EDCM().fit([[1, 1, 0], [0, 1, 1]]).s_ == pytest.approx(S_MAX)
    assert EDCM().fit([[5, 0, 0], [0, 3, 0]]).s_ == pytest.approx(S_MIN)
    assert EDCM().fit([[1, 0], [0, 1]]).s_ == pytest.approx(S_MAX)


@given(st.lists(st.floats(1e-4, 20.0), min_size=1, max_size=5), st.integers(0, 8))
def test_normaliser_equals_brute_force(beta, n):
    found = log_normaliser(np.array(beta), np.array([n]))[0]
    assert found == pytest.approx(math.log(oracles.edcm_normaliser(beta, n)), rel=1e-10, abs=1e-10)


@given(st.lists(st.floats(1e-4, 20.0), min_size=1, max_size=12), st.integers(1, 40))
def test_normaliser_equals_the_stirling_formula(beta, n):
    found = log_normaliser(np.array(beta), np.arange(n + 1))
    expected = [math.log(oracles.edcm_normaliser_stirling(beta, m)) for m in range(n + 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([0.02, 1.0, 50.0, 3000.0]), st.sampled_from([3, 40, 150]))
def test_normaliser_equals_the_generating_function(seed, s, n):
    """The coefficient of t^n, by mpmath's power series, far outside the range of brute force."""
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(30, 0.3)) * s
    beta = beta[beta > 1e-12]
    with mpmath.workdps(60):
        u = [mpmath.mpf(0)] + [mpmath.mpf(1) / m for m in range(1, n + 1)]
        total, u_power = mpmath.mpf(0), [mpmath.mpf(1)] + [mpmath.mpf(0)] * n
        e = [mpmath.mpf(1)]
        for b in beta:
            e = [x + y for x, y in zip([*e, 0], [0, *(mpmath.mpf(b) * x for x in e)], strict=True)]
        for j in range(min(n, len(beta)) + 1):
            total += e[j] * u_power[n]
            u_power = [mpmath.fsum(u[i] * u_power[m - i] for i in range(1, m + 1)) for m in range(n + 1)]
        exact_s = mpmath.fsum(mpmath.mpf(b) for b in beta)
        expected = mpmath.log(total) + mpmath.loggamma(n + 1) + mpmath.loggamma(exact_s) - mpmath.loggamma(exact_s + n)
        assert log_normaliser(beta, np.array([n]))[0] == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


def test_normalised_probabilities_sum_to_one():
    model = model_with([0.5, 2.0, 0.1, 1.0])
    for n in (1, 2, 7):
        every = np.array(list(oracles.compositions(n, 4)))
        assert np.exp(model.log_prob(every, coefficient=True, normalized=True)).sum() == pytest.approx(1.0, abs=1e-12)
        assert np.exp(model.log_prob(every, coefficient=True)).sum() <= 1.0 + 1e-12


@pytest.mark.parametrize(("n_words", "s"), [(100_000, 400.0), (100_000, 50_000.0), (50, 1e4), (20_000, S_MAX)])
def test_normaliser_is_stable_at_real_sizes(n_words, s):
    rng = np.random.default_rng(0)
    beta = rng.dirichlet(np.full(n_words, 0.1))
    beta = s * (beta + 1e-9) / (beta + 1e-9).sum()
    lengths = np.array([0, 1, 2, 10, 100, 1000, 5000, 20_000])
    found = log_normaliser(beta, lengths)
    assert np.all(np.isfinite(found))
    np.testing.assert_array_equal(found[:2], 0.0)
    assert np.all(np.diff(found) <= 1e-9)  # more tokens, more chances that two fresh ones meet
    # Two tokens: both fresh and the same word has probability (s / (s + 1)) sum p^2.
    clash = s / (s + 1) * np.sum((beta / s) ** 2)
    assert found[2] == pytest.approx(math.log1p(-clash), rel=1e-9, abs=1e-11)


def test_normaliser_with_a_thousand_fresh_tokens():
    """Sum over the number of fresh tokens: its chance, by recursion over tokens, and that their words all differ."""
    n, s, n_words = 5_000, 500.0, 50_000
    fresh = np.append(1.0, np.zeros(n))
    for i in range(n):
        fresh[1:] = (fresh[1:] * i + fresh[:-1] * s) / (s + i)
        fresh[0] *= i / (s + i)
    differ = np.cumprod(np.append(1.0, 1.0 - np.arange(n) / n_words))
    found = log_normaliser(np.full(n_words, s / n_words), np.array([n]))[0]
    assert found == pytest.approx(np.log(fresh @ differ), rel=1e-8)


def test_sample_is_the_normalised_distribution():
    model = model_with([0.5, 2.0, 0.1, 1.0])
    every = np.array(list(oracles.compositions(5, 4)))
    drawn = model.sample(np.full(20_000, 5), random_state=0).toarray()
    seen = np.array([(drawn == x).all(axis=1).sum() for x in every])
    expected = 20_000 * np.exp(model.log_prob(every, coefficient=True, normalized=True))
    likely = expected > 5
    chi_square = ((seen - expected)[likely] ** 2 / expected[likely]).sum()
    assert chi_square < 1.0 * likely.sum() + 4.0 * math.sqrt(2 * likely.sum())


def test_a_long_document_can_be_drawn():
    rng = np.random.default_rng(0)
    model = model_with(rng.dirichlet(np.full(3000, 0.3)) * 200.0 + 1e-9)
    drawn = model.sample([2000, 2000], random_state=1)
    np.testing.assert_array_equal(np.asarray(drawn.sum(axis=1)).ravel(), [2000, 2000])


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "unnormalised", "normalised", "exact"),
    [("classic400", 1291.4, 1275.6, 1272.1), ("nips391", 960.1, 920.2, 898.7)],
)
def test_normalised_perplexity_lies_between(data_dir, name, unnormalised, normalised, exact):
    X = datasets.load(name).counts
    model = EDCM().fit(X)
    found = model.perplexity(X), model.perplexity(X, normalized=True), DCM().fit(X).perplexity(X)
    assert found[0] > found[1] > found[2]
    np.testing.assert_allclose(found, (unnormalised, normalised, exact), atol=0.06)
