"""Checks of sparse matrices, before SciPy converts them and before a kernel walks them.

Neither SciPy nor a compiled loop checks the positions it is given: an index outside the matrix reads or writes memory
out of bounds. `as_csr` accepts a matrix of any scipy.sparse format, checks its positions in one linear pass, and
returns it as a `csr_array` with sorted, unique columns. `check_csr` is only the check, for arrays read from files.

This module imports nothing of the package but `bursty.typing`.
"""

from __future__ import annotations

from copy import copy
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.typing import Array
from bursty.wording import counted

#: Rows, columns and stored entries are numbered with 32 bits.
MAX_SIZE = np.iinfo(np.int32).max


def as_csr(table: Any, name: str = "X") -> sp.csr_array:
    """Convert a sparse matrix to a `csr_array` with sorted and unique columns; ``table`` itself is never changed.

    Duplicate entries are summed in a type that cannot overflow.

    Raises
    ------
    ValueError
        If the arrays of the matrix are inconsistent, or if it contains anything but real numbers.
    """
    try:
        _check_shape(table.shape)
        if table.format not in _CONVERSIONS:
            raise _Malformed(f"its format {table.format!r} is unknown")
        made = _CONVERSIONS[table.format](table)
    except (_Malformed, AttributeError) as error:  # a part may be missing
        raise ValueError(
            f"{name} is a malformed sparse matrix: {error}. Rebuild it, for example from rows, columns and values: "
            "scipy.sparse.coo_array((values, (rows, columns)), shape=shape)"
        ) from None
    # The flags of SciPy can be set by hand, and its own check is three times slower.
    if not _is_sorted(made.indices, made.indptr):
        made = sp.csr_array((_wide(made.data), made.indices.copy(), made.indptr.copy()), shape=made.shape)
        made.sum_duplicates()
    return made


def check_csr(indices: Array, indptr: Array, n_entries: int, shape: tuple[int, int]) -> None:
    """Raise `ValueError` unless the positions lie inside the matrix and are sorted and unique in each row."""
    _check_shape(shape)
    _check_compressed(indices, indptr, n_entries, shape, ("row", "column"))
    if not _is_sorted(indices, indptr):
        raise _Malformed("the columns of a row are not sorted and unique")


class _Malformed(ValueError):
    pass


def _is_sorted(indices: Array, indptr: Array) -> bool:
    """Whether the columns increase in each row, which makes them unique too."""
    rises = np.empty(len(indices) + 1, dtype=bool)
    np.greater(indices[1:], indices[:-1], out=rises[1:-1])
    rises[indptr] = True  # a new row may begin anywhere; the first and the last place are always in indptr
    return bool(rises.all())


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise _Malformed(f"it has {counted(len(shape), 'dimension')} instead of 2")
    if not all(isinstance(length, int | np.integer) and 0 <= length <= MAX_SIZE for length in shape):
        raise _Malformed(f"its shape {shape} is not made of two integers from 0 to {MAX_SIZE:,}")


def _check_numbers(array: Any, what: str, ndim: int = 1) -> None:
    # Other subclasses (masked arrays) may answer the checks below otherwise than what lies in memory.
    if type(array) not in (np.ndarray, np.memmap) or array.ndim != ndim:
        raise _Malformed(f"{what} is not a plain array of {counted(ndim, 'dimension')}")


def _check_positions(array: Any, size: int, what: str) -> None:
    """Raise unless these are integers from 0 to size - 1."""
    _check_numbers(array, f"the array of {what}s")
    if array.dtype.kind not in "iu":
        raise _Malformed(f"the {what}s are of type {array.dtype}, not integers")
    # As unsigned numbers the negative ones are the largest, so that one pass checks both ends.
    if not len(array) or array.view(array.dtype.str.replace("i", "u")).max() < size:
        return
    low, high = array.min(), array.max()
    if low < 0 or high >= size:
        raise _Malformed(f"an entry is in {what} {int(low if low < 0 else high)}, but there are {size} {what}s")


def _check_compressed(
    indices: Any, indptr: Any, n_entries: int, shape: tuple[int, int], names: tuple[str, str]
) -> None:
    major, minor = names
    _check_numbers(indptr, "indptr")
    if indptr.dtype.kind not in "iu":
        raise _Malformed(f"indptr is of type {indptr.dtype}, not integers")
    if len(indptr) != shape[0] + 1:
        raise _Malformed(f"indptr has {counted(len(indptr), 'value')}, but {shape[0]} {major}s need {shape[0] + 1}")
    if not isinstance(indices, np.ndarray) or indices.ndim != 1 or len(indices) != n_entries:
        raise _Malformed(f"it has {counted(np.size(indices), 'index', 'indices')} for {counted(n_entries, 'value')}")
    if indptr[0] != 0 or indptr[-1] != n_entries:
        raise _Malformed(
            f"indptr goes from {indptr[0]} to {indptr[-1]} instead of from 0 to {n_entries}, the number of entries"
        )
    if np.any(indptr[1:] < indptr[:-1]):
        raise _Malformed(f"indptr decreases, so that the {major}s overlap")
    _check_positions(indices, shape[1], minor)


