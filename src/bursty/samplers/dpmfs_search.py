"""Search during burn-in: splits and merges of clusters, each followed by sweeps; the most probable state is kept.

Words and numbers of fresh tokens adapt to the clusters that there are. Given both, nearly every split or merge looks
bad, and is refused by `bursty.kernels.dpmfs_splits`, even if it would be better once they have adapted. Here a chain
tries some of them, lets each adapt for a few sweeps, and goes on from the best, or as it was.

That is no step of a sampler: it does not leave the posterior as it is. It chooses where a chain starts, and belongs
into sweeps that do not count. Every chain searches by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from bursty.kernels import dpmfs_labels, dpmfs_splits, streams
from bursty.samplers import dpmfs, dpmfs_draws
from bursty.samplers.dpmfs import Chosen, DPMFSData, State
from bursty.typing import Array

#: One sweep of the sampler: from a state and the number of the sweep to a state.
Step = Callable[[State, int], State]

#: Merges and splits that are tried, sweeps after each, and how many of the last of these are compared.
MERGES, SPLITS, SWEEPS, JUDGED = 2, 2, 8, 3
# Restricted scans that divide a cluster, and the most pairs of clusters whose merge is looked at.
_SCANS, _MOST_PAIRS = 4, 200


def search(problem: DPMFSData, state: State, step: Step, seed: int, number: int) -> State:
    """Go on as it is, and from some merges and splits, for some sweeps; the state with the largest log joint is kept.

    Compared are means over the last of these sweeps. ``number`` is the key of the random streams.
    """
    rng = dpmfs_draws.generator(seed, number, "search")
    best, found = -np.inf, state
    for place, labels in enumerate(_candidates(problem, state, rng)):
        other, values = replace(state, labels=labels), []
        first = streams.SEARCH + (number * (1 + MERGES + SPLITS) + place) * SWEEPS
        for i in range(SWEEPS):
            other = step(other, first + i)
            values.append(dpmfs.log_joint(problem, other))
        if np.mean(values[-JUDGED:]) > best:
            best, found = float(np.mean(values[-JUDGED:])), other
    return found


def _candidates(problem: DPMFSData, state: State, rng: np.random.Generator) -> Iterator[Array]:
    """The present labels, and those after a merge or a split that constraints allow."""
    units, chosen = problem.units, Chosen.of(problem, state)
    labels = units.labels(state.labels)
    documents, prior = chosen.documents(problem), state.prior(problem, chosen.lam)
    sizes = units.sizes(labels)
    free = np.setdiff1d(np.flatnonzero(sizes), labels[units.held.astype(bool)])
    yield state.labels
    for first, second in _best_merges(documents, prior, labels, sizes, free, rng):
        yield units.expand(np.where(labels == second, first, labels).astype(labels.dtype))
    room = np.count_nonzero(sizes) < problem.limit
    dividable = free[np.bincount(labels, minlength=len(sizes))[free] > 1] if room else free[:0]
    share = sizes[dividable] / max(1, sizes[dividable].sum())
    for cluster in rng.choice(dividable, min(SPLITS, len(dividable)), replace=False, p=share) if len(dividable) else ():
        yield units.expand(_divide(documents, prior, labels, sizes, int(cluster), rng))


def _best_merges(
    documents: Any, prior: Any, labels: Array, sizes: Array, free: Array, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """The pairs of clusters whose merge costs least, given words and t as they are."""
    pairs = [(int(a), int(b)) for a, b in combinations(free, 2)]
    if len(pairs) > _MOST_PAIRS:
        pairs = [pairs[i] for i in np.sort(rng.choice(len(pairs), _MOST_PAIRS, replace=False))]
    pairs = [pair for pair in pairs if dpmfs_splits.may_merge(documents, labels, *pair)]
    weights = np.tile(prior.lam, (len(sizes), 1))
    dpmfs_labels.tally_component(documents.indptr, documents.slots, documents.tables, labels, False, weights)
    n_merged = int(np.count_nonzero(sizes)) - 1

    def cost(pair: tuple[int, int]) -> float:
        both = list(pair)
        sides = dpmfs_splits.Sides(weights[both], weights[both].sum(axis=1), sizes[both].astype(np.float64))
        return float(dpmfs_splits.log_ratio(sides, prior, n_merged))

    return sorted(pairs, key=cost)[:MERGES]


def _divide(documents: Any, prior: Any, labels: Array, sizes: Array, cluster: int, rng: np.random.Generator) -> Array:
    """Labels after a split around two random rows of the cluster, by restricted scans."""
    rows = rng.permutation(np.flatnonzero(labels == cluster))
    anchors, members = rows[:2], rows[2:]
    sides = dpmfs_splits.Sides(
        np.tile(prior.lam, (2, 1)), np.full(2, prior.lam_total), documents.mass[anchors].astype(np.float64)
    )
    for side, anchor in enumerate(anchors):
        dpmfs_splits.put(anchor, documents, 1, side, sides)
    place, no_goal = np.zeros(len(members), dtype=np.int64), np.zeros(0, dtype=np.int64)
    key, step, draw = np.uint64(rng.integers(2**62)), np.uint64(0), 0
    for number in range(_SCANS + 1):
        args = members, place, no_goal, number == 0, documents, prior, sides, key, step, draw
        _, draw = dpmfs_splits.scan(*args)
    new = labels.copy()
    new[anchors[1]] = new[members[place == 1]] = np.flatnonzero(np.append(sizes, 0) == 0)[0]
    return new
