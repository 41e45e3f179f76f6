"""Dense rows: oracle, plain Python and compiled kernels agree, for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from bursty.kernels import points, threads


def plain(kernel):
    """The kernel as Python runs it; where the JIT is off, it is that already."""
    return getattr(kernel, "py_func", kernel)


@pytest.fixture(params=[np.float32, np.float64])
def rows(request):
    return np.random.default_rng(0).normal(size=(37, 11)).astype(request.param)


@pytest.fixture
def table():
    return np.random.default_rng(1).normal(size=(11, 5))


@pytest.mark.parametrize("compiled", [True, False])
def test_products(rows, table, compiled):
    out = np.empty((37, 5))
    (points.multiply_rows if compiled else plain(points.multiply_rows))(rows, table, out, 0, 37)
    np.testing.assert_allclose(out, rows.astype(float) @ table, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [1, 3, 4, 11])
@pytest.mark.parametrize("compiled", [True, False])
def test_products_with_one_column_have_the_same_bits(rows, table, width, compiled):
    rows, column, out, same = np.ascontiguousarray(rows[:, :width]), table[:width, :1].copy(), *np.empty((2, 37))
    kernel = points.multiply_by_column if compiled else plain(points.multiply_by_column)
    kernel(rows, column[:, 0], out, 0, 37)
    points.multiply_rows(rows, column, same[:, None], 0, 37)
    np.testing.assert_array_equal(out, same)
    np.testing.assert_array_equal(points.product(rows, column)[:, 0], same)
    np.testing.assert_allclose(out, rows.astype(float) @ column[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_nearest(rows, table, compiled):
    labels, products = np.empty(37, dtype=np.int32), np.empty(37)
    kernel = points.nearest_rows if compiled else plain(points.nearest_rows)
    kernel(rows, table, labels, products, 0, 37)
    expected = rows.astype(float) @ table
    np.testing.assert_array_equal(labels, expected.argmax(axis=1))
    np.testing.assert_allclose(products, expected.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_sums_by_label(rows, compiled):
    labels = np.random.default_rng(2).integers(-1, 3, size=37)
    out, expected = np.zeros((3, 11)), np.zeros((3, 11))
    (points.sum_by_label if compiled else plain(points.sum_by_label))(rows, labels, out)
    np.add.at(expected, labels[labels >= 0], rows[labels >= 0])
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("compiled", [True, False])
def test_sums_of_outer_products(rows, compiled, monkeypatch):
    resp = np.random.default_rng(3).random((37, 4))
    if compiled:
        total = points.outer(rows, resp)
    else:
        out = np.empty((1, 11, 4))
        plain(points.sum_outer_blocks)(rows, resp, out, 0, 1)
        total = out.sum(axis=0)
    np.testing.assert_allclose(total, rows.astype(float).T @ resp, rtol=1e-12, atol=1e-12)


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    rng = np.random.default_rng(4)
    rows, table, resp = rng.normal(size=(3000, 9)), rng.normal(size=(9, 6)), rng.random((3000, 4))
    results = []
    for n_threads in (1, 2, 5):
        with threads.using(n_threads):
            values = points.product(rows, table), *points.nearest(rows, table), points.outer(rows, resp)
            results.append(b"".join(value.tobytes() for value in values))
    assert results[0] == results[1] == results[2]
