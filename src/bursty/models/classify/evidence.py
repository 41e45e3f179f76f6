"""The evidence of words, for a few documents at a time and only the words that they contain.

The family defines the evidence of each word of a document (`Family.word_evidence`), and words may have weights:

    sum_w v_w f(w, x_w)

f(w, x) is the contribution of word w with count x to the log-probability, v_w = (log(D / df_w))^idf its weight. If
most documents have a word, the differences in its frequency are due more to single documents than to classes, so that
its evidence is worth less; [Rennie2003] applies the same weights to the counts. With v = 1 this is the log-probability
minus the term of the document length, which is the same for urns of equal s.

Documents are processed in pieces (`compact_chunks`) with tables of the words of each piece only: no logarithm is
computed for a word that does not occur, and there is never a second table of all words and classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.kernels import select
from bursty.typing import Array

# Cells per piece, as a multiple of the number of words: alone, and if several threads have a piece each; and at least.
ALONE, TOGETHER = 0.75, 0.3
_LEAST_CELLS = 10_000


def pieces(counts: sp.csr_array, share: float) -> Array:
    """Index of the first document of each piece, and the end of the last one."""
    most, bounds = max(int(share * counts.shape[1]), _LEAST_CELLS), [0]
    while bounds[-1] < counts.shape[0]:
        full = int(np.searchsorted(counts.indptr, counts.indptr[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(bounds[-1] + 1, full))
    return np.array(bounds)


def compact_chunks(counts: sp.csr_array, known: Array, bounds: Array | None = None) -> Iterator[tuple[Array, Chunk]]:
    """The documents piece by piece: the known words of the piece, and its counts of these words only."""
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
    """The documents without unknown words; the counts themselves if all words are known."""
    indptr, indices, values = (np.empty(len(a) + 1, a.dtype) for a in (counts.indptr[1:], counts.indices, counts.data))
    kept = select.keep_known(counts.indptr, counts.indices, counts.data, known, indptr, indices, values)
    if kept == counts.nnz:
        return counts
    return sp.csr_array((values[:kept], indices[:kept], indptr), shape=counts.shape)
