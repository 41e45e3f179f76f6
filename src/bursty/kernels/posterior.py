"""Bayes' rule in logarithms, for all documents and components."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def soft_max(log_prob, log_weights, inverse_temperature, log_evidence, start, stop):
    """Turn log-probabilities into responsibilities, in place, for the documents from start to stop.

    Equivalent to ``joint = log_prob / T + log_weights; log_evidence = logsumexp(joint); log_prob = exp(joint -
    log_evidence)``, row by row. A document that no component can make gets the mixing weights.
    """
    n_components = log_prob.shape[1]
    for row in range(start, stop):
        joint = log_prob[row]
        largest = -math.inf
        for k in range(n_components):
            joint[k] = joint[k] * inverse_temperature + log_weights[k]
            largest = max(largest, joint[k])
        if largest == -math.inf:
            for k in range(n_components):
                joint[k] = math.exp(log_weights[k])
            log_evidence[row] = -math.inf
            continue
        total = 0.0
        for k in range(n_components):
            joint[k] = math.exp(joint[k] - largest)
            total += joint[k]
        inverse = 1.0 / total
        for k in range(n_components):
            joint[k] *= inverse
        log_evidence[row] = largest + math.log(total)


def posterior(log_prob: Array, log_weights: Array, temperature: float = 1.0) -> tuple[Array, Array]:
    """Responsibilities (in place of ``log_prob``) and the log-evidence of each document, at a temperature.

    The temperature divides the log-probabilities only, not the log-weights ([Elkan2006] eq. 7).
    """
    log_evidence = np.empty(len(log_prob))
    cost = np.arange(len(log_prob) + 1) * np.int64(10 * log_prob.shape[1])
    threads.run(soft_max, cost, log_prob, log_weights, 1.0 / temperature, log_evidence)
    return log_prob, log_evidence
