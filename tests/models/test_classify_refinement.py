"""The linear model beside the urns: against scikit-learn, by finite differences, and at its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

import bursty
from bursty.engines import Chunk
from bursty.models.classify import BayesClassifier, refinement
from bursty.models.classify.logistic import Line, Objective, minimise, side_by_side
from bursty.models.classify.refinement import (
    EXPECTED_POWERS,
    INVERSE_STRENGTH,
    features,
    fit_powers,
    fit_stray_share,
    linear_problem,
    word_weights,
)
from simulated import classes

FORMS = ("words", "documents", "inner products")


@pytest.fixture(scope="module")
def documents():
    X, y = classes(n_words=40, seed=3)
    return sp.csr_array(X), y


@pytest.fixture(scope="module")
def fitted(documents):
    X, y = documents
    return BayesClassifier().fit(X[:60], y[:60])


def problem_in(form, rows, y, weights):
    """The same problem in words, in documents, or in documents with their inner products."""
    problem = Objective(Chunk(rows), y, weights.astype(float), 3, INVERSE_STRENGTH, form != "words")
    return replace(problem, gram=problem.chunk.inner_products()) if form == "inner products" else problem


@pytest.mark.parametrize("form", FORMS)
def test_linear_model_is_scikit_learns(documents, form):
    X, y = documents
    rows, weights = features(X, np.linspace(0.1, 2.0, X.shape[1])), np.arange(len(y)) % 3
    problem = problem_in(form, rows, y, weights)
    found = minimise([problem], problem.zero(), 0.0, 2000)[0]
    solution = problem.solution(found)
    theirs = LogisticRegression(C=INVERSE_STRENGTH, tol=1e-10, max_iter=5000).fit(rows, y, sample_weight=weights)
    logits = rows @ solution[1:] + solution[0]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(proba, theirs.predict_proba(rows), atol=1e-5)
    np.testing.assert_allclose(
        side_by_side([problem.scores(found)])[0], logits, atol=1e-9
    )  # also of those with weight 0


@pytest.mark.parametrize("form", FORMS)
def test_without_some_documents(documents, form):
    """Leaving out some documents is fitting to the others."""
    X, y = documents
    rows, mine = features(X, np.linspace(0.1, 2.0, X.shape[1])), np.arange(len(y)) % 4 == 0
    problem = problem_in(form, rows, y, np.ones(len(y)))
    others = problem.without(mine)
    left = minimise([others], others.zero(), 0.0, 2000)[0]
    if form != "words":
        assert not left[0, 1:][mine].any()
    alone = problem_in(form, rows[~mine], y[~mine], np.ones((~mine).sum()))
    solution = alone.solution(minimise([alone], alone.zero(), 0.0, 2000)[0])
    scores, expected = side_by_side([others.scores(left)])[0][mine], rows[mine] @ solution[1:] + solution[0]
    proba, expected = (np.exp(s) / np.exp(s).sum(axis=1, keepdims=True) for s in (scores, expected))
    np.testing.assert_allclose(proba, expected, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_searches_side_by_side_are_those_one_by_one(documents, form):
    """They may end after different numbers of steps."""
    X, y = documents
    rows = features(X, np.linspace(0.1, 2.0, X.shape[1]))
    problem = problem_in(form, rows, y, np.ones(len(y)))
    parts = [problem.without(np.arange(start, len(y), 3)) for start in range(3)]
    parts.append(problem.without(np.flatnonzero(y == 0)))
    for one, vector in zip(parts, minimise(parts, problem.zero(), 1e-4, 100), strict=True):
        np.testing.assert_allclose(vector, minimise([one], problem.zero(), 1e-4, 100)[0], rtol=1e-6, atol=1e-9)


def test_steps_are_the_same_in_every_form(documents):
    X, y = documents
    rows = features(X, np.linspace(0.1, 2.0, X.shape[1]))
    for n_steps in (1, 2, 5, 12):
        problems = [problem_in(form, rows, y, np.ones(len(y))) for form in FORMS]
        words, *others = (p.solution(minimise([p], p.zero(), 0.0, n_steps)[0]) for p in problems)
        for other in others:
            np.testing.assert_allclose(words, other, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "by_documents", "inner_products"),
    [((30, 40), False, False), ((30, 70), True, True), ((200, 500), True, False)],
)
def test_form_follows_the_sizes(shape, by_documents, inner_products):
    X = sp.csr_array(np.eye(*shape) + (np.arange(shape[1]) % 11 == 0))
    problem = linear_problem(X, np.arange(shape[0]) % 3, np.ones(shape[0]), 3)
    assert problem.by_documents is by_documents
    assert (problem.gram is not None) is inner_products
    if inner_products:
        np.testing.assert_allclose(problem.gram, X.toarray() @ X.toarray().T)


@pytest.mark.parametrize("form", FORMS)
def test_every_step_lowers_the_loss(documents, form):
    X, y = documents
    rows = features(X, np.linspace(0.1, 2.0, X.shape[1]))
    problem = problem_in(form, rows, y, np.ones(len(y)))
    values = []
    for n_steps in range(6):
        solution = problem.solution(minimise([problem], problem.zero(), 0.0, n_steps)[0])
        logits = rows @ solution[1:] + solution[0]
        losses = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(y)), y]
        values.append(losses.mean() + (solution[1:] ** 2).sum() / (2 * INVERSE_STRENGTH * len(y)))
    assert values[0] == pytest.approx(np.log(3))
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("form", FORMS)
def test_gradient_of_the_loss(documents, form):
    X, y = documents
    rows, weights = features(X[:8, :5], np.ones(5)), np.linspace(0.5, 2.0, 8)
    problem = problem_in(form, rows, y[:8], weights)
    shape = problem.zero().shape[1:]
    x = np.random.default_rng(0).normal(size=shape)

    def loss(flat):
        solution = problem.solution(side_by_side([problem.vector(flat.reshape(shape))])[0])
        logits = rows @ solution[1:] + solution[0]
        losses = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(8), y[:8]]
        return weights @ losses / weights.sum() + (solution[1:] ** 2).sum() / (2 * INVERSE_STRENGTH * weights.sum())

    (at,) = side_by_side([problem.vector(x)])
    line = Line(problem, side_by_side([problem.scores(at)])[0])
    (slope,) = side_by_side([problem.slope(at, line.errors)])
    # In documents, the derivative by A is that by B = X'A times X: what inner products are taken with.
    np.testing.assert_allclose(slope[-1].ravel(), approx_fprime(x.ravel(), loss, 1e-7), atol=1e-6)


def test_features_and_word_weights_by_hand():
    table, sizes = np.array([[0.1, 0.4], [0.2, 0.2], [0.0, 0.0]]), np.array([3.0, 1.0])
    # log 0.1 and log 0.4 with weights 3/4 and 1/4: the deviation is sqrt(3)/4 of their distance.
    np.testing.assert_allclose(word_weights(table, sizes), [np.sqrt(3) / 4 * np.log(4.0), 0.0, 0.0], atol=1e-15)
    rows = features(sp.csr_array([[4, 9, 0], [0, 0, 0]]), np.array([2.0, 1.0, 5.0])).toarray()
    np.testing.assert_allclose(rows, [[0.8, 0.6, 0.0], [0.0, 0.0, 0.0]])


def test_powers_follow_the_model_that_is_right():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=3000)
    good = np.eye(3)[codes] + rng.normal(size=(3000, 3))
    noise = rng.normal(size=(3000, 3))
    np.testing.assert_allclose(fit_powers(good, noise, codes, np.ones(3000)), [1.0, 0.0], atol=0.1)
    np.testing.assert_allclose(fit_powers(noise, good, codes, np.ones(3000)), [0.0, 1.0], atol=0.1)
    np.testing.assert_allclose(fit_powers(good, noise, codes, np.full(3000, 1e-9)), EXPECTED_POWERS, atol=1e-6)


def test_no_power_is_bayes_rule(documents, fitted):
    X, y = documents
    plain = BayesClassifier(refine=None).fit(X[:60], y[:60])
    assert plain.refinement_ is None
    limit = BayesClassifier().fit(X[:60], y[:60])
    limit.refinement_ = refinement.Refinement(
        *(getattr(fitted.refinement_, name) for name in ("word_weights", "coefficients", "intercepts")),
        powers=np.array([1.0, 0.0]),
    )
    np.testing.assert_array_equal(limit.predict_joint_log_proba(X), plain.predict_joint_log_proba(X))
    np.testing.assert_array_equal(fitted.scores(X), plain.scores(X))


def test_urns_that_say_nothing_exclude_no_class(fitted):
    linear_alone = replace(fitted.refinement_, powers=np.array([0.0, 1.0]))
    linear = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(linear_alone.combine(np.array([[-np.inf, 0.0, 1.0]]), linear), linear)


def test_probabilities_are_the_product_of_both(documents, fitted):
    X, y = documents
    plain, refined = BayesClassifier(refine=None).fit(X[:60], y[:60]), fitted.refinement_
    u, v = refined.powers
    rows = np.sqrt(X.toarray()) * refined.word_weights
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    linear = rows / np.where(norms > 0, norms, 1.0) @ refined.coefficients + refined.intercepts
    product = np.exp(u * plain.predict_log_proba(X) + v * linear)
    product /= product.sum(axis=1, keepdims=True)
    share = refined.stray_share
    assert 0 < share < 0.1
    np.testing.assert_allclose(fitted.predict_proba(X), (1 - share) * product + share / 3, atol=1e-12)


def test_share_of_strays_is_found():
    rng = np.random.default_rng(0)
    logits = 8.0 * np.eye(3)[rng.integers(0, 3, size=4000)] + rng.normal(size=(4000, 3))
    codes, ones = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1), np.ones(4000)  # drawn from the soft-max
    assert fit_stray_share(logits, codes, ones) < 0.005
    codes = np.where(rng.random(4000) < 0.1, rng.integers(0, 3, size=4000), codes)
    assert fit_stray_share(logits, codes, ones) == pytest.approx(0.1, abs=0.02)
    # A document that counts twice is two documents.
    twice = np.concatenate([logits, logits]), np.concatenate([codes, codes]), np.ones(8000)
    assert fit_stray_share(logits, codes, 2 * ones) == pytest.approx(fit_stray_share(*twice))


def test_an_empty_document_gets_the_prior(documents, fitted):
    X, _ = documents
    nothing = sp.csr_array((1, X.shape[1]), dtype=np.int64)
    np.testing.assert_allclose(fitted.predict_proba(nothing)[0], np.exp(fitted.class_log_prior_), rtol=1e-12)


def test_explanations_add_up(documents, fitted):
    X, _ = documents
    logits = fitted.predict_joint_log_proba(X)
    for row, told in enumerate(fitted.explain(X[60:64], top=3), start=60):
        best, second = np.sort(logits[row])[::-1][:2]
        assert told.total == pytest.approx(best - second)
        assert told.total == pytest.approx(told.first.sum() + told.repeats.sum() + told.other_words + told.rest)
        assert np.all(told.repeats[told.counts == 1] == 0)
        everything = fitted.explain(X[[row]], top=1000)[0]
        u, v = fitted.refinement_.powers
        contrast = [everything.label, everything.against]
        offset = u * fitted.class_log_prior_ + v * fitted.refinement_.intercepts
        assert everything.rest == pytest.approx(offset[contrast[0]] - offset[contrast[1]], abs=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [{"smoothing": 0.1}, {"complement": True}, {"class_prior": "empirical"}, {"calibrate": None}, {"refine": None}],
)
def test_refined_only_where_all_else_is_learned(documents, parameters):
    X, y = documents
    assert BayesClassifier(**parameters).fit(X, y).refinement_ is None


def test_several_labels_and_batches_are_not_refined(documents, fitted):
    X, y = documents
    assert BayesClassifier().fit(X, np.eye(3, dtype=int)[y]).refinement_ is None
    batches = BayesClassifier().partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert batches.refinement_ is None
    plain = BayesClassifier(refine=None).fit(X[:60], y[:60])
    np.testing.assert_array_equal(batches.predict_proba(X), plain.predict_proba(X))


def test_same_bits_for_any_number_of_threads(documents, fitted):
    X, y = documents
    for other in (BayesClassifier(n_jobs=2), BayesClassifier(n_jobs=1)):
        other.fit(X[:60], y[:60])
        np.testing.assert_array_equal(other.refinement_.coefficients, fitted.refinement_.coefficients)
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))


def test_large_collections_are_sampled(documents, monkeypatch):
    X, y = documents
    monkeypatch.setattr(refinement.TrainingDocuments, "most", 50)
    model = BayesClassifier().fit(X, y)
    assert model.refinement_ is not None
    assert model.predict_proba(X).shape == (90, 3)


def test_saved_and_loaded(documents, fitted, tmp_path):
    X, _ = documents
    bursty.save(fitted, tmp_path / "model.bursty")
    loaded = bursty.load(tmp_path / "model.bursty")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_unknown_refinement(documents):
    X, y = documents
    with pytest.raises(ValueError, match='refine must be "auto" or None'):
        BayesClassifier(refine="yes").fit(X, y)
