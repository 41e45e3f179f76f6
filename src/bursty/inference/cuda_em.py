"""The E step of mixtures on a card, for families whose `log_prob` and `summarize` use the sums of a chunk alone.

The counts and the responsibilities stay there: an iteration copies parameters, and statistics of their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bursty.engines import Levels
from bursty.engines.card import column_sums, empty, launch, on_card
from bursty.engines.cuda import CudaChunk, fetch
from bursty.inference import em
from bursty.kernels.cuda import gather, sums

Array = np.ndarray[Any, Any]

# Starts, indices and (for tokens) counts.
_PATTERNS: dict[str, Any] = {
    "words": lambda chunk: (chunk.indptr, chunk.indices),
    "tokens": lambda chunk: (chunk.indptr, chunk.indices, chunk.values),
    "levels": lambda chunk: (chunk.indptr, chunk._level_codes),
    "by word": lambda chunk: chunk._pattern_by_word,
    "tokens by word": lambda chunk: chunk._by_word,
    "by level": lambda chunk: chunk._by_level[2:],
    "by length": lambda chunk: chunk._by_length[2:],
}
# Rows of a pattern are cut into pieces of this many indices.
_PIECE = 512


class Pattern:
    """A sparse pattern on the card: what is added up for each row."""

    def __init__(self, starts: Array, indices: Array, values: Array | None = None) -> None:
        sizes = np.diff(starts).astype(np.int64)
        n_pieces = np.maximum(1, -(-sizes // _PIECE))
        heads = np.append(0, np.cumsum(n_pieces))
        own = np.repeat(np.arange(len(sizes)), n_pieces)
        begins = starts[:-1].astype(np.int64)[own] + _PIECE * (np.arange(len(own)) - heads[own])
        ends = np.minimum(begins + _PIECE, starts[1:].astype(np.int64)[own])
        self.n_rows, self.is_whole = len(sizes), len(own) == len(sizes)
        self.begins, self.ends, self.heads, self.indices = map(on_card, (begins, ends, heads, indices))
        self.values = on_card(np.empty(0, dtype=np.float32) if values is None else values.astype(np.float32))
        #: Number of summands of each row, or their weight.
        self.sizes = on_card(sizes.astype(np.float64) if values is None else _row_sums(starts, values))

    def sum_rows(self, table: Any) -> Any:
        """Sums of rows of the table, on the card."""
        table = on_card(table)
        pieces = empty((len(self.begins), table.shape[1]), np.float64)
        if len(self.begins):
            n_blocks = -(-len(self.begins) * gather.LANES // gather.THREADS)
            args = self.begins, self.ends, self.indices, self.values, table, pieces
            gather.sum_rows[n_blocks, gather.THREADS](*args)
        if self.is_whole:
            return pieces
        out = empty((self.n_rows, table.shape[1]), np.float64)
        launch(gather.join_pieces, out.size, self.heads, pieces, out)
        return out


def _row_sums(starts: Array, values: Array) -> Array:
    return np.diff(np.append(0.0, np.cumsum(values, dtype=np.float64))[starts])


class Rows:
    """A table with a row for each document, on the card: the result of a sum, to which others can be added."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __iadd__(self, other: Rows) -> Rows:
        launch(sums.add_tables, self.table.size, self.table, other.table, self.table)
        return self


@dataclass(frozen=True)
class Shares:
    """Responsibilities on the card, in single precision, and the trace that every component has of every document."""

    table: Any
    weights: Array | None
    trace: float


