"""The equation that fits the DCM: one unknown for each component, whatever the number of words."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bursty.engines import Levels
from bursty.families.urn import S_MAX, S_MIN, LengthUrn, Pull, limits, slope_of_length, solve_total

Array = np.ndarray[Any, Any]

_MAX_STEPS = 100
# Newton squares what is left: a step this small is the last.
_NEAR = 1e-6


class Equations(Protocol):
    """The equations ``g_w(alpha) = lambda`` of all words and components, however their statistics are kept."""

    totals: Array

    def sums(self, alpha: Array) -> Array:
        """Sum over the words of each component."""

    def start(self, scale: Array, alpha: Array | None) -> None:
        """Where to start from: ``alpha``, or else the first occurrences times a scale for each component."""

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each component with a positive lambda."""

    def alpha(self, lambdas: Array) -> Array:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""

    def set_limits(self, alpha: Array, no_repeat: Array, one_word: Array) -> None:
        """Where s has no finite maximum: the multinomial's proportions at S_MAX, the first words' at S_MIN."""


class Urns(Equations, Protocol):
    """Equations that a prior can change."""

    #: Weight of the documents that have the word: W x K, or the pairs that occur.
    types: Array

    def set_first(self, first: Array, unseen: Array) -> None:
        """Put these in the place of ``types``; words outside of it have ``unseen`` together (K)."""

    def tables(self, alpha: Array, own: Array | float) -> tuple[Array, ...]:
        """K, B and dB / d log a of `kernels.tables` for these alpha (W x K), in the shape of ``types``."""

    def by_component(self, values: Array) -> Array:
        """Sum of what has the shape of ``types``, K."""

    def spread(self, values: Array) -> Array:
        """Values of the components, to be combined with what has the shape of ``types``."""

    def shares(self, pool: Array) -> tuple[Array, Array]:
        """Each component's ``pool`` shared evenly by all words: in the shape of ``types``, and K for words outside."""


def solve_urns(
    urns: Equations,
    lengths: Levels,
    start: Array | None = None,
    *,
    pull: Pull | None = None,
    n_steps: int | None = None,
) -> Array:
    """The alpha of greatest likelihood, W x K, of these urns and documents of these lengths.

    At the maximum all words have the same slope, ``g_w(alpha_w) = sum_j T_wj / (alpha_w + j) = lambda``, and lambda is
    ``h(s)``, the slope of the length term. So lambda is the one unknown: given it, every alpha_w is a scalar equation
    (`Equations`), and Newton's method on ``log h(s) - log lambda`` in log lambda finds it, kept inside a bracket.

    Without ``start`` it begins at the EDCM's solution and goes on to machine precision. From a ``start``, one step is
    taken, and one for each word: inside EM, where the statistics move from one iteration to the next, that
    is as good (it is a step up, and at EM's fixed point nothing is left to do) and several times cheaper.

    A prior on log s adds ``pull(s) / s`` to h(s), and the limits of s are no longer reached.
    """
    if n_steps is None:
        n_steps = _MAX_STEPS if start is None else 1
    urn, totals = LengthUrn(lengths), urns.totals
    no_repeat, one_word = limits(totals, lengths)
    if pull is not None:
        no_repeat, one_word = np.zeros_like(no_repeat), np.zeros_like(one_word)
    active = (totals > 0) & ~no_repeat & ~one_word
    s = solve_total(totals, lengths, pull=pull) if start is None else urns.sums(start)
    urns.start(np.divide(s, totals, out=np.zeros_like(s), where=totals > 0), start)
    log_lambda = np.log(np.where(active, slope_of_length(urn, pull, np.where(active, s, 1.0))[0], 1.0))
    low, high = np.full(len(s), -np.inf), np.full(len(s), np.inf)
    for _ in range(n_steps):
        lambdas = np.where(active, np.exp(log_lambda), 0.0)
        s, slopes = urns.solve(lambdas, n_steps)
        no_repeat |= active & (s > S_MAX)
        one_word |= active & (s < S_MIN)
        active &= ~no_repeat & ~one_word
        if not active.any():
            break
        h, curvature = slope_of_length(urn, pull, np.where(active, s, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(h) - log_lambda
            step = log_lambda - value / (curvature / h * lambdas * slopes - 1.0)
        low, high = np.where(value > 0, log_lambda, low), np.where(value > 0, high, log_lambda)
        inside = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, log_lambda + np.sign(value))
        good = (step > low) & (step < high) & (np.abs(step - log_lambda) < 3.0)
        step = np.where(good, step, inside)
        change = np.abs(step - log_lambda)
        log_lambda = np.where(active, step, log_lambda)
        if np.all(change[active] < _NEAR):
            break
    alpha = urns.alpha(np.exp(log_lambda))
    if no_repeat.any() or one_word.any():
        urns.set_limits(alpha, no_repeat, one_word)
    return alpha


def information(urns: Equations, lengths: Levels, s: Array, draws: Array, pull: Pull) -> tuple[Array, Array]:
    """Slope of the log-likelihood in log s, and minus its derivative with the proportions following: K each.

    To be asked where the urns have been solved, at their s; ``draws`` is the sum of their tables.
    """
    known = (s > 0) & (draws > 0)
    safe = np.where(known, s, 1.0)
    h, curvature = LengthUrn(lengths)(safe)
    _, slopes = urns.solve(np.where(known, draws / safe, 0.0), 1)
    force, change = pull(safe)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = safe**2 / slopes - safe**2 * curvature - (draws - safe * h) + change
    return np.where(known, draws - safe * h - force, 0.0), np.where(known & np.isfinite(value), value, 0.0)
