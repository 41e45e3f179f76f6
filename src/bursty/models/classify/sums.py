"""Sparse statistics of the classes.

Most classes have few of the words, so that a table of words x classes is mostly zeros. For each class only the words
that occur in it are kept, which never takes more memory than its documents. Parameters are computed from one class at
a time in full (`full`).

The statistics of a class have one column per discount of long documents (`bursty.models.classify.smoothing`), with the
same words in all columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from bursty.engines import Assignment, Chunk, Levels
from bursty.families.base import Family, Statistics
from bursty.models.classify.labels import Targets
from bursty.storage.schema import Mismatch, floats, integers, maybe, storable, whole
from bursty.typing import Array

S = TypeVar("S", bound=Statistics)

# Rounding error of a difference of sums, relative to the larger one.
_ROUNDING = 1e-9


def _check_kept(sums: SparseSums, sizes: dict[str, int]) -> None:
    """Check that rows are sorted and unique, with items below their number, and that columns have their length."""
    if sums.items.dtype != np.int32 or sums.n_items not in (1, sizes["n_words"]):
        raise Mismatch(f"sums of {sums.n_items} items do not fit {sizes['n_words']} words")
    if sums.items.max(initial=-1) >= sums.n_items or np.any(np.diff(sums.keys) <= 0):
        raise Mismatch("the rows of sums are not in order")
    if not isinstance(sums.columns, list):
        raise Mismatch("sums are not a list of columns")
    for column in sums.columns:
        rule = floats("rows", low=0) if column.dtype.kind == "f" else integers("rows", low=0)
        rule(column, sizes, "sums")


@storable(
    "Kept",
    items=integers("rows", low=0),
    values=maybe(integers("rows", low=0, high=2**31)),
    n_items=whole(),
    check=_check_kept,
)
@dataclass(frozen=True)
class SparseSums:
    """The rows of sums that are not zero, in order.

    Attributes
    ----------
    items : the word of each row
    values : for levels, the value of each row; otherwise None
    columns : the sums, one array per discount; integers are stored in as few bytes as possible
    n_items : the number of words
    """

    items: Array
    values: Array | None
    columns: list[Array]
    n_items: int

    @classmethod
    def of(cls, sums: Any) -> Any:
        """From a table or levels; other fields of statistics are left unchanged."""
        if isinstance(sums, Levels):
            columns = [narrow(column) for column in sums.weights.T]
            return cls(sums.items, narrow(sums.values), columns, sums.n_items)
        if sums.ndim == 1:
            return sums
        items = np.flatnonzero(sums.any(axis=1)).astype(np.int32)
        return cls(items, None, [narrow(column) for column in sums[items].T], len(sums))

    def __add__(self, other: SparseSums) -> SparseSums:
        keys = _union([self.keys, other.keys])
        columns = [np.zeros(len(keys)) for _ in self.columns]
        for part in (self, other):
            places = np.searchsorted(keys, part.keys)
            for total, column in zip(columns, part.columns, strict=True):
                total[places] += column
        values = None if self.values is None else narrow(keys & 0xFFFFFFFF)
        return SparseSums((keys >> 32).astype(np.int32), values, [narrow(column) for column in columns], self.n_items)

    @property
    def keys(self) -> Array:
        """One number per row, in the order of the rows."""
        keys = self.items.astype(np.int64) << 32
        return keys if self.values is None else keys | self.values


def narrow(numbers: Array) -> Array:
    """The same numbers; integers in as few bytes as possible."""
    largest = numbers.max(initial=0)
    if largest >= 2**53 or not np.all(numbers == np.rint(numbers)):
        return numbers.copy()
    return numbers.astype(np.min_scalar_type(int(largest)))


def summarize(family: Family[S, Any], counts: sp.csr_array, targets: Targets, weights: Array) -> list[S]:
    """Statistics of each class (and, in the multi-label case, of all documents).

    They have one column per column of weights.
    """
    return [thin(_summary(family, Chunk(counts[rows]), weights[rows])) for rows in targets.members()]


def _summary(family: Family[S, Any], chunk: Chunk, weights: Array) -> S:
    one = weights.shape[1] == 1
    return family.summarize(chunk, Assignment.single(weights[:, 0]) if one else np.ascontiguousarray(weights))


def thin(stats: S) -> S:
    """Statistics with `SparseSums` as fields."""
    return type(stats)(*(SparseSums.of(getattr(stats, field.name)) for field in fields(stats)))


def of_tables(tables: Sequence[S]) -> list[S]:
    """Sparse statistics of each class, from tables of all classes, one table per discount."""
    n_classes = word_table(tables[0]).shape[-1]
    names = [field.name for field in fields(tables[0])]
    kind = type(tables[0])
    return [
        thin(kind(*(_beside([getattr(table, name) for table in tables], k) for name in names)))
        for k in range(n_classes)
    ]


def _beside(sums: Sequence[Any], k: int) -> Any:
    if not isinstance(sums[0], Levels):
        return np.stack([one[..., k] for one in sums], axis=-1)
    weights = np.stack([levels.weights[:, k] for levels in sums], axis=1)
    rows = weights.any(axis=1)
    return Levels(sums[0].items[rows], sums[0].values[rows], weights[rows], sums[0].n_items)


@dataclass(frozen=True)
class Classes:
    """Full statistics of the classes, without held-out documents, computed on demand.

    They have one column for each of the discounts whose numbers are in ``columns``.
    """

    kept: Sequence[Statistics]
    columns: Sequence[int] = (0,)
    held_out: Sequence[Statistics] | None = None

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def n_words(self) -> int:
        """Number of words."""
        return int(word_table(self.kept[0]).n_items)

    def __getitem__(self, k: int) -> Statistics:
        stats = full(self.kept[k : k + 1], self.columns)
        return stats if self.held_out is None else without(stats, full(self.held_out[k : k + 1], self.columns))

    def __iter__(self) -> Iterator[Statistics]:
        return (self[k] for k in range(len(self)))

    def everything(self) -> Statistics:
        """The sum over the classes."""
        stats = full(self.kept, self.columns)
        return stats if self.held_out is None else without(stats, full(self.held_out, self.columns))


def full(parts: Sequence[S], columns: Sequence[int]) -> S:
    """The sum of some statistics in full: one row per word, some of the columns."""
    names = [field.name for field in fields(parts[0])]
    return type(parts[0])(*(_full([getattr(part, name) for part in parts], columns) for name in names))


def _full(parts: Sequence[Any], columns: Sequence[int]) -> Any:
    if not isinstance(parts[0], SparseSums):
        return np.sum([part[list(columns)] for part in parts], axis=0)
    if parts[0].values is None:
        table = np.zeros((parts[0].n_items, len(columns)))
        for part in parts:
            for i, column in enumerate(columns):
                table[part.items, i] += part.columns[column]
        return table
    keys = parts[0].keys if len(parts) == 1 else _union([part.keys for part in parts])
    weights = np.zeros((len(keys), len(columns)))
    for part in parts:
        rows = slice(None) if len(parts) == 1 else np.searchsorted(keys, part.keys)
        for i, column in enumerate(columns):
            weights[rows, i] += part.columns[column]
    return _levels(keys, weights, parts[0].n_items)


def side_by_side(parts: Sequence[S]) -> S:
    """Full statistics with the columns of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    names = [field.name for field in fields(parts[0])]
    return type(parts[0])(*(_side_by_side([getattr(part, name) for part in parts]) for name in names))


