"""MATLAB .mat files: the counts, with the words, names and labels stored beside them.

There is no convention for a corpus in a .mat file, so variables are recognised by type and size: the counts are the
sparse matrix (or the largest table), integers with one value per document are the labels, a cell array of strings with
one entry per word is the vocabulary. Names decide only between several candidates, and the caller may name any
variable.

The format itself is parsed in `matfile`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.core import Corpus
from bursty.corpus.labels import sort_names, strings
from bursty.corpus.matfile import Damaged, read_variables
from bursty.corpus.sources import Source
from bursty.sparse import as_csr
from bursty.storage.limits import check_claim
from bursty.typing import Array

_LABEL_NAMES = ("labels", "label", "truelabels", "classid", "classes", "class", "gnd", "y")


def read_matlab(
    source: Source,
    variable: str | None = None,
    label: str | bool | None = None,
    id: str | bool | None = None,
    vocabulary: str | None = None,
    transpose: bool = False,
) -> Corpus:
    """Read a .mat file; the options name variables, which are otherwise found by their size."""
    variables = load_variables(source)
    for given in (variable, label, id, vocabulary):
        if isinstance(given, str) and given not in variables:
            raise ValueError(f"{source.name} has no variable {given!r}; it has {', '.join(sorted(variables))}")
    table = _counts(variables, variable, source.name)
    check_claim(max(table.shape), _entries(table), source.name, "documents or words")
    table = as_csr(table, source.name) if sp.issparse(table) else sp.csr_array(table)
    table = sp.csr_array(table.T) if transpose else table
    n_documents, n_words = table.shape
    cells = {name: value for name, value in variables.items() if isinstance(value, list)}
    words = cells.get(vocabulary) if vocabulary else _cell(cells, n_words, ("word", "vocab", "term", "feature"))
    names = cells.get(id) if isinstance(id, str) else _cell(cells, n_documents, ("doc", "id", "name"), words)
    return Corpus(
        table,
        None if words is None else _distinct(words),
        ids=None if id is False else names,
        **({} if label is False else _labels(variables, cells, label, n_documents)),
    )


def load_variables(source: Source) -> dict[str, Any]:
    """Numeric arrays, sparse matrices, and cell arrays of strings as lists; everything else is skipped."""
    with source.open() as stream:
        content = stream.read()
    if content.startswith(b"\x89HDF") or content[:19] == b"MATLAB 7.3 MAT-file":
        raise ValueError(f"{source.name} is a version 7.3 (HDF5) file: save it again in MATLAB with -v7")
    if not content.startswith(b"MATLAB 5.0"):
        raise ValueError(f"{source.name} is not a MATLAB file of version 5 to 7: save it again with -v7")
    try:
        found = read_variables(content, source.name)
    except Damaged as error:
        raise ValueError(f"{source.name} is damaged or not a MATLAB file: {error}") from error
    return {
        name: [text.rstrip() for text in value] if isinstance(value, list) else value for name, value in found.items()
    }


def _counts(variables: dict[str, Any], name: str | None, file: str) -> Any:
    if name is not None:
        table = variables[name]
        if isinstance(table, list) or table.ndim != 2:
            raise ValueError(f"{file}: variable {name!r} is not a table of numbers")
        return table
    sparse = [value for value in variables.values() if sp.issparse(value)]
    dense = [value for value in variables.values() if isinstance(value, np.ndarray) and min(value.shape) > 1]
    tables = sparse or dense
    if len(tables) != 1:
        problem = "no table of counts" if not tables else f"{len(tables)} tables"
        raise ValueError(f"{file} has {problem}: choose one with variable=...; it has {', '.join(sorted(variables))}")
    return tables[0]


def _entries(table: Any) -> int:
    return int(table.nnz) if sp.issparse(table) else int(table.size)


def _cell(
    cells: dict[str, list[str]], length: int, hints: tuple[str, ...], taken: list[str] | None = None
) -> list[str] | None:
    """The cell array of this length; if there are several, the one whose name contains a hint."""
    fitting = {name: cell for name, cell in cells.items() if len(cell) == length and cell is not taken}
    for hint in hints:
        for name, cell in fitting.items():
            if hint in name.lower():
                return cell
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _labels(
    variables: dict[str, Any], cells: dict[str, list[str]], label: str | bool | None, n_documents: int
) -> dict[str, Any]:
    rows = {
        name: value.ravel()
        for name, value in variables.items()
        if isinstance(value, np.ndarray) and value.size == n_documents and np.all(value == np.rint(value))
    }
    if isinstance(label, str):
        if label in cells:
            return {"labels": cells[label]}
        if label not in rows:
            raise ValueError(f"variable {label!r} must have one integer per document ({n_documents})")
        chosen = rows[label]
    else:
        usual = next((rows[name] for name in rows if name.lower() in _LABEL_NAMES), None)
        if usual is None and len(rows) != 1:
            return {}
        chosen = usual if usual is not None else next(iter(rows.values()))
    classes, codes = np.unique(chosen.astype(np.int64), return_inverse=True)
    named = next((cell for name, cell in cells.items() if "class" in name.lower() and len(cell) == len(classes)), None)
    if named is None or not np.array_equal(classes, np.arange(1, len(classes) + 1)):
        named = sort_names(map(str, classes.tolist()))
    return {"labels": codes, "label_names": named}


def _distinct(words: list[str]) -> Array:
    """Number duplicate words (such as words truncated to a fixed width), so that every column has a unique name."""
    seen: dict[str, int] = {}
    names = []
    for word in words:
        seen[word] = seen.get(word, 0) + 1
        names.append(word if seen[word] == 1 else f"{word}#{seen[word]}")
    return strings(names)
