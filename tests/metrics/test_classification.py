"""Break-even: against a walk over all thresholds, against precision at N without ties, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bursty.metrics import break_even
from metrics import oracles_metrics as oracle


@st.composite
def tables(draw, levels=4):
    """Truth and scores; few levels, so that ties are the rule."""
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 4)))
    truth = draw(arrays.arrays(np.int8, shape, elements=st.integers(0, 1)))
    score = st.integers(0, levels).map(float) | st.just(-np.inf)
    return truth, draw(arrays.arrays(np.float64, shape, elements=score))


@given(tables())
def test_equals_a_walk_over_all_thresholds(table):
    truth, scores = table
    expected = [oracle.break_even_of_class(t, s) for t, s in zip(truth.T.tolist(), scores.T.tolist(), strict=True)]
    values = break_even(truth, scores, average=None)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    sizes = truth.sum(axis=0)
    if sizes.any():
        known = sizes > 0
        assert break_even(truth, scores, average="macro") == pytest.approx(np.mean(values[known]))
        micro = np.sum(sizes[known] * values[known]) / sizes.sum()
        assert break_even(truth, scores, average="micro") == pytest.approx(micro)
        assert 0 <= micro <= 1 + 1e-12


@given(tables())
def test_order_scale_and_storage_do_not_matter(table):
    truth, scores = table
    values = break_even(truth, scores, average=None)
    turned = np.random.default_rng(0).permutation(len(truth))
    np.testing.assert_array_equal(break_even(truth[turned], scores[turned], average=None), values)
    np.testing.assert_array_equal(break_even(truth, 2 * scores - 7, average=None), values)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        np.testing.assert_array_equal(break_even(form(truth), scores, average=None), values)
    np.testing.assert_array_equal(break_even(truth.astype(bool), scores, average=None), values)


def test_without_ties_it_is_precision_at_the_size_of_the_class():
    rng = np.random.default_rng(0)
    truth, scores = rng.random((300, 20)) < 0.1, rng.standard_normal((300, 20))
    best = np.argsort(-scores, axis=0)
    expected = [np.mean(truth[best[: truth[:, k].sum(), k], k]) for k in range(20)]
    np.testing.assert_allclose(break_even(truth, scores, average=None), expected)


def test_perfect_and_hopeless():
    truth = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    assert break_even(truth, truth) == 1.0
    assert break_even(truth, -truth) == 0.0


def test_one_class_may_be_one_dimensional():
    assert break_even([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]) == 0.5
    np.testing.assert_array_equal(break_even([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], average=None), [0.5])


def test_ties_take_the_nearest_threshold():
    # One true document in a tie of two for the first place: calling none and calling both are equally near.
    assert break_even([1, 0, 0], [5, 5, 1]) == (0 + (0.5 + 1.0) / 2) / 2
    # Two true among a tie of three: calling three is nearer than calling none.
    assert break_even([1, 1, 0, 0], [5, 5, 5, 1]) == pytest.approx((2 / 3 + 1) / 2)
    # All the same score, one of four true: calling none is nearer than calling all.
    assert break_even([1, 0, 0, 0], [5, 5, 5, 5]) == 0.0


def test_micro_weights_by_documents_of_the_class():
    truth = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    scores = np.array([[9.0, 5.0], [8.0, 4.0], [7.0, 3.0], [1.0, 2.0]])
    assert break_even(truth, scores, average="micro") == 3 / 4
    assert break_even(truth, scores, average="macro") == 1 / 2


def test_a_class_without_documents_is_left_out():
    truth = np.array([[1, 0], [0, 0]])
    scores = np.array([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_array_equal(break_even(truth, scores, average=None), [1.0, np.nan])
    assert break_even(truth, scores, average="micro") == 1.0
    assert break_even(truth, scores, average="macro") == 1.0


def test_stored_zeros_and_duplicates_in_a_sparse_table():
    zero = sp.csr_array((np.array([1, 0, 1]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert break_even(zero, [[2, 1], [1, 2]]) == 1.0
    twice = sp.coo_array((np.array([1, 1]), (np.array([0, 0]), np.array([0, 0]))), shape=(2, 2))
    with pytest.raises(ValueError, match="0 and 1 only"):
        break_even(twice, [[2, 1], [1, 2]])


@pytest.mark.parametrize(
    ("truth", "scores", "message"),
    [
        ([[1, 0]], [[1.0, 2.0], [1.0, 2.0]], "y_true has shape .1, 2. and scores have shape .2, 2."),
        ([2, 0, 1], np.zeros((3, 3)), "label_binarize"),
        ([[1, 2]], [[1.0, 2.0]], "0 and 1 only, but holds .*2"),
        ([["1", "0"]], [[1.0, 2.0]], "0 and 1 only, but holds .*'1'"),
        ([[1, 0], [0, 1]], [[1.0, 2.0], [np.nan, 1.0]], "scores hold NaN in row 1"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "nothing to rank"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros((2, 2)), np.zeros((2, 2)), "no document in any class"),
    ],
)
def test_errors(truth, scores, message):
    with pytest.raises(ValueError, match=message):
        break_even(truth, scores)


def test_unknown_average():
    with pytest.raises(ValueError, match="average must be"):
        break_even([[1]], [[1.0]], average="weighted")
