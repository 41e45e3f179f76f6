"""Tables of counts in text files: LDA-C, UCI docword, CLUTO, MatrixMarket, svmlight.

| format | lines |
|---|---|
| LDA-C | number of distinct words, then ``word:count`` with words from 0 |
| UCI docword | three lines D, W, N; then ``document word count``, from 1 |
| CLUTO | a line ``D W N`` (or ``D W``, then a dense table); then ``word count word count``, from 1 |
| MatrixMarket | header, ``D W N``, then ``document word count``, from 1 |
| svmlight | label, then ``word:count``; words from 0 or 1 |

The sizes in a header are checked against the limits before anything is allocated (`bursty.storage.limits`).
Each parser returns `Entries`; its `as_table` checks them and builds the counts.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import scipy.sparse as sp

from bursty.corpus.sources import Source
from bursty.storage.limits import PER_CHARACTER, Budget, check_claim
from bursty.typing import Array
from bursty.wording import counted

_MAX_INDEX = 2**31 - 2
# Bytes per entry while the table is built.
_PER_ENTRY = 32
_SYMMETRIES = (b"general", b"symmetric")
# A number or label, and pairs.
_ROW = re.compile(rb"\s*+[^\s:]++(?:\s++[^\s:]++:[^\s:]++)*+\s*+")
# What NumPy, unlike bytes.split, takes for white space.
_SEPARATORS = bytes([*range(0x1C, 0x20), 0x85, 0xA0])


@dataclass
class Entries:
    """Counts being read: row, column and count of each entry, and the labels of the rows."""

    budget: Budget
    rows: array[int] = field(default_factory=lambda: array("i"))
    columns: array[int] = field(default_factory=lambda: array("i"))
    values: array[float] = field(default_factory=lambda: array("d"))
    n_rows: int = 0
    n_columns: int = 0
    labels: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self.budget.name

    def add(self, row: int, columns: Array, values: Array, place: str) -> None:
        """Add the entries of one row; columns are numbered from 0."""
        _check_positions(columns, place)
        self.extend(np.full(len(columns), row), columns, values)

    def extend(self, rows: Array, columns: Array, values: Array) -> None:
        """Add entries whose positions have been checked, unless they exceed the memory budget."""
        self.rows.frombytes(rows.astype(np.int32).tobytes())
        self.columns.frombytes(columns.astype(np.int32).tobytes())
        self.values.frombytes(values.tobytes())
        self.budget.hold(_PER_ENTRY * len(self.values), "its counts")

    def as_table(self, transpose: bool = False) -> sp.csr_array:
        """Build the table; implausible sizes raise an error."""
        columns = np.frombuffer(self.columns, dtype=np.int32) if self.columns else np.zeros(0, np.int32)
        rows = np.frombuffer(self.rows, dtype=np.int32) if self.rows else np.zeros(0, np.int32)
        values = np.frombuffer(self.values, dtype=np.float64) if self.values else np.zeros(0)
        n_rows = max(self.n_rows, int(rows.max(initial=-1)) + 1)
        n_columns = max(self.n_columns, int(columns.max(initial=-1)) + 1)
        check_claim(n_rows, len(values), self.name, "documents")
        check_claim(n_columns, len(values), self.name, "words")
        if not n_rows or not n_columns:
            raise ValueError(f"{self.name} has no documents or no words")
        table = sp.coo_array((values, (rows, columns)), shape=(n_rows, n_columns))
        return sp.csr_array(table.T if transpose else table)


def read_ldac(source: Source) -> Entries:
    """LDA-C, the format of David Blei's programs."""
    entries = Entries(source.budget())
    for number, line in _lines(source):
        place = f"{source.name}, line {number}"
        numbers = _numbers(line.replace(b":", b" "), place)
        if not _ROW.fullmatch(line) or len(numbers) != 2 * numbers[0] + 1:
            raise ValueError(f"{place} should be the number of words, followed by that many word:count pairs")
        entries.add(entries.n_rows, numbers[1::2], numbers[2::2], place)
        entries.n_rows += 1
    return entries


def read_uci(source: Source) -> Entries:
    """The docword files of the UCI bag-of-words collection."""
    lines = _lines(source)
    n_rows, n_columns, n_entries = (_header_numbers(lines, 1, source.name)[0] for _ in range(3))
    return _triplets(source.budget(), lines, n_rows, n_columns, n_entries)


