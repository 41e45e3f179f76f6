"""Sparse sums: the two passes of EM, and shortcuts for one label per document.

| name | what | shape |
|---|---|---|
| indptr, indices | rows of a sparse matrix (or its columns) | n + 1, nnz |
| values | values of the cells; absent if only presence matters | nnz |
| table | one row per index, one column per component | . x K |
| out | one row per row of the sparse matrix | n x K |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.kernels.prefetch import prefetch
from bursty.kernels.vectors import accumulate
from bursty.typing import Array

# Rows are summed in blocks of this many.
_BLOCK = 1024
# Rows are prefetched this many cells ahead: up to three cache lines of 64 bytes.
_AHEAD = 32
_LINE = 64
_LINES = 3
# Unsigned, so that compiled code need not check indices for a sign.
_ONE, _TWO, _THREE, _FOUR = (np.uint64(n) for n in (1, 2, 3, 4))


@kernel
def copy_rows(table, rows, out, start, stop):
    """``out[start:stop] = table[rows[start:stop]]``."""
    for place in range(start, stop):
        source, target = table[rows[place]], out[place]
        for k in range(table.shape[1]):
            target[k] = source[k]


def rows_of(table: Array, rows: Array) -> Array:
    """``table[rows]``, on several threads."""
    out = np.empty((len(rows), table.shape[1]))
    threads.run(copy_rows, np.arange(len(rows) + 1) * np.int64(table.shape[1]), table, rows, out)
    return out


@kernel
def mix_rows(indptr, indices, values, rows, base, pulls, factors, out, start, stop):
    """``out[start:stop] = (matrix[rows[start:stop]] + base[rows[start:stop], None] * pulls) * factors``."""
    for place in range(start, stop):
        row = rows[place]
        for k in range(len(pulls)):
            out[place, k] = base[row] * pulls[k]
        for cell in range(indptr[row], indptr[row + 1]):
            out[place, indices[cell]] += values[cell]
        for k in range(len(pulls)):
            out[place, k] *= factors[k]


@kernel
def add_tables(left, right, out, start, stop):
    """``out[start:stop] = left[start:stop] + right[start:stop]``."""
    for row in range(start, stop):
        for k in range(out.shape[1]):
            out[row, k] = left[row, k] + right[row, k]


def added(left: Any, right: Any) -> Any:
    """``left + right``; tables of the same kind on several threads."""
    tables = isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.ndim == right.ndim == 2
    if not tables or left.shape != right.shape or left.dtype != right.dtype:
        return left + right
    out = np.empty_like(left)
    threads.run(add_tables, np.arange(len(left) + 1) * np.int64(left.shape[1]), left, right, out)
    return out


@kernel
def block_sums(table, out, start, stop):
    """Sum of the rows of each block of `_BLOCK`, for the blocks from start to stop."""
    for block in range(start, stop):
        total = out[block]
        for k in range(table.shape[1]):
            total[k] = 0.0
        for row in range(block * _BLOCK, min(len(table), (block + 1) * _BLOCK)):
            for k in range(table.shape[1]):
                total[k] += table[row, k]


def column_sums(table: Any) -> Array:
    """``table.sum(axis=0)``, block by block: the same bits for any number of threads."""
    if not isinstance(table, np.ndarray):
        return np.asarray(table.sum(axis=0))  # a device has its own way
    n_blocks = -(-len(table) // _BLOCK)
    sums = np.empty((n_blocks, table.shape[1]))
    threads.run(block_sums, np.arange(n_blocks + 1) * np.int64(_BLOCK * table.shape[1]), table, sums)
    return sums.sum(axis=0)


@kernel
def prefetch_rows(indices, cell, n_cells, table):
    """Prefetch rows of a large table, which are read at random; short rows are in the cache anyway."""
    n_columns, line = np.uint64(table.shape[1]), np.uint64(_LINE // table.itemsize)
    if n_columns >= line and cell + np.uint64(_AHEAD + n_cells) <= np.uint64(len(indices)):
        for ahead in range(_AHEAD, _AHEAD + n_cells):
            far = np.uint64(indices[cell + np.uint64(ahead)]) * n_columns
            for place in range(_LINES):
                prefetch(table, far + np.uint64(place) * line)


@kernel
def sum_rows(indptr, indices, table, out, start, stop):
    """Sum the rows of the table that each sparse row lists.

    Equivalent to ``out[start:stop] = pattern[start:stop] @ table``, where pattern is 1 in every stored cell.
    Four cells at a time, so that the running sums leave the registers less often.
    """
    for row in range(start, stop):
        total = out[row]
        total[:] = 0.0
        cell, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        while cell + _FOUR <= end:
            prefetch_rows(indices, cell, 4, table)
            first, second = np.uint64(indices[cell]), np.uint64(indices[cell + _ONE])
            third, fourth = np.uint64(indices[cell + _TWO]), np.uint64(indices[cell + _THREE])
            accumulate(total, table, (first, second, third, fourth))
            cell += _FOUR
        while cell < end:
            accumulate(total, table, (np.uint64(indices[cell]),))
            cell += _ONE


@kernel
def sum_weighted_rows(indptr, indices, values, table, out, start, stop):
    """Sum the rows of the table that each sparse row lists, times the values of the cells.

    Equivalent to ``out[start:stop] = matrix[start:stop] @ table``.
    """
    for row in range(start, stop):
        total = out[row]
        total[:] = 0.0
        cell, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        while cell + _TWO <= end:
            prefetch_rows(indices, cell, 2, table)
            rows = np.uint64(indices[cell]), np.uint64(indices[cell + _ONE])
            accumulate(total, table, rows, (np.float64(values[cell]), np.float64(values[cell + _ONE])))
            cell += _TWO
        if cell < end:
            accumulate(total, table, (np.uint64(indices[cell]),), (np.float64(values[cell]),))


@kernel
def inner_products(indptr, indices, values, starts, rows, others, out, start, stop):
    """Inner products of rows: ``starts``, ``rows`` and ``others`` are the same matrix by column.

    Equivalent to ``out[start:stop] += matrix[start:stop] @ matrix.T``.
    """
    for row in range(start, stop):
        total = out[row]
        for cell in range(indptr[row], indptr[row + 1]):
            column, value = indices[cell], values[cell]
            for place in range(starts[column], starts[column + 1]):
                total[rows[place]] += value * others[place]


@kernel
def tally_by_row(indptr, indices, labels, weights, out):
    """Add the weight of each document to (word, label) for its words; label -1 adds nothing.

    Equivalent to ``out += pattern.T @ (onehot(labels) * weights[:, None])``.
    """
    for row in range(len(labels)):
        label = labels[row]
        if label >= 0:
            weight = weights[row]
            for cell in range(indptr[row], indptr[row + 1]):
                out[indices[cell], label] += weight


@kernel
def tally_weighted_by_row(indptr, indices, values, labels, weights, out):
    """Add the weight of each document times its counts to (word, label); label -1 adds nothing.

    Equivalent to ``out += matrix.T @ (onehot(labels) * weights[:, None])``.
    """
    for row in range(len(labels)):
        label = labels[row]
        if label >= 0:
            weight = weights[row]
            for cell in range(indptr[row], indptr[row + 1]):
                out[indices[cell], label] += weight * values[cell]


@kernel
def tally_by_column(indptr, rows, labels, weights, shares, trace, out, start, stop):
    """Like `tally_by_row`, but walks the columns, so that ranges of columns can run in parallel.

    A document with label -1 adds its row of ``shares``, if there are any; then every component gets this trace of the
    whole column. Equivalent to ``out[start:stop] = (pattern.T @ resp)[start:stop]``, ``resp`` having either a
    weight at the document's label or its shares, and ``out += trace * out.sum(axis=1, keepdims=True)``.
    """
    for column in range(start, stop):
        total = out[column]
        total[:] = 0.0
        for cell in range(np.uint64(indptr[column]), np.uint64(indptr[column + 1])):
            row = np.uint64(rows[cell])
            label = labels[row]
            if label >= 0:
                total[np.uint64(label)] += weights[row]
            elif len(shares) > 0:
                accumulate(total, shares, (row,))
        add_trace(total, trace)


@kernel
def tally_weighted_by_column(indptr, rows, values, labels, weights, shares, trace, out, start, stop):
    """Like `tally_by_column`, times the values of the cells."""
    for column in range(start, stop):
        total = out[column]
        total[:] = 0.0
        for cell in range(np.uint64(indptr[column]), np.uint64(indptr[column + 1])):
            row, value = np.uint64(rows[cell]), np.float64(values[cell])
            label = labels[row]
            if label >= 0:
                total[np.uint64(label)] += weights[row] * value
            elif len(shares) > 0:
                accumulate(total, shares, (row,), (value,))
        add_trace(total, trace)


@kernel
def add_trace(total, trace):
    """Add this share of the sum of all components to each of them."""
    if trace > 0.0:
        whole = 0.0
        for k in range(len(total)):
            whole += total[k]
        for k in range(len(total)):
            total[k] += trace * whole


@kernel
def certain_labels(resp, least, labels, start, stop):
    """The component that has at least this share (more than a half) of a document; -1 if there is none."""
    for row in range(start, stop):
        labels[row] = -1
        for k in range(resp.shape[1]):
            if resp[row, k] >= least:
                labels[row] = k


@kernel
def add_rows(table, codes, constants, out, start, stop):
    """Add the row of the table at the code of each document, and a constant of its own.

    Equivalent to ``out[start:stop] += table[codes[start:stop]] + constants[start:stop, None]``.
    """
    for row in range(start, stop):
        source, target, constant = table[codes[row]], out[row], constants[row]
        for k in range(out.shape[1]):
            target[k] += source[k] + constant


@kernel
def largest(items, values, out):
    """``np.maximum.at(out, items, values)``, many times as fast."""
    for i in range(len(items)):
        out[items[i]] = max(out[items[i]], values[i])
