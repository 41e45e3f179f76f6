"""The equations of the DCM for sparse statistics, with lists of (word, component) pairs instead of tables.

With hundreds of components, a word occurs in few of them. `PairUrns` stores only the pairs that occur, and implements
`families.solve.Urns`; `ListedUrns` keeps its solutions as lists, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from bursty.engines import Levels
from bursty.families.solve import S_MAX, S_MIN
from bursty.kernels import gather, gibbs_maximise, tables, threads
from bursty.typing import Array

#: Weight of a word that no component has, relative to that of a word which one component has.
UNSEEN = 0.1
# Pairs are summed in blocks of at least this many, then block by block: the same bits for any number of threads.
_BLOCK = 16_384
# Size of the table in which pairs that are alike find each other: it fits into the cache of a core.
_PLACES = 65_536


class PairUrns:
    """Urns of the pairs in ``levels``, whose items are ``word * n_components + component``, sorted."""

    def __init__(self, levels: Levels, n_components: int) -> None:
        heads = levels.heads
        self.first = np.append(heads, len(levels.items))
        items = levels.items[heads]
        self.words = items // np.int32(n_components)
        self.components = items - self.words * np.int32(n_components)
        self.shape = levels.n_items // n_components, n_components
        self.word_first = np.searchsorted(self.words, np.arange(self.shape[0] + 1, dtype=self.words.dtype))
        self._n_unseen = self.shape[0] - np.bincount(self.components, minlength=n_components)
        self.values, weights = levels.values, levels.weights[:, 0]
        self.tails = np.empty(len(weights))
        threads.run(gibbs_maximise.tail_sums, self.first, self.first, weights, self.tails)
        #: Weight of the documents that have the pair.
        self.types, self._weights = self.tails[heads], weights
        self.totals = self.by_component(self.types)
        self.set_first(self.types)

    @cached_property
    def tokens(self) -> Array:
        """Tokens of the pair in these documents."""
        if len(self.types) == 0:
            return self.types
        return np.asarray(np.add.reduceat(self.values * self._weights, self.first[:-1]))

    def by_component(self, values: Array) -> Array:
        """Sum over the pairs of each component, K."""
        size = max(_BLOCK, 16 * self.shape[1])
        n_blocks = -(-len(values) // size)
        sums = np.empty((n_blocks, self.shape[1]))
        cost = np.minimum(np.arange(n_blocks + 1) * np.int64(size), len(values))
        threads.run(gibbs_maximise.sum_by_topic, cost, self.components, values, size, sums)
        return np.asarray(sums.sum(axis=0))

    def pick(self, table: Array) -> Array:
        """The value of a table (W x K) at each pair."""
        out = np.empty_like(self.types)
        threads.run(gibbs_maximise.pick, self.word_first, self.word_first, self.components, table, out)
        return out

    def discounted(self, alpha: Array, lambdas: Array) -> tuple[Array, Array, Array]:
        """Absolute discounting: what each pair keeps of its alpha, and what goes to words new to a component.

        ``alpha[w, k]`` corresponds to ``alpha * lambda`` independent draws of the word. Every pair gives up the same
        discount, V1 / (V1 + 2 V2) with V1 and V2 the numbers of pairs of one and two draws (Kneser and Ney 1995). It is
        distributed over the words in proportion to the number of components that have them: a word of many topics is
        more likely to occur in another one.

        Returns
        -------
        Share of its alpha that each pair keeps; share of each component's alpha that is given up (K); weights (W),
        whose mean is 1.
        """
        (draws, given, kept), numbers = np.empty((3, len(self.types))), np.empty((self.shape[0], 3), dtype=np.int64)
        pairs = self.word_first, self.components
        threads.run(gibbs_maximise.count_draws, self.word_first, *pairs, alpha, lambdas, draws, numbers)
        once, twice, _ = numbers.sum(axis=0).tolist()
        discount = once / max(once + 2 * twice, 1)
        threads.run(gibbs_maximise.give_up, np.arange(len(draws) + 1), draws, discount, given, kept)
        pool, total = self.by_component(given), self.by_component(draws)
        share = np.divide(pool, total, out=np.zeros_like(pool), where=total > 0)
        weights = numbers[:, 2] + UNSEEN
        return kept, share, weights / weights.mean()

    def spread(self, values: Array) -> Array:
        """The value of each pair's component."""
        return values[self.components]

    def set_first(self, first: Array, unseen: Array | float = 0.0) -> None:
        """Replace the weights of first occurrences; the words outside the pairs share ``unseen`` (K) evenly."""
        self.first_weights, self.extra = first, first - self.types
        self.unseen_weights = np.broadcast_to(np.asarray(unseen, dtype=np.float64), self.totals.shape)

    def shares(self, pool: Array) -> tuple[Array, Array]:
        """The pool of each component divided evenly: the share of each pair, and that of all other words together."""
        return self.spread(pool / self.shape[0]), pool * self._n_unseen / self.shape[0]

    def tables(self, alpha: Array, own: Array | float) -> tuple[Array, ...]:
        """K, B and dB / d log a of `kernels.tables`, for each pair."""
        results = tuple(np.empty_like(self.types) for _ in range(3))
        inputs = self.first, self.values, self.tails, self.types, self._listed(alpha)
        prior = np.broadcast_to(np.asarray(own, dtype=np.float64), self.types.shape)
        threads.run(tables.list_of_tables, self.first, *inputs, prior, *results)
        return results

    def sums(self, alpha: Array) -> Array:
        """Sum over the words of each component."""
        return gather.column_sums(alpha)

    def start(self, scale: Array, alpha: Array | None) -> None:
        """Start from ``alpha``, or from the types times a scale per component."""
        begin = self.types * scale[self.components] if alpha is None else self._listed(alpha)
        self._alpha = np.maximum(begin, 1e-300)
        self._slope = np.zeros_like(self._alpha)

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each component with a positive lambda."""
        self._lambdas, known = lambdas, lambdas > 0
        sums, slopes = self._solve_pairs(lambdas, n_steps)
        inverse = np.divide(1.0, lambdas, out=np.zeros_like(lambdas), where=known)
        # A component without tokens has a lambda of next to nothing, whose square is nothing.
        of_unseen = self.unseen_weights * inverse, self.unseen_weights * np.minimum(inverse, 1e150) ** 2
        return np.where(known, sums, 0.0) + of_unseen[0], slopes + of_unseen[1]

    def _solve_pairs(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """The same over the pairs."""
        pairs = self.first, self.values, self.tails, self.extra, self.components
        threads.run(gibbs_maximise.solve, self.first, *pairs, lambdas, n_steps, self._alpha, self._slope)
        return self.by_component(self._alpha), self.by_component(self._slope)

    def alpha(self, lambdas: Array) -> Array:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""
        result, rest = np.empty(self.shape), self.unseen_weights / (np.maximum(self._n_unseen, 1) * lambdas)
        cost = self.word_first + np.arange(len(self.word_first)) * np.int64(self.shape[1])
        threads.run(gibbs_maximise.spread, cost, self.word_first, self.components, self._moved(lambdas), rest, result)
        return result

    def _listed(self, alpha: Array) -> Array:
        """Solutions as a list, one per pair."""
        return self.pick(alpha)

    def _moved(self, lambdas: Array) -> Array:
        out, cost = np.empty_like(self._alpha), np.arange(len(self._alpha) + 1)
        args = self.first_weights, self._alpha, self._slope, lambdas, lambdas - self._lambdas, out
        threads.run(gibbs_maximise.move, cost, self.components, *args)
        return out

    def set_limits(self, alpha: Array, no_repeat: Array, one_word: Array) -> None:
        """Set components without a finite maximum: proportions of the tokens at S_MAX, of the types at S_MIN."""
        for own, values in self._limits(no_repeat, one_word):
            alpha[self.words[own], self.components[own]] = values

    def _limits(self, no_repeat: Array, one_word: Array) -> Iterator[tuple[Array, Array]]:
        for at_limit, weights, s in ((no_repeat, self.tokens, S_MAX), (one_word, self.types, S_MIN)):
            sums = self.by_component(weights)
            own = np.flatnonzero((at_limit & (sums > 0))[self.components])
            yield own, s * weights[own] / sums[self.components[own]]


class ListedUrns(PairUrns):
    """The same with solutions as lists: one number per pair, then for each component the sum over all other words.

    A table of words x components is filled at the end only, or never if s is all that is needed.
    Pairs of a component that no document repeats, and that as many documents have, are solved once: they are most of
    the pairs of a topic.
    """

    def __init__(self, urns: PairUrns) -> None:
        alike = np.empty(len(urns.types), dtype=np.int32)
        places = np.full(_PLACES, -1, dtype=np.int32)
        gibbs_maximise.find_alike(urns.first, urns.values, urns.components, urns.types, places, alike)
        #: Index of the pair that each entry of a list stands for, and number of pairs like it.
        self.pairs = np.flatnonzero(alike == np.arange(len(alike), dtype=np.int32))
        self._n_alike = np.bincount(alike, minlength=len(alike))[self.pairs].astype(np.float64)
        sizes = np.diff(urns.first)[self.pairs]
        self.first = np.append(0, np.cumsum(sizes))
        entries = np.arange(self.first[-1]) + np.repeat(urns.first[self.pairs] - self.first[:-1], sizes)
        self.values, self.tails, self._weights = urns.values[entries], urns.tails[entries], urns._weights[entries]
        self.types, self.components = urns.types[self.pairs], urns.components[self.pairs]
        self.shape, self.totals, self._n_unseen = urns.shape, urns.totals, urns._n_unseen
        self.set_first(self.types)

    def by_component(self, values: Array) -> Array:
        """Sum over the pairs of each component, K."""
        return super().by_component(self._n_alike * values)

    def sums(self, alpha: Array) -> Array:
        """Sum over the words of each component."""
        return self.by_component(self._listed(alpha)) + alpha[len(self.types) :]

    def alpha(self, lambdas: Array) -> Array:
        """The solutions: those of the last solve, moved along their slopes to these lambdas."""
        return np.concatenate([self._moved(lambdas), self.unseen_weights / lambdas])

    def _listed(self, alpha: Array) -> Array:
        return alpha[: len(self.types)]

    def set_limits(self, alpha: Array, no_repeat: Array, one_word: Array) -> None:
        """Set components without a finite maximum: proportions of the tokens at S_MAX, of the types at S_MIN."""
        for own, values in self._limits(no_repeat, one_word):
            alpha[own] = values
