"""Format detection: from the name of a file if it is conclusive, otherwise from its first lines."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path

from bursty.corpus.sources import Source, archive_kind, member_names, strip_compression
from bursty.corpus.tables import find_delimiter
from bursty.corpus.wide import looks_wide
from bursty.storage import is_container

NAMES = (
    "folder",
    "lines",
    "csv",
    "tsv",
    "wide",
    "jsonl",
    "parquet",
    "ldac",
    "uci",
    "cluto",
    "matrixmarket",
    "svmlight",
    "matlab",
    "bcorpus",
)

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ldac": "ldac",
    ".lda-c": "ldac",
    ".mtx": "matrixmarket",
    ".mm": "matrixmarket",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
}
#: Files with these suffixes have one document per line, unless their first lines match a format of counts.
_LINES = (".txt", ".text", ".log", ".lst")
_OFFICE = "a document of an office program, which cannot be read: save it as text"
#: Files in which people have texts or counts, but which cannot be read, and what to do with them.
_NOT_TEXT = {
    ".pdf": "a PDF file, which cannot be read: extract its text first, for example with pdftotext",
    **dict.fromkeys((".doc", ".docx", ".odt", ".rtf", ".ppt", ".pptx", ".odp"), _OFFICE),
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "a spreadsheet, which cannot be read: save it as CSV"),
    ".biom": "a BIOM file, which cannot be read: write it as a table first (biom convert --to-tsv)",
}
_DATA_SUFFIXES = (*_SUFFIXES, ".mat", ".dat", ".bcorpus")
# Every part starts with a character that nothing before it can match, so matching takes linear time on any line.
_NUMBER = rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_PAIRS = re.compile(rb"%s(?:,%s)*(?:[ \t]+(?:qid|\d+):%s)*[ \t]*(?:#.*)?" % (_NUMBER, _NUMBER, _NUMBER))
_NUMBERS = re.compile(rb"%s(?:[ \t]+%s)*" % (_NUMBER, _NUMBER))


def locate(path: Path, format: str | None, named: Collection[str] = ()) -> tuple[str, Source]:
    """The format of `path`, and the file to read: itself, or a member if it is an archive.

    Columns that are ``named`` need not contain counts in a table of counts.
    """
    if format is not None and format not in NAMES:
        raise ValueError(f"format={format!r} is unknown; the formats are {', '.join(NAMES)}")
    if path.is_dir():
        if format not in (None, "folder"):
            raise ValueError(f"{path} is a folder, but format={format!r} needs a file: give the path of the file")
        if path.suffix == ".bshards":
            opens = f"bursty.corpus.ShardedCorpus({str(path)!r})"
            raise ValueError(f"{path} is a folder of shards, whose counts stay on disk: {opens} opens it")
        return "folder", Source(path)
    if path.suffix == ".bcorpus" or is_container(path, "corpus"):
        return format or "bcorpus", Source(path)
    if format is None and (advice := _NOT_TEXT.get(path.suffix.lower())) is not None and path.is_file():
        raise ValueError(f"{path} is {advice}")
    if is_container(path, "model"):
        raise ValueError(f"{path} is a saved model, not documents: bursty.load reads it")
    if archive_kind(path) is None:
        source = Source(path)
        return format or detect(source, named), source
    if format == "folder":
        return "folder", Source(path)
    return _inside(path, format, named)


def detect(source: Source, named: Collection[str] = ()) -> str:
    """The format of one file."""
    suffix = Path(source.filename).suffix.lower()
    if suffix in _SUFFIXES:
        kind = _SUFFIXES[suffix]
        return "wide" if kind in ("csv", "tsv") and _is_wide(source, kind, named) else kind
    if source.filename.lower().startswith("docword."):
        return "uci"
    found = sniff(source.head()) or ("lines" if suffix in _LINES else None)
    if found is None:
        others = ", ".join(name for name in NAMES if name not in ("lines", "folder"))
        raise ValueError(
            f'cannot detect the format of {source.name}: set format="lines" if every line is a document, or format= to '
            f"{others}; several texts are read from a folder"
        )
    return found


def sniff(head: bytes) -> str | None:
    """The format recognised from the first bytes of a file, if any."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"MATLAB ", b"\x89HDF")):
        return "matlab"
    if head[:14].lower() == b"%%matrixmarket":
        return "matrixmarket"
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")]
    if len(lines) > 1:
        lines.pop()
    lines = lines[:50]
    if lines[0].lstrip().startswith(b"{"):
        return "jsonl" if _is_object(lines[0]) else None
    filled = [line.strip() for line in lines if line.strip()]
    if not filled:
        return None
    if all(_NUMBERS.fullmatch(line) for line in filled):
        return _sniff_numbers([line.split() for line in filled])
    if all(_PAIRS.fullmatch(line) for line in filled):
        return "ldac" if all(_is_ldac(line) for line in filled) else "svmlight"
    return None


def _is_wide(source: Source, format: str, named: Collection[str]) -> bool:
    whole_lines = source.head().decode("utf-8", "replace").rpartition("\n")[0]
    return looks_wide(whole_lines, find_delimiter(whole_lines) if format == "csv" else "\t", named)


def _inside(path: Path, format: str | None, named: Collection[str]) -> tuple[str, Source]:
    """The content of an archive: a folder of texts, or one data file with companions."""
    names = member_names(path)
    if not names:
        raise ValueError(f"{path} is an empty archive")
    data = [name for name in names if _is_data(name)] or (names if len(names) == 1 else [])
    if len(data) == 1:
        source = Source(path, data[0])
        return format or detect(source, named), source
    if format is None and len(data) < len(names):
        return "folder", Source(path)
    raise ValueError(
        f"{path} contains {len(data)} data files ({', '.join(data[:5])}): "
        'unpack it and give the path of one of them, or read every file as a text with format="folder"'
    )


def _is_data(name: str) -> bool:
    last = strip_compression(name).rsplit("/", 1)[-1].lower()
    return last.endswith(_DATA_SUFFIXES) or last.startswith("docword.")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        # The first line is longer than the bytes read: only its start is available.
        return len(line) > 60_000


def _is_ldac(line: bytes) -> bool:
    first, *pairs = line.split()
    return first.isdigit() and int(first[:18]) == len(pairs)


def _sniff_numbers(rows: list[list[bytes]]) -> str | None:
    widths = [len(row) for row in rows]
    if widths[:3] == [1, 1, 1] and all(width == 3 for width in widths[3:]):
        return "uci"
    if widths[0] in (2, 3):
        return "cluto"
    return None
