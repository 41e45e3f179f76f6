"""One door for every kind of file: `read_corpus`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, Unpack

from bursty.corpus import matrices, tables
from bursty.corpus.core import Corpus
from bursty.corpus.decoding import iter_lines
from bursty.corpus.folders import read_folder
from bursty.corpus.formats import locate
from bursty.corpus.labels import encode_label_sets
from bursty.corpus.matlab import read_matlab
from bursty.corpus.parquet import parquet_records
from bursty.corpus.shards import SHARD_SIZE
from bursty.corpus.sources import Source
from bursty.corpus.storage import load_corpus
from bursty.corpus.streams import one_vocabulary
from bursty.corpus.text import TextOptions
from bursty.corpus.wide import read_wide
from bursty.storage.limits import raised

#: Rows of a table, from what opens it and its options, which it takes out of all options.
Rows = Callable[[Source, dict[str, Any]], tables.Records]


class ReadOptions(TypedDict, total=False):
    """The options of `read_corpus`; each format takes those that mean something to it."""

    text: str | Sequence[str]
    label: str | bool
    id: str | bool
    metadata: Sequence[str]
    label_separator: str
    max_documents: int | None
    columns: Sequence[str]
    delimiter: str
    quoted: bool
    encoding: str | None
    clean: Callable[[str], str]
    vocabulary: Any
    labels: Any
    transpose: bool
    variable: str
    zero_based: bool
    lowercase: bool
    token_pattern: str
    stop_words: str | Sequence[str] | None
    ngram_range: tuple[int, int]
    analyzer: str
    strip_accents: str | None
    min_df: float
    max_df: float
    drop_most_common: int
    keep_texts: bool
    include: Sequence[str]
    exclude: Sequence[str]
    max_memory: int | str


def read_corpus(path: str | os.PathLike[str], format: str | None = None, **options: Unpack[ReadOptions]) -> Corpus:
    """Read documents from a file, a folder or an archive.

    Compressed files (.gz, .xz, .bz2) and archives (.zip, .tar, .tar.gz, ...) are read in place. Texts are
    read a block at a time, so the memory needed is that of the counts. Documents without a word keep their
    row.

    Parameters
    ----------
    path : str or path
        What to read.
    format : str, optional
        ``folder``, ``lines`` (one document per line), ``csv``, ``tsv``, ``wide`` (CSV or TSV of counts, one row per
        sample), ``jsonl`` (JSON lines, or an array), ``parquet``, ``ldac``, ``uci``, ``cluto``, ``matrixmarket``,
        ``svmlight``, ``matlab`` or ``bcorpus`` (what `Corpus.save` writes). Found from the name and the
        content when it is not given.
    text : str or list of str
        Tables: the column of the text, or several, joined. Default: the one called text, document, body or
        content.
    label, id : str or False
        Tables: the column of the class, of the document's name. Default: label, class or category, and id,
        where there is one; False for none. In MATLAB files the name of a variable.
    metadata : list of str
        Tables: more columns to keep.
    label_separator : str
        Tables: the label column holds several classes with this between them; the corpus is multi-label.
    max_documents : int
        Tables: stop after so many rows.
    columns : list of str
        CSV, TSV: the names of the columns of a file whose first line is not a header.
    delimiter : str
        CSV, TSV: between fields; a tab for TSV, and for CSV what its first line shows (comma, semicolon, tab or bar).
    quoted : bool
        CSV, TSV: whether fields may be in double quotes; True for CSV and False for TSV.
    encoding : str
        Of texts, tables and lists of words. Default: UTF-8, or what a byte-order mark says.
    clean : function from str to str
        Applied to each text before its words are counted.
    vocabulary : list of str or path
        Texts: count these words, in this order, and no others. Tables of counts: the names of the columns,
        found beside the file where the format has a name for that. In MATLAB files the name of a variable.
    labels : list or path
        Tables of counts: the class of each document (a file has one a line).
    transpose : bool
        Tables of counts: the file has a row for each word.
    variable : str
        MATLAB: the variable of the counts.
    zero_based : bool
        Svmlight: whether words count from 0. Default: from 1 unless a 0 occurs.
    lowercase, token_pattern, stop_words, ngram_range, analyzer, strip_accents
        Texts: what a word is; see `bursty.corpus.TextOptions`.
    min_df, max_df, drop_most_common
        Which words stay; see `Corpus.filter_words`.
    include, exclude : list of str
        Folders and archives: patterns such as ``"*.txt"`` of the files to read, and of those to skip.
    keep_texts : bool
        Texts: keep them beside the counts, compressed, so that reports show excerpts; False by default.

    max_memory : int or str
        How many bytes the file may grow to and take, such as ``"8GB"``. Default: 200 times its size or 256 MiB,
        whichever is more, and the memory that is free.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> corpus = read_corpus("mails/")                                    # doctest: +SKIP
    >>> corpus = read_corpus("papers.tsv.xz", text=["title", "abstract"]) # doctest: +SKIP
    >>> corpus = read_corpus("docword.kos.txt.gz")                        # doctest: +SKIP
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is nothing at {path}")
    with raised(options.pop("max_memory", None)):
        name, source = _locate(path, format, options)
        reader = _READERS[name]
        _check_options(name, reader.takes, options)
        corpus = reader.read(source, dict(options))
    if not reader.is_text:
        kept = {option: value for option, value in options.items() if option in _FILTERS}
        corpus = corpus.filter_words(**kept) if kept else corpus  # type: ignore[arg-type]  # a TypedDict of the options it takes
    return corpus


