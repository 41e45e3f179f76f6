"""Monte Carlo EM for topic models: Gibbs sweeps, then the hyperparameters of greatest likelihood, and again.

    E step   some sweeps; the topics they end with are the sample          [Doyle2009] algorithm 2, one sample
    M step   alpha and beta that maximise the complete likelihood p(w, z | alpha, beta)

The M step is the DCM's own (`families.dcm.maximise_alpha`): for alpha the "documents" are the topic counts n_dk of each
document; for beta_k of DCMLDA they are the words that each document gave to topic k; for LDA's one beta they are the
topics' word counts.

A word that a topic has lost would have parameter 0 there and could never come back. So every topic's parameters get a
share `FLOOR` of their sum, spread evenly over the words; a topic's alpha is at least `FLOOR` of the mean alpha; and a
topic without any token keeps its last beta.

It ends when the complete log-likelihood, averaged over the last iterations, no longer grows (see `Schedule`), or after
``n_iter`` iterations. The last M step uses the mean statistics of several sweeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from scipy.optimize import brentq

from bursty.engines import Chunk, Column, Documents, Levels, total
from bursty.families.base import Statistics
from bursty.families.dcm import maximise_alpha
from bursty.families.urn import S_MAX, S_MIN, LengthUrn
from bursty.inference.checkpoint import Keeper
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import State, Tokens, item_levels, length_levels, random_topics

Array = np.ndarray[Any, Any]

# Share of a topic's parameters that is spread evenly over all words, so that an absent one may return.
FLOOR = 1e-3
# DCMLDA starts from so many sweeps of LDA with this beta.
_START_SWEEPS, _START_BETA = 20, 0.1


@dataclass(frozen=True)
class Schedule:
    """How long to run.

    ``burn_in`` sweeps come before the first M step, ``n_sweeps`` before each of the others. The run ends when the mean
    log-likelihood of the last ``window`` iterations exceeds that of the ``window`` before by less than ``tol`` in
    relative terms (never, if ``tol`` is 0). ``n_samples`` sweeps follow, for the last M step and the mixtures.
    """

    n_iter: int = 200
    n_sweeps: int = 5
    burn_in: int = 20
    tol: float = 1e-3
    window: int = 10
    n_samples: int = 10


@dataclass
class Trace:
    """What happened, one entry an iteration."""

    iteration: list[int] = field(default_factory=list)
    sweep: list[int] = field(default_factory=list)
    log_likelihood: list[float] = field(default_factory=list)
    tokens_per_second: list[float] = field(default_factory=list)

    def arrays(self) -> dict[str, Array]:
        """The same as arrays."""
        return {name: np.asarray(values) for name, values in vars(self).items()}

    def settled(self, schedule: Schedule) -> bool:
        """Whether the log-likelihood has stopped growing."""
        values, window = np.asarray(self.log_likelihood), schedule.window
        if schedule.tol == 0 or len(values) < 2 * window:
            return False
        gain = values[-window:].mean() - values[-2 * window : -window].mean()
        return bool(gain <= schedule.tol * abs(values[-1]))


@dataclass
class Chains:
    """The documents, the topics of their tokens, the number of the next sweep: what a stopped run needs to go on."""

    documents: Documents
    n_topics: int
    seed: int
    topics: Column
    number: int = 0

    @classmethod
    def start(cls, documents: Documents, n_topics: int, seed: int) -> Chains:
        """Every token in a topic drawn at random."""
        topics = documents.keep(_begin, documents.offsets, n_topics=n_topics, seed=seed)
        return cls(documents, n_topics, seed, topics)

    @classmethod
    def at(cls, documents: Documents, n_topics: int, seed: int, topics: Array, number: int) -> Chains:
        """Every token in its topic, given one after the other."""
        sizes = list(documents.map(_n_tokens))
        if sum(sizes) != len(topics):
            raise ValueError(f"there are {len(topics)} topics for {sum(sizes)} tokens")
        parts = np.split(topics, np.cumsum(sizes)[:-1])
        return cls(documents, n_topics, seed, documents.keep(_itself, parts), number)

    @property
    def columns(self) -> tuple[Column, Column]:
        """What a function over the chunks gets: the number of its first document, the topics of its tokens."""
        return self.documents.offsets, self.topics

    def sum(self, function: Callable[..., Any], **shared: Any) -> Any:
        """``function(chunk, offset, topics, **shared)``, added over the chunks."""
        return self.documents.sum(function, *self.columns, **shared)

    def move(self, function: Callable[..., Any], n_sweeps: int, **shared: Any) -> Any:
        """Sweep: the function gives new topics, which stay, and something to add."""
        moved, added = self.documents.keep_and_sum(function, *self.columns, seed=self.seed, **shared)
        self.topics, self.number = moved, self.number + n_sweeps
        return added


def _n_tokens(chunk: Chunk) -> int:
    return int(chunk.lengths.sum())


def _itself(chunk: Chunk, values: Array) -> Array:
    return values


def _begin(chunk: Chunk, offset: int, n_topics: int, seed: int) -> Array:
    return random_topics(Tokens.numbered(chunk, offset), n_topics, seed)


def _document_topics(chunk: Chunk, offset: int, topics: Array, n_topics: int) -> Array:
    return Tokens.numbered(chunk, offset).document_topics(topics, n_topics)


@dataclass(frozen=True)
class TopicStatistics(Statistics):
    """What alpha is learned from: documents by (topic, tokens it has there), documents by length, log-likelihood."""

    mixtures: Levels
    lengths: Levels
    log_joint: float


_NONE = Levels(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, 1)), 0)


def _mixture(counts: Array) -> tuple[Levels, Levels]:
    """What a DCM over the columns sees of these rows: rows by (column, value), rows by sum."""
    return item_levels(counts), length_levels(counts.sum(axis=1, keepdims=True))


P = TypeVar("P")


class Method(Protocol[P]):
    """A topic model as Monte Carlo EM sees it."""

    def sweeps(self, chains: Chains, params: P, n_sweeps: int) -> Any:
        """Run so many sweeps and give the statistics of the last."""

    def update(self, stats: Any, params: P) -> P:
        """Hyperparameters for these statistics; ``params`` where nothing is to be learned."""


@dataclass(frozen=True)
class Result(Generic[P]):
    """Where a run ended."""

    chains: Chains
    params: P
    stats: Any
    doc_topic: Array
    trace: Trace
    converged: bool
    interrupted: bool


def run(
    chains: Chains,
    method: Method[P],
    params: P,
    schedule: Schedule,
    on_iteration: Callable[[Trace], None] = lambda trace: None,
    keeper: Keeper | None = None,
    trace: Trace | None = None,
) -> Result[P]:
    """Monte Carlo EM, from the first iteration that is not in the trace.

    An interrupt (Ctrl-C) ends it with the state of the last whole iteration.
    """
    keeper, trace = keeper or Keeper(None), trace or Trace()
    converged, interrupted = False, False
    n_tokens = chains.documents.n_tokens
    try:
        for iteration in range(len(trace.iteration), schedule.n_iter):
            n_sweeps = schedule.n_sweeps if iteration > 0 else max(1, schedule.burn_in)
            began = time.perf_counter()
            stats = method.sweeps(chains, params, n_sweeps)
            seconds = max(time.perf_counter() - began, 1e-9)
            trace.iteration.append(iteration)
            trace.sweep.append(chains.number)
            trace.log_likelihood.append(stats.log_joint / max(n_tokens, 1))
            trace.tokens_per_second.append(n_tokens * n_sweeps / seconds)
            params = method.update(stats, params)
            on_iteration(trace)
            keeper.keep(partial(_standing, chains, params, trace))
            if trace.settled(schedule):
                converged = True
                break
    except KeyboardInterrupt:
        interrupted = True
    if interrupted:
        keeper.write(_standing(chains, params, trace))
    n_samples = 1 if interrupted else schedule.n_samples
    stats, doc_topic = _average(chains, method, params, n_samples)
    return Result(chains, method.update(stats, params), stats, doc_topic, trace, converged, interrupted)


def _standing(chains: Chains, params: Any, trace: Trace) -> dict[str, Any]:
    """What a checkpoint keeps; `Chains.at` takes it."""
    topics = chains.documents.gather(chains.topics)
    return {"topics": topics, "number": chains.number, "seed": chains.seed, "params": params, "trace": trace}


def _average(chains: Chains, method: Method[Any], params: Any, n_samples: int) -> tuple[Any, Array]:
    """Mean statistics and mean topic mixtures of some sweeps."""
    samples, documents = [], chains.documents
    counts = documents.split(None)
    for _ in range(n_samples):
        samples.append(method.sweeps(chains, params, 1) * (1.0 / n_samples))
        counts = documents.keep(_add_topics, *chains.columns, counts, n_topics=chains.n_topics)
    return total(samples), documents.collect(_mean_mixture, counts, n_samples=n_samples, alpha=params.alpha)


def _add_topics(chunk: Chunk, offset: int, topics: Array, counts: Array | None, n_topics: int) -> Array:
    these = _document_topics(chunk, offset, topics, n_topics)
    return these if counts is None else counts + these


def _mean_mixture(chunk: Chunk, counts: Array, n_samples: int, alpha: Array) -> Array:
    return smoothed(counts / n_samples, alpha)


def smoothed(document_topics: Array, alpha: Array) -> Array:
    """Expected topic mixture of documents with these topic counts: rows sum to one."""
    mixture = document_topics + alpha
    return mixture / mixture.sum(axis=1, keepdims=True)


# DCMLDA ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DCMLDAStatistics(TopicStatistics):
    """And what beta is learned from: documents by (word, tokens of it in topic k), by tokens in topic k."""

    words: Levels
    sizes: Levels


@dataclass(frozen=True)
class DCMLDAMethod:
    """DCMLDA: one beta a topic."""

    learn: bool = True

    def sweeps(self, chains: Chains, params: dcmlda.Hyperparameters, n_sweeps: int) -> DCMLDAStatistics:
        """Documents are independent given alpha and beta, so each chunk makes all its sweeps in one go."""
        numbers = range(chains.number, chains.number + n_sweeps)
        return chains.move(_dcmlda_sweeps, n_sweeps, params=params, numbers=numbers, learn=self.learn)

    def update(self, stats: DCMLDAStatistics, params: dcmlda.Hyperparameters) -> dcmlda.Hyperparameters:
        """The DCM's maximum, for alpha and for every topic's beta."""
        if not self.learn:
            return params
        return dcmlda.Hyperparameters(learn_alpha(stats), learn_beta(stats, params.beta))


def _dcmlda_sweeps(
    chunk: Chunk,
    offset: int,
    topics: Array,
    params: dcmlda.Hyperparameters,
    seed: int,
    numbers: range,
    learn: bool,
) -> tuple[Array, DCMLDAStatistics]:
    state = State(Tokens.numbered(chunk, offset), topics)
    for number in numbers:
        state = dcmlda.sweep(state, params, seed, number)
    log_joint = float(dcmlda.log_joint(state, params).sum())
    return state.topics, dcmlda_statistics(state, params.n_topics, log_joint, learn)


def dcmlda_statistics(state: State, n_topics: int, log_joint: float = 0.0, learn: bool = True) -> DCMLDAStatistics:
    """What the M step needs of a chunk (nothing but the log-likelihood where it learns nothing)."""
    if not learn:
        return DCMLDAStatistics(_NONE, _NONE, log_joint, _NONE, _NONE)
    document_topics = state.tokens.document_topics(state.topics, n_topics)
    levels = state.tokens.word_levels(state.topics, n_topics)
    return DCMLDAStatistics(*_mixture(document_topics), log_joint, levels, length_levels(document_topics))


def start_dcmlda(chains: Chains, alpha: Array, n_words: int) -> dcmlda.Hyperparameters:
    """Where DCMLDA begins: some sweeps of LDA sort the tokens into topics, and beta is learned from these."""
    even = lda.Hyperparameters(alpha, np.full(n_words, _START_BETA))
    LDAMethod().sweeps(chains, even, _START_SWEEPS)
    stats = chains.sum(_statistics, n_topics=chains.n_topics)
    return dcmlda.Hyperparameters(
        alpha, learn_beta(stats, np.full((n_words, chains.n_topics), _START_BETA), exact=True)
    )


def _statistics(chunk: Chunk, offset: int, topics: Array, n_topics: int) -> DCMLDAStatistics:
    return dcmlda_statistics(State(Tokens.numbered(chunk, offset), topics), n_topics)


def learn_alpha(stats: TopicStatistics) -> Array:
    """One weight a topic, of greatest likelihood, none below `FLOOR` of their mean."""
    alpha = maximise_alpha(stats.mixtures, stats.lengths)[:, 0]
    return np.maximum(alpha, FLOOR * alpha.mean())


def learn_beta(stats: DCMLDAStatistics, last: Array, *, exact: bool = False) -> Array:
    """Every topic's weights of the words, of greatest likelihood, plus the floor."""
    beta = maximise_alpha(stats.words, stats.sizes, None if exact else last)
    s = beta.sum(axis=0)
    return np.where(s > 0, beta + FLOOR * s / len(beta), last)


