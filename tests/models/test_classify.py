"""Bayes' rule: against brute force, against scikit-learn where both have the method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import oracles
from bursty.families import DCM, EDCM, Multinomial
from bursty.models.classify import BayesClassifier
from bursty.models.classify.presets import NAMES
from bursty.models.classify.smoothing import Constant, Shrinkage
from simulated import classes
from weights import NOT_FOR_COUNTS

FAMILY_NAMES = ["multinomial", "dcm", "edcm"]


# scikit-learn --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")  # the checks' data has empty documents
@pytest.mark.parametrize(
    "parameters",
    [{}, {"family": "edcm", "smoothing": 0.01}, {"family": "multinomial", "smoothing": 1.0}, {"complement": True}],
)
def test_passes_scikit_learns_checks(parameters):
    check_estimator(BayesClassifier(**parameters), on_skip=None, expected_failed_checks=NOT_FOR_COUNTS)


@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("prior", ["uniform", "empirical"])
def test_multinomial_equals_scikit_learn(classed, alpha, prior):
    X, y = classed
    theirs = MultinomialNB(alpha=alpha, fit_prior=prior == "empirical").fit(X[:70], y[:70])
    ours = BayesClassifier("multinomial", smoothing=alpha, class_prior=prior).fit(X[:70], y[:70])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.class_count_, theirs.class_count_)


@pytest.mark.parametrize("norm", [False, True])
def test_complement_multinomial_equals_scikit_learn(classed, norm):
    X, y = classed
    theirs = ComplementNB(alpha=0.5, norm=norm).fit(X, y)
    ours = BayesClassifier("multinomial", complement=True, normalize_weights=norm, smoothing=0.5).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_given_prior(classed):
    X, y = classed
    prior = [0.5, 0.3, 0.2]
    theirs = MultinomialNB(class_prior=prior).fit(X, y)
    ours = BayesClassifier("multinomial", smoothing=1.0, class_prior=prior).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_sample_weight_equals_scikit_learn_and_repetition(classed):
    X, y = classed
    weights = np.random.default_rng(1).integers(0, 4, size=len(y))
    theirs = MultinomialNB().fit(X, y, sample_weight=weights)
    ours = BayesClassifier("multinomial", smoothing=1.0, class_prior="empirical").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    rows = np.repeat(np.arange(len(y)), weights)
    for family in ("dcm", "edcm"):
        weighted = BayesClassifier(family, smoothing=0.01).fit(X, y, sample_weight=weights)
        repeated = BayesClassifier(family, smoothing=0.01).fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-7)


def test_in_pipelines_and_searches():
    texts = ["cat cat purr", "cat meow", "purr meow meow", "dog bark", "dog dog bark bone", "bone dog", "cat", "dog"]
    y = ["cats"] * 3 + ["dogs"] * 3 + ["cats", "dogs"]
    pipeline = make_pipeline(CountVectorizer(), BayesClassifier(smoothing=0.1))
    assert pipeline.fit(texts, y).predict(["meow", "bark bone"]).tolist() == ["cats", "dogs"]
    assert not hasattr(pipeline, "transform")
    search = GridSearchCV(pipeline, {"bayesclassifier__family": FAMILY_NAMES}, cv=2).fit(texts, y)
    assert search.best_score_ > 0.5
    assert cross_val_predict(pipeline, texts, y, cv=2, method="predict_proba").shape == (8, 2)


def test_parameters_clone_and_print():
    model = BayesClassifier(family=DCM(smoothing=0.5), complement=True)
    copy = clone(model)
    assert copy.get_params()["family__smoothing"] == 0.5
    assert copy.get_params()["transform"] is None
    assert "complement=True" in repr(copy)
    with pytest.raises(AttributeError, match="parameter"):
        _ = copy.transform
    assert copy.set_params(transform="log").get_params()["transform"] == "log"


# Against brute force -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "estimator"), [("dcm", DCM), ("edcm", EDCM)])
@pytest.mark.parametrize("complement", [False, True])
def test_bayes_rule_by_hand(classed, family, estimator, complement):
    X, y = classed
    log_prob = {"dcm": oracles.dcm_log_prob, "edcm": oracles.edcm_log_prob}[family]
    model = BayesClassifier(family, complement=complement, smoothing=0.01, class_prior="empirical").fit(X, y)
    columns = []
    for k in range(3):
        chosen = y != k if complement else y == k
        one = estimator(smoothing=0.01).fit(X[chosen])
        weights = one.alpha_ if family == "dcm" else one.beta_
        columns.append((-1 if complement else 1) * log_prob(X.toarray(), weights) + np.log(np.mean(y == k)))
    joint = np.array(columns).T
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), oracles.soft_max(joint), rtol=1e-6, atol=1e-12)


def test_tfidf_by_hand(classed):
    X, y = classed
    dense = X.toarray()
    model = BayesClassifier.from_name("TW-L-M").fit(X, y)
    idf = np.log(len(y) / (dense > 0).sum(axis=0))
    values = np.log1p(dense) * idf
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    theta = np.array([values[y == k].sum(axis=0) + 0.01 for k in range(3)])
    theta /= theta.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.scores(X), values @ np.log(theta).T, rtol=1e-10)


def test_log_transform_is_the_multinomial_of_logs(classed):
    X, y = classed
    logs = X.astype(float)
    logs.data = np.log1p(logs.data)
    left = BayesClassifier.from_name("L-M").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(left, BayesClassifier.from_name("M").fit(logs, y).predict_proba(logs), rtol=1e-10)


@pytest.mark.parametrize("prior", ["auto", None])
def test_shrinkage_by_hand(classed, prior):
    """The default's parameters are the mixture its docstring says, and posteriors are tempered Bayes."""
    X, y = classed
    weights = np.where(y == 0, 2.0, 1.0)
    model = BayesClassifier(prior=prior).fit(X, y, sample_weight=weights)
    chosen = model.smoothing_
    assert isinstance(chosen, Shrinkage)
    lengths = np.maximum(X.sum(axis=1), 1.0) ** -chosen.power * weights
    parts = [DCM().fit(X[y == k], sample_weight=lengths[y == k]).alpha_ for k in range(3)]
    corpus = DCM().fit(X, sample_weight=lengths).alpha_
    sizes = np.array([lengths[y == k].sum() for k in range(3)])
    tau = chosen.tau * np.sqrt(np.exp(np.log(sizes).mean()) / sizes)
    totals = [p.sum() for p in parts]
    if prior == "auto":
        totals = [DCM(prior="auto").fit(X[y == k], sample_weight=weights[y == k]).s_ for k in range(3)]
    s = chosen.burst * np.exp(np.mean(np.log(totals)))
    expected = [s * (p / p.sum() + t * corpus / corpus.sum()) / (1 + t) for p, t in zip(parts, tau, strict=True)]
    np.testing.assert_allclose(model.parameters_.alpha, np.array(expected).T, rtol=1e-3 if prior else 1e-6)
    np.testing.assert_allclose(model.class_count_, [60, 30, 30])


