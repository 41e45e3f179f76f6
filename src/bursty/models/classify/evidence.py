"""Documents a few at a time, with the words that these have and no others.

What the words of a document say is the family's to tell (`Family.word_evidence`), and some words may be believed more
than others:

    sum_w v_w f(w, x_w)

f(w, x) is the part of word w with count x in the log-probability, v_w = (log(D / df_w))^idf the trust in it. A word
that most documents have tells classes apart by differences of frequency that come more from single documents than
from classes, so that its evidence is worth less; [Rennie2003] puts the same weights on the counts. With v = 1 this is
the log-probability less the term of the document's length, which urns of equal s all share.

Documents come in pieces (`compact_chunks`), and tables are made of the words that these have: no logarithm is taken of
a word that is not there, and no second table of all words and classes is ever held.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.kernels import select

Array = np.ndarray[Any, Any]

# Cells (words present in documents) of a piece: a number for each word there is, or this number; fewer where several
# threads have a piece each.
ALONE, TOGETHER = 0.75, 0.3
_LEAST_CELLS = 10_000


def pieces(counts: sp.csr_array, share: float) -> Array:
    """Where pieces of a few documents begin, and where the last one ends."""
    most, bounds = max(int(share * counts.shape[1]), _LEAST_CELLS), [0]
    while bounds[-1] < counts.shape[0]:
        full = int(np.searchsorted(counts.indptr, counts.indptr[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(bounds[-1] + 1, full))
    return np.array(bounds)


def compact_chunks(counts: sp.csr_array, known: Array, bounds: Array | None = None) -> Iterator[tuple[Array, Chunk]]:
    """Documents, piece by piece: the known words that a piece has, and its counts of these words only."""
    place = np.where(known, np.int32(-1), np.int32(-2))
    for start, stop in pairwise((pieces(counts, ALONE) if bounds is None else bounds).tolist()):
        begin = counts.indptr[start]
        cells = slice(begin, counts.indptr[stop])
        indptr, indices, values = counts.indptr[start : stop + 1] - begin, counts.indices[cells], counts.data[cells]
        local = np.empty_like(indptr), np.empty_like(indices), np.empty_like(values)
        words = np.empty(min(len(indices), len(known)), dtype=np.int32)
        kept, n_words = select.compact_columns(indptr, indices, values, place, *local, words)
        yield words[:n_words], Chunk.from_parts(local[0], local[1][:kept], local[2][:kept], n_words=n_words)


def drop_words(counts: sp.csr_array, known: Array) -> sp.csr_array:
    """The documents without the words that are not known; the counts themselves where all are."""
    indptr, indices, values = (np.empty(len(a) + 1, a.dtype) for a in (counts.indptr[1:], counts.indices, counts.data))
    kept = select.keep_known(counts.indptr, counts.indices, counts.data, known, indptr, indices, values)
    if kept == counts.nnz:
        return counts
    return sp.csr_array((values[:kept], indices[:kept], indptr), shape=counts.shape)
