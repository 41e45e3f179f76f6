"""LDA: all documents share the word probabilities of the topics.

    phi_k ~ Dirichlet(beta)        theta_d ~ Dirichlet(alpha)        z ~ theta_d        w ~ phi_z

The sampler is partially collapsed: it draws phi given the counts of topics, then the topics of all tokens given phi
with theta integrated out. Documents are then independent, so that the sweep is exact on any number of threads, whereas
the fully collapsed sampler must process tokens one by one or use stale counts.

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

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from bursty.kernels import gibbs_heldout, gibbs_lda, gibbs_predict, gibbs_pseudo, streams, threads
from bursty.samplers.tokens import CompiledTopics, State
from bursty.storage.schema import floats, storable
from bursty.typing import Array

# Number of words per block.
_ROWS = 64
# Gamma draws of tiny shape underflow; this keeps sums above zero.
_TINY = 1e-300
# A gamma variate too small to matter in a sweep: some other topic of the word has about 1, and uniforms have 53 bits.
_NEVER_DRAWN = 1e-30


@storable("LDAHyperparameters", alpha=floats("K", above=0), beta=floats("n_words", above=0))
@dataclass(frozen=True)
class Hyperparameters:
    """alpha (K) and beta (W), all positive."""

    alpha: Array
    beta: Array

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.alpha)

    def reordered(self, order: Array) -> Hyperparameters:
        """The topics in this order."""
        return replace(self, alpha=self.alpha[order])

    def merged(self, into: Array) -> Hyperparameters:
        """Topic k becomes part of topic ``into[k]``: sums of parts of a Dirichlet are Dirichlet with summed alpha."""
        return replace(self, alpha=np.bincount(into, weights=self.alpha))


@dataclass(frozen=True)
class Topics(CompiledTopics):
    """alpha (K) and phi (W x K) given: `bursty.samplers.tokens.Topics`."""

    alpha: Array
    phi: Array
    _kernels = gibbs_lda.sweep, gibbs_predict.lda, gibbs_heldout.lda

    @cached_property
    def tables(self) -> gibbs_lda.SharedTopics:
        """The arguments of kernels, with ``phi @ alpha``: the weight of a word in a document without topics."""
        smooth = np.empty(len(self.phi))
        cost = np.arange(len(self.phi) + 1) * np.int64(len(self.alpha))
        threads.run(gibbs_lda.smooth_sums, cost, self.phi, self.alpha, smooth)
        return gibbs_lda.SharedTopics(self.alpha, self.phi, smooth)

    @property
    def word_weights(self) -> tuple[Array, None]:
        """phi; it does not depend on which words the document has."""
        return self.phi, None

    def pseudo_documents(self, theta: Array, seed: int, number: int) -> Array:
        """All share phi, so that nothing is drawn: log word probabilities, W x number of pseudo-documents."""
        out = np.empty((len(self.phi), len(theta)))
        cost = np.arange(len(out) + 1) * np.int64(theta.size)
        threads.run(gibbs_pseudo.lda, cost, self.phi, np.ascontiguousarray(theta.T), out)
        return out


def draw_phi(word_topics: Array, beta: Array, seed: int, number: int, *, single: bool = False) -> Array:
    """Draw the word probabilities of the topics given their tokens: W x K.

    ``single`` returns single precision, which is enough for sweeps: rows of phi are read at random, and twice as many
    fit into the cache. Probabilities far too small to be drawn in a sweep are then not distinguished.
    """
    phi: Array = np.empty(word_topics.shape, dtype=np.float32 if single else np.float64)
    edges = np.minimum(np.arange(0, len(phi) + _ROWS, _ROWS), len(phi))
    sums = np.empty((len(edges) - 1, phi.shape[1]))
    cost = edges * np.int64(phi.shape[1])
    least = _NEVER_DRAWN if single else _TINY
    threads.run(gibbs_lda.draw_gammas, cost, word_topics, beta, least, seed, number + streams.PHI, edges, phi, sums)
    threads.run(gibbs_lda.scale, cost, 1.0 / sums.sum(axis=0), edges, phi)
    return phi


def mean_phi(word_topics: Array, beta: Array) -> Array:
    """Expected word probabilities of the topics given their tokens: W x K."""
    phi = word_topics + beta[:, None]
    return phi / phi.sum(axis=0)


def log_topics(state: State, alpha: Array) -> Array:
    """Log-probability of the topics of each document."""
    out = np.empty(state.tokens.chunk.n_documents)
    threads.run(gibbs_lda.log_topics, state.tokens.first, state.tokens.first, state.topics, alpha, out)
    return out


def log_words(word_topics: Array, beta: Array) -> float:
    """Log-probability of the words given the topics, with phi integrated out."""
    words, topics = np.nonzero(word_topics)
    rises = gammaln(word_topics[words, topics] + beta[words]) - gammaln(beta)[words]
    total = beta.sum()
    return float(rises.sum() - np.sum(gammaln(word_topics.sum(axis=0) + total) - gammaln(total)))


def log_joint(state: State, params: Hyperparameters) -> float:
    """Log-probability of words and topics, with phi and theta integrated out."""
    word_topics = state.tokens.word_topics(state.topics, params.n_topics)
    return float(log_topics(state, params.alpha).sum()) + log_words(word_topics, params.beta)
