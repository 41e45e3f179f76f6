"""Documents cut into chunks, and the four ways of applying a function to them.

| method | results of the function |
|---|---|
| `map` | are returned in order, one per chunk |
| `collect` | are returned as one array, one row per document |
| `sum` | are added, and the sum is returned |
| `keep` | stay with their chunk, as a column that later calls can use |

`run_locally` applies a function to returned values, in this process.

A function receives the chunk, then the item of each column for this chunk, then by keyword what all chunks share. Sums
are taken over a tree whose shape depends only on the number of chunks, so that they have the same bits on every engine.
"""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from bursty.engines.chunks import Chunk
from bursty.kernels import gather, threads
from bursty.typing import Array

#: One item per chunk: plain values, or what `Documents.keep` returned.
Column = Sequence[Any]


@dataclass(frozen=True)
class Size:
    """Size of a chunk: number of documents, of non-zero counts, and of documents without words."""

    documents: int
    cells: int
    empty: int

    @classmethod
    def of(cls, chunk: Chunk) -> Size:
        """The size of this chunk."""
        return cls(chunk.n_documents, chunk.n_cells, chunk.n_empty)


class Documents(ABC):
    """The documents of a corpus, placed by an engine.

    See Also
    --------
    Engine

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from bursty.engines import Chunk, get_engine
    >>> documents = get_engine().place(sp.csr_array([[3, 0, 1], [0, 4, 0]]))
    >>> documents.sum(Chunk.document_frequency)
    array([1, 1, 1])
    """

    def __init__(self, sizes: Sequence[Size], n_words: int, n_threads: int) -> None:
        self.sizes = list(sizes)
        self.n_words = n_words
        self.n_threads = n_threads
        self.n_documents = sum(size.documents for size in self.sizes)
        self.n_cells = sum(size.cells for size in self.sizes)
        self.n_empty = sum(size.empty for size in self.sizes)

    @property
    def offsets(self) -> list[int]:
        """Index of the first document of each chunk."""
        return list(accumulate((size.documents for size in self.sizes), initial=0))[:-1]

    @abstractmethod
    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """Yield ``function(chunk, *items, **shared)`` for each chunk, in order."""

    @abstractmethod
    def keep(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Column:
        """Like `map`, but the results (arrays) stay with their chunks."""

    @abstractmethod
    def keep_and_sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> tuple[Column, Any]:
        """For a function that returns pairs: keep the first items, and add the second ones."""

    def run_locally(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Apply a function to returned values, such as sums, with the threads of this process."""
        with threads.using(self.n_threads):
            return function(*args, **kwargs)

    def fetch(self, value: Any) -> Any:
        """Copy a result to plain arrays of this process, in case a device has kept it."""
        return value

    @abstractmethod
    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The result for the chunk of this number."""

    def sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The sum of the results."""
        with threads.using(self.n_threads):
            return total(self.map(function, *columns, **shared))

    def collect(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The concatenated results; a tuple of arrays if the function returns tuples of arrays."""
        results = list(self.map(function, *columns, **shared))
        if isinstance(results[0], tuple):
            return tuple(self._stack(parts) for parts in zip(*results, strict=True))
        return self._stack(results)

    @abstractmethod
    def select(self, mask: Array) -> Documents:
        """The documents selected by a boolean mask; they stay where they are."""

    def split(self, rows: Any) -> Column:
        """Split an array with one row per document into one part per chunk; None becomes None for each chunk."""
        if rows is None:
            return [None] * len(self.sizes)
        return [rows[start : start + size.documents] for start, size in zip(self.offsets, self.sizes, strict=True)]

    def put(self, parts: Column) -> Column:
        """Turn arrays of this process, one per chunk, into a kept column."""
        return self.keep(_itself, parts)

    def gather(self, column: Column) -> Array:
        """Copy a kept column to one array in this process."""
        return self.collect(_itself, column)

    def _stack(self, parts: Sequence[Array]) -> Array:
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def n_tokens(self) -> float:
        """The sum of all counts."""
        return float(self.sum(_tokens))

    def counts(self) -> sp.csr_array:
        """Copy all counts to this process."""
        parts = [
            sp.csr_array((values, words, indptr), shape=(len(indptr) - 1, self.n_words))
            for indptr, words, values in self.map(_cells)
        ]
        return parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts))

    @cached_property
    def fingerprint(self) -> str:
        """A text that is equal for equal documents, wherever they are."""
        checksum = zlib.crc32(np.array(list(self.map(_checksum)), dtype=np.uint32).tobytes())
        return f"{self.n_documents} x {self.n_words}, {checksum:08x}"

    @cached_property
    def lengths(self) -> Array:
        """Number of tokens of each document."""
        return np.asarray(self.collect(_lengths))


