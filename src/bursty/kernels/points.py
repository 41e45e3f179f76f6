"""Dense rows: products with a table, the nearest of several centres, and sums by label.

| name | what | shape |
|---|---|---|
| points | dense rows, single or double precision | n x R |
| table, centres | one column per component, one row per coordinate | R x K |
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.kernels.vectors import accumulate
from bursty.typing import Array

_ONE, _TWO, _THREE, _FOUR = (np.uint64(n) for n in (1, 2, 3, 4))
# Rows are summed in blocks of this many, so that the bits do not depend on the number of threads.
_BLOCK = 1024


@kernel
def multiply_row(point, table, total):
    """``total = point @ table``, four coordinates at a time."""
    total[:] = 0.0
    column, end = np.uint64(0), np.uint64(len(point))
    while column + _FOUR <= end:
        rows = column, column + _ONE, column + _TWO, column + _THREE
        weights = (
            np.float64(point[column]),
            np.float64(point[column + _ONE]),
            np.float64(point[column + _TWO]),
            np.float64(point[column + _THREE]),
        )
        accumulate(total, table, rows, weights)
        column += _FOUR
    while column < end:
        accumulate(total, table, (column,), (np.float64(point[column]),))
        column += _ONE


@kernel
def multiply_rows(points, table, out, start, stop):
    """``out[start:stop] = points[start:stop] @ table``."""
    for row in range(start, stop):
        multiply_row(points[row], table, out[row])


@kernel
def multiply_by_column(points, column, out, start, stop):
    """`multiply_rows` for a table of one column, to the same bits, without a loop over columns in every step."""
    n_whole = len(column) // 4 * 4
    for row in range(start, stop):
        point, total = points[row], 0.0
        for i in range(0, n_whole, 4):
            first = np.float64(point[i]) * column[i] + np.float64(point[i + 1]) * column[i + 1]
            total += first + (np.float64(point[i + 2]) * column[i + 2] + np.float64(point[i + 3]) * column[i + 3])
        for i in range(n_whole, len(column)):
            total += np.float64(point[i]) * column[i]
        out[row] = total


@kernel
def nearest_rows(points, centres, labels, products, start, stop):
    """``argmax`` and ``max`` of ``points @ centres`` over the columns, for these rows."""
    total = np.empty(centres.shape[1])
    for row in range(start, stop):
        multiply_row(points[row], centres, total)
        best = 0
        for k in range(1, len(total)):
            if total[k] > total[best]:
                best = k
        labels[row] = best
        products[row] = total[best]


@kernel
def sum_by_label(points, labels, out):
    """``out[labels[i]] += points[i]`` in order; label -1 adds nothing. Equivalent to ``numpy.add.at``."""
    for row in range(len(points)):
        if labels[row] >= 0:
            total, point = out[labels[row]], points[row]
            for column in range(len(total)):
                total[column] += point[column]


@kernel
def sum_outer_blocks(points, resp, out, start, stop):
    """``out[block] = points[rows of the block].T @ resp[rows of the block]`` for the blocks from start to stop."""
    for block in range(start, stop):
        sums = out[block]
        sums[:] = 0.0
        for row in range(block * _BLOCK, min(len(points), (block + 1) * _BLOCK)):
            for column in range(points.shape[1]):
                accumulate(sums[column], resp, (np.uint64(row),), (np.float64(points[row, column]),))


def product(points: Array, table: Array) -> Array:
    """``points @ table`` on several threads: the same bits for any number of them."""
    out = np.empty((len(points), table.shape[1]))
    cost = np.arange(len(points) + 1) * np.int64(table.size)
    if table.shape[1] == 1:
        threads.run(multiply_by_column, cost, points, table[:, 0].astype(np.float64), out[:, 0])
    else:
        threads.run(multiply_rows, cost, points, np.ascontiguousarray(table), out)
    return out


def nearest(points: Array, centres: Array) -> tuple[Array, Array]:
    """The column of ``centres`` (R x K) with the largest product with each point, and that product."""
    labels, products = np.empty(len(points), dtype=np.int32), np.empty(len(points))
    cost = np.arange(len(points) + 1) * np.int64(centres.size)
    threads.run(nearest_rows, cost, points, np.ascontiguousarray(centres), labels, products)
    return labels, products


def outer(points: Array, resp: Array) -> Array:
    """``points.T @ resp`` on several threads, block by block: the same bits for any number of them."""
    n_blocks = -(-len(points) // _BLOCK)
    out = np.empty((n_blocks, points.shape[1], resp.shape[1]))
    cost = np.arange(n_blocks + 1) * np.int64(_BLOCK * points.shape[1] * resp.shape[1])
    threads.run(sum_outer_blocks, cost, points, np.ascontiguousarray(resp), out)
    return out.sum(axis=0)
