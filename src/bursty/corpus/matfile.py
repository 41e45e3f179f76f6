"""MATLAB files of version 5 to 7, parsed in pure Python: every size is checked against the available bytes.

    header      128 bytes; the last two give the byte order
    elements    a tag (type and size), the data, padding to a multiple of 8; type 15 is a compressed element
    a matrix    an element of elements: class and flags, dimensions, name, then data depending on the class

| class | content | result |
|---|---|---|
| 1 | one cell per entry, each a matrix without a name | a list of strings, if all of them are text |
| 4 | characters, column by column | a list of strings, one per row |
| 5 | row numbers, column starts, values | `csc_array`, whose positions are not checked yet |
| 6 to 15 | numbers, column by column | an array |

Structures, objects, functions and complex numbers are skipped. `scipy.io.loadmat` reads more, but its compiled
parts trust the file, and damaged files crash the process.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.storage.limits import Budget
from bursty.typing import Array

_HEADER = 128
# Of the format; those of HDF5 (version 7.3) are no files of this kind.
_VERSION = 0x0100
_BLOCK = 2**16
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = range(1, 19)
_CELL, _CHAR, _SPARSE, _NUMBERS = 1, 4, 5, range(6, 16)
_COMPLEX = 0x0800
_DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXT = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}

# A cell with one line of text, up to the tag of the text: its own tag, class and flags, numbers of rows and columns,
# no name.
_PLAIN = {order: struct.Struct(f"{order}14I") for order in "<>"}
_PLAIN_FIELDS = [6, 8, _CHAR, 0, 5, 8, 1]


class Damaged(ValueError):
    """The file violates the format."""


def read_variables(content: bytes, name: str) -> dict[str, Any]:
    """Arrays, sparse matrices and lists of strings by name of variable; everything else is skipped."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise Damaged("its header does not give the byte order")
    version = struct.unpack(f"{order}H", content[124:126])[0]
    if version != _VERSION:
        raise Damaged(f"its header gives version {version:#06x} instead of {_VERSION:#06x}")
    budget = Budget(name, len(content))
    found: dict[str, Any] = {}
    elements = _Elements(memoryview(content)[_HEADER:], order)
    while elements.left:
        kind, data = elements.next()
        if kind == _COMPRESSED:
            inner = _Elements(memoryview(_inflate(data, budget)), order)
            kind, data = inner.next()
            if inner.left:
                raise Damaged("a compressed variable has trailing bytes")
        if kind != _MATRIX:
            raise Damaged(f"it has an element of type {kind} instead of a variable")
        variable, value = _read_matrix(_Elements(data, order))
        if variable in found:
            raise Damaged(f"it has two variables named {variable!r}")
        if value is not None and variable:
            found[variable] = value
    return found


@dataclass
class _Elements:
    """Sequential reader of elements."""

    data: memoryview
    order: str

    @property
    def left(self) -> int:
        return len(self.data)

    def next(self) -> tuple[int, memoryview]:
        """Type and bytes of the next element, which must be complete."""
        if self.left < 8:
            raise Damaged("it is truncated")
        kind, size = struct.unpack(f"{self.order}II", self.data[:8])
        start, padding = 8, 0 if kind == _COMPRESSED else -size % 8
        if kind >> 16:  # a small element: size and type share a word, and at most 4 bytes follow
            kind, size, start = kind & 0xFFFF, kind >> 16, 4
            padding = 4 - size
        if padding < 0 or start + size > self.left:
            raise Damaged("it is truncated, or the size of an element is wrong")
        element = self.data[start : start + size]
        self.data = self.data[start + size + padding :]
        return kind, element

    def numbers(self) -> Array:
        """The next element as an array of numbers."""
        kind, data = self.next()
        dtype = _DTYPES.get(kind)
        if dtype is None:
            raise Damaged(f"it has an element of type {kind} instead of numbers")
        dtype = self.order + dtype
        if len(data) % np.dtype(dtype).itemsize:
            raise Damaged("the size of an element is not a multiple of the size of its numbers")
        return np.frombuffer(data, dtype=dtype).astype(dtype[1:])

    def text(self) -> str:
        """The next element as characters."""
        kind, data = self.next()
        if kind not in _TEXT:
            raise Damaged(f"it has an element of type {kind} instead of text")
        return _decode(kind, data, self.order)


def _decode(kind: int, data: memoryview, order: str) -> str:
    encoding = _TEXT[kind]
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le" if order == "<" else "-be"
    return str(data, encoding, "replace")