def read_matrix_market(source: Source) -> Entries:
    """MatrixMarket, coordinate or array; of a symmetric matrix the file has the lower triangle."""
    lines = _lines(source)
    kind = next(lines, (0, b""))[1].lower().split()
    if len(kind) != 5 or kind[:2] != [b"%%matrixmarket", b"matrix"]:
        raise ValueError(f"{source.name} does not start with a MatrixMarket header")
    if kind[2] not in (b"coordinate", b"array") or kind[3] == b"complex" or kind[4] not in _SYMMETRIES:
        given = b" ".join(kind[2:]).decode("ascii", "replace")
        raise ValueError(f"{source.name} is {given!r}: counts need 'coordinate integer general'")
    content = ((number, line) for number, line in lines if not line.startswith(b"%"))
    symmetric = kind[4] == b"symmetric"
    if kind[2] == b"array":
        n_rows, n_columns = _header_numbers(content, 2, source.name)
        return _dense_columns(source.budget(), content, n_rows, n_columns, symmetric)
    n_rows, n_columns, n_entries = _header_numbers(content, 3, source.name)
    if symmetric and n_rows != n_columns:
        raise ValueError(
            f"{source.name} is symmetric but has {counted(n_rows, 'row')} and {counted(n_columns, 'column')}"
        )
    pattern = kind[3] == b"pattern"
    entries = _triplets(source.budget(), content, n_rows, n_columns, n_entries, pattern)
    if symmetric:
        _mirror(entries)
    return entries


def read_cluto(source: Source) -> Entries:
    """CLUTO's .mat, sparse or dense."""
    lines = _lines(source, blank=True)
    _, first = next(lines, (0, b""))
    header = [_whole(value, source.name) for value in _numbers(first, source.name)]
    if len(header) not in (2, 3):
        raise ValueError(f"{source.name}, line 1 should be the numbers of documents, words and counts")
    entries = Entries(source.budget(), n_rows=header[0], n_columns=header[1])
    row = 0
    for number, line in lines:
        if row == entries.n_rows:
            if line.strip():
                raise ValueError(f"{source.name}, line {number}: more rows than the {entries.n_rows} of the header")
            continue
        place = f"{source.name}, line {number}"
        numbers = _numbers(line, place)
        if len(header) == 2:
            if len(numbers) != header[1]:
                raise ValueError(f"{place} has {counted(len(numbers), 'number')} for {counted(header[1], 'word')}")
            here = np.flatnonzero(numbers)
            entries.add(row, here.astype(np.float64), numbers[here], place)
        elif len(numbers) % 2:
            raise ValueError(f"{place} should be pairs of word and count")
        else:
            entries.add(row, numbers[0::2] - 1, numbers[1::2], place)
        row += 1
    _expect(row, entries.n_rows, source.name, "documents")
    if len(header) == 3:
        _expect(len(entries.values), header[2], source.name, "counts")
    _check_columns(entries)
    return entries


def read_svmlight(source: Source, zero_based: bool | None = None) -> Entries:
    """Svmlight, also called libsvm; words are numbered from 1 unless a 0 occurs or `zero_based` is set."""
    entries = Entries(source.budget())
    for number, line in _lines(source):
        content = line.split(b"#", 1)[0].split()
        if not content:
            continue
        place = f"{source.name}, line {number}"
        label, *pairs = content
        pairs = [pair for pair in pairs if not pair.startswith(b"qid:")]
        if not _ROW.fullmatch(b" ".join([label, *pairs])):
            raise ValueError(f"{place} should be a label and word:count pairs")
        numbers = _numbers(b" ".join(pairs).replace(b":", b" "), place)
        entries.add(entries.n_rows, numbers[0::2], numbers[1::2], place)
        entries.labels.append(_label_name(label, place))
        entries.n_rows += 1
    columns = np.frombuffer(entries.columns, dtype=np.int32) if entries.columns else np.ones(1, np.int32)
    if not (columns.min() == 0 if zero_based is None else zero_based):
        if columns.min() == 0:
            raise ValueError(f"{source.name} has a word 0 although zero_based=False")
        entries.columns = array("i", (columns - 1).tobytes()) if entries.columns else entries.columns
    return entries


def _triplets(
    budget: Budget,
    lines: Iterator[tuple[int, bytes]],
    n_rows: int,
    n_columns: int,
    n_entries: int,
    pattern: bool = False,
) -> Entries:
    """Parse lines of document, word and count, many at a time."""
    entries, name = Entries(budget, n_rows=n_rows, n_columns=n_columns), budget.name
    width = 2 if pattern else 3
    for number, block in _line_blocks(lines):
        place = f"{name}, from line {number}"
        table = _table(block, width, place)
        documents, words = table[:, 0] - 1, table[:, 1] - 1
        for positions, size, what in ((documents, n_rows, "document"), (words, n_columns, "word")):
            _check_positions(positions, place)
            if positions.max(initial=-1) >= size:
                raise ValueError(f"{place}: {what} {positions.max() + 1:.0f} is above the {size} of the header")
        entries.extend(documents, words, np.ones(len(table)) if pattern else table[:, 2])
    _expect(len(entries.values), n_entries, name, "counts")
    return entries


