"""Calibration: scores are divided by a temperature that is learned on held-out documents.

A bag of words counts every word as new evidence. But the words of a document repeat the same information, so that
posteriors are overconfident, the more so the longer the document. Dividing the log-likelihood by a temperature T
corrects this, and T may depend on the document:

    log p(k | x) = log p(k) + score_k(x) / T(x) + const
    log T(x) = a + b log(1 + n) + c log(1 + m),         m^2 = sum_w (x_w log(D / df_w))^2

n is the number of tokens, m the Euclidean length of the document with idf weights: evidence that comes from few
words, repeated, is worth less than the same amount from many. a = b = c = 0 is plain Bayes' rule. The three numbers
minimise the log loss of documents that the model was not fitted to. With equal class priors, the order of the classes
of a document never changes.

How much the frequency of a class should count is learned with them, unless the prior is given: p(k) is proportional
to its share of the training documents to the power 1 + d. If a document may have any number of classes, each class
has its own logistic probability, and d is a bias that all share:
``logit p(k | x) = logit p(k) + d + score_k(x) / T(x)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bursty.engines import Chunk
from bursty.kernels import logits
from bursty.storage.schema import Mismatch, number, storable
from bursty.typing import Array

# A weak penalty on a, b, c, d, worth the log loss of one document at 3. It matters only for few documents.
_PRIOR = 1.0 / 9.0
_MAX_STEPS = 60


def _check_coefficients(temperature: Temperature, sizes: dict[str, int]) -> None:
    values = temperature.coefficients
    if not isinstance(values, tuple) or len(values) != 3:
        raise Mismatch("a temperature does not have three coefficients")
    for value in values:
        number()(value, sizes, "coefficients")


@storable("Temperature", check=_check_coefficients)
@dataclass(frozen=True)
class Temperature:
    """``coefficients`` a, b, c of log T."""

    coefficients: tuple[float, float, float]

    def of(self, features: Array) -> Array:
        """T of each document."""
        return np.exp(features @ np.array(self.coefficients))


@dataclass(frozen=True)
class Fitted:
    """A temperature, d, and their mean log loss."""

    temperature: Temperature
    tilt: float
    loss: float


def document_features(chunk: Chunk, idf: Array) -> Array:
    """1, log(1 + n) and log(1 + m) of each document."""
    squares = chunk.row_sums((chunk.values * idf[chunk.indices]) ** 2)
    return np.column_stack([np.ones(chunk.n_documents), np.log1p(chunk.lengths), np.log1p(np.sqrt(squares))])


def fit_temperature(
    scores: Array,
    truth: Array,
    features: Array,
    offset: Array,
    direction: Array,
    weights: Array,
    *,
    multilabel: bool = False,
    start: Fitted | None = None,
) -> Fitted:
    """The temperature and the d that minimise the log loss of these documents.

    Parameters
    ----------
    scores, truth : documents x classes
        Scores of a model that has not seen the documents, and 1 where the document has the class.
    features : documents x 3
    offset, direction : per class
        What is added to the scores: ``offset + d direction``. The offsets are log prior probabilities (log odds if
        ``multilabel``); if the direction is 0 there is no d.
    weights : per document
    start : Fitted, optional
        Starting values.
    """
    if not multilabel:
        scores = scores - scores.mean(axis=1, keepdims=True)
    scores = np.clip(scores, -1e6, 1e6)  # the score of a class that cannot generate the document is -inf
    problem = _Problem(scores, truth, features, offset, direction, weights, multilabel)
    guess = np.array([*start.temperature.coefficients, start.tilt]) if start else np.array([1.0, 0.0, 0.0, 0.0])
    x, loss = _newton(problem, guess)
    if not multilabel and x[3] < -1.0:  # a rare class is never more probable a priori than a common one
        problem = replace(problem, offset=offset - direction, direction=np.zeros_like(direction))
        x, loss = _newton(problem, np.array([*x[:3], 0.0]))
        x[3] = -1.0
    a, b, c, d = x.tolist()
    return Fitted(Temperature((a, b, c)), d, loss)


@dataclass(frozen=True)
class _Problem:
    """Log loss as a function of x = (a, b, c, d), with a weak penalty."""

    scores: Array
    truth: Array
    features: Array
    offset: Array
    direction: Array
    weights: Array
    multilabel: bool

    @cached_property
    def shares(self) -> Array:
        """Weights that sum to one."""
        return np.asarray(self.weights / self.weights.sum())

    @cached_property
    def pull(self) -> float:
        """Factor of the penalty."""
        return _PRIOR / float(self.weights.sum())

    def __call__(self, x: Array) -> tuple[float, Array, Array]:
        """Value, gradient, and a non-negative definite approximation of the Hessian."""
        slope, hessian = self.pull * x, np.diag(np.full(4, self.pull))
        inputs = self.scores, self.truth, self.features, self.offset, self.direction, self.shares
        value = logits.tempered_loss(*inputs, x, self.multilabel, slope, hessian)
        return value + 0.5 * self.pull * float(x @ x), slope, hessian


def _newton(problem: _Problem, x: Array) -> tuple[Array, float]:
    """Newton's method with steps halved until the loss falls."""
    value, slope, curvature = problem(x)
    for _ in range(_MAX_STEPS):
        try:
            step = -np.linalg.solve(curvature, slope)
        except np.linalg.LinAlgError:  # where huge weights leave nothing of the prior
            step = -np.linalg.lstsq(curvature, slope)[0]
        step *= min(1.0, 3.0 / max(np.abs(step).max(), 1e-300))
        gain = -slope @ step
        if gain < 1e-9:
            break
        for _ in range(30):
            new = problem(x + step)
            if new[0] <= value - 1e-4 * gain:
                break
            step, gain = step / 2, gain / 2
        else:
            break
        x = x + step
        value, slope, curvature = new
    return x, value