def test_learned_prior_is_a_power_of_the_shares():
    X, y = classes()
    rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:12], np.flatnonzero(y == 2)[:6]])
    model = BayesClassifier().fit(X[rows], y[rows])
    differences = np.diff(model.class_log_prior_) / np.diff(np.log(model.class_count_))
    np.testing.assert_allclose(differences[0], differences[1], rtol=1e-9)
    assert np.exp(model.class_log_prior_).sum() == pytest.approx(1.0)
    named = BayesClassifier(class_prior="auto", calibrate="temperature").fit(X[rows], y[rows])
    np.testing.assert_array_equal(named.class_log_prior_, model.class_log_prior_)
    for untouched in (BayesClassifier(calibrate="temperature"), BayesClassifier(smoothing=0.01)):
        np.testing.assert_allclose(untouched.fit(X[rows], y[rows]).class_log_prior_, np.log([1 / 3] * 3))
    given_ = BayesClassifier(class_prior="empirical").fit(X[rows], y[rows])
    np.testing.assert_allclose(np.exp(given_.class_log_prior_), np.array([30, 12, 6]) / 48)


@pytest.mark.parametrize("multilabel", [False, True])
def test_temperature_slopes_and_minimum(multilabel):
    """Slopes against finite differences, the minimum against a general optimiser."""
    from scipy.optimize import approx_fprime, minimize

    from bursty.models.classify.calibration import _Problem, fit_temperature

    rng = np.random.default_rng(0)
    n_documents, n_classes = 80, 4
    truth = np.eye(n_classes)[rng.integers(0, n_classes, n_documents)]
    scores = 20 * truth + rng.normal(scale=30.0, size=truth.shape)
    features = np.column_stack([np.ones(n_documents), rng.normal(size=(n_documents, 2))])
    offset, weights = np.log([0.4, 0.3, 0.2, 0.1]), rng.random(n_documents) + 0.5
    direction = np.ones(n_classes) if multilabel else offset
    centred = scores if multilabel else scores - scores.mean(axis=1, keepdims=True)
    problem = _Problem(centred, truth, features, offset, direction, weights, multilabel)
    x = np.array([3.0, 0.2, -0.1, 0.3])
    np.testing.assert_allclose(problem(x)[1], approx_fprime(x, lambda z: problem(z)[0]), rtol=1e-4, atol=1e-6)
    found = fit_temperature(scores, truth, features, offset, direction, weights, multilabel=multilabel)
    best = minimize(lambda z: problem(z)[0], x, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-6})
    np.testing.assert_allclose(found.loss, best.fun, rtol=1e-6)
    np.testing.assert_allclose([*found.temperature.coefficients, found.tilt], best.x, atol=1e-2)