class CardChunk:
    """The sums of a `Chunk` on the card; what needs no parameters is asked of the chunk itself."""

    def __init__(self, chunk: CudaChunk) -> None:
        self._chunk = chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chunk, name)

    def _kept(self, name: str, make: Any) -> Any:
        """Something made once for each chunk."""
        kept = self._chunk.__dict__.setdefault("_patterns", {})
        if name not in kept:
            kept[name] = make()
        return kept[name]

    def pattern(self, name: str) -> Pattern:
        """Which cells are added up, for each document, word, level or length."""
        return self._kept(name, lambda: Pattern(*_PATTERNS[name](self._chunk)))

    @property
    def without_first(self) -> CardChunk:
        """`Chunk.without_first`."""
        return CardChunk(self._chunk.without_first)  # type: ignore[arg-type]  # any chunk has sums

    def words(self, table: Array) -> Rows:
        """`Chunk.words`."""
        return Rows(self.pattern("words").sum_rows(table))

    def tokens(self, table: Array) -> Rows:
        """`Chunk.tokens`."""
        return Rows(self.pattern("tokens").sum_rows(table))

    def levels(self, table: Array) -> Rows:
        """`Chunk.levels`."""
        return Rows(self.pattern("levels").sum_rows(table))

    def add_by_document(self, out: Rows, by_length: Array, constants: Array | None = None) -> None:
        """`Chunk.add_by_document`."""
        codes = self._kept("codes", lambda: on_card(self._chunk._by_length[1]))
        own = on_card(np.zeros(self.n_documents) if constants is None else constants)
        launch(gather.add_rows, out.table.size, on_card(by_length), codes, own, out.table)

    def _sum(self, name: str, resp: Shares) -> Array:
        pattern = self.pattern(name)
        found, everyone = pattern.sum_rows(resp.table), pattern.sizes
        if resp.weights is not None:
            everyone = pattern.sum_rows(resp.weights[:, None]).reshape(pattern.n_rows)
        launch(gather.add_trace, found.size, resp.trace, everyone, found)
        return np.asarray(found.copy_to_host())

    def sum_by_word(self, resp: Shares) -> Array:
        """`Chunk.sum_by_word`."""
        return self._sum("by word", resp)

    def sum_tokens(self, resp: Shares) -> Array:
        """`Chunk.sum_tokens`."""
        return self._sum("tokens by word", resp)

    def sum_by_level(self, resp: Shares) -> Levels:
        """`Chunk.sum_by_level`."""
        chunk = self._chunk
        levels = Levels(chunk.level_words, chunk.level_values, self._sum("by level", resp), chunk.n_words)
        levels.__dict__["first"] = chunk.level_first
        return levels

    def sum_by_length(self, resp: Shares) -> Levels:
        """`Chunk.sum_by_length`."""
        values = self._chunk.length_values
        return Levels(np.zeros(len(values), dtype=np.int32), values, self._sum("by length", resp), 1)


def expect(
    chunk: CudaChunk,
    labels: Array | None,
    sample_weight: Array | None,
    last: Any,
    family: Any,
    state: em.State,
    temperature: float,
    tempering: bool,
) -> tuple[Any, em.Step]:
    """`em.expect`; a family that needs more than sums runs in this process."""
    if not family.uses_sums:
        return em.expect(chunk, labels, sample_weight, fetch(last), family, state, temperature, tempering)
    card, n_documents = CardChunk(chunk), chunk.n_documents
    log_prob = family.log_prob(card, state.params.rounded).table
    with np.errstate(divide="ignore"):
        log_weights = np.log(state.weights)
    heat = temperature * (em.document_temperatures(chunk) if tempering else np.ones(n_documents))
    weights = np.ones(n_documents) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    known = np.full(n_documents, -1, dtype=np.int32) if labels is None else labels.astype(np.int32)
    resp, places = empty(log_prob.shape, np.float32), empty((n_documents, 2), np.float32)
    log_evidence, moved = empty((n_documents,), np.float64), empty((n_documents,), np.float64)
    before = np.empty((0, 2), dtype=np.float32) if last is None else last
    inputs = log_prob, *map(on_card, (log_weights, 1.0 / heat, known, weights, before))
    if n_documents:
        n_blocks = -(-n_documents * gather.LANES // gather.THREADS)
        gather.share_out[n_blocks, gather.THREADS](*inputs, resp, places, log_evidence, moved)
    evidence = log_evidence.copy_to_host()
    evidence = weights @ np.where(np.isfinite(evidence), evidence, 0.0)
    found = places.copy_to_host()[:, 0].astype(np.intp)
    stats = family.summarize(card, Shares(resp, sample_weight, em.FLOOR))
    total = column_sums(resp).copy_to_host()[0].astype(np.float64)
    expectation = em.Expectation(stats, total, float(evidence))
    sizes = np.bincount(found, minlength=log_prob.shape[1])
    return places, em.Step(expectation, float(weights @ moved.copy_to_host()), sizes)
