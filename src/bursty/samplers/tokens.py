"""Documents as tokens, each with a topic: the state that the samplers of topic models share.

Tokens are stored one after the other: documents in order, words in order within a document, and all tokens of a word
together. The words follow from the counts, so that a token takes one or two bytes for its topic.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from bursty.engines import Chunk, Levels
from bursty.kernels import gibbs_blocks, gibbs_counts, random, streams, threads
from bursty.storage.limits import check_memory
from bursty.typing import Array

MAX_TOPICS = 65_536
#: Pairs of a word and a topic are numbered with 32 bits.
MAX_PAIRS = 2**31 - 1
#: Bytes per token while tokens are counted: the topic before and after a sweep, the level and its weight.
PER_TOKEN = 20


@dataclass(frozen=True)
class Tokens:
    """The tokens of a chunk, and the key of each document's random stream."""

    chunk: Chunk
    keys: Array

    def __post_init__(self) -> None:
        n_tokens = int(self.chunk.lengths.sum())
        check_memory(
            PER_TOKEN * n_tokens,
            f"sampling topics of {n_tokens:,} tokens in {self.chunk.n_documents:,} documents",
            "leave documents out, or divide their counts",
        )

    @classmethod
    def numbered(cls, chunk: Chunk, offset: int) -> Tokens:
        """Key the random streams by the index of the document in the corpus."""
        return cls(chunk, np.arange(offset, offset + chunk.n_documents, dtype=np.uint64))

    @classmethod
    def by_content(cls, chunk: Chunk) -> Tokens:
        """Key the random streams by the contents of the document, so that its result does not depend on others."""
        keys = np.empty(chunk.n_documents, dtype=np.uint64)
        threads.run(random.document_keys, chunk.indptr, chunk.indptr, chunk.indices, chunk.values, keys)
        return cls(chunk, keys)

    @property
    def first(self) -> Array:
        """Index of the first token of each document."""
        return self.chunk.token_first

    @property
    def documents(self) -> gibbs_counts.DocumentArrays:
        """The documents as kernels receive them."""
        return gibbs_counts.DocumentArrays(
            self.chunk.indptr, self.chunk.indices, self.chunk.values, self.first, self.keys
        )

    @cached_property
    def cell_first(self) -> Array:
        """Index of the first token of each cell."""
        return np.append(0, np.cumsum(self.chunk.values, dtype=np.int64))

    def document_topics(self, topics: Array, n_topics: int) -> Array:
        """Number of tokens of each topic in each document: D x K."""
        out = np.empty((self.chunk.n_documents, n_topics), dtype=np.int32)
        threads.run(gibbs_counts.by_document, self.first, self.first, topics, out)
        return out

    def word_topics(self, topics: Array, n_topics: int, dtype: Any = np.int64) -> Array:
        """Number of tokens of each word and topic: W x K."""
        by_word = self.chunk.tokens_by_word
        out = np.empty((self.chunk.n_words, n_topics), dtype=dtype)
        threads.run(gibbs_counts.by_word, by_word.starts, by_word, topics, out)
        return out

    def word_levels(self, topics: Array, n_topics: int) -> Levels:
        """Number of documents with exactly v tokens of word w in topic k: levels (w * n_topics + k, v), one column."""
        by_word, first = self.chunk.tokens_by_word, self.chunk.word_first
        # A word has at most as many levels as tokens.
        codes, weights = np.empty(first[-1], dtype=np.int64), np.empty(first[-1])
        sizes = np.empty(self.chunk.n_words, dtype=np.int64)
        threads.run(gibbs_counts.tally_parts, first, by_word, topics, n_topics, first, codes, weights, sizes)
        out_first = np.append(0, np.cumsum(sizes))
        items, values = np.empty((2, out_first[-1]), dtype=np.int32)
        out = np.empty((len(items), 1))
        args = first, codes, weights, n_topics, out_first, items, values, out
        threads.run(gibbs_counts.list_levels, out_first, *args)
        return Levels(items, values, out, self.chunk.n_words * n_topics)


@dataclass(frozen=True)
class State:
    """State of a chain: the tokens and the topic of each."""

    tokens: Tokens
    topics: Array


@dataclass(frozen=True)
class HeldWords:
    """Words of documents: the index of the first word of each document, and the words in order."""

    first: Array
    words: Array


class Topics(Protocol):
    """A topic model with given parameters, as a document sees it; implemented beside each sampler.

    A `bursty.inference.mcem.Method` learns the parameters.
    """

    @property
    def alpha(self) -> Array:
        """Weight of each topic: K."""

    def begin(self, tokens: Tokens, seed: int) -> State:
        """Where a chain over new documents starts: topics drawn one after the other, each given those before it."""

    def sweep(self, state: State, seed: int, number: int) -> State:
        """Resample the topic of every token given all others; ``number`` is the key of the sweep's random stream."""

    def move_blocks(self, state: State, seed: int, number: int) -> State:
        """Draw the topic of blocks of tokens, given the others (`bursty.kernels.gibbs_blocks`)."""

    def add_predictive(self, state: State, held: HeldWords, out: Array) -> None:
        """Add to ``out`` the probability of each of these words as the next of its document."""

    def left_to_right(self, tokens: Tokens, seed: int, n_particles: int, moves: tuple[int, float]) -> Array:
        """Estimated log-likelihood of each document, as one sequence of words, and its standard error: D x 2.

        Before the word after n others, the topics of ``max(least, share * n)`` of these are resampled, where ``moves``
        is (least, share).
        """

    def pseudo_documents(self, theta: Array, seed: int, number: int) -> Array:
        """Log word probabilities of pseudo-documents with these topic mixtures (in rows): W x number of mixtures.

        ``number`` is the index of the first one, and the key of its random stream.
        """


