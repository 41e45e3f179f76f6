"""Clusters and topics as a data frame, one row each: what `summary` of a fitted model returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from bursty.engines import Chunk, Documents
from bursty.typing import Array

#: Libraries that have data frames, in the order in which they are looked for.
_LIBRARIES = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Any]) -> Any:
    """A data frame of the first library that is installed: pandas, polars or pyarrow."""
    for name in _LIBRARIES:
        try:
            library = import_module(name)
        except ImportError:
            continue
        plain = {key: column.tolist() if hasattr(column, "tolist") else list(column) for key, column in columns.items()}
        return library.table(plain) if name == "pyarrow" else library.DataFrame(plain)
    raise ImportError("summary() returns a data frame: pip install pandas (or polars)")


def summary_frame(
    names: Sequence[str],
    sizes: Array,
    shares: Array,
    words: Sequence[Sequence[str]],
    more: Mapping[str, Any],
    examples: Any = None,
) -> Any:
    """One row per cluster or topic.

    Parameters
    ----------
    names : list of str
    sizes : ndarray of int
        Number of documents.
    shares : ndarray of float
    words : list of lists of str
        Best first.
    more : mapping of name to column
        Additional columns.
    examples : list of lists of str, optional
        Names of documents.
    """
    columns: dict[str, Any] = {
        "number": np.arange(1, len(sizes) + 1),
        "name": list(names),
        "size": sizes,
        "share": shares,
        **more,
        "words": [list(row) for row in words],
    }
    if examples is not None:
        columns["examples"] = examples
    return make_frame(columns)


def example_names(corpus: Any, rows: Sequence[Array]) -> list[list[str]]:
    """The names of documents, or their numbers where they have none."""
    ids = getattr(corpus, "ids", None)
    return [[str(row if ids is None else ids[row]) for row in group] for group in rows]


def has_words(chunk: Chunk) -> Array:
    """Whether each document has words: one without is in no cluster and no topic."""
    return np.diff(chunk.indptr) > 0


def document_share(documents: Documents) -> Array:
    """Share of the documents with words that have each word."""
    n_members = max(1, documents.n_documents - documents.n_empty)
    return np.minimum(documents.sum(Chunk.document_frequency) / n_members, 1.0)


def ranked(scores: Array, names: Array, n: int, by: str) -> list[list[str]]:
    """The n words with the largest scores in each group; representative words only if their score is positive."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, : max(0, n)]
    shown = by != "representative" or np.take_along_axis(scores, best, axis=1) > 0
    rows = np.broadcast_to(shown, best.shape)
    return [[str(names[word]) for word in row[kept]] for row, kept in zip(best, rows, strict=True)]
