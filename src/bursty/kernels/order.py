"""The orders in which a chunk of documents is walked: by document, by word, by level.

A *level* is a pair (word, count) that occurs: the documents that have word w exactly c times. A DCM depends on a corpus
only through its levels, and an EDCM only through the words present, so that both use the same sparse sums.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels.compile import kernel

# Columns whose largest count is below this are sorted by counting, others by comparing.
_FEW = 256


@kernel
def transpose(indptr, indices, values, n_columns):
    """Columns of a sparse matrix: starts, rows, and values (unless ``values`` is empty).

    Equivalent to ``csc = csr_array((values, indices, indptr)).tocsc(); csc.indptr, csc.indices, csc.data``.
    """
    starts = np.zeros(n_columns + 1, dtype=np.int32)
    for cell in range(len(indices)):
        starts[indices[cell] + 1] += 1
    for column in range(n_columns):
        starts[column + 1] += starts[column]
    free = starts[:-1].copy()
    rows = np.empty(len(indices), dtype=np.int32)
    column_values = np.empty_like(values)
    if len(values) == 0:
        for row in range(len(indptr) - 1):
            for cell in range(indptr[row], indptr[row + 1]):
                place = free[indices[cell]]
                free[indices[cell]] = place + 1
                rows[place] = row
    else:
        for row in range(len(indptr) - 1):
            for cell in range(indptr[row], indptr[row + 1]):
                place = free[indices[cell]]
                free[indices[cell]] = place + 1
                rows[place] = row
                column_values[place] = values[cell]
    return starts, rows, column_values


@kernel
def order_levels(starts, rows, counts):
    """Sort every column by count and number its levels.

    Equivalent to ``numpy.unique`` over the pairs (word, count), with the members of each.

    Returns
    -------
    words, values : the pair of each level, in order
    level_starts, level_rows : the documents of each level
    """
    n_cells = len(rows)
    words = np.empty(n_cells, dtype=np.int32)
    values = np.empty(n_cells, dtype=np.int32)
    level_starts = np.empty(n_cells + 1, dtype=np.int32)
    level_rows = rows.copy()
    sizes = np.zeros(_FEW + 1, dtype=np.int32)
    n_levels = 0
    for word in range(len(starts) - 1):
        start, stop = starts[word], starts[word + 1]
        largest = 0
        for cell in range(start, stop):
            value = counts[cell]
            largest = max(largest, value)
            sizes[min(value, _FEW)] += 1
        if largest < _FEW:
            place = start
            for value in range(1, largest + 1):
                if sizes[value] > 0:
                    words[n_levels] = word
                    values[n_levels] = value
                    level_starts[n_levels] = place
                    n_levels += 1
                    place += sizes[value]
                    sizes[value] = place - sizes[value]  # from here on: the position of its next document
            if largest > 1:
                for cell in range(start, stop):
                    value = counts[cell]
                    level_rows[sizes[value]] = rows[cell]
                    sizes[value] += 1
            for value in range(1, largest + 1):
                sizes[value] = 0
        else:
            sizes[:] = 0
            column = np.argsort(counts[start:stop], kind="mergesort")
            last = 0
            for i in range(len(column)):
                cell = start + column[i]
                level_rows[start + i] = rows[cell]
                if counts[cell] != last:
                    last = counts[cell]
                    words[n_levels] = word
                    values[n_levels] = last
                    level_starts[n_levels] = start + i
                    n_levels += 1
    level_starts[n_levels] = n_cells
    return words[:n_levels].copy(), values[:n_levels].copy(), level_starts[: n_levels + 1].copy(), level_rows


@kernel
def level_codes(indptr, indices, counts, first, values, codes, start, stop):
    """The level of each cell, for the rows from start to stop.

    Equivalent to the inverse of ``numpy.unique`` over the pairs (word, count).
    """
    for cell in range(indptr[start], indptr[stop]):
        low, high = first[indices[cell]], first[indices[cell] + 1] - 1
        count = counts[cell]
        while values[low] != count:
            middle = (low + high + 1) // 2 if high - low > 8 else low + 1
            if values[middle] <= count:
                low = middle
            else:
                high = middle - 1
        codes[cell] = low


@kernel
def row_sums(indptr, values, out, start, stop):
    """Sums of the values of each row.

    Equivalent to ``out[start:stop] = matrix[start:stop].sum(axis=1)``.
    """
    for row in range(start, stop):
        total = out[row] * 0
        for cell in range(indptr[row], indptr[row + 1]):
            total += values[cell]
        out[row] = total
