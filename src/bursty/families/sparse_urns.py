"""The DCM's equations for statistics of which a (word, component) pair has few: lists in the place of tables.

With hundreds of components a word is in few of them. `PairUrns` holds the pairs that occur and nothing else, and gives
`families.dcm.solve_urns` what it asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.engines import Levels
from bursty.families.urn import S_MAX, S_MIN
from bursty.kernels import gather, gibbs_maximise, threads

Array = np.ndarray[Any, Any]


class PairUrns:
    """Urns of the pairs in ``levels``, whose items are ``word * n_components + component``, sorted."""

    def __init__(self, levels: Levels, n_components: int) -> None:
        heads = np.flatnonzero(np.diff(levels.items, prepend=-1))
        self.first = np.append(heads, len(levels.items))
        self.words, self.components = np.divmod(levels.items[heads], n_components)
        self.shape = levels.n_items // n_components, n_components
        self.values, weights = levels.values, levels.weights[:, 0]
        self.tails = np.empty(len(weights))
        threads.run(gibbs_maximise.tail_sums, self.first, self.first, weights, self.tails)
        #: Weight of the documents that have the pair, and their tokens of it.
        self.types = self.tails[heads]
        self.tokens = np.add.reduceat(self.values * weights, heads) if len(heads) else self.types
        self.totals = self._by_component(self.types)

    def _by_component(self, values: Array) -> Array:
        return np.bincount(self.components, weights=values, minlength=self.shape[1])

    def unseen(self) -> Array:
        """How probable it is that the next word of each component is new to it: the share of those that one document
        alone has, among the words of all documents (Good and Turing)."""
        # The weight of one document, where sweeps or chunks are averaged, is about 1.
        alone = self._by_component(np.where(self.types < 1.5, self.types, 0.0))
        return np.divide(alone, self.totals, out=np.zeros_like(alone), where=self.totals > 0)

    def sums(self, alpha: Array) -> Array:
        """Sum over the words of each component."""
        return gather.column_sums(alpha)

    def start(self, scale: Array, alpha: Array | None) -> None:
        """Where to start from: ``alpha``, or else the types times a scale for each component."""
        begin = self.types * scale[self.components] if alpha is None else alpha[self.words, self.components]
        self._alpha = np.maximum(begin, 1e-300)
        self._slope = np.zeros_like(self._alpha)

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each component with a positive lambda."""
        self._lambdas = lambdas
        pairs = self.first, self.values, self.tails, self.components
        threads.run(gibbs_maximise.solve, self.first, *pairs, lambdas, n_steps, self._alpha, self._slope)
        known = lambdas > 0
        return np.where(known, self._by_component(self._alpha), 0.0), self._by_component(self._slope)

    def alpha(self, lambdas: Array) -> Array:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""
        result = np.zeros(self.shape)
        moved = self._alpha - self._slope * (lambdas - self._lambdas)[self.components]
        result[self.words, self.components] = np.maximum(moved, self.types / lambdas[self.components])
        return result

    def set_limits(self, alpha: Array, no_repeat: Array, one_word: Array) -> None:
        """Where s has no finite maximum: the multinomial's proportions at S_MAX, the first words' at S_MIN."""
        for at_limit, weights, s in ((no_repeat, self.tokens, S_MAX), (one_word, self.types, S_MIN)):
            sums = self._by_component(weights)
            own = np.flatnonzero((at_limit & (sums > 0))[self.components])
            components = self.components[own]
            alpha[self.words[own], components] = s * weights[own] / sums[components]
