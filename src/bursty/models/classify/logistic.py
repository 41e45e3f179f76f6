"""Multinomial logistic regression of many words, by L-BFGS on whichever is fewer: words or documents.

    minimise  sum_d w_d log loss(y_d, b + x_d B) / sum_d w_d + |B|^2 / (2 C sum_d w_d)

Where words are more than documents, most of the time of a general L-BFGS goes into its memory of steps and slopes, each
as large as B. All of them are combinations of the documents, ``B = X' A``, so that A (documents x classes) is enough,
with the scores ``Z = X B = X X' A`` beside it: the inner product of two such vectors is ``sum(A * Z')``, and the steps
are the same. In both forms scores are linear along a direction, so that a step of the right length is found without a
pass over the words. With few documents, the inner products ``X X'`` are computed once.

A document of weight 0 is left out: its row of A stays 0, and its row of Z is the score by a model that has not seen it.
So fits without different documents share X, and are searched for side by side: each is a generator that asks for
products with X, which are computed for all of them at once (`side_by_side`) and take little longer than for one.

| symbol | name | shape |
|---|---|---|
| X | ``chunk`` | D x W |
| X X' | ``gram`` | D x D |
| b, then A or B | ``vector[0]`` | 1 + D or 1 + W, x K |
| b, then Z or B | ``vector[-1]``: what inner products are taken with | 1 + D or 1 + W, x K |
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from bursty.engines import Chunk
from bursty.kernels import lbfgs, logits
from bursty.typing import Array

#: Number of steps that are remembered.
MEMORY = 10
#: A step is long enough if the derivative along it has fallen to this share; maximum number of trials.
FLAT, MAX_TRIALS = 0.5, 20
#: Inner products are computed once if they are at most this many times the words of the documents.
DENSE = 4

#: Asks for a function of an array, column by column, and goes on with its result.
Search = Generator[tuple[Callable[[Array], Array], Array], Array, Array]


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
    gram: Array | None = None

    @classmethod
    def of(cls, chunk: Chunk, codes: Array, weights: Array, n_classes: int, inverse_strength: float) -> Objective:
        """In words or in documents, whichever takes less time."""
        by_documents = 2 * chunk.n_documents < chunk.n_words  # two arrays each
        gram = chunk.inner_products() if by_documents and chunk.n_documents**2 <= DENSE * chunk.n_cells else None
        return cls(chunk, codes, weights, n_classes, inverse_strength, by_documents, gram)

    def without(self, documents: Array) -> Objective:
        """The same without some of the documents."""
        weights = self.weights.copy()
        weights[documents] = 0.0
        return replace(self, weights=weights)

    @property
    def pull(self) -> float:
        """Factor of the penalty."""
        return 1.0 / (self.inverse_strength * float(self.weights.sum()))

    def zero(self) -> Array:
        """The vector that says nothing."""
        n_rows = self.chunk.n_documents if self.by_documents else self.chunk.n_words
        return np.zeros((2 if self.by_documents else 1, n_rows + 1, self.n_classes))

    def vector(self, coordinates: Array) -> Search:
        """With what its inner products are taken with."""
        if not self.by_documents:
            return coordinates[None]
        scores = yield self._products, coordinates[1:]
        return np.stack([coordinates, np.concatenate([coordinates[:1], scores])])

    def _products(self, rows: Array) -> Array:
        return self.chunk.tokens(self.chunk.sum_tokens(rows)) if self.gram is None else self.gram @ rows

    def scores(self, vector: Array) -> Search:
        """Logits of the documents, or what a direction adds to them."""
        rest = vector[1, 1:] if self.by_documents else (yield self.chunk.tokens, vector[0, 1:])
        return rest + vector[0, 0]

    def slope(self, x: Array, errors: Array) -> Search:
        """Gradient at x, from the slope in its scores."""
        rest = errors if self.by_documents else (yield self.chunk.sum_tokens, errors)
        found = yield from self.vector(np.concatenate([errors.sum(axis=0)[None], rest + self.pull * x[0, 1:]]))
        return found

    def solution(self, vector: Array) -> Array:
        """Intercepts, then the coefficients of each word, in rows."""
        if not self.by_documents:
            return vector[0]
        return np.concatenate([vector[0, :1], self.chunk.sum_tokens(vector[0, 1:])])


def minimise(objectives: Sequence[Objective], start: Array, tol: float, max_iter: int) -> list[Array]:
    """The best vectors of some objectives with the same documents, and different weights of these.

    A search ends when a step gains at most ``tol`` per document. The sums are computed in threads and do not depend on
    their number, unlike those of a multi-threaded BLAS.
    """
    with _libraries().limit(limits=1, user_api="blas"):
        return side_by_side([_minimise(objective, start, tol, max_iter) for objective in objectives])


def side_by_side(searches: Sequence[Search]) -> list[Array]:
    """The results of searches that ask for the same functions in the same order, some of them longer than others."""
    results: dict[int, Array] = {}
    asked: dict[int, tuple[Callable[[Array], Array], Array]] = {}

    def go_on(number: int, answer: Array | None) -> None:
        try:
            asked[number] = searches[number].send(answer)  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            asked.pop(number, None)
            results[number] = end.value

    for number in range(len(searches)):
        go_on(number, None)
    while asked:
        function = next(iter(asked.values()))[0]
        answers = function(np.concatenate([columns for _, columns in asked.values()], axis=1))
        for number, answer in zip(list(asked), np.split(answers, len(asked), axis=1), strict=True):
            go_on(number, answer)
    return [results[number] for number in range(len(searches))]


@cache
def _libraries() -> ThreadpoolController:
    """The libraries with threads of their own: to find them takes longer than to fit a few documents."""
    return ThreadpoolController()


def _minimise(objective: Objective, x: Array, tol: float, max_iter: int) -> Search:
    line = Line(objective, (yield from objective.scores(x)))
    slope, memory = (yield from objective.slope(x, line.errors)), Memory(x.shape)
    for _ in range(max_iter):
        direction = memory.downhill(slope)
        guess = 1.0 if memory.n_steps else 1.0 / max(np.sqrt(product(slope, slope)), 1e-300)
        ahead = yield from objective.scores(direction)
        length, gain = line.search(x, direction, ahead, guess)
        if gain <= 0.0:
            break
        x, last = x + length * direction, slope
        if gain <= tol:
            break
        slope = yield from objective.slope(x, line.errors)
        memory.add(length * direction, slope - last)
    return x


class Memory:
    """The last steps, and how the slope changed along each."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.steps, self.changes = np.empty((2, MEMORY, shape[0], shape[1] * shape[2]))
        self.curvatures = np.empty(MEMORY)
        self.n_steps, self.newest = 0, -1

    def add(self, step: Array, change: Array) -> None:
        """Remember a step, unless the slope did not grow along it."""
        curvature = product(step, change)
        if curvature > 0:
            self.newest, self.n_steps = (self.newest + 1) % MEMORY, min(self.n_steps + 1, MEMORY)
            for memory, vector in ((self.steps, step), (self.changes, change)):
                memory[self.newest] = vector.reshape(memory.shape[1:])
            self.curvatures[self.newest] = curvature

    def downhill(self, slope: Array) -> Array:
        """The direction in which to search."""
        out = np.empty_like(slope)
        flat = self.steps.shape[1:]
        lbfgs.downhill(
            slope.reshape(flat), self.steps, self.changes, self.curvatures, self.newest, self.n_steps, out.reshape(flat)
        )
        return out


