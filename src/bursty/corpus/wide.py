"""Wide tables of counts: one row per sample, one column per feature, with names for both.

    sample,  Bacteroides, Prevotella, ...
    twin 1,  301,         12
    twin 2,  44,          0

Ecologists, biologists and spreadsheets use this form. A table exported from BIOM has the features in rows (its
header begins with ``#OTU ID``) and is transposed.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.core import Corpus
from bursty.corpus.tables import USUAL, Records
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


def looks_wide(head: str, delimiter: str) -> bool:
    """Whether the first lines of a file are a table of counts: all columns but the first contain numbers."""
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith("# ")][: _ROWS + 1]
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return False
    if len(rows) < 2 or len(rows[0]) <= _LEAST_COLUMNS:
        return False
    header = [name.strip().lower() for name in rows[0]]
    whole = [row for row in rows[1:] if len(row) == len(header)]
    names_first = not all(_is_number(row[0]) for row in whole)
    if names_first and header[0] in USUAL["text"]:
        return False
    roles = (*USUAL["label"], *USUAL["id"], *_TAXONOMY)
    counted = [i for i, name in enumerate(header) if name not in roles and (i or not names_first)]
    return bool(whole) and len(counted) >= _LEAST_COLUMNS and all(_is_number(row[i]) for row in whole for i in counted)


def read_wide(
    records: Records,
    budget: Budget,
    *,
    label: str | bool | None = None,
    id: str | bool | None = None,
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
    id_column = label_column = None
    head = list(islice(records, _ROWS))
    for place, record in islice(chain(head, records), max_documents):
        if features is None:
            id_column, label_column, features = _roles([row for _, row in head], name, label, id)
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
    if features is None:
        raise ValueError(f"{name} has no rows")
    shape = (len(ends) - 1, len(features))
    parts = np.frombuffer(data), np.frombuffer(indices, dtype=np.int32), np.frombuffer(ends, dtype=np.int64)
    counts: Any = sp.csr_array(tuple(part.copy() for part in parts), shape=shape)
    if transpose:
        return Corpus(counts.T, names or None, ids=features)
    return Corpus(counts, features, ids=names or None, labels=labels or None)


def _roles(head: Sequence[Any], name: str, label: Any, id: Any) -> tuple[str | None, str | None, list[str]]:
    """The columns of the id, of the label and of the counts, from the first rows."""
    record = head[0]
    columns = list(record)
    for column in (label, id):
        if isinstance(column, str) and column not in record:
            raise ValueError(f"{name} has no column {column!r}; the columns are {', '.join(map(repr, columns[:20]))}")
    usual = {column.strip().lower(): column for column in reversed(columns)}
    if id is None:
        id = _first(usual, USUAL["id"])
        first = columns[0]
        differ = len({row[first] for row in head}) == len(head)
        named = not first.strip() or first == _BIOM or (differ and _NAMES_ROWS.fullmatch(first.strip()))
        if id is None and (named or not _is_number(record[first])):
            id = first
    if label is None:
        label = _first(usual, USUAL["label"])
    taken = {id, label, *(usual.get(column) for column in _TAXONOMY)}
    features = [column for column in columns if column not in taken]
    return id if isinstance(id, str) else None, label if isinstance(label, str) else None, features


def _first(usual: dict[str, str], names: Sequence[str]) -> str | None:
    return next((usual[name] for name in names if name in usual), None)


def _is_number(text: str) -> bool:
    try:
        return _as_number(text) >= 0
    except ValueError:
        return False


def _as_number(value: Any) -> float:
    """An empty cell is 0; "1_000" and digits of other scripts are numbers for Python only."""
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError(f"{value!r} is not a number")
    return float(value or 0)


def _count(text: Any, place: str, column: str) -> float:
    try:
        return _as_number(text)
    except ValueError:
        raise ValueError(f"{place}, column {column!r}: {text!r} is not a count") from None
