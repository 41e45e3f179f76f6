"""Tables with one text per row: CSV, TSV, JSON lines, Parquet.

A reader of records yields one dictionary per row; `read_table` selects the columns for text, label and id, and counts
the words one block at a time. Columns are found by name; the error for a missing name lists the existing ones.
"""

from __future__ import annotations

import csv
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from bursty.corpus.core import Corpus
from bursty.corpus.decoding import iter_lines, read_text
from bursty.corpus.labels import encode_label_sets, encode_labels, strings
from bursty.corpus.sources import Source
from bursty.corpus.text import CountBuilder, TextOptions
from bursty.corpus.times import as_times, looks_like_time, may_be_time
from bursty.storage.limits import PER_CHARACTER, Budget
from bursty.wording import counted

Record = Mapping[str, Any]

#: Rows, each with its location for messages.
Records = Iterator[tuple[str, Record]]

# Default names of columns.
USUAL = {
    "text": ("text", "document", "body", "content"),
    "label": ("label", "class", "category"),
    "id": ("id", "identifier"),
}
_MAX_FIELD = 2**31 - 1
_DELIMITERS = (",", ";", "\t", "|")
# Number of lines in which quotes are looked for, and of rows in which columns are.
_SNIFFED = 100
# Longer names of columns are shortened in messages, and are probably texts of a file without a header.
_LONGEST_NAME = 40


def read_table(
    records: Records,
    name: str,
    text_options: TextOptions,
    *,
    text: str | Sequence[str] | None = None,
    label: str | bool | None = None,
    id: str | bool | None = None,
    metadata: Sequence[str] = (),
    label_separator: str | None = None,
    max_documents: int | None = None,
    clean: Callable[[str], str] | None = None,
    budget: Budget | None = None,
) -> Corpus:
    """Read a corpus from the rows of a table: pairs of the location of the row, for messages, and the row.

    The options are those of `bursty.read_corpus`. The first column with the name of a time (year, date, ...) is always
    kept, or, if there is none, the first whose name contains one (publication_year) and that has times.
    """
    builder = CountBuilder(text_options, budget=budget)
    records = islice(records, max_documents)
    first = list(islice(records, _SNIFFED))
    if not first:
        raise ValueError(f"{name} has no rows")
    columns: dict[str, Any] = {}  # objects of JSON may lack any column, the first of them, too
    for _, record in first:
        columns = {**columns, **{column: value for column, value in record.items() if column not in columns}}
    if text is None:
        text = _usual([column for column in columns if all(column in record for _, record in first)], "text")
    text_columns, label_column, id_column = picked = _pick(columns, name, text, label, id, metadata)
    labels: list[Any] = []
    ids: list[str] = []
    kept: dict[str, list[Any]] = {column: [] for column in _with_times(columns, picked, metadata)}
    for place, record in chain(first, records):
        document = "\n".join(text_options.plain_text(_as_text(record, column, place)) for column in text_columns)
        builder.append(document if clean is None else clean(document))
        if label_column is not None:
            labels.append(record.get(label_column))
        if id_column is not None:
            ids.append(_as_name(record.get(id_column)) or "")
        for column, values in kept.items():
            values.append(record.get(column))
    for column in [column for column in kept if column not in metadata]:
        if not looks_like_time(column) and as_times(tidy_column(kept[column]), epochs=True) is None:
            del kept[column]
        else:
            _warn_unreadable(name, column, kept[column])
    counts, vocabulary = builder.finish()
    return Corpus(
        counts,
        vocabulary,
        ids=ids if id_column is not None else None,
        metadata={column: tidy_column(values) for column, values in kept.items()},
        texts=builder.texts,
        info=text_options.as_info(),
        **(_labels(labels, label_separator) if label_column is not None else {}),
    )


def csv_records(
    source: Source,
    encoding: str | None,
    delimiter: str | None,
    quoted: bool | None,
    columns: Sequence[str] | None = None,
    comments: bool = False,
) -> Records:
    """Rows of a CSV or TSV file; the first line names the columns unless `columns` does.

    Without a delimiter it is detected from the first line, and ``quoted=None`` is from the first hundred. With
    ``comments``, lines before the header that begin with ``# `` are skipped.
    """
    with source.open() as stream:
        budget = source.budget()
        lines = iter_lines(stream, source.name, encoding, budget)
        if comments:
            lines = chain([next((line for line in lines if not line.startswith("# ")), "")], lines)
        if delimiter is None:
            first = next(lines, "")
            delimiter, lines = find_delimiter(first), chain([first], lines)
        if quoted is None:
            first_lines = list(islice(lines, _SNIFFED))
            quoted, lines = uses_quotes(first_lines, delimiter), chain(first_lines, lines)
        rows = _quoted_rows(lines, budget, delimiter) if quoted else _plain_rows(lines, delimiter)
        header = list(columns) if columns is not None else None
        for number, row in rows:
            if not row:
                continue
            if header is None:
                header = [column.strip() for column in row]
                if len(set(header)) < len(header):
                    raise ValueError(f"{source.name} has two columns of the same name: {listed(header)}{_hint(header)}")
                continue
            if len(row) != len(header):
                sizes = f"{counted(len(row), 'field')} for {counted(len(header), 'column')}"
                raise ValueError(
                    f"{source.name}, line {number}: {sizes} ({listed(header)}). "
                    "Check the delimiter and the quotes (delimiter=, quoted=)"
                )
            yield f"{source.name}, line {number}", dict(zip(header, row, strict=True))


