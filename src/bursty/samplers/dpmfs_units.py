"""Units: documents that move between clusters as one, and units that share no cluster.

Without constraints every document is a unit. Tokens of a component are exchangeable, so that documents which always
share a cluster are, to labels, splits and merges, one row with the sum of their t and a mass, the number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bursty.typing import Array


@dataclass(frozen=True)
class LinkedDocuments:
    """Rows of word numbers, one per unit, with masses and the units that each one is kept apart from.

    ``number`` has the unit of each document and ``cells`` the place of each cell of a document in these rows; both are
    None if every document is a unit. Units that may not share a cluster with unit u are
    ``apart[apart_indptr[u]:apart_indptr[u + 1]]``.
    """

    indptr: Array
    words: Array
    mass: Array
    held: Array
    apart_indptr: Array
    apart: Array
    number: Array | None = None
    cells: Array | None = None

    @classmethod
    def of(cls, indptr: Array, words: Array, held: Array, number: Array | None, apart: Array | None) -> LinkedDocuments:
        """From documents, the unit of each, and pairs of units that are kept apart."""
        n_units = len(held) if number is None else int(number.max()) + 1
        pairs = np.empty((0, 2), dtype=np.int64) if apart is None else apart
        both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
        apart_indptr = np.searchsorted(both[:, 0], np.arange(n_units + 1))
        others = np.ascontiguousarray(both[:, 1])
        if number is None:
            return cls(indptr, words, np.ones(n_units, dtype=np.int64), held, apart_indptr, others)
        n_words = int(words.max(initial=0)) + 1
        owners = np.repeat(number, np.diff(indptr)).astype(np.int64)
        names, cells = np.unique(owners * n_words + words, return_inverse=True)
        rows = np.searchsorted(names, np.arange(n_units + 1) * n_words)
        mass, any_held = np.bincount(number), np.zeros(n_units, dtype=np.uint8)
        np.maximum.at(any_held, number, held)
        return cls(rows, (names % n_words).astype(np.int32), mass, any_held, apart_indptr, others, number, cells)

    def tables(self, tables: Array) -> Array:
        """Sums of t over the documents of each unit, cell by cell."""
        if self.cells is None:
            return tables
        return np.bincount(self.cells, weights=tables, minlength=len(self.words)).astype(np.int32)

    def add(self, rows: Array) -> Array:
        """Sums of the rows of the documents of each unit."""
        if self.number is None:
            return rows
        out = np.zeros((len(self.mass), rows.shape[1]))
        np.add.at(out, self.number, rows)
        return out

    def labels(self, labels: Array) -> Array:
        """Labels of the units, from those of the documents."""
        if self.number is None:
            return labels.copy()
        out = np.empty(len(self.mass), dtype=labels.dtype)
        out[self.number] = labels
        return out

    def expand(self, labels: Array) -> Array:
        """Labels of the documents, from those of the units."""
        return labels if self.number is None else labels[self.number]

    def sizes(self, labels: Array, n_columns: int = 0) -> Array:
        """Number of documents of each label of units."""
        return np.bincount(labels, weights=self.mass, minlength=n_columns).astype(np.int64)

    def separate(self, labels: Array) -> Array:
        """Give units that may not share a cluster different labels: greedily, the units with most of these first.

        Held units keep their label, as does every unit without a conflict.
        """
        if not len(self.apart):
            return labels
        labels, degree = self.labels(labels), np.diff(self.apart_indptr)
        order = np.lexsort((np.arange(len(labels)), -degree, 1 - self.held.astype(np.int64)))
        placed = np.zeros(len(labels), dtype=bool)
        for unit in order[: int(np.count_nonzero(self.held | (degree > 0)))]:
            others = self.apart[self.apart_indptr[unit] : self.apart_indptr[unit + 1]]
            taken = set(labels[others[placed[others]]].tolist())
            if not self.held[unit] and int(labels[unit]) in taken:
                labels[unit] = next(label for label in range(len(taken) + 1) if label not in taken)
            placed[unit] = True
        return self.expand(labels)
