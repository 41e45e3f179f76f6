"""The Dirichlet compound multinomial (DCM): each document draws its own word probabilities, then its words.

Equivalently, a Polya urn: a word that is drawn is returned together with another copy of it, so that it is likely to be
drawn again. For one sequence of words ([Madsen2005] eq. 2, [Elkan2006] eq. 1)

    log p(x) = log Gamma(s) - log Gamma(s + n) + sum_w (log Gamma(x_w + alpha_w) - log Gamma(alpha_w)),
    s = sum_w alpha_w

| symbol | name | shape |
|---|---|---|
| alpha | weight of a word in the urn at the start | W x K |
| s | sum of alpha; the smaller, the burstier | K |
| T | weight of the documents that have the word (statistics) | W x K |
| H | weight of the documents with each number of repeats of the word (statistics) | levels x K |
| L | weight of the documents of each length (statistics) | lengths x K |
| lambda | slope that all words share at the maximum | K |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk, Levels, Resp
from bursty.families.base import Statistics, weighted_logs
from bursty.families.multinomial import documents_of_tokens
from bursty.families.priors import Draws, Solution, UrnPrior, solve_with_prior
from bursty.families.solve import S_MAX, S_MIN, Equations, solve_urns, tails
from bursty.families.sparse_urns import ListedUrns, PairUrns
from bursty.families.urn import UrnEstimator, UrnFamily, UrnParameters
from bursty.kernels import gather, maximise, polya, tables, threads
from bursty.typing import Array


@dataclass(frozen=True)
class DCMStatistics(Statistics):
    """Weights of the documents that have each word (W x K), with each number of repeats, and of each length."""

    types: Array
    repeats: Levels
    lengths: Levels


@dataclass(frozen=True)
class DCMParameters(UrnParameters):
    """Weights of the words in the urn: W x K."""

    alpha: Array


class DCMFamily(UrnFamily[DCMStatistics, DCMParameters]):
    """The exact distribution, which costs little more than its approximation, the EDCM."""

    name = "dcm"
    has_evidence = True
    title = "DCM"
    citation = (
        "R. E. Madsen, D. Kauchak and C. Elkan. Modeling word burstiness using the Dirichlet distribution. Proceedings "
        "of the 22nd International Conference on Machine Learning (ICML), pages 545-552, 2005. "
        "doi:10.1145/1102351.1102420"
    )
    repeats_weigh = True
    uses_sums = True
    draws = "tables"

    def summarize(self, chunk: Chunk, resp: Resp) -> DCMStatistics:
        """Count the documents that have each word, those with each number of repeats, and those of each length."""
        return DCMStatistics(chunk.sum_by_word(resp), chunk.without_first.sum_by_level(resp), chunk.sum_by_length(resp))

    def maximise(self, stats: DCMStatistics, start: DCMParameters | None) -> Array:
        """The maximum, by one equation in one unknown: see `solve_urns`."""
        return maximise_urns(stats.types, stats.repeats, stats.lengths, None if start is None else start.alpha)

    def totals(self, stats: DCMStatistics) -> Array:
        """s of each component, computed from the words that occur in it."""
        if self.prior is None:
            return self.update(stats).s
        pairs = _pairs(stats.types, stats.repeats)
        return solve_with_prior(ListedUrns(PairUrns(pairs, stats.types.shape[1])), stats.lengths, self.prior).s

    def solve(self, stats: DCMStatistics, prior: UrnPrior, start: Array | None = None) -> Solution:
        """Weights given this prior, and the standard error of log s."""
        return solve_with_prior(WordUrns(stats.types, stats.repeats), stats.lengths, prior, start)

    def effective_counts(self, stats: DCMStatistics, params: DCMParameters) -> Array:
        """Expected number of draws that are not copies of earlier ones: ``sum_j T_j alpha / (alpha + j)``."""
        return expected_draws(stats.types, stats.repeats, params.alpha)

    def log_prob(self, chunk: Chunk, params: DCMParameters) -> Array:
        """First occurrences as in the EDCM; repeats from an urn with one more copy of the word."""
        log_prob = chunk.words(params.log_table)
        chunk.add(log_prob, chunk.without_first.rising(params.alpha, 1.0))
        self.add_length_term(chunk, params, log_prob)
        return log_prob

    def word_evidence(self, chunk: Chunk, table: Array, trust: Array | None = None) -> Array:
        """Sum of log alpha + sum_{1 <= j < x} log(alpha + j) over the words."""
        repeats = chunk.without_first
        words, starts = repeats.level_starts
        weights = gather.rows_of(table, words)
        weights += 1.0
        logs = polya.log_rising_table(starts, repeats.level_values, weights)
        if trust is not None:
            logs *= trust[repeats.level_words][:, None]
        return chunk.words(weighted_logs(table, trust)) + repeats.levels(logs)

    def sample(self, params: DCMParameters, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        """Draw the words from the urn, one by one."""
        cumulative = np.cumsum(params.alpha[:, 0])
        n_tokens = int(lengths.sum())
        words = np.empty(n_tokens, dtype=np.int64)
        polya.urn_draws(lengths, cumulative, cumulative[-1], rng.random((n_tokens, 2)), words)
        return documents_of_tokens(np.minimum(words, len(cumulative) - 1), lengths, len(cumulative))


@singledispatch
def expected_draws(types: Any, repeats: Levels, alpha: Array) -> Array:
    """`DCMFamily.effective_counts`; has a version for tables on a device."""
    alpha, draws = np.ascontiguousarray(np.broadcast_to(alpha, types.shape)), np.empty_like(types)
    cost = repeats.first * np.int64(draws.shape[1])
    threads.run(polya.expected_draws, cost, repeats.first, repeats.values, tails(repeats), types, alpha, draws)
    return draws


def _pairs(types: Array, repeats: Levels) -> Levels:
    """Weights of the documents by (pair of word and component, count of the word), for `ListedUrns`."""
    n_components = types.shape[1]
    once = types.copy()
    np.add.at(once, repeats.items, -repeats.weights)
    words, components = np.nonzero(once > 1e-9 * types)
    rows, columns = np.nonzero(repeats.weights)
    items = np.concatenate([words * n_components + components, repeats.items[rows] * n_components + columns])
    values = np.concatenate([np.ones(len(words), dtype=np.int32), repeats.values[rows] + 1])
    weights = np.concatenate([once[words, components], repeats.weights[rows, columns]])
    order = np.lexsort((values, items))
    return Levels(items[order], values[order], weights[order, None], len(types) * n_components)


def maximise_alpha(levels: Levels, lengths: Levels, start: Array | None = None) -> Array:
    """`maximise_urns` for weights of levels (item, count) with counts of 1 or more."""
    types = np.zeros((levels.n_items, levels.weights.shape[1]))
    np.add.at(types, levels.items, levels.weights)
    more = levels.values > 1
    repeats = Levels(levels.items[more], levels.values[more] - 1, levels.weights[more], levels.n_items)
    return maximise_urns(types, repeats, lengths, start)


def maximise_urns(types: Array, repeats: Levels, lengths: Levels, start: Array | None = None) -> Array:
    """The alpha that maximises the likelihood, W x K, given the weights of first occurrences, repeats and lengths."""
    return solve_urns(word_urns(types, repeats), lengths, start)


class WordUrns(Draws):
    """The equations ``g_w(alpha) = lambda`` of all words and components.

    If a component never repeats a word, alpha is types / lambda; only the other pairs (word, component) are solved.
    """

    def __init__(self, types: Array, repeats: Levels) -> None:
        super().__init__(types)
        self.repeats, self.tails, self.totals = repeats, tails(repeats), gather.column_sums(types)
        self.set_first(types)
        n_words = len(types)
        n_blocks = -(-n_words // maximise.BLOCK)
        self._sums, self._slopes = np.empty((2, n_blocks, len(self.single)))
        cost = np.append(0, np.cumsum(np.diff(repeats.first) * np.diff(self.pair_first), dtype=np.int64))
        self._cost = cost[np.minimum(np.arange(n_blocks + 1) * maximise.BLOCK, n_words)]

    def sums(self, alpha: Array) -> Array:
        """Sum over the words of each component."""
        return gather.column_sums(alpha)

    def set_first(self, first: Array, unseen: Array | float = 0.0) -> None:
        """Replace the weights of first occurrences (W x K, which includes unseen words)."""
        self.first = first
        self.pair_first, self.components, self.single = maximise.repeated_pairs(self.repeats.first, first, self.tails)

    def tables(self, alpha: Array, own: Array | float) -> tuple[Array, ...]:
        """K, B and dB / d log a of `kernels.tables`, W x K."""
        results = tuple(np.empty_like(self.types) for _ in range(3))
        cost = self.repeats.first * np.int64(self.types.shape[1])
        inputs = self.repeats.first, self.repeats.values, self.tails, self.types, alpha
        prior = np.broadcast_to(np.asarray(own, dtype=np.float64), self.types.shape)
        threads.run(tables.table_of_tables, cost, *inputs, prior, *results)
        return results

    def start(self, scale: Array, alpha: Array | None) -> None:
        """Start from ``alpha``, or from the types times a scale per component."""
        begin = (self.types, scale) if alpha is None else (alpha, np.ones_like(scale))
        self._alpha, self._slope = np.empty(len(self.components)), np.zeros(len(self.components))
        threads.run(maximise.pick_pairs, self.pair_first, self.pair_first, self.components, *begin, self._alpha)

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each component with a positive lambda."""
        self._lambdas = lambdas
        pairs = self.pair_first, self.components, self.first, self.repeats.first, self.repeats.values, self.tails
        results = self._alpha, self._slope, self._sums, self._slopes
        threads.run(maximise.solve_pairs, self._cost, *pairs, lambdas, n_steps, *results)
        inverse = np.divide(1.0, lambdas, out=np.zeros_like(lambdas), where=lambdas > 0)
        return self._sums.sum(axis=0) + self.single * inverse, self._slopes.sum(axis=0) + self.single * inverse**2

    def alpha(self, lambdas: Array) -> Array:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""
        result = np.empty_like(self.first)
        pairs = self.pair_first, self.components, self._alpha, self._slope, lambdas - self._lambdas
        threads.run(maximise.spread_pairs, self.pair_first, *pairs, self.first, lambdas, result)
        return result

    def set_limits(self, alpha: Array, no_repeat: Array, one_word: Array) -> None:
        """Set components without a finite maximum: proportions of the tokens at S_MAX, of the types at S_MIN."""
        set_limits(alpha, self.types, self.repeats, no_repeat, one_word)


