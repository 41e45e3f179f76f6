"""A sampler of the same posterior that mixes better: collapsed, with splits and merges, and all words in every sweep.

A sweep draws every word's indicator from its conditional, proposes splits and merges (Jain and Neal 2004), draws every
document's label from its conditional (Neal 2000, algorithm 3), and then alpha and the other learned hyperparameters.
With DCM components it also draws the parameters of the components, and given these every label and t together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bursty.kernels import dpmfs_bursts, dpmfs_labels, dpmfs_lam, dpmfs_splits, dpmfs_words, random, streams
from bursty.samplers import dpmfs, dpmfs_draws
from bursty.samplers.dpmfs import Chosen, DPMFSData, Info, State, Sums
from bursty.typing import Array


@dataclass(frozen=True)
class Steps:
    """Number of splits or merges proposed per sweep, and of restricted scans for each.

    In the first ``held`` sweeps gamma and omega do not change: given all documents in one cluster, words would be
    chosen for how bursty they are, and clusters for these words.
    """

    splits: int = 5
    scans: int = 3
    held: int = 0


def sweep(problem: DPMFSData, state: State, steps: Steps, seed: int, number: int) -> tuple[State, Info]:
    """Words, splits, labels, hyperparameters; ``number`` is the key of the sweep's random streams."""
    words, log_odds = 0.0, None
    if number >= steps.held:
        state, words, log_odds = _draw_words(problem, state, seed, number)
    chosen = Chosen.of(problem, state)
    state, splits = _draw_splits(problem, state, chosen, steps, seed, number)
    state, labels = _draw_labels(problem, state, chosen, seed, number)
    if problem.learn_alpha:
        state = dpmfs_draws.draw_alpha(problem, state, seed, number)
    if problem.omega_prior and number >= steps.held:
        state = dpmfs_draws.draw_omega(problem, state, seed, number)
    if problem.lam_prior:
        state = _draw_scale(problem, state, seed, number)
    if state.own is not None:
        state = _draw_own(problem, state, seed, number)
    if problem.bursty:
        sums = Sums.of(problem, state, int(state.labels.max()) + 1)
        chosen = Chosen.of(problem, state)
        labels_of_units = problem.units.labels(state.labels)
        log_eta, _ = dpmfs_draws.draw_components(chosen, labels_of_units, len(sums.sizes), seed, number)
        state = _draw_seats(problem, state, chosen, log_eta, seed, number)
        log_noise = dpmfs_draws.draw_noise(problem, state, sums.word_totals, seed, number)
        state = dpmfs_draws.draw_bursts(problem, state, log_eta, log_noise, chosen.slot, seed, number)
    return state, Info(words, labels, splits, log_odds)


def _draw_words(problem: DPMFSData, state: State, seed: int, number: int) -> tuple[State, float, Array]:
    sums = Sums.of(problem, state, int(state.labels.max()) + 1)
    draws = np.empty(problem.n_words)
    random.uniforms(seed, number, streams.WORDS, draws)
    words = np.arange(problem.n_words)
    chosen, log_odds = dpmfs.flip_words(problem, state, sums, words, draws, gibbs=True)
    return replace(state, chosen=chosen), float(np.mean(chosen != state.chosen)), log_odds


def _draw_splits(
    problem: DPMFSData, state: State, chosen: Chosen, steps: Steps, seed: int, number: int
) -> tuple[State, float]:
    units = problem.units
    if len(units.mass) < 2 or steps.splits == 0:
        return state, 0.0
    labels, accepted = units.labels(state.labels), 0
    documents, prior = chosen.documents(problem), state.prior(problem, chosen.lam)
    sizes = units.sizes(labels, int(labels.max()) + 1 + steps.splits)
    members = np.empty(len(labels), dtype=np.int64)
    for i in range(steps.splits):
        name = streams.SPLITS + i
        accepted += dpmfs_splits.split_or_merge(
            documents, prior, labels, sizes, steps.scans, seed, number, name, members
        )
    return replace(state, labels=units.expand(labels)), accepted / steps.splits


