"""Sparse sums: the two passes of EM, and their one-label-a-document short cut.

| name | what | shape |
|---|---|---|
| indptr, indices | rows of a sparse matrix (or its columns) | n + 1, nnz |
| values | what the cells hold; absent when only presence counts | nnz |
| table | one row per index, one column per component | . x K |
| out | one row per row of the sparse matrix | n x K |
"""

from __future__ import annotations

from bursty.kernels.compile import kernel


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
def certain_labels(resp, labels, start, stop):
    """The component that has all of a document, to the last bit; -1 where none has."""
    for row in range(start, stop):
        labels[row] = -1
        for k in range(resp.shape[1]):
            if resp[row, k] == 1.0:
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