def find_delimiter(head: str) -> str:
    """The delimiter that splits the header of a table into the most fields; a comma if none does.

    Examples
    --------
    >>> find_delimiter("id;text\\n1;rain, wind")
    ';'
    """
    header = next((line for line in head.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=lambda mark: (_n_fields(header, mark), -_DELIMITERS.index(mark)))


def uses_quotes(lines: Sequence[str], delimiter: str) -> bool:
    """Whether the fields of a table that may or may not be quoted are: only then do its first rows fit the header.

    Examples
    --------
    >>> uses_quotes(["id\\ttext", '1\\t"two', 'lines"'], "\\t")
    True
    >>> uses_quotes(["id\\ttext", '1\\t5" disk', '2\\t"unclosed'], "\\t")
    False
    """
    if not lines or not any('"' in line for line in lines):
        return False
    header = lines[0].split(delimiter)
    if all(len(field) > 1 and field[0] == field[-1] == '"' for field in header):
        return True
    if all(line.count(delimiter) == len(header) - 1 for line in lines if line):
        return False
    rows: list[int] = []
    try:
        rows.extend(len(row) for row in csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True))
    except csv.Error as error:
        # The last row may go on in lines that are not among these.
        if "unexpected end" not in str(error):
            return False
    return len(rows) > 1 and all(n in (0, len(header)) for n in rows)


def _n_fields(line: str, mark: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=mark), []))
    except csv.Error:
        return 0


def line_records(source: Source, encoding: str | None) -> Records:
    """One document per line."""
    with source.open() as stream:
        for number, line in enumerate(iter_lines(stream, source.name, encoding, source.budget()), start=1):
            yield f"{source.name}, line {number}", {"text": line}


def json_records(source: Source, encoding: str | None) -> Records:
    """Objects of a JSON lines file, or of a file with one array of objects or strings."""
    if source.head().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from _array_records(source, encoding)
        return
    with source.open() as stream:
        for number, line in enumerate(iter_lines(stream, source.name, encoding, source.budget()), start=1):
            if not line.strip():
                continue
            place = f"{source.name}, line {number}"
            record = _parse(line, place, "is not JSON", "; the file must have one object per line")
            if not isinstance(record, dict):
                raise ValueError(f"{place} is not a JSON object but {type(record).__name__}; give one object per line")
            yield place, record


def _array_records(source: Source, encoding: str | None) -> Records:
    with source.open() as stream:
        text = read_text(stream, source.name, encoding, source.budget())
    items = _parse(text, source.name, "is not a JSON array")
    for number, item in enumerate(items):
        place = f"{source.name}, item {number}"
        if isinstance(item, str):
            item = {"text": item}
        if not isinstance(item, dict):
            raise ValueError(f"{place} is neither an object nor a string but {type(item).__name__}")
        yield place, item


class _KeyTwiceError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _KeyTwiceError(f"the key {key!r} occurs twice in an object")
    return record


