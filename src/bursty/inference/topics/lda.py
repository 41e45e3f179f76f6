"""LDA as Monte Carlo EM sees it: sweeps that give statistics, and the M step.

The M step is the DCM's own: for alpha the "documents" are the topic counts n_dk of each document, for beta they are the
topics' word counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bursty.engines import Chunk, Levels, has_versions
from bursty.families.base import add_columns
from bursty.families.dcm import maximise_alpha
from bursty.inference.mcem import Chains
from bursty.inference.topics.base import (
    FLOOR,
    NO_LEVELS,
    STORED,
    TopicStatistics,
    learn_alpha,
    mixture_levels,
    symmetric,
)
from bursty.samplers.lda import Hyperparameters, Topics, draw_phi, log_topics, log_words
from bursty.samplers.tokens import State, Tokens, count_type
from bursty.storage.schema import floats, part, storable
from bursty.typing import Array


@storable(
    "LDAStatistics",
    **STORED,
    words=part(Levels, items="n_words", K=1),
    sizes=part(Levels, items=1, K=1),
    word_topics=floats("n_words", "K", low=0),
)
@dataclass(frozen=True)
class LDAStatistics(TopicStatistics):
    """Also the statistics for beta: topics by (word, number of tokens) and size; tokens per word and topic, W x K."""

    words: Levels
    sizes: Levels
    word_topics: Array

    def reordered(self, order: Array) -> Self:
        """The same with the topics in this order; words and sizes do not name topics."""
        return replace(super().reordered(order), word_topics=np.ascontiguousarray(self.word_topics[:, order]))

    def merged(self, into: Array) -> Self:
        """The same with topics added: topic k becomes part of topic ``into[k]``; words and sizes stay."""
        return replace(super().merged(into), word_topics=add_columns(self.word_topics, into))


@dataclass(frozen=True)
class Method:
    """LDA.

    ``learn`` is "nothing", "symmetric" (one number for alpha and one for beta) or "all" (K and W numbers). ``phi`` has
    fixed word probabilities of the topics (W x K, single precision), for new documents.
    """

    learn: str = "nothing"
    phi: Array | None = None

    def sweeps(self, chains: Chains, params: Hyperparameters, n_sweeps: int) -> LDAStatistics:
        """Sweeps, and what is learned from the last one."""
        word_topics = chains.documents.fetch(self.move(chains, params, n_sweeps))
        learns = self.learn != "nothing"
        of_documents = chains.sum(mixtures, alpha=params.alpha, learn=learns)
        log_joint = of_documents.log_joint + log_words(word_topics, params.beta)
        words = mixture_levels(word_topics.T) if learns else (NO_LEVELS, NO_LEVELS)
        return LDAStatistics(of_documents.mixtures, of_documents.lengths, log_joint, *words, word_topics)

    def move(self, chains: Chains, params: Hyperparameters, n_sweeps: int) -> Any:
        """Sweeps alone; tokens of each word and topic. All chunks share phi, so they go sweep by sweep."""
        documents, word_topics = chains.documents, _count_words(chains)
        dtype = count_type(int(documents.n_tokens))
        for _ in range(n_sweeps):
            phi = self.phi
            if phi is None:
                phi = documents.run_locally(new_phi, word_topics, params.beta, chains.seed, chains.number)
            model = Topics(params.alpha, phi)
            word_topics = chains.move(sweep, 1, model=model, number=chains.number, dtype=dtype)
        chains.counted = chains.topics, word_topics
        return word_topics

    def update(self, stats: LDAStatistics, params: Hyperparameters) -> Hyperparameters:
        """Maximum likelihood, symmetric or not."""
        if self.learn == "nothing":
            return params
        if self.learn == "symmetric":
            return Hyperparameters(
                symmetric(stats.mixtures, stats.lengths, params.alpha), symmetric(stats.words, stats.sizes, params.beta)
            )
        beta = maximise_alpha(stats.words, stats.sizes)[:, 0]
        return Hyperparameters(learn_alpha(stats), beta + FLOOR * beta.sum() / len(beta))

    def conclude(self, stats: LDAStatistics, params: Hyperparameters) -> Hyperparameters:
        """The same as `update`."""
        return self.update(stats, params)

    def of_stream(self, mean: LDAStatistics, n_documents: int) -> LDAStatistics:
        """Word counts of the topics, as if every document were like the mean."""
        word_topics = mean.word_topics * n_documents
        learns = self.learn != "nothing"
        words = mixture_levels(np.rint(word_topics.T).astype(np.int64)) if learns else (NO_LEVELS, NO_LEVELS)
        return replace(mean, words=words[0], sizes=words[1], word_topics=word_topics)


@has_versions
def new_phi(word_topics: Array, beta: Array, seed: int, number: int) -> Array:
    """Draw word probabilities of the topics given their tokens, in single precision: W x K."""
    return draw_phi(word_topics, beta, seed, number, single=True)


@has_versions
def sweep(
    chunk: Chunk, offset: int, topics: Array, model: Topics, seed: int, number: int, dtype: Any
) -> tuple[Array, Array]:
    """New topics of a chunk's tokens, and their words."""
    state = model.sweep(State(Tokens.numbered(chunk, offset), topics), seed, number)
    return state.topics, state.tokens.word_topics(state.topics, len(model.alpha), dtype)


def _count_words(chains: Chains) -> Array:
    """Number of tokens per word and topic, W x K; already known after a sweep."""
    if chains.counted is not None and chains.counted[0] is chains.topics:
        word_topics: Array = chains.counted[1]
        return word_topics
    dtype = count_type(int(chains.documents.n_tokens))
    counted: Array = chains.sum(word_topics_of, n_topics=chains.n_topics, dtype=dtype)
    return counted


@has_versions
def word_topics_of(chunk: Chunk, offset: int, topics: Array, n_topics: int, dtype: Any) -> Array:
    """Tokens of each word and topic in a chunk: W x K."""
    return Tokens.numbered(chunk, offset).word_topics(topics, n_topics, dtype)


def mixtures(chunk: Chunk, offset: int, topics: Array, alpha: Array, learn: bool) -> TopicStatistics:
    """Statistics of a chunk for alpha."""
    state = State(Tokens.numbered(chunk, offset), topics)
    total = float(log_topics(state, alpha).sum())
    levels = mixture_levels(state.tokens.document_topics(topics, len(alpha))) if learn else (NO_LEVELS, NO_LEVELS)
    return TopicStatistics(*levels, total)