# Properties ----------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(FAMILY_NAMES), st.booleans(), st.sampled_from([0.01, "auto", None]))
def test_probabilities_are_probabilities(seed, family, complement, smoothing):
    """Whatever the documents, every row sums to one and agrees with predict; an empty document gets the prior."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.3, 2.0, size=(14, 6)))
    X[:, 0] += 1
    y = np.arange(14) % 3
    model = BayesClassifier(family, complement=complement, smoothing=smoothing).fit(X, y)
    test = np.vstack([rng.poisson(1.0, size=(5, 6)), np.zeros((1, 6), dtype=int)])
    proba = model.predict_proba(test)
    assert np.all(np.isfinite(proba))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(test))
    np.testing.assert_allclose(proba[-1], np.exp(model.class_log_prior_), rtol=1e-9)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_bits_for_any_number_of_threads(classed, n_jobs):
    X, y = classed
    reference = BayesClassifier().fit(X, y).predict_proba(X)
    assert BayesClassifier(n_jobs=n_jobs).fit(X, y).predict_proba(X).tobytes() == reference.tobytes()


# Presets, labels, formats --------------------------------------------------------------------------------------


def test_every_preset(classed):
    X, y = classed
    assert {"M", "L-M", "TW-L-M", "DCM", "EDCM", "C-M", "C-L-M", "C-TW-L-M", "C-DCM", "C-EDCM"} == set(NAMES)
    for name in NAMES:
        model = BayesClassifier.from_name(name, smoothing=0.1)
        assert model.fit(X, y).score(X, y) > 0.8
        assert model.smoothing_ == Constant(0.1)
        assert model.temperature_ is None
    assert BayesClassifier.from_name("C-TW-L-M", n_jobs=1).get_params()["normalize_weights"]
    with pytest.raises(ValueError, match=r"no method is called 'TWC-NB'; there are M, L-M"):
        BayesClassifier.from_name("TWC-NB")


def test_families_as_estimators(classed):
    X, y = classed
    by_name = BayesClassifier("edcm", smoothing=0.2).fit(X, y)
    for family in (EDCM(smoothing=0.2), EDCM()):
        given_ = BayesClassifier(family, smoothing=None if family.smoothing else 0.2).fit(X, y)
        np.testing.assert_array_equal(given_.predict_proba(X), by_name.predict_proba(X))
    assert BayesClassifier(Multinomial(smoothing=1.0)).fit(X, y).smoothing_ == Constant(1.0)
    assert BayesClassifier("vonmisesfisher").fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize(
    "names", [["a", "b", "c"], np.array([-1, 5, 7]), [True, False], ["é", "ß", "日本"], pd.Categorical(["x", "y", "z"])]
)
def test_labels_of_any_type(classed, names):
    X, y = classed
    names = np.asarray(names)
    labels = names[y % len(names)]
    model = BayesClassifier(smoothing=0.01).fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == model.classes_.dtype
    assert model.score(X, labels) > 0.6
    as_object = BayesClassifier(smoothing=0.01).fit(X, pd.Series(labels.tolist(), dtype=object))
    np.testing.assert_array_equal(as_object.predict(X), model.predict(X))


def test_frames_and_feature_names(classed):
    X, y = classed
    names = [f"word{i}" for i in range(X.shape[1])]
    expected = BayesClassifier(smoothing=0.01).fit(X, y).predict_proba(X)
    for frame in (pd.DataFrame(X.toarray(), columns=names), pl.DataFrame(X.toarray(), schema=names)):
        model = BayesClassifier(smoothing=0.01).fit(frame, pd.Series(y))
        np.testing.assert_array_equal(model.predict_proba(frame), expected)
        assert list(model.feature_names_in_) == names
    model = BayesClassifier(smoothing=0.01).fit(pd.DataFrame(X.toarray(), columns=names), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X.toarray(), columns=names[::-1]))


# Learning on held-out documents --------------------------------------------------------------------------------


def test_default_learns_and_calibrates():
    X, y = classes(n_classes=4, per_class=60, n_words=60, seed=3, s=3.0)
    train, test = np.arange(120), np.arange(120, 240)
    raw = BayesClassifier(smoothing=0.01).fit(X[train], y[train])
    learned = BayesClassifier().fit(X[train], y[train])

    def log_loss(model):
        return -np.mean(model.predict_log_proba(X[test])[np.arange(len(test)), y[test]])

    assert learned.temperature_ is not None
    assert raw.temperature_ is None
    assert log_loss(learned) < log_loss(raw)
    assert learned.score(X[test], y[test]) >= raw.score(X[test], y[test]) - 0.02


def test_temperature_keeps_the_order_of_classes(classed):
    X, y = classed
    parameters = {"smoothing": 0.01, "class_prior": "uniform"}
    hot = BayesClassifier(calibrate="temperature", **parameters).fit(X, y)
    cold = BayesClassifier(calibrate=None, **parameters).fit(X, y)
    np.testing.assert_array_equal(hot.predict(X), cold.predict(X))
    np.testing.assert_allclose(hot.scores(X), cold.scores(X))
    assert hot.predict_proba(X).max(axis=1).mean() < cold.predict_proba(X).max(axis=1).mean()


def test_auto_smoothing_is_as_good_as_the_best_of_its_grid(classed):
    X, y = classed
    chosen = BayesClassifier("multinomial", smoothing="auto").fit(X, y).smoothing_
    assert isinstance(chosen, Constant)
    assert chosen.epsilon > 0


def test_verbose_says_what_was_learned(classed, capsys):
    BayesClassifier(verbose=1).fit(*classed)
    assert "Shrinkage(tau=" in capsys.readouterr().err
