"""DCMLDA on a card: sweeps, statistics and the M step, of which only what has a number a topic comes back.

The statistics are a table with a row for each level that a word can have: as long as the most tokens a document has of
the word, which the corpus tells before the first sweep. So they are filled by adding ones, in any order to the same
bits, and need not be sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bursty.engines import Levels
from bursty.engines.card import Later, column_sums, copied, empty, launch, launch_blocks, on_card, zeros
from bursty.engines.cuda import TALL, CudaChunk, fetch
from bursty.families.cuda_sparse_urns import CardListedUrns
from bursty.inference.cuda_mcem import count_topics
from bursty.inference.topics import cuda_maximise, cuda_sweeps, dcmlda
from bursty.inference.topics.base import NO_LEVELS
from bursty.inference.topics.cuda_sweeps import Shape, Sweep
from bursty.inference.topics.dcmlda import DCMLDAStatistics, Method
from bursty.kernels.cuda import gibbs, maximise, rising, sums, tall
from bursty.kernels.cuda import topics as by_topic
from bursty.samplers.dcmlda import Hyperparameters
from bursty.typing import Array

# Tokens of a word in a document that one thread compares with each other.
_FEW = 16


class CardHyperparameters:
    """alpha, beta and the background on the card; see `Hyperparameters`, which `fetch` gives."""

    def __init__(self, alpha: Any, beta: Any, background: Any = None) -> None:
        self.alpha_on_card, self.on_card, self.background = on_card(alpha), on_card(beta), background

    @classmethod
    def of(cls, params: Any) -> CardHyperparameters:
        """The same on the card, copied at most once."""
        if isinstance(params, cls):
            return params
        if "_on_card" not in params.__dict__:
            params.__dict__["_on_card"] = cls(params.alpha, params.beta, params.background)
        return params.__dict__["_on_card"]

    def fetch(self) -> Hyperparameters:
        """In this process."""
        return Hyperparameters(self.alpha, self.on_card.copy_to_host(), fetch(self.background))

    @cached_property
    def sums(self) -> Any:
        """s of each topic, on the card: 1 x K."""
        return column_sums(self.on_card)

    @cached_property
    def alpha(self) -> Array:
        """In this process."""
        return np.asarray(self.alpha_on_card.copy_to_host())

    @cached_property
    def weights(self) -> cuda_sweeps.Weights:
        """What a sweep takes."""
        n_topics, n_columns = self.on_card.shape[1], cuda_sweeps.n_columns(self.on_card.shape[1])
        table = empty((len(self.on_card), n_columns), np.float32)
        launch(maximise.to_table, table.size, self.on_card, table)
        # Not two rows of one table: these would not keep its memory.
        alpha, totals = empty((n_columns,), np.float32), empty((n_columns,), np.float32)
        launch(by_topic.to_rows, n_columns, self.alpha_on_card, self.sums, alpha, totals)
        return cuda_sweeps.Weights(table, alpha, totals, True, n_topics, (Later(alpha), Later(totals)))


@dataclass(frozen=True)
class CardStatistics:
    """`DCMLDAStatistics` of some sweeps over a chunk, on the card; ``scale`` is the weight of one document in each.

    The log-likelihood is computed there, too, and asked for when the card has more to do.
    """

    words: Any
    mixtures: Any
    chunk: CudaChunk
    log_likelihood: Callable[[], float]
    scale: float = 1.0
    n_sweeps: int = 1

    @cached_property
    def log_joint(self) -> float:
        """Waits for the card."""
        return self.log_likelihood()

    @property
    def level_first(self) -> Any:
        """Index of the first level of each word."""
        return self.chunk.on_card.level_first

    @property
    def lengths(self) -> tuple[Any, float]:
        """Number of documents by length, on the card, and the weight of each."""
        return self.chunk.on_card.lengths, self.scale * self.n_sweeps

    def __mul__(self, factor: float) -> CardStatistics:
        found = self.log_likelihood  # without the tables
        return replace(self, log_likelihood=lambda: factor * found(), scale=self.scale * factor)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, CardStatistics) or self.chunk is not other.chunk or self.scale != other.scale:
            return self.fetch() + fetch(other)  # of other documents
        words, mixtures = empty(self.words.shape, np.int32), empty(self.mixtures.shape, np.int32)
        launch(sums.add_tables, words.size, self.words, other.words, words)
        launch(sums.add_tables, mixtures.size, self.mixtures, other.mixtures, mixtures)
        parts, n_sweeps = (self.log_likelihood, other.log_likelihood), self.n_sweeps + other.n_sweeps
        return CardStatistics(words, mixtures, self.chunk, lambda: sum(f() for f in parts), self.scale, n_sweeps)

    def __radd__(self, other: DCMLDAStatistics) -> DCMLDAStatistics:
        return other + self.fetch()

    def of_mixtures(self) -> DCMLDAStatistics:
        """All but the words."""
        table = self.mixtures.copy_to_host()
        places = np.flatnonzero(table)
        topics, values = np.divmod(places, table.shape[1])
        mixtures = _levels(topics, values, self.scale * table.ravel()[places], len(table))
        values, documents = self.lengths[0].copy_to_host().T
        lengths = _levels(np.zeros_like(values), values, self.lengths[1] * documents, 1)
        return DCMLDAStatistics(mixtures, lengths, self.log_joint, NO_LEVELS)

    def fetch(self) -> DCMLDAStatistics:
        """In this process, as sparse levels."""
        rest, n_topics = self.of_mixtures(), self.words.shape[1]
        n_items = self.chunk.n_words * n_topics
        sizes = empty((n_items,), np.int32)
        args = self.words, self.level_first, n_topics
        launch(maximise.count_levels, n_items, *args, sizes)
        n_levels = empty((self.chunk.n_words,), np.int32)
        launch(maximise.add_up, self.chunk.n_words, sizes, n_topics, n_levels)
        first = np.append(0, np.cumsum(n_levels.copy_to_host(), dtype=np.int64))
        lists = empty((3, max(1, first[-1])), np.int32)
        launch(maximise.list_levels, n_items, *args, on_card(first[:-1]), sizes, lists)
        items, values, documents = lists.copy_to_host()[:, : first[-1]]
        words = _levels(items, values, self.scale * documents, n_items)
        return DCMLDAStatistics(rest.mixtures, rest.lengths, rest.log_joint, words)


def _levels(items: Array, values: Array, weights: Array, n_items: int) -> Levels:
    return Levels(items.astype(np.int32), values.astype(np.int32), weights[:, None].astype(np.float64), n_items)


def sweeps(
    chunk: CudaChunk, offset: int, topics: Any, params: Any, seed: int, numbers: range, learn: bool
) -> tuple[Any, Any]:
    """`dcmlda.sweeps`: the last one counts."""
    tokens, own = chunk.on_card, CardHyperparameters.of(params)
    n_topics, topics = own.on_card.shape[1], copied(topics)
    shape, weights = Shape.of(n_topics, chunk), own.weights
    mixtures = zeros((n_topics, tokens.longest + 1), np.int32)
    words = zeros((max(1, tokens.n_levels), n_topics), np.int32)
    for number in numbers:
        if number % dcmlda.MOVES == 0:
            cuda_sweeps.move_blocks(chunk, offset, topics, weights, seed, number)
        tallies = (mixtures, words) if number == numbers[-1] else None
        Sweep(chunk, offset, topics, weights, seed, number, tallies, shape).run()
    parts = Later(_log_mixtures(mixtures, chunk, own)), Later(_log_words(words, chunk, own.on_card))

    def log_joint() -> float:
        return float(sum(part.value.sum() for part in parts))

    if not learn:
        return topics, DCMLDAStatistics(NO_LEVELS, NO_LEVELS, log_joint(), NO_LEVELS)
    return topics, CardStatistics(words, mixtures, chunk, log_joint)


def _log_mixtures(mixtures: Any, chunk: CudaChunk, params: CardHyperparameters) -> Any:
    """Log-probability of the documents' topics, and what their numbers of tokens take off that of the words."""
    out = empty((len(mixtures) + 1,), np.float64)
    args = mixtures, chunk.on_card.lengths, params.alpha_on_card, params.sums, out
    launch_blocks(by_topic.log_mixtures, len(out), by_topic.THREADS, *args)
    return out