def _draw_labels(problem: DPMFSData, state: State, chosen: Chosen, seed: int, number: int) -> tuple[State, float]:
    units = problem.units
    labels, start, moves = units.labels(state.labels), 0, 0
    documents, prior = chosen.documents(problem), state.prior(problem, chosen.lam)
    lengths = np.diff(np.append(0, np.cumsum(chosen.tables, dtype=np.int64))[chosen.indptr])
    while start < len(labels):
        # A quarter more columns than components, as room for new ones.
        n_columns = int(labels.max()) + 1
        n_columns += 8 + n_columns // 4
        weights = np.repeat(chosen.lam[:, None], n_columns, axis=1)
        dpmfs_labels.tally_component(chosen.indptr, chosen.slots, chosen.tables, labels, True, weights)
        sizes = units.sizes(labels, n_columns)
        totals = np.bincount(labels, weights=lengths, minlength=n_columns) + prior.lam_total
        scratch = np.empty((2, n_columns))
        start, moved = dpmfs_labels.gibbs(
            start, documents, prior, labels, sizes, weights, totals, seed, number, scratch
        )
        moves += moved
    return replace(state, labels=units.expand(labels)), moves / len(labels)


def _draw_seats(problem: DPMFSData, state: State, chosen: Chosen, log_eta: Array, seed: int, number: int) -> State:
    """Draw every document's label among the occupied components given their parameters, with its t summed out.

    Together with the draw of t that follows, this draws label and t of a document at once: its t does not hold it where
    it is.
    """
    units, n_components = problem.units, len(log_eta)
    labels = units.labels(state.labels)
    sizes = units.sizes(labels, n_components)
    log_fresh, occupied = np.zeros(log_eta.T.shape), sizes > 0  # the others have not been drawn
    log_fresh[:, occupied] = math.log(state.burst[0]) + log_eta[occupied].T
    scores = np.empty((problem.n_documents, n_components))
    documents = dpmfs_bursts.LabelledDocuments(problem.indptr, problem.words, problem.counts, state.labels)
    dpmfs_bursts.log_prob(documents, chosen.slot, np.exp(log_fresh), log_fresh, scores)
    rows, prior = chosen.documents(problem), state.prior(problem, chosen.lam)
    dpmfs_labels.reseat(units.add(scores), rows, prior, labels, sizes, seed, number, streams.SEATS)
    return replace(state, labels=units.expand(labels))


def _draw_scale(problem: DPMFSData, state: State, seed: int, number: int) -> State:
    """Draw the factor of lambda, with the components integrated out."""
    sums = Sums.of(problem, replace(state, scale=1.0), int(state.labels.max()) + 1)

    def log_density(scale: float) -> float:
        scaled = replace(sums, sums=sums.sums * [scale, scale, 1.0])
        prior = dpmfs_draws.log_scale_prior(scale, problem.lam_prior)
        return prior + dpmfs.log_components(problem, replace(state, scale=scale), scaled)

    rng = dpmfs_draws.generator(seed, number, "scale")
    return replace(state, scale=dpmfs_draws.slice_log(state.scale, log_density, rng))


def _draw_own(problem: DPMFSData, state: State, seed: int, number: int) -> State:
    """Draw each word's own factor of lambda, with the components integrated out."""
    assert state.own is not None
    sums, own = Sums.of(problem, state, int(state.labels.max()) + 1), state.own.copy()
    clusters = dpmfs_words.ClusterSums(state.labels, sums.sizes, sums.totals, np.zeros(len(sums.sizes)))
    base, cells = problem.lam * state.scale, sums.cells(problem)
    dpmfs_lam.draw_integrated(own, base, state.chosen, sums.sums, cells, clusters, seed, number, streams.LAMBDA)
    return replace(state, own=own)