def product(one: Array, other: Array) -> float:
    """Inner product of two vectors."""
    return float(np.vdot(one[0], other[-1]))


class Line:
    """Scores at a point, with their log loss and its slope, and the way to the next point."""

    def __init__(self, objective: Objective, scores: Array) -> None:
        self.objective, self.scores = objective, scores
        self.shares = objective.weights / objective.weights.sum()
        self.loss, _, self.errors = self._at(scores, 0.0)

    def _at(self, ahead: Array, length: float) -> tuple[float, float, Array]:
        errors = np.empty_like(self.scores)
        inputs = self.scores, ahead, length, self.objective.codes, self.shares
        return *logits.log_losses(*inputs, errors), errors

    def search(self, x: Array, direction: Array, ahead: Array, guess: float) -> tuple[float, float]:
        """Length of the step in a direction, which adds ``ahead`` to the scores, and what it gains.

        The loss is convex: where its derivative along the line is small, or changes sign, is found by secants.
        """
        # The penalty is that of the coefficients without the intercepts.
        tilt, bend = (self.objective.pull * product(rows[:, 1:], direction[:, 1:]) for rows in (x, direction))
        first = float(np.vdot(self.errors, ahead)) + tilt
        if first >= 0.0:
            return 0.0, 0.0
        low, high, length = (0.0, first), None, guess
        start, scores, best = self.loss, self.scores, (0.0, 0.0)
        for _ in range(MAX_TRIALS):
            loss, here, errors = self._at(ahead, length)
            gain, here = start - loss - length * (tilt + 0.5 * length * bend), here + tilt + length * bend
            if gain > best[1]:
                best, self.loss, self.errors = (length, gain), loss, errors
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
        self.scores = scores + best[0] * ahead
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
