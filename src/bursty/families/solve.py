"""The equations that fit urns: the EDCM's for s, and the DCM's, with one unknown per component.

A document of length n costs both families ``log Gamma(s) - log Gamma(s + n) = -sum_{j<n} log(s + j)``. The derivative
of that over a corpus is ``-h(s)``, ``h(s) = sum_j L_j / (s + j)``, where L_j is the weight of the documents longer than
j.

Two kinds of corpora have no finite maximum. If no document repeats a word, the likelihood grows as s goes to infinity,
where both families are the multinomial: s stops at `S_MAX`. If every document is one word repeated, it grows as s goes
to zero: s stops at `S_MIN`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bursty.engines import Levels
from bursty.kernels import maximise, polya, threads
from bursty.typing import Array

S_MAX = 1e10
S_MIN = 1e-10
_MAX_STEPS, _MAX_ROUNDS = 200, 100
# The iteration ends with a step of log s (of log lambda) below this: Newton's method squares the error that is left.
_SETTLED, _NEAR = 1e-7, 1e-6


class Pull(Protocol):
    """A prior on log s, as it enters the equations of s."""

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """Minus the derivative of the log-density with respect to log s, and its derivative: K each."""


def tails(levels: Levels) -> Array:
    """Weight at each level or above."""
    out = np.empty_like(levels.weights)
    cost = levels.first * np.int64(out.shape[1])
    threads.run(polya.tail_sums, cost, levels.first, levels.weights, out)
    return out


class LengthUrn:
    """h(s) and minus its derivative, for all components."""

    def __init__(self, lengths: Levels) -> None:
        self.values = lengths.values
        self.tails = tails(lengths)

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """h(s), -h'(s)."""
        first, second = np.empty_like(s), np.empty_like(s)
        # A level takes about ten terms of sums.
        cost = np.arange(len(s) + 1) * np.int64(10 * len(self.values))
        threads.run(maximise.harmonic, cost, self.values, self.tails, s, first, second)
        return first, second


def slope_of_length(urn: LengthUrn, pull: Pull | None, s: Array) -> tuple[Array, Array]:
    """h(s) plus the term of a prior, and minus its derivative."""
    h, curvature = urn(s)
    if pull is None:
        return h, curvature
    force, change = pull(s)
    # Where the data say little, a prior that pulls s upwards may leave nothing of the slope: s would go to infinity.
    slope = np.maximum(h + force / s, np.maximum(0.01 * h, maximise.TINY))
    return slope, curvature + (force - change) / np.minimum(s, 1e150) ** 2


def limits(types: Array, lengths: Levels) -> tuple[Array, Array]:
    """Components whose s goes to infinity (no repeated words), and those whose s goes to 0 (one word per document)."""
    tokens = lengths.values @ lengths.weights
    documents = (lengths.values > 0) @ lengths.weights
    slack = 1e-12
    no_repeat = tokens <= types * (1 + slack)
    one_word = ~no_repeat & (types <= documents * (1 + slack))
    return no_repeat, one_word


def solve_total(types: Array, lengths: Levels, start: Array | None = None, pull: Pull | None = None) -> Array:
    """The s of an EDCM: the root of ``s h(s) = types``, [Elkan2006] eq. 6; a prior adds ``pull(s)`` on the left.

    s h(s) grows from the number of documents to the number of tokens as s goes from 0 to infinity. Newton's method in
    log s, inside a bracket that every step tightens, from ``start`` or from the mean length.
    """
    no_repeat, one_word = limits(types, lengths)
    if pull is not None:
        no_repeat, one_word = np.zeros_like(no_repeat), np.zeros_like(one_word)
    open_ = ~no_repeat & ~one_word & (types > 0)
    s = np.where(types > 0, np.where(no_repeat, S_MAX, S_MIN), 0.0)
    low, high = np.full_like(s, np.log(S_MIN)), np.full_like(s, np.log(S_MAX))
    urn = LengthUrn(lengths)
    if start is None:
        start = (lengths.values @ lengths.weights) / np.maximum(lengths.weights.sum(axis=0), 1e-300)
    log_s = np.where(open_, np.clip(np.log(np.maximum(start, 1e-300)), low, high), 0.0)
    goal = np.log(np.where(open_, types, 1.0))
    for _ in range(_MAX_STEPS):
        now = np.exp(log_s)
        h, curvature = slope_of_length(urn, pull, now)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(h) + log_s - goal
            step = log_s - value / (1.0 - now * curvature / h)
        short = value < 0
        low, high = np.where(short, log_s, low), np.where(short, high, log_s)
        moved = np.abs(step - log_s)
        # The last step may leave the bracket by a rounding error; bisection would then undo all steps.
        step = np.where(((step > low) & (step < high)) | (moved < _SETTLED), step, (low + high) / 2)
        log_s = step
        if np.all(moved[open_] < _SETTLED):
            break
    return np.where(open_, np.exp(log_s), s)


