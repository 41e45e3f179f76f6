"""Latent semantic analysis over chunks: documents as points in the space of the leading singular vectors.

Let A be the documents x words matrix of directions (unit rows). With Q an orthonormal basis (words x R),

    Q <- orthonormal(sum over chunks of A_c' (A_c Q))     power iteration on A'A
    B  = A Q,   B'B = V S^2 V'                            coordinates of the documents: B V

(Halko, Martinsson and Tropp 2011). Each chunk multiplies its own rows; the sums have shape words x R, and the points
stay with the chunks. Sums are computed by the kernels, so that the result has the same bits for any number of threads
or workers.
"""

from __future__ import annotations

import numpy as np

from bursty.engines import Chunk, Column, Documents, weighted
from bursty.kernels import points as dense
from bursty.typing import Array

#: Power iterations; more of them no longer change the clusters.
N_ITERATIONS = 4
#: Number of extra dimensions of the power iteration.
OVERSAMPLING = 10


def coordinates(
    documents: Documents, directions: Column, rank: int, rng: np.random.Generator, weights: Column | None = None
) -> Column:
    """Unit rows of the documents in the space of the ``rank`` leading singular vectors of their directions.

    ``directions`` has the value of every cell (see `spherical.tfidf_directions`). A document without direction is a row
    of zeros. The rank is at most the number of words and of documents.
    """
    columns = directions, documents.split(None) if weights is None else weights
    limit = min(documents.n_documents, documents.n_words)
    width = min(rank + OVERSAMPLING, limit)
    basis = rng.standard_normal((documents.n_words, width))
    for _ in range(N_ITERATIONS):
        basis = documents.run_locally(_orthonormal, documents.sum(_power, *columns, basis=basis))
    _, vectors = _leading(documents.sum(_gram, *columns, basis=basis))
    basis = documents.run_locally(dense.product, basis, vectors[:, :rank])
    return documents.keep(_unit_coordinates, directions, basis=basis)


def _orthonormal(columns: Array) -> Array:
    """An orthonormal basis of the space of these columns.

    By the eigenvectors of their products, which costs as little as a product; LAPACK's factorisation of a tall matrix
    would use its own threads.
    """
    values, vectors = _leading(dense.outer(columns, columns))
    return dense.product(columns, vectors / np.sqrt(values))


def _leading(gram: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors, the largest first, without those that are rounding errors."""
    values, vectors = np.linalg.eigh(gram)
    kept = np.flatnonzero(values > 1e-13 * max(float(values[-1]), 1e-300))[::-1]
    return values[kept], vectors[:, kept]


def _power(chunk: Chunk, directions: Array, weights: Array | None, basis: Array) -> Array:
    points = chunk.with_values(directions)
    return points.sum_tokens(weighted(points.tokens(basis), weights))


def _gram(chunk: Chunk, directions: Array, weights: Array | None, basis: Array) -> Array:
    rows = chunk.with_values(directions).tokens(basis)
    return dense.outer(weighted(rows, weights), rows)


def _unit_coordinates(chunk: Chunk, directions: Array, basis: Array) -> Array:
    rows = chunk.with_values(directions).tokens(basis)
    return unit_rows(rows)


def unit_rows(rows: Array) -> Array:
    """Rows of length 1 (or 0) in single precision."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return (rows / np.where(norms > 0, norms, 1.0)[:, None]).astype(np.float32)
