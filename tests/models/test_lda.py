from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from bursty.kernels import threads
from bursty.metrics import topics as measures
from bursty.models.lda import LDA
from samplers import oracles_topics as oracles

N_WORDS = 40
LEARN = [False, "symmetric", True]


def phi():
    table = np.full((N_WORDS, 3), 0.002)
    for k in range(3):
        table[12 * k : 12 * k + 12, k] = 1.0
    return table / table.sum(axis=0)


def make(n_documents, seed=0, alpha=(0.3, 0.6, 0.2)):
    rng = np.random.default_rng(seed)
    return oracles.make_lda(rng.integers(40, 100, size=n_documents), np.array(alpha), phi(), rng)


@pytest.fixture(scope="module")
def corpus():
    return make(150)


@pytest.fixture(scope="module")
def fitted(corpus):
    return LDA(3, random_state=0).fit(corpus)


@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learn", LEARN)
def test_passes_scikit_learns_checks(learn):
    check_estimator(LDA(2, learn_hyperparameters=learn, n_iter=4, random_state=0), on_skip=None)


@pytest.mark.parametrize("learn", LEARN)
def test_recovers_the_topics(corpus, learn):
    model = LDA(3, learn_hyperparameters=learn, random_state=1).fit(corpus)
    # 50 / K is far too even for three topics that documents hardly mix.
    assert measures.match_topics(phi().T, model)[1].min() > (0.7 if learn is False else 0.95)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    assert model.beta_.shape == (3, N_WORDS)
    assert model.converged_


def test_recovers_alpha():
    many = LDA(3, learn_hyperparameters=True, random_state=0).fit(make(800))
    order, _ = measures.match_topics(phi().T, many)
    np.testing.assert_allclose(many.alpha_[order], [0.3, 0.6, 0.2], rtol=0.2)
    even = LDA(3, random_state=0).fit(make(800, alpha=(0.4, 0.4, 0.4)))
    np.testing.assert_allclose(even.alpha_, 0.4, rtol=0.1)


def test_heuristic_values():
    model = LDA(4, learn_hyperparameters=False, n_iter=2, tol=0, burn_in=1, random_state=0)
    model.set_params(n_iter=20).fit(make(20))
    np.testing.assert_array_equal(model.alpha_, 12.5)
    np.testing.assert_array_equal(model.beta_, 0.01)


@pytest.mark.parametrize("learn", LEARN)
def test_same_bits_for_any_number_of_threads(corpus, learn, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    options = {"learn_hyperparameters": learn, "random_state": 3, "n_iter": 20, "tol": 0, "burn_in": 2, "n_sweeps": 1}
    fits = [LDA(3, n_jobs=n, **options).fit(corpus) for n in (1, 2, 5)]
    for other in fits[1:]:
        assert fits[0].components_.tobytes() == other.components_.tobytes()
        assert fits[0].doc_topic_.tobytes() == other.doc_topic_.tobytes()
        assert fits[0].transform(corpus).tobytes() == other.transform(corpus).tobytes()
        assert fits[0].score_samples(corpus[:20]).tobytes() == other.score_samples(corpus[:20]).tobytes()


def test_new_documents(fitted):
    rng = np.random.default_rng(7)
    mixtures = rng.dirichlet([0.5, 0.5, 0.5], size=100)
    counts = np.array([rng.multinomial(200, phi() @ row) for row in mixtures])
    order, _ = measures.match_topics(phi().T, fitted)
    assert np.abs(fitted.transform(counts)[:, order] - mixtures).mean() < 0.05
    assert fitted.perplexity(counts) < 25


def test_sample(fitted):
    documents, mixtures = fitted.sample([50, 0, 7], random_state=0)
    np.testing.assert_array_equal(np.asarray(documents.sum(axis=1)).ravel(), [50, 0, 7])
    np.testing.assert_array_equal(mixtures.sum(axis=1), [50, 0, 7])


def test_empirical_likelihood_with_topics_of_the_prior(fitted, corpus):
    new = corpus[:20]
    learned = fitted.empirical_likelihood(new, n_pseudo=200, random_state=0)
    prior = fitted.empirical_likelihood(new, n_pseudo=200, random_state=0, topics="prior")
    assert learned.mean() > prior.mean() + 10
    with pytest.raises(ValueError, match="topics must be"):
        fitted.empirical_likelihood(new, topics="others")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learn_hyperparameters": "some"}, "learn_hyperparameters must be"),
        ({"learn_hyperparameters": 2}, "learn_hyperparameters must be"),
        ({"alpha": -1.0}, "alpha must be finite and above 0"),
        ({"beta": np.ones(7)}, r"beta must be a number or have shape \(40,\)"),
        ({"n_components": 41}, "40 words cannot make 41 topics"),
        ({"n_components": 70_000}, "at most 65536 topics"),
    ],
)
def test_bad_parameters(corpus, options, message):
    with pytest.raises(ValueError, match=message):
        LDA(**{"n_components": 3, **options}).fit(corpus)