# LDA ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LDAStatistics(TopicStatistics):
    """And what beta is learned from: topics by (word, tokens of it), by tokens; tokens of word and topic, W x K."""

    words: Levels
    sizes: Levels
    word_topics: Array


@dataclass(frozen=True)
class LDAMethod:
    """LDA. ``learn`` is "nothing", "symmetric" (a number for alpha, one for beta) or "all" (K and W of them)."""

    learn: str = "nothing"

    def sweeps(self, chains: Chains, params: lda.Hyperparameters, n_sweeps: int) -> LDAStatistics:
        """All chunks share phi, so they go sweep by sweep."""
        word_topics = chains.sum(_word_topics, n_topics=chains.n_topics)
        for _ in range(n_sweeps):
            # Single precision: rows of phi are read at random, and half of them fit the cache twice as well.
            phi = lda.draw_phi(word_topics, params.beta, chains.seed, chains.number).astype(np.float32)
            word_topics = chains.move(_lda_sweep, 1, alpha=params.alpha, phi=phi, number=chains.number)
        learns = self.learn != "nothing"
        mixtures = chains.sum(_lda_mixtures, alpha=params.alpha, learn=learns)
        log_joint = mixtures.log_joint + lda.log_words(word_topics, params.beta)
        words = _mixture(word_topics.T.astype(np.int64)) if learns else (_NONE, _NONE)
        return LDAStatistics(mixtures.mixtures, mixtures.lengths, log_joint, *words, word_topics)

    def update(self, stats: LDAStatistics, params: lda.Hyperparameters) -> lda.Hyperparameters:
        """Maximum likelihood, symmetric or not."""
        if self.learn == "nothing":
            return params
        if self.learn == "symmetric":
            return lda.Hyperparameters(
                symmetric(stats.mixtures, stats.lengths, params.alpha), symmetric(stats.words, stats.sizes, params.beta)
            )
        beta = maximise_alpha(stats.words, stats.sizes)[:, 0]
        return lda.Hyperparameters(learn_alpha(stats), beta + FLOOR * beta.sum() / len(beta))


