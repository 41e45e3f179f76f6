"""The sampler of [Yu2010] section 5: Metropolis flips of words, Dirichlet draws, Metropolis steps of labels.

A sweep is one iteration, steps 2 to 5. Parameters of empty components are drawn when the component is proposed, from a
stream of their own, so that the chain is the same as if all N were drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from bursty.kernels import dpmfs_labels, dpmfs_lam, random, streams, variates
from bursty.samplers import dpmfs, dpmfs_draws
from bursty.samplers.dpmfs import Chosen, DPMFSData, Info, State, Sums
from bursty.typing import Array


@dataclass(frozen=True)
class Steps:
    """R1 and R2: number of proposals per sweep for the words, and for each document."""

    words: int = 5
    labels: int = 5


def sweep(problem: DPMFSData, state: State, steps: Steps, seed: int, number: int) -> tuple[State, Info]:
    """One iteration; ``number`` is the key of its random streams."""
    assert problem.most is not None
    n_components = problem.most
    sums = Sums.of(problem, state, n_components)
    draws = np.empty((2, steps.words))
    random.uniforms(seed, number, streams.WORDS, draws[0])
    random.uniforms(seed, number, streams.WORDS + 1, draws[1])
    words = (draws[0] * problem.n_words).astype(np.int64)
    chosen, _ = dpmfs.flip_words(problem, state, sums, words, draws[1], gibbs=False)
    changed = int(np.count_nonzero(chosen != state.chosen))
    state = replace(state, chosen=chosen)
    documents = Chosen.of(problem, state)
    log_eta, drawn = dpmfs_draws.draw_components(documents, state.labels, n_components, seed, number)
    labels = state.labels.copy()
    prior = state.prior(problem, documents.lam)
    accepted = dpmfs_labels.metropolis(
        documents.documents(problem), prior, labels, steps.labels, log_eta, drawn, seed, number, streams.COMPONENTS
    )
    state = replace(state, labels=labels)
    if problem.bursty or problem.lam_prior:
        log_noise = dpmfs_draws.draw_noise(problem, state, sums.word_totals, seed, number)
        if problem.lam_prior:
            _draw_empty(documents, log_eta, drawn, seed, number)
            state = draw_lam(problem, state, log_eta, log_noise, seed, number)
        if problem.bursty:
            state = dpmfs_draws.draw_bursts(problem, state, log_eta, log_noise, documents.slot, seed, number)
    if problem.learn_alpha:
        state = dpmfs_draws.draw_alpha(problem, state, seed, number)
    if problem.omega_prior:
        state = dpmfs_draws.draw_omega(problem, state, seed, number)
    moves = max(1, steps.labels * int(np.count_nonzero(problem.held == 0)))
    return state, Info(changed / max(1, steps.words), accepted / moves)


def _draw_empty(documents: Chosen, log_eta: Array, drawn: Array, seed: int, number: int) -> None:
    """Draw the parameters of the components that no document has, or has been proposed."""
    for k in np.flatnonzero(drawn == 0):
        log_eta[k] = documents.lam
        variates.log_dirichlet(log_eta[k], seed, number, streams.COMPONENTS + int(k))


def draw_lam(problem: DPMFSData, state: State, log_eta: Array, log_noise: Array, seed: int, number: int) -> State:
    """Draw lambda given the parameters of all N components and of the noise ([Yu2010] eq. 17).

    Its factor, and each word's own where these are learned.
    """
    inside = state.chosen.astype(bool)
    shape = replace(state, scale=1.0).lam(problem)
    sides = [(shape[inside], log_eta.sum(axis=0), len(log_eta)), (shape[~inside], log_noise[~inside], 1)]

    def log_density(scale: float) -> float:
        total = dpmfs_draws.log_scale_prior(scale, problem.lam_prior)
        for lam, log_values, copies in sides:
            if len(lam):
                total += copies * float(gammaln(scale * lam.sum()) - gammaln(scale * lam).sum())
                total += scale * float(lam @ log_values)
        return total

    # The more words, the narrower the density.
    width = 1.0 / math.sqrt(1.0 + len(log_eta) * np.count_nonzero(inside))
    rng = dpmfs_draws.generator(seed, number, "scale")
    state = replace(state, scale=dpmfs_draws.metropolis_log(state.scale, log_density, rng, width=width))
    if state.own is None:
        return state
    own, log_values, lam = state.own.copy(), log_noise.copy(), state.lam(problem)
    log_values[inside] = log_eta.sum(axis=0)
    sums, base = np.array([lam[inside].sum(), lam[~inside].sum()]), problem.lam * state.scale
    dpmfs_lam.draw_given(own, base, state.chosen, sums, float(len(log_eta)), log_values, seed, number, streams.LAMBDA)
    return replace(state, own=own)
