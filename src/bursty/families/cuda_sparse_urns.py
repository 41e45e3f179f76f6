"""The equations of the DCM for sparse statistics, solved on a GPU: one thread per pair of a word and a component."""

from __future__ import annotations

import numpy as np

from bursty.engines.card import empty, launch, launch_blocks, on_card
from bursty.families.sparse_urns import ListedUrns, PairUrns
from bursty.kernels.cuda import pairs
from bursty.kernels.cuda.rising import THREADS
from bursty.typing import Array


class CardListedUrns(ListedUrns):
    """`ListedUrns` whose lists are copied there once; solutions come back when they are asked for."""

    def __init__(self, urns: PairUrns) -> None:
        super().__init__(urns)
        self._levels = on_card(self.first), on_card(self.values), on_card(self.tails)
        order = np.argsort(self.components, kind="stable")
        bounds = np.searchsorted(self.components[order], np.arange(self.shape[1] + 1))
        self._by_component = on_card(bounds), on_card(order), on_card(self._n_alike)
        self._components, self._types = on_card(self.components), on_card(self.types)

    def tables(self, alpha: Array, own: Array | float) -> tuple[Array, ...]:
        """K, B and dB / d log a of `kernels.tables`, for each pair."""
        out, n_pairs = empty((3, len(self.types)), np.float64), len(self.types)
        prior = np.broadcast_to(np.asarray(own, dtype=np.float64), self.types.shape)
        launch(pairs.tables, n_pairs, *self._levels, self._types, on_card(self._listed(alpha)), on_card(prior), out)
        return tuple(out.copy_to_host())

    def set_first(self, first: Array, unseen: Array | float = 0.0) -> None:
        """Replace the weights of first occurrences; the words outside the pairs share ``unseen`` (K) evenly."""
        super().set_first(first, unseen)
        self._extra = on_card(self.extra)

    def start(self, scale: Array, alpha: Array | None) -> None:
        """Start from ``alpha``, or from the types times a scale per component."""
        super().start(scale, alpha)
        self._solutions = on_card(self._alpha), on_card(self._slope)

    def _solve_pairs(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        args = self._extra, self._components, on_card(lambdas), n_steps, *self._solutions
        launch(pairs.solve, len(self.types), *self._levels, *args)
        sums = empty((2, len(lambdas)), np.float64)
        launch_blocks(pairs.sum_by_component, len(lambdas), THREADS, *self._by_component, *self._solutions, sums)
        first, second = sums.copy_to_host()
        return first, second

    def _moved(self, lambdas: Array) -> Array:
        self._alpha, self._slope = (table.copy_to_host() for table in self._solutions)
        return super()._moved(lambdas)
