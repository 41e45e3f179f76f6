"""Log losses of documents x classes, and their derivatives, in one pass over the logits.

| name | what | shape |
|---|---|---|
| scores | of the classes | D x K |
| truth | 1 where the document has the class | D x K |
| codes | the class of each document | D |
| shares | weights of the documents, which sum to one | D |
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels.compile import kernel


@kernel
def softmax(logits, proba):
    """Probabilities from logits; returns the logarithm of the normaliser."""
    largest = logits[0]
    for k in range(1, len(logits)):
        largest = max(largest, logits[k])
    total = 0.0
    for k in range(len(logits)):
        proba[k] = math.exp(logits[k] - largest)
        total += proba[k]
    for k in range(len(logits)):
        proba[k] /= total
    return largest + math.log(total)


@kernel
def logistic(logits, proba):
    """A probability for each logit; returns the sum of -log (1 - p)."""
    total = 0.0
    for k in range(len(logits)):
        rest = math.exp(-abs(logits[k]))
        proba[k] = (1.0 if logits[k] > 0.0 else rest) / (1.0 + rest)
        total += max(logits[k], 0.0) + math.log1p(rest)
    return total


@kernel
def tempered_loss(scores, truth, features, offset, direction, shares, x, multilabel, slope, curvature):
    """Log loss of tempered scores as a function of the four numbers x; its gradient is added to ``slope``.

    The logits are ``scores * exp(-features @ x[:3]) + offset + x[3] * direction``. A non-negative definite
    approximation of the Hessian is added to ``curvature``: that of the log-partition function, and what comes from the
    second derivative of the temperature where that is positive.
    """
    n_classes = scores.shape[1]
    heated, logits, proba = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    across, mixed = np.empty(4), np.empty(4)
    value = 0.0
    for d in range(len(scores)):
        cold = 0.0
        for i in range(3):
            cold -= features[d, i] * x[i]
        heat = math.exp(min(max(cold, -50.0), 50.0))
        for k in range(n_classes):
            heated[k] = scores[d, k] * heat
            logits[k] = heated[k] + offset[k] + x[3] * direction[k]
        loss = logistic(logits, proba) if multilabel else softmax(logits, proba)
        error, tilt, second, cross, square, mean, mean_tilt = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(n_classes):
            loss -= truth[d, k] * logits[k]
            wrong = proba[k] - truth[d, k]
            error += wrong * heated[k]
            tilt += wrong * direction[k]
            spread = proba[k] * (1.0 - proba[k]) if multilabel else proba[k]
            second += spread * heated[k] * heated[k]
            cross += spread * heated[k] * direction[k]
            square += spread * direction[k] * direction[k]
            mean += proba[k] * heated[k]
            mean_tilt += proba[k] * direction[k]
        if not multilabel:
            second, cross, square = second - mean * mean, cross - mean * mean_tilt, square - mean_tilt * mean_tilt
        value += shares[d] * loss
        for i in range(3):
            across[i] = -error * features[d, i]
            mixed[i] = -cross * features[d, i]
        across[3], mixed[3] = tilt, square
        bend = second + max(error, 0.0)
        for i in range(4):
            slope[i] += shares[d] * across[i]
        curvature[3, 3] += shares[d] * mixed[3]
        for i in range(3):
            curvature[3, i] += shares[d] * mixed[i]
            curvature[i, 3] += shares[d] * mixed[i]
            for j in range(3):
                curvature[i, j] += shares[d] * bend * features[d, i] * features[d, j]
    return value


@kernel
def log_losses(scores, ahead, length, codes, shares, errors):
    """Weighted log loss of ``scores + length * ahead``, and its derivative in the length.

    ``errors`` gets the gradient in the scores: probabilities minus the truth, times the shares.
    """
    logits = np.empty(scores.shape[1])
    value, change = 0.0, 0.0
    for d in range(len(scores)):
        for k in range(len(logits)):
            logits[k] = scores[d, k] + length * ahead[d, k]
        value += shares[d] * (softmax(logits, errors[d]) - logits[codes[d]])
        errors[d, codes[d]] -= 1.0
        for k in range(len(logits)):
            errors[d, k] *= shares[d]
            change += errors[d, k] * ahead[d, k]
    return value, change
