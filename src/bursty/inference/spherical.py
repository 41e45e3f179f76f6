"""Spherical k-means on sublinear tf-idf: a fast start for EM.

Documents become unit vectors of ``(1 + log x_dw) (1 + log((1 + D) / (1 + df_w)))``, the weighting of scikit-learn's
TfidfTransformer with ``sublinear_tf``; each joins the nearest of K unit centres, each centre becomes the mean direction
of its documents, until nothing moves. Centres start at documents that lie far apart (k-means++).

Directions, distances and labels stay with the chunks; what travels is centres and sums.
"""

from __future__ import annotations

import numpy as np

from bursty.engines import Assignment, Chunk, Column, Documents, weighted
from bursty.inference.points import KMeansStep, unlabelled
from bursty.typing import Array


def tfidf_directions(documents: Documents, sample_weight: Array | None = None) -> Column:
    """Values of the documents' cells as unit vectors of sublinear tf-idf; empty documents stay empty."""
    if sample_weight is None:
        df, n_documents = documents.sum(Chunk.document_frequency), float(documents.n_documents)
    else:
        resp = documents.split(Assignment.single(sample_weight))
        df, n_documents = documents.sum(Chunk.sum_by_word, resp)[:, 0], float(sample_weight.sum())
    return documents.keep(_directions, idf=1.0 + np.log((1.0 + n_documents) / (1.0 + df)))


def hellinger_directions(documents: Documents) -> Column:
    """Square roots of each document's proportions, which are unit vectors: the distance between two of them is
    Hellinger's."""
    return documents.keep(_roots)


def _roots(chunk: Chunk) -> Array:
    rows = np.repeat(np.arange(chunk.n_documents), np.diff(chunk.indptr))
    return np.sqrt(chunk.values / chunk.lengths[rows])


def _directions(chunk: Chunk, idf: Array) -> Array:
    # Numbers below 1, which are not counts, are used unchanged.
    sublinear = np.where(chunk.values >= 1, 1.0 + np.log(chunk.values), chunk.values)
    values = sublinear * idf[chunk.indices]
    rows = np.repeat(np.arange(chunk.n_documents), np.diff(chunk.indptr))
    norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=chunk.n_documents))
    return values / norms[rows]


def spherical_kmeans(
    documents: Documents,
    directions: Column,
    n_clusters: int,
    rng: np.random.Generator,
    weights: Column | None = None,
    max_iter: int = 20,
) -> tuple[Column, float]:
    """Label of each document, and the (weighted) mean cosine with its centre."""
    weights = documents.split(None) if weights is None else weights
    centres = _far_apart(documents, directions, n_clusters, rng, weights)
    labels = documents.keep(unlabelled)
    cosine = 0.0
    for _ in range(max_iter):
        labels, step = documents.keep_and_sum(_nearest, directions, labels, weights, centres=centres)
        cosine = step.cosine / documents.n_documents
        if step.moved == 0:
            break
        norms = np.linalg.norm(step.sums, axis=0)
        centres = np.where(norms > 0, step.sums / np.where(norms > 0, norms, 1.0), centres)
    return labels, cosine


def _nearest(
    chunk: Chunk, directions: Array, last: Array, weights: Array | None, centres: Array
) -> tuple[Array, KMeansStep]:
    points = chunk.with_values(directions)
    cosines = points.tokens(centres)
    labels = cosines.argmax(axis=1).astype(np.int32)
    ones = np.ones(len(labels))
    sums = points.sum_tokens(Assignment(labels, centres.shape[1], weighted(ones, weights)))
    own = weighted(cosines[np.arange(len(labels)), labels], weights)
    return labels, KMeansStep(sums, float(own.sum()), int(np.count_nonzero(labels != last)))


def _far_apart(
    documents: Documents, directions: Column, n_clusters: int, rng: np.random.Generator, weights: Column
) -> Array:
    """Documents drawn one by one, with probability proportional to their squared distance from the previous ones
    (times their weight)."""
    ends = np.cumsum([size.documents for size in documents.sizes])
    distances = documents.keep(_farthest)
    if weights[0] is None:
        first = int(rng.integers(documents.n_documents))
        chunk = int(np.searchsorted(ends, first, side="right"))
        row = first - (int(ends[chunk - 1]) if chunk else 0)
    else:
        chunk, row = _draw(documents, distances, weights, rng, ends)
    centres = [documents.at(chunk, _direction, directions, row=row)]
    for _ in range(n_clusters - 1):
        distances = documents.keep(_distances, directions, distances, centre=centres[-1])
        chunk, row = _draw(documents, distances, weights, rng, ends)
        centres.append(documents.at(chunk, _direction, directions, row=row))
    return np.ascontiguousarray(np.stack(centres, axis=1))


def _draw(
    documents: Documents, distances: Column, weights: Column, rng: np.random.Generator, ends: Array
) -> tuple[int, int]:
    """A chunk and a row in it."""
    sums = np.cumsum(np.concatenate(list(documents.map(_total, distances, weights))))
    even = sums[-1] == 0  # all documents are centres: any of them
    sums = ends.astype(np.float64) if even else sums
    goal = rng.random() * sums[-1]
    chunk = min(int(np.searchsorted(sums, goal, side="right")), len(sums) - 1)
    rest = goal - (sums[chunk - 1] if chunk else 0.0)
    return chunk, documents.at(chunk, _drawn, distances, weights, goal=rest, even=even)


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


def _total(chunk: Chunk, distances: Array, weights: Array | None) -> Array:
    return np.cumsum(weighted(distances, weights))[-1:]


def _drawn(chunk: Chunk, distances: Array, weights: Array | None, goal: float, even: bool) -> int:
    """The document at this place of the chunk's cumulated distances."""
    sums = np.cumsum(np.ones_like(distances) if even else weighted(distances, weights))
    return min(int(np.searchsorted(sums, goal, side="right")), len(sums) - 1)
