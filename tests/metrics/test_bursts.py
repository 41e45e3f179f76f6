"""Burstiness and count-probability curves: against loops over all cells, and on a real corpus."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bursty import datasets
from bursty.metrics import burstiness, count_probabilities
from metrics import oracles_metrics as oracle

tables = arrays.arrays(
    np.int64,
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    elements=st.sampled_from([0, 0, 0, 1, 1, 2, 7, 300]),
)


@given(tables)
def test_burstiness_equals_the_definition(counts):
    rows = counts.tolist()
    assert burstiness(counts) == pytest.approx(oracle.burstiness(rows), nan_ok=True)
    expected = [oracle.burstiness([column]) for column in counts.T.tolist()]
    np.testing.assert_allclose(burstiness(counts, axis="word"), expected)
    assert burstiness(sp.csc_array(counts)) == pytest.approx(burstiness(counts), nan_ok=True)


def test_burstiness_of_single_words_is_one():
    assert burstiness(np.eye(5, dtype=int)) == 1.0


def test_burstiness_of_nothing():
    assert np.isnan(burstiness([[0, 0]]))
    np.testing.assert_array_equal(burstiness([[0, 0]], axis="word"), [np.nan, np.nan])


def test_burstiness_does_not_overflow():
    assert burstiness(np.full((4, 1), 2**31 - 1)) == 2**31 - 1


@pytest.mark.corpus
def test_burstiness_of_nips391(data_dir):
    counts = datasets.load("nips391").counts
    assert round(burstiness(counts), 2) == 2.64
    per_word = burstiness(counts, axis="word")
    pairs = np.asarray((counts > 0).sum(axis=0)).ravel()
    assert np.nansum(per_word * pairs) / pairs.sum() == pytest.approx(burstiness(counts))


@given(tables, st.integers(0, 9), st.integers(0, 4), st.integers(0, 4))
def test_curves_equal_the_definition(counts, max_count, n_common, n_average):
    groups = {"common": n_common, "average": n_average, "rare": None}
    curves = count_probabilities(sp.csr_matrix(counts), max_count=max_count, groups=groups)
    ranking = sorted(range(counts.shape[1]), key=lambda w: (-counts[:, w].sum(), w))
    members = {
        "common": ranking[:n_common],
        "average": ranking[n_common : n_common + n_average],
        "rare": ranking[n_common + n_average :],
    }
    np.testing.assert_array_equal(curves.counts, np.arange(max_count + 1))
    assert list(curves.probabilities) == list(groups)
    for name, words in members.items():
        assert curves.n_words[name] == len(words)
        if words:
            expected = [oracle.count_probability(counts.tolist(), words, x) for x in range(max_count + 1)]
            np.testing.assert_allclose(curves.probabilities[name], expected, atol=1e-12)
            assert curves.probabilities[name].sum() <= 1 + 1e-12
        else:
            assert np.isnan(curves.probabilities[name]).all()
        if counts.any():
            assert curves.token_share[name] == pytest.approx(counts[:, words].sum() / counts.sum())


@given(tables)
def test_a_curve_that_reaches_the_largest_count_sums_to_one(counts):
    curves = count_probabilities(counts, max_count=300, groups={"all": None})
    assert curves.probabilities["all"].sum() == pytest.approx(1.0)
    mean = curves.counts @ curves.probabilities["all"]
    assert mean == pytest.approx(counts.mean())


def test_default_groups_are_those_of_madsen():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.integers(1, 5, (30, 6000)) * (rng.random((30, 6000)) < 0.01))
    curves = count_probabilities(counts)
    assert curves.n_words == {"common": 500, "average": 5000, "rare": 500}
    assert len(curves.counts) == 101
    at_least_once = [1 - curves.probabilities[name][0] for name in ("common", "average", "rare")]
    assert at_least_once == sorted(at_least_once, reverse=True)


def test_groups_by_the_frequencies_of_another_corpus():
    counts = np.array([[0, 1, 2]])
    curves = count_probabilities(counts, max_count=2, groups={"first": 1, "second": 1}, frequencies=[9, 8, 7])
    np.testing.assert_array_equal(curves.probabilities["first"], [1, 0, 0])
    np.testing.assert_array_equal(curves.probabilities["second"], [0, 1, 0])
    assert curves.token_share == {"first": 0.0, "second": pytest.approx(1 / 3)}


def test_curves_of_nothing():
    curves = count_probabilities([[0, 0]], max_count=1, groups={"all": None})
    np.testing.assert_array_equal(curves.probabilities["all"], [1, 0])
    assert np.isnan(curves.token_share["all"])


@pytest.mark.corpus
def test_curves_of_nips391(data_dir):
    counts = datasets.load("nips391").counts
    curves = count_probabilities(counts)
    assert curves.n_words == {"common": 500, "average": 5000, "rare": 1371}
    dense = counts.toarray()
    common = np.argsort(-dense.sum(axis=0), kind="stable")[:500]
    for x in (0, 1, 10, 100):
        assert curves.probabilities["common"][x] == pytest.approx(np.mean(dense[:, common] == x))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_count": -1}, "max_count must be a non-negative integer"),
        ({"max_count": 2.5}, "max_count must be a non-negative integer"),
        ({"groups": {}}, "groups is empty"),
        ({"groups": {"common": -3}}, "group 'common' must have an integer number"),
        ({"groups": {"common": 0.1}}, "group 'common' must have an integer number"),
        ({"frequencies": [1.0]}, "frequencies has shape .1,. for 2 words"),
        ({"frequencies": [1.0, np.nan]}, "frequencies must be finite"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        count_probabilities([[1, 0]], **options)


@pytest.mark.parametrize("measure", [burstiness, count_probabilities])
def test_counts_are_checked(measure):
    with pytest.raises(ValueError, match="row 0, column 1"):
        measure([[1, -1]])
    with pytest.raises(ValueError, match="not an integer"):
        measure([[1, 0.5]])


def test_unknown_axis():
    with pytest.raises(ValueError, match='axis must be None or "word"'):
        burstiness([[1]], axis="document")
