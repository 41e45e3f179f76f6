"""Bad input gets a clear error before any work; good input in any form gives one canonical table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bursty import BayesClassifier, Mixture
from bursty.corpus import Corpus
from bursty.families import DCM, EDCM, Multinomial, VonMisesFisher
from bursty.validation import check_counts


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 2], [0, -3]], r"row 1, column 1 holds -3.*negative"),
        ([[1, 2], [0.5, 3]], r"row 1, column 0 holds 0.5, which is not an integer.*raw counts"),
        ([[1, np.nan]], r"contains NaN: row 0, column 1"),
        ([[1, np.inf]], r"contains infinity: row 0, column 1"),
        ([1, 2, 3], r"Expected 2D array, got a 1D array"),
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (np.zeros((3, 0)), r"0 feature\(s\)"),
        ([["a", "b"]], r"not texts.*Corpus.from_texts"),
        ([[2**40, 1]], r"above the largest count"),
        (np.array([[1 + 2j]]), r"Complex data not supported"),
        (np.array([[0, 2**63 + 1]], dtype=np.uint64), r"row 0, column 1 holds 9223372036854775809, above the largest"),
    ],
)
def test_clear_errors(X, message):
    with pytest.raises(ValueError, match=message):
        DCM().fit(X)
    table = np.asarray(X)
    if table.ndim == 2 and table.dtype.kind != "U":
        with pytest.raises(ValueError, match=message):
            DCM().fit(sp.csr_array(table))


MASKED = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])


def test_masked_values_are_not_read_as_what_lies_under_the_mask():
    with pytest.raises(ValueError, match=r"X has 1 masked value.*filled\(0\)"):
        DCM().fit(MASKED)
    with pytest.raises(ValueError, match="X has 1 masked value"):
        VonMisesFisher().fit(MASKED - 2.5)
    with pytest.raises(ValueError, match="sample_weight has 1 masked value"):
        DCM().fit(MASKED.data, sample_weight=MASKED[0])
    with pytest.raises(ValueError, match="labels has 1 masked value"):
        Corpus(MASKED.data, labels=MASKED[0])
    with pytest.raises(ValueError, match="label_matrix has 1 masked value"):
        Corpus(MASKED.data, label_matrix=np.ma.masked_array(np.ones((2, 2)), mask=MASKED.mask))
    with pytest.raises(ValueError, match="y has 1 masked value"):
        BayesClassifier().fit(MASKED.data, MASKED[0])
    assert check_counts(np.ma.masked_array([[1, 2]])).toarray().tolist() == [[1, 2]]
    assert check_counts(MASKED.filled(0)).toarray().tolist() == [[1, 0], [3, 4]]


@pytest.mark.parametrize("integer", [True, False])
def test_half_precision(integer):
    values = np.array([[1, 0, 2]], dtype=np.float16)
    assert check_counts(values, integer=integer).toarray().tolist() == [[1, 0, 2]]


@pytest.mark.parametrize("kind", ["Date", "Datetime", "Duration", "Time"])
def test_dates_are_no_counts(kind):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"n": [1, 2], "day": [18262, 18263]}).cast({"day": getattr(polars, kind)})
    with pytest.raises(ValueError, match=f"the column 'day' is of type {kind}.*drop it"):
        check_counts(frame)
    with pytest.raises(ValueError, match="the column 'day'"):
        Corpus(frame)


def test_a_table_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"rain": [1, 0], "wind": [2, 3]})
    assert Corpus(table).vocabulary.tolist() == ["rain", "wind"]
    assert DCM().fit(table).feature_names_in_.tolist() == ["rain", "wind"]


@pytest.mark.parametrize("left_out", [1, np.nan])
def test_sparse_columns_of_pandas_that_leave_out_other_values_than_zeros(left_out):
    frame = pd.DataFrame({"a": [1, 0, 1], "b": [1, 1, 1]}).astype(pd.SparseDtype(float, left_out))
    with pytest.raises(ValueError, match=r"leave out (1|nan) instead of 0.*SparseDtype\(.*, 0\)"):
        check_counts(frame)


def test_every_document_empty():
    with pytest.raises(ValueError, match="every document is empty"):
        EDCM().fit(np.zeros((3, 2), dtype=int))
    with pytest.raises(ValueError, match="every document is empty"):
        EDCM().fit([[1, 2], [0, 0]], sample_weight=[0.0, 1.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 value for 2 documents"),
        ([1, -1], "non-negative"),
        ([0, 0], "zero for every"),
        ([np.nan, 1], "finite"),
        ([1e300, 1], "0 or from 1e-100 to 1e\\+12"),
        ([0, 1e-320], "0 or from 1e-100 to 1e\\+12"),
    ],
)
def test_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        DCM().fit([[1, 2], [3, 4]], sample_weight=weights)


@pytest.mark.parametrize("scale", [1e-100, 1e12])
def test_weights_at_their_bounds(scale):
    X, y = np.random.default_rng(0).poisson(1.0, (12, 6)) + 1, np.arange(12) % 2
    X[::2, :3] += 5
    weights = np.full(12, scale)
    for family in (DCM(), EDCM(), Multinomial(), VonMisesFisher()):
        assert np.isfinite(family.fit(X, sample_weight=weights).log_prob(X)).all()
    mixture = Mixture(2, n_init=1, random_state=0).fit(X, sample_weight=weights)
    classifier = BayesClassifier().fit(X, y, sample_weight=weights)
    for model in (mixture, classifier):
        assert np.isfinite(model.predict_proba(X)).all()


def test_unknown_keyword():
    with pytest.raises(TypeError, match="weights"):
        DCM().fit([[1, 2], [3, 4]], weights=[1, 2])


@pytest.mark.parametrize("smoothing", [-1, np.nan, "much", None])
def test_smoothing(smoothing):
    with pytest.raises(ValueError, match="smoothing must be a finite non-negative number"):
        DCM(smoothing=smoothing).fit([[1, 2]])


def test_wrong_number_of_words():
    with pytest.raises(ValueError, match="X has 3 features, but DCM is expecting 2"):
        DCM().fit([[1, 2]]).log_prob([[1, 2, 3]])


@pytest.mark.parametrize("lengths", [[-1], [1.5], [[1, 2]]])
def test_lengths_of_samples(lengths):
    with pytest.raises(ValueError, match="lengths must be non-negative integers"):
        DCM().fit([[1, 2]]).sample(lengths)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
def test_n_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        DCM(n_jobs=n_jobs).fit([[1, 2]])


def test_engine():
    with pytest.raises(ValueError, match="engine must be"):
        DCM(engine="cloud").fit([[1, 2]])


def test_no_tokens_no_perplexity():
    with pytest.raises(ValueError, match="have no words"):
        DCM().fit([[1, 2]]).perplexity([[0, 0]])


def test_multinomial_takes_fractions():
    assert Multinomial().fit([[0.5, 1.5]]).theta_[0] == pytest.approx(0.25)


tables = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 5))


@given(tables, st.data())
def test_messy_sparse_matrices_become_canonical(table, data):
    """Explicit zeros, duplicates, unsorted indices, read-only buffers: same table out, input untouched."""
    coo = sp.coo_array(table)
    rows, columns = (np.concatenate([c, c, [0]]) for c in coo.coords)
    values = np.concatenate([coo.data, np.zeros_like(coo.data), [0]])
    order = np.array(data.draw(st.permutations(range(len(values)))))
    order = order[np.argsort(rows[order], kind="stable")]
    indptr = np.searchsorted(rows[order], np.arange(table.shape[0] + 1))
    dtype = data.draw(st.sampled_from([np.int8, np.uint16, np.int64, np.float32, np.float64]))
    messy = sp.csr_array((values[order].astype(dtype), columns[order], indptr), shape=table.shape)
    for array in (messy.data, messy.indices, messy.indptr):
        array.setflags(write=False)
    before = messy.data.copy(), messy.indices.copy()
    counts = check_counts(messy)
    np.testing.assert_array_equal(counts.toarray(), table)
    assert counts.dtype == np.int32
    assert counts.has_canonical_format
    assert np.all(counts.data > 0)
    np.testing.assert_array_equal(messy.data, before[0])
    np.testing.assert_array_equal(messy.indices, before[1])
