"""Posteriors of the components of a mixture: those of the E step, and those that labels and certainties come from.

    r_dk in proportion to mu_k p(x_d | k)^(1/T)           [Elkan2006] eq. 7

The temperature T divides the log-likelihood only, not the mixing weights. With ``tempering``, each document also has
its own, the root of the number of its distinct words: words are not independent evidence, and without it the posterior
of a long document would be overconfident.

| symbol | name | shape |
|---|---|---|
| r | responsibilities, ``resp`` | D x K, one chunk at a time |
| mu | mixing weights | K |
| T | temperature, of all documents or of each | |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bursty.engines import Chunk
from bursty.families.base import Family, Parameters
from bursty.kernels.posterior import posterior
from bursty.storage.schema import floats, part, storable
from bursty.typing import Array

# What `predict_proba` of tempered fits divides log-posteriors by: of 1, 1.5, 2, 3 and 4 the one with which certainties
# are right most nearly as often as they say, on eight collections (``python -m benchmarks.cluster_reliability``).
CALIBRATION = 4.0


@storable("State", weights=floats("K", low=0, sums=0), params=part(Parameters, K="K"))
@dataclass(frozen=True)
class MixtureState:
    """The components of a mixture: everything that the next step of EM needs."""

    params: Parameters
    weights: Array

    def reordered(self, order: Array) -> MixtureState:
        """The same state with the components in this order."""
        return MixtureState(self.params.reordered(order), self.weights[order])


def document_temperatures(chunk: Chunk) -> Array:
    """Root of the number of distinct words of each document, at least 1."""
    return np.sqrt(np.maximum(np.diff(chunk.indptr), 1.0))


def responsibilities(
    chunk: Chunk,
    labels: Array | None,
    family: Family[Any, Any],
    state: MixtureState,
    temperature: float = 1.0,
    tempering: bool = False,
) -> tuple[Array, Array]:
    """Posterior of each component (D x K) and log-evidence of each document, both at the temperature.

    A document with a label (0 or more) belongs to that component with certainty, and has its evidence.
    """
    heat = temperature * (document_temperatures(chunk) if tempering else np.ones(chunk.n_documents))
    return _share_out(family.log_prob(chunk, state.params), labels, state.weights, heat)


def certainties(
    chunk: Chunk, labels: Array | None, family: Family[Any, Any], state: MixtureState, tempering: bool
) -> tuple[Array, Array]:
    """The responsibilities that users see (calibrated if the fit is tempered), and log-evidence."""
    resp, log_evidence = responsibilities(chunk, labels, family, state, tempering=tempering)
    return _calibrated(chunk, resp, log_evidence) if tempering else resp, log_evidence


def _calibrated(chunk: Chunk, resp: Array, log_evidence: Array) -> Array:
    """Posteriors to the power of 1 / `CALIBRATION`.

    Those of documents that are empty, or impossible under all components, are the mixing weights, and stay.
    """
    known = (np.diff(chunk.indptr) > 0) & np.isfinite(log_evidence)
    powers = resp ** (1.0 / CALIBRATION)
    return np.where(known[:, None], powers / powers.sum(axis=1, keepdims=True), resp)


def _share_out(log_prob: Array, labels: Array | None, weights: Array, temperatures: Array) -> tuple[Array, Array]:
    """Bayes' rule; ``log_prob`` becomes the posterior."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    if labels is None or not np.any(labels >= 0):
        return posterior(log_prob, log_weights, temperatures)
    known = np.flatnonzero(labels >= 0)
    own = log_prob[known, labels[known]] / temperatures[known] + log_weights[labels[known]]
    resp, log_evidence = posterior(log_prob, log_weights, temperatures)
    resp[known] = 0.0
    resp[known, labels[known]] = 1.0
    log_evidence[known] = own
    return resp, log_evidence


class Places(NamedTuple):
    """The component of each document and its posterior, and those of the runner-up (-1: there is none)."""

    labels: Array
    probabilities: Array
    seconds: Array
    second_probabilities: Array

    @classmethod
    def of(cls, resp: Array, labels: Array | None = None) -> Places:
        """From posteriors; ``labels`` are where the documents are, unless it is where they most probably are."""
        rows = np.arange(len(resp))
        labels = resp.argmax(axis=1) if labels is None else labels
        if resp.shape[1] == 1:
            return cls(labels, resp[:, 0].copy(), np.full(len(resp), -1), np.zeros(len(resp)))
        others = resp.copy()
        others[rows, labels] = -1.0
        seconds = others.argmax(axis=1)
        return cls(labels, resp[rows, labels], seconds, others[rows, seconds])


def label(
    chunk: Chunk, labels: Array | None, family: Family[Any, Any], state: MixtureState, tempering: bool = False
) -> tuple[Array, ...]:
    """The `Places` of documents, whose posterior is tempered and calibrated, and their log-evidence, which is not."""
    log_prob = family.log_prob(chunk, state.params)
    own = log_prob.copy() if tempering else log_prob
    resp, log_evidence = _share_out(own, labels, state.weights, np.ones(len(log_prob)))
    if tempering:
        resp, _ = _share_out(log_prob, labels, state.weights, document_temperatures(chunk))
        resp = _calibrated(chunk, resp, log_evidence)
    return *Places.of(resp), log_evidence
