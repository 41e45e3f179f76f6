"""What the DCM and the EDCM share: urns that start with total weight s, and the limits of s.

A document of length n costs both families ``log Gamma(s) - log Gamma(s + n) = -sum_{j<n} log(s + j)``. The
derivative of that over a corpus is ``-h(s)``, ``h(s) = sum_j L_j / (s + j)`` with L_j the weight of the documents
longer than j.

Two kinds of corpus have no finite maximum. Where no document repeats a word, the likelihood grows as s goes to
infinity, where both families are the multinomial: s stops at `S_MAX`. Where every document is one word repeated, it
grows as s goes to zero: s stops at `S_MIN`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bursty.engines import Chunk, Levels
from bursty.kernels import maximise, polya, threads

Array = np.ndarray[Any, Any]

S_MAX = 1e10
S_MIN = 1e-10
_MAX_STEPS = 200
# A step of log s below this is the last: Newton squares what is left.
_SETTLED = 1e-7


class Pull(Protocol):
    """A prior on log s, as the equations of s have it."""

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """Minus the derivative of the log-density with respect to log s, and the derivative of that: K each."""


def add_length_term(chunk: Chunk, s: Array, log_prob: Array, constants: Array | None = None) -> None:
    """Add ``log Gamma(s) - log Gamma(s + n)`` of each document and component (and a number of each document's own)."""
    first = np.array([0, len(chunk.length_values)], dtype=np.int32)
    # A component that holds nothing (s = 0) gives its documents probability 0 through their words.
    table = polya.log_rising_table(first, chunk.length_values, np.where(s > 0, s, 1.0)[None, :])
    chunk.add_by_document(log_prob, -table, constants)


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
        maximise.harmonic(self.values, self.tails, s, first, second)
        return first, second


def slope_of_length(urn: LengthUrn, pull: Pull | None, s: Array) -> tuple[Array, Array]:
    """h(s) with the pull of a prior, and minus its derivative."""
    h, curvature = urn(s)
    if pull is None:
        return h, curvature
    force, change = pull(s)
    return np.maximum(h + force / s, maximise.TINY), curvature + (force - change) / s**2


def limits(types: Array, lengths: Levels) -> tuple[Array, Array]:
    """Which components run to the multinomial (no word repeated), and which to one word a document."""
    tokens = lengths.values @ lengths.weights
    documents = (lengths.values > 0) @ lengths.weights
    slack = 1e-12
    no_repeat = tokens <= types * (1 + slack)
    one_word = ~no_repeat & (types <= documents * (1 + slack))
    return no_repeat, one_word


def solve_total(types: Array, lengths: Levels, start: Array | None = None, pull: Pull | None = None) -> Array:
    """The s of an EDCM: the root of ``s h(s) = types``, [Elkan2006] eq. 6; a prior adds ``pull(s)`` on the left.

    s h(s) grows from the number of documents to the number of tokens as s goes from 0 to infinity. Newton in
    log s, kept inside a bracket that every step tightens; from ``start`` or from the mean length.
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
        h, curvature = slope_of_length(urn, pull, np.exp(log_s))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(h) + log_s - goal
            slope = 1.0 - np.exp(log_s) * curvature / h
            low, high = np.where(value < 0, log_s, low), np.where(value < 0, high, log_s)
            step = log_s - value / slope
        moved = np.abs(step - log_s)
        # A last step may leave the bracket by a rounding error; halving would then undo all of them.
        step = np.where(((step > low) & (step < high)) | (moved < _SETTLED), step, (low + high) / 2)
        log_s = step
        if np.all(moved[open_] < _SETTLED):
            break
    return np.where(open_, np.exp(log_s), s)
