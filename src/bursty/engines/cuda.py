"""The CUDA engine: chunks and kept columns stay in the memory of an NVIDIA GPU.

A function over chunks declares with `engines.documents.has_versions` that it may have a version for the GPU, which then
receives chunks and columns on the GPU. Every other function runs on the threads of this process, and its arguments are
copied.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.shards import ShardedCorpus
from bursty.engines.chunks import Chunk, cut
from bursty.engines.dense import cut_rows
from bursty.engines.documents import Column, Documents, Size, version_for
from bursty.engines.local import LocalDocuments, LocalEngine
from bursty.kernels import gather, gibbs_counts, threads
from bursty.typing import Array
from bursty.validation import Collection

# Maximum number of documents in a chunk: a GPU processes a hundred thousand at once.
_CHUNK = 2**22
# For several GPUs: chunks of at least this many cells, up to this number of chunks, of which each GPU has several.
_CELLS, _N_CHUNKS = 2**20, 32
# A document is cut if it is longer than this, and than this share of all tokens: others would wait for its end.
_LONG, _SIDE_BY_SIDE = 512, 8192
# About the number of tokens in a segment of a long document; words with more tokens than the latter are cut as well.
_SEGMENT, _HEAVY = 128, 256
#: Words of which a document has more tokens than this are summed over levels by many threads.
TALL = 64
# What a chunk has on the GPU, and the chunks that have something there, oldest first.
_ON_CARD = "on_card", "_keys", "_room", "_patterns"
_resident: list[weakref.ref[CudaChunk]] = []


def open_card() -> Any:
    """Return `numba.cuda`, after checking that there is a GPU it can use."""
    try:
        import numba_cuda  # it replaces `numba.cuda`
        from numba import cuda
        from numba.cuda.core import config
    except ImportError:
        raise ImportError('engine="cuda" needs numba-cuda: pip install "bursty[gpu]"') from None
    try:
        available, reason = bool(cuda.is_available()), ""
    except Exception as error:  # any error of the driver
        available, reason = False, f" ({error})"
    if not available:
        raise RuntimeError(
            f'engine="cuda" found no NVIDIA GPU with a working driver{reason}: check nvidia-smi, or use engine="local"'
        )
    try:
        config.ENABLE_CUDASIM or importlib.import_module("numba.cuda.cudaimpl")  # what kernels are compiled with
    except AttributeError as error:
        raise RuntimeError(
            f'engine="cuda": numba-cuda {numba_cuda.__version__} does not work with NumPy {np.__version__} ({error}): '
            'pip install "bursty[gpu]"'
        ) from None
    # Small corpora cannot occupy a GPU, and users cannot change that.
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    return cuda


class CudaEngine(LocalEngine):
    """One GPU; functions without a version for it run in this process."""

    def __init__(self, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        self.cuda = open_card()

    def place(self, counts: sp.csr_array | Array | ShardedCorpus | Collection) -> Documents:
        """Counts are copied to the GPU when a function first needs them there, chunk by chunk if they are too many."""
        if isinstance(counts, np.ndarray):
            dense = list(cut_rows(counts, _CHUNK))
            return CudaDocuments(dense, [Size.of(chunk) for chunk in dense], counts.shape[1], self.n_threads)
        if isinstance(counts, ShardedCorpus):
            raise ValueError('engine="cuda" needs counts in memory: pass corpus.counts, or use engine="local"')
        if isinstance(counts, Collection):
            raise ValueError('X is a Dask collection: use engine="dask", or compute it first')
        share = min(1.0, room() / 8 / max(1, 8 * float(counts.sum())))
        size = min(_CHUNK, max(1, int(share * counts.shape[0])))
        chunks = [CudaChunk(chunk) for chunk in cut(counts, size)]
        return CudaDocuments(chunks, [Size.of(chunk) for chunk in chunks], counts.shape[1], self.n_threads)


def cut_for_cards(counts: sp.csr_array) -> Iterator[Chunk]:
    """Chunks for several GPUs: large ones, and the same for any number of GPUs, so that results are the same."""
    n_chunks = min(_N_CHUNKS, max(1, counts.nnz // _CELLS))
    size = -(-counts.shape[0] // 2 ** (n_chunks.bit_length() - 1))  # 2, 4, 8 ... are as many for each GPU
    return cut(counts, min(_CHUNK, max(1, size)))


@dataclass(frozen=True)
class Segments:
    """Long documents, cut as `bursty.kernels.cuda.segments` describes: all segments, of heavy words, of others."""

    spans: Any
    of_heavy: Any
    of_light: Any
    heavy: Any
    documents: Array

    @classmethod
    def of(cls, chunk: CudaChunk, documents: Array, first: Array) -> Segments:
        """Cut these documents between words, and words with very many tokens anywhere."""
        starts, ends = chunk.indptr[documents].astype(np.int64), chunk.indptr[documents + 1].astype(np.int64)
        sizes = ends - starts
        rows = np.repeat(np.arange(len(documents)), sizes)
        cells = np.arange(len(rows)) + (starts - (np.cumsum(sizes) - sizes))[rows]
        counts = chunk.values[cells].astype(np.int64)
        token = chunk.cell_first[cells]
        shift = token - first[documents[rows]]
        is_heavy = counts > _HEAVY
        edge = np.ones(len(cells), dtype=bool)
        edge[1:] = (np.diff(rows) > 0) | is_heavy[1:] | is_heavy[:-1] | (np.diff(shift // _SEGMENT) > 0)
        begins = np.flatnonzero(edge)
        lasts = np.append(begins[1:], len(cells)) - 1
        light = begins[~is_heavy[begins]]
        light_end = lasts[~is_heavy[begins]]
        columns = rows[light], token[light], token[light_end] + counts[light_end], shift[light], np.full(len(light), -1)
        of_light = cls._spans(documents, *columns)
        own = np.flatnonzero(is_heavy)
        n_pieces = -(-counts[own] // _SEGMENT)
        numbers = np.repeat(np.arange(len(own)), n_pieces)
        skipped = _SEGMENT * (np.arange(len(numbers)) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces))
        pieces = own[numbers]
        stop = token[pieces] + np.minimum(skipped + _SEGMENT, counts[pieces])
        of_heavy = cls._spans(documents, rows[pieces], token[pieces] + skipped, stop, shift[pieces] + skipped, numbers)
        heavy = np.stack([rows[own], chunk.indices[cells[own]]], axis=1).astype(np.int64)
        cuda = open_card()
        parts = (np.concatenate([of_heavy, of_light]), of_heavy, of_light)
        # Chains that share a warp take as many steps as the first one.
        both, heavy_first, light_first = (
            cuda.to_device(spans[np.argsort(spans[:, 1] - spans[:, 2], kind="stable")]) for spans in parts
        )
        return cls(both, heavy_first, light_first, cuda.to_device(heavy), documents)

    @staticmethod
    def _spans(documents: Array, rows: Array, begin: Array, end: Array, shift: Array, heavy: Array) -> Array:
        return np.stack([documents[rows], begin, end, shift, rows, heavy], axis=1).astype(np.int64).reshape(-1, 6)


@dataclass(frozen=True)
class CardTokens:
    """The tokens of a chunk on the GPU, in the layout of `bursty.kernels.cuda.gibbs`, and facts about them.

    ``spans`` are whole documents, ``long`` those of them that are in ``segments``, ``lengths`` the number of documents
    by length (n x 2), and ``tall`` the words of which a document has very many tokens.
    """

    spans: Any
    long: Any
    short: Any
    segments: Segments | None
    codes: Any
    lengths: Any
    level_first: Any
    tall: Any
    n_levels: int
    longest: int
    longest_short: int


class CudaChunk(Chunk):
    """A chunk that may have a copy on the GPU."""

    def __init__(self, chunk: Chunk) -> None:
        self.__dict__.update(chunk.__dict__)

    def leave_card(self) -> None:
        """Free the memory of the GPU; the next use copies again."""
        for name in _ON_CARD:
            self.__dict__.pop(name, None)

    def select(self, rows: Array) -> CudaChunk:
        """Some of the documents."""
        return CudaChunk(super().select(rows))

    @property
    def cell_first(self) -> Array:
        """Index of the first token of each cell."""
        return np.append(0, np.cumsum(self.values, dtype=np.int64))

    @cached_property
    def on_card(self) -> CardTokens:
        """The tokens on the GPU, copied on first use."""
        cuda = open_card()
        lengths = self.lengths.astype(np.int64)
        most = np.zeros(self.n_words, dtype=np.int64)
        gather.largest(self.indices, self.values, most)
        level_first = np.append(0, np.cumsum(most))
        make_room(6 * int(lengths.sum()) + 48 * self.n_documents)
        _resident.append(weakref.ref(self))
        cell_first, codes = self.cell_first, np.empty(int(lengths.sum()), dtype=np.int32)
        threads.run(gibbs_counts.token_codes, cell_first, cell_first, self.indices, self.values, codes)
        first, order = np.append(0, np.cumsum(lengths)), np.argsort(-lengths, kind="stable")
        limit = max(_LONG, int(lengths.sum()) // _SIDE_BY_SIDE)
        n_long = int(np.count_nonzero(lengths > limit))
        nothing = np.zeros_like(order)
        spans = cuda.to_device(np.stack([order, first[order], first[order + 1], nothing, nothing], axis=1))
        return CardTokens(
            spans=spans,
            long=spans[:n_long],
            short=spans[n_long:],
            segments=Segments.of(self, order[:n_long], first) if n_long else None,
            codes=cuda.to_device(codes),
            lengths=cuda.to_device(np.stack(np.unique(lengths[lengths > 0], return_counts=True), axis=1)),
            level_first=cuda.to_device(level_first),
            tall=cuda.to_device(np.flatnonzero(most > TALL)),
            n_levels=int(level_first[-1]),
            longest=int(lengths.max(initial=0)),
            longest_short=int(lengths[order[n_long:]].max(initial=0)),
        )


def room() -> float:
    """Free memory of the GPU, in bytes; the simulator has no limit."""
    return float(open_card().current_context().get_memory_info()[0])


def make_room(needed: int) -> None:
    """Let chunks leave the GPU, oldest first, until there is memory for another, or raise an error."""
    if needed > room():
        from bursty.engines.card import free_unused

        while needed > room() and _resident:
            chunk = _resident.pop(0)()
            if chunk is not None:
                chunk.leave_card()
            free_unused()
    if needed > room():
        raise out_of_memory(needed, "the documents need")


def out_of_memory(needed: int, what: str) -> MemoryError:
    """An error that says what to do."""
    return MemoryError(
        f"{what} {needed / 2**30:.1f} GiB on the GPU, which has {room() / 2**30:.1f} GiB free: "
        'fit fewer documents at a time with partial_fit, or use engine="local"'
    )


class CudaDocuments(LocalDocuments):
    """Chunks in memory, with copies on the GPU; columns are wherever their function ran."""

    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """On the GPU if the function has a version for it."""
        version = _on_card(function)
        if version is None:
            return super().map(function, *(_fetched(column) for column in columns), **_fetched_all(shared))
        return super().map(version, *columns, **shared)

    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Runs in this process."""
        return super().at(chunk, function, *(_fetched(column) for column in columns), **_fetched_all(shared))

    def run_locally(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """On the GPU if the function has a version for it."""
        version = _on_card(function)
        if version is None:
            return super().run_locally(function, *map(fetch, args), **_fetched_all(kwargs))
        return super().run_locally(version, *args, **kwargs)

    def fetch(self, value: Any) -> Any:
        """Copied from the GPU."""
        return fetch(value)


def _on_card(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The version of a function for the GPU, if there is one, for whose kernels the driver is asked only once."""
    version = version_for("cuda", function)
    return version and importlib.import_module("numba.cuda").require_context(version)


def plain_version(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The version of a function for the GPU, if there is one, with its results in the memory of this process."""
    open_card()
    version = _on_card(function)
    if version is None:
        return None

    def run(*args: Any, **kwargs: Any) -> Any:
        result = version(*args, **kwargs)
        return tuple(map(fetch, result)) if isinstance(result, tuple) else fetch(result)

    return run


def fetch(value: Any) -> Any:
    """Copy arrays of the GPU to this process, also what has a method ``fetch``, and dataclasses with such fields."""
    if hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    if hasattr(value, "fetch"):
        return value.fetch()
    if not is_dataclass(value) or isinstance(value, type):
        return value
    own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    fetched = {name: fetch(part) for name, part in own.items()}
    return replace(value, **fetched) if any(fetched[name] is not own[name] for name in own) else value


def _fetched(column: Column) -> Sequence[Any]:
    return [fetch(item) for item in column]


def _fetched_all(shared: dict[str, Any]) -> dict[str, Any]:
    return {name: fetch(value) for name, value in shared.items()}
