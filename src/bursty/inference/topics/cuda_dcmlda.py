"""DCMLDA on a card: sweeps, statistics and the M step, of which only what has a number a topic comes back.

The statistics are a table with a row for each level that a word can have: as long as the most tokens a document has of
the word, which the corpus tells before the first sweep. So they are filled by adding ones, in any order to the same
bits, and need not be sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from bursty.engines import Levels
from bursty.engines.card import column_sums, copied, empty, host_sums, launch, on_card, zeros
from bursty.engines.cuda import TALL, CudaChunk, fetch
from bursty.inference.cuda_mcem import count_topics
from bursty.inference.topics import cuda_maximise, cuda_sweeps, dcmlda
from bursty.inference.topics.base import NO_LEVELS
from bursty.inference.topics.cuda_sweeps import Shape, Sweep
from bursty.inference.topics.dcmlda import DCMLDAStatistics, Method
from bursty.kernels.cuda import gibbs, maximise, rising, sums, tall
from bursty.kernels.cuda import topics as by_topic
from bursty.samplers.dcmlda import Hyperparameters

Array = np.ndarray[Any, Any]

# Tokens of a word in a document that one thread compares with each other.
_FEW = 16


class CardHyperparameters:
    """alpha here, beta and the background on the card; see `Hyperparameters`, which `fetch` gives."""

    def __init__(self, alpha: Array, beta: Any, background: Any = None) -> None:
        self.alpha, self.on_card, self.background = alpha, beta, background

    @classmethod
    def of(cls, params: Any) -> CardHyperparameters:
        """The same on the card, copied at most once."""
        if isinstance(params, cls):
            return params
        if "_on_card" not in params.__dict__:
            params.__dict__["_on_card"] = cls(params.alpha, on_card(params.beta), params.background)
        return params.__dict__["_on_card"]

    def fetch(self) -> Hyperparameters:
        """In this process."""
        return Hyperparameters(self.alpha, self.on_card.copy_to_host(), fetch(self.background))

    @cached_property
    def sums(self) -> Any:
        """s of each topic, on the card: 1 x K."""
        return column_sums(self.on_card)

    @cached_property
    def totals(self) -> Array:
        """s of each topic."""
        return np.asarray(self.sums.copy_to_host()[0])

    @cached_property
    def weights(self) -> cuda_sweeps.Weights:
        """What a sweep takes."""
        n_topics = len(self.alpha)
        table = empty((len(self.on_card), cuda_sweeps.n_columns(n_topics)), np.float32)
        launch(maximise.to_table, table.size, self.on_card, table)
        rows = cuda_sweeps.padded(self.alpha, 0.0), cuda_sweeps.padded(self.totals, 1.0)
        # In single precision, as the kernels have them.
        can_cut = bool(np.all(self.totals.astype(np.float32) > self.alpha.astype(np.float32)))
        return cuda_sweeps.Weights(table, *rows, True, n_topics, can_cut)


@dataclass(frozen=True)
class CardStatistics:
    """Words and mixtures on the card, and the rest of `DCMLDAStatistics`; ``scale`` is the weight of one document.

    ``chunk`` is where they are from: it has what does not depend on topics.
    """

    words: Any
    mixtures: Any
    chunk: CudaChunk
    lengths: Levels
    log_joint: float
    scale: float = 1.0

    @property
    def level_first(self) -> Any:
        """Index of the first level of each word."""
        return self.chunk.on_card.level_first

    def __mul__(self, factor: float) -> CardStatistics:
        log_joint, scale = self.log_joint * factor, self.scale * factor
        return CardStatistics(self.words, self.mixtures, self.chunk, self.lengths, log_joint, scale)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, CardStatistics) or self.chunk is not other.chunk or self.scale != other.scale:
            return self.fetch() + fetch(other)  # of other documents
        words, mixtures = empty(self.words.shape, np.int32), empty(self.mixtures.shape, np.int32)
        launch(sums.add_tables, words.size, self.words, other.words, words)
        launch(sums.add_tables, mixtures.size, self.mixtures, other.mixtures, mixtures)
        weights = self.lengths.weights + other.lengths.weights
        lengths = Levels(self.lengths.items, self.lengths.values, weights, 1)
        log_joint = self.log_joint + other.log_joint
        return CardStatistics(words, mixtures, self.chunk, lengths, log_joint, self.scale)

    def __radd__(self, other: DCMLDAStatistics) -> DCMLDAStatistics:
        return other + self.fetch()

    def of_mixtures(self) -> DCMLDAStatistics:
        """All but the words."""
        table = self.mixtures.copy_to_host()
        places = np.flatnonzero(table)
        topics, values = np.divmod(places, table.shape[1])
        mixtures = _levels(topics, values, self.scale * table.ravel()[places], len(table))
        return DCMLDAStatistics(mixtures, self.scaled_lengths, self.log_joint, NO_LEVELS)

    @property
    def scaled_lengths(self) -> Levels:
        """Documents by length, with their weight."""
        return Levels(self.lengths.items, self.lengths.values, self.scale * self.lengths.weights, 1)

    def fetch(self) -> DCMLDAStatistics:
        """In this process, as sparse levels."""
        rest, n_topics = self.of_mixtures(), self.words.shape[1]
        n_items = self.chunk.n_words * n_topics
        sizes = empty((n_items,), np.int32)
        args = self.words, self.level_first, n_topics
        launch(maximise.count_levels, n_items, *args, sizes)
        n_levels = sizes.copy_to_host()
        first = np.append(0, np.cumsum(n_levels, dtype=np.int64))
        values, documents = empty((max(1, first[-1]),), np.int32), empty((max(1, first[-1]),), np.int32)
        launch(maximise.list_levels, n_items, *args, on_card(first[:-1]), values, documents)
        known = slice(0, first[-1])
        items = np.repeat(np.arange(n_items), n_levels)
        weights = self.scale * documents.copy_to_host()[known]
        words = _levels(items, values.copy_to_host()[known], weights, n_items)
        return DCMLDAStatistics(rest.mixtures, rest.lengths, rest.log_joint, words)


def _levels(items: Array, values: Array, weights: Array, n_items: int) -> Levels:
    return Levels(items.astype(np.int32), values.astype(np.int32), weights[:, None].astype(np.float64), n_items)


def sweeps(
    chunk: CudaChunk, offset: int, topics: Any, params: Any, seed: int, numbers: range, learn: bool
) -> tuple[Any, Any]:
    """`dcmlda.sweeps`: the last one counts."""
    tokens, own = chunk.on_card, CardHyperparameters.of(params)
    n_topics, topics = len(own.alpha), copied(topics)
    shape, weights = Shape.of(n_topics, chunk), own.weights
    mixtures = zeros((n_topics, tokens.longest + 1), np.int32)
    words = zeros((max(1, tokens.n_levels), n_topics), np.int32)
    for number in numbers:
        if number % dcmlda.MOVES == 0:
            cuda_sweeps.move_blocks(chunk, offset, topics, weights, seed, number)
        tallies = (mixtures, words) if number == numbers[-1] else None
        Sweep(chunk, offset, topics, weights, seed, number, tallies, shape).run()
    lengths = _lengths(chunk)
    log_joint = _log_mixtures(mixtures, lengths, own) + _log_words(words, chunk, own.on_card)
    if not learn:
        return topics, DCMLDAStatistics(NO_LEVELS, NO_LEVELS, log_joint, NO_LEVELS)
    return topics, CardStatistics(words, mixtures, chunk, lengths, log_joint)


def _lengths(chunk: CudaChunk) -> Levels:
    """Documents by length, found once."""
    if "_length_levels" not in chunk.__dict__:
        values, weights = np.unique(chunk.lengths[chunk.lengths > 0], return_counts=True)
        chunk.__dict__["_length_levels"] = _levels(np.zeros_like(values), values, weights, 1)
    return chunk.__dict__["_length_levels"]


def _log_mixtures(mixtures: Any, lengths: Levels, params: CardHyperparameters) -> float:
    """Log-probability of the documents' topics, and what their numbers of tokens take off that of the words."""
    out, whole = empty((len(mixtures),), np.float64), params.alpha.sum()
    args = mixtures, on_card(params.alpha), params.sums, out
    by_topic.log_mixtures[len(mixtures), rising.THREADS](*args)
    of_lengths = gammaln(whole + lengths.values) - gammaln(whole)
    return float(out.copy_to_host().sum() - lengths.weights[:, 0] @ of_lengths)


