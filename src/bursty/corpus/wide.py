"""Wide tables of counts: one row per sample, one column per feature, with names for both.

    sample,  Bacteroides, Prevotella, ...
    twin 1,  301,         12
    twin 2,  44,          0

Ecologists, biologists and spreadsheets use this form. A table exported from BIOM has the features in rows (its
header begins with ``#OTU ID``) and is transposed. Columns that describe the samples (a class, a place) are named by
the caller. One called year or date is found if its values are times, and is a feature if they are counts.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Collection, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.core import Corpus
from bursty.corpus.tables import USUAL, Record, Records, as_count, is_count, listed, tidy_column
from bursty.corpus.times import as_times, looks_like_time
from bursty.storage.limits import PER_NAME, Budget

# Numbers of rows and columns inspected to detect a wide table.
_ROWS, _LEAST_COLUMNS = 50, 3
# Bytes per count while the table is built.
_PER_COUNT = 32
_BIOM = "#OTU ID"
_TAXONOMY = ("taxonomy", "consensus lineage")
# Names of a first column whose numbers, if all differ, are names of rows and not counts: "user_id", "SampleID", "row".
_NAMES_ROWS = re.compile(
    r"(?i:(.*[\W_])?(id|key|code|no|nr|number))|.*[a-z](ID|Id)"
    r"|(?i:sample|index|row|doc|document|name|user|customer|client|subject|patient|site|plot)"
)


def looks_wide(head: str, delimiter: str, named: Collection[str] = ()) -> bool:
    """Whether the first lines of a file are a table of counts: all columns but the first and ``named`` have numbers."""
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith("# ")][: _ROWS + 1]
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return False
    if len(rows) < 2 or len(rows[0]) <= _LEAST_COLUMNS:
        return False
    header = [name.strip().lower() for name in rows[0]]
    whole = [row for row in rows[1:] if len(row) == len(header)]
    names_first = not all(is_count(row[0]) for row in whole)
    if names_first and header[0] in USUAL["text"]:
        return False
    roles = {*USUAL["label"], *USUAL["id"], *_TAXONOMY, *(name.strip().lower() for name in named)}
    roles.update(name for i, name in enumerate(header) if _has_times(name, [row[i] for row in whole]))
    counted = [i for i, name in enumerate(header) if name not in roles and (i or not names_first)]
    return bool(whole) and len(counted) >= _LEAST_COLUMNS and all(is_count(row[i]) for row in whole for i in counted)


def read_wide(
    records: Records,
    budget: Budget,
    *,
    label: str | bool | None = None,
    id: str | bool | None = None,
    metadata: Sequence[str] = (),
    transpose: bool = False,
    max_documents: int | None = None,
) -> Corpus:
    """Read a corpus from the rows of a wide table; ``budget`` has the name of the file.

    The options are those of `bursty.read_corpus`; the id is by default also the first column, if it is not numeric, has
    no name, or has one such as ``user_id`` and no number twice.
    """
    name = budget.name
    features: list[str] | None = None
    indices, data, ends = array("i"), array("d"), array("q", [0])
    names: list[str] = []
    labels: list[str] = []
    kept: dict[str, list[Any]] = {}
    id_column = label_column = None
    first = list(islice(records, _ROWS))
    head = [record for _, record in first]
    for place, record in islice(chain(first, records), max_documents):
        if features is None:
            kept = {column: [] for column in _described(name, head, label, id, metadata)}
            id_column, label_column, features = _roles(head, label, id, kept)
            if not features:
                raise ValueError(f"{name} has no columns of counts; the columns are {listed(list(record))}")
            transpose = transpose or id_column == _BIOM
        for column, feature in enumerate(features):
            value = _count(record[feature], place, feature)
            if value:
                indices.append(column)
                data.append(value)
        ends.append(len(indices))
        budget.hold(_PER_COUNT * len(indices) + PER_NAME * len(ends), "its counts")
        if id_column is not None:
            names.append(str(record[id_column]))
        if label_column is not None:
            labels.append(str(record[label_column]))
        for described, values in kept.items():
            values.append(record[described])
    if features is None:
        raise ValueError(f"{name} has no rows")
    shape = (len(ends) - 1, len(features))
    parts = np.frombuffer(data), np.frombuffer(indices, dtype=np.int32), np.frombuffer(ends, dtype=np.int64)
    counts: Any = sp.csr_array(tuple(part.copy() for part in parts), shape=shape)
    if transpose:
        return Corpus(counts.T, names or None, ids=features)
    about = {column: tidy_column(values) for column, values in kept.items()}
    return Corpus(counts, features, ids=names or None, labels=labels or None, metadata=about)


def _described(name: str, rows: Sequence[Record], label: Any, id: Any, metadata: Sequence[str]) -> list[str]:
    """The columns of metadata: those requested, and those with the name of a time that contain times."""
    columns = list(rows[0])
    for column in (label, id, *metadata):
        if isinstance(column, str) and column not in columns:
            raise ValueError(f"{name} has no column {column!r}; the columns are {listed(columns)}")
    if columns[0] == _BIOM:
        return list(metadata)
    times = [column for column in columns if _has_times(column, [row[column] for row in rows])]
    return [*metadata, *(column for column in times if column not in {label, id, *metadata})]


def _has_times(name: str, values: Sequence[Any]) -> bool:
    return looks_like_time(name) and as_times(values) is not None


def _roles(
    head: Sequence[Record], label: Any, id: Any, kept: Collection[str]
) -> tuple[str | None, str | None, list[str]]:
    """The columns of the id, of the label and of the counts, from the first rows."""
    record = head[0]
    columns = [column for column in record if column not in kept]
    usual = {column.strip().lower(): column for column in reversed(columns)}
    if id is None:
        id = _first(usual, USUAL["id"])
    if id is None and columns:
        first = columns[0]
        differ = len({row[first] for row in head}) == len(head)
        named = not first.strip() or first == _BIOM or (differ and _NAMES_ROWS.fullmatch(first.strip()))
        if named or not is_count(record[first]):
            id = first
    if label is None:
        label = _first(usual, USUAL["label"])
    taken = {id, label, *(usual.get(column) for column in _TAXONOMY)}
    features = [column for column in columns if column not in taken]
    return id if isinstance(id, str) else None, label if isinstance(label, str) else None, features


def _first(usual: dict[str, str], names: Sequence[str]) -> str | None:
    return next((usual[name] for name in names if name in usual), None)


def _count(text: Any, place: str, column: str) -> float:
    try:
        return as_count(text)
    except ValueError:
        hint = "metadata= keeps a column beside the counts"
        raise ValueError(f"{place}, column {column!r}: {text!r} is not a count; {hint}") from None
