"""DCMLDA as Monte Carlo EM sees it: sweeps that give statistics, and the M step.

The M step is the DCM's own: for alpha the "documents" are the topic counts n_dk of each document, for beta_k the words
that each document gave to topic k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bursty.engines import Chunk, Levels, has_versions
from bursty.families.priors import UrnPrior, solve_with_prior
from bursty.families.solve import LengthUrn, solve_urns
from bursty.families.sparse_urns import ListedUrns, PairUrns
from bursty.inference.mcem import Chains
from bursty.inference.topics import lda
from bursty.inference.topics.base import FLOOR, NO_LEVELS, STORED, TopicStatistics, learn_alpha, mixture_levels
from bursty.kernels import gibbs_maximise, streams, threads, variates
from bursty.samplers import lda as lda_sampler
from bursty.samplers.dcmlda import Hyperparameters, log_joint
from bursty.samplers.tokens import State, Tokens
from bursty.storage.schema import part, storable
from bursty.typing import Array

# A chain starts with this number of sweeps of LDA with this beta.
_START_SWEEPS, _START_BETA = 20, 0.1
#: Blocks of tokens are moved before one sweep in this number: a move takes as long as two to ten sweeps.
MOVES = 20


@storable("DCMLDAStatistics", **STORED, words=part(Levels, items="n_words*K", K=1))
@dataclass(frozen=True)
class DCMLDAStatistics(TopicStatistics):
    """Also the statistics for beta: documents by (pair of word and topic, number of its tokens)."""

    words: Levels

    def reordered(self, order: Array) -> Self:
        """The same with the topics in this order."""
        rank, n_topics = np.argsort(order), len(order)
        words, topics = np.divmod(self.words.items.astype(np.int64), n_topics)
        return replace(super().reordered(order), words=self.words.renumbered(words * n_topics + rank[topics]))

    def merged(self, into: Array) -> Self:
        """The same with topics added: topic k becomes part of topic ``into[k]``."""
        if self.words.n_items == 0:
            return super().merged(into)
        n_words, n_topics = self.words.n_items // len(into), int(into.max()) + 1
        words, topics = np.divmod(self.words.items.astype(np.int64), len(into))
        items = words * n_topics + into[topics]
        return replace(super().merged(into), words=self.words.pooled(items, n_words * n_topics))

    def sizes(self) -> Levels:
        """Documents by tokens in topic k: the mixtures once more, as a table with a column for each topic."""
        values, places = np.unique(self.mixtures.values, return_inverse=True)
        weights = np.zeros((len(values), self.mixtures.n_items))
        weights[places, self.mixtures.items] = self.mixtures.weights[:, 0]
        return Levels(np.zeros_like(values), values, weights, 1)


@dataclass(frozen=True)
class Method:
    """DCMLDA: one beta per topic.

    During the run beta is that of maximum likelihood; the prior is used for the result only. Sweeps with a smaller s
    keep the tokens of a word in a document together, which makes s even smaller: held-out documents were then less
    probable.
    """

    learn: bool = True
    prior: UrnPrior | None = None

    def sweeps(self, chains: Chains, params: Hyperparameters, n_sweeps: int) -> DCMLDAStatistics:
        """Documents are independent given alpha and beta, so that each chunk runs all its sweeps at once."""
        numbers = range(chains.number, chains.number + n_sweeps)
        return chains.move(sweeps, n_sweeps, params=params, numbers=numbers, learn=self.learn)

    @has_versions
    def update(self, stats: DCMLDAStatistics, params: Hyperparameters) -> Hyperparameters:
        """Maximum likelihood of a DCM, for alpha and for the beta of every topic."""
        if not self.learn:
            return params
        return Hyperparameters(learn_alpha(stats), *learn_beta(stats, params.beta))

    @has_versions
    def conclude(
        self, stats: DCMLDAStatistics, params: Hyperparameters, kind: type[ListedUrns] = ListedUrns
    ) -> Hyperparameters:
        """The same with s estimated under the prior, from equations of this kind."""
        if self.prior is None or not self.learn:
            return self.update(stats, params)
        urns, sizes = PairUrns(stats.words, params.n_topics), stats.sizes()
        beta, background = _learn_beta(urns, sizes, params.beta)
        result = Hyperparameters(learn_alpha(stats), beta, background)
        solution = solve_with_prior(kind(urns), sizes, self.prior)
        scale = np.where(solution.s > 0, solution.s / result.totals, 1.0)
        return replace(result, beta=threads.apply(np.multiply, beta, scale, out=beta))

    def of_stream(self, mean: DCMLDAStatistics, n_documents: int) -> DCMLDAStatistics:
        """The mean times the number of documents, so that words of a single document have a weight of about 1."""
        return mean * n_documents


@has_versions
def sweeps(
    chunk: Chunk,
    offset: int,
    topics: Array,
    params: Hyperparameters,
    seed: int,
    numbers: range,
    learn: bool,
) -> tuple[Array, DCMLDAStatistics]:
    """New topics of a chunk's tokens after sweeps of these numbers, and their statistics."""
    state = State(Tokens.numbered(chunk, offset), topics)
    for number in numbers:
        if number % MOVES == 0:
            state = params.move_blocks(state, seed, number)
        state = params.sweep(state, seed, number)
    total = float(log_joint(state, params).sum())
    return state.topics, statistics(state, params.n_topics, total, learn)


