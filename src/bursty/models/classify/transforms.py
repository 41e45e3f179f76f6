"""Heuristics against burstiness: the log and tf-idf transformations of [Madsen2005] section 5.1.

    L       log(1 + x)
    TW-L    log(1 + x) log(D / df), then every document scaled to Euclidean length 1

D is the number of training documents and df that of those with the word, by weight. The results are not counts, so only
the multinomial accepts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk, Documents
from bursty.storage.schema import floats, maybe, storable
from bursty.typing import Array


@storable("Transform", idf=maybe(floats("n_words", low=0)))
@dataclass(frozen=True)
class Transform:
    """A fitted transformation; ``idf`` is None unless it is tf-idf."""

    kind: Literal["log", "tfidf"] | None
    idf: Array | None = None

    @classmethod
    def fit(cls, kind: Literal["log", "tfidf"] | None, documents: Documents, weights: Array) -> Transform:
        """Learn the document frequencies if needed; a word that does not occur gets weight 0."""
        if kind != "tfidf":
            return cls(kind)
        df = documents.sum(_document_frequency, documents.split(weights))
        ratio = weights.sum() / np.where(df > 0, df, weights.sum())
        return cls(kind, np.log(np.maximum(ratio, 1.0)))  # weights are rounded sums: a ratio may be just below 1

    def __call__(self, counts: sp.csr_array) -> sp.csr_array:
        """The transformed documents; the counts themselves if there is no transformation."""
        if self.kind is None:
            return counts
        values = np.log1p(counts.data)
        if self.idf is not None:
            values *= self.idf[counts.indices]
            values = _unit_rows(values, counts.indptr)
        return sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _document_frequency(chunk: Chunk, weights: Array) -> Array:
    """Weight of the documents that have each word."""
    return np.bincount(chunk.indices, np.repeat(weights, np.diff(chunk.indptr)), minlength=chunk.n_words)


def _unit_rows(values: Array, indptr: Array) -> Array:
    """Rows scaled to length 1; rows of zeros are left unchanged."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=len(indptr) - 1))
    return values / np.where(norms > 0, norms, 1.0)[rows]
