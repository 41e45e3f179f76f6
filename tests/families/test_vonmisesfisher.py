from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import ive
from scipy.stats import vonmises_fisher

from bursty.families import VonMisesFisher, get_family
from bursty.families.bessel import bessel_ratio, log_iv
from bursty.families.vonmisesfisher import KAPPA_MAX, VMFParameters, concentration, log_constant


@pytest.mark.parametrize("order", [0.5, 1.0, 4.5, 9.5, 10.0, 12.0, 50.0, 1000.0, 5000.0, 50_000.0])
def test_log_bessel_equals_mpmath(order):
    z = np.array([1e-6, 1e-2, 1.0, 7.0, 10.0, 60.0, 500.0, 5e3, 5e4])
    with mpmath.workdps(30):
        expected = [float(mpmath.log(mpmath.besseli(order, x, maxterms=10**6))) for x in z]
    np.testing.assert_allclose(log_iv(order, z), expected, rtol=1e-8)


def test_log_bessel_where_scipy_can():
    z = np.linspace(0.5, 600, 40)
    for order in (0.0, 3.0, 10.0, 30.0):
        np.testing.assert_allclose(log_iv(order, z), np.log(ive(order, z)) + z, rtol=1e-9, atol=1e-10)
    assert log_iv(0.0, np.array([0.0]))[0] == 0.0
    assert log_iv(20.0, np.array([0.0]))[0] == -np.inf


@pytest.mark.parametrize("order", [0.5, 9.0, 10.0, 20.0, 3000.0])
def test_bessel_ratio(order):
    z = np.array([1e-3, 1.0, 11.0, 100.0, 1e4])
    with mpmath.workdps(30):
        expected = [float(mpmath.besseli(order + 1, x) / mpmath.besseli(order, x)) for x in z]
    np.testing.assert_allclose(bessel_ratio(order, z), expected, rtol=1e-10)
    assert bessel_ratio(order, np.array([0.0]))[0] == 0.0
    np.testing.assert_allclose(bessel_ratio(order, np.array([1e9])), 1.0 - (order + 0.5) / 1e9, rtol=1e-10)


@pytest.mark.parametrize("n_words", [2, 3, 50, 5000])
@pytest.mark.parametrize("kappa", [0.5, 20.0, 3000.0])
def test_concentration_solves_its_equation(n_words, kappa):
    mean_length = bessel_ratio(n_words / 2 - 1, np.array([kappa]))
    np.testing.assert_allclose(concentration(mean_length, n_words), kappa, rtol=1e-9)


def test_density_equals_scipy():
    X = np.random.default_rng(0).poisson(2.0, size=(30, 4)) + np.array([5, 1, 1, 0])
    model = VonMisesFisher().fit(X)
    directions = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = vonmises_fisher(model.mu_, model.kappa_).logpdf(directions)
    np.testing.assert_allclose(model.log_prob(X), expected, rtol=1e-9)
    mu, kappa = vonmises_fisher.fit(directions)
    np.testing.assert_allclose(model.mu_, mu, rtol=1e-9)
    assert model.kappa_ == pytest.approx(kappa, rel=1e-5)


def test_only_the_direction_counts():
    X = np.random.default_rng(0).poisson(2.0, size=(30, 6)) + 1
    np.testing.assert_allclose(VonMisesFisher().fit(X).mu_, VonMisesFisher().fit(7 * X).mu_, rtol=1e-12)


def test_all_documents_alike_stops_at_the_ceiling():
    model = VonMisesFisher().fit([[1, 2, 0], [2, 4, 0]])
    assert model.kappa_ == pytest.approx(KAPPA_MAX, rel=1e-3)
    assert np.all(np.isfinite(model.log_prob([[1, 2, 0]])))


def test_one_word():
    assert np.all(np.isfinite(VonMisesFisher().fit([[3], [2]]).log_prob([[3], [0]])))


def test_constant_at_zero_is_the_limit():
    for n_words in (2, 3, 7, 500):
        np.testing.assert_allclose(
            log_constant(np.array([0.0]), n_words), log_constant(np.array([1e-7]), n_words), rtol=1e-9
        )


def test_sample_recovers_the_parameters():
    truth = VonMisesFisher().fit(np.random.default_rng(0).poisson(3.0, size=(40, 8)))
    drawn = truth.sample(np.ones(4000, dtype=int), random_state=0)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0)
    mean = drawn.mean(axis=0)
    assert mean @ truth.mu_ / np.linalg.norm(mean) > 0.999
    assert concentration(np.array([np.linalg.norm(mean)]), 8)[0] == pytest.approx(truth.kappa_, rel=0.05)


def test_perplexity_is_refused():
    with pytest.raises(ValueError, match="no perplexity"):
        VonMisesFisher().fit([[1, 2]]).perplexity([[1, 2]])


def test_only_ratios_of_weights_count():
    """Also for a component with less than one document in all, as in a mixture with soft assignments."""
    X = np.random.default_rng(0).poisson(2.0, size=(30, 6)) + 1
    weights = np.random.default_rng(1).random(30)
    model, light = (VonMisesFisher().fit(X, sample_weight=weights * scale) for scale in (1.0, 1e-3))
    np.testing.assert_allclose(light.mu_, model.mu_, rtol=1e-12)
    assert light.kappa_ == pytest.approx(model.kappa_, rel=1e-9)


@pytest.mark.parametrize("n_words", [1, 2])
def test_sample_of_one_and_of_two_words(n_words):
    model = VonMisesFisher().fit(np.random.default_rng(0).poisson(3.0, size=(40, n_words)) + 1)
    drawn = model.sample([2, 2, 2, 2], random_state=0)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 2.0)
    assert len(np.unique(drawn, axis=0)) == (1 if n_words == 1 else 4)


def test_perturbed_components_are_directions():
    rng = np.random.default_rng(0)
    model = VonMisesFisher().fit(rng.poisson(3.0, size=(40, 8)))
    params = get_family(model).perturb(VMFParameters(model.mu_[:, None], np.array([model.kappa_])), 3, 0.5, rng)
    np.testing.assert_allclose(np.linalg.norm(params.mu, axis=0), 1.0)
    cosines = model.mu_ @ params.mu
    assert np.all((cosines > 0.5) & (cosines < 1.0 - 1e-6))
    np.testing.assert_array_equal(params.kappa, [model.kappa_] * 3)
