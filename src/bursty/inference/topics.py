"""LDA and DCMLDA as Monte Carlo EM (`mcem`) sees them: sweeps that give statistics, and the M step.

The M step is the DCM's own (`families.dcm.maximise_alpha`): for alpha the "documents" are the topic counts n_dk of each
document; for beta_k of DCMLDA they are the words that each document gave to topic k; for LDA's one beta they are the
topics' word counts.

A word that a topic has lost would have parameter 0 there and could never come back, and a new document would be
surprised by every word the topic has not had. So every topic's parameters get a share of their sum, spread evenly over
the words: that of the words which one document alone gave the topic, which is how probable it is that the next one is
new (Good and Turing), and `FLOOR` at least. A topic's alpha is at least `FLOOR` of the mean alpha; and a topic without
any token keeps its last beta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from bursty.engines import Chunk, Levels
from bursty.families.base import Statistics
from bursty.families.dcm import maximise_alpha, solve_urns
from bursty.families.sparse_urns import PairUrns
from bursty.families.urn import S_MAX, S_MIN, LengthUrn
from bursty.inference.mcem import Chains
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import State, Tokens, count_type, item_levels, length_levels

Array = np.ndarray[Any, Any]

# Least share of a topic's parameters that is spread evenly over all words, so that an absent one may return.
FLOOR = 1e-3
# DCMLDA starts from so many sweeps of LDA with this beta.
_START_SWEEPS, _START_BETA = 20, 0.1


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


# DCMLDA ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DCMLDAStatistics(TopicStatistics):
    """And what beta is learned from: documents by (pair of word and topic, tokens of it)."""

    words: Levels

    def sizes(self) -> Levels:
        """Documents by tokens in topic k: the mixtures once more, as a table with a column for each topic."""
        values, places = np.unique(self.mixtures.values, return_inverse=True)
        weights = np.zeros((len(values), self.mixtures.n_items))
        weights[places, self.mixtures.items] = self.mixtures.weights[:, 0]
        return Levels(np.zeros_like(values), values, weights, 1)


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

    def of_stream(self, mean: DCMLDAStatistics, n_documents: int) -> DCMLDAStatistics:
        """Words that one document alone gave a topic are known by their weight: as if all documents were the mean."""
        return mean * n_documents


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
        return DCMLDAStatistics(_NONE, _NONE, log_joint, _NONE)
    document_topics = state.tokens.document_topics(state.topics, n_topics)
    return DCMLDAStatistics(*_mixture(document_topics), log_joint, state.tokens.word_levels(state.topics, n_topics))


def start_dcmlda(chains: Chains, alpha: Array, n_words: int) -> dcmlda.Hyperparameters:
    """Where DCMLDA begins: some sweeps of LDA sort the tokens into topics, and beta is learned from these."""
    even = lda.Hyperparameters(alpha, np.full(n_words, _START_BETA))
    LDAMethod().sweeps(chains, even, _START_SWEEPS)
    stats = chains.sum(_statistics, n_topics=chains.n_topics)
    begin = np.full((n_words, chains.n_topics), _START_BETA)
    return dcmlda.Hyperparameters(alpha, chains.documents.here(learn_beta, stats, begin, exact=True))


def _statistics(chunk: Chunk, offset: int, topics: Array, n_topics: int) -> DCMLDAStatistics:
    return dcmlda_statistics(State(Tokens.numbered(chunk, offset), topics), n_topics)


def learn_alpha(stats: TopicStatistics) -> Array:
    """One weight a topic, of greatest likelihood, none below `FLOOR` of their mean."""
    alpha = maximise_alpha(stats.mixtures, stats.lengths)[:, 0]
    return np.maximum(alpha, FLOOR * alpha.mean())


def learn_beta(stats: DCMLDAStatistics, last: Array, *, exact: bool = False) -> Array:
    """Every topic's weights of the words, of greatest likelihood, plus a share of them for words it has not had."""
    urns = PairUrns(stats.words, last.shape[1])
    beta = solve_urns(urns, stats.sizes(), None if exact else last)
    s = beta.sum(axis=0)
    beta += np.maximum(urns.unseen(), FLOOR) * s / len(beta)
    lost = s == 0
    beta[:, lost] = last[:, lost]
    return beta


# LDA ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LDAStatistics(TopicStatistics):
    """And what beta is learned from: topics by (word, tokens of it), by tokens; tokens of word and topic, W x K."""

    words: Levels
    sizes: Levels
    word_topics: Array


@dataclass(frozen=True)
class LDAMethod:
    """LDA.

    ``learn`` is "nothing", "symmetric" (a number for alpha, one for beta) or "all" (K and W of them); ``phi`` the word
    probabilities of topics that stay as they are (W x K, single precision), for new documents.
    """

    learn: str = "nothing"
    phi: Array | None = None

    def sweeps(self, chains: Chains, params: lda.Hyperparameters, n_sweeps: int) -> LDAStatistics:
        """All chunks share phi, so they go sweep by sweep."""
        documents, word_topics = chains.documents, _count_words(chains)
        dtype = count_type(int(documents.n_tokens))
        for _ in range(n_sweeps):
            phi = self.phi
            if phi is None:
                phi = documents.here(lda.draw_phi, word_topics, params.beta, chains.seed, chains.number, single=True)
            word_topics = chains.move(_lda_sweep, 1, alpha=params.alpha, phi=phi, number=chains.number, dtype=dtype)
        chains.counted = chains.topics, word_topics
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

    def of_stream(self, mean: LDAStatistics, n_documents: int) -> LDAStatistics:
        """Topics are as sure as all the documents make them: their words are counted as if all were like the mean."""
        word_topics = mean.word_topics * n_documents
        learns = self.learn != "nothing"
        words = _mixture(np.rint(word_topics.T).astype(np.int64)) if learns else (_NONE, _NONE)
        return replace(mean, words=words[0], sizes=words[1], word_topics=word_topics)


def _lda_sweep(
    chunk: Chunk, offset: int, topics: Array, alpha: Array, phi: Array, seed: int, number: int, dtype: Any
) -> tuple[Array, Array]:
    """New topics, and their words."""
    state = lda.sweep(State(Tokens.numbered(chunk, offset), topics), alpha, phi, seed, number)
    return state.topics, state.tokens.word_topics(state.topics, len(alpha), dtype)


def _count_words(chains: Chains) -> Array:
    """Tokens of each word and topic, W x K; those of the last sweep are known."""
    if chains.counted is not None and chains.counted[0] is chains.topics:
        word_topics: Array = chains.counted[1]
        return word_topics
    dtype = count_type(int(chains.documents.n_tokens))
    return np.asarray(chains.sum(_word_topics, n_topics=chains.n_topics, dtype=dtype))


def _word_topics(chunk: Chunk, offset: int, topics: Array, n_topics: int, dtype: Any) -> Array:
    return Tokens.numbered(chunk, offset).word_topics(topics, n_topics, dtype)


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
