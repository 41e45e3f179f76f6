"""Checks of the parts of a corpus; each error says what does not match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.labels import encode_labels, strings
from bursty.corpus.texts import Texts
from bursty.sparse import as_csr
from bursty.typing import Array
from bursty.validation import is_missing, refuse_masked
from bursty.wording import counted


def check_vocabulary(vocabulary: Sequence[str] | Array | None, n_words: int) -> Array:
    """One distinct string per word; placeholders by default."""
    if vocabulary is None:
        width = max(4, len(str(n_words - 1)))
        return strings(f"w{index:0{width}d}" for index in range(n_words))
    names = _names(vocabulary, n_words, "vocabulary", "word")
    if len(set(names)) < len(names):
        word, times = Counter(names).most_common(1)[0]
        raise ValueError(
            f"the vocabulary has {word!r} {counted(times, 'time')}: every word must have exactly one column"
        )
    return names


def check_ids(ids: Sequence[str] | Array | None, n_documents: int) -> Array | None:
    """One string per document."""
    return None if ids is None else _names(ids, n_documents, "ids", "document")


def check_labels(
    labels: Sequence[Any] | Array | None, label_names: Sequence[str] | Array | None, n_documents: int
) -> tuple[Array | None, Array | None]:
    """Integers from -1 to n_classes - 1, and the names of the classes."""
    if labels is None:
        return None, None
    refuse_masked(labels, "labels", fill=-1)
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) != n_documents:
        raise ValueError(
            f"labels of shape {values.shape} do not match {counted(n_documents, 'document')}: give one per document, "
            "or label_matrix for several per document"
        )
    if values.dtype.kind in "OUS":
        return _named_labels(values, label_names)
    if values.dtype.kind not in "iub" and not (values.dtype.kind == "f" and np.all(values == np.rint(values))):
        raise ValueError(f"labels must be integers or strings, not {values.dtype}; use -1 for no label")
    codes = values.astype(np.int64)
    if codes.min() < -1:
        raise ValueError(f"label {codes.min()} is below -1: classes are numbered from 0, and -1 means no label")
    top = int(codes.max()) + 1
    if label_names is None:
        if top > max(1_000_000, 10 * n_documents):
            raise ValueError(
                f"label {top - 1} is far above the number of documents ({n_documents}): classes are numbered from 0"
            )
        return codes, strings(map(str, range(top)))
    names = strings(map(str, label_names))
    if top > len(names):
        raise ValueError(f"label {top - 1} has no name: label_names has {counted(len(names), 'name')}, numbered from 0")
    return codes, names


def check_label_matrix(
    matrix: Any, label_names: Sequence[str] | Array | None, n_documents: int
) -> tuple[sp.csr_array, Array]:
    """Canonical documents x classes matrix of 0 and 1, and the names of the classes."""
    refuse_masked(matrix, "label_matrix")
    table = as_csr(matrix, "label_matrix") if sp.issparse(matrix) else sp.csr_array(matrix)
    if table.ndim != 2 or table.shape[0] != n_documents:
        raise ValueError(f"label_matrix of shape {table.shape} does not match {counted(n_documents, 'document')}")
    if not np.all(np.isin(table.data, (0, 1))):
        raise ValueError("label_matrix must contain only 0 and 1")
    table = table.astype(np.int8)
    table.eliminate_zeros()
    if label_names is None:
        return table, strings(map(str, range(table.shape[1])))
    return table, _names(label_names, table.shape[1], "label_names", "class")


def columns_of(metadata: Any) -> list[tuple[Any, Any]]:
    """Name and values of each column of a mapping or a data frame."""
    if metadata is None:
        return []
    return [(name, metadata[name]) for name in getattr(metadata, "columns", metadata)]


def check_metadata(metadata: Mapping[str, Any] | None, n_documents: int) -> dict[str, Array]:
    """One value per document in every column; strings as objects, everything else as plain NumPy types."""
    columns = {}
    for name, values in columns_of(metadata):
        refuse_masked(values, f"metadata[{name!r}]")
        column = np.asarray(values)
        if column.ndim != 1 or len(column) != n_documents:
            raise ValueError(
                f"metadata {name!r} of shape {column.shape} does not match {counted(n_documents, 'document')}"
            )
        if column.dtype.kind in "US":
            column = strings(column.astype(str).tolist())
        elif column.dtype.kind == "O" and not all(isinstance(value, str) for value in column):
            raise TypeError(f"metadata {name!r} must be numbers, dates or strings, of one kind")
        elif column.dtype.kind not in "biufMmO":
            raise TypeError(f"metadata {name!r} must be numbers, dates or strings, not {column.dtype}")
        columns[str(name)] = column
    return columns


def check_texts(texts: Sequence[str] | None, n_documents: int) -> Texts | None:
    """One text per document."""
    if texts is None:
        return None
    if isinstance(texts, str) or len(texts) != n_documents:
        raise ValueError(
            f"texts has {counted(len(texts), 'entry', 'entries')} for {counted(n_documents, 'document')}: "
            "give one per document"
        )
    if isinstance(texts, Texts):
        return texts
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts must be strings, but text {number} is {type(text).__name__}")
    return Texts.of(texts)


def check_rows(documents: Any, n_documents: int) -> Array:
    """Row numbers from a mask, indices or a slice; at least one."""
    if isinstance(documents, slice):
        rows = np.arange(n_documents)[documents]
    else:
        rows = np.atleast_1d(np.asarray(documents))
        if rows.dtype == bool:
            if rows.shape != (n_documents,):
                raise ValueError(f"a mask of shape {rows.shape} does not match {counted(n_documents, 'document')}")
            rows = np.flatnonzero(rows)
        elif rows.dtype.kind not in "iu" and rows.size:
            raise TypeError(f"documents must be a mask, integers or a slice, not {rows.dtype}")
    if rows.ndim != 1 or rows.size == 0:
        raise ValueError("no document is selected: a corpus must have at least one")
    if rows.min() < -n_documents or rows.max() >= n_documents:
        worst = rows.max() if rows.max() >= n_documents else rows.min()
        raise IndexError(f"there is no document {worst}: the corpus has {n_documents}")
    return np.where(rows < 0, rows + n_documents, rows)


def _named_labels(values: Array, label_names: Sequence[str] | Array | None) -> tuple[Array, Array]:
    if any(isinstance(value, bytes) for value in values.tolist()):
        raise TypeError("labels are bytes: decode them, such as [label.decode() for label in labels]")
    names = [None if is_missing(value) else str(value) for value in values.tolist()]
    codes, found = encode_labels(names)
    if label_names is None:
        return codes, found
    given = strings(map(str, label_names))
    position = {name: index for index, name in enumerate(given)}
    missing = [name for name in found if name not in position]
    if missing:
        raise ValueError(f"label {missing[0]!r} is not in label_names: {', '.join(map(repr, given[:10]))}")
    order = np.array([position[name] for name in found] + [-1], dtype=np.int64)
    return order[codes], given


def _names(values: Sequence[str] | Array, expected: int, what: str, each: str) -> Array:
    names = strings(values)
    if len(names) != expected:
        raise ValueError(f"{what} has {counted(len(names), 'name')} for {expected} {each}s: give one per {each}")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be strings, but contains {name!r}")
    if any(type(name) is not str for name in names):
        names = strings(map(str, names))
    return names


def names_of_frame(counts: Any, vocabulary: Any, ids: Any) -> tuple[Any, Any]:
    """Column and row names of a data frame, unless others were given."""
    if vocabulary is None and hasattr(counts, "columns"):
        # The columns of an Arrow table are their values.
        names = counts.column_names if hasattr(counts, "column_names") else counts.columns
        vocabulary = [str(name) for name in names]
    index = getattr(counts, "index", None)
    if ids is None and index is not None and not callable(index) and not hasattr(index, "step"):
        ids = [str(name) for name in index]
    return vocabulary, ids


def small_indices(counts: sp.csr_array) -> sp.csr_array:
    """The matrix with int32 indices where they fit: half the memory, and one type for the code below."""
    if counts.indices.dtype == np.int32 and counts.indptr.dtype == np.int32:
        return counts
    if max(counts.nnz, *counts.shape) > np.iinfo(np.int32).max:
        return counts
    indices, indptr = counts.indices.astype(np.int32, copy=False), counts.indptr.astype(np.int32, copy=False)
    return sp.csr_array((counts.data, indices, indptr), shape=counts.shape)
