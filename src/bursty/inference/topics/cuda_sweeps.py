"""What the topic models share on a card: how sweeps are launched, sums over words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda

from bursty.engines.cuda import CudaChunk
from bursty.kernels.cuda import gibbs, maximise

Array = np.ndarray[Any, Any]

# Threads of a block where nothing is said.
_THREADS = 128


@dataclass(frozen=True)
class Shape:
    """Lanes for each document, topics for each lane, threads in a block of a sweep, registers of a thread."""

    n_lanes: int
    n_slots: int
    n_threads: int
    max_registers: int | None = None

    @classmethod
    def of(cls, n_topics: int, chunk: CudaChunk) -> Shape:
        """The fastest shape for about this number of topics (``python -m benchmarks.gpu``).

        Where all wait for the longest document, it gets a warp.
        """
        n_lanes, n_threads = next((lanes, threads) for most, lanes, threads in SHAPES if n_topics <= most)
        if _SIDE_BY_SIDE * chunk.on_card.longest > chunk.lengths.sum():
            n_lanes = SHAPES[-1][1]
        n_slots = -(-n_topics // n_lanes)
        # The shared memory of a block is 48 KiB.
        while n_threads > 32 and gibbs.shared_bytes(n_lanes, n_slots, n_threads) > 49_152:
            n_threads //= 2
        if gibbs.shared_bytes(n_lanes, n_slots, n_threads) > 49_152:
            raise ValueError(f'engine="cuda" takes up to 4,096 topics, not {n_topics}: use engine="local"')
        return cls(n_lanes, n_slots, n_threads)


def n_columns(n_topics: int) -> int:
    """Columns of a table: enough for every shape."""
    return -(-n_topics // 32) * 32


# Documents that can be said to run at once.
_SIDE_BY_SIDE = 2000
#: Maximum number of topics: lanes, threads.
SHAPES = ((200, 8, 128), (2**31, 32, 128))


def launch(kernel: Any, n_items: int, *args: Any) -> None:
    """A thread for each item."""
    if n_items:
        kernel[-(-n_items // _THREADS), _THREADS](*args)


def empty(shape: Any, dtype: Any) -> Any:
    """Memory of the card."""
    return cuda.device_array(shape, dtype)


def zeros(shape: tuple[int, int], dtype: Any) -> Any:
    """The same, cleared."""
    table = cuda.device_array(shape, dtype)
    launch(maximise.clear, table.size, table)
    return table


def on_card(values: Any) -> Any:
    """An array on the card, copied if it is not there."""
    return values if hasattr(values, "copy_to_host") else cuda.to_device(np.ascontiguousarray(values))


def column_sums(values: Any) -> Array:
    """Sums over the rows, in one order of adding."""
    while len(values) > 1:
        sums = empty((-(-values.shape[0] // maximise.BLOCK), values.shape[1]), np.float64)
        launch(maximise.add_blocks, sums.size, values, sums)
        values = sums
    return np.asarray(values.copy_to_host()[0])


def padded(values: Array, fill: float) -> Any:
    """A row of a table, in single precision."""
    row = np.full(n_columns(len(values)), fill, dtype=np.float32)
    row[: len(values)] = values
    return cuda.to_device(row)


@dataclass(frozen=True)
class Weights:
    """What a sweep takes of the model: its table, alpha and s, filled up to the columns of the table."""

    table: Any
    alpha: Any
    totals: Any
    bursty: bool
    n_topics: int


def sweep(
    chunk: CudaChunk, offset: int, topics: Any, weights: Weights, seed: int, number: int, tallies: Any, shape: Shape
) -> None:
    """One sweep, in place; ``tallies`` are the mixtures and words to count, or None."""
    tokens = chunk.on_card
    kernel = gibbs.sweep_kernel(shape.n_lanes, shape.n_slots, weights.bursty, tallies is not None, shape.max_registers)
    mixtures, words = tallies or (_nothing(), _nothing())
    per_block = shape.n_threads // shape.n_lanes
    shared = gibbs.shared_bytes(shape.n_lanes, shape.n_slots, shape.n_threads)
    if chunk.n_documents:
        kernel[-(-chunk.n_documents // per_block), shape.n_threads, 0, shared](
            tokens.order, tokens.first, tokens.codes, topics, weights.table, weights.alpha, weights.totals,
            _keys(chunk, offset), seed, number, weights.n_topics, mixtures, words, tokens.level_first,
        )  # fmt: skip


@lru_cache
def _nothing() -> Any:
    return empty((1, 1), np.int32)


def _keys(chunk: CudaChunk, offset: int) -> Any:
    """Numbers of the documents, which name their streams; copied once."""
    known = chunk.__dict__.setdefault("_keys", {})
    if offset not in known:
        known[offset] = cuda.to_device(np.arange(offset, offset + chunk.n_documents, dtype=np.uint64))
    return known[offset]


def copied(topics: Any) -> Any:
    """Topics on the card that may be changed."""
    if not hasattr(topics, "copy_to_host"):
        return cuda.to_device(topics)
    copy = cuda.device_array_like(topics)
    copy.copy_to_device(topics)
    return copy