def holds_texts(path: Path, format: str | None, options: Any) -> bool:
    """Whether what lies at `path` is texts, not counts."""
    return path.exists() and _READERS[_locate(path, format, options)[0]].is_text


def read_parts(
    path: str | os.PathLike[str], format: str | None = None, *, size: int = SHARD_SIZE, **options: Unpack[ReadOptions]
) -> Iterator[Corpus]:
    """Read documents as corpora of so many of them each, with one vocabulary and one set of label names.

    Tables (CSV, TSV, JSON lines, Parquet) are read twice, for the vocabulary and then for the counts, and only one
    part is in memory at a time; other formats are read whole and cut. The options are those of `read_corpus`, and so
    is the result, taken together.
    """
    limit = options.pop("max_memory", None)
    parts = _parts(Path(path), format, size, options)
    while True:
        with raised(limit):  # not around the yield: what happens there is not ours
            part = next(parts, None)
        if part is None:
            return
        yield part


def _parts(path: Path, format: str | None, size: int, options: ReadOptions) -> Iterator[Corpus]:
    name, source = _locate(path, format, options) if path.exists() else ("", Source(path))
    if name not in _ROWS or "label_separator" in options:
        corpus = read_corpus(path, format, **options)
        for start in range(0, len(corpus), size):
            yield corpus.select(slice(start, start + size))
        return
    _check_options(name, _READERS[name].takes, options)
    rest: dict[str, Any] = dict(options)
    text_options = _text_options(source, rest)
    limit = rest.pop("max_documents", None)

    def parts(counted: TextOptions) -> Iterator[Corpus]:
        reading = dict(rest)
        records = islice(_ROWS[name](source, reading), limit)
        for batch in iter(lambda: list(islice(records, size)), []):
            yield tables.read_table(iter(batch), source.name, counted, budget=source.budget(), **reading)

    yield from one_vocabulary(parts, text_options)


@dataclass(frozen=True)
class _Reader:
    """A format: its reader and the options that mean something to it."""

    read: Callable[[Source, dict[str, Any]], Corpus]
    takes: frozenset[str]
    is_text: bool = False


def _locate(path: Path, format: str | None, options: ReadOptions) -> tuple[str, Source]:
    """Format and file; a table whose text column is named is no table of counts."""
    name, source = locate(path, format)
    if name == "wide" and format is None and "text" in options:
        name = "tsv" if source.filename.lower().endswith((".tsv", ".tab")) else "csv"
    return name, source


def _check_options(name: str, takes: frozenset[str], options: ReadOptions) -> None:
    unknown = sorted(set(options) - set(ReadOptions.__annotations__))
    if unknown:
        known = ", ".join(sorted(ReadOptions.__annotations__))
        raise TypeError(f"read_corpus has no option {unknown[0]!r}; it has {known}")
    misfit = sorted(set(options) - takes)
    if misfit:
        raise ValueError(f"{misfit[0]}= means nothing for format {name!r}, which takes {', '.join(sorted(takes))}")


