"""The local engine: one chunk after the other, with threads inside a chunk, from memory or from disk."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.shards import ShardedCorpus
from bursty.engines.chunks import Chunk, cut
from bursty.engines.dense import cut_rows
from bursty.engines.documents import Column, Documents, Engine, Size, total
from bursty.kernels import threads
from bursty.typing import Array
from bursty.validation import Collection

# In bytes, the size of the largest number.
_ALIGNED = 8


class LocalEngine(Engine):
    """Process one chunk after the other in this process; inside a chunk, kernels use several threads.

    See Also
    --------
    Engine, get_engine

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from bursty.engines import LocalEngine
    >>> LocalEngine(n_jobs=2).place(sp.csr_array([[3, 0, 1], [0, 4, 0]])).n_documents
    2
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = threads.resolve(n_jobs)

    def place(self, counts: sp.csr_array | Array | ShardedCorpus | Collection) -> Documents:
        """Cut counts, or dense rows, in memory; shards, and columns kept with them, stay on disk."""
        if isinstance(counts, ShardedCorpus):
            sizes = [Size(shard.documents, shard.cells, shard.empty) for shard in counts.shards]
            chunks = [StoredChunk(counts, number) for number in range(len(sizes))]
            return StoredDocuments(chunks, sizes, counts.shape[1], self.n_threads)
        if isinstance(counts, Collection):
            raise ValueError('X is a Dask collection: use engine="dask", or compute it first')
        in_memory: list[Chunk] = list(cut_rows(counts) if isinstance(counts, np.ndarray) else cut(counts))
        return LocalDocuments(in_memory, [Size.of(chunk) for chunk in in_memory], counts.shape[1], self.n_threads)


class LocalDocuments(Documents):
    """Chunks in the memory of this process."""

    def __init__(self, chunks: Sequence[Any], sizes: Sequence[Size], n_words: int, n_threads: int) -> None:
        super().__init__(sizes, n_words, n_threads)
        self.chunks = chunks

    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """One chunk at a time, in order."""
        for number, items in enumerate(self._rows(columns)):
            with threads.using(self.n_threads):
                result = function(*items, **shared)
            self._remember(number, items[0])
            del items
            yield result

    def keep(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Column:
        """Return a list of the results."""
        return [self._store(result) for result in self.map(function, *columns, **shared)]

    def keep_and_sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> tuple[Column, Any]:
        """Both in one pass."""
        kept = []

        def second() -> Iterator[Any]:
            for first, addend in self.map(function, *columns, **shared):
                kept.append(self._store(first))
                yield addend

        with threads.using(self.n_threads):
            return kept, total(second())

    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Runs in this process."""
        with threads.using(self.n_threads):
            return function(*_read([self.chunks[chunk], *(column[chunk] for column in columns)]), **shared)

    def select(self, mask: Array) -> Documents:
        """Copies the rows."""
        parts = zip(self.chunks, self.split(mask), strict=True)
        chunks = [chunk.select(np.flatnonzero(rows)) for chunk, rows in parts if rows.any()]
        return LocalDocuments(chunks, [Size.of(chunk) for chunk in chunks], self.n_words, self.n_threads)

    def _rows(self, columns: Sequence[Column]) -> Iterator[list[Any]]:
        for items in zip(self.chunks, *columns, strict=True):
            yield list(items)

    def _store(self, result: Any) -> Any:
        return result

    def _remember(self, number: int, chunk: Chunk) -> None:
        """Nothing to do: the chunk itself stays in memory."""


class StoredDocuments(LocalDocuments):
    """Chunks on disk: only the current one is in memory, and kept columns are written to disk."""

    def __init__(self, chunks: Sequence[Any], sizes: Sequence[Size], n_words: int, n_threads: int) -> None:
        super().__init__(chunks, sizes, n_words, n_threads)
        self._scratch = Scratch()

    def _rows(self, columns: Sequence[Column]) -> Iterator[list[Any]]:
        """Open each chunk when its turn comes, and prefetch the next one."""
        rows = list(zip(self.chunks, *columns, strict=True))
        for items, (chunk, *_) in pairwise(rows):
            chunk.announce()
            yield _read(items)
        yield _read(rows[-1])

    def _store(self, result: Array) -> StoredArray:
        return StoredArray(self._scratch, result)

    def _remember(self, number: int, chunk: Chunk) -> None:
        """Store what was computed, for the next time the chunk is opened."""
        self.chunks[number].remember(chunk, self._scratch)

    def select(self, mask: Array) -> Documents:
        """The documents stay on disk; rows are selected when a shard is opened."""
        parts = zip(self.chunks, self.split(mask), strict=True)
        chunks = [chunk.select(np.flatnonzero(rows)) for chunk, rows in parts if rows.any()]
        sizes = [Size.of(chunk.open()) for chunk in chunks]
        return StoredDocuments(chunks, sizes, self.n_words, self.n_threads)

    def collect(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """The results stay on disk until all are complete."""
        results = []
        for result in self.map(function, *columns, **shared):
            parts = result if isinstance(result, tuple) else (result,)
            results.append(tuple(self._store(part) for part in parts))
        stacked = tuple(_joined(parts) for parts in zip(*results, strict=True))
        return stacked if isinstance(result, tuple) else stacked[0]


def _joined(parts: Sequence[StoredArray]) -> Array:
    """Concatenate in memory or, if they are large, in a file that is removed together with the array."""
    if sum(part.path.stat().st_size for part in parts) < _LARGE:
        return np.concatenate([part.open() for part in parts])
    n_rows = 0
    with tempfile.TemporaryFile(prefix="bursty-") as file:
        for part in parts:
            rows = part.open()
            rows.tofile(file)
            n_rows += len(rows)
        file.flush()
        return np.asarray(np.memmap(file, dtype=rows.dtype, mode="r+", shape=(n_rows, *rows.shape[1:])))


# Results above this many bytes stay on disk.
_LARGE = 2**24


class StoredChunk:
    """A shard, or some of its rows, as a chunk."""

    def __init__(self, corpus: ShardedCorpus, number: int, rows: Array | None = None) -> None:
        self.corpus = corpus
        self.number = number
        self.rows = rows
        self._facts: StoredFacts | None = None

    def announce(self) -> None:
        """Ask the system to prefetch the shard."""
        self.corpus.announce(self.number)

    def open(self) -> Chunk:
        """Map the shard into memory; its order by word is stored, and is used if all rows are selected."""
        chunk = Chunk.from_orders(*self.corpus.orders(self.number))
        if self.rows is not None:
            chunk = Chunk(chunk.counts[self.rows])
        if self._facts is not None:
            chunk.recall(self._facts.open())
        return chunk

    def select(self, rows: Array) -> StoredChunk:
        """Select some of the rows."""
        return StoredChunk(self.corpus, self.number, rows if self.rows is None else self.rows[rows])

    def remember(self, chunk: Chunk, scratch: Scratch) -> None:
        """Store on disk what was computed from the documents, if anything is new."""
        facts = chunk.facts()
        if facts and (self._facts is None or facts.keys() != self._facts.names):
            self._facts = StoredFacts(scratch, facts)


class Scratch:
    """A temporary folder, removed when nothing refers to it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="bursty-"))
        self._n_files = 0
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def new_file(self) -> Path:
        """A name that has not been used before."""
        self._n_files += 1
        return self.path / f"{self._n_files}.npy"


