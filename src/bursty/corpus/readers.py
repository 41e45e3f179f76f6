"""The readers: for each file format, the function that reads it and the options that apply to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bursty.corpus import matrices, tables
from bursty.corpus.core import Corpus
from bursty.corpus.decoding import iter_lines
from bursty.corpus.folders import read_folder
from bursty.corpus.labels import encode_label_sets
from bursty.corpus.matlab import read_matlab
from bursty.corpus.parquet import parquet_records
from bursty.corpus.sources import Source
from bursty.corpus.storage import load_corpus
from bursty.corpus.text import TextOptions
from bursty.corpus.wide import read_wide

#: Function from a source and the reading options, from which it pops its own, to the rows of a table.
Rows = Callable[[Source, dict[str, Any]], tables.Records]


@dataclass(frozen=True)
class Reader:
    """A format: its reader and the options that apply to it."""

    read: Callable[[Source, dict[str, Any]], Corpus]
    takes: frozenset[str]
    is_text: bool = False


def text_options(options: dict[str, Any]) -> TextOptions:
    """What counts as a word, taken out of the options."""
    chosen = {name: options.pop(name) for name in list(options) if name in TextOptions.names()}
    if isinstance(chosen.get("vocabulary"), str | os.PathLike):
        chosen["vocabulary"] = _read_names(Source(Path(chosen["vocabulary"])), options.get("encoding"))
    return TextOptions(**chosen)


def _folder(source: Source, options: dict[str, Any]) -> Corpus:
    return read_folder(source.path, text_options(options), **options)


def _delimited(delimiter: str | None, quoted: bool | None, comments: bool = False) -> Rows:
    def rows(source: Source, options: dict[str, Any]) -> tables.Records:
        return tables.csv_records(
            source,
            options.pop("encoding", None),
            options.pop("delimiter", delimiter),
            options.pop("quoted", quoted),
            options.pop("columns", None),
            comments,
        )

    return rows


def _jsonl(source: Source, options: dict[str, Any]) -> tables.Records:
    return tables.json_records(source, options.pop("encoding", None))


def _lines(source: Source, options: dict[str, Any]) -> tables.Records:
    return tables.line_records(source, options.pop("encoding", None))


def _parquet(source: Source, options: dict[str, Any]) -> tables.Records:
    return parquet_records(source)


def _table(rows: Rows) -> Callable[[Source, dict[str, Any]], Corpus]:
    """Reader of a table of texts."""

    def read(source: Source, options: dict[str, Any]) -> Corpus:
        counted = text_options(options)
        records = rows(source, options)
        return tables.read_table(records, source.name, counted, budget=source.budget(), **options)

    return read


def _wide(source: Source, options: dict[str, Any]) -> Corpus:
    tabs = source.filename.lower().endswith((".tsv", ".tab"))
    rows = _delimited("\t" if tabs else None, None if tabs else True, comments=True)(source, options)
    return read_wide(rows, source.budget(), **{name: value for name, value in options.items() if name not in FILTERS})


def _matrix(
    parse: Callable[..., matrices.Entries], companions: Callable[[str], dict[str, tuple[str, ...]]]
) -> Callable[[Source, dict[str, Any]], Corpus]:
    """Reader of a table of counts, with names from companion files."""

    def read(source: Source, options: dict[str, Any]) -> Corpus:
        encoding = options.get("encoding")
        transpose = options.get("transpose", False)
        entries = parse(source, **{name: options[name] for name in ("zero_based",) if name in options})
        beside = companions(source.filename)
        names = {role: _beside(source, beside.get(role, ()), encoding) for role in ("vocabulary", "ids", "labels")}
        names |= {role: _given(options[role], encoding) for role in ("vocabulary", "labels") if role in options}
        if names["vocabulary"] is not None and not entries.n_columns and not transpose:
            # The format has no header, and the last words of the vocabulary may not occur in any document.
            entries.n_columns = len(names["vocabulary"])
        table = entries.as_table(transpose)
        target: dict[str, Any] = {"labels": names["labels"]}
        if names["labels"] is None and entries.labels:
            target = _svmlight_labels(entries.labels)
        return Corpus(table, names["vocabulary"], ids=names["ids"], **target)

    return read


def _svmlight_labels(labels: list[str]) -> dict[str, Any]:
    if not any("," in label for label in labels):
        return {"labels": labels}
    matrix, names = encode_label_sets([label.split(",") for label in labels])
    return {"label_matrix": matrix, "label_names": names}


def _matlab(source: Source, options: dict[str, Any]) -> Corpus:
    return read_matlab(source, **{name: value for name, value in options.items() if name not in FILTERS})


def _bcorpus(source: Source, options: dict[str, Any]) -> Corpus:
    return load_corpus(source.path)


def _given(value: Any, encoding: str | None) -> Any:
    return _read_names(Source(Path(value)), encoding) if isinstance(value, str | os.PathLike) else value


def _beside(source: Source, names: tuple[str, ...], encoding: str | None) -> list[str] | None:
    found = source.sibling(*names) if names else None
    return None if found is None else _read_names(found, encoding)


def _read_names(source: Source, encoding: str | None) -> list[str]:
    with source.open() as stream:
        return [line.strip() for line in iter_lines(stream, source.name, encoding, source.budget())]


def _ldac_companions(name: str) -> dict[str, tuple[str, ...]]:
    stem = name.rsplit(".", 1)[0]
    # The first is what gensim writes.
    return {"vocabulary": (f"{name}.vocab", f"{stem}.vocab", f"{stem}.vocab.txt", f"{stem}.tokens", "vocab.txt")}


def _uci_companions(name: str) -> dict[str, tuple[str, ...]]:
    return {"vocabulary": (name.replace("docword", "vocab", 1),)} if "docword" in name else {}


def _cluto_companions(name: str) -> dict[str, tuple[str, ...]]:
    stem = name.rsplit(".", 1)[0]
    roles = {"vocabulary": "clabel", "ids": "rlabel", "labels": "rclass"}
    return {role: (f"{name}.{suffix}", f"{stem}.{suffix}") for role, suffix in roles.items()}


def _no_companions(name: str) -> dict[str, tuple[str, ...]]:
    return {}


FILTERS = frozenset({"min_df", "max_df", "drop_most_common", "stop_words"})
_TEXT = TextOptions.names() | {"encoding", "clean"}
_TABLE = _TEXT | {"text", "label", "id", "metadata", "label_separator", "max_documents"}
_COUNTS = FILTERS | {"vocabulary", "labels", "transpose", "encoding"}
_WIDE = {"label", "id", "metadata", "transpose", "max_documents", "columns", "delimiter", "quoted", "encoding"}
_DELIMITED = _TABLE | {"columns", "delimiter", "quoted"}
ROWS: dict[str, Rows] = {
    "lines": _lines,
    "csv": _delimited(None, True),
    "tsv": _delimited("\t", None),
    "jsonl": _jsonl,
    "parquet": _parquet,
}
_TAKES = {
    "lines": _TEXT | {"max_documents"},
    "csv": _DELIMITED,
    "tsv": _DELIMITED,
    "jsonl": _TABLE,
    "parquet": _TABLE - {"encoding"},
}
READERS = {
    "folder": Reader(_folder, _TEXT | {"include", "exclude"}, is_text=True),
    **{name: Reader(_table(rows), _TAKES[name], is_text=True) for name, rows in ROWS.items()},
    "wide": Reader(_wide, FILTERS | _WIDE),
    "ldac": Reader(_matrix(matrices.read_ldac, _ldac_companions), _COUNTS),
    "uci": Reader(_matrix(matrices.read_uci, _uci_companions), _COUNTS),
    "cluto": Reader(_matrix(matrices.read_cluto, _cluto_companions), _COUNTS),
    "matrixmarket": Reader(_matrix(matrices.read_matrix_market, _no_companions), _COUNTS),
    "svmlight": Reader(_matrix(matrices.read_svmlight, _no_companions), _COUNTS | {"zero_based"}),
    "matlab": Reader(_matlab, FILTERS | {"variable", "label", "id", "vocabulary", "transpose"}),
    "bcorpus": Reader(_bcorpus, FILTERS),
}
