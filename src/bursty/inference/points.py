"""Spherical k-means of dense points that stay with their chunks.

Several runs start from k-means++ on a sample of the documents, in this process; the one with the largest mean cosine
continues on all documents. If the sample is the whole corpus, the result is the best of several runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bursty.engines import Chunk, Column, Documents, weighted
from bursty.families.base import Statistics
from bursty.kernels import points as dense
from bursty.typing import Array

#: Maximum number of documents on which runs are compared, and minimum number per cluster.
SAMPLE = 10_000
SAMPLE_PER_CLUSTER = 20
MAX_ITER = 50


@dataclass(frozen=True)
class KMeansStep(Statistics):
    """Sums of a step of k-means: points of each cluster, cosines with the centres, documents that moved."""

    sums: Array
    cosine: float
    moved: int


def kmeans(
    documents: Documents,
    points: Column,
    n_clusters: int,
    rng: np.random.Generator,
    n_runs: int,
    max_iter: int,
    weights: Column | None = None,
) -> Column:
    """Label of each document: the best of several runs, each with a maximum number of steps."""
    weights = documents.split(None) if weights is None else weights
    sample = _sample(documents, points, weights, max(SAMPLE, SAMPLE_PER_CLUSTER * n_clusters), rng)
    runs = (documents.run_locally(_run, *sample, n_clusters, rng, max_iter) for _ in range(n_runs))
    centres, _ = max(runs, key=lambda run: run[1])
    labels = documents.keep(unlabelled)
    for _ in range(max_iter):
        labels, step = documents.keep_and_sum(_nearest, points, labels, weights, centres=centres)
        if step.moved == 0 or len(sample[0]) == documents.n_documents:
            break
        centres = _means(step.sums, centres)
    return labels


def _sample(
    documents: Documents, points: Column, weights: Column, size: int, rng: np.random.Generator
) -> tuple[Array, Array | None]:
    """Points (and weights) of a random sample of the documents, in this process; all of them if they are few."""
    if documents.n_documents <= size:
        return documents.gather(points), None if weights[0] is None else documents.gather(weights)
    chosen = np.sort(rng.choice(documents.n_documents, size=size, replace=False))
    ends = np.cumsum([chunk.documents for chunk in documents.sizes])
    parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    rows = [part - start for part, start in zip(parts, documents.offsets, strict=True)]
    own = None if weights[0] is None else documents.collect(_rows, weights, rows)
    return documents.collect(_rows, points, rows), own


def _rows(chunk: Chunk, points: Array, rows: Array) -> Array:
    return np.ascontiguousarray(points[rows])


def _run(
    points: Array, weights: Array | None, n_clusters: int, rng: np.random.Generator, max_iter: int
) -> tuple[Array, float]:
    """Centres (R x K) of one run, and the mean cosine of the points with theirs."""
    centres = _far_apart(points, weights, n_clusters, rng)
    last = np.full(len(points), -1, dtype=np.int32)
    cosine = -1.0
    for _ in range(max_iter):
        last, step = _assign(points, last, weights, centres)
        cosine = step.cosine / len(points)
        if step.moved == 0:
            break
        centres = _means(step.sums, centres)
    return centres, cosine


def _far_apart(points: Array, weights: Array | None, n_clusters: int, rng: np.random.Generator) -> Array:
    """Points drawn one by one, with probability proportional to their squared distance from the previous ones."""
    centres = np.empty((points.shape[1], n_clusters))
    distances = np.full(len(points), 2.0)
    for k in range(n_clusters):
        sums = np.cumsum(weighted(distances, weights))
        if sums[-1] <= 0:  # every point is a centre
            sums = np.arange(1.0, len(points) + 1)
        place = min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(points) - 1)
        centres[:, k] = points[place]
        cosines = dense.product(points, centres[:, k : k + 1])[:, 0]
        distances = np.minimum(distances, np.maximum(2.0 - 2.0 * cosines, 0.0))
    return centres


def unlabelled(chunk: Chunk) -> Array:
    """Labels before the first step."""
    return np.full(chunk.n_documents, -1, dtype=np.int32)


def _nearest(
    chunk: Chunk, points: Array, last: Array, weights: Array | None, centres: Array
) -> tuple[Array, KMeansStep]:
    return _assign(points, last, weights, centres)


def _assign(points: Array, last: Array, weights: Array | None, centres: Array) -> tuple[Array, KMeansStep]:
    labels, cosines = dense.nearest(points, centres)
    sums = np.zeros((centres.shape[1], centres.shape[0]))
    dense.sum_by_label(weighted(points, weights).astype(points.dtype, copy=False), labels, sums)
    return labels, KMeansStep(sums, float(weighted(cosines, weights).sum()), int(np.count_nonzero(labels != last)))


def _means(sums: Array, centres: Array) -> Array:
    """Mean directions; an empty cluster keeps its centre."""
    norms = np.sqrt((sums**2).sum(axis=1))
    return np.where(norms > 0, (sums / np.where(norms > 0, norms, 1.0)[:, None]).T, centres)