def set_limits(alpha: Array, types: Array, repeats: Levels, no_repeat: Array, one_word: Array) -> None:
    """`WordUrns.set_limits`."""
    tokens = types.copy()
    np.add.at(tokens, repeats.items, repeats.values[:, None] * repeats.weights)
    for at_limit, weights, s in ((no_repeat, tokens, S_MAX), (one_word, types, S_MIN)):
        sums = weights.sum(axis=0)
        at_limit &= sums > 0
        alpha[:, at_limit] = s * weights[:, at_limit] / sums[at_limit]


@singledispatch
def word_urns(types: Any, repeats: Levels) -> Equations:
    """`WordUrns`; has a version for tables on a device."""
    return WordUrns(types, repeats)


class DCM(UrnEstimator):
    r"""Dirichlet compound multinomial distribution of word counts, also known as the multivariate Polya distribution.

    Parameters
    ----------
    smoothing : float or array of shape (n_words,), default 0
        Multiple of the smallest non-zero parameter that is added to every parameter (0.01 in Madsen et al. 2005). With
        0, a document with a word that was not seen in fitting has probability 0.
    prior : {None, "auto"}, default None
        None is maximum likelihood, as in the papers. "auto" corrects the bias of ``s_`` that comes from fitting the
        proportions of the words to the same documents, keeps it away from its limits, and gives unseen words a share.
    engine : {"local", "dask"}, Dask client or Engine, default "local"
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores. The result does not depend on it.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_words,)
        Initial weight of each word in the urn.
    s_ : float
        Sum of ``alpha_``; the smaller, the burstier. It is 1e10 if the likelihood is largest at infinity (the
        multinomial limit: words are not repeated more often than by chance), and 1e-10 if every document is one word
        repeated.

    See Also
    --------
    EDCM : Approximation with faster EM.
    Multinomial : The limit without bursts.
    bursty.families.bursts.burstiness : ``s_`` with an interval and a test.
    bursty.families.uncertainty.parameter_errors : Standard errors of ``alpha_``.

    Notes
    -----
    One sequence of words of length n has the probability ([Madsen2005] eq. 2)

    .. math::

       p(x) = \frac{\Gamma(s)}{\Gamma(s + n)} \prod_w \frac{\Gamma(x_w + \alpha_w)}{\Gamma(\alpha_w)}, \qquad
       s = \sum_w \alpha_w

    Examples
    --------
    >>> from bursty.families import DCM
    >>> X = [[3, 0, 1], [0, 4, 0], [1, 1, 2]]
    >>> model = DCM().fit(X)
    >>> model.alpha_.round(3), round(model.s_, 3)
    (array([0.879, 0.971, 0.772]), 2.622)
    >>> model.log_prob(X).round(3)
    array([-4.208, -2.391, -5.354])
    """

    _family = DCMFamily()
    alpha_: Array
