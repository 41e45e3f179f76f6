"""Documents cut into chunks, and the four ways of working on them.

| method | the function's results |
|---|---|
| `map` | come back, one a chunk, in order |
| `collect` | come back as one array, a row per document |
| `sum` | are added, and the sum comes back |
| `keep` | stay where the chunk is, as a column that the next call can take |

A function gets the chunk, then the chunk's item of each column, then what all chunks share by keyword. Sums are taken
over a tree whose shape depends on the number of chunks alone, so that they have the same bits wherever they are made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from bursty.engines.chunks import Chunk

Array = np.ndarray[Any, Any]
#: One item a chunk: plain values, or whatever `Documents.keep` gave.
Column = Sequence[Any]


@dataclass(frozen=True)
class Size:
    """How large a chunk is: documents, words present in them (non-zeros), documents without words."""

    documents: int
    cells: int
    empty: int

    @classmethod
    def of(cls, chunk: Chunk) -> Size:
        """The size of a chunk at hand."""
        return cls(chunk.n_documents, len(chunk.indices), int(np.count_nonzero(np.diff(chunk.indptr) == 0)))


class Documents(ABC):
    """The documents of a corpus, placed by an engine."""

    def __init__(self, sizes: Sequence[Size], n_words: int) -> None:
        self.sizes = list(sizes)
        self.n_words = n_words
        self.n_documents = sum(size.documents for size in self.sizes)
        self.n_cells = sum(size.cells for size in self.sizes)
        self.n_empty = sum(size.empty for size in self.sizes)

    @property
    def offsets(self) -> list[int]:
        """The number of the first document of each chunk."""
        return list(accumulate((size.documents for size in self.sizes), initial=0))[:-1]

    @abstractmethod
    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """``function(chunk, *items, **shared)`` for each chunk, in order."""

    @abstractmethod
    def keep(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Column:
        """The same, but the results (arrays) stay where the chunks are."""

    @abstractmethod
    def keep_and_sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> tuple[Column, Any]:
        """Of results that are pairs, the first of each stays and the second are added."""

    @abstractmethod
    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The result for one chunk, by its number."""

    def sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The sum of the results."""
        return total(self.map(function, *columns, **shared))

    def collect(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The results, one below the other; several of them where the function gives a tuple of arrays."""
        results = list(self.map(function, *columns, **shared))
        if isinstance(results[0], tuple):
            return tuple(self._stack(parts) for parts in zip(*results, strict=True))
        return self._stack(results)

    def split(self, rows: Any) -> Column:
        """What has a row per document, cut as the chunks are; None gives None to each."""
        if rows is None:
            return [None] * len(self.sizes)
        return [rows[start : start + size.documents] for start, size in zip(self.offsets, self.sizes, strict=True)]

    def put(self, parts: Column) -> Column:
        """Arrays of this process, one a chunk, as a kept column."""
        return self.keep(_itself, parts)

    def gather(self, column: Column) -> Array:
        """A kept column as one array in this process."""
        return self.collect(_itself, column)

    def _stack(self, parts: Sequence[Array]) -> Array:
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @property
    def n_tokens(self) -> float:
        """The sum of all counts."""
        return float(self.sum(_tokens))


def total(results: Iterable[Any]) -> Any:
    """Add results pairwise: neighbours, then neighbours of these, as far as they go; few are alive at once."""
    stack: list[tuple[int, Any]] = []
    for result in results:
        height = 0
        while stack and stack[-1][0] == height:
            result = stack.pop()[1] + result
            height += 1
        stack.append((height, result))
    if not stack:
        raise ValueError("there is nothing to add")
    _, result = stack.pop()
    while stack:
        result = stack.pop()[1] + result
    return result


def _itself(chunk: Chunk, value: Any) -> Any:
    return value


def _tokens(chunk: Chunk) -> float:
    return float(chunk.lengths.sum())
