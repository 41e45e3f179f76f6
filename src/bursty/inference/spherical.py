"""Spherical k-means on sublinear tf-idf: a fast start for EM.

Documents become unit vectors of ``(1 + log x_dw) (1 + log((1 + D) / (1 + df_w)))``, the weighting of scikit-learn's
TfidfTransformer with ``sublinear_tf``; each joins the nearest of K unit centres, each centre becomes the mean direction
of its documents, until nothing moves. Centres start at documents that lie far apart (k-means++).

Directions, distances and labels stay with the chunks; what travels is centres and sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bursty.engines import Assignment, Chunk, Column, Documents
from bursty.families.base import Statistics

Array = np.ndarray[Any, Any]


def tfidf_directions(documents: Documents) -> Column:
    """Values of the documents' cells as unit vectors of sublinear tf-idf; empty documents stay empty."""
    df = documents.sum(Chunk.document_frequency)
    return documents.keep(_directions, idf=1.0 + np.log((1.0 + documents.n_documents) / (1.0 + df)))


def hellinger_directions(documents: Documents) -> Column:
    """Square roots of each document's proportions, which are unit vectors: the distance between two of them is
    Hellinger's."""
    return documents.keep(_roots)


def _roots(chunk: Chunk) -> Array:
    rows = np.repeat(np.arange(chunk.n_documents), np.diff(chunk.indptr))
    return np.sqrt(chunk.values / chunk.lengths[rows])


def _directions(chunk: Chunk, idf: Array) -> Array:
    values = (1.0 + np.log(chunk.values)) * idf[chunk.indices]
    rows = np.repeat(np.arange(chunk.n_documents), np.diff(chunk.indptr))
    norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=chunk.n_documents))
    return values / norms[rows]


@dataclass(frozen=True)
class _Step(Statistics):
    """What a step of k-means adds up: directions of each cluster, cosines with the centres, documents that moved."""

    sums: Array
    cosine: float
    moved: int


def spherical_kmeans(
    documents: Documents, directions: Column, n_clusters: int, rng: np.random.Generator, max_iter: int = 20
) -> tuple[Column, float]:
    """Label of each document, and the mean cosine with its centre."""
    centres = _far_apart(documents, directions, n_clusters, rng)
    labels = documents.keep(_unknown)
    cosine = 0.0
    for _ in range(max_iter):
        labels, step = documents.keep_and_sum(_nearest, directions, labels, centres=centres)
        cosine = step.cosine / documents.n_documents
        if step.moved == 0:
            break
        norms = np.linalg.norm(step.sums, axis=0)
        centres = np.where(norms > 0, step.sums / np.where(norms > 0, norms, 1.0), centres)
    return labels, cosine


def _unknown(chunk: Chunk) -> Array:
    return np.full(chunk.n_documents, -1, dtype=np.int32)


def _nearest(chunk: Chunk, directions: Array, last: Array, centres: Array) -> tuple[Array, _Step]:
    points = chunk.with_values(directions)
    cosines = points.tokens(centres)
    labels = cosines.argmax(axis=1).astype(np.int32)
    sums = points.sum_tokens(Assignment(labels, centres.shape[1], np.ones(len(labels))))
    own = cosines[np.arange(len(labels)), labels]
    return labels, _Step(sums, float(own.sum()), int(np.count_nonzero(labels != last)))


def _far_apart(documents: Documents, directions: Column, n_clusters: int, rng: np.random.Generator) -> Array:
    """Documents drawn one by one, with chances in proportion to their squared distance from those drawn before."""
    ends = np.cumsum([size.documents for size in documents.sizes])
    first = int(rng.integers(documents.n_documents))
    chunk = int(np.searchsorted(ends, first, side="right"))
    row = first - (int(ends[chunk - 1]) if chunk else 0)
    centres = [documents.at(chunk, _direction, directions, row=row)]
    distances = documents.keep(_farthest)
    for _ in range(n_clusters - 1):
        distances = documents.keep(_distances, directions, distances, centre=centres[-1])
        sums = np.cumsum(np.concatenate(list(documents.map(_total, distances))))
        even = sums[-1] == 0  # all documents are centres: any of them
        sums = ends.astype(np.float64) if even else sums
        goal = rng.random() * sums[-1]
        chunk = min(int(np.searchsorted(sums, goal, side="right")), len(sums) - 1)
        rest = goal - (sums[chunk - 1] if chunk else 0.0)
        row = documents.at(chunk, _drawn, distances, goal=rest, even=even)
        centres.append(documents.at(chunk, _direction, directions, row=row))
    return np.ascontiguousarray(np.stack(centres, axis=1))


def _farthest(chunk: Chunk) -> Array:
    return np.full(chunk.n_documents, 2.0)


def _direction(chunk: Chunk, directions: Array, row: int) -> Array:
    cells = slice(int(chunk.indptr[row]), int(chunk.indptr[row + 1]))
    out = np.zeros(chunk.n_words)
    out[chunk.indices[cells]] = directions[cells]
    return out


def _distances(chunk: Chunk, directions: Array, distances: Array, centre: Array) -> Array:
    cosine = chunk.with_values(directions).tokens(centre[:, None])[:, 0]
    return np.minimum(distances, np.maximum(2.0 - 2.0 * cosine, 0.0))


def _total(chunk: Chunk, distances: Array) -> Array:
    return np.cumsum(distances)[-1:]


def _drawn(chunk: Chunk, distances: Array, goal: float, even: bool) -> int:
    """The document at this place of the chunk's cumulated distances."""
    sums = np.cumsum(np.ones_like(distances) if even else distances)
    return min(int(np.searchsorted(sums, goal, side="right")), len(sums) - 1)