class StoredArray:
    """An array in a file of its own, which is removed when nothing refers to it."""

    def __init__(self, scratch: Scratch, values: Array) -> None:
        self._scratch = scratch  # must outlive this object
        self.path = scratch.new_file()
        np.save(self.path, values, allow_pickle=False)
        weakref.finalize(self, self.path.unlink, missing_ok=True)

    def open(self) -> Array:
        """Map the file into memory; changes are not written back."""
        return np.asarray(np.load(self.path, mmap_mode="c", allow_pickle=False))


class StoredFacts:
    """The facts of a chunk in one file, which is faster to read than to compute again."""

    def __init__(self, scratch: Scratch, facts: dict[str, tuple[Array, ...]]) -> None:
        self._layout = {name: [(array.dtype, array.nbytes) for array in arrays] for name, arrays in facts.items()}
        parts = [array.view(np.uint8) for arrays in facts.values() for array in arrays]
        padded = [np.pad(part, (0, -len(part) % _ALIGNED)) for part in parts]
        self._bytes = StoredArray(scratch, np.concatenate(padded))

    @property
    def names(self) -> Set[str]:
        """Names of the stored facts."""
        return self._layout.keys()

    def open(self) -> dict[str, tuple[Array, ...]]:
        """Map the file into memory and split it."""
        flat, start, facts = self._bytes.open(), 0, {}
        for name, layout in self._layout.items():
            arrays = []
            for dtype, size in layout:
                arrays.append(flat[start : start + size].view(dtype))
                start += size + -size % _ALIGNED
            facts[name] = tuple(arrays)
        return facts


def _read(items: Sequence[Any]) -> list[Any]:
    return [item.open() if isinstance(item, StoredChunk | StoredArray) else item for item in items]
