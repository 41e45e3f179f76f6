"""Mutual information: against loops over the definitions, against scikit-learn, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer

from bursty.metrics import match_clusters, mutual_information, normalized_mutual_information
from metrics import oracles_metrics as oracle

METHODS = ("geometric", "arithmetic", "min", "max")


@st.composite
def two_labellings(draw):
    n = draw(st.integers(1, 40))
    label = st.integers(-1, draw(st.integers(0, 6)))
    return [draw(st.lists(label, min_size=n, max_size=n)) for _ in range(2)]


@given(two_labellings())
def test_equals_the_definition_and_scikit_learn(pair):
    a, b = pair
    value = mutual_information(a, b)
    assert value == pytest.approx(oracle.mutual_information(a, b), abs=1e-12)
    assert value == pytest.approx(peer.mutual_info_score(a, b), abs=1e-12)
    for method in METHODS:
        expected = peer.normalized_mutual_info_score(a, b, average_method=method)
        assert normalized_mutual_information(a, b, method=method) == pytest.approx(expected, abs=1e-12)


@given(two_labellings())
def test_laws(pair):
    a, b = pair
    value, normalized = mutual_information(a, b), normalized_mutual_information(a, b)
    assert 0 <= value <= min(oracle.entropy(a), oracle.entropy(b)) + 1e-12
    assert 0 <= normalized <= 1
    assert mutual_information(b, a) == pytest.approx(value, abs=1e-12)
    assert normalized_mutual_information(b, a) == pytest.approx(normalized, abs=1e-12)
    renamed = [f"cluster {-label}" for label in a]
    assert mutual_information(renamed, b) == pytest.approx(value, abs=1e-12)
    assert normalized_mutual_information(a, renamed) == pytest.approx(1.0)
    together = np.random.default_rng(0).permutation(len(a))
    assert mutual_information(np.array(a)[together], np.array(b)[together]) == pytest.approx(value, abs=1e-12)


@given(two_labellings())
def test_the_default_is_eq_18_of_yu(pair):
    a, b = pair
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert normalized_mutual_information(a, b) == pytest.approx(oracle.yu2010_eq18(a, b), abs=1e-12)


def test_confusion_matrix_of_elkan_2006():
    """Table 2a: the EDCM clustering of classic400 with the best likelihood (mean over runs: 0.772)."""
    table = np.array([[91, 1, 8], [1, 0, 99], [0, 194, 6]])
    classes, clusters = (np.repeat(codes.ravel(), table.ravel()) for codes in np.indices(table.shape))
    value = mutual_information(classes, clusters)
    assert value == pytest.approx(oracle.mutual_information(classes.tolist(), clusters.tolist()))
    assert value == pytest.approx(0.8805, abs=5e-5)


def test_many_documents_and_clusters_stay_sparse():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 50_000, 100_000), rng.integers(0, 50_000, 100_000)
    assert mutual_information(a, b) == pytest.approx(peer.mutual_info_score(a, b), rel=1e-10)


def test_one_label():
    assert mutual_information([0, 0, 0], [0, 1, 2]) == 0.0
    assert normalized_mutual_information([0, 0, 0], [0, 1, 2]) == 0.0
    assert normalized_mutual_information([0, 0, 0], ["x", "x", "x"]) == 1.0
    assert normalized_mutual_information([3], [7]) == 1.0
    assert mutual_information([3], [7]) == 0.0


@pytest.mark.parametrize("measure", [mutual_information, normalized_mutual_information])
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0, 1], [0, 1, 1], "labels_true has 2 labels and labels_pred has 3"),
        ([], [], "labels_true is empty"),
        ([[0, 1]], [0, 1], "labels_true must have one dimension"),
        ([0, 1], 3, "labels_pred must have one dimension"),
        ([0.0, np.nan], [0, 1], "labels_true holds NaN for document 1"),
        ([0, 1], np.array([0, "a"], dtype=object), "labels_pred mixes labels"),
    ],
)
def test_errors(measure, a, b, message):
    with pytest.raises(ValueError, match=message):
        measure(a, b)


def test_unknown_method():
    with pytest.raises(ValueError, match="method must be one of 'geometric', 'arithmetic'"):
        normalized_mutual_information([0], [0], method="median")


def test_match_clusters():
    true = np.array(["x", "x", "x", "y", "y", "z"])
    pred = np.array([2, 2, 0, 0, 0, 5])
    assert match_clusters(true, pred) == {2: "x", 0: "y", 5: "z"}
    # More clusters than labels: the largest agreement wins, the rest stand for nothing.
    assert match_clusters([0, 0, 0, 0], [1, 1, 1, 2]) == {1: 0}


@given(st.integers(0, 1000))
def test_match_clusters_undoes_a_relabelling(seed):
    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(4), rng.integers(0, 4, 30)])
    names = rng.permutation(4)
    matched = match_clusters(true, names[true])
    assert all(matched[names[label]] == label for label in range(4))