def _log_words(words: Any, chunk: CudaChunk, beta: Any) -> Any:
    """Log-probability of the words of each topic."""
    out, tokens = empty(beta.shape, np.float64), chunk.on_card
    launch(maximise.log_words, out.size, words, tokens.level_first, TALL, beta, out)
    if len(tokens.tall):
        n_blocks = len(tokens.tall) * beta.shape[1]
        args = tokens.tall, words, tokens.level_first, beta, out
        launch_blocks(tall.log_words, n_blocks, rising.THREADS, *args)
    return column_sums(out)


def update(method: Method, stats: Any, params: Any) -> Any:
    """`dcmlda.Method.update`; where the statistics are here, so is the M step."""
    if not isinstance(stats, CardStatistics) or not method.learn:
        return method.update(stats, fetch(params))
    last = CardHyperparameters.of(params)
    beta, background = cuda_maximise.step_beta(stats, last.on_card, last.sums)
    alpha = cuda_maximise.learn_alpha(stats, last.alpha_on_card, last.sums)
    result = CardHyperparameters(alpha, beta, background)
    result.weights  # noqa: B018  # launched while the card is busy; the next sweep needs not wait for them
    return result


def draw_params(stats: Any, params: Any, seed: int, number: int) -> Any:
    """`dcmlda.draw_params`, of other random numbers where the statistics are here."""
    if not isinstance(stats, CardStatistics):
        return dcmlda.draw_params(stats, fetch(params), seed, number)
    last = CardHyperparameters.of(params)
    beta, background = cuda_maximise.draw_beta(stats, last.on_card, last.sums, seed, number)
    return CardHyperparameters(cuda_maximise.learn_alpha(stats, last.alpha_on_card, last.sums), beta, background)