class CompiledTopics:
    """`Topics` by kernels, for models in which documents are independent given weights of the words in the topics."""

    alpha: Array
    #: Kernels of a sweep, of the probabilities of the next word, and of the left-to-right likelihood.
    _kernels: ClassVar[tuple[Any, Any, Any]]

    @property
    @abstractmethod
    def word_weights(self) -> tuple[Array, Array | None]:
        """Weights of the words in each topic (W x K), and their sums, which repeated words depend on, or None."""

    @property
    @abstractmethod
    def tables(self) -> Any:
        """The parameters as the kernels need them."""

    def begin(self, tokens: Tokens, seed: int) -> State:
        """Topics drawn one after the other, each given those before it."""
        topics = np.zeros(int(tokens.first[-1]), dtype=topic_type(len(self.alpha)))
        args = tokens.documents, topics, self.alpha, *self.word_weights, seed, streams.BEGINNING
        threads.run(gibbs_blocks.begin, tokens.first, *args)
        return State(tokens, topics)

    def sweep(self, state: State, seed: int, number: int) -> State:
        """Resample the topic of every token given all others; ``number`` is the key of the sweep's random stream."""
        topics = state.topics.copy()
        args = state.tokens.documents, topics, self.tables, seed, number
        threads.run(self._kernels[0], state.tokens.first, *args)
        return State(state.tokens, topics)

    def move_blocks(self, state: State, seed: int, number: int) -> State:
        """Resample jointly the topics of all tokens that have a topic, given the others."""
        topics = state.topics.copy()
        args = state.tokens.documents, topics, self.alpha, *self.word_weights, seed, number + streams.RELABEL
        threads.run(gibbs_blocks.relabel, state.tokens.first, *args)
        return State(state.tokens, topics)

    def add_predictive(self, state: State, held: HeldWords, out: Array) -> None:
        """Add to ``out`` the probability of each of these words as the next of its document."""
        args = state.tokens.documents, state.topics, self.tables, held.first, held.words, out
        threads.run(self._kernels[1], state.tokens.first + held.first, *args)

    def left_to_right(self, tokens: Tokens, seed: int, n_particles: int, moves: tuple[int, float]) -> Array:
        """Estimated log-likelihood of each document, as one sequence of words, and its standard error: D x 2."""
        out = np.zeros((tokens.chunk.n_documents, 2))
        threads.run(self._kernels[2], tokens.first, tokens.documents, self.tables, seed, n_particles, moves, out)
        return out


def random_topics(tokens: Tokens, n_topics: int, seed: int) -> Array:
    """A uniformly random topic for each token, from the stream of its document."""
    topics = np.empty(int(tokens.first[-1]), dtype=topic_type(n_topics))
    threads.run(random.choices, tokens.first, tokens.first, seed, streams.BEGINNING, tokens.keys, n_topics, topics)
    return topics


def topic_type(n_topics: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type for the index of a topic."""
    return np.uint8 if n_topics <= 256 else np.uint16


def count_type(n_tokens: int) -> type[np.signedinteger[Any]]:
    """The smallest type that can count this many tokens."""
    return np.int32 if n_tokens < 2**31 else np.int64


def length_levels(counts: Array) -> Levels:
    """Number of rows with each positive value, per column: levels of one item, one column per column of ``counts``."""
    values, codes = np.unique(counts, return_inverse=True)
    weights = np.zeros((len(values), counts.shape[1]))
    np.add.at(weights, (codes.reshape(counts.shape), np.arange(counts.shape[1])), 1.0)
    known = values > 0
    return Levels(np.zeros(int(known.sum()), dtype=np.int32), values[known].astype(np.int32), weights[known], 1)


def item_levels(counts: Array) -> Levels:
    """Number of rows with each positive value in each column: levels (column, value), one column."""
    n_rows, n_items = counts.shape
    values, weights, sizes = np.empty(counts.size, np.int32), np.empty(counts.size), np.empty(n_items, np.int64)
    cost = np.arange(n_items + 1) * np.int64(n_rows)
    threads.run(gibbs_counts.by_value, cost, counts, values, weights, sizes)
    # Each column has a place for each row.
    items, gaps = np.repeat(np.arange(n_items, dtype=np.int32), sizes), n_rows * np.arange(n_items)
    places = np.arange(len(items)) + np.repeat(gaps - (np.cumsum(sizes) - sizes), sizes)
    return Levels(items, values[places], weights[places, None], n_items)
