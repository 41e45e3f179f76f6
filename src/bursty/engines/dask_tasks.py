"""What the workers of a Dask cluster run: functions over the chunks of a share, and their sums.

Every chunk briefly needs a few arrays of some megabytes. By itself glibc learns to keep such memory for the next chunk.
But Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that they return memory early, and any such
setting turns the learning off: every array is then mapped, cleared and unmapped each time, which takes as long as the
work on it. `keep_freed_memory` sets what glibc would have learned.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from distributed.protocol import pickle

from bursty.corpus.shards import ShardedCorpus
from bursty.engines.chunks import Chunk
from bursty.engines.cuda import CudaChunk, open_card, plain_version
from bursty.engines.documents import Size, TreeSum
from bursty.kernels import threads
from bursty.typing import Array

# The value that Dask's nanny sets; any other value is the user's choice.
_OF_DASK = "65536"
# From malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Arrays up to the largest size that glibc learns to keep are kept, up to this many bytes per thread.
_LARGEST_KEPT, _KEPT = 32 * 2**20, 256 * 2**20
# Threads of a worker use its GPU one at a time, ...
_card = threading.Lock()
# ... and free there what chunks had that other threads, which have no context of the GPU, have released since.
_released: list[dict[str, Any]] = []


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Where Dask's setting is in force, set glibc to what it would have learned; once per process."""
    if sys.platform != "linux" or os.environ.get("MALLOC_TRIM_THRESHOLD_") != _OF_DASK:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt is not None and "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_TRIM_THRESHOLD, _KEPT)


def _results(
    function: Callable[..., Any], shared: dict[str, Any], chunks: Sequence[Chunk], *columns: Sequence[Any]
) -> Iterator[Any]:
    """One thread per task: Dask runs as many tasks at once as it has threads."""
    keep_freed_memory()
    for items in zip(chunks, *columns, strict=True):
        with threads.using(1):
            result = function(*items, **shared)
        yield result


def map_chunks(function: Callable[..., Any], shared: dict[str, Any], where: tuple[int, int], *items: Any) -> list[Any]:
    """Results of the function, one per chunk."""
    return list(_results(function, shared, *items))


def sum_chunks(function: Callable[..., Any], shared: dict[str, Any], where: tuple[int, int], *items: Any) -> TreeSum:
    """Sum of the results; ``where`` is the number of the first chunk, and the number of all chunks."""
    added = TreeSum(*where)
    for result in _results(function, shared, *items):
        added.add(result)
    return added


def map_and_sum_chunks(
    function: Callable[..., Any], shared: dict[str, Any], where: tuple[int, int], *items: Any
) -> tuple[list[Any], TreeSum]:
    """The first part of each result, and the sum of the second parts."""
    kept, added = [], TreeSum(*where)
    for result, addend in _results(function, shared, *items):
        kept.append(result)
        added.add(addend)
    return kept, added


def apply_to_chunk(function: Callable[..., Any], shared: dict[str, Any], place: int, *items: Any) -> Any:
    """Result of the function for one chunk."""
    return next(_results(function, shared, *([column[place]] for column in items)))


def run_on_card(
    task: Callable[..., Any],
    function: Callable[..., Any],
    shared: dict[str, Any],
    where: tuple[int, int],
    chunks: Sequence[Chunk],
    *columns: Sequence[Any],
) -> Any:
    """One of the tasks above, by the version of the function for the GPU, if there is one; its results are plain."""
    version = plain_version(function)
    if version is None:
        return task(function, shared, where, chunks, *columns)
    with _card:
        open_card().current_context()  # this thread may have none yet
        _released.clear()
        for chunk in chunks:
            if "_is_watched" not in chunk.__dict__:
                chunk.__dict__["_is_watched"] = True
                weakref.finalize(chunk, _released.append, chunk.__dict__).atexit = False
        return task(version, _detached(shared), where, chunks, *columns)


def _detached(value: Any) -> Any:
    """Other objects around the same arrays: versions keep copies on the GPU with parameters, which must not travel."""
    buffers: list[Any] = []
    return pickle.loads(pickle.dumps(value, buffer_callback=buffers.append), buffers=buffers)


def select_rows(chunks: Sequence[Chunk], masks: Sequence[Array]) -> list[Chunk]:
    """The selected documents of each chunk; chunks without any are dropped."""
    parts = zip(chunks, masks, strict=True)
    return [chunk.select(np.flatnonzero(rows)) for chunk, rows in parts if rows.any()]


def sizes_of(chunks: Sequence[Chunk]) -> list[Size]:
    """Size of each chunk."""
    return [Size.of(chunk) for chunk in chunks]


def join_sums(*sums: TreeSum) -> TreeSum:
    """Join sums of neighbours into a new one: results of tasks must not change."""
    added = TreeSum(sums[0].first, sums[0].n_chunks)
    for part in sums:
        added.join(part)
    return added


def value_of_sums(*sums: TreeSum) -> Any:
    """The value of sums that together cover all chunks."""
    return join_sums(*sums).value


def identity(value: Any) -> Any:
    """A task that places a value on a worker."""
    return value


def on_device(device: str, *chunks: Chunk) -> list[Chunk]:
    """The chunks of a share as one value, on a worker that has the device."""
    if device == "cpu":
        return list(chunks)
    open_card()
    return [CudaChunk(chunk) for chunk in chunks]


class OpenShards(list[Chunk]):
    """Shards of a folder, mapped into memory; only their names are sent, and the receiver opens them."""

    def __init__(self, path: str, start: int, stop: int, device: str = "cpu") -> None:
        corpus = ShardedCorpus(path)
        chunks = (Chunk.from_orders(*corpus.orders(number)) for number in range(start, stop))
        super().__init__(on_device(device, *chunks))
        self.names = path, start, stop, device

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.names


# Dask asks for sizes to estimate the cost of moving data; without these it would take our classes to be empty.


@sizeof.register(Chunk)
def _bytes_of_chunk(chunk: Chunk) -> int:
    return int(chunk.indptr.nbytes + chunk.indices.nbytes + chunk.values.nbytes)


@sizeof.register(OpenShards)
def _bytes_of_names(shards: OpenShards) -> int:
    return sizeof(shards.names)


@sizeof.register(TreeSum)
def _bytes_of_sum(added: TreeSum) -> int:
    return bytes_of(vars(added))


def bytes_of(value: Any) -> int:
    """Total size of the arrays in containers and dataclasses."""
    if is_dataclass(value) or isinstance(value, dict):
        return bytes_of(list((value if isinstance(value, dict) else vars(value)).values()))
    if isinstance(value, list | tuple):
        return sum(bytes_of(item) for item in value)
    return sizeof(value)
