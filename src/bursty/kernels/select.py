"""Leaving words out of documents."""

from __future__ import annotations

from bursty.kernels.compile import kernel


@kernel
def keep_known(indptr, indices, values, known, new_indptr, new_indices, new_values):
    """Copy the cells of known words; returns how many there are.

    Equivalent to ``matrix[:, known]`` with the columns left where they were.
    """
    kept = 0
    new_indptr[0] = 0
    for row in range(len(indptr) - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            new_indices[kept] = indices[cell]
            new_values[kept] = values[cell]
            kept += known[indices[cell]]
        new_indptr[row + 1] = kept
    return kept
