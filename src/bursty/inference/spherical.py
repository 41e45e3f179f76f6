"""Spherical k-means on sublinear tf-idf: a fast start for EM.

Documents become unit vectors of ``(1 + log x_dw) (1 + log((1 + D) / (1 + df_w)))``, the weighting of scikit-learn's
TfidfTransformer with ``sublinear_tf``; each joins the nearest of K unit centres, each centre becomes the mean direction
of its documents, until nothing moves. Centres start at documents that lie far apart (k-means++).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Assignment, Chunk, Engine, slices, total

Array = np.ndarray[Any, Any]


def tfidf_directions(counts: sp.csr_array) -> sp.csr_array:
    """Unit vectors of sublinear tf-idf; empty documents stay empty."""
    n_documents = counts.shape[0]
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = 1.0 + np.log((1.0 + n_documents) / (1.0 + df))
    values = (1.0 + np.log(counts.data)) * idf[counts.indices]
    rows = np.repeat(np.arange(n_documents), np.diff(counts.indptr))
    norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=n_documents))
    return sp.csr_array((values / norms[rows], counts.indices, counts.indptr), shape=counts.shape)


def spherical_kmeans(
    engine: Engine, directions: sp.csr_array, n_clusters: int, rng: np.random.Generator, max_iter: int = 20
) -> tuple[Array, float]:
    """Label of each document, and the mean cosine with its centre."""
    chunks = engine.place(directions)
    centres = _far_apart(directions, n_clusters, rng)
    labels = np.full(directions.shape[0], -1, dtype=np.int32)
    cosine = 0.0
    for _ in range(max_iter):
        nearest = list(engine.map(_nearest, chunks, [centres] * len(chunks)))
        new = np.concatenate([labels for labels, _ in nearest])
        cosine = float(np.mean(np.concatenate([cosines for _, cosines in nearest])))
        if np.array_equal(new, labels):
            break
        labels = new
        parts = slices(Assignment(labels, n_clusters, np.ones(len(labels))), chunks)
        sums = total(engine.map(Chunk.sum_tokens, chunks, parts))
        norms = np.linalg.norm(sums, axis=0)
        centres = np.where(norms > 0, sums / np.where(norms > 0, norms, 1.0), centres)
    return labels, cosine


def _nearest(chunk: Chunk, centres: Array) -> tuple[Array, Array]:
    cosines = chunk.tokens(centres)
    labels = cosines.argmax(axis=1).astype(np.int32)
    return labels, cosines[np.arange(len(labels)), labels]


def _far_apart(directions: sp.csr_array, n_clusters: int, rng: np.random.Generator) -> Array:
    """Documents drawn one by one, with chances in proportion to their squared distance from those drawn before."""
    chosen = [int(rng.integers(directions.shape[0]))]
    distance = np.full(directions.shape[0], 2.0)
    for _ in range(n_clusters - 1):
        cosine = directions @ directions[[chosen[-1]]].toarray().ravel()
        distance = np.minimum(distance, np.maximum(2.0 - 2.0 * cosine, 0.0))
        sums = np.cumsum(distance if np.any(distance > 0) else np.ones_like(distance))
        place = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        chosen.append(min(place, len(sums) - 1))
    return np.ascontiguousarray(directions[chosen].toarray().T)