def _log_words(words: Any, chunk: CudaChunk, beta: Any) -> float:
    out, tokens = empty(beta.shape, np.float64), chunk.on_card
    launch(maximise.log_words, out.size, words, tokens.level_first, TALL, beta, out)
    if len(tokens.tall):
        n_blocks = len(tokens.tall) * beta.shape[1]
        tall.log_words[n_blocks, rising.THREADS](tokens.tall, words, tokens.level_first, beta, out)
    return float(host_sums(out).sum())


def update(method: Method, stats: Any, params: Any) -> Any:
    """`dcmlda.Method.update`; where the statistics are here, so is the M step."""
    if not isinstance(stats, CardStatistics) or not method.learn:
        return method.update(stats, fetch(params))
    last = CardHyperparameters.of(params)
    beta, background = cuda_maximise.step_beta(stats, last.on_card, last.sums)
    return CardHyperparameters(cuda_maximise.learn_alpha(stats, last.alpha), beta, background)


def begin_statistics(chunk: CudaChunk, offset: int, topics: Any, n_topics: int) -> CardStatistics:
    """`dcmlda.begin_statistics`."""
    tokens, topics = chunk.on_card, on_card(topics)
    mixtures = zeros((n_topics, tokens.longest + 1), np.int32)
    words = zeros((max(1, tokens.n_levels), n_topics), np.int32)
    count_topics(chunk, topics, n_topics, mixtures=mixtures)
    launch(gibbs.count_words, len(tokens.codes), tokens.codes, topics, _FEW, tokens.level_first, words)
    large = np.flatnonzero(chunk.values > _FEW)
    if len(large):
        begin = np.append(0, np.cumsum(chunk.values, dtype=np.int64))
        cells = np.stack([begin[large], begin[large + 1], chunk.indices[large]], axis=1).astype(np.int64)
        shape = len(large), rising.THREADS, 0, 4 * n_topics
        gibbs.count_large[shape](on_card(cells), topics, tokens.level_first, words)
    return CardStatistics(words, mixtures, chunk, _lengths(chunk), 0.0)


def learn_beta(stats: Any, last: Any, *, exact: bool = False) -> Any:
    """`dcmlda.learn_beta`, on the card if the statistics are there."""
    if not isinstance(stats, CardStatistics):
        return dcmlda.learn_beta(stats, fetch(last), exact=exact)
    last = on_card(last)
    if exact:
        return cuda_maximise.solve_beta(stats, last)
    return cuda_maximise.step_beta(stats, last, column_sums(last))


def conclude(method: Method, stats: Any, params: Any) -> Any:
    """`dcmlda.Method.conclude`, which is made here."""
    return method.conclude(fetch(stats), fetch(params))
