"""Encoding of class names as integers.

A document has no label (-1), one label, or several. Names are sorted (integers by value, everything else as
text), so that codes do not depend on the order of the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

from bursty.typing import Array


def encode_labels(names: Sequence[str | None]) -> tuple[Array, Array]:
    """Codes (int64, -1 if the name is None or empty), and the sorted names."""
    known = sort_names({name for name in names if name})
    code = {name: index for index, name in enumerate(known)}
    codes = np.fromiter((code[name] if name else -1 for name in names), dtype=np.int64, count=len(names))
    return codes, strings(known)


def encode_label_sets(sets: Sequence[Iterable[str]]) -> tuple[sp.csr_array, Array]:
    """Documents x classes matrix of 0 and 1, and the sorted names of its columns."""
    rows = [sorted({name for name in names if name}) for names in sets]
    known = sort_names({name for row in rows for name in row})
    code = {name: index for index, name in enumerate(known)}
    indices = np.fromiter((code[name] for row in rows for name in row), dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int32)]).astype(np.int32)
    matrix = sp.csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(len(rows), len(known)))
    matrix.sort_indices()
    return matrix, strings(known)


def label_table(labels: Array, n_classes: int) -> sp.csr_array:
    """Documents x classes matrix of 0 and 1 from one label per document; -1 gives an empty row."""
    has_label = labels >= 0
    indptr = np.concatenate([[0], np.cumsum(has_label)]).astype(np.int32)
    indices = labels[has_label].astype(np.int32)
    return sp.csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(len(labels), n_classes))


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names by value if all are integers, alphabetically otherwise."""
    names = list(names)
    if all(name.removeprefix("-").isdecimal() for name in names):
        return sorted(names, key=lambda name: (int(name), name))
    return sorted(names)


def strings(values: Iterable[str]) -> Array:
    """Object array of str, so that one long word does not widen all the others."""
    values = list(values)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