def as_numbers(values: Array, owner: str = "bursty") -> Array:
    """Convert to a real type that SciPy has loops for; text, dates and complex numbers are rejected."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64) if values.dtype == np.float16 else values
    if values.dtype.kind == "c" or (
        values.dtype.kind == "O" and any(isinstance(item, complex) for item in values.flat)
    ):
        raise ValueError("Complex data not supported: counts are real numbers")
    message = f"{owner} needs counts, but X contains something that is not a number"
    if values.dtype.kind != "O":
        raise ValueError(f"{message}: {values.flat[0] if values.size else values.dtype}")
    strange = next(
        (item for item in values.flat if isinstance(item, str | bytes | np.datetime64 | np.timedelta64)), None
    )
    if strange is not None:
        raise ValueError(f"{message}: {strange!r}")
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{message}: {error}") from error


def _wide(values: Array) -> Array:
    """Copy to a type in which sums of duplicates are exact or, beyond any possible count, at least large."""
    if values.dtype.kind == "f":
        return values.astype(np.result_type(values.dtype, np.float64))
    small = values.dtype.itemsize < 8 or not len(values) or (values.min() >= -MAX_SIZE and values.max() <= MAX_SIZE)
    return values.astype(np.int64 if small else np.float64)


def _from_csr(table: Any) -> sp.csr_array:
    _check_numbers(table.data, "data")
    _check_compressed(table.indices, table.indptr, len(table.data), table.shape, ("row", "column"))
    values = as_numbers(table.data)
    is_plain = values is table.data and type(table) is sp.csr_array
    if is_plain and table.indices.dtype == table.indptr.dtype == np.int32:
        return copy(table)  # of the same arrays, at a sixth of the cost of making one
    return sp.csr_array((values, table.indices, table.indptr), shape=table.shape)


def _from_csc(table: Any) -> sp.csr_array:
    _check_numbers(table.data, "data")
    n_rows, n_columns = table.shape
    _check_compressed(table.indices, table.indptr, len(table.data), (n_columns, n_rows), ("column", "row"))
    return sp.csc_array((as_numbers(table.data), table.indices, table.indptr), shape=table.shape).tocsr()


def _from_bsr(table: Any) -> sp.csr_array:
    _check_numbers(table.data, "data", ndim=3)
    n_blocks, *size = table.data.shape
    if not all(size) or any(length % block for length, block in zip(table.shape, size, strict=True)):
        raise _Malformed(f"blocks of {size[0]} x {size[1]} do not tile its shape {table.shape}")
    blocks = table.shape[0] // size[0], table.shape[1] // size[1]
    _check_compressed(table.indices, table.indptr, n_blocks, blocks, ("block row", "block column"))
    return sp.bsr_array((as_numbers(table.data), table.indices, table.indptr), shape=table.shape).tocsr()


def _from_coo(table: Any) -> sp.csr_array:
    return _from_triples(table.data, table.coords, table.shape)


def _from_triples(values: Any, coords: Any, shape: tuple[int, int]) -> sp.csr_array:
    _check_numbers(values, "data")
    if len(coords) != 2 or any(np.size(places) != len(values) for places in coords):
        raise _Malformed(f"it has {[np.size(places) for places in coords]} positions for {len(values)} values")
    for places, size, what in zip(coords, shape, ("row", "column"), strict=True):
        _check_positions(places, size, what)
    return sp.coo_array((_wide(as_numbers(values)), tuple(coords)), shape=shape).tocsr()


def _from_dia(table: Any) -> sp.csr_array:
    _check_numbers(table.data, "data", ndim=2)
    _check_numbers(table.offsets, "the array of offsets")
    offsets = table.offsets
    if offsets.dtype.kind not in "iu" or len(offsets) != len(table.data) or len(np.unique(offsets)) != len(offsets):
        raise _Malformed(f"it has {len(table.data)} diagonals, but not as many distinct offsets")
    n_rows, n_columns = table.shape
    if len(offsets) and (offsets.min() <= -n_rows or offsets.max() >= n_columns):
        raise _Malformed(f"it has diagonals outside its shape {table.shape}")
    return sp.dia_array((as_numbers(table.data), offsets), shape=table.shape).tocsr()


def _from_dok(table: Any) -> sp.csr_array:
    places = _integers(list(table.keys()), 2)  # iterating a dok_array is not its keys
    return _from_triples(_plain(list(table.values())), tuple(places.T), table.shape)


def _from_lil(table: Any) -> sp.csr_array:
    rows, data = table.rows, table.data
    if len(rows) != table.shape[0] or [*map(len, rows)] != [*map(len, data)]:
        raise _Malformed("its rows do not have one column per value")
    columns = _integers([[column] for column in chain.from_iterable(rows)], 1)[:, 0]
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return _from_triples(_plain(list(chain.from_iterable(data))), (numbers, columns), table.shape)


def _integers(places: list[Any], width: int) -> Array:
    """Convert Python integers to an array without letting any of them wrap around."""
    try:
        array = np.array(places) if places else np.empty((0, width), dtype=np.int64)
    except (ValueError, OverflowError):
        raise _Malformed("its positions are not pairs of integers") from None
    if array.shape != (len(places), width) or array.dtype.kind not in "iu":
        raise _Malformed("its positions are not integers in range")
    return array


def _plain(values: list[Any]) -> Array:
    """Values in the type that they have, which is not always the type that the table says."""
    try:
        array = np.array(values) if values else np.empty(0)
    except (ValueError, OverflowError):
        array = np.empty((len(values), 0))
    return array


_CONVERSIONS = {
    "csr": _from_csr,
    "csc": _from_csc,
    "bsr": _from_bsr,
    "coo": _from_coo,
    "dia": _from_dia,
    "dok": _from_dok,
    "lil": _from_lil,
}
