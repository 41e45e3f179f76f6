"""Where EM starts: a perturbed one-component fit, k-means, or given responsibilities.

Each start is a function ``(problem, rng) -> State``. A new one is one function and one line in `STARTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bursty.engines import Assignment
from bursty.inference.em import FLOOR, Problem, State
from bursty.inference.spherical import spherical_kmeans, tfidf_directions

Array = np.ndarray[Any, Any]

#: k-means is run ten times, on large corpora less often (about so many non-zeros times components in all, but at
#: least twice); the run whose documents lie nearest their centres is kept.
KMEANS_RUNS = 10
KMEANS_WORK = 1e8
#: A document's own cluster gets this much of it at the start, all components share the rest.
CONFIDENCE = 0.9


def perturb(problem: Problem, rng: np.random.Generator) -> State:
    """One component for all documents, copied with a little noise: [Elkan2006] section 4."""
    stats = problem.statistics(Assignment.single(np.ones(problem.counts.shape[0])))
    params = problem.family.perturb(problem.family.update(stats), problem.n_components, problem.perturbation, rng)
    return State(params, np.full(problem.n_components, 1.0 / problem.n_components))


def kmeans(problem: Problem, rng: np.random.Generator) -> State:
    """The best of several runs of spherical k-means on tf-idf, softened."""
    n_runs = int(np.clip(KMEANS_WORK / (problem.counts.nnz * problem.n_components), 2, KMEANS_RUNS))
    directions = tfidf_directions(problem.counts)
    runs = [spherical_kmeans(problem.engine, directions, problem.n_components, rng) for _ in range(n_runs)]
    labels, _ = max(runs, key=lambda run: run[1])
    return from_responsibilities(problem, soften(labels, problem.n_components))


STARTS: dict[str, Callable[[Problem, np.random.Generator], State]] = {
    "perturb": perturb,
    "kmeans": kmeans,
}


def labelled(problem: Problem, labels: Array, rng: np.random.Generator) -> State:
    """Components begin at their labelled documents, over a background of all others as heavy as these.

    The background is spread unevenly, so that components without a label differ too.
    """
    resp = rng.dirichlet(np.full(problem.n_components, 5.0), size=len(labels))
    known = np.flatnonzero(labels >= 0)
    resp *= len(known) / max(1, len(labels) - len(known))
    resp[known] = 0.0
    resp[known, labels[known]] = 1.0
    return from_responsibilities(problem, resp)


def from_responsibilities(problem: Problem, resp: Array) -> State:
    """The M step of given responsibilities."""
    stats = problem.statistics(resp).shrunk(FLOOR)
    return State(problem.family.update(stats), np.maximum(resp.sum(axis=0), 1e-300) / resp.sum())


def soften(labels: Array, n_components: int) -> Array:
    """Responsibilities that trust a labelling, but not fully."""
    resp = np.full((len(labels), n_components), (1.0 - CONFIDENCE) / n_components)
    resp[np.arange(len(labels)), labels] += CONFIDENCE
    return resp