def _dense_columns(
    budget: Budget, lines: Iterator[tuple[int, bytes]], n_rows: int, n_columns: int, symmetric: bool
) -> Entries:
    """Parse one number per line, column by column; in a symmetric matrix columns start at the diagonal."""
    entries, name = Entries(budget, n_rows=n_rows, n_columns=n_columns), budget.name
    if symmetric and n_rows != n_columns:
        raise ValueError(f"{name} is symmetric but has {counted(n_rows, 'row')} and {counted(n_columns, 'column')}")
    row = column = n_read = 0
    for number, line in lines:
        place = f"{name}, line {number}"
        for value in _numbers(line, place):
            n_read += 1
            if column < n_columns:
                entries.add(row, np.array([column], dtype=float), np.array([value]), place)
            row += 1
            if row >= n_rows:
                column += 1
                row = column if symmetric else 0
    _expect(n_read, n_rows * (n_rows + 1) // 2 if symmetric else n_rows * n_columns, name, "numbers")
    if symmetric:
        _mirror(entries)
    return entries


def _mirror(entries: Entries) -> None:
    """Add the upper triangle of a symmetric matrix."""
    n_entries = len(entries.values)
    for place in range(n_entries):
        row, column = entries.rows[place], entries.columns[place]
        if row != column:
            entries.rows.append(column)
            entries.columns.append(row)
            entries.values.append(entries.values[place])


def _lines(source: Source, blank: bool = False) -> Iterator[tuple[int, bytes]]:
    budget = source.budget()
    longest = budget.longest
    with source.open() as stream:
        for number, line in enumerate(iter(partial(stream.readline, longest), b""), start=1):
            if len(line) == longest and not line.endswith(b"\n"):
                budget.hold(PER_CHARACTER * (len(line) + 1), "one line")
            if blank or line.strip():
                yield number, line


def _line_blocks(lines: Iterator[tuple[int, bytes]], size: int = 2**20) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines of about this many bytes, each with the number of its first line."""
    block: list[bytes] = []
    start = length = 0
    for number, line in lines:
        start = start or number
        block.append(line)
        length += len(line)
        if length >= size:
            yield start, block
            block, start, length = [], 0, 0
    if block:
        yield start, block


def _numbers(line: bytes, place: str) -> Array:
    """The numbers of a line."""
    if b"_" in line:
        raise ValueError(f"{place}: '_' is not part of a number")  # for Python it is
    try:
        return np.fromiter(map(float, line.split()), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _table(lines: list[bytes], width: int, place: str) -> Array:
    """The numbers of many lines, which must all have the same number of them."""
    text, reason = b"".join(lines), "there are control characters"
    if len(text.translate(None, _SEPARATORS)) == len(text):
        try:
            table = np.loadtxt(lines, comments=None, ndmin=2)
            if table.shape[1] == width:
                return table
            reason = f"there are {table.shape[1]}"
        except ValueError as error:
            reason = str(error)
    raise ValueError(f"{place}: a line should have {counted(width, 'number')} ({reason})")


def _header_numbers(lines: Iterator[tuple[int, bytes]], expected: int, name: str) -> list[int]:
    number, line = next(lines, (1, b""))
    values = _numbers(line, f"{name}, line {number}")
    if len(values) != expected:
        raise ValueError(f"{name}, line {number} should have {counted(expected, 'integer')}")
    return [_whole(value, name) for value in values]


def _whole(value: float, name: str) -> int:
    if not (0 <= value <= 2**53 and value == int(value)):
        raise ValueError(f"{name}: the header has {value}, which is not a number of documents, words or counts")
    return int(value)


def _check_positions(positions: Array, place: str) -> None:
    fault = ~((positions >= 0) & (positions <= _MAX_INDEX) & (positions == np.floor(positions)))
    if fault.any():
        raise ValueError(f"{place}: {positions[fault][0]} is not a position in the table")


def _check_columns(entries: Entries) -> None:
    top = max(entries.columns, default=-1)
    if top >= entries.n_columns:
        raise ValueError(f"{entries.name}: word {top + 1} is above the {entries.n_columns} of the header")


def _expect(found: int, promised: int, name: str, what: str) -> None:
    if found != promised:
        raise ValueError(f"{name} has {found:,} {what} but its header says {promised:,}: it is truncated or damaged")


def _label_name(label: bytes, place: str) -> str:
    """Labels of one document, integers without a decimal point; NaN is none."""
    names = []
    for part in label.decode("ascii", "replace").split(","):
        try:
            value = float(part)
        except ValueError as error:
            raise ValueError(f"{place}: {part!r} is not a label") from error
        if not math.isnan(value):
            names.append(str(int(value)) if abs(value) < 2**53 and value == int(value) else part)
    return ",".join(names)
