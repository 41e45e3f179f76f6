"""What the topic models share on a card: the shape of kernels, and how sweeps are launched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numba import cuda

from bursty.engines.card import Later, launch, launch_blocks, zeros
from bursty.engines.cuda import CudaChunk, Segments
from bursty.kernels import streams
from bursty.kernels.cuda import blocks, gibbs, segments
from bursty.typing import Array

# Shared memory of a block.
_SHARED = 49_152
# Threads of a block that counts the tokens of a segment.
_COUNTING = 64
# Blocks of tokens are not moved in longer documents: all would wait for them.
_LONGEST_MOVED = 2048
#: Maximum number of topics: lanes, threads.
SHAPES = ((200, 8, 128), (2**31, 32, 128))
#: Lanes and threads of moves of blocks.
MOVES = 32, 128
# Documents that run at once, and the lanes of each if one of them is longer than its share of the tokens.
_AT_ONCE = (10_000, 16), (2000, 32)


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

        Where all wait for the longest document, it gets more lanes.
        """
        n_lanes, n_threads = next((lanes, threads) for most, lanes, threads in SHAPES if n_topics <= most)
        for at_once, most in _AT_ONCE:
            if at_once * chunk.on_card.longest_short > chunk.lengths.sum():
                n_lanes = max(n_lanes, min(most, SHAPES[-1][1]))
        n_slots = -(-n_topics // n_lanes)
        while n_threads > 32 and gibbs.shared_bytes(n_lanes, n_slots, n_threads) > _SHARED:
            n_threads //= 2
        if gibbs.shared_bytes(n_lanes, n_slots, n_threads) > _SHARED:
            raise ValueError(f'engine="cuda" takes up to 4,096 topics, not {n_topics}: use engine="local"')
        return cls(n_lanes, n_slots, n_threads)


def n_columns(n_topics: int) -> int:
    """Columns of a table: enough for every shape."""
    return -(-n_topics // 32) * 32


def padded(values: Array, fill: float) -> Any:
    """A row of a table, in single precision."""
    row = np.full(n_columns(len(values)), fill, dtype=np.float32)
    row[: len(values)] = values
    return cuda.to_device(row)


@dataclass(frozen=True)
class Weights:
    """What a sweep takes of the model: its table, alpha and s, filled up to the columns of the table.

    ``rows`` are alpha and s as they arrive in this process, unless they are known to be as `can_cut` wants them.
    """

    table: Any
    alpha: Any
    totals: Any
    bursty: bool
    n_topics: int
    rows: tuple[Later, Later] | None = None

    @cached_property
    def can_cut(self) -> bool:
        """Whether long documents can be cut: s is above alpha for all topics, in single precision as in kernels."""
        return self.rows is None or bool(np.all(self.rows[0].value < self.rows[1].value))


@dataclass(frozen=True)
class Sweep:
    """One sweep over a chunk: the numbers of its random streams, and what is counted (None, or mixtures and words)."""

    chunk: CudaChunk
    offset: int
    topics: Any
    weights: Weights
    seed: int
    number: int
    tallies: Any
    shape: Shape

    def run(self) -> None:
        """New topics, in place; documents that are cut run beside the others."""
        tokens, (one, other) = self.chunk.on_card, two_streams()
        if tokens.segments is None:
            self._chains(tokens.spans, 0)
            return
        self._chains(tokens.short, one)
        if not self.weights.can_cut:  # asked only now that the GPU has something to do
            self._chains(tokens.long, other)
            return
        try:
            self._cut_documents(tokens.segments, other)
        except BaseException:  # interrupted: the tables may not be clear
            self.chunk.__dict__.pop("_room", None)
            raise

    def _chains(self, spans: Any, stream: Any, given: Any = None) -> None:
        """Chains of draws, one per span."""
        shape, weights, tokens = self.shape, self.weights, self.chunk.on_card
        kernel = gibbs.sweep_kernel(
            shape.n_lanes, shape.n_slots, weights.bursty, self.tallies is not None, given is not None,
            shape.max_registers,
        )  # fmt: skip
        mixtures, words = self.tallies or (nothing(np.int32), nothing(np.int32))
        per_block = shape.n_threads // shape.n_lanes
        shared = gibbs.shared_bytes(shape.n_lanes, shape.n_slots, shape.n_threads)
        if len(spans):
            launch_blocks(
                kernel, -(-len(spans) // per_block), shape.n_threads,
                spans, tokens.codes, self.topics, weights.table, weights.alpha, weights.totals,
                nothing(np.float32) if given is None else given, keys(self.chunk, self.offset), self.seed,
                self.number, weights.n_topics, mixtures, words, tokens.level_first,
                stream=stream, shared_bytes=shared,
            )  # fmt: skip

    def _cut_documents(self, own: Segments, stream: Any) -> None:
        """Segments of long documents, side by side."""
        has_heavy = self.weights.bursty and len(own.heavy) > 0
        given, table = self.draw_auxiliary(own, stream)
        if has_heavy:
            args = table, keys(self.chunk, self.offset), self.seed, self.number, self.topics
            n_blocks = len(own.of_heavy)
            launch_blocks(segments.draw_tokens, n_blocks, _COUNTING, own.of_heavy, *args, stream=stream)
        self._chains(own.of_light if has_heavy else own.spans, stream, given)
        if self.tallies is not None:
            mixtures, words = self.tallies
            counts, of_heavy = self._count(own, stream)
            launch(segments.tally_mixtures, counts.size, counts, mixtures, stream=stream)
            if has_heavy:
                level_first = self.chunk.on_card.level_first
                launch(segments.tally_words, of_heavy.size, own.heavy, of_heavy, level_first, words, stream=stream)

    def draw_auxiliary(self, own: Segments, stream: Any = 0) -> tuple[Any, Any]:
        """Auxiliary variables of long documents, and the cumulative weights of the topics of heavy words (or None)."""
        weights, own_keys = self.weights, keys(self.chunk, self.offset, own.documents)
        counts, of_heavy = self._count(own, stream)
        given = self._room("given", (len(own.documents), weights.table.shape[1]), np.float32)
        args = weights.alpha, weights.totals, self.seed, self.number + streams.LONG_DOCUMENTS, weights.bursty, given
        launch(segments.draw_given, given.size, counts, own_keys, *args, stream=stream)
        if not weights.bursty or not len(own.heavy):
            return given, None
        table = self._room("weights", (len(own.heavy), weights.n_topics), np.float64)
        own_stream = own_keys, self.seed, self.number + streams.HEAVY_WORDS
        cells = own.heavy, of_heavy, given, weights.table
        launch(segments.draw_heavy, table.size, *cells, *own_stream, table, stream=stream)
        launch(segments.add_up, len(own.heavy), table, stream=stream)
        return given, table

    def _count(self, own: Segments, stream: Any) -> tuple[Any, Any]:
        """Tokens of each topic in long documents and of heavy words; whoever uses these tables clears them."""
        counts = self._room("counts", (len(own.documents), self.weights.n_topics), np.int32)
        # LDA has no use for the second.
        n_rows = max(1, len(own.heavy))
        of_heavy = self._room("of_heavy", (n_rows, self.weights.n_topics), np.int32)
        if not self.weights.bursty:
            of_heavy = zeros(of_heavy.shape, np.int32)
        args = own.spans, self.topics, counts, of_heavy
        launch_blocks(segments.count, len(own.spans), _COUNTING, *args, stream=stream)
        return counts, of_heavy

    def _room(self, name: str, shape: tuple[int, int], dtype: Any) -> Any:
        """Tables that every sweep needs, cleared when they are made."""
        tables = self.chunk.__dict__.setdefault("_room", {})
        if (name, shape) not in tables:
            tables[name, shape] = zeros(shape, dtype)
        return tables[name, shape]


@lru_cache
def two_streams() -> tuple[Any, Any]:
    """Streams of kernels that need not wait for each other; all others wait for both."""
    return cuda.stream(), cuda.stream()


def move_blocks(chunk: CudaChunk, offset: int, topics: Any, weights: Weights, seed: int, number: int) -> None:
    """Moves of blocks of tokens, in place: `bursty.samplers.dcmlda.Hyperparameters.move_blocks`."""
    tokens, (n_lanes, n_threads) = chunk.on_card, MOVES
    n_slots = -(-weights.n_topics // n_lanes)
    while n_threads > n_lanes and blocks.shared_bytes(n_slots, n_threads) > _SHARED:
        n_threads //= 2
    shared = blocks.shared_bytes(n_slots, n_threads)
    spans = tokens.spans[int(np.count_nonzero(chunk.lengths > _LONGEST_MOVED)) :]
    per_block = n_threads // n_lanes
    for by_word, stream in ((True, streams.REGROUP), (False, streams.RELABEL)):
        if len(spans):
            launch_blocks(
                blocks.move_kernel(n_lanes, n_slots, by_word), -(-len(spans) // per_block), n_threads,
                spans, tokens.codes, topics, weights.table, weights.alpha, weights.totals, keys(chunk, offset),
                seed, number + stream, weights.n_topics, shared_bytes=shared,
            )  # fmt: skip


@lru_cache
def nothing(dtype: Any) -> Any:
    """Placeholder for a table that is not needed."""
    return cuda.device_array((1, 1), dtype)


def keys(chunk: CudaChunk, offset: int, documents: Array | None = None) -> Any:
    """Numbers of the documents (or of some), which name their streams; copied once."""
    known = chunk.__dict__.setdefault("_keys", {})
    name = offset, documents is None
    if name not in known:
        own = np.arange(chunk.n_documents) if documents is None else documents
        known[name] = cuda.to_device((own + offset).astype(np.uint64))
    return known[name]
