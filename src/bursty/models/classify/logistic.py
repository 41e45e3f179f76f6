"""Multinomial logistic regression of many words, by L-BFGS on whichever is fewer: words or documents.

    minimise  sum_d w_d log loss(y_d, b + x_d B) / sum_d w_d + |B|^2 / (2 C sum_d w_d)

Where words are more than documents, most of the time of a general L-BFGS goes into its memory of steps and slopes, each
as large as B. All of them are combinations of the documents, ``B = X' A``, so that A (documents x classes) is enough,
with the scores ``Z = X B = X X' A`` beside it: the inner product of two such vectors is ``sum(A * Z')``, and the steps
are the same. In both forms scores are linear along a direction, so that a step of the right length is found without a
pass over the words.

| symbol | name | shape |
|---|---|---|
| X | ``chunk`` | D x W |
| b, then A or B | ``coordinates`` of a vector | 1 + D or 1 + W, x K |
| b, then Z or B | ``dual``: what its inner products are taken with | 1 + D or 1 + W, x K |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from bursty.engines import Chunk
from bursty.typing import Array

#: Number of steps that are remembered.
MEMORY = 10
#: A step is long enough if the derivative along it has fallen to this share; maximum number of trials.
FLAT, MAX_TRIALS = 0.5, 20


class Vector(NamedTuple):
    """A vector and what its inner products are taken with; the same array where these are plain."""

    coordinates: Array
    dual: Array

    def __matmul__(self, other: Vector) -> float:
        return float(np.vdot(self.coordinates, other.dual))

    def plus(self, factor: float, other: Vector) -> Vector:
        """This vector plus a multiple of another."""
        coordinates = self.coordinates + factor * other.coordinates
        if self.dual is self.coordinates:
            return Vector(coordinates, coordinates)
        return Vector(coordinates, self.dual + factor * other.dual)

    def times(self, factor: float) -> Vector:
        """A multiple of this vector."""
        coordinates = factor * self.coordinates
        return Vector(coordinates, coordinates if self.dual is self.coordinates else factor * self.dual)


@dataclass(frozen=True)
class Objective:
    """The penalised log loss per document.

    ``by_documents`` says that vectors are combinations of documents; each is two arrays of their number then.
    """

    chunk: Chunk
    codes: Array
    weights: Array
    n_classes: int
    inverse_strength: float
    by_documents: bool

    @property
    def pull(self) -> float:
        """Factor of the penalty."""
        return 1.0 / (self.inverse_strength * float(self.weights.sum()))

    def zero(self) -> Array:
        """Coordinates of the vector that says nothing."""
        n_rows = self.chunk.n_documents if self.by_documents else self.chunk.n_words
        return np.zeros((n_rows + 1, self.n_classes))

    def vector(self, coordinates: Array) -> Vector:
        """With what its inner products are taken with."""
        if not self.by_documents:
            return Vector(coordinates, coordinates)
        scores = self.chunk.tokens(self.chunk.sum_tokens(coordinates[1:]))
        return Vector(coordinates, np.concatenate([coordinates[:1], scores]))

    def scores(self, vector: Vector) -> Array:
        """Logits of the documents, or what a direction adds to them."""
        rest = vector.dual[1:] if self.by_documents else self.chunk.tokens(vector.coordinates[1:])
        return rest + vector.coordinates[0]

    def product(self, one: Vector, other: Vector) -> float:
        """Of the coefficients without the intercepts: what the penalty is made of."""
        return float(np.vdot(one.coordinates[1:], other.dual[1:]))

    def loss(self, scores: Array) -> tuple[float, Array]:
        """Log loss per document, and its slope in the scores."""
        values, errors = log_loss(scores.copy(), self.codes)
        shares = self.weights / self.weights.sum()
        errors *= shares[:, None]
        return float(shares @ values), errors

    def slope(self, x: Vector, errors: Array) -> Vector:
        """Gradient at x, from the slope in its scores."""
        rest = errors if self.by_documents else self.chunk.sum_tokens(errors)
        rows = [errors.sum(axis=0)[None], rest + self.pull * x.coordinates[1:]]
        return self.vector(np.concatenate(rows))

    def solution(self, coordinates: Array) -> Array:
        """Intercepts, then the coefficients of each word, in rows."""
        if not self.by_documents:
            return coordinates
        return np.concatenate([coordinates[:1], self.chunk.sum_tokens(coordinates[1:])])


def minimise(objective: Objective, start: Array, tol: float, max_iter: int) -> Array:
    """Coordinates of the best solution; the search ends when a step gains at most ``tol`` per document.

    The sums are computed in threads and do not depend on their number, unlike those of a multi-threaded BLAS.
    """
    with _libraries().limit(limits=1, user_api="blas"):
        return _minimise(objective, start, tol, max_iter)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries with threads of their own: to find them takes longer than to fit a few documents."""
    return ThreadpoolController()


