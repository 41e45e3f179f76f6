"""A block of dense rows of real numbers, such as embeddings: the sums of a chunk without its indices.

Only families of real vectors ask for it (`Family.signed`), which use `directions` and `sum_directions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.shards import SHARD_SIZE
from bursty.engines.chunks import Assignment, Chunk, Resp
from bursty.kernels import points
from bursty.typing import Array


class DenseChunk(Chunk):
    """Rows of a dense table; single precision stays so, sums are in double."""

    def __init__(self, rows: Array) -> None:
        self.rows = np.ascontiguousarray(rows)
        self.n_documents, self.n_words = rows.shape

    @property
    def values(self) -> Array:
        """All cells, row by row."""
        return self.rows.reshape(-1)

    @property
    def indptr(self) -> Array:
        """Where the rows begin."""
        return np.arange(self.n_documents + 1, dtype=np.int64) * self.n_words

    @property
    def indices(self) -> Array:
        """The column of each cell."""
        return np.tile(np.arange(self.n_words, dtype=np.int32), self.n_documents)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("rows", "n_documents", "n_words")}

    @property
    def counts(self) -> sp.csr_array:
        """Documents x columns, as a sparse table."""
        return sp.csr_array(self.rows)

    @property
    def n_cells(self) -> int:
        """All cells count."""
        return self.rows.size

    @property
    def n_empty(self) -> int:
        """Rows of zeros."""
        return int(np.count_nonzero(self.norms == 0))

    def select(self, rows: Array) -> DenseChunk:
        """Some of the rows."""
        return DenseChunk(self.rows[rows])

    def with_values(self, values: Array) -> DenseChunk:
        """The same cells with other values."""
        return DenseChunk(values.reshape(self.rows.shape))

    def row_sums(self, values: Array) -> Array:
        """Sum over the cells of each row."""
        return values.reshape(self.rows.shape).sum(axis=1, dtype=np.float64)

    @cached_property
    def norms(self) -> Array:
        """Euclidean length of each row."""
        return np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64))

    def tokens(self, table: Array) -> Array:
        """``rows @ table``."""
        return points.product(self.rows, table)

    def sum_tokens(self, resp: Resp) -> Array:
        """``rows.T @ resp``."""
        return points.outer(self.rows, _table_of(resp))


def _table_of(resp: Resp) -> Array:
    """Responsibilities as a table."""
    if not isinstance(resp, Assignment):
        return resp
    table = np.zeros((len(resp.labels), resp.n_components)) if resp.shares is None else resp.shares.copy()
    known = np.flatnonzero(resp.labels >= 0)
    table[known] = 0.0
    table[known, resp.labels[known]] = resp.weights[known]
    return table + resp.trace * table.sum(axis=1, keepdims=True)


def cut_rows(rows: Array, chunk_size: int = SHARD_SIZE) -> Iterator[DenseChunk]:
    """The chunks of a dense table, in order."""
    for start in range(0, len(rows), chunk_size):
        yield DenseChunk(rows[start : start + chunk_size])
