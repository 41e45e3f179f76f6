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

# Sweeps are numbered from 0; what they draw phi from are the streams of these numbers.
_PHI = 2**42
# Words that are worked on at a time.
_ROWS = 64


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
    cost = np.arange(len(phi) + 1) * np.int64(phi.shape[1])
    threads.run(gibbs_lda.begin_gammas, cost, beta, seed, number + _PHI, phi)
    edges = np.minimum(np.arange(0, len(phi) + _ROWS, _ROWS), len(phi))
    threads.run(_raise, cost[edges], 1.0 / beta, edges, phi)
    threads.run(gibbs_lda.finish_gammas, cost, word_topics, beta, seed, number + _PHI, phi)
    phi /= phi.sum(axis=0)
    return phi


def _raise(power: Array, edges: Array, out: Array, start: int, stop: int) -> None:
    """``min(out ** power, 1)`` in place, in blocks that do not depend on the number of threads."""
    for block in range(start, stop):
        rows = slice(edges[block], edges[block + 1])
        np.log(out[rows], out=out[rows])
        out[rows] *= power[rows, None]
        np.exp(np.minimum(out[rows], 0.0), out=out[rows])


def mean_phi(word_topics: Array, beta: Array) -> Array:
    """Expected word probabilities of the topics given the tokens they have: W x K."""
    phi = word_topics + beta[:, None]
    return phi / phi.sum(axis=0)


def sweep(state: State, alpha: Array, phi: Array, seed: int, number: int) -> State:
    """Draw the topic of every token anew given phi; ``number`` names the sweep's random stream."""
    topics, smooth = state.topics.copy(), np.empty(len(phi))
    threads.run(gibbs_lda.smooth_sums, np.arange(len(phi) + 1) * np.int64(len(alpha)), phi, alpha, smooth)
    args = alpha, phi, smooth, seed, number, state.tokens.keys
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