def _minimise(objective: Objective, start: Array, tol: float, max_iter: int) -> Array:
    x = objective.vector(start)
    scores = objective.scores(x)
    slope = objective.slope(x, objective.loss(scores)[1])
    memory: list[tuple[Vector, Vector, float]] = []
    for _ in range(max_iter):
        direction = _direction(slope, memory)
        ahead = objective.scores(direction)
        guess = 1.0 if memory else 1.0 / max(np.sqrt(slope @ slope), 1e-300)
        length, gain, errors = _line_search(objective, (x, direction), scores, ahead, guess)
        if gain <= 0.0:
            break
        x, scores, last = x.plus(length, direction), scores + length * ahead, slope
        if gain <= tol:
            break
        slope = objective.slope(x, errors)
        step, change = direction.times(length), slope.plus(-1.0, last)
        if (curvature := step @ change) > 0:
            memory = [*memory[1 - MEMORY :], (step, change, curvature)]
    return x.coordinates


def _direction(slope: Vector, memory: list[tuple[Vector, Vector, float]]) -> Vector:
    """Downhill, by the two loops over the last steps (Nocedal 1980)."""
    found, factors = slope.times(-1.0), []
    for step, change, curvature in reversed(memory):
        factors.append((step @ found) / curvature)
        found = found.plus(-factors[-1], change)
    if memory:
        _, change, curvature = memory[-1]
        found = found.times(curvature / max(change @ change, 1e-300))
    for (step, change, curvature), factor in zip(memory, reversed(factors), strict=True):
        found = found.plus(factor - (change @ found) / curvature, step)
    return found


def _line_search(
    objective: Objective, line: tuple[Vector, Vector], scores: Array, ahead: Array, guess: float
) -> tuple[float, float, Array]:
    """Length of the step along a line, what it gains, and the slope in the scores there.

    The loss is convex: where its derivative along the line is small, or changes sign, is found by secants.
    """
    tilt, bend = (objective.pull * objective.product(vector, line[1]) for vector in line)

    def at(length: float) -> tuple[float, float, Array]:
        loss, errors = objective.loss(scores + length * ahead)
        value = loss + length * (tilt + 0.5 * length * bend)
        return value, float(np.vdot(errors, ahead)) + tilt + length * bend, errors

    start, first, errors = at(0.0)
    low, high, length = (0.0, first), None, guess
    best = 0.0, 0.0, errors
    if first >= 0.0:
        return best
    for _ in range(MAX_TRIALS):
        value, here, errors = at(length)
        if start - value > best[1]:
            best = length, start - value, errors
            if abs(here) <= -FLAT * first:
                break
        if here < 0.0:
            last, low = low, (length, here)
        else:
            last, high = low, (length, here)
        rise = here - last[1]
        goal = length - here * (length - last[0]) / rise if rise != 0.0 else 4.0 * length
        if high is None:
            length = min(max(goal, 1.5 * length), 10.0 * length)
        else:
            width = high[0] - low[0]
            length = min(max(goal, low[0] + 0.1 * width), high[0] - 0.1 * width)
    return best


def log_loss(logits: Array, codes: Array, noise: float = 0.0) -> tuple[Array, Array]:
    """Log loss of each document, and its gradient: probabilities minus the truth; ``logits`` are overwritten.

    With noise, the class of a document is correct with probability 1 - noise, and otherwise random.
    """
    logits -= logits.max(axis=1, keepdims=True)
    rows = np.arange(len(codes))
    right = (1.0 - noise) * logits[rows, codes] + noise * logits.mean(axis=1)
    proba = np.exp(logits, out=logits)
    totals = proba.sum(axis=1)
    proba /= totals[:, None]
    proba[rows, codes] -= 1.0 - noise
    proba -= noise / proba.shape[1]
    return np.log(totals) - right, proba
