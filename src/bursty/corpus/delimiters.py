"""Detection of the delimiter of a table."""

from __future__ import annotations

import csv

_CANDIDATES = (",", ";", "\t", "|")


def find_delimiter(head: str) -> str:
    """The delimiter that splits the header of a table into the most fields; a comma if none does.

    Examples
    --------
    >>> find_delimiter("id;text\\n1;rain, wind")
    ';'
    """
    header = next((line for line in head.splitlines() if line.strip()), "")
    return max(_CANDIDATES, key=lambda mark: (_n_fields(header, mark), -_CANDIDATES.index(mark)))


def _n_fields(line: str, mark: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=mark), []))
    except csv.Error:
        return 0
