"""What stands between the fields of a table that does not say so."""

from __future__ import annotations

import csv

_CANDIDATES = (",", ";", "\t", "|")


def find_delimiter(head: str) -> str:
    """The delimiter of the first lines of a table: the one that cuts its header into most fields; a comma if none does.

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