def _lda_sweep(
    chunk: Chunk, offset: int, topics: Array, alpha: Array, phi: Array, seed: int, number: int
) -> tuple[Array, Array]:
    """New topics, and their words."""
    state = lda.sweep(State(Tokens.numbered(chunk, offset), topics), alpha, phi, seed, number)
    return state.topics, state.tokens.word_topics(state.topics, len(alpha))


def _word_topics(chunk: Chunk, offset: int, topics: Array, n_topics: int) -> Array:
    return Tokens.numbered(chunk, offset).word_topics(topics, n_topics)


def _lda_mixtures(chunk: Chunk, offset: int, topics: Array, alpha: Array, learn: bool) -> TopicStatistics:
    state = State(Tokens.numbered(chunk, offset), topics)
    log_topics = float(lda.log_topics(state, alpha).sum())
    mixtures = _mixture(state.tokens.document_topics(topics, len(alpha))) if learn else (_NONE, _NONE)
    return TopicStatistics(*mixtures, log_topics)


def symmetric(levels: Levels, lengths: Levels, start: Array) -> Array:
    """The one weight a that all items share at greatest likelihood, as an array of the items' number m.

    The root of ``g(a) = m h(m a)``, the slopes of the items and of the lengths; with its sum m a between `S_MIN` and
    `S_MAX`, as for any DCM.
    """
    n_items = levels.n_items
    order = np.argsort(levels.values, kind="stable")
    values, places = np.unique(levels.values[order], return_inverse=True)
    pooled = np.zeros((len(values), 1))
    np.add.at(pooled, places, levels.weights[order])
    items, documents = LengthUrn(Levels(np.zeros_like(values), values, pooled, 1)), LengthUrn(lengths)

    def slope(log_s: float) -> float:
        s = np.array([np.exp(log_s)])
        return float(np.log(items(s / n_items)[0][0]) - np.log(n_items * documents(s)[0][0]))

    if len(values) == 0:
        return start
    low, high = np.log(S_MIN), np.log(S_MAX)
    if slope(high) >= 0:
        log_s = high
    elif slope(low) <= 0:
        log_s = low
    else:
        log_s = brentq(slope, low, high, xtol=1e-10)
    return np.full(n_items, np.exp(log_s) / n_items)
