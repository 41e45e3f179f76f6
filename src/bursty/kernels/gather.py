"""Sparse sums: the two passes of EM, and their one-label-a-document short cut.

| name | what | shape |
|---|---|---|
| indptr, indices | rows of a sparse matrix (or its columns) | n + 1, nnz |
| values | what the cells hold; absent when only presence counts | nnz |
| table | one row per index, one column per component | . x K |
| out | one row per row of the sparse matrix | n x K |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.kernels.prefetch import prefetch

Array = np.ndarray[Any, Any]

# Rows that are added up before the sums are.
_BLOCK = 1024
# A row is asked for so many cells ahead: the first three times eight numbers of it, which is how they come.
_AHEAD = 32
_LINE = 8
_LINES = 3


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
def block_sums(table, out, start, stop):
    """Sum of the rows of each block of `_BLOCK`, for the blocks from start to stop."""
    for block in range(start, stop):
        total = out[block]
        for k in range(table.shape[1]):
            total[k] = 0.0
        for row in range(block * _BLOCK, min(len(table), (block + 1) * _BLOCK)):
            for k in range(table.shape[1]):
                total[k] += table[row, k]


def column_sums(table: Array) -> Array:
    """``table.sum(axis=0)``, block by block: the same bits for any threads."""
    n_blocks = -(-len(table) // _BLOCK)
    sums = np.empty((n_blocks, table.shape[1]))
    threads.run(block_sums, np.arange(n_blocks + 1) * np.int64(_BLOCK * table.shape[1]), table, sums)
    return sums.sum(axis=0)


@kernel
def ask_ahead(indices, cell, n_cells, table):
    """Ask for rows well before they are needed, since they lie all over a large table; short ones are near anyhow."""
    n_columns = np.int64(table.shape[1])
    if n_columns >= _LINE:
        for ahead in range(_AHEAD, _AHEAD + n_cells):
            far = indices[min(cell + ahead, len(indices) - 1)] * n_columns
            for line in range(_LINES):
                prefetch(table, far + line * _LINE)


@kernel
def sum_rows(indptr, indices, table, out, start, stop):
    """Add up the table's rows that each sparse row names.

    Equivalent to ``out[start:stop] = pattern[start:stop] @ table``, where pattern is 1 in every stored cell.
    Four cells at a time: the running sums then leave the registers four times less often.
    """
    n_columns = table.shape[1]
    for row in range(start, stop):
        total = out[row]
        for k in range(n_columns):
            total[k] = 0.0
        cell, end = indptr[row], indptr[row + 1]
        while cell + 4 <= end:
            ask_ahead(indices, cell, 4, table)
            first, second = table[indices[cell]], table[indices[cell + 1]]
            third, fourth = table[indices[cell + 2]], table[indices[cell + 3]]
            for k in range(n_columns):
                total[k] += (first[k] + second[k]) + (third[k] + fourth[k])
            cell += 4
        while cell < end:
            first = table[indices[cell]]
            for k in range(n_columns):
                total[k] += first[k]
            cell += 1


@kernel
def sum_weighted_rows(indptr, indices, values, table, out, start, stop):
    """Add up the table's rows that each sparse row names, times the cells' values.

    Equivalent to ``out[start:stop] = matrix[start:stop] @ table``.
    """
    n_columns = table.shape[1]
    for row in range(start, stop):
        total = out[row]
        for k in range(n_columns):
            total[k] = 0.0
        cell, end = indptr[row], indptr[row + 1]
        while cell + 2 <= end:
            ask_ahead(indices, cell, 2, table)
            first, second = table[indices[cell]], table[indices[cell + 1]]
            a, b = values[cell], values[cell + 1]
            for k in range(n_columns):
                total[k] += a * first[k] + b * second[k]
            cell += 2
        if cell < end:
            first, a = table[indices[cell]], values[cell]
            for k in range(n_columns):
                total[k] += a * first[k]


@kernel
def tally_by_row(indptr, indices, labels, weights, out):
    """Add each document's weight to (word, its label) for the words it has; label -1 adds nothing.

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
    """Add each document's weight times its counts to (word, its label); label -1 adds nothing.

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
    """As `tally_by_row`, but walking the columns, so that ranges of columns can run side by side.

    A document with label -1 adds its row of ``shares``, where there are any; then every component gets this trace of
    the whole column. Equivalent to ``out[start:stop] = (pattern.T @ resp)[start:stop]``, ``resp`` having either a
    weight at the document's label or its shares, and ``out += trace * out.sum(axis=1, keepdims=True)``.
    """
    for column in range(start, stop):
        total = out[column]
        for k in range(out.shape[1]):
            total[k] = 0.0
        for cell in range(indptr[column], indptr[column + 1]):
            row = rows[cell]
            label = labels[row]
            if label >= 0:
                total[label] += weights[row]
            elif len(shares) > 0:
                share = shares[row]
                for k in range(out.shape[1]):
                    total[k] += share[k]
        add_trace(total, trace)


@kernel
def tally_weighted_by_column(indptr, rows, values, labels, weights, shares, trace, out, start, stop):
    """As `tally_by_column`, times the cells' values."""
    for column in range(start, stop):
        total = out[column]
        for k in range(out.shape[1]):
            total[k] = 0.0
        for cell in range(indptr[column], indptr[column + 1]):
            row, value = rows[cell], values[cell]
            label = labels[row]
            if label >= 0:
                total[label] += weights[row] * value
            elif len(shares) > 0:
                share = shares[row]
                for k in range(out.shape[1]):
                    total[k] += share[k] * value
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
    """The component that has at least so much (more than a half) of a document; -1 where none has."""
    for row in range(start, stop):
        labels[row] = -1
        for k in range(resp.shape[1]):
            if resp[row, k] >= least:
                labels[row] = k


@kernel
def add_rows(table, codes, constants, out, start, stop):
    """Add the table's row that each document's code names, and a number of its own.

    Equivalent to ``out[start:stop] += table[codes[start:stop]] + constants[start:stop, None]``.
    """
    for row in range(start, stop):
        source, target, constant = table[codes[row]], out[row], constants[row]
        for k in range(out.shape[1]):
            target[k] += source[k] + constant
