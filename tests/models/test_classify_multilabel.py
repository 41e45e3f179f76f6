"""Several labels a document."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from bursty.families import DCM, EDCM, Multinomial
from bursty.models.classify import BayesClassifier


@pytest.mark.parametrize("family", ["multinomial", "dcm", "edcm"])
def test_one_against_all_but_one_by_hand(multi, family):
    X, Y = multi
    estimator = {"multinomial": Multinomial, "dcm": DCM, "edcm": EDCM}[family]
    plain = BayesClassifier(family, smoothing=0.01).fit(X, Y)
    complement = BayesClassifier(family, smoothing=0.01, complement=True).fit(X, Y)
    everything = estimator(smoothing=0.01).fit(X).log_prob(X)
    for k in range(3):
        with_k, without = (estimator(smoothing=0.01).fit(X[Y[:, k] == v]).log_prob(X) for v in (1, 0))
        np.testing.assert_allclose(plain.scores(X)[:, k], with_k - without, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(complement.scores(X)[:, k], everything - without, rtol=1e-7, atol=1e-8)
    log_odds = plain.predict_joint_log_proba(X)
    np.testing.assert_allclose(log_odds, plain.scores(X))
    np.testing.assert_allclose(plain.predict_proba(X), 1 / (1 + np.exp(-log_odds)), rtol=1e-12)
    np.testing.assert_array_equal(plain.predict(X), (plain.predict_proba(X) > 0.5).astype(int))
    strict = [0.5, 0.9, 0.99]
    np.testing.assert_array_equal(plain.predict(X, threshold=strict), (plain.predict_proba(X) > strict).astype(int))
    with pytest.raises(ValueError, match="threshold must be a probability"):
        plain.predict(X, threshold=[0.5, 2.0, 0.1])


def test_forms_of_several_labels_agree(multi):
    X, Y = multi
    names = np.array(["a", "b", "c"])
    model = BayesClassifier(smoothing=0.01).fit(X, Y)
    expected = model.predict_proba(X)
    sets = [set(names[row > 0]) for row in Y]
    for y in (sp.csr_array(Y), sp.csr_matrix(Y), Y.astype(bool), pd.DataFrame(Y), sets, [sorted(s) for s in sets]):
        other = BayesClassifier(smoothing=0.01).fit(X, y)
        np.testing.assert_allclose(other.predict_proba(X), expected, rtol=1e-12)
    assert other.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(X).shape == Y.shape


def test_several_labels_calibrated_and_in_batches(multi):
    from bursty.metrics import break_even

    X, Y = multi
    model = BayesClassifier(complement=True, smoothing=0.1, calibrate="temperature")
    whole = clone(model).fit(X, Y)
    batches = clone(model)
    for rows in np.array_split(np.arange(len(Y)), 3):
        batches.partial_fit(X[rows], Y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(batches.predict_proba(X), whole.predict_proba(X), rtol=1e-6)
    assert 0.8 < break_even(Y, BayesClassifier().fit(X, Y).predict_proba(X)) <= 1.0
    assert np.mean(BayesClassifier().fit(X, Y).predict(X) == Y) > 0.8


def test_a_table_has_a_column_per_class_in_the_first_batch_too(multi):
    X, Y = multi
    options = {"smoothing": 0.01, "calibrate": None}
    named = BayesClassifier(**options).partial_fit(X[:50], Y[:50], classes=[0, 1, 2])
    for table in (Y, sp.csr_array(Y), pd.DataFrame(Y)):
        rows = table.iloc if isinstance(table, pd.DataFrame) else table
        model = BayesClassifier(**options).partial_fit(X[:50], rows[:50])
        assert model.classes_.tolist() == [0, 1, 2]
        assert np.array_equal(model.predict_proba(X), named.predict_proba(X))
        assert model.partial_fit(X[50:], rows[50:]).predict(X).shape == Y.shape
