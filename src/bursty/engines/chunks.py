"""A chunk of documents, and the sparse sums over it in terms of which every family is written.

There are five sums per document (for the E step) and five over documents (for the M step), so that families contain
only mathematics:

| per document | over documents | sums over |
|---|---|---|
| `words(table)` | `sum_by_word(resp)` | the distinct words |
| `tokens(table)` | `sum_tokens(resp)` | the tokens: words times their counts |
| `levels(table)` | `sum_by_level(resp)` | the pairs (word, count) |
| `lengths_of(table)` | `sum_by_length(resp)` | the length of the document |
| `directions(table, constants)` | `sum_directions(resp)` | the tokens, divided by the Euclidean norm of the document |

``table`` has one row per word (or level, or length) and one column per component; the result has one row per document.
``resp`` is an array of shape (n_documents, n_components), or an `Assignment` of one component to most documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from bursty.corpus.shards import SHARD_SIZE
from bursty.engines.levels import Levels
from bursty.kernels import gather, gibbs_counts, order, polya, threads
from bursty.typing import Array

# Counts up to this are looked up in a table of log factorials.
_MANY = 100_000


@dataclass(frozen=True)
class Assignment:
    """Certain responsibilities: one component per document, with a weight.

    A document with label -1 belongs to no component or, if ``shares`` of shape (n_documents, n_components) are given,
    to each component by its row of the shares. In addition, every component gets a ``trace`` of every document.
    """

    labels: Array
    n_components: int
    weights: Array
    shares: Array | None = None
    trace: float = 0.0

    @classmethod
    def single(cls, weights: Array) -> Assignment:
        """Assign every document to one component."""
        return cls(np.zeros(len(weights), dtype=np.int32), 1, weights)

    def __getitem__(self, rows: slice) -> Assignment:
        shares = None if self.shares is None else self.shares[rows]
        return replace(self, labels=self.labels[rows], weights=self.weights[rows], shares=shares)

    def __mul__(self, factors: Array) -> Assignment:
        """Multiply the weight of each document by its factor."""
        shares = None if self.shares is None else self.shares * factors[:, None]
        return replace(self, weights=self.weights * factors, shares=shares)

    @property
    def is_plain(self) -> bool:
        """Whether labels and weights are all there is."""
        return self.shares is None and self.trace == 0.0

    @property
    def columns(self) -> tuple[Array, Array, Array, float]:
        """Arguments of kernels that walk columns: labels, weights, shares (no rows if there are none) and trace."""
        shares = np.empty((0, self.n_components)) if self.shares is None else np.ascontiguousarray(self.shares)
        return self.labels, self.weights, shares, self.trace

    def cost(self, starts: Array) -> Array:
        """Cumulative cost of walking the columns with these starts: their cells, and the components of each column."""
        return starts + np.arange(len(starts)) * np.int64(self.n_components)


Resp = Array | Assignment


def weighted(values: Any, weights: Array | None) -> Any:
    """Multiply values or responsibilities of documents by the weights of the documents, if there are any."""
    if weights is None:
        return values
    return values * (weights if isinstance(values, Assignment) or values.ndim == 1 else weights[:, None])


def with_trace(resp: Array, trace: float) -> Resp:
    """Add a trace of every document to every component (``resp`` itself may be changed).

    Documents of more than a few words usually belong to one component, up to a thousandth of the trace. If most
    documents do, that thousandth is left out, so that their sums need not walk the components.
    """
    labels = np.empty(len(resp), dtype=np.int32)
    cost = np.arange(len(resp) + 1) * np.int64(resp.shape[1])
    threads.run(gather.certain_labels, cost, resp, 1.0 - 1e-3 * trace, labels)
    if 2 * np.count_nonzero(labels < 0) > len(labels):
        return threads.apply(np.add, resp, trace, out=resp)
    return Assignment(labels, resp.shape[1], np.ones(len(labels)), resp, trace)


class Chunk:
    """Counts of a block of documents, and the orders in which to walk them, each computed on first use."""

    def __init__(self, counts: sp.csr_array) -> None:
        self.n_documents, self.n_words = counts.shape
        self.indptr = counts.indptr.astype(np.int32, copy=False)
        self.indices = counts.indices.astype(np.int32, copy=False)
        self.values = counts.data

    @classmethod
    def from_orders(cls, by_document: tuple[Array, Array, Array], by_word: tuple[Array, Array, Array]) -> Chunk:
        """A chunk whose order by word is already known; each order is (starts, columns or rows, values)."""
        chunk = cls.from_parts(*by_document, n_words=len(by_word[0]) - 1)
        chunk.__dict__["_by_word"] = by_word
        return chunk

    @classmethod
    def from_parts(cls, indptr: Array, indices: Array, values: Array, *, n_words: int) -> Chunk:
        """A chunk of these arrays, without the copies that SciPy would make of views."""
        chunk = cls.__new__(cls)
        chunk.indptr, chunk.indices, chunk.values = indptr, indices, values
        chunk.n_documents, chunk.n_words = len(indptr) - 1, n_words
        return chunk

    def __getstate__(self) -> dict[str, Any]:
        """Only the counts are pickled; the orders are computed again where they are needed."""
        names = "n_documents", "n_words", "indptr", "indices", "values"
        return {name: self.__dict__[name] for name in names}

    def facts(self) -> dict[str, tuple[Array, ...]]:
        """What was computed per document: small compared with the counts, and worth keeping when these are closed."""
        known = {name: self.__dict__[name] for name in ("lengths", "repeats", "_by_length") if name in self.__dict__}
        return {name: value if isinstance(value, tuple) else (value,) for name, value in known.items()}

    def recall(self, facts: dict[str, tuple[Array, ...]]) -> None:
        """Restore what `facts` returned."""
        self.__dict__.update({name: value if len(value) > 1 else value[0] for name, value in facts.items()})

    @property
    def counts(self) -> sp.csr_array:
        """The counts as a sparse matrix of shape (n_documents, n_words)."""
        shape = self.n_documents, self.n_words
        return sp.csr_array((self.values, self.indices, self.indptr), shape=shape)

    @property
    def n_cells(self) -> int:
        """Words present in the documents."""
        return len(self.indices)

    @property
    def n_empty(self) -> int:
        """Documents without words."""
        return int(np.count_nonzero(np.diff(self.indptr) == 0))

    def select(self, rows: Array) -> Chunk:
        """Some of the documents."""
        return Chunk(self.counts[rows])

    def with_values(self, values: Array) -> Chunk:
        """A chunk with the same cells and other values."""
        shape = self.n_documents, self.n_words
        return Chunk(sp.csr_array((values, self.indices, self.indptr), shape=shape))

    def document_frequency(self) -> Array:
        """Number of documents that contain each word."""
        return np.bincount(self.indices, minlength=self.n_words)

    def row_sums(self, values: Array) -> Array:
        """Sum of these values, one per cell, over the cells of each document."""
        out = np.zeros(self.n_documents, dtype=np.int64 if values.dtype.kind == "i" else np.float64)
        threads.run(order.row_sums, self.indptr, self.indptr, values, out)
        return out

    @cached_property
    def lengths(self) -> Array:
        """Number of tokens of each document (the sum of its values, if these are not counts)."""
        return self.row_sums(self.values)

    @cached_property
    def repeats(self) -> Array:
        """Sum of log Gamma(x_w) over the words of each document: the part of repetitions without parameters."""
        largest = int(self.values.max(initial=0))
        if largest < _MANY:
            table = gammaln(np.maximum(np.arange(largest + 1.0), 1.0))
            return self._gather(self.indptr, self.values, table[:, None])[:, 0]
        return self.row_sums(gammaln(self.values.astype(np.float64)))

    @cached_property
    def without_first(self) -> Chunk:
        """The same documents without the first occurrence of each word."""
        cells = np.flatnonzero(self.values > 1)
        starts = np.searchsorted(cells, self.indptr).astype(np.int32)
        return Chunk.from_parts(starts, self.indices[cells], self.values[cells] - 1, n_words=self.n_words)

    @cached_property
    def norms(self) -> Array:
        """Euclidean norm of each document."""
        return np.sqrt(self.row_sums(self.values.astype(np.float64) ** 2))

    @property
    def inverse_norms(self) -> Array:
        """One over the norm, 0 for documents without words."""
        return np.divide(1.0, self.norms, out=np.zeros(self.n_documents), where=self.norms > 0)

    @cached_property
    def _by_word(self) -> tuple[Array, Array, Array]:
        return order.transpose(self.indptr, self.indices, self.values, self.n_words)

    @cached_property
    def _pattern_by_word(self) -> tuple[Array, Array]:
        """Starts and indices of the documents of each word: `_by_word` without the counts."""
        if "_by_word" in self.__dict__:
            return self._by_word[:2]
        return order.transpose(self.indptr, self.indices, self.values[:0], self.n_words)[:2]

    @cached_property
    def token_first(self) -> Array:
        """Index of the first token of each document, if its tokens are listed one after the other."""
        return np.append(0, np.cumsum(self.lengths, dtype=np.int64))

    @cached_property
    def tokens_by_word(self) -> gibbs_counts.ByWord:
        """The tokens of each word, cell by cell."""
        few = self.token_first[-1] < 2**31
        places = np.empty(len(self.indices), dtype=np.int32 if few else np.int64)
        sizes = np.empty(len(self.indices), dtype=np.int32)
        starts, larger = gibbs_counts.order_by_word(self.indices, self.values, self.n_words, places, sizes)
        return gibbs_counts.ByWord(starts, larger, places, sizes)

    @cached_property
    def word_first(self) -> Array:
        """Index of the first token of each word, if the tokens are sorted by word."""
        tokens = np.bincount(self.indices, weights=self.values, minlength=self.n_words)
        return np.append(0, np.cumsum(tokens, dtype=np.int64))

    @cached_property
    def _by_level(self) -> tuple[Array, Array, Array, Array]:
        return order.order_levels(*self._by_word)

    @cached_property
    def level_first(self) -> Array:
        """Index of the first level of each word."""
        return Levels(self.level_words, self.level_values, np.empty((0, 0)), self.n_words).first

    @cached_property
    def level_starts(self) -> tuple[Array, Array]:
        """The words that occur, and the index of the first level of each of them."""
        words = np.flatnonzero(np.diff(self.level_first))
        return words, self.level_first[np.append(words, self.n_words)]

    @cached_property
    def _level_codes(self) -> Array:
        codes = np.empty(len(self.indices), dtype=np.int32)
        args = self.indptr, self.indices, self.values, self.level_first, self.level_values, codes
        threads.run(order.level_codes, self.indptr, *args)
        return codes

    @cached_property
    def _by_length(self) -> tuple[Array, Array, Array, Array]:
        """The lengths that occur, the index of each document's length among them, and the documents of each length."""
        values, codes = np.unique(self.lengths, return_inverse=True)
        documents = np.arange(self.n_documents + 1, dtype=np.int32)
        codes = codes.astype(np.int32)
        starts, rows, _ = order.transpose(documents, codes, codes[:0], len(values))
        return values.astype(np.int32), codes, starts, rows

    # Per document --------------------------------------------------------------------------------------------

    def words(self, table: Array) -> Array:
        """Sum of the rows of the table over the distinct words of each document."""
        return self._gather(self.indptr, self.indices, table)

    def tokens(self, table: Array) -> Array:
        """Sum of the rows of the table over the tokens of each document."""
        out = np.empty((self.n_documents, table.shape[1]))
        cost, rows = self.indptr * np.int64(table.shape[1]), np.ascontiguousarray(table)
        threads.run(gather.sum_weighted_rows, cost, self.indptr, self.indices, self.values, rows, out)
        return out

    def levels(self, table: Array) -> Array:
        """Sum of the rows of the table over the levels of each document."""
        return self._gather(self.indptr, self._level_codes, table)

    def rising(self, weights: Array, more: float) -> Array:
        """Sum over the words of each document of log (a)(a + 1) ... (a + x - 1), with a in ``weights + more``."""
        more_weights = threads.apply(np.add, weights, more)
        return self.levels(polya.log_rising_table(self.level_first, self.level_values, more_weights))

    @staticmethod
    def add(out: Array, rows: Array) -> None:
        """Add to the row of each document another one."""
        cost = np.arange(len(out) + 1) * np.int64(out.shape[1])
        threads.run(gather.add_tables, cost, out, rows, out)

    def directions(self, table: Array, constants: Array) -> Array:
        """Sum of the rows of the table over the tokens of each document, divided by its norm, plus the constants."""
        return self.tokens(table) * self.inverse_norms[:, None] + constants

    def lengths_of(self, table: Array) -> Array:
        """The row of the table for the length of each document."""
        return table[self._by_length[1]]

    def add_by_document(self, out: Array, by_length: Array, constants: Array | None = None) -> None:
        """Add to the row of each document the row of the table for its length, and a constant of its own."""
        constants = np.zeros(self.n_documents) if constants is None else constants
        cost = np.arange(self.n_documents + 1) * np.int64(out.shape[1])
        threads.run(gather.add_rows, cost, by_length, self._by_length[1], constants, out)

    def inner_products(self) -> Array:
        """Of the documents with each other: n_documents x n_documents."""
        out = np.zeros((self.n_documents, self.n_documents))
        cost = self.indptr * np.int64(max(1, self.n_cells // max(1, self.n_words)))
        by_document = self.indptr, self.indices, self.values
        threads.run(gather.inner_products, cost, *by_document, *self._by_word, out)
        return out

    @property
    def level_words(self) -> Array:
        """The word of each level."""
        return self._by_level[0]

    @property
    def level_values(self) -> Array:
        """The count of each level."""
        return self._by_level[1]

    @property
    def length_values(self) -> Array:
        """The lengths that occur, sorted."""
        return self._by_length[0]

    # Over documents ------------------------------------------------------------------------------------------

    def sum_by_word(self, resp: Resp) -> Array:
        """Weight of the documents that contain each word: array of shape (n_words, n_components)."""
        if isinstance(resp, Assignment) and resp.is_plain:
            out = np.zeros((self.n_words, resp.n_components))
            gather.tally_by_row(self.indptr, self.indices, resp.labels, resp.weights, out)
            return out
        return self._sum(*self._pattern_by_word, resp)

    def sum_tokens(self, resp: Resp) -> Array:
        """Weighted counts of each word: array of shape (n_words, n_components)."""
        if isinstance(resp, Assignment) and resp.is_plain:
            out = np.zeros((self.n_words, resp.n_components))
            gather.tally_weighted_by_row(self.indptr, self.indices, self.values, resp.labels, resp.weights, out)
            return out
        starts, rows, values = self._by_word
        if isinstance(resp, Assignment):
            out = np.empty((self.n_words, resp.n_components))
            cost = resp.cost(starts)
            threads.run(gather.tally_weighted_by_column, cost, starts, rows, values, *resp.columns, out)
            return out
        out = np.empty((self.n_words, resp.shape[1]))
        cost = starts * np.int64(resp.shape[1])
        threads.run(gather.sum_weighted_rows, cost, starts, rows, values, np.ascontiguousarray(resp), out)
        return out

    def sum_by_level(self, resp: Resp) -> Levels:
        """Weight of the documents at each level."""
        words, values, starts, rows = self._by_level
        levels = Levels(words, values, self._sum(starts, rows, resp), self.n_words)
        levels.__dict__["first"] = self.level_first  # already known
        return levels

    def sum_by_length(self, resp: Resp) -> Levels:
        """Weight of the documents of each length."""
        values, _, starts, rows = self._by_length
        return Levels(np.zeros(len(values), dtype=np.int32), values, self._sum(starts, rows, resp), 1)

    def sum_directions(self, resp: Resp) -> tuple[Array, Array]:
        """Weighted sum of the documents divided by their norms (n_words x K), and weight of those with a norm (K)."""
        inverse = self.inverse_norms
        if not isinstance(resp, Assignment):
            inverse = inverse[:, None]
        return self.sum_tokens(resp * inverse), self.total(resp * (inverse > 0))

    @staticmethod
    def total(resp: Resp) -> Array:
        """Total weight of the documents of each component."""
        if not isinstance(resp, Assignment):
            return gather.column_sums(resp)
        everyone = np.arange(len(resp.labels), dtype=np.int32)
        return Chunk._sum(np.array([0, len(everyone)], dtype=np.int32), everyone, resp)[0]

    @staticmethod
    def _sum(starts: Array, rows: Array, resp: Resp) -> Array:
        """Weight of the documents that each row of a sparse pattern lists."""
        if not isinstance(resp, Assignment):
            return Chunk._gather(starts, rows, resp)
        out = np.empty((len(starts) - 1, resp.n_components))
        threads.run(gather.tally_by_column, resp.cost(starts), starts, rows, *resp.columns, out)
        return out

    @staticmethod
    def _gather(starts: Array, indices: Array, table: Array) -> Array:
        out, table = np.empty((len(starts) - 1, table.shape[1])), np.ascontiguousarray(table)
        threads.run(gather.sum_rows, starts * np.int64(table.shape[1]), starts, indices, table, out)
        return out


def cut(counts: sp.csr_array, chunk_size: int = SHARD_SIZE) -> Iterator[Chunk]:
    """Yield the chunks of a corpus, in order."""
    for start in range(0, counts.shape[0], chunk_size):
        if start == 0 and counts.shape[0] <= chunk_size:
            yield Chunk(counts)
        else:
            yield Chunk(counts[start : start + chunk_size])