def _read_matrix(parts: _Elements) -> tuple[str, Any]:
    """Name and value of a variable; the value is None for classes that are skipped."""
    if not parts.left:
        return "", ""  # an empty cell
    kind, data = parts.next()
    if kind != 6 or len(data) != 8:
        raise Damaged("a variable does not start with its class")
    flags = struct.unpack(f"{parts.order}II", data)[0]
    matrix_class, is_complex = flags & 0xFF, bool(flags & _COMPLEX)
    if matrix_class not in _CLASSES:
        raise Damaged(f"a variable is of the unknown class {matrix_class}")
    if matrix_class not in (_CELL, _CHAR, _SPARSE, *_NUMBERS):
        return "", None
    shape = tuple(parts.numbers().tolist())
    if len(shape) < 2 or not all(isinstance(length, int) and 0 <= length < 2**31 for length in shape):
        raise Damaged("a variable has invalid dimensions")
    name = parts.text()
    if is_complex:
        return name, None
    readers = {_CELL: _read_cells, _CHAR: _read_text, _SPARSE: _read_sparse}
    value = readers.get(matrix_class, _read_numbers)(parts, shape)
    if value is not None and parts.left:
        raise Damaged(f"variable {name!r} has trailing bytes")
    return name, value


def _read_numbers(parts: _Elements, shape: tuple[int, ...]) -> Array:
    values = parts.numbers()
    if len(values) != math.prod(shape):
        raise Damaged(f"a table of shape {shape} has {len(values)} numbers")
    return values.reshape(shape, order="F")


def _read_sparse(parts: _Elements, shape: tuple[int, ...]) -> sp.csc_array:
    rows, starts = parts.numbers(), parts.numbers()
    values = parts.numbers() if parts.left else np.zeros(0)
    n_entries = int(starts[-1]) if len(starts) else -1
    if len(shape) != 2 or len(starts) != shape[1] + 1 or not 0 <= n_entries <= min(len(rows), len(values)):
        raise Damaged("a sparse table has fewer rows, columns or values than declared")
    table = sp.csc_array(shape, dtype=values.dtype)
    # MATLAB may allocate more entries than are used.
    table.data, table.indices, table.indptr = values[:n_entries], rows[:n_entries], starts
    return table


def _read_text(parts: _Elements, shape: tuple[int, ...]) -> list[str]:
    text = parts.text() if parts.left else ""
    n_rows = shape[0]
    if n_rows <= 1:
        return [text] if text else []
    if not text or len(text) != math.prod(shape):
        raise Damaged(f"text of shape {shape} has {len(text)} characters")
    return [text[row::n_rows] for row in range(n_rows)]


def _read_cells(parts: _Elements, shape: tuple[int, ...]) -> list[str] | None:
    cells: list[str] = []
    for _ in range(math.prod(shape)):
        plain = _next_plain_text(parts)
        if plain is not None:
            cells.append(plain)
            continue
        kind, data = parts.next()
        if kind != _MATRIX:
            raise Damaged("a cell contains something that is not a variable")
        text = _cell_text(data, parts.order)
        if text is None:
            return None
        cells.append(text)
    return cells if 1 in shape[-2:] else None


def _next_plain_text(parts: _Elements) -> str | None:
    """The next cell, if it is one line of text laid out as usual; otherwise None, and nothing is read.

    A vocabulary is tens of thousands of these: reading them element by element takes five times as long.
    """
    data = parts.data
    if len(data) < _PLAIN[parts.order].size:
        return None
    kind, cell_size, *fields, n_columns, name, name_size, text, size = _PLAIN[parts.order].unpack_from(data)
    start = _PLAIN[parts.order].size
    end = start + size + -size % 8
    if text >> 16:  # a small element
        text, size, start, end = text & 0xFFFF, text >> 16, start - 4, start
    usual = kind == _MATRIX and fields == _PLAIN_FIELDS and n_columns < 2**31 and (name, name_size) == (1, 0)
    if not usual or text not in _TEXT or end != cell_size + 8 or not start + size <= end <= len(data):
        return None
    parts.data = data[end:]
    return _decode(text, data[start : start + size], parts.order)


def _cell_text(data: memoryview, order: str) -> str | None:
    """The text of a cell; None if it contains anything else (including nested cells)."""
    if len(data) >= 16 and struct.unpack(f"{order}I", data[8:12])[0] & 0xFF == _CELL:
        return None
    value = _read_matrix(_Elements(data, order))[1]
    if isinstance(value, np.ndarray):
        return "" if value.size == 0 else None
    if isinstance(value, list) and len(value) <= 1:
        return value[0] if value else ""
    return value if isinstance(value, str) else None


def _inflate(data: memoryview, budget: Budget) -> bytes:
    """Decompress an element in small pieces, which are counted against the budget."""
    inflate = zlib.decompressobj()
    pieces = []
    try:
        for start in range(0, len(data), _BLOCK):
            pending: Any = data[start : start + _BLOCK]
            while len(pending):
                pieces.append(inflate.decompress(pending, 2**20))
                budget.spend(len(pieces[-1]))
                pending = inflate.unconsumed_tail
    except zlib.error as error:
        raise Damaged(str(error)) from error
    if not inflate.eof:
        raise Damaged("a compressed variable is truncated")
    return b"".join(pieces)
