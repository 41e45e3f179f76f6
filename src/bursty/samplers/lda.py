"""LDA: all documents share the topics' word probabilities.

    phi_k ~ Dirichlet(beta)        theta_d ~ Dirichlet(alpha)        z ~ theta_d        w ~ phi_z

The sampler is partially collapsed: it draws phi given the counts of topics, then the topics of all tokens given phi
with theta integrated out. Documents are then independent, so the sweep is exact on any number of threads, where the
fully collapsed sampler has to take tokens one by one or work with stale counts.

    phi_k | z ~ Dirichlet(beta + n_k)        p(z = k | phi) in proportion to (n_dk + alpha_k) phi_wk

| symbol | name | shape |
|---|---|---|
| alpha | weight of each topic | K |
| beta | weight of each word, the same in all topics | W |
| phi | word probabilities of each topic | W x K |
| n_wk | tokens of each word and topic, ``word_topics`` | W x K |
| z | topics of the tokens | tokens, one or two bytes each |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bursty.kernels import gibbs_lda, threads
from bursty.samplers.tokens import State, Tokens, random_topics

Array = np.ndarray[Any, Any]

# Gamma draws of tiny shape underflow; a probability this small is never drawn but keeps sums above zero.
_TINY = 1e-300
# Words whose probabilities are drawn from one random stream.
_BLOCK = 512


@dataclass(frozen=True)
class Hyperparameters:
    """alpha (K) and beta (W), all positive."""

    alpha: Array
    beta: Array

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.alpha)


def init(tokens: Tokens, n_topics: int, seed: int) -> State:
    """Every token in a topic drawn at random."""
    return State(tokens, random_topics(tokens, n_topics, seed))


def draw_phi(word_topics: Array, beta: Array, seed: int, number: int) -> Array:
    """Word probabilities of the topics given the tokens they have: W x K."""
    phi: Array = np.empty(word_topics.shape)
    n_words, n_topics = phi.shape
    cost = np.minimum(np.arange(0, n_words + _BLOCK, _BLOCK), n_words) * n_topics
    threads.run(_draw_blocks, cost, word_topics, beta, seed, number, phi)
    phi /= phi.sum(axis=0)
    return phi


def _draw_blocks(word_topics: Array, beta: Array, seed: int, number: int, out: Array, start: int, stop: int) -> None:
    """Gamma draws for some blocks of words, each from a stream of its own."""
    for block in range(start, stop):
        words = slice(block * _BLOCK, (block + 1) * _BLOCK)
        key, counter = np.array([seed, number], dtype=np.uint64), np.array([0, 0, 0, block], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key, counter=counter))
        out[words] = np.maximum(rng.standard_gamma(word_topics[words] + beta[words, None]), _TINY)


def mean_phi(word_topics: Array, beta: Array) -> Array:
    """Expected word probabilities of the topics given the tokens they have: W x K."""
    phi = word_topics + beta[:, None]
    return phi / phi.sum(axis=0)


def sweep(state: State, alpha: Array, phi: Array, seed: int, number: int) -> State:
    """Draw the topic of every token anew given phi; ``number`` names the sweep's random stream."""
    topics = state.topics.copy()
    args = alpha, phi, phi @ alpha, seed, number, state.tokens.keys
    threads.run(gibbs_lda.sweep, state.tokens.first, *state.tokens.cells, topics, *args)
    return State(state.tokens, topics)


def log_topics(state: State, alpha: Array) -> Array:
    """Log-probability of the topics of each document."""
    out = np.empty(state.tokens.chunk.n_documents)
    threads.run(gibbs_lda.log_topics, state.tokens.first, state.tokens.first, state.topics, alpha, out)
    return out


def log_words(word_topics: Array, beta: Array) -> float:
    """Log-probability of the words given the topics, phi integrated out."""
    rises = gammaln(word_topics + beta[:, None]) - gammaln(beta)[:, None]
    total = beta.sum()
    return float(rises.sum() - np.sum(gammaln(word_topics.sum(axis=0) + total) - gammaln(total)))


def log_joint(state: State, params: Hyperparameters) -> float:
    """Log-probability of words and topics, phi and theta integrated out."""
    word_topics = state.tokens.word_topics(state.topics, params.n_topics)
    return float(log_topics(state, params.alpha).sum()) + log_words(word_topics, params.beta)
