"""DCMLDA on a card: sweeps, statistics and the M step, of which only what has a number a topic comes back.

The statistics are a table with a row for each level that a word can have: as long as the most tokens a document has of
the word, which the corpus tells before the first sweep. So they are filled by adding ones, in any order to the same
bits, and need not be sorted.

Blocks of tokens are not moved here (`bursty.kernels.gibbs_blocks`): sweeps alone have the same distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import cuda
from scipy.special import gammaln

from bursty.engines import Levels
from bursty.engines.cuda import CudaChunk, fetch
from bursty.families.solve import S_MAX, S_MIN, LengthUrn, solve_urns
from bursty.families.sparse_urns import UNSEEN
from bursty.inference.topics import cuda_sweeps, dcmlda
from bursty.inference.topics.base import FLOOR, NO_LEVELS, learn_alpha
from bursty.inference.topics.cuda_sweeps import Shape, column_sums, empty, launch, on_card
from bursty.inference.topics.dcmlda import DCMLDAStatistics, Method
from bursty.kernels.cuda import gibbs, maximise
from bursty.samplers.dcmlda import Hyperparameters
from bursty.samplers.tokens import Tokens

Array = np.ndarray[Any, Any]


class CardHyperparameters:
    """alpha here and beta on the card; see `Hyperparameters`, which `fetch` gives."""

    def __init__(self, alpha: Array, beta: Any, background: Array | None = None) -> None:
        self.alpha, self.on_card, self.background = alpha, beta, background

    @classmethod
    def of(cls, params: Any) -> CardHyperparameters:
        """The same on the card, copied at most once."""
        if isinstance(params, cls):
            return params
        if "_on_card" not in params.__dict__:
            beta = cuda.to_device(np.ascontiguousarray(params.beta))
            params.__dict__["_on_card"] = cls(params.alpha, beta, params.background)
        return params.__dict__["_on_card"]

    def fetch(self) -> Hyperparameters:
        """In this process."""
        return Hyperparameters(self.alpha, self.on_card.copy_to_host(), self.background)

    @cached_property
    def totals(self) -> Array:
        """s of each topic."""
        return column_sums(self.on_card)

    @cached_property
    def weights(self) -> cuda_sweeps.Weights:
        """What a sweep takes."""
        n_topics = len(self.alpha)
        table = empty((len(self.on_card), cuda_sweeps.n_columns(n_topics)), np.float32)
        launch(maximise.to_table, table.size, self.on_card, table)
        rows = cuda_sweeps.padded(self.alpha, 0.0), cuda_sweeps.padded(self.totals, 1.0)
        return cuda_sweeps.Weights(table, *rows, True, n_topics)


@dataclass(frozen=True)
class TopicSizes:
    """Documents by topic and tokens in it: a table, most of it zeros, and what is in it."""

    table: Array

    @property
    def n_topics(self) -> int:
        """Its rows."""
        return len(self.table)

    @cached_property
    def cells(self) -> tuple[Array, Array, Array]:
        """Topics, tokens and documents."""
        places = np.flatnonzero(self.table)
        return *np.divmod(places, self.table.shape[1]), self.table.ravel()[places].astype(np.float64)


@dataclass(frozen=True)
class CardStatistics:
    """The words on the card, and the rest of `DCMLDAStatistics` here; ``scale`` is the weight of one document."""

    words: Any
    level_first: Any
    mixtures: TopicSizes
    lengths: Levels
    log_joint: float
    scale: float = 1.0

    def __mul__(self, factor: float) -> CardStatistics:
        return CardStatistics(
            self.words, self.level_first, self.mixtures, self.lengths, self.log_joint * factor, self.scale * factor
        )

    def __add__(self, other: CardStatistics) -> Any:
        if self.level_first is not other.level_first or self.scale != other.scale:
            return self.fetch() + other.fetch()  # of other documents
        words = empty(self.words.shape, np.int32)
        launch(maximise.add_tables, words.size, self.words, other.words, words)
        weights = self.lengths.weights + other.lengths.weights
        lengths = Levels(self.lengths.items, self.lengths.values, weights, 1)
        log_joint, mixtures = self.log_joint + other.log_joint, TopicSizes(self.mixtures.table + other.mixtures.table)
        return CardStatistics(words, self.level_first, mixtures, lengths, log_joint, self.scale)

    def of_mixtures(self) -> DCMLDAStatistics:
        """All but the words."""
        topics, values, weights = self.mixtures.cells
        mixtures = _levels(topics, values, self.scale * weights, self.mixtures.n_topics)
        lengths = Levels(self.lengths.items, self.lengths.values, self.scale * self.lengths.weights, 1)
        return DCMLDAStatistics(mixtures, lengths, self.log_joint, NO_LEVELS)

    def fetch(self) -> DCMLDAStatistics:
        """In this process, as sparse levels."""
        rest, table = self.of_mixtures(), self.words.copy_to_host()
        first = self.level_first.copy_to_host()
        rows, topics = np.nonzero(table)
        words = np.repeat(np.arange(len(first) - 1), np.diff(first))[rows]
        items, values = words * table.shape[1] + topics, rows - first[words] + 1
        order = np.argsort(items, kind="stable")  # values grow along the rows
        weights = self.scale * table[rows, topics].astype(np.float64)
        levels = _levels(items[order], values[order], weights[order], (len(first) - 1) * table.shape[1])
        return DCMLDAStatistics(rest.mixtures, rest.lengths, rest.log_joint, levels)


def _levels(items: Array, values: Array, weights: Array, n_items: int) -> Levels:
    return Levels(items.astype(np.int32), values.astype(np.int32), weights[:, None], n_items)


def sweeps(
    chunk: CudaChunk, offset: int, topics: Any, params: Any, seed: int, numbers: range, learn: bool
) -> tuple[Any, Any]:
    """`dcmlda.sweeps`: the last one counts."""
    tokens, own = chunk.on_card, CardHyperparameters.of(params)
    n_topics, topics = len(own.alpha), cuda_sweeps.copied(topics)
    shape, weights = Shape.of(n_topics, chunk), own.weights
    mixtures = cuda_sweeps.zeros((n_topics, tokens.longest + 1), np.int32)
    words = cuda_sweeps.zeros((max(1, tokens.n_levels), n_topics), np.int32)
    for number in numbers:
        tallies = (mixtures, words) if number == numbers[-1] else None
        cuda_sweeps.sweep(chunk, offset, topics, weights, seed, number, tallies, shape)
    lengths = _lengths(chunk)
    counted = TopicSizes(mixtures.copy_to_host())
    log_joint = _log_mixtures(counted, lengths, own) + _log_words(words, tokens.level_first, own.on_card)
    if not learn:
        return topics, DCMLDAStatistics(NO_LEVELS, NO_LEVELS, log_joint, NO_LEVELS)
    return topics, CardStatistics(words, tokens.level_first, counted, lengths, log_joint)


def _lengths(chunk: CudaChunk) -> Levels:
    """Documents by length, found once."""
    if "_length_levels" not in chunk.__dict__:
        values, weights = np.unique(chunk.lengths[chunk.lengths > 0], return_counts=True)
        chunk.__dict__["_length_levels"] = _levels(np.zeros_like(values), values, weights.astype(np.float64), 1)
    return chunk.__dict__["_length_levels"]


def _log_mixtures(mixtures: TopicSizes, lengths: Levels, params: CardHyperparameters) -> float:
    """Log-probability of the documents' topics, and what their numbers of tokens take off that of the words."""
    topics, values, weights = mixtures.cells
    alpha, totals, whole = params.alpha[topics], params.totals[topics], params.alpha.sum()
    terms = gammaln(alpha + values) - gammaln(alpha) - gammaln(totals + values) + gammaln(totals)
    of_lengths = gammaln(whole + lengths.values) - gammaln(whole)
    return float(weights @ terms - lengths.weights[:, 0] @ of_lengths)


