"""The CUDA engine: chunks and kept columns stay in the memory of an NVIDIA GPU.

A function over chunks declares with `engines.documents.has_versions` that it may have a version for the GPU, which then
receives chunks and columns on the GPU. Every other function runs on the threads of this process, and its arguments are
copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.shards import ShardedCorpus
from bursty.engines.chunks import Chunk, cut
from bursty.engines.documents import Column, Documents, Size, version_for
from bursty.engines.local import LocalDocuments, LocalEngine
from bursty.validation import Collection

Array = np.ndarray[Any, Any]

# Maximum number of documents in a chunk: a GPU processes a hundred thousand at once.
_CHUNK = 2**22


def open_card() -> Any:
    """Return `numba.cuda`, after checking that there is a GPU it can use."""
    try:
        import numba_cuda  # noqa: F401  # it replaces `numba.cuda`
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
    # Small corpora cannot occupy a GPU, and users cannot change that.
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    return cuda


class CudaEngine(LocalEngine):
    """One GPU; functions without a version for it run in this process."""

    def __init__(self, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        self.cuda = open_card()

    def place(self, counts: sp.csr_array | ShardedCorpus | Collection) -> Documents:
        """Counts are copied to the GPU when a function first needs them there."""
        if isinstance(counts, ShardedCorpus):
            raise ValueError('engine="cuda" needs counts in memory: pass corpus.counts, or use engine="local"')
        if isinstance(counts, Collection):
            raise ValueError('X is a Dask collection: use engine="dask", or compute it first')
        chunks = [CudaChunk(chunk) for chunk in cut(counts, _CHUNK)]
        return CudaDocuments(chunks, [Size.of(chunk) for chunk in chunks], counts.shape[1], self.n_threads)


@dataclass(frozen=True)
class CardTokens:
    """The tokens of a chunk on the GPU, in the layout of `bursty.kernels.cuda.gibbs`, and facts about them."""

    order: Any
    first: Any
    codes: Any
    level_first: Any
    n_levels: int
    longest: int


class CudaChunk(Chunk):
    """A chunk that may have a copy on the GPU."""

    def __init__(self, chunk: Chunk) -> None:
        self.__dict__.update(chunk.__dict__)

    @cached_property
    def on_card(self) -> CardTokens:
        """The tokens on the GPU, copied on first use."""
        cuda = open_card()
        lengths = self.lengths.astype(np.int64)
        most = np.zeros(self.n_words, dtype=np.int64)
        np.maximum.at(most, self.indices, self.values)
        level_first = np.append(0, np.cumsum(most))
        needed = 8 * int(lengths.sum()) + 16 * self.n_documents
        free = cuda.current_context().get_memory_info()[0]
        if needed > free:
            raise MemoryError(
                f"the documents need {needed / 2**30:.1f} GiB on the GPU, which has {free / 2**30:.1f} GiB free: "
                'fit fewer documents at a time with partial_fit, or use engine="local"'
            )
        several = self.values > 1
        codes = np.repeat(4 * self.indices + 2 * several, self.values)
        heads = np.append(0, np.cumsum(self.values, dtype=np.int64))[:-1]
        codes[heads[several]] -= 1
        arrays = np.argsort(-lengths, kind="stable").astype(np.int32), np.append(0, np.cumsum(lengths)), codes
        order, first, codes = (cuda.to_device(np.ascontiguousarray(array)) for array in arrays)
        longest = int(lengths.max(initial=0))
        return CardTokens(order, first, codes, cuda.to_device(level_first), int(level_first[-1]), longest)


class CudaDocuments(LocalDocuments):
    """Chunks in memory, with copies on the GPU; columns are wherever their function ran."""

    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """On the GPU if the function has a version for it."""
        version = version_for("cuda", function)
        if version is None:
            return super().map(function, *(_fetched(column) for column in columns), **_fetched_all(shared))
        return super().map(version, *columns, **shared)

    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Runs in this process."""
        return super().at(chunk, function, *(_fetched(column) for column in columns), **_fetched_all(shared))

    def run_locally(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """On the GPU if the function has a version for it."""
        version = version_for("cuda", function)
        return super().run_locally(version or function, *args, **kwargs)

    def fetch(self, value: Any) -> Any:
        """Copied from the GPU."""
        return fetch(value)


def fetch(value: Any) -> Any:
    """Copy a value to the memory of this process: arrays of the GPU, and objects that have a method ``fetch``."""
    if hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    return value.fetch() if hasattr(value, "fetch") else value


def _fetched(column: Column) -> Sequence[Any]:
    return [fetch(item) for item in column]


def _fetched_all(shared: dict[str, Any]) -> dict[str, Any]:
    return {name: fetch(value) for name, value in shared.items()}
