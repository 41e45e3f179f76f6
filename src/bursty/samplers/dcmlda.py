"""DCMLDA: every document has its own instance of every topic, so that words come in bursts.

A document draws its topic mixture and, for each topic, its own word probabilities; then, for each token, a topic and a
word from that topic ([Doyle2009] algorithm 1):

    theta_d ~ Dirichlet(alpha)     phi_dk ~ Dirichlet(beta_k)     z ~ theta_d     w ~ phi_dz

With theta and phi integrated out ([Doyle2009] eq. 3)

    log p(w, z) = sum_d [ log B(n_d + alpha) / B(alpha) + sum_k log B(n_dk + beta_k) / B(beta_k) ]

and the conditional of a token depends only on counts of its own document: given alpha and beta, documents are
independent.

| symbol | name | shape |
|---|---|---|
| alpha | weight of each topic | K |
| beta | weight of each word in each topic | W x K |
| s | sum of beta_k over the words: small is bursty | K |
| z | topics of the tokens | tokens, one or two bytes each |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bursty.kernels import gibbs_blocks, gibbs_dcmlda, gibbs_heldout, gibbs_predict, gibbs_pseudo, streams, threads
from bursty.samplers.tokens import CompiledTopics, State, topic_type
from bursty.storage.schema import floats, maybe, storable
from bursty.typing import Array


@storable(
    "DCMLDAHyperparameters",
    alpha=floats("K", above=0),
    beta=floats("n_words", "K", above=0),
    background=maybe(floats("n_words", above=0)),
)
@dataclass(frozen=True)
class Hyperparameters(CompiledTopics):
    """alpha (K) and beta (W x K), all positive: `bursty.samplers.tokens.Topics`.

    ``background`` (W) is the weight of words that do not belong to a topic, up to one factor per topic; None is
    uniform. It does not change results, but entries of beta that are proportional to it cost nothing.
    """

    alpha: Array
    beta: Array
    background: Array | None = None
    _kernels = gibbs_dcmlda.sweep, gibbs_predict.dcmlda, gibbs_heldout.dcmlda

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.alpha)

    def reordered(self, order: Array) -> Hyperparameters:
        """The topics in this order."""
        return replace(self, alpha=self.alpha[order], beta=np.take(self.beta, order, axis=1))

    def merged(self, into: Array) -> Hyperparameters:
        """Topic k becomes part of topic ``into[k]``: summed alpha, and mean beta, weighted by alpha."""
        alpha = np.bincount(into, weights=self.alpha)
        beta = np.zeros((len(self.beta), len(alpha)))
        for k, topic in enumerate(into):
            beta[:, topic] += self.beta[:, k] * (self.alpha[k] / alpha[topic])
        return replace(self, alpha=alpha, beta=beta)

    @cached_property
    def totals(self) -> Array:
        """s: the sum of beta over the words, K."""
        return self.beta.sum(axis=0)

    @cached_property
    def floor(self) -> Array:
        """The smallest ratio of beta to the background, for each topic."""
        if self.background is None:
            return self.beta.min(axis=0)
        edges = threads.block_edges(self.beta)
        out = np.empty((len(edges) - 1, self.n_topics))
        cost = edges * np.int64(self.n_topics)
        threads.run(gibbs_dcmlda.least_ratios, cost, self.beta, self.background, edges, out)
        return np.asarray(out.min(axis=0))

    @cached_property
    def tables(self) -> gibbs_dcmlda.TopicUrns:
        """The arguments of kernels: the entries above the floor, word by word, largest first.

        The entries of a word are padded with zeros to a multiple of four.
        """
        background = np.ones(len(self.beta)) if self.background is None else self.background
        above, cost = np.empty(len(self.beta), dtype=np.int64), np.arange(len(self.beta) + 1) * np.int64(self.n_topics)
        threads.run(gibbs_dcmlda.count_above, cost, self.beta, self.floor, background, above)
        first = np.append(0, np.cumsum(-(-above // 4) * 4))
        topics, values = np.empty(first[-1], dtype=topic_type(self.n_topics)), np.empty(first[-1])
        threads.run(gibbs_dcmlda.build_table, first, self.beta, self.floor, background, first, topics, values)
        return gibbs_dcmlda.TopicUrns(self.alpha, self.totals, self.floor, background, first, topics, values)

    @property
    def word_weights(self) -> tuple[Array, Array]:
        """beta and s."""
        return self.beta, self.totals

    def move_blocks(self, state: State, seed: int, number: int) -> State:
        """Resample jointly the topics of all tokens of a word, and of all tokens of a topic, given the others."""
        topics, tokens = state.topics.copy(), state.tokens
        args = tokens.documents, topics, self.tables, seed, number + streams.REGROUP
        threads.run(gibbs_blocks.regroup, tokens.first, *args)
        return super().move_blocks(State(tokens, topics), seed, number)

    def pseudo_documents(self, theta: Array, seed: int, number: int) -> Array:
        """Each pseudo-document draws its own word probabilities: their logarithms, W x number of pseudo-documents."""
        rows = np.empty((len(theta), len(self.beta)))
        cost = np.arange(len(theta) + 1) * np.int64(self.beta.size)
        background = self.tables.background
        words = np.argsort(background, kind="stable")
        level_first = np.append(np.flatnonzero(np.diff(background[words], prepend=-1.0)), len(words))
        threads.run(gibbs_pseudo.dcmlda, cost, theta, self.tables, level_first, words, seed, number, rows)
        return np.ascontiguousarray(rows.T)


def log_joint(state: State, params: Hyperparameters) -> Array:
    """Log-probability of the words and topics of each document."""
    out = np.empty(state.tokens.chunk.n_documents)
    args = params.alpha, params.beta, params.totals, out
    threads.run(gibbs_dcmlda.log_joint, state.tokens.first, state.tokens.documents, state.topics, *args)
    return out
