"""Standard errors by finite differences, tests by simulation: nothing here uses the formulas under test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import kstest

from bursty import Mixture, plot
from bursty.families import DCM, Multinomial
from bursty.families.uncertainty import compare_groups, overdispersion_test, parameter_errors, predictive_check

ALPHA = np.array([0.5, 2.0, 1.0, 3.0])


def draw(n, length, seed, alpha=ALPHA):
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(length, p) for p in rng.dirichlet(alpha, size=n)])


def log_likelihood(alpha, X, weights):
    s, n = alpha.sum(), X.sum(axis=1)
    return weights @ (gammaln(s) - gammaln(s + n) + (gammaln(X + alpha) - gammaln(alpha)).sum(axis=1))


def covariance(alpha, X, weights, h=1e-4):
    """Inverse of minus the matrix of second differences."""
    size, steps = len(alpha), np.eye(len(alpha)) * h
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            values = [
                a * b * log_likelihood(alpha + a * steps[i] + b * steps[j], X, weights)
                for a in (-1, 1)
                for b in (-1, 1)
            ]
            hessian[i, j] = sum(values) / (4 * h * h)
    return np.linalg.inv(-hessian)


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_of_the_curvature(weighted):
    X = draw(60, 25, 0)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    model = DCM().fit(X, sample_weight=weights)
    found = parameter_errors(model, X, weights if weighted else None)
    expected = covariance(model.alpha_, X, weights)
    np.testing.assert_allclose(found.alpha_error, np.sqrt(np.diag(expected)), rtol=1e-4)
    assert found.s_error == pytest.approx(np.sqrt(expected.sum()), rel=1e-4)
    p = model.alpha_ / model.s_
    slopes = (np.eye(4) - p[:, None]) / model.s_
    np.testing.assert_allclose(found.proportion_error, np.sqrt(np.diag(slopes @ expected @ slopes.T)), rtol=1e-4)


def test_intervals_cover_the_truth():
    inside = []
    for seed in range(200):
        X = draw(80, 30, seed)
        found = parameter_errors(DCM().fit(X), X)
        inside.append(
            [found.s_low < ALPHA.sum() < found.s_high, *((found.alpha_low < ALPHA) & (found.alpha_high > ALPHA))]
        )
    assert np.all(np.abs(np.mean(inside, axis=0) - 0.95) < 0.055)


def test_words_nobody_has_and_no_repeats():
    X = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0]])
    found = parameter_errors(DCM().fit(X), X)
    assert np.isnan(found.alpha_error[2])
    assert np.isinf(found.s_error)
    assert (found.s_low, found.s_high) == (0.0, np.inf)


def test_p_values_of_a_multinomial_are_half_ones_and_else_uniform():
    rng = np.random.default_rng(3)
    values = np.array([overdispersion_test(rng.multinomial(20, [0.2, 0.3, 0.5], size=60)).p_value for _ in range(300)])
    assert 0.4 < np.mean(values == 1.0) < 0.62
    assert kstest(values[values < 1.0] * 2.0, "uniform").pvalue > 1e-3
    assert overdispersion_test(draw(60, 20, 0)).p_value < 1e-10


def test_groups_that_are_alike_and_that_are_not():
    same = compare_groups(draw(60, 30, 5), np.repeat(["a", "b"], 30), n_permutations=99, random_state=0)
    assert same.composition.p_value > 0.05
    assert same.dispersion.p_value > 0.05
    assert same.word_p_values.min() > 0.05
    X = np.vstack([draw(30, 30, 6), draw(30, 30, 7, ALPHA[::-1].copy())])
    other = compare_groups(X, np.repeat([0, 1], 30), n_permutations=99, random_state=0)
    assert other.composition.p_value == 0.01
    assert other.dispersion.p_value > 0.01
    X = np.vstack([draw(40, 30, 8), draw(40, 30, 9, 20 * ALPHA)])
    bursty = compare_groups(X, np.repeat([0, 1], 40), n_permutations=99, random_state=0)
    assert bursty.dispersion.p_value < 1e-3
    assert bursty.word_p_values.min() > 0.01


@pytest.mark.parametrize(
    ("groups", "message"),
    [([0, 0, 0, 0], "at least two groups"), ([0, 0, 0, 1], "at least two documents"), ([0, 1], "one per document")],
)
def test_groups_that_cannot_be_compared(groups, message):
    with pytest.raises(ValueError, match=message):
        compare_groups(draw(4, 5, 0), groups)


def test_a_model_that_fits_makes_such_data():
    X = draw(100, 30, 11)
    fits = predictive_check(DCM().fit(X), X, random_state=0)
    assert min(fits.p_values.values()) > 0.02
    assert (
        predictive_check(Multinomial().fit(X), X, random_state=0).p_values["variance of counts over their mean"] == 0.02
    )
    assert min(predictive_check(Mixture(2, random_state=0).fit(X), X, n_draws=9, random_state=0).p_values.values()) > 0
    assert predictive_check(DCM().fit(X), X, random_state=0).p_values == fits.p_values
    own = predictive_check(DCM().fit(X), X, statistics={"tokens": lambda counts: float(counts.sum())}, n_draws=3)
    assert own.p_values == {"tokens": 1.0}
    assert "variance" in plot.predictive_check(fits).get_yticklabels()[3].get_text()


def test_statistics_that_are_compared():
    X = np.array([[3, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0], [5, 1, 0, 0]])  # a word and a document that are empty
    occurring = X[X > 0]
    means, variances = X[:, :3].mean(axis=0), X[:, :3].var(axis=0)
    expected = {
        "share of empty cells": np.mean(X == 0),
        "share of words that are repeated": np.mean(occurring > 1),
        "mean count of a word that occurs": np.mean(occurring),
        "variance of counts over their mean": np.mean(variances / means),
        "share of the most frequent word": np.mean([3 / 4, 1.0, 0.0, 5 / 6]),
    }
    with pytest.warns(UserWarning, match="no words"):
        model = DCM().fit(X)
    found = predictive_check(model, X, n_draws=3, random_state=0).observed
    assert found == pytest.approx(expected)
