"""Draws that both samplers of DPMFS share: parameters of components, numbers of fresh tokens, hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from bursty.kernels import dpmfs_bursts, dpmfs_labels, streams, variates
from bursty.samplers.dpmfs import (
    BURST_SHARES,
    LOG_BURST,
    Chosen,
    DPMFSData,
    State,
    Sums,
    log_partition,
)
from bursty.typing import Array

# Prior standard deviations of log s and of the logarithm of the factor of lambda.
_BURST_SPREAD = 3.0
_SCALE_SPREAD = 1.0
# Logarithms of hyperparameters stay within this; their priors leave nothing beyond.
_FARTHEST = 50.0
# omega stays this far from 0 and 1, where no word, or every word, would be chosen for ever.
_OMEGA_EDGE = 1e-9


def draw_components(chosen: Chosen, labels: Array, n_components: int, seed: int, number: int) -> tuple[Array, Array]:
    """Draw log-probabilities of the chosen words in the occupied components, and flag these ([Yu2010] eq. 13)."""
    log_eta = np.empty((n_components, len(chosen.lam)))
    drawn = np.zeros(n_components, dtype=np.uint8)
    occupied = np.unique(labels)
    drawn[occupied] = 1
    log_eta[occupied] = chosen.lam
    dpmfs_labels.tally_component(chosen.indptr, chosen.slots, chosen.tables, labels, False, log_eta)
    for k in occupied:
        variates.log_dirichlet(log_eta[k], seed, number, streams.COMPONENTS + int(k))
    return log_eta, drawn


def draw_noise(problem: DPMFSData, state: State, word_totals: Array, seed: int, number: int) -> Array:
    """Draw log-probabilities of the words that are not chosen, which all documents share ([Yu2010] eq. 16)."""
    log_eta = np.zeros(problem.n_words)
    noise = np.flatnonzero(state.chosen == 0)
    values = word_totals[noise] + state.lam(problem)[noise]
    variates.log_dirichlet(values, seed, number, streams.NOISE)
    log_eta[noise] = values
    return log_eta


def draw_bursts(
    problem: DPMFSData, state: State, log_eta: Array, log_noise: Array, slot: Array, seed: int, number: int
) -> State:
    """Draw t of every cell given the probabilities of the components, then s given t."""
    tables = np.empty_like(problem.counts)
    documents = dpmfs_bursts.LabelledDocuments(problem.indptr, problem.words, problem.counts, state.labels)
    urns = dpmfs_bursts.BurstUrns(slot, log_eta, log_noise, np.log(state.burst))
    dpmfs_bursts.draw_tables(documents, urns, seed, number, streams.TABLES, tables)
    state = replace(state, tables=tables)
    rng = generator(seed, number, "burst")
    sums = Sums.of(problem, state, int(state.labels.max()) + 1)
    fresh = float(sums.totals.sum()), float(sums.sums[2])
    sides = [np.unique(lengths, return_counts=True) for lengths in (sums.inside, sums.outside)]

    def log_density(s: float) -> float:
        value = -0.5 * ((math.log(s) - LOG_BURST) / _BURST_SPREAD) ** 2
        for (lengths, copies), n_fresh, share in zip(sides, fresh, BURST_SHARES * s, strict=True):
            value += n_fresh * math.log(share) + float(np.sum(copies * (gammaln(share) - gammaln(share + lengths))))
        return value

    return replace(state, burst=slice_log(float(state.burst.sum()), log_density, rng) * BURST_SHARES)


def metropolis_log(
    value: float, log_density: Callable[[float], float], rng: np.random.Generator, steps: int = 5, width: float = 0.5
) -> float:
    """A random walk on the logarithm of a positive number; the density is with respect to that logarithm."""
    current = log_density(value)
    for _ in range(steps):
        candidate = value * math.exp(width * rng.standard_normal())
        proposed = log_density(candidate)
        if math.log(1.0 - rng.random()) < proposed - current:
            value, current = candidate, proposed
    return float(value)


def slice_log(
    value: float, log_density: Callable[[float], float], rng: np.random.Generator, width: float = 0.3
) -> float:
    """One draw by slice sampling (Neal 2003) on the logarithm of a positive number, whatever the width of its density.

    The density is with respect to that logarithm; ``width`` is the step by which the interval grows.
    """
    here = math.log(value)
    level = log_density(value) + math.log(1.0 - rng.random())
    low = here - width * rng.random()
    high = low + width
    while low > -_FARTHEST and log_density(math.exp(low)) > level:
        low -= width
    while high < _FARTHEST and log_density(math.exp(high)) > level:
        high += width
    while True:
        candidate = low + (high - low) * rng.random()
        if candidate == here or log_density(math.exp(candidate)) >= level:
            return math.exp(candidate)
        low, high = (candidate, high) if candidate < here else (low, candidate)


def generator(seed: int, number: int, purpose: str) -> np.random.Generator:
    """The random stream for the few scalars of a sweep."""
    counter = np.array([0, 0, 0, ("burst", "alpha", "scale", "omega", "search").index(purpose)], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=np.array([seed, number], dtype=np.uint64), counter=counter))


def draw_alpha(problem: DPMFSData, state: State, seed: int, number: int) -> State:
    """Draw alpha given the partition, with an exponential prior of mean ``alpha_mean``."""
    sizes = state.sizes[state.sizes > 0]

    def log_density(alpha: float) -> float:
        return math.log(alpha) - alpha / problem.alpha_mean + log_partition(sizes, alpha, problem.most)

    alpha = metropolis_log(state.alpha, log_density, generator(seed, number, "alpha"))
    return replace(state, alpha=alpha)


def draw_omega(problem: DPMFSData, state: State, seed: int, number: int) -> State:
    """Draw omega given gamma: beta, as its prior."""
    assert problem.omega_prior is not None
    n_inside, (a, b) = int(np.count_nonzero(state.chosen)), problem.omega_prior
    omega = generator(seed, number, "omega").beta(a + n_inside, b + problem.n_words - n_inside)
    return replace(state, omega=float(np.clip(omega, _OMEGA_EDGE, 1.0 - _OMEGA_EDGE)))


def log_scale_prior(scale: float, kind: str | None) -> float:
    """Log prior density, with respect to log scale, of the factor of lambda: gamma of shape 1, or log-normal."""
    if kind == "gamma":
        return math.log(scale) - scale
    return -0.5 * (math.log(scale) / _SCALE_SPREAD) ** 2
