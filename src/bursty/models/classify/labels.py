"""Labels of documents: one class each, or any number of classes.

| form of y | meaning |
|---|---|
| one label per document, any dtype | single-label |
| table of 0 and 1, documents x classes, dense or sparse | multi-label |
| list of sets (or lists, tuples) of labels | multi-label |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bursty.sparse import as_csr
from bursty.storage.schema import Mismatch, index, items, maybe, storable
from bursty.typing import Array
from bursty.validation import is_missing, refuse_masked
from bursty.wording import counted


def _check_table(targets: Targets, sizes: dict[str, int]) -> None:
    table = targets.table
    if (table is None) == (targets.codes is None):
        raise Mismatch("targets do not have either codes or a table")
    if table is not None and (
        not isinstance(table, sp.csr_array) or table.shape[1] != sizes["C"] or not np.all(table.data == 1)
    ):
        raise Mismatch(f"targets are not a table of 0 and 1 for {counted(sizes['C'], 'class', 'classes')}")


@storable("Targets", classes=items("C"), codes=maybe(index("C")), check=_check_table)
@dataclass(frozen=True)
class Targets:
    """Classes of documents, as positions in ``classes``: ``codes`` of single labels, or a table of 0 and 1."""

    classes: Array
    codes: Array | None = None
    table: sp.csr_array | None = None

    @property
    def multilabel(self) -> bool:
        """Whether a document may have any number of classes."""
        return self.table is not None

    def __len__(self) -> int:
        return len(self.codes) if self.codes is not None else int(self.table.shape[0])  # type: ignore[union-attr]  # one of the two is there

    def __getitem__(self, rows: Any) -> Targets:
        if self.codes is not None:
            return Targets(self.classes, codes=self.codes[rows])
        return Targets(self.classes, table=self.table[rows])  # type: ignore[index]  # one of the two is there

    def members(self) -> list[Array]:
        """The documents of each class, in order; in the multi-label case, all documents come last."""
        if self.table is not None:
            by_class = self.table.tocsc()
            return [*np.split(by_class.indices, by_class.indptr[1:-1]), np.arange(len(self))]
        order = np.argsort(self.codes, kind="stable")  # type: ignore[arg-type]  # not None here
        return np.split(order, np.cumsum(np.bincount(self.codes, minlength=len(self.classes)))[:-1])  # type: ignore[arg-type]  # not None here

    def weights_of(self, weights: Array) -> Array:
        """Weight of the documents of each class (and of all): one row per column of weights."""
        return np.stack([weights[rows].sum(axis=0) for rows in self.members()], axis=1)

    def onehot(self) -> Array:
        """Documents x classes of 0.0 and 1.0."""
        if self.table is not None:
            return self.table.toarray().astype(np.float64)
        return (self.codes[:, None] == np.arange(len(self.classes))).astype(np.float64)  # type: ignore[index]  # one of the two is there

    def stack(self, other: Targets) -> Targets:
        """These documents, then the others."""
        if self.codes is not None:
            return Targets(self.classes, codes=np.concatenate([self.codes, other.codes]))
        return Targets(self.classes, table=sp.csr_array(sp.vstack([self.table, other.table])))


def labelled(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Array | None]:
    """The documents that have a label, their labels and weights, and the names of the classes if X has them.

    If y is None, the labels of the corpus are used. In the labels of a corpus, -1 stands for a document without a
    label, which is left out. In any other y, -1 is a class like all others.
    """
    own, names = getattr(X, "labels", None), getattr(X, "label_names", None)
    if y is None and names is not None:
        y = own if own is not None else X.label_matrix
    if own is None or y is None or not np.array_equal(y, own):
        return X, y, sample_weight, names if y is not None and y is getattr(X, "label_matrix", None) else None
    known = np.asarray(own) >= 0
    if known.all():
        return X, own, sample_weight, names
    if hasattr(X, "shards"):
        raise ValueError(
            f"{counted(int((~known).sum()), 'document has', 'documents have')} no label in these shards: import those "
            "that have one"
        )
    if not known.any():
        raise ValueError("no document has a label: there is nothing to learn from")
    weights = None if sample_weight is None else np.asarray(sample_weight)[known]
    return X.select(known), own[known], weights, names


def n_documents(X: Any) -> int:
    """Number of documents, or 0 if it is not known immediately (Dask collections, and what is not a table)."""
    shape = getattr(X, "shape", None)
    number = shape[0] if isinstance(shape, tuple) and len(shape) == 2 else getattr(X, "n_documents", 0)
    return int(number) if isinstance(number, int | np.integer) else 0


def class_names(classes: Array, names: Array | None) -> Array:
    """The name of each class; if the classes are those of a corpus, by their numbers."""
    shown = classes if names is None else [names[code] for code in classes]
    return np.array([str(name) for name in shown], dtype=object)


def check_targets(y: Any, n_documents: int, owner: str, classes: Any = None) -> Targets:
    """Labels as positions in the sorted classes, or in ``classes`` if given."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None: give the class of each document")
    refuse_masked(y, "y")
    if _is_label_sets(y):
        return _from_sets(y, n_documents, classes)
    table = y if sp.issparse(y) else _as_array(y)
    if _has_columns(table):
        return _from_table(table, n_documents, classes)
    return _from_labels(table, n_documents, classes)


