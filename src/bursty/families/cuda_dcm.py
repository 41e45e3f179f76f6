"""The M step of the DCM on a GPU: `bursty.families.dcm` for tables that are there."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.engines import Levels
from bursty.engines.card import CardMatrix, column_sums, copied, empty, launch, on_card, zeros
from bursty.engines.cuda import fetch
from bursty.families import dcm
from bursty.kernels import gather
from bursty.kernels.cuda import urns
from bursty.typing import Array


@dcm.expected_draws.register(CardMatrix)
def expected_draws(types: CardMatrix, repeats: Levels, alpha: Array | CardMatrix) -> CardMatrix:
    """`dcm.expected_draws`."""
    out = empty(types.shape, np.float64)
    start = on_card(alpha if isinstance(alpha, CardMatrix) else np.broadcast_to(alpha, types.shape))
    launch(urns.expected_draws, out.size, *_levels(repeats), types.array, start, out)
    return CardMatrix(out)


@dcm.word_urns.register(CardMatrix)
class CardWordUrns:
    """`families.solve.Equations` of all words and components, as `dcm.WordUrns`."""

    def __init__(self, types: CardMatrix, repeats: Levels) -> None:
        self.types, self.repeats, self.totals = types, repeats, types.sum(axis=0)
        self._levels = _levels(repeats)

    def sums(self, alpha: Array | CardMatrix) -> Array:
        """Sum over the words of each component."""
        return gather.column_sums(alpha)

    def start(self, scale: Array, alpha: Array | CardMatrix | None) -> None:
        """Start from ``alpha``, or from the types times a scale per component."""
        begin = self.types * scale if alpha is None else alpha
        self._alpha, self._slope = copied(on_card(begin)), zeros(self.types.shape, np.float64)

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each component with a positive lambda."""
        self._lambdas, alpha = lambdas, self._alpha
        args = *self._levels, self.types.array, on_card(lambdas), n_steps, alpha, self._slope
        launch(urns.solve, alpha.size, *args)
        sums = (column_sums(table).copy_to_host()[0] for table in (alpha, self._slope))
        first, second = (np.where(lambdas > 0, own, 0.0) for own in sums)
        return first, second

    def alpha(self, lambdas: Array) -> CardMatrix:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""
        out, both = empty(self.types.shape, np.float64), (on_card(lambdas), on_card(lambdas - self._lambdas))
        launch(urns.move, out.size, self.types.array, *both, self._alpha, self._slope, out)
        return CardMatrix(out)

    def set_limits(self, alpha: CardMatrix, no_repeat: Array, one_word: Array) -> None:
        """`dcm.set_limits`; rare enough to be computed in this process."""
        own = np.array(alpha)
        dcm.set_limits(own, np.asarray(self.types), fetch(self.repeats), no_repeat, one_word)
        alpha.array.copy_to_device(own)


def _levels(repeats: Levels) -> tuple[Any, ...]:
    """First levels of the words, values and weights."""
    return on_card(repeats.first), on_card(repeats.values), on_card(repeats.weights)
