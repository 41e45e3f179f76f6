"""Starts of EM: k-means in a space that suits the data, a perturbed one-component fit, or given responsibilities.

Each start is a function ``(problem, rng) -> MixtureState``. A new one is one function and one line in `STARTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bursty.engines import Assignment, Chunk, Column, weighted
from bursty.engines.dense import DenseChunk
from bursty.families.base import Family, Statistics
from bursty.inference import lsa, points
from bursty.inference.em import FLOOR, Problem, updated
from bursty.inference.posteriors import MixtureState, responsibilities
from bursty.inference.spherical import hellinger_directions, spherical_kmeans, tfidf_directions
from bursty.typing import Array

#: k-means is run ten times, or less often on large corpora (about this number of non-zeros times components in total,
#: but at least twice); the run whose documents are nearest to their centres is kept.
KMEANS_RUNS = 10
KMEANS_WORK = 1e8
#: Number of runs of k-means in the space of a start, and of dimensions of that space (more for many clusters). With
#: hundreds of clusters there are fewer runs (this number of points x dimensions x clusters per step in total).
SPACE_RUNS = 30
LEAST_RUNS = 5
SPACE_WORK = 1e9
SPACE_RANK = 50
#: A start of maximum likelihood is the best of this number of short runs of EM, of this number of steps. On large
#: corpora there are fewer (about this number of non-zeros times components in total).
SHORT_RUNS = 40
SHORT_STEPS = 10
SHORT_WORK = 1e8
#: Half of the short runs begin from the best so far, with this share of the documents in random components.
SHAKEN = 0.1
#: A component of fewer documents has a likelihood without meaning (one document has that of a multinomial of its own):
#: states without such components come first.
LEAST_DOCUMENTS = 3.0
#: Responsibility of a document's own cluster at the start; all components share the rest.
CONFIDENCE = 0.9


def perturb(problem: Problem, rng: np.random.Generator) -> MixtureState:
    """Copies of the one-component fit with a little noise: [Elkan2006] section 4."""
    stats = problem.statistics(Assignment.single(np.ones(problem.documents.n_documents)))
    one = problem.documents.run_locally(problem.family.update, stats)
    params = problem.family.perturb(one, problem.n_components, problem.perturbation, rng)
    return MixtureState(params, np.full(problem.n_components, 1.0 / problem.n_components))


def kmeans(problem: Problem, rng: np.random.Generator) -> MixtureState:
    """The best of several runs of spherical k-means on tf-idf, softened."""
    documents, n_components = problem.documents, problem.n_components
    n_runs = int(np.clip(KMEANS_WORK / (documents.n_cells * n_components), 2, KMEANS_RUNS))
    directions = tfidf_directions(documents, problem.sample_weight)
    runs = (spherical_kmeans(documents, directions, n_components, rng, problem.weights) for _ in range(n_runs))
    labels, _ = max(runs, key=lambda run: run[1])
    return _softened(problem, labels)


def in_tfidf_space(problem: Problem, rng: np.random.Generator) -> MixtureState:
    """The best of many runs of spherical k-means in the space of the leading singular vectors of tf-idf, softened."""
    return _in_space(problem, "tfidf", rng)


def in_hellinger_space(problem: Problem, rng: np.random.Generator) -> MixtureState:
    """The same with square roots of proportions, for dense tables with few columns."""
    return _in_space(problem, "hellinger", rng)


def in_own_space(problem: Problem, rng: np.random.Generator) -> MixtureState:
    """The best of several runs of spherical k-means on the rows themselves, softened: for dense real vectors."""
    return _in_space(problem, "directions", rng)


def _in_space(problem: Problem, kind: str, rng: np.random.Generator) -> MixtureState:
    """From the best of many runs of k-means; from the best of short runs of EM if there are several starts, which must
    differ, and in tables of counts with few columns."""
    documents, n_components = problem.documents, problem.n_components
    n_short = int(np.clip(SHORT_WORK / (documents.n_cells * n_components * SHORT_STEPS), 1, SHORT_RUNS))
    if n_short > 1 and (problem.n_starts > 1 or (kind == "hellinger" and problem.maximises_likelihood)):
        return _search(problem, kind, rng, n_short)
    if problem.n_starts > 1:
        return _from_one_run(problem, kind, rng)
    width = documents.n_words if kind == "directions" else max(SPACE_RANK, n_components)
    work = min(documents.n_documents, points.SAMPLE) * width * n_components
    n_runs = int(np.clip(SPACE_WORK / work, LEAST_RUNS, SPACE_RUNS))
    return _from_kmeans(problem, kind, rng, n_runs, points.MAX_ITER)


def _search(problem: Problem, kind: str, rng: np.random.Generator, n_short: int) -> MixtureState:
    """The state of largest likelihood after short runs of EM (Biernacki, Celeux and Govaert 2003).

    Documents with many counts are certain of their component at once, and EM ends near its start: so half of the runs
    begin from single runs of k-means, and half from the best state with some of the documents moved.
    """
    n_fresh = n_short - n_short // 2
    runs = [_short_run(problem, _from_one_run(problem, kind, rng)) for _ in range(n_fresh)]
    best = max(runs, key=lambda run: run[0])
    for _ in range(n_short - n_fresh):
        best = max(best, _short_run(problem, _shaken(problem, best[1], rng)), key=lambda run: run[0])
    return best[1]


def _from_one_run(problem: Problem, kind: str, rng: np.random.Generator) -> MixtureState:
    """From one run of k-means, which in half of the cases ends after one step: runs that converge are much alike."""
    return _from_kmeans(problem, kind, rng, 1, points.MAX_ITER if rng.random() < 0.5 else 1)


def _from_kmeans(problem: Problem, kind: str, rng: np.random.Generator, n_runs: int, n_steps: int) -> MixtureState:
    documents, n_components = problem.documents, problem.n_components
    if kind == "directions":
        problem.spaces.setdefault(kind, documents.keep(_unit_rows))
    if kind not in problem.spaces:
        tfidf = kind == "tfidf"
        directions = tfidf_directions(documents, problem.sample_weight) if tfidf else hellinger_directions(documents)
        # The space is the same for all starts, and for a fit that resumes from a checkpoint.
        rank, rng_of_space = max(SPACE_RANK, n_components), np.random.default_rng(0)
        problem.spaces[kind] = lsa.coordinates(documents, directions, rank, rng_of_space, problem.weights)
    where, sizes = problem.spaces[kind], (n_runs, n_steps)
    return _softened(problem, points.kmeans(documents, where, n_components, rng, *sizes, problem.weights))


def _unit_rows(chunk: Chunk) -> Array:
    return lsa.unit_rows(chunk.rows if isinstance(chunk, DenseChunk) else chunk.counts.toarray())


def _short_run(problem: Problem, state: MixtureState) -> tuple[tuple[bool, float], MixtureState]:
    """State after a few steps of EM, and what it is compared by: whether all components have documents enough, then
    the log-likelihood."""
    for _ in range(SHORT_STEPS):
        result = problem.step(state, 1.0, None)[1]
        state = problem.maximise(result.expectation, state.params)
    enough = float(result.expectation.resp.min()) >= LEAST_DOCUMENTS
    return (enough, result.expectation.log_evidence), state


def _shaken(problem: Problem, state: MixtureState, rng: np.random.Generator) -> MixtureState:
    """The M step for the responsibilities of a state, with some documents in random components instead."""
    documents, n_components = problem.documents, problem.n_components
    moved = rng.random(documents.n_documents) < SHAKEN
    labels = np.where(moved, rng.integers(n_components, size=documents.n_documents), -1)
    shared = {"family": problem.family, "state": state}
    sums = documents.sum(_summarize_shaken, documents.split(labels), problem.weights, **shared)
    return _begin(problem, sums.stats, sums.resp)


def _softened(problem: Problem, labels: Column) -> MixtureState:
    """The M step for responsibilities that follow a labelling, but not with certainty."""
    documents, n_components = problem.documents, problem.n_components
    shared = {"family": problem.family, "n_components": n_components}
    softened = documents.sum(_summarize_softened, labels, problem.weights, **shared)
    return _begin(problem, softened.stats, softened.resp)


STARTS: dict[str, Callable[[Problem, np.random.Generator], MixtureState]] = {
    "lsa": in_tfidf_space,
    "hellinger": in_hellinger_space,
    "directions": in_own_space,
    "perturb": perturb,
    "kmeans": kmeans,
}


def labelled(problem: Problem, labels: Array, rng: np.random.Generator) -> MixtureState:
    """Start components from their labelled documents, plus a background of all others with the same total weight.

    The background is spread unevenly, so that components without labels differ, too.
    """
    resp = rng.dirichlet(np.full(problem.n_components, 5.0), size=len(labels))
    known = np.flatnonzero(labels >= 0)
    heavy = weighted((labels >= 0).astype(np.float64), problem.sample_weight).sum()
    others = weighted((labels < 0).astype(np.float64), problem.sample_weight).sum()
    resp *= heavy / max(1.0, others)
    resp[known] = 0.0
    resp[known, labels[known]] = 1.0
    return from_responsibilities(problem, resp)


def from_responsibilities(problem: Problem, resp: Array) -> MixtureState:
    """The M step for given responsibilities."""
    return _begin(problem, problem.statistics(resp), weighted(resp, problem.sample_weight).sum(axis=0))


def _begin(problem: Problem, stats: Statistics, resp: Array) -> MixtureState:
    params = problem.documents.run_locally(updated, problem.family, stats.shrunk(FLOOR), None, problem.prior)
    return MixtureState(params, np.maximum(resp, 1e-300) / resp.sum())


@dataclass(frozen=True)
class _Softened(Statistics):
    """Statistics, and the responsibility of each component."""

    stats: Statistics
    resp: Array


def _summarize_softened(
    chunk: Chunk, labels: Array, sample_weight: Array | None, family: Family[Any, Any], n_components: int
) -> _Softened:
    resp = weighted(soften(labels, n_components), sample_weight)
    return _Softened(family.summarize(chunk, resp), resp.sum(axis=0))


def _summarize_shaken(
    chunk: Chunk, labels: Array, sample_weight: Array | None, family: Family[Any, Any], state: MixtureState
) -> _Softened:
    resp, _ = responsibilities(chunk, labels, family, state)
    resp = weighted(resp, sample_weight)
    return _Softened(family.summarize(chunk, resp), resp.sum(axis=0))


def soften(labels: Array, n_components: int) -> Array:
    """Responsibilities that follow a labelling, but not with certainty."""
    resp = np.full((len(labels), n_components), (1.0 - CONFIDENCE) / n_components)
    resp[np.arange(len(labels)), labels] += CONFIDENCE
    return resp
