"""The Dirichlet on scaled documents against scipy's density, a general optimiser and its own limits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import psi
from scipy.stats import dirichlet

from bursty import BayesClassifier, Mixture, datasets
from bursty.families import Dirichlet
from bursty.families.dirichlet import S_MAX, inverse_psi, maximise_alpha


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(12, 0.5), size=80)
    return sp.csr_array(np.array([rng.multinomial(rng.integers(1, 40), t) for t in theta]).astype(np.int32))


def proportions(counts, epsilon):
    """Scaled documents, every zero written out."""
    smoothed = counts.toarray() + epsilon
    return smoothed / smoothed.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 20.0])
def test_log_prob_is_scipys_density_of_the_smoothed_proportions(counts, epsilon):
    model = Dirichlet(smoothing=epsilon).fit(counts)
    expected = dirichlet.logpdf(proportions(counts, epsilon).T, model.alpha_)
    np.testing.assert_allclose(model.log_prob(counts), expected, rtol=1e-10)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_fit_is_the_maximum_that_a_general_optimiser_finds(counts, epsilon):
    model = Dirichlet(smoothing=epsilon).fit(counts)
    points = proportions(counts, epsilon).T

    def loss(log_alpha):
        return -dirichlet.logpdf(points, np.exp(log_alpha)).mean()

    found = minimize(loss, np.zeros(counts.shape[1]), method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    assert -model.score(counts) <= found.fun + 1e-10
    np.testing.assert_allclose(model.alpha_, np.exp(found.x), rtol=1e-3)


def test_gradient_vanishes_with_weights(counts):
    weights = np.random.default_rng(1).random(counts.shape[0])
    alpha = Dirichlet().fit(counts, sample_weight=weights).alpha_
    mean = np.average(np.log(proportions(counts, 1.0)), axis=0, weights=weights)
    np.testing.assert_allclose(psi(alpha) - psi(alpha.sum()), mean, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(-3, 4))
def test_maximum_from_any_mean_logarithms(seed, n_words, log_scale):
    rng = np.random.default_rng(seed)
    points = rng.dirichlet(10.0**log_scale * rng.gamma(1.0, size=n_words) + 1e-3, size=20)
    means = np.log(np.maximum(points, 1e-280)).mean(axis=0)
    alpha = maximise_alpha(means, np.ones(n_words))
    assert np.all(alpha > 0)
    if alpha.sum() < 0.999 * S_MAX:
        np.testing.assert_allclose(psi(alpha) - psi(alpha.sum()), means, rtol=1e-9, atol=1e-9)
    # Words that are alike can be told by one value and their number, and a start changes nothing.
    twice = maximise_alpha(means - np.log(2.0), np.full(n_words, 2))
    both = maximise_alpha(np.repeat(means, 2) - np.log(2.0), np.ones(2 * n_words))
    np.testing.assert_allclose(np.repeat(twice, 2), both, rtol=1e-6)
    np.testing.assert_allclose(maximise_alpha(means, np.ones(n_words), start=3.0), alpha, rtol=1e-6)


def test_inverse_digamma():
    values = np.concatenate([-np.geomspace(1e-3, 1e8, 200), np.linspace(0, 40, 100)])
    np.testing.assert_allclose(psi(inverse_psi(values)), values, rtol=1e-13, atol=1e-13)


def test_recovers_the_parameters_of_its_own_samples():
    rng = np.random.default_rng(2)
    model = Dirichlet(smoothing=1e-4).fit(rng.poisson(5.0, size=(50, 6)))
    drawn = model.sample(np.full(20_000, 1e9, dtype=np.int64), random_state=0)
    assert drawn.shape == (20_000, 6)
    np.testing.assert_allclose(drawn.sum(axis=1), 1e9)
    np.testing.assert_allclose(Dirichlet(smoothing=1e-4).fit(drawn).alpha_, model.alpha_, rtol=0.05)


def test_limits(counts):
    alike = Dirichlet().fit([[2, 1, 0], [2, 1, 0]])
    assert alike.alpha_.sum() == pytest.approx(S_MAX)
    np.testing.assert_allclose(alike.alpha_ / alike.alpha_.sum(), [3 / 6, 2 / 6, 1 / 6], rtol=1e-6)
    assert Dirichlet().fit([[3], [5]]).log_prob([[2], [7]]) == pytest.approx([0.0, 0.0])
    with_empty = sp.csr_array(sp.vstack([counts, sp.csr_array((3, counts.shape[1]), dtype=np.int32)]))
    with pytest.warns(UserWarning, match="3 documents have no words"):
        model = Dirichlet().fit(with_empty)
    np.testing.assert_allclose(model.alpha_, Dirichlet().fit(counts).alpha_, rtol=1e-9)
    np.testing.assert_array_equal(model.log_prob(with_empty)[-3:], 0.0)


def test_says_what_it_cannot_do(counts):
    with pytest.raises(ValueError, match="positive"):
        Dirichlet(smoothing=0.0).fit(counts)
    with pytest.raises(ValueError, match="has no perplexity"):
        Dirichlet().fit(counts).perplexity(counts)
    with pytest.raises(ValueError, match="has no perplexity"):
        Mixture(2, family="dirichlet", random_state=0).fit(counts).perplexity(counts)


def test_takes_part_in_mixtures_and_classifiers():
    """Where no word is rare the Dirichlet tells groups apart as well as any family."""
    rng = np.random.default_rng(3)
    y = np.arange(200) // 2 % 2
    theta = np.where(y[:, None] == 0, rng.dirichlet([9, 6, 3, 2], 200), rng.dirichlet([2, 3, 6, 9], 200))
    X = np.array([rng.multinomial(60, t) for t in theta])
    labels = Mixture(2, family=Dirichlet(smoothing=0.5), temperatures=(1,), random_state=0).fit(X).labels_
    assert max(np.mean(labels == y), np.mean(labels != y)) > 0.9
    model = BayesClassifier("dirichlet").fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    joint = model.predict_joint_log_proba(X[:5])
    for k in (0, 1):
        own = Dirichlet().fit(X[::2][y[::2] == k])
        np.testing.assert_allclose(joint[:, k] - np.log(0.5), own.log_prob(X[:5]), rtol=1e-9)
    explained = model.explain(X[:1])[0]
    assert explained.total == pytest.approx(np.ptp(joint[0]))


@pytest.mark.corpus
def test_smoothing_drowns_the_rare_words(data_dir):
    """[Madsen2005] section 4: the model is not useful for classification, whatever the smoothing."""
    corpus = datasets.load("classic400")
    X, y = corpus.counts, corpus.labels
    rows = np.random.default_rng(0).permutation(len(y))
    learned, held = rows[:200], rows[200:]
    accuracy = {
        family: BayesClassifier(family).fit(X[learned], y[learned]).score(X[held], y[held])
        for family in ("dirichlet", "dcm")
    }
    assert accuracy["dirichlet"] < 0.7
    assert accuracy["dcm"] > 0.95
