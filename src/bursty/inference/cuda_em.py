"""EM for mixtures on a card, for families that `uses_sums`.

The counts, the responsibilities, and the tables of statistics and parameters stay there: an iteration copies a few
numbers for each component and each length of a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bursty.engines import Levels
from bursty.engines.card import CardMatrix, column_sums, empty, host_sums, launch, launch_blocks, on_card, zeros
from bursty.engines.cuda import CudaChunk, fetch, make_room
from bursty.engines.dense import DenseChunk
from bursty.families import cuda_dcm  # noqa: F401  # registers what it has for tables
from bursty.families.shared import Shared
from bursty.inference import em
from bursty.inference.posteriors import MixtureState, document_temperatures
from bursty.kernels.cuda import gather, points, sums
from bursty.typing import Array

# Starts, indices and (for tokens) counts.
_PATTERNS: dict[str, Any] = {
    "words": lambda chunk: (chunk.indptr, chunk.indices),
    "tokens": lambda chunk: (chunk.indptr, chunk.indices, chunk.values),
    "levels": lambda chunk: (chunk.indptr, chunk._level_codes),
    "by word": lambda chunk: chunk._pattern_by_word,
    "tokens by word": lambda chunk: chunk._by_word,
    "by level": lambda chunk: chunk._by_level[2:],
    "by length": lambda chunk: chunk._by_length[2:],
    "directions": lambda chunk: (chunk.indptr, chunk.indices, chunk.values * chunk.inverse_norms[_rows(chunk.indptr)]),
    "directions by word": lambda chunk: _directions_by_word(chunk.inverse_norms, *chunk._by_word),
    "with words": lambda chunk: (np.array([0, np.count_nonzero(chunk.norms)]), np.flatnonzero(chunk.norms)),
}
# Rows of a pattern are cut into pieces of this many indices, and dense rows are added up in pieces of as many as this.
_PIECE, _PIECE_OF_POINTS = 512, 2048


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
            kernel = gather.sum_kernel(table.shape[1], self.values.shape[0] > 0)
            launch_blocks(kernel, n_blocks, gather.THREADS, *args)
        if self.is_whole:
            return pieces
        out = empty((self.n_rows, table.shape[1]), np.float64)
        launch(gather.join_pieces, out.size, self.heads, pieces, out)
        return out


class Points:
    """Dense rows on the card: their directions, in single precision."""

    def __init__(self, chunk: DenseChunk) -> None:
        self.n_documents, self.n_rows = chunk.n_documents, chunk.n_words
        make_room(4 * chunk.n_cells)
        rows, directions = chunk.rows, np.empty((self.n_documents, self.n_rows), dtype=np.float32)
        np.multiply(rows, chunk.inverse_norms[:, None], out=directions, casting="same_kind")
        self.directions = on_card(directions)
        ones = on_card(np.ones((self.n_documents, 1), dtype=np.float32))
        #: Sum of the directions.
        self.sizes = on_card(self.sum_rows(ones).copy_to_host()[:, 0])

    def products(self, table: Array, constants: Array) -> Any:
        """A row for each document: its direction times the table, plus the constants."""
        out = empty((self.n_documents, table.shape[1]), np.float64)
        self._multiply(on_card(table), on_card(constants), out, size=self.n_rows, is_transposed=False)
        return out

    def sum_rows(self, table: Any) -> Any:
        """For each coordinate, the sum of the rows of the table times this coordinate of the directions."""
        n_columns = table.shape[1]
        pieces = empty((max(1, -(-self.n_documents // _PIECE_OF_POINTS)), self.n_rows * n_columns), np.float64)
        nothing = zeros((n_columns,), np.float64)
        self._multiply(table, nothing, pieces, size=_PIECE_OF_POINTS, is_transposed=True)
        total, out = column_sums(pieces), empty((self.n_rows, n_columns), np.float64)
        out.copy_to_device(total.reshape(out.shape))
        return out

    def _multiply(self, table: Any, constants: Any, out: Any, **options: Any) -> None:
        points.multiply(self.directions, table, constants, out.reshape(out.size), **options)


def _directions_by_word(inverse: Array, starts: Array, documents: Array, values: Array) -> tuple[Array, ...]:
    return starts, documents, values * inverse[documents]


def _rows(indptr: Array) -> Array:
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def _row_sums(starts: Array, values: Array) -> Array:
    return np.diff(np.append(0.0, np.cumsum(values, dtype=np.float64))[starts])


class Rows:
    """A table with a row for each document, on the card: the result of a sum."""

    def __init__(self, table: Any) -> None:
        self.table = table


@dataclass(frozen=True)
class Shares:
    """Responsibilities on the card, in single precision, and the trace that every component has of every document."""

    table: Any
    weights: Array | None
    trace: float


class CardChunk:
    """The sums of a `Chunk` on the card; what needs no parameters is asked of the chunk itself."""

    def __init__(self, chunk: CudaChunk | DenseChunk, copies: dict[int, Any] | None = None) -> None:
        self._chunk, self._copies = chunk, {} if copies is None else copies

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chunk, name)

    def once(self, values: Array | None, otherwise: float, dtype: Any) -> Any:
        """A number for each document on the card, copied once; ``otherwise`` if there are none."""
        if values is None:
            return self.kept(f"all {otherwise}", lambda: on_card(np.full(self.n_documents, otherwise, dtype=dtype)))
        copies = self.kept("copies", dict)
        if id(values) not in copies:  # an array that is kept keeps its id
            copies[id(values)] = values, on_card(np.asarray(values, dtype=dtype))
        return copies[id(values)][1]

    def parameters(self, values: Array) -> Any:
        """On the card, copied once for this step."""
        if id(values) not in self._copies:
            self._copies[id(values)] = on_card(values)
        return self._copies[id(values)]

    def kept(self, name: str, make: Any) -> Any:
        """Something made once for each chunk."""
        kept = self._chunk.__dict__.setdefault("_patterns", {})
        if name not in kept:
            kept[name] = make()
        return kept[name]

    def pattern(self, name: str) -> Pattern:
        """Which cells are added up, for each document, word, level or length."""
        return self.kept(name, lambda: Pattern(*_PATTERNS[name](self._chunk)))

    @property
    def points(self) -> Points:
        """The rows of a dense chunk."""
        chunk = self._chunk
        assert isinstance(chunk, DenseChunk)
        return self.kept("points", lambda: Points(chunk))

    @property
    def without_first(self) -> CardChunk:
        """`Chunk.without_first`."""
        return CardChunk(self._chunk.without_first, self._copies)  # type: ignore[arg-type]  # any chunk has sums

    def words(self, table: Array) -> Rows:
        """`Chunk.words`."""
        return Rows(self.pattern("words").sum_rows(table))

    def tokens(self, table: Array) -> Rows:
        """`Chunk.tokens`."""
        return Rows(self.pattern("tokens").sum_rows(table))

    def levels(self, table: Array) -> Rows:
        """`Chunk.levels`."""
        return Rows(self.pattern("levels").sum_rows(table))

    def directions(self, table: Array, constants: Array) -> Rows:
        """`Chunk.directions`."""
        if isinstance(self._chunk, DenseChunk):
            return Rows(self.points.products(table, constants))
        out = self.pattern("directions").sum_rows(table)
        same = self.once(None, 0, np.int32)  # the row of constants is that of every document
        launch(gather.add_rows, out.size, on_card(constants[None]), same, self.once(None, 0.0, np.float64), out)
        return Rows(out)

    def rising(self, weights: Array, more: float) -> Rows:
        """`Chunk.rising`."""
        words, values = self.kept("level pairs", lambda: (on_card(self.level_words), on_card(self.level_values)))
        table = empty((len(values), weights.shape[1]), np.float64)
        launch(gather.log_rising_table, table.size, words, values, self.parameters(weights), more, table)
        return Rows(self.pattern("levels").sum_rows(table))

    @staticmethod
    def add(out: Rows, rows: Rows) -> None:
        """`Chunk.add`."""
        launch(sums.add_tables, out.table.size, out.table, rows.table, out.table)

    def add_by_document(self, out: Rows, by_length: Array, constants: Array | None = None) -> None:
        """`Chunk.add_by_document`."""
        codes = self.kept("codes", lambda: on_card(self._chunk._by_length[1]))
        own = self.once(constants, 0.0, np.float64)
        launch(gather.add_rows, out.table.size, on_card(by_length), codes, own, out.table)

    def _sum(self, pattern: Pattern | Points, resp: Shares) -> CardMatrix:
        found, everyone = pattern.sum_rows(resp.table), pattern.sizes
        if resp.weights is not None:
            weights = self.once(resp.weights, 1.0, np.float64)
            totals = pattern.sum_rows(weights.reshape(len(weights), 1))  # a view alone would not keep its memory
            everyone = totals.reshape(pattern.n_rows)
        launch(gather.add_trace, found.size, resp.trace, everyone, found)
        return CardMatrix(found)

    def sum_by_word(self, resp: Shares) -> CardMatrix:
        """`Chunk.sum_by_word`."""
        return self._sum(self.pattern("by word"), resp)

    def sum_tokens(self, resp: Shares) -> CardMatrix:
        """`Chunk.sum_tokens`."""
        return self._sum(self.pattern("tokens by word"), resp)

    def sum_directions(self, resp: Shares) -> tuple[Array, Array]:
        """`Chunk.sum_directions`."""
        is_dense = isinstance(self._chunk, DenseChunk)
        resultant = self._sum(self.points if is_dense else self.pattern("directions by word"), resp)
        return fetch(resultant), fetch(self._sum(self.pattern("with words"), resp))[0]

    def sum_by_level(self, resp: Shares) -> Levels:
        """`Chunk.sum_by_level`."""
        chunk = self._chunk
        weights: Any = self._sum(self.pattern("by level"), resp)
        levels = Levels(chunk.level_words, chunk.level_values, weights, chunk.n_words)
        levels.__dict__["first"] = chunk.level_first
        return levels

    def sum_by_length(self, resp: Shares) -> Levels:
        """`Chunk.sum_by_length`."""
        values = self._chunk.length_values
        weights = fetch(self._sum(self.pattern("by length"), resp))
        return Levels(np.zeros(len(values), dtype=np.int32), values, weights, 1)


def expect(
    chunk: CudaChunk | DenseChunk,
    labels: Array | None,
    sample_weight: Array | None,
    last: Any,
    family: Any,
    state: MixtureState,
    temperature: float,
    tempering: bool,
) -> tuple[Any, em.Step]:
    """`em.expect`; a family that needs more than sums runs in this process."""
    if not family.uses_sums:
        return em.expect(chunk, labels, sample_weight, fetch(last), family, state, temperature, tempering)
    card, n_documents, params = CardChunk(chunk), chunk.n_documents, state.params.rounded
    if not family.signed and "log_table" not in params.__dict__:
        params.__dict__["log_table"] = logs = empty(params.table.shape, np.float32)
        launch(gather.take_logs, logs.size, card.parameters(params.table), logs)
    log_prob = family.log_prob(card, params).table
    with np.errstate(divide="ignore"):
        log_weights = on_card(np.log(state.weights))
    own, weights = card.once(None, 1.0, np.float64), card.once(sample_weight, 1.0, np.float64)
    if tempering:
        own = card.kept("temperatures", lambda: on_card(document_temperatures(chunk)))
    known = card.once(labels, -1, np.int32)
    before = on_card(np.empty((0, 2), dtype=np.float32)) if last is None else last
    resp, places = empty(log_prob.shape, np.float32), empty((n_documents, 2), np.float32)
    sizes, totals = zeros((log_prob.shape[1],), np.int32), empty((n_documents, 2), np.float64)
    inputs = log_prob, log_weights, float(temperature), own, known, weights, before
    if n_documents:
        n_blocks = -(-n_documents * gather.LANES // gather.THREADS)
        launch_blocks(gather.share_out, n_blocks, gather.THREADS, *inputs, resp, places, sizes, totals)
    stats = family.summarize(card, Shares(resp, sample_weight, em.FLOOR))
    total = host_sums(resp).astype(np.float64)
    evidence, moved = host_sums(totals).tolist()
    return places, em.Step(em.Expectation(stats, total, evidence), moved, sizes.copy_to_host().astype(np.intp))


def maximise(family: Any, expectation: em.Expectation, start: Any = None, prior: Any = None) -> Any:
    """`em.maximise`; in this process where a prior asks for more than the arithmetic of tables."""
    if family.uses_sums and family.prior is None and isinstance(prior, Shared | None):
        return em.maximise(family, expectation, start, prior)
    return em.maximise(family, fetch(expectation), fetch(start), fetch(prior))
