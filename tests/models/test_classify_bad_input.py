"""What a classifier says to bad input, and what it does with documents and words it cannot use."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.models.classify import BayesClassifier
from simulated import classes


def fit(X=((1, 0), (0, 1)), y=("a", "b"), **parameters):
    return BayesClassifier(**parameters).fit(np.asarray(X), y if y is None else list(y))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": ["a", "a"]}, r"y has one class only \('a'\)"),
        ({"y": ["a", "b", "a"]}, r"y has 3 labels for 2 documents"),
        ({"y": [1.0, np.nan]}, r"1 of 2 documents has no label"),
        ({"y": [None, "a"]}, r"1 of 2 documents has no label"),
        ({"y": [0.5, 1.7]}, r"Unknown label type"),
        ({"y": [["a", 1], ["b"]]}, r"."),
        ({"y": None}, r"requires y to be passed"),
        ({"X": [[1, -1], [0, 1]]}, r"Negative values.*row 0, column 1 holds -1"),
        ({"X": [[1, np.nan], [0, 1]]}, r"contains NaN: row 0, column 1"),
        ({"X": [[1, 0.5], [0, 1]]}, r"row 0, column 1 holds 0.5, which is not an integer"),
        ({"X": [[0, 0], [0, 0]]}, r"every document is empty"),
        ({"family": "poisson"}, r"family must be one of .*'dcm'.* or a family estimator"),
        ({"transform": "sqrt"}, r'transform must be None, "log" or "tfidf"'),
        ({"transform": "log"}, r'gives fractions.*use family="multinomial"'),
        ({"normalize_weights": True}, r'use family="multinomial"'),
        ({"smoothing": -1}, r"smoothing must be a non-negative number"),
        ({"smoothing": "none"}, r"smoothing must be a non-negative number"),
        (
            {"family": "multinomial", "normalize_weights": True, "smoothing": "shrink"},
            r"does not go with normalize_weights",
        ),
        ({"calibrate": "platt"}, r'calibrate must be "auto", "temperature" or None'),
        ({"class_prior": "flat"}, r"class_prior must be"),
        ({"class_prior": [0.5, 0.0]}, r"class_prior must be"),
        ({"class_prior": [0.2, 0.3, 0.5]}, r"class_prior has 3 values for 2 classes"),
        ({"engine": "spark"}, r"engine must be"),
        ({"n_jobs": 0}, r"n_jobs must be"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(**arguments)


def test_bad_tables_of_labels(multi):
    X, Y = multi
    with pytest.raises(ValueError, match="by 0 and 1, but holds"):
        BayesClassifier().fit(X, Y * 2)
    with pytest.raises(ValueError, match="y has 4 rows for 120 documents"):
        BayesClassifier().fit(X, Y[:4])


def test_bad_sample_weight(classed):
    X, y = classed
    for weights, message in (
        (np.ones(3), "3 values for 90"),
        (-np.ones(90), "non-negative"),
        ((y == 0) * 1.0, "one class"),
    ):
        with pytest.raises(ValueError, match=message):
            BayesClassifier().fit(X, y, sample_weight=weights)
    with pytest.raises(TypeError, match="weight"):
        BayesClassifier().fit(X, y, weight=np.ones(90))


def test_columns_at_predict_must_be_those_of_fit(classed):
    X, y = classed
    with pytest.raises(ValueError, match="X has 24 features, but BayesClassifier is expecting 25"):
        BayesClassifier(smoothing=0.01).fit(X, y).predict(X[:, :24])


def test_partial_fit_misuse(classed):
    X, y = classed
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        BayesClassifier().partial_fit(X, y)
    model = BayesClassifier(smoothing=0.01).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="weights depend on all documents"):
        BayesClassifier("multinomial", transform="tfidf").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="same kind"):
        model.partial_fit(X, np.eye(3, dtype=int)[y])


def test_class_of_one_document():
    X, y = classes(per_class=10)
    X, y = np.vstack([X, [[0] * 24 + [5]]]), np.append(y, 9)
    for smoothing in (0.01, "auto", None):
        model = BayesClassifier(smoothing=smoothing).fit(X, y)
        assert np.all(np.isfinite(model.predict_proba(X)))


def test_words_unseen_in_fitting_are_ignored_and_counted(classed):
    X, y = classed
    wide = sp.csr_array(sp.hstack([X, sp.csr_array((X.shape[0], 2), dtype=np.int32)]))
    model = BayesClassifier(smoothing=0.01).fit(wide, y)
    test = wide.toarray()[:4]
    expected = model.predict_proba(test)
    test[0, -2:] = [3, 4]
    np.testing.assert_array_equal(model.predict_proba(test), expected)
    np.testing.assert_array_equal(model.count_unseen(test), [7, 0, 0, 0])
    assert model.explain(test)[0].unseen == 7


def test_without_smoothing_an_impossible_document_gets_the_prior():
    model = fit([[2, 0, 1], [0, 2, 1]], smoothing=0.0, class_prior=[0.7, 0.3])
    with pytest.warns(UserWarning, match=r"1 document cannot come from any class.*smoothing"):
        proba = model.predict_proba([[1, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(proba, [[0.7, 0.3], [1.0, 0.0]])


def test_empty_documents_are_counted_in_fitting(classed):
    X, y = classed
    with pytest.warns(UserWarning, match="1 document has no words"):
        BayesClassifier(smoothing=0.01).fit(sp.vstack([X, sp.csr_array((1, 25))]), np.append(y, 0))


def test_input_is_left_alone(classed):
    X, y = classed
    before = X.copy()
    for parameters in ({}, {"family": "multinomial", "transform": "tfidf"}):
        BayesClassifier(**parameters).fit(X, y).predict(X)
    assert (before != X).nnz == 0