class Engine(ABC):
    """A place where documents are stored and processed.

    See Also
    --------
    LocalEngine, Documents, get_engine

    Examples
    --------
    >>> from bursty.engines import Engine, get_engine
    >>> isinstance(get_engine("local"), Engine)
    True
    """

    @abstractmethod
    def place(self, counts: Any) -> Documents:
        """Cut a corpus into chunks and place them where they will be processed."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        """Copies of an estimator use the same engine."""
        return self


F = TypeVar("F", bound=Callable[..., Any])


def has_versions(function: F) -> F:
    """Declare that a function over chunks, or on sums, may have versions for devices.

    The version for a device has the same name, in the module ``<device>_<module>`` beside the module of the function.
    """
    function.__dict__["has_versions"] = True
    return function


def version_for(device: str, function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The version of a function for a device, if there is one; the version of a method takes the object first."""
    if not getattr(function, "has_versions", False):
        return None
    package, _, name = function.__module__.rpartition(".")
    module = f"{package}.{device}_{name}".lstrip(".")
    if find_spec(module) is None:
        return None
    version: Callable[..., Any] | None = getattr(import_module(module), function.__name__, None)
    owner = getattr(function, "__self__", None)
    return version if owner is None or version is None else partial(version, owner)


class TreeSum:
    """Partial sum over consecutive chunks.

    All chunks are added as a tree: neighbours first, then the sums of neighbours. A partial sum holds the largest
    branches that its chunks fill. Sums over consecutive ranges can therefore be computed anywhere and joined later, to
    the same bits as in one process.
    """

    def __init__(self, first: int = 0, n_chunks: float = math.inf) -> None:
        self.first = self._next = first
        self.n_chunks = n_chunks
        self._branches: list[tuple[int, Any]] = []  # the first chunk of each, and its sum

    def add(self, result: Any, size: int = 1) -> None:
        """Add the result of the next chunk, or of a branch of ``size`` chunks."""
        start, self._next = self._next, self._next + size
        while self._branches:
            left = self._branches[-1][0]
            width = start - left
            if left % (2 * width) or self._next != min(left + 2 * width, self.n_chunks):
                break
            start, result = left, gather.added(self._branches.pop()[1], result)
        self._branches.append((start, result))

    def join(self, right: TreeSum) -> None:
        """Append the partial sum over the following chunks."""
        starts = [start for start, _ in right._branches]
        for (start, result), stop in zip(right._branches, [*starts[1:], right._next], strict=True):
            self.add(result, stop - start)

    @property
    def value(self) -> Any:
        """The sum, once all chunks are there; incomplete branches are added from the right."""
        if not self._branches:
            raise ValueError("there is nothing to add")
        *others, (_, result) = self._branches
        for _, left in reversed(others):
            result = gather.added(left, result)
        return result


def total(results: Iterable[Any]) -> Any:
    """Add results pairwise, neighbours first, with few of them in memory at once."""
    added = TreeSum()
    for result in results:
        added.add(result)
    return added.value


def _itself(chunk: Chunk, value: Any) -> Any:
    return value


def _tokens(chunk: Chunk) -> float:
    return float(chunk.lengths.sum())


def _lengths(chunk: Chunk) -> Array:
    return chunk.lengths


def _cells(chunk: Chunk) -> tuple[Array, Array, Array]:
    return chunk.indptr, chunk.indices, chunk.values


def _checksum(chunk: Chunk) -> int:
    value = 0
    for array, kind in ((chunk.indptr, np.int64), (chunk.indices, np.int32), (chunk.values, np.float64)):
        value = zlib.crc32(np.ascontiguousarray(array, dtype=kind).data, value)
    return value