def _log_words(words: Any, level_first: Any, beta: Any) -> float:
    out = empty(beta.shape, np.float64)
    launch(maximise.log_words, out.size, words, level_first, beta, out)
    return float(column_sums(out).sum())


def update(method: Method, stats: Any, params: Any) -> Any:
    """`dcmlda.Method.update`; where the statistics are here, so is the M step."""
    if not isinstance(stats, CardStatistics) or not method.learn:
        plain = params.fetch() if isinstance(params, CardHyperparameters) else params
        return method.update(stats, plain)
    beta, background = learn_beta(stats, CardHyperparameters.of(params).on_card)
    return CardHyperparameters(learn_alpha(stats.of_mixtures()), beta, background)


def begin_statistics(chunk: CudaChunk, offset: int, topics: Any, n_topics: int) -> CardStatistics:
    """`dcmlda.begin_statistics`; the documents' topics are counted here."""
    tokens, counts = chunk.on_card, Tokens.numbered(chunk, offset).document_topics(fetch(topics), n_topics)
    table = counts + (tokens.longest + 1) * np.arange(n_topics)
    mixtures = np.bincount(table.ravel(), minlength=n_topics * (tokens.longest + 1)).reshape(n_topics, -1)
    mixtures[:, 0] = 0
    words = cuda_sweeps.zeros((max(1, tokens.n_levels), n_topics), np.int32)
    launch(gibbs.count_words, len(tokens.codes), tokens.codes, on_card(topics), tokens.level_first, words)
    return CardStatistics(words, tokens.level_first, TopicSizes(mixtures), _lengths(chunk), 0.0)