def is_table(y: Any) -> bool:
    """Whether y has one column per class."""
    return not (y is None or _is_label_sets(y)) and _has_columns(y if sp.issparse(y) else _as_array(y))


def _has_columns(table: Any) -> bool:
    return table.ndim == 2 and (sp.issparse(table) or table.shape[1] != 1)


def _from_labels(y: Array, n_documents: int, classes: Any) -> Targets:
    labels = column_or_1d(y, warn=True)
    _check_length(len(labels), n_documents, "labels")
    missing = _missing(labels)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or None: {int(missing.sum()):,} of {counted(n_documents, 'document')} "
            f"{'has' if missing.sum() == 1 else 'have'} no label (first document {int(np.argmax(missing))}). "
            "Leave these documents out, or give them a class of their own"
        )
    if labels.dtype == object:
        labels = _one_type(labels)
    if labels.dtype.kind == "f":
        if np.isinf(labels).any():
            raise ValueError("Input y contains infinity: labels are the names of classes")
        check_classification_targets(labels)
    known, codes = np.unique(labels, return_inverse=True)
    if classes is None:
        return Targets(known, codes=codes.ravel().astype(np.int32))
    return Targets(np.asarray(classes), codes=_positions(known, classes)[codes.ravel()])


def _from_table(y: Any, n_documents: int, classes: Any) -> Targets:
    if not sp.issparse(y) and y.dtype == object:
        y = y.astype(np.float64)
    _check_length(y.shape[0], n_documents, "rows")
    table = as_csr(y, "y") if sp.issparse(y) else sp.csr_array(y)
    values = table.data
    strange = ~np.isin(values, (0, 1))
    if strange.any():
        raise ValueError(
            f"a y of two dimensions says which document has which class, by 0 and 1, but holds "
            f"{values[np.argmax(strange)]!r}. Multioutput target data is not supported with label names"
        )
    names = np.arange(table.shape[1]) if classes is None else np.asarray(classes)
    if len(names) != table.shape[1]:
        raise ValueError(
            f"y has {counted(table.shape[1], 'column')}, but there are {counted(len(names), 'class', 'classes')}: "
            "give one column per class"
        )
    table = table.astype(np.int8)
    table.eliminate_zeros()
    return Targets(names, table=table)


def _from_sets(y: Sequence[Any], n_documents: int, classes: Any) -> Targets:
    _check_length(len(y), n_documents, "label sets")
    names = np.asarray(sorted({label for labels in y for label in labels}) if classes is None else classes)
    place = {label: position for position, label in enumerate(names.tolist())}
    unknown = {label for labels in y for label in labels} - place.keys()
    if unknown:
        raise ValueError(f"y has labels that are not among the classes: {', '.join(map(repr, sorted(unknown)))}")
    rows = [sorted({place[label] for label in labels}) for labels in y]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32)
    indices = np.fromiter((position for row in rows for position in row), dtype=np.int32)
    ones = np.ones(len(indices), dtype=np.int8)
    return Targets(names, table=sp.csr_array((ones, indices, indptr), shape=(len(rows), len(names))))


def _is_label_sets(y: Any) -> bool:
    """Sets, or lists of names or of unequal length; equally long lists of numbers are a table."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    if not isinstance(y, list | tuple | np.ndarray) or len(y) == 0:
        return False
    if any(isinstance(labels, set | frozenset) for labels in y):
        return True
    if not all(isinstance(labels, list | tuple) for labels in y):
        return False
    return len({len(labels) for labels in y}) > 1 or any(isinstance(label, str) for row in y for label in row)


def _as_array(y: Any) -> Array:
    """Any array-like; a frame with one column per class gives its values."""
    values = np.asarray(y)
    if values.ndim == 0:
        raise ValueError("y should be a 1d array, got a single value: give the class of each document")
    return values


def _one_type(labels: Array) -> Array:
    """Labels of dtype object: numbers become numbers, everything else is kept if it can be sorted."""
    kinds = {type(label).__name__ for label in labels.tolist()}
    numbers = kinds <= {"int", "float", "bool"}
    if len(kinds) > 1 and not numbers:
        raise ValueError(f"y mixes labels of types {', '.join(sorted(kinds))}: use one type for all")
    return np.asarray(labels.tolist()) if numbers else labels


def _missing(labels: Array) -> Array:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype == object:
        return np.array([is_missing(label) for label in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)


def _positions(known: Array, classes: Iterable[Any]) -> Array:
    place = {label: position for position, label in enumerate(np.asarray(classes).tolist())}
    unknown = [label for label in known.tolist() if label not in place]
    if unknown:
        raise ValueError(
            f"y has labels that are not among the classes given at the first call: {', '.join(map(repr, unknown))}"
        )
    return np.array([place[label] for label in known.tolist()], dtype=np.int32)


def _check_length(n_labels: int, n_documents: int, what: str) -> None:
    if n_labels != n_documents:
        raise ValueError(
            f"y has {n_labels} {what} for {n_documents} documents in X (inconsistent numbers of samples): "
            "give one per document"
        )
