"""Bayes' rule in logarithms, for all documents and components."""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.typing import Array


@kernel
def join(log_prob, log_weights, inverse_temperatures, largest, start, stop):
    """Turn log-probabilities into joint ones of document and component, minus the largest of each document.

    Equivalent to ``joint = log_prob / T[:, None] + log_weights; largest = joint.max(axis=1)`` and
    ``log_prob = joint - largest``. A document that is impossible under every component gets the mixing weights.
    """
    n_components = log_prob.shape[1]
    for row in range(start, stop):
        joint, inverse_temperature = log_prob[row], inverse_temperatures[row]
        most = -math.inf
        for k in range(n_components):
            joint[k] = joint[k] * inverse_temperature + log_weights[k]
            most = max(most, joint[k])
        largest[row] = most
        for k in range(n_components):
            joint[k] = joint[k] - most if most > -math.inf else log_weights[k]


@kernel
def share_out(joint, log_evidence, start, stop):
    """Divide the row of each document by its sum, and add the logarithm of the sum to its evidence."""
    for row in range(start, stop):
        total = 0.0
        for k in range(joint.shape[1]):
            total += joint[row, k]
        inverse = 1.0 / total
        for k in range(joint.shape[1]):
            joint[row, k] *= inverse
        log_evidence[row] += math.log(total)


def posterior(log_prob: Array, log_weights: Array, temperature: float | Array = 1.0) -> tuple[Array, Array]:
    """Responsibilities (overwriting ``log_prob``) and log-evidence of each document, at a temperature (or one each).

    The temperature divides the log-probabilities only, not the log-weights ([Elkan2006] eq. 7).
    """
    log_evidence = np.empty(len(log_prob))
    inverse = np.full(len(log_prob), 1.0 / np.asarray(temperature, dtype=np.float64))
    edges = threads.block_edges(log_prob)

    def blocks(start: int, stop: int) -> None:
        own = int(edges[start]), int(edges[stop])
        join(log_prob, log_weights, inverse, log_evidence, *own)
        # The vectorised exponential of NumPy is faster than one in the loop.
        threads.apply_blocks(np.exp, edges, start, stop, log_prob, log_prob)
        share_out(log_prob, log_evidence, *own)

    threads.run(blocks, edges * np.int64(log_prob.shape[1]))
    return log_prob, log_evidence


@kernel
def find_places(resp, places, start, stop):
    """The component of each document that has most of it, the first of ties, and its share: D x 2.

    Equivalent to ``places[:, 0] = resp.argmax(axis=1); places[:, 1] = resp.max(axis=1)``.
    """
    for row in range(start, stop):
        best, most = 0, resp[row, 0]
        for k in range(1, resp.shape[1]):
            if resp[row, k] > most:
                best, most = k, resp[row, k]
        places[row, 0] = best
        places[row, 1] = most