def statistics(state: State, n_topics: int, log_joint: float = 0.0, learn: bool = True) -> DCMLDAStatistics:
    """What the M step needs of a chunk (only the log-likelihood if nothing is learned)."""
    if not learn:
        return DCMLDAStatistics(NO_LEVELS, NO_LEVELS, log_joint, NO_LEVELS)
    mixtures = mixture_levels(state.tokens.document_topics(state.topics, n_topics))
    return DCMLDAStatistics(*mixtures, log_joint, state.tokens.word_levels(state.topics, n_topics))


def start(chains: Chains, alpha: Array, n_words: int) -> Hyperparameters:
    """Start of DCMLDA: a few sweeps of LDA sort the tokens into topics, from which beta is learned."""
    even = lda_sampler.Hyperparameters(alpha, np.full(n_words, _START_BETA))
    lda.Method().move(chains, even, _START_SWEEPS)
    stats = chains.sum(begin_statistics, n_topics=chains.n_topics)
    first = np.full((n_words, chains.n_topics), _START_BETA)
    documents = chains.documents
    return documents.run_locally(begin, alpha, *documents.run_locally(learn_beta, stats, first, exact=True))


@has_versions
def begin(alpha: Array, beta: Array, background: Array) -> Hyperparameters:
    """Hyperparameters to start with; they stay where they were learned."""
    return Hyperparameters(alpha, beta, background)


@has_versions
def begin_statistics(chunk: Chunk, offset: int, topics: Array, n_topics: int) -> DCMLDAStatistics:
    """The same of a chunk whose topics are given."""
    return statistics(State(Tokens.numbered(chunk, offset), topics), n_topics)


@has_versions
def learn_beta(stats: DCMLDAStatistics, last: Array, *, exact: bool = False) -> tuple[Array, Array]:
    """Weights of the words in each topic by maximum likelihood, except for a share for words new to the topic.

    The share is the discount of its words (`PairUrns.discounted`), at least `FLOOR`; it goes to all words in
    proportion to a background that all topics share. Returns the weights (W x K) and the background (W).
    """
    return _learn_beta(PairUrns(stats.words, last.shape[1]), stats.sizes(), last, exact)


def _learn_beta(urns: PairUrns, sizes: Levels, last: Array, exact: bool = False) -> tuple[Array, Array]:
    beta, s, _, discounted = _discounted(urns, sizes, last, exact)
    kept, share, background = discounted
    return _on_background(urns, kept, np.maximum(share, FLOOR) * s, background, beta, s == 0, last)


@has_versions
def draw_params(stats: DCMLDAStatistics, params: Hyperparameters, seed: int, number: int) -> Hyperparameters:
    """`Method.update` with the proportions of each topic's words drawn, given their numbers of independent draws.

    A topic with s_k and t_wk draws of word w, less the discount d, of which it has T_k in all, has

        beta_k = s_k p_k,    p_k ~ Dirichlet(t_wk - d, T_k * share_k)

    where the last part, for words new to the topic, is spread over all words in proportion to the background. The mean
    is the beta of `learn_beta`. Chains with these parameters leave optima that those of maximum likelihood do not.
    """
    urns, sizes = PairUrns(stats.words, params.n_topics), stats.sizes()
    beta, s, lambdas, discounted = _discounted(urns, sizes, params.beta, exact=False)
    kept, share, background = discounted
    shapes = np.append(urns.pick(beta) * kept * lambdas[urns.components], np.maximum(share, FLOOR) * s * lambdas)
    items = urns.words.astype(np.int64) * len(s) + urns.components
    names = np.append(items, beta.size + np.arange(len(s))).astype(np.uint64)
    drawn = np.empty(len(shapes))
    threads.run(variates.gammas, np.arange(len(drawn) + 1), shapes, names, seed, number + streams.TOPIC_WORDS, drawn)
    of_pairs, of_new = drawn[: len(urns.words)], drawn[len(urns.words) :]
    totals = urns.by_component(of_pairs) + of_new
    scale = np.divide(s, totals, out=np.zeros_like(s), where=totals > 0)
    beta[urns.words, urns.components] = scale[urns.components]
    new = np.maximum(of_new * scale, FLOOR * s)
    tables = _on_background(urns, of_pairs, new, background, beta, s == 0, params.beta)
    return Hyperparameters(learn_alpha(stats), *tables)


def _discounted(urns: PairUrns, sizes: Levels, last: Array, exact: bool) -> tuple[Array, Array, Array, Any]:
    """Beta by maximum likelihood, its sums, draws per unit of beta; `PairUrns.discounted`."""
    beta = solve_urns(urns, sizes, None if exact else last)
    s = urns.sums(beta)
    lambdas = LengthUrn(sizes)(np.where(s == 0, 1.0, s))[0]
    return beta, s, lambdas, urns.discounted(beta, lambdas)


def _on_background(
    urns: PairUrns, factors: Array, new: Array, background: Array, beta: Array, lost: Array, last: Array
) -> tuple[Array, Array]:
    """Multiply pairs by factors, add the weight of each topic's new words (K), and restore topics without tokens."""
    cost, pairs = np.arange(len(beta) + 1) * np.int64(len(new)), (urns.word_first, urns.components, factors)
    threads.run(gibbs_maximise.add_background, cost, *pairs, new / len(beta), background, beta)
    beta[:, lost] = last[:, lost]
    return beta, background
