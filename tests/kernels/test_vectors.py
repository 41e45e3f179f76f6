"""Rows added four numbers at a time: the bits of the plain loop, compiled and not."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bursty.kernels import vectors


@given(st.integers(1, 11), st.sampled_from([1, 2, 4]), st.booleans(), st.booleans(), st.integers(0, 2**31))
def test_accumulate_adds_as_a_plain_loop_does(n_columns, n_rows, single, weighted, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(6, n_columns)).astype(np.float32 if single else np.float64)
    rows = tuple(np.uint64(row) for row in rng.integers(0, 6, n_rows))
    weights = tuple(rng.normal(size=n_rows).tolist()) if weighted else ()
    begin = rng.normal(size=n_columns)
    expected = begin.copy()
    for k in range(n_columns):
        terms = [float(table[row, k]) * weight for row, weight in zip(rows, weights or (1.0,) * n_rows, strict=True)]
        while len(terms) > 1:
            terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=True)]
        expected[k] += terms[0]
    for function in (accumulated, vectors.accumulate):
        total = begin.copy()
        function(total, table, rows, weights)
        np.testing.assert_array_equal(total, expected)


@numba.njit
def accumulated(total, table, rows, weights):
    vectors.accumulate(total, table, rows, weights)


@pytest.mark.parametrize("table", [np.asfortranarray(np.ones((3, 2))), np.ones((3, 2), dtype=np.int64)])
def test_accumulate_refuses_what_it_would_misread(table):
    with pytest.raises((TypeError, numba.TypingError), match="floats in C order"):
        accumulated(np.zeros(2), table, (np.uint64(0),), ())
