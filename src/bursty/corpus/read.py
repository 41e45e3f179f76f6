"""`read_corpus`, the single entry point for every file format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, Unpack

from bursty.corpus import tables
from bursty.corpus.core import Corpus
from bursty.corpus.formats import locate
from bursty.corpus.readers import FILTERS, READERS, ROWS, text_options
from bursty.corpus.shards import SHARD_SIZE
from bursty.corpus.sources import Source
from bursty.corpus.streams import one_vocabulary
from bursty.corpus.text import TextOptions, with_options_of
from bursty.storage.limits import raised


class ReadOptions(TypedDict, total=False):
    """The options of `read_corpus`; each format takes those that apply to it."""

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
    analyzer: str | Callable[[str], list[str]]
    strip_accents: str | None
    html: bool | None
    min_df: float
    max_df: float
    drop_most_common: int
    keep_texts: bool
    include: str | Sequence[str]
    exclude: str | Sequence[str]
    max_memory: int | str
    like: Any


def read_corpus(path: str | os.PathLike[str], format: str | None = None, **options: Unpack[ReadOptions]) -> Corpus:
    """Read documents from a file, a folder or an archive.

    Compressed files (.gz, .xz, .bz2) and archives (.zip, .tar, .tar.gz, ...) are read in place. Texts are read one
    block at a time, so that only the counts have to fit into memory. Documents without words keep their row.

    Parameters
    ----------
    path : str or path-like
        File, folder or archive to read.
    format : str, optional
        ``folder``, ``lines`` (one document per line), ``csv``, ``tsv``, ``wide`` (CSV or TSV of counts, one row per
        sample), ``jsonl`` (JSON lines, or an array), ``parquet``, ``ldac``, ``uci``, ``cluto``, ``matrixmarket``,
        ``svmlight``, ``matlab`` or ``bcorpus`` (written by `Corpus.save`). By default it is detected from name and
        content.
    text : str or list of str
        Tables: column of the text, or several, which are joined. By default the column called text, document, body or
        content.
    label, id : str or False
        Tables: columns of the class and of the name of each document. By default label, class or category, and id, if
        there is one; False for none. In MATLAB files, names of variables.
    metadata : list of str
        Tables, wide: more columns to keep. A column called year, date, created or the like is kept if it has times.
    label_separator : str
        Tables: separator of several classes in the label column; the corpus is then multi-label.
    max_documents : int
        Tables: maximum number of rows to read.
    columns : list of str
        CSV, TSV, wide: names of the columns, for a file without a header line.
    delimiter : str
        CSV, TSV: field delimiter. By default a tab for TSV; for CSV detected from the first line (comma, semicolon, tab
        or bar).
    quoted : bool
        CSV, TSV: whether fields may be in double quotes. By default True for CSV, and detected for TSV.
    encoding : str
        Encoding of texts, tables and lists of words. By default UTF-8, or that of the byte-order mark.
    clean : function from str to str
        Applied to each text before its words are counted.
    vocabulary : list of str or path-like
        Texts: count only these words, in this order. Tables of counts: names of the columns; by default read from the
        companion file if the format defines one. In MATLAB files, the name of a variable.
    labels : list or path-like
        Tables of counts: the class of each document, or a file with one per line.
    transpose : bool
        Tables of counts: whether the file has one row per word.
    variable : str
        MATLAB: name of the variable with the counts.
    zero_based : bool
        Svmlight: whether words are numbered from 0. By default from 1, unless a 0 occurs.
    lowercase, token_pattern, stop_words, ngram_range, analyzer, strip_accents, html
        Texts: what counts as a word; see `bursty.corpus.TextOptions`.
    min_df, max_df, drop_most_common
        Which words are kept; see `Corpus.filter_words`. In tables of counts ``stop_words``, too.
    like : Corpus or fitted model
        Count the words of this corpus, or of the corpus that the model was fitted on, and in the same way.
    include, exclude : str or list of str
        Folders and archives: patterns of the files to read and to skip, such as ``"*.txt"``.
    keep_texts : bool
        Texts: whether to keep them, compressed, with the counts, so that reports show excerpts. By default False.
    max_memory : int or str
        Limit on the decompressed size of the file and on the memory it takes, in bytes or as a string such as
        ``"8GB"``. By default 200 times its size or 256 MiB, whichever is larger, and at most the free memory.

    Returns
    -------
    Corpus

    See Also
    --------
    Corpus.from_texts : From a list of strings.
    Corpus.from_frame : From a data frame.
    read_parts : A part at a time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bursty import read_corpus
    >>> path = Path(tempfile.mkdtemp()) / "notes.csv"
    >>> _ = path.write_text("text,label\\nrain and more rain,wet\\nsun and wind,dry\\n")
    >>> read_corpus(path, stop_words=["and"])
    <Corpus 2 documents x 4 words, 5 tokens, 2 classes>

    >>> corpus = read_corpus("mails/")  # doctest: +SKIP
    >>> corpus = read_corpus("papers.tsv.xz", text=["title", "abstract"])  # doctest: +SKIP
    >>> corpus = read_corpus("docword.kos.txt.gz")  # doctest: +SKIP
    """
    if not os.fspath(path):  # else it would be the current directory
        raise FileNotFoundError("no such file or directory: the path is empty")
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or directory: {path}")
    with raised(options.pop("max_memory", None)):
        name, source = _locate(path, format, options)
        reader, like = READERS[name], options.pop("like", None)
        if like is not None and reader.is_text:
            options = with_options_of({**options, "like": like})  # type: ignore[assignment]  # options of texts
        _check_options(name, reader.takes, options)
        corpus = reader.read(source, dict(options))
    if not reader.is_text:
        kept = {option: value for option, value in options.items() if option in FILTERS}
        corpus = corpus.filter_words(**kept) if kept else corpus  # type: ignore[arg-type]  # a TypedDict of the options it takes
        corpus = corpus if like is None else corpus.align(with_options_of({"like": like})["vocabulary"])
    return corpus


def holds_texts(path: Path, format: str | None, options: Any) -> bool:
    """Whether `path` holds texts rather than counts."""
    return path.exists() and READERS[_locate(path, format, options)[0]].is_text


def read_parts(
    path: str | os.PathLike[str], format: str | None = None, *, size: int = SHARD_SIZE, **options: Unpack[ReadOptions]
) -> Iterator[Corpus]:
    """Read documents in parts, as corpora of ``size`` documents with a common vocabulary and common label names.

    Tables (CSV, TSV, JSON lines, Parquet) are read twice, first for the vocabulary and then for the counts, with one
    part in memory at a time; other formats are read as a whole and then split. The options are those of `read_corpus`,
    and the parts together equal its result.

    See Also
    --------
    write_shards : Keeps the parts on disk.
    read_corpus : All at once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bursty.corpus import read_parts
    >>> path = Path(tempfile.mkdtemp()) / "notes.csv"
    >>> _ = path.write_text("text\\nrain and more rain\\nsun and wind\\nmore sun\\n")
    >>> [(len(part), part.n_words) for part in read_parts(path, size=2)]
    [(2, 5), (1, 5)]
    """
    limit = options.pop("max_memory", None)
    parts = _parts(Path(path), format, size, options)
    while True:
        with raised(limit):  # not around the yield, so that the limit does not apply to the caller's code
            part = next(parts, None)
        if part is None:
            return
        yield part


def _parts(path: Path, format: str | None, size: int, options: ReadOptions) -> Iterator[Corpus]:
    name, source = _locate(path, format, options) if path.exists() else ("", Source(path))
    if name not in ROWS or "label_separator" in options:
        corpus = read_corpus(path, format, **options)
        for start in range(0, len(corpus), size):
            yield corpus.select(slice(start, start + size))
        return
    rest = with_options_of(options)
    _check_options(name, READERS[name].takes, rest)  # type: ignore[arg-type]  # options of texts
    counted = text_options(rest)
    limit = rest.pop("max_documents", None)

    def parts(options: TextOptions) -> Iterator[Corpus]:
        reading = dict(rest)
        records = islice(ROWS[name](source, reading), limit)
        for batch in iter(lambda: list(islice(records, size)), []):
            yield tables.read_table(iter(batch), source.name, options, budget=source.budget(), **reading)

    yield from one_vocabulary(parts, counted)


def _locate(path: Path, format: str | None, options: ReadOptions) -> tuple[str, Source]:
    """Format and file; if a text column is named, a table is not a table of counts."""
    given = [options.get("label"), options.get("id"), *options.get("metadata", ())]
    name, source = locate(path, format, [column for column in given if isinstance(column, str)])
    if name == "wide" and format is None and "text" in options:
        name = "tsv" if source.filename.lower().endswith((".tsv", ".tab")) else "csv"
    return name, source


def _check_options(name: str, takes: frozenset[str], options: ReadOptions) -> None:
    unknown = sorted(set(options) - set(ReadOptions.__annotations__))
    if unknown:
        known = ", ".join(sorted(ReadOptions.__annotations__))
        raise TypeError(f"read_corpus has no option {unknown[0]!r}; the options are {known}")
    misfit = sorted(set(options) - takes)
    if misfit:
        raise ValueError(f"{misfit[0]}= does not apply to format {name!r}, which takes {', '.join(sorted(takes))}")