def learn_beta(stats: Any, last: Any, *, exact: bool = False) -> Any:
    """`dcmlda.learn_beta`, on the card if the statistics are there."""
    if not isinstance(stats, CardStatistics):
        return dcmlda.learn_beta(stats, fetch(last), exact=exact)
    last = on_card(last)
    urns = CardUrns(stats, last.shape)
    sizes = stats.of_mixtures().sizes()
    beta = solve_urns(urns, sizes, None if exact else last)
    return beta, _spread(beta, sizes, last)


def _spread(beta: Any, sizes: Levels, last: Any) -> Array:
    """`PairUrns.discounted` and what `dcmlda.learn_beta` makes of it, in place; gives the background."""
    s = column_sums(beta)
    lost = s == 0
    draws, once, twice = (empty(beta.shape, np.float64) for _ in range(3))
    lambdas = on_card(LengthUrn(sizes)(np.where(lost, 1.0, s))[0])
    launch(maximise.count_draws, beta.size, beta, lambdas, draws, once, twice)
    n_once, n_twice = int(column_sums(once).sum()), int(column_sums(twice).sum())
    given, topics = once, empty((len(beta),), np.float64)
    launch(maximise.give_up, beta.size, draws, n_once / max(n_once + 2 * n_twice, 1), given)
    pool, total = column_sums(given), column_sums(draws)
    share = np.divide(pool, total, out=np.zeros_like(pool), where=total > 0)
    launch(maximise.count_topics, topics.size, draws, topics)
    weights = topics.copy_to_host() + UNSEEN
    background = weights / weights.mean()
    floor = np.maximum(share, FLOOR) * s / len(beta)
    args = draws, given, on_card(floor), on_card(background), cuda.to_device(lost), last
    launch(maximise.add_background, beta.size, beta, *args)
    return np.asarray(background)


def conclude(method: Method, stats: Any, params: Any) -> Any:
    """`dcmlda.Method.conclude`, which is made here."""
    plain = params.fetch() if isinstance(params, CardHyperparameters) else params
    return method.conclude(stats.fetch() if isinstance(stats, CardStatistics) else stats, plain)


class CardUrns:
    """The equations of all words and topics, as `families.solve.Equations`, on the card."""

    def __init__(self, stats: CardStatistics, shape: tuple[int, int]) -> None:
        self.levels, self.level_first, self.scale = stats.words, stats.level_first, stats.scale
        self._types, self._tokens = empty(shape, np.float64), empty(shape, np.float64)
        args = self.levels, self.level_first, self.scale, self._types, self._tokens
        launch(maximise.count_types, self._types.size, *args)
        self.totals = column_sums(self._types)

    def sums(self, start: Any) -> Array:
        """Of what to start from."""
        return column_sums(start)

    def start(self, scale: Array, alpha: Any) -> None:
        """Where to start from: `alpha`, which is on the card, or else the types times a scale for each topic."""
        self._slope = cuda_sweeps.zeros(self._types.shape, np.float64)
        self._alpha = empty(self._types.shape, np.float64) if alpha is None else cuda_sweeps.copied(alpha)
        if alpha is None:
            launch(maximise.begin, self._alpha.size, self._types, on_card(scale), self._alpha)

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each topic with a positive lambda."""
        self._lambdas = lambdas
        args = self.levels, self.level_first, self.scale, self._types, self._tokens, on_card(lambdas), n_steps
        launch(maximise.solve, self._types.size, *args, self._alpha, self._slope)
        return np.where(lambdas > 0, column_sums(self._alpha), 0.0), column_sums(self._slope)

    def alpha(self, lambdas: Array) -> Any:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""
        result = empty(self._types.shape, np.float64)
        change = on_card(lambdas - self._lambdas)
        launch(maximise.move, result.size, self._types, on_card(lambdas), change, self._alpha, self._slope, result)
        return result

    def set_limits(self, alpha: Any, no_repeat: Array, one_word: Array) -> None:
        """Where s has no finite maximum: the multinomial's proportions at S_MAX, the first words' at S_MIN."""
        for at_limit, weights, s in ((no_repeat, self._tokens, S_MAX), (one_word, self._types, S_MIN)):
            if at_limit.any():
                sums = column_sums(weights)
                factors = np.divide(s, sums, out=np.zeros_like(sums), where=at_limit & (sums > 0))
                launch(maximise.set_columns, alpha.size, weights, on_card(factors), alpha)