class Equations(Protocol):
    """The equations ``g_w(alpha) = lambda`` of all words and components, for any storage of their statistics."""

    totals: Array

    def sums(self, alpha: Array) -> Array:
        """Sum over the words of each component."""

    def start(self, scale: Array, alpha: Array | None) -> None:
        """Start from ``alpha``, or from the first occurrences times a scale per component."""

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each component with a positive lambda."""

    def alpha(self, lambdas: Array) -> Array:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""

    def set_limits(self, alpha: Array, no_repeat: Array, one_word: Array) -> None:
        """Set components without a finite maximum: proportions of the tokens at S_MAX, of the types at S_MIN."""


class Urns(Equations, Protocol):
    """Equations that a prior can modify."""

    #: Weight of the documents that have the word: W x K, or the pairs that occur.
    types: Array

    def set_first(self, first: Array, unseen: Array) -> None:
        """Replace ``types``; all words outside of it together have ``unseen`` (K)."""

    def tables(self, alpha: Array, own: Array | float) -> tuple[Array, ...]:
        """K, B and dB / d log a of `kernels.tables` for these alpha (W x K), in the shape of ``types``."""

    def by_component(self, values: Array) -> Array:
        """Sums over the words of values in the shape of ``types``: K."""

    def spread(self, values: Array) -> Array:
        """Values of the components, broadcast to the shape of ``types``."""

    def shares(self, pool: Array) -> tuple[Array, Array]:
        """The pool of each component divided evenly: in the shape of ``types``, and K for all other words together."""


def solve_urns(
    urns: Equations,
    lengths: Levels,
    start: Array | None = None,
    *,
    pull: Pull | None = None,
    n_steps: int | None = None,
) -> Array:
    """The alpha that maximises the likelihood, W x K.

    At the maximum all words have the same slope, ``g_w(alpha_w) = sum_j T_wj / (alpha_w + j) = lambda``, and lambda is
    ``h(s)``, the slope of the length term. So lambda is the one unknown: given it, every alpha_w is a scalar equation
    (`Equations`), and Newton's method on ``log h(s) - log lambda`` in log lambda finds it, kept inside a bracket.

    Without ``start``, it begins with the solution of the EDCM and continues to machine precision. With a ``start``, it
    takes one step, and one for each word: inside EM, where the statistics change between iterations, that is as good
    (every step increases the likelihood, and the fixed point of EM is the same) and several times cheaper.

    A prior on log s adds ``pull(s) / s`` to h(s), and keeps s away from its limits.
    """
    if n_steps is None:
        n_steps = _MAX_ROUNDS if start is None else 1
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
        # As in `solve_total`, the last step may leave the bracket by a rounding error.
        step = np.where(good | (np.abs(step - log_lambda) < _NEAR), step, inside)
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

    To be called after the urns have been solved, at their s; ``draws`` is the sum of their tables.
    """
    known = (s > 0) & (draws > 0)
    safe = np.where(known, s, 1.0)
    h, curvature = LengthUrn(lengths)(safe)
    _, slopes = urns.solve(np.where(known, draws / safe, 0.0), 1)
    force, change = pull(safe)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = safe**2 / slopes - safe**2 * curvature - (draws - safe * h) + change
    return np.where(known, draws - safe * h - force, 0.0), np.where(known & np.isfinite(value), value, 0.0)