def begin(alpha: Array, beta: Any, background: Any) -> CardHyperparameters:
    """`dcmlda.begin`."""
    return CardHyperparameters(alpha, beta, background)


def begin_statistics(chunk: CudaChunk, offset: int, topics: Any, n_topics: int) -> CardStatistics:
    """`dcmlda.begin_statistics`."""
    tokens, topics = chunk.on_card, on_card(topics)
    mixtures = zeros((n_topics, tokens.longest + 1), np.int32)
    words = zeros((max(1, tokens.n_levels), n_topics), np.int32)
    count_topics(chunk, topics, n_topics, mixtures=mixtures)
    launch(gibbs.count_words, len(tokens.codes), tokens.codes, topics, _FEW, tokens.level_first, words)
    large = np.flatnonzero(chunk.values > _FEW)
    if len(large):
        begin = chunk.cell_first
        cells = np.stack([begin[large], begin[large + 1], chunk.indices[large]], axis=1).astype(np.int64)
        args = on_card(cells), topics, tokens.level_first, words
        launch_blocks(gibbs.count_large, len(large), rising.THREADS, *args, shared_bytes=4 * n_topics)
    return CardStatistics(words, mixtures, chunk, lambda: 0.0)


def learn_beta(stats: Any, last: Any, *, exact: bool = False) -> Any:
    """`dcmlda.learn_beta`, on the card if the statistics are there."""
    if not isinstance(stats, CardStatistics):
        return dcmlda.learn_beta(stats, fetch(last), exact=exact)
    last = on_card(last)
    if exact:
        return cuda_maximise.solve_beta(stats, last)
    return cuda_maximise.step_beta(stats, last, column_sums(last))


def conclude(method: Method, stats: Any, params: Any) -> Any:
    """`dcmlda.Method.conclude`: the pairs are listed here, and their equations solved on the card."""
    return method.conclude(fetch(stats), fetch(params), CardListedUrns)