def _text_options(source: Source, options: dict[str, Any]) -> TextOptions:
    chosen = {name: options.pop(name) for name in list(options) if name in TextOptions.names()}
    if isinstance(chosen.get("vocabulary"), str | os.PathLike):
        chosen["vocabulary"] = _read_names(Source(Path(chosen["vocabulary"])), options.get("encoding"))
    return TextOptions(**chosen)


def _folder(source: Source, options: dict[str, Any]) -> Corpus:
    return read_folder(source.path, _text_options(source, options), **options)


def _delimited(delimiter: str | None, quoted: bool, comments: bool = False) -> Rows:
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
        text_options = _text_options(source, options)
        records = rows(source, options)
        return tables.read_table(records, source.name, text_options, budget=source.budget(), **options)

    return read


def _wide(source: Source, options: dict[str, Any]) -> Corpus:
    tabs = source.filename.lower().endswith((".tsv", ".tab"))
    rows = _delimited("\t" if tabs else None, not tabs, comments=True)(source, options)
    return read_wide(rows, source.budget(), **{name: value for name, value in options.items() if name not in _FILTERS})


def _matrix(
    parse: Callable[..., matrices.Entries], companions: Callable[[str], dict[str, tuple[str, ...]]]
) -> Callable[[Source, dict[str, Any]], Corpus]:
    """Reader of a table of counts whose names may lie in files beside it."""

    def read(source: Source, options: dict[str, Any]) -> Corpus:
        encoding = options.get("encoding")
        transpose = options.get("transpose", False)
        entries = parse(source, **{name: options[name] for name in ("zero_based",) if name in options})
        beside = companions(source.filename)
        names = {role: _beside(source, beside.get(role, ()), encoding) for role in ("vocabulary", "ids", "labels")}
        names |= {role: _given(options[role], encoding) for role in ("vocabulary", "labels") if role in options}
        if names["vocabulary"] is not None and not entries.n_columns and not transpose:
            # The format has no header: the last words of the list may occur in no document.
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
    return read_matlab(source, **{name: value for name, value in options.items() if name not in _FILTERS})


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
    return {"vocabulary": (f"{stem}.vocab", f"{stem}.vocab.txt", f"{stem}.tokens", "vocab.txt")}


def _uci_companions(name: str) -> dict[str, tuple[str, ...]]:
    return {"vocabulary": (name.replace("docword", "vocab", 1),)} if "docword" in name else {}


def _cluto_companions(name: str) -> dict[str, tuple[str, ...]]:
    stem = name.rsplit(".", 1)[0]
    roles = {"vocabulary": "clabel", "ids": "rlabel", "labels": "rclass"}
    return {role: (f"{name}.{suffix}", f"{stem}.{suffix}") for role, suffix in roles.items()}


def _no_companions(name: str) -> dict[str, tuple[str, ...]]:
    return {}


_FILTERS = frozenset({"min_df", "max_df", "drop_most_common"})
_TEXT = TextOptions.names() | {"encoding", "clean"}
_TABLE = _TEXT | {"text", "label", "id", "metadata", "label_separator", "max_documents"}
_COUNTS = _FILTERS | {"vocabulary", "labels", "transpose", "encoding"}
_DELIMITED = _TABLE | {"columns", "delimiter", "quoted"}
_ROWS: dict[str, Rows] = {
    "lines": _lines,
    "csv": _delimited(None, True),
    "tsv": _delimited("\t", False),
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
_READERS = {
    "folder": _Reader(_folder, _TEXT | {"include", "exclude"}, is_text=True),
    **{name: _Reader(_table(rows), _TAKES[name], is_text=True) for name, rows in _ROWS.items()},
    "wide": _Reader(_wide, _FILTERS | {"label", "id", "transpose", "max_documents", "delimiter", "quoted", "encoding"}),
    "ldac": _Reader(_matrix(matrices.read_ldac, _ldac_companions), _COUNTS),
    "uci": _Reader(_matrix(matrices.read_uci, _uci_companions), _COUNTS),
    "cluto": _Reader(_matrix(matrices.read_cluto, _cluto_companions), _COUNTS),
    "matrixmarket": _Reader(_matrix(matrices.read_matrix_market, _no_companions), _COUNTS),
    "svmlight": _Reader(_matrix(matrices.read_svmlight, _no_companions), _COUNTS | {"zero_based"}),
    "matlab": _Reader(_matlab, _FILTERS | {"variable", "label", "id", "vocabulary", "transpose"}),
    "bcorpus": _Reader(_bcorpus, _FILTERS),
}
