"""Bayes' rule refined: a linear model of discriminative words, beside the urns.

Urns are fitted to each class separately, and their evidence is added up as if words were independent. A model that is
fitted to discriminate between the classes does better. This one is a multinomial logistic regression. Its features are
the square roots of the counts, each word weighted by how much the urns of the classes differ in it, scaled to length
one:

    g_w^2 = sum_k pi_k (log alpha'_kw - sum_j pi_j log alpha'_jw)^2
    phi_w(x) = g_w sqrt(x_w) / |g sqrt(x)|
    minimise  sum_d log loss(y_d, b + phi(x_d) B) + |B|^2 / (2 C)

The refined model is the product of the two, each to a power that is learned from held-out documents:

    log p(k | x) = u log p_urns(k | x) + v (b_k + sum_w phi_w(x) B_wk) + const

u = 1, v = 0 is Bayes' rule. The powers minimise the log loss of documents that neither model was fitted to (their
smoothing and temperature were chosen on the same ones), with a penalty towards u = 0.2, v = 1.5 that is worth 30
documents: few documents cannot decide between two models, and these values were best on the collections on which the
default was chosen. The model does not become certain if all held-out documents are classified correctly: as in Platt's
calibration, two documents with a random class are added. Both models are sums over words, and so is their product.

Some documents have a wrong label, or no word that indicates their class, and the words do not say which ones:

    p'(k | x) = (1 - e) p(k | x) + e / K

The share e of such documents is the one that makes the held-out documents most probable, under a prior worth half a
document. It bounds the loss of a single document, and changes no decision. The weights g are computed from all
documents; they are the same for all classes, so that they do not reveal the class of a held-out document.

| symbol | name | shape |
|---|---|---|
| g | ``word_weights`` | W |
| B | ``coefficients`` | W x K |
| b | ``intercepts`` | K |
| u, v | ``powers`` | 2 |
| e | ``stray_share`` | |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import logsumexp

from bursty.engines import Chunk
from bursty.kernels import threads
from bursty.models.classify.heldout import Sample
from bursty.models.classify.labels import Targets
from bursty.models.classify.logistic import Objective, log_loss, minimise, side_by_side
from bursty.storage.schema import floats, number, storable
from bursty.typing import Array

#: C, the inverse strength of the penalty. The powers compensate for a C that is too large or too small.
INVERSE_STRENGTH = 100.0
#: Gain of a step, in log loss per document, at which the fit ends, and maximum number of steps.
TOLERANCE, MAX_STEPS = 1e-4, 100
#: Prior values of the powers of urns and linear model, and how many documents they are worth.
EXPECTED_POWERS, EXPECTED_WEIGHT = np.array([0.2, 1.5]), 30.0
#: Largest number of coefficients, words times classes: fitting takes about 400 bytes for each, 2 GB at most.
MOST_COEFFICIENTS = 5_000_000
#: Number of held-out documents that is enough to learn two numbers: no more folds are used.
ENOUGH_HELD_OUT = 1_000
#: Number of documents of random class that are added to those held out.
RANDOM_DOCUMENTS = 2.0
#: Prior number of documents that no word explains, and number of EM steps for their share.
STRAY_DOCUMENTS, STRAY_STEPS = 0.5, 50


@storable(
    "Refinement",
    word_weights=floats("n_words", low=0),
    coefficients=floats("n_words", "C"),
    intercepts=floats("C"),
    powers=floats(2, low=0),
    stray_share=number(low=0, high=1),
)
@dataclass(frozen=True)
class Refinement:
    """The linear model, and the weights of it and of the urns.

    Attributes
    ----------
    word_weights : ndarray of shape (n_words,)
    coefficients : ndarray of shape (n_words, n_classes)
    intercepts : ndarray of shape (n_classes,)
    powers : ndarray of shape (2,)
        Powers of the probabilities of the urns, and of the linear model.
    stray_share : float
        Share of documents whose label has nothing to do with their words.
    """

    word_weights: Array
    coefficients: Array
    intercepts: Array
    powers: Array
    stray_share: float = 0.0

    def linear(self, counts: sp.csr_array) -> Array:
        """Scores of the linear model: documents x classes; NaN for a document without any word of non-zero weight."""
        rows = Chunk(features(counts, self.word_weights))
        scores = rows.tokens(self.coefficients) + self.intercepts
        scores[rows.row_sums(rows.values) == 0] = np.nan
        return scores

    def combine(self, logits: Array, linear: Array) -> Array:
        """Logits of the refined model, from those of the urns and of the linear model.

        Documents without any word of non-zero weight are left to the urns: an empty document gets the prior.
        """
        urns = self.powers[0] * logits if self.powers[0] > 0 else 0.0  # not 0 times infinity
        return np.where(np.isnan(linear), logits, urns + self.powers[1] * linear)

    def allow_for_strays(self, log_proba: Array) -> Array:
        """Log-probabilities of the classes if some labels have nothing to do with the words."""
        if self.stray_share == 0.0:
            return log_proba
        chance = np.log(self.stray_share / log_proba.shape[1])
        with np.errstate(divide="ignore"):  # where all of them are strays
            return np.logaddexp(np.log1p(-self.stray_share) + log_proba, chance)

    def parts(self, counts: sp.csr_array) -> tuple[Array, Array]:
        """Contributions of the first occurrence and of the repeats of each word to the refined logits of a document."""
        values = features(counts, self.word_weights)
        whole = self.powers[1] * values.data[:, None] * self.coefficients[values.indices]
        first = whole / np.sqrt(np.maximum(counts.data, 1.0))[:, None]
        return first, whole - first


class TrainingDocuments(Sample):
    """The documents that a refinement is fitted to: all of them, or a random sample of a large collection."""

    most = 20_000

    @classmethod
    def from_chunk(cls, chunk: Chunk, offset: int, targets: Targets, weights: Array) -> TrainingDocuments:
        """The training documents of a chunk whose first document is number ``offset``."""
        return cls.of(chunk.counts, targets, weights, offset)


def word_weights(table: Array, class_sizes: Array) -> Array:
    """How much classes differ in each word: the standard deviation of the logarithms of their parameters."""
    shares, result = class_sizes / class_sizes.sum(), np.zeros(len(table))
    for start in range(0, len(table), threads.BLOCK):
        rows = table[start : start + threads.BLOCK]
        logs = np.log(np.where(rows > 0, rows, 1.0))
        logs -= (logs @ shares)[:, None]
        result[start : start + threads.BLOCK] = np.where((rows > 0).all(axis=1), np.sqrt(logs**2 @ shares), 0.0)
    return result


def features(counts: sp.csr_array, weights: Array) -> sp.csr_array:
    """Square roots of the counts, weighted, in rows of length one; rows of zeros are left unchanged."""
    values = np.sqrt(counts.data) * weights[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=counts.shape[0]))
    values /= np.where(norms > 0, norms, 1.0)[rows]
    return sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def refine(
    documents: Sample, folds: Sequence[Array], logits: Array, weights: Array, n_classes: int
) -> Refinement | None:
    """Fit the linear model to some documents, and the other numbers to the documents held out from the urns.

    Parameters
    ----------
    documents : Sample
        The documents to which the linear model is fitted.
    folds : list of arrays
        Keys (`Sample.keys`) of the documents that were held out together.
    logits : array of shape (n_held_out, n_classes)
        Logits of the urns for these documents, fold after fold.
    weights : array of shape (n_words,)
        How much classes differ in each word.
    """
    codes = documents.targets.codes
    assert codes is not None
    used = np.flatnonzero((np.bincount(documents.counts.indices, minlength=len(weights)) > 0) & (weights > 0))
    lacking = np.any(np.bincount(codes[documents.weights > 0], minlength=n_classes) == 0)
    if lacking or not 0 < len(used) * n_classes <= MOST_COEFFICIENTS:
        return None
    rows = sp.csr_array(features(documents.counts, weights)[:, used])
    problem = linear_problem(rows, codes, documents.weights, n_classes)
    held_out: list[Array] = []
    for keys in folds:
        if sum(len(rows_of_fold) for rows_of_fold in held_out) >= ENOUGH_HELD_OUT:
            break
        held_out.append(np.flatnonzero(np.isin(documents.keys, keys)))  # in the order of the stream, like the keys
    others = [problem.without(rows_of_fold) for rows_of_fold in held_out]
    found = minimise(others, problem.zero(), TOLERANCE, MAX_STEPS)
    scores = side_by_side([part.scores(vector) for part, vector in zip(others, found, strict=True)])
    linear = [part[rows_of_fold] for part, rows_of_fold in zip(scores, held_out, strict=True)]
    # The solutions without a fold are close to the one for all documents.
    best = problem.solution(minimise([problem], np.mean(found, axis=0), TOLERANCE, MAX_STEPS)[0])
    order = np.concatenate(held_out)
    experts, truth, counted = (logits[: len(order)], np.concatenate(linear)), codes[order], documents.weights[order]
    powers = fit_powers(*experts, truth, counted)
    stray_share = fit_stray_share(powers[0] * experts[0] + powers[1] * experts[1], truth, counted)
    coefficients = np.zeros((len(weights), n_classes))
    coefficients[used] = best[1:]
    return Refinement(weights, coefficients, best[0].copy(), powers, stray_share)


def linear_problem(rows: sp.csr_array, codes: Array, weights: Array, n_classes: int) -> Objective:
    """The multinomial logistic regression to fit."""
    return Objective.of(Chunk(sp.csr_array(rows)), codes, weights, n_classes, INVERSE_STRENGTH)


def fit_powers(urns: Array, linear: Array, codes: Array, weights: Array) -> Array:
    """The powers that minimise the log loss of documents that neither model has seen."""
    experts, total = (urns, linear), weights.sum() + EXPECTED_WEIGHT
    noise = RANDOM_DOCUMENTS / (weights.sum() + RANDOM_DOCUMENTS)

    def objective(powers: Array) -> tuple[float, Array]:
        value, error = log_loss(powers[0] * urns + powers[1] * linear, codes, noise)
        away = powers - EXPECTED_POWERS
        slope = np.array([weights @ (error * expert).sum(axis=1) for expert in experts]) + EXPECTED_WEIGHT * away
        return float(weights @ value + 0.5 * EXPECTED_WEIGHT * away @ away) / total, slope / total

    return minimize(objective, EXPECTED_POWERS, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * 2).x


def fit_stray_share(logits: Array, codes: Array, weights: Array) -> float:
    """The share of documents whose class is random, by EM on held-out documents."""
    model = np.exp(logits[np.arange(len(codes)), codes] - logsumexp(logits, axis=1))
    chance, share = 1.0 / logits.shape[1], 0.01
    for _ in range(STRAY_STEPS):
        stray = share * chance / np.maximum((1.0 - share) * model + share * chance, 1e-300)
        share = (weights @ stray + STRAY_DOCUMENTS) / (weights.sum() + STRAY_DOCUMENTS)
    return float(share)
