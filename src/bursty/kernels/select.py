"""Removing words from documents."""

from __future__ import annotations

from bursty.kernels.compile import kernel


@kernel
def keep_known(indptr, indices, values, known, new_indptr, new_indices, new_values):
    """Copy the cells of known words; returns their number.

    Equivalent to ``matrix[:, known]`` without renumbering the columns.
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


@kernel
def compact_columns(indptr, indices, values, place, new_indptr, new_indices, new_values, words):
    """Copy the cells of known words, renumbered in order of occurrence; returns the numbers of cells and words.

    ``place`` has -1 for each known word and -2 for the others, before and after; ``words[i]`` is the word of number i.
    Equivalent to ``matrix[:, words]``, where ``words`` are the known words that occur, in order of occurrence.
    """
    kept, n_words = 0, 0
    new_indptr[0] = 0
    for row in range(len(indptr) - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            number = place[indices[cell]]
            if number == -1:
                number = n_words
                place[indices[cell]] = number
                words[number] = indices[cell]
                n_words += 1
            if number >= 0:
                new_indices[kept] = number
                new_values[kept] = values[cell]
                kept += 1
        new_indptr[row + 1] = kept
    for number in range(n_words):
        place[words[number]] = -1
    return kept, n_words