def _side_by_side(parts: Sequence[Any]) -> Any:
    if not isinstance(parts[0], Levels):
        return np.concatenate(parts, axis=-1)
    keys = _union([part.keys for part in parts])
    weights = np.zeros((len(keys), sum(part.weights.shape[1] for part in parts)))
    start = 0
    for part in parts:
        stop = start + part.weights.shape[1]
        weights[np.searchsorted(keys, part.keys), start:stop] = part.weights
        start = stop
    return _levels(keys, weights, parts[0].n_items)


def _levels(keys: Array, weights: Array, n_items: int) -> Levels:
    return Levels((keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32), weights, n_items)


def _union(parts: Sequence[Array]) -> Array:
    """The distinct numbers, sorted; faster than `numpy.unique`, which hashes them first."""
    keys = np.sort(np.concatenate(parts))
    return keys[np.diff(keys, prepend=-1) != 0]


def word_table(stats: Statistics) -> Any:
    """The field of statistics that every family has: one row per word."""
    return getattr(stats, fields(stats)[0].name)


def without(whole: S, part: S) -> S:
    """Full statistics of the documents that are not in the part; differences that are only rounding become zero."""
    values = ((getattr(whole, field.name), getattr(part, field.name)) for field in fields(whole))
    return type(whole)(*(_without(*pair) for pair in values))


def _without(whole: Any, part: Any) -> Any:
    if isinstance(whole, Levels):
        places = np.searchsorted(whole.keys, part.keys)
        if not np.array_equal(np.append(whole.keys, -1)[places], part.keys):
            raise ValueError(
                "documents that the classifier has kept are not among those it has counted: its file was changed, or "
                "is damaged; fit it again"
            )
        rest = whole.weights.copy()
        rest[places] -= part.weights
        return replace(whole, weights=_cleaned(rest, whole.weights))
    return _cleaned(whole - part, whole)


def _cleaned(rest: Array, whole: Array) -> Array:
    rest[rest <= _ROUNDING * whole] = 0.0
    return rest