def _parse(text: str, place: str, problem: str, advice: str = "") -> Any:
    """JSON in which no object has a key twice: which of the values is meant, nobody knows."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except _KeyTwiceError as error:
        raise ValueError(f"{place}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} {problem} ({error}){advice}") from error


def tidy_column(values: Sequence[Any]) -> Any:
    """The column as numbers if all values are numbers, otherwise as strings; missing values become empty strings."""
    array = np.asarray(values) if not any(value is None for value in values) else None
    if array is not None and array.ndim == 1 and array.dtype.kind in "biufM":
        return array
    return strings("" if value is None else str(value) for value in values)


def _pick(
    record: Record,
    name: str,
    text: str | Sequence[str] | None,
    label: str | bool | None,
    id: str | bool | None,
    metadata: Sequence[str],
) -> tuple[list[str], str | None, str | None]:
    there = list(record)
    if text is None:
        usual = _usual(there, "text")
        if usual is None:
            raise ValueError(
                f"{name}: give the column of the text, text=...; the columns are {listed(there)}{_hint(record)}"
            )
        text = usual
    texts = [text] if isinstance(text, str) else list(text)
    label = _usual(there, "label") if label is None else label
    id = _usual(there, "id") if id is None else id
    for column in (*texts, label, id, *metadata):
        if isinstance(column, str) and column not in record:
            several = {part.strip() for part in column.split(",")} <= set(there)
            hint = ", each of which is given by itself" if several else ""
            raise ValueError(f"{name} has no column {column!r}; the columns are {listed(there)}{hint}")
    return texts, label if isinstance(label, str) else None, id if isinstance(id, str) else None


def _with_times(record: Record, picked: tuple[list[str], str | None, str | None], metadata: Sequence[str]) -> list[str]:
    """The columns to keep: those requested, and the first with the name of a time, or else with a name like one."""
    texts, label, id = picked
    others = [column for column in record if column not in {*texts, label, id, *metadata}]
    times = [column for column in others if looks_like_time(column)]
    times += [column for column in others if may_be_time(column)]
    return [*metadata, *times[:1]]


def _warn_unreadable(name: str, column: str, values: Sequence[Any]) -> None:
    """Warn if a column has the name of a time but cannot be parsed as one."""
    given = [value for value in values if value not in (None, "")]
    if given and as_times(tidy_column(values), epochs=True) is None:
        warnings.warn(
            f"{name}: column {column!r} looks like a time, but {given[0]!r} cannot be parsed as one: "
            "use years (1999) or ISO dates (1999-12-31) to see trends",
            UserWarning,
            stacklevel=4,
        )


def _usual(there: Sequence[str], role: str) -> str | None:
    by_name = {column.lower(): column for column in reversed(there)}
    return next((by_name[usual] for usual in USUAL[role] if usual in by_name), None)


def listed(columns: Sequence[str]) -> str:
    """The first names of columns, for a message."""
    shown = ", ".join(repr(_shortened(column)) for column in columns[:20])
    return shown + (f" and {len(columns) - 20:,} more" if len(columns) > 20 else "")


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _hint(row: Record | Sequence[str]) -> str:
    """What may be wrong with a table without a column of texts: it has no header, or it is a table of counts."""
    if any(len(name) > _LONGEST_NAME or is_count(name) for name in row):
        return "; the first line is taken for their names: if it is a row, name the columns with columns="
    if not isinstance(row, Mapping):
        return ""
    others = [column for column, value in row.items() if not is_count(value)]
    if len(others) > 4 or len(row) - len(others) < 3:
        return ""
    rest = f" (here {listed(others)})" if others else ""
    return f"; if it is a table of counts, name the columns without counts{rest} with label=, id= or metadata="


def is_count(value: Any) -> bool:
    """Whether the value is a number of zero or more."""
    try:
        return as_count(value) >= 0
    except (TypeError, ValueError):
        return False


def as_count(value: Any) -> float:
    """The number; an empty cell is 0, and "1_000" and digits of other scripts are numbers for Python only."""
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError(f"{value!r} is not a number")
    return float(value or 0)


def _as_text(record: Record, column: str, place: str) -> str:
    """Text of a field: missing values are empty, lists of tokens are joined."""
    try:
        value = record[column]
    except KeyError:
        raise ValueError(f"{place} has no {column!r}; it has {listed(list(record))}") from None
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        return " ".join(value)
    raise ValueError(f"{place}: column {column!r} contains {type(value).__name__}, not text")


def _as_name(value: Any) -> str | None:
    return None if value is None else str(value)


def _labels(values: Sequence[Any], separator: str | None) -> dict[str, Any]:
    if separator is None and not any(isinstance(value, list) for value in values):
        codes, names = encode_labels([_as_name(value) for value in values])
        return {"labels": codes, "label_names": names}
    sets = []
    for value in values:
        if isinstance(value, list):
            sets.append([str(part) for part in value])
        else:
            parts = [] if value is None else str(value).split(separator) if separator else [str(value)]
            sets.append([part.strip() for part in parts])
    matrix, names = encode_label_sets(sets)
    return {"label_matrix": matrix, "label_names": names}


def _plain_rows(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, start=1):
        yield number, line.split(delimiter) if line else []


def _quoted_rows(lines: Iterator[str], budget: Budget, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    # The csv module's limit of 128 KiB per field is far below the size of some documents.
    csv.field_size_limit(_MAX_FIELD)
    length = 0

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            budget.hold(PER_CHARACTER * length, "one row")
            yield line + "\n"

    reader = csv.reader(counted(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            length = 0
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"{budget.name}, line {reader.line_num}: {error}. Check the delimiter and the quotes (delimiter=, quoted=)"
        ) from error
