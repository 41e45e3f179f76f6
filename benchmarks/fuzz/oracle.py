"""A second reader of every format, as plain as can be, that imports nothing of bursty.

For containers, `contents` gives what a file says as plain values, and `difference` the first place where two of them
differ. For texts and archives, `TEXTS` has a function of the content by format. It gives the counts of each document
(a `Counter`), raises `ValueError` where the format forbids the content, and returns None where it cannot tell: a text
in another encoding, a table whose columns have other names.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

Documents = list[Counter[Any]]

# Containers ----------------------------------------------------------------------------------------------------------


def contents(content: bytes) -> dict[str, Any]:
    """The manifest of a container, with the arrays that it refers to; `ValueError` where it contradicts itself."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    if "tree" in manifest:
        return {**manifest, "arrays": None, "tree": _decoded(manifest["tree"], arrays)}
    return {**manifest, "arrays": arrays}


def _decoded(node: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(node, list):
        return [_decoded(item, arrays) for item in node]
    if not isinstance(node, dict):
        return node
    keys = set(node)
    if keys == {"float"}:
        return float(node["float"])
    if keys == {"tuple"}:
        return {"tuple": [_decoded(item, arrays) for item in node["tuple"]]}
    if keys == {"dict"}:
        pairs = [(repr(_decoded(key, arrays)), _decoded(item, arrays)) for key, item in node["dict"]]
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key occurs twice")
        return dict(pairs)
    if keys == {"array"} or (keys == {"array", "order"} and node["order"] == "F"):
        array = arrays[str(node["array"])]
        return array.T if "order" in node else array
    if keys == {"strings", "shape"}:
        data, ends = (arrays[str(number)] for number in node["strings"])
        text, edges = data.tobytes(), [0, *ends.tolist()]
        words = [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(edges)]
        return {"items": words, "shape": node["shape"]}
    if keys == {"objects", "shape"}:
        return {"items": [_decoded(item, arrays) for item in node["objects"]], "shape": node["shape"]}
    if keys == {"scalar"}:
        array = arrays[str(node["scalar"])]
        if array.shape != ():
            raise ValueError("a scalar is an array")
        return array
    if keys == {"csr", "shape"}:
        data, indices, indptr = (_decoded(item, arrays) for item in node["csr"])
        return {"shape": node["shape"], "cells": cells(data, indices, indptr)}
    if keys in ({"generator"}, {"random_state"}):
        return {name: _decoded(item, arrays) for name, item in node.items()}
    if keys == {"class", "fields", "state"}:
        parts = {
            name: {key: _decoded(item, arrays) for key, item in node[name].items()} for name in ("fields", "state")
        }
        return {"class": node["class"], **parts["fields"], **parts["state"]}
    raise ValueError(f"a part of unknown kind: {sorted(keys)}")


def cells(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> dict[tuple[int, int], Any]:
    """Values by row and column; each pair occurs once, and zeros are not there."""
    found: dict[tuple[int, int], Any] = {}
    for row, (start, end) in enumerate(zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)):
        for place in range(start, end):
            key = row, int(indices[place])
            if key in found:
                raise ValueError(f"the cell {key} occurs twice")
            found[key] = data[place].item()
    return {key: value for key, value in found.items() if value != 0}


def difference(a: Any, b: Any, where: str = "it") -> str | None:
    """The first place where two contents differ; numbers are compared by value, whatever their size in bytes."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return f"{where}: {sorted(map(str, a.keys() ^ b.keys()))[:5]} in one only"
        return next((found for key in a if (found := difference(a[key], b[key], f"{where}.{key}"))), None)
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items"
        pairs = enumerate(zip(a, b, strict=True))
        return next((found for n, (x, y) in pairs if (found := difference(x, y, f"{where}[{n}]"))), None)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        kinds = {array.dtype.kind.replace("u", "i") for array in (a, b)}
        if len(kinds) > 1 or a.shape != b.shape:
            return f"{where}: {a.dtype} {a.shape} and {b.dtype} {b.shape}"
        same = (a == b) | ((a != a) & (b != b))  # NaN is what NaN was
        return None if np.all(same) else f"{where}: {a[~same].ravel()[:1]} and {b[~same].ravel()[:1]}"
    if type(a) is not type(b) or not (a == b or (a != a and b != b)):
        return f"{where}: {str(a)[:60]} and {str(b)[:60]}"
    return None


# Texts ---------------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(rb"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_WORD = re.compile(r"\b[^\W\d_]\w+\b")
_TEXT_COLUMNS = ("text", "document", "body", "content")


def count_words(text: str) -> Counter[Any]:
    """Words of two or more characters that begin with a letter."""
    return Counter(_WORD.findall(text.lower()))


def _text(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _whole(token: bytes, low: int = 0) -> int:
    """A number without a fraction; `ValueError` for anything else."""
    if not _NUMBER.fullmatch(token):
        raise ValueError(f"{token!r} is no number")
    value = float(token)
    if not low <= value <= 2**31 - 1 or value != int(value):
        raise ValueError(f"{token!r} is no count")
    return int(value)


def _document(pairs: Iterable[tuple[bytes, bytes]], first: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for word, count in pairs:
        found[_whole(word, first) - first] += _whole(count)
    return +found


def _filled(content: bytes) -> list[list[bytes]]:
    return [line.split() for line in content.split(b"\n") if line.strip()]


def _pair(token: bytes) -> tuple[bytes, bytes]:
    word, count = token.split(b":")
    return word, count


def ldac(content: bytes) -> Documents:
    rows = _filled(content)
    if any(_whole(row[0]) != len(row) - 1 for row in rows):
        raise ValueError("a line has another number of words than it says")
    return [_document(map(_pair, row[1:]), 0) for row in rows]


def svmlight(content: bytes) -> Documents:
    rows = [line.split(b"#")[0].split() for line in content.split(b"\n")]
    pairs = [[_pair(token) for token in row[1:] if not token.startswith(b"qid:")] for row in rows if row]
    if any(b":" in row[0] for row in rows if row):
        raise ValueError("a line without a label")
    first = int(all(_whole(word) for row in pairs for word, _ in row))
    return [_document(row, first) for row in pairs]


def _triplets(rows: list[list[bytes]], sizes: list[bytes], *, width: int = 3, symmetric: bool = False) -> Documents:
    n_documents, n_words, n_cells = map(_whole, sizes)
    if n_cells != len(rows) or any(len(row) != width for row in rows) or (symmetric and n_documents != n_words):
        raise ValueError("other cells than the header says")
    documents: Documents = [Counter() for _ in range(n_documents)]
    for row in rows:
        document, word = _whole(row[0], 1) - 1, _whole(row[1], 1) - 1
        count = _whole(row[2]) if width == 3 else 1
        if document >= n_documents or word >= n_words:
            raise ValueError("a cell outside")
        documents[document][word] += count
        if symmetric and document != word:
            documents[word][document] += count
    return [+document for document in documents]


def uci(content: bytes) -> Documents:
    rows = _filled(content)
    if any(len(row) != 1 for row in rows[:3]) or len(rows) < 3:
        raise ValueError("a header of three lines")
    return _triplets(rows[3:], [row[0] for row in rows[:3]])


def matrix_market(content: bytes) -> Documents:
    header, *rows = _filled(content)
    rows = [row for row in rows if not row[0].startswith(b"%")]
    header = [word.lower() for word in header]
    if len(header) != 5 or header[:2] != [b"%%matrixmarket", b"matrix"] or header[4] not in (b"general", b"symmetric"):
        raise ValueError("another header")
    symmetric = header[4] == b"symmetric"
    if header[2] == b"coordinate":
        return _triplets(rows[1:], rows[0], width=2 if header[3] == b"pattern" else 3, symmetric=symmetric)
    n_documents, n_words = map(_whole, rows[0])
    numbers = [_whole(token) for row in rows[1:] for token in row]
    places = [(d, w) for w in range(n_words) for d in range(w if symmetric else 0, n_documents)]
    if len(numbers) != len(places) or (symmetric and n_documents != n_words):
        raise ValueError("another number of numbers")
    documents: Documents = [Counter() for _ in range(n_documents)]
    for (d, w), number in zip(places, numbers, strict=True):
        documents[d][w] = number
        if symmetric:
            documents[w][d] = number
    return [+document for document in documents]


def cluto(content: bytes) -> Documents:
    header, *lines = [line.split() for line in content.split(b"\n")]
    sizes = [_whole(token) for token in header]
    rows, rest = lines[: sizes[0]], lines[sizes[0] :]
    if len(sizes) not in (2, 3) or len(rows) < sizes[0] or any(rest):
        raise ValueError("another number of rows")
    if len(sizes) == 2:
        if any(len(row) != sizes[1] for row in rows):
            raise ValueError("another number of columns")
        return [+Counter({word: _whole(token) for word, token in enumerate(row)}) for row in rows]
    documents = [_document(zip(row[0::2], row[1::2], strict=True), 1) for row in rows]
    if sum(map(len, rows)) != 2 * sizes[2] or any(word >= sizes[1] for document in documents for word in document):
        raise ValueError("other cells than the header says")
    return documents


def _texts_of(rows: Iterable[dict[str, Any]]) -> Documents | None:
    """The column of the text, by its usual names."""
    documents: Documents = []
    column = None
    for row in rows:
        if column is None:
            names = {name.strip().lower(): name for name in reversed(list(row))}
            column = next((names[name] for name in _TEXT_COLUMNS if name in names), None)
            if column is None:
                return None
        value = row[column]
        if isinstance(value, list) and not all(isinstance(part, str) for part in value):
            raise ValueError("a list of other things than words")
        if value is not None and not isinstance(value, list | str):
            raise ValueError("not a text")
        documents.append(count_words(" ".join(value) if isinstance(value, list) else value or ""))
    return documents


def _table(rows: list[list[str]]) -> list[dict[str, Any]]:
    rows = [row for row in rows if row]
    header = [name.strip() for name in rows[0]]
    if len(set(header)) < len(header) or any(len(row) != len(header) for row in rows):
        raise ValueError("rows of different lengths, or columns of the same name")
    return [dict(zip(header, row, strict=True)) for row in rows[1:]]


def comma_separated(content: bytes) -> Documents | None:
    text = _text(content)
    lines = [] if text is None else _lines(text)
    if not lines or any(mark in lines[0] for mark in ";\t|"):
        return None
    return _texts_of(_table(list(csv.reader((line + "\n" for line in lines), strict=True))))


def tab_separated(content: bytes) -> Documents | None:
    text = _text(content)
    return None if not text else _texts_of(_table([line.split("\t") if line else [] for line in _lines(text)]))


def wide(content: bytes) -> Documents | None:
    """Samples x features with a first column of names."""
    text = _text(content)
    lines = [] if text is None else _lines(text)
    if not lines or any(mark in lines[0] for mark in ";\t|#") or any(line.startswith("#") for line in lines):
        return None
    rows = _table(list(csv.reader((line + "\n" for line in lines), strict=True)))
    names = [] if not rows else list(rows[0])
    if names[:1] != ["sample"] or {"label", "class", "category", "id", "identifier", *_TEXT_COLUMNS} & {*names}:
        return None
    if not rows or re.fullmatch(r"[-+.\deE]*", rows[0]["sample"]):
        return None
    return [
        +Counter({n: _whole((row[name] or "0").strip(" \t").encode()) for n, name in enumerate(names[1:])})
        for row in rows
    ]


def json_lines(content: bytes) -> Documents | None:
    text = _text(content)
    if text is None:
        return None
    if text.lstrip(" \t\r\n").startswith("["):
        items = [{"text": item} if isinstance(item, str) else item for item in json.loads(text)]
    else:
        items = [json.loads(line) for line in _lines(text) if line.strip()]
    if not all(isinstance(item, dict) for item in items):
        raise ValueError("something else than objects")
    return _texts_of(items)


def prose(content: bytes) -> Documents | None:
    text = _text(content)
    return None if text is None or not re.search("[a-z]", text) else list(map(count_words, _lines(text)))


def any_counts(content: bytes) -> list[Documents]:
    """What the file is in each format of counts that allows it."""
    found = []
    for read in (matrix_market, uci, ldac, svmlight, cluto):
        try:
            found.append(read(content))
        except (ValueError, IndexError):
            continue
    return found


def zipped(content: bytes) -> Documents | None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        return _members({name: archive.read(name) for name in names}, names)


def tarred(content: bytes) -> Documents | None:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        found = {member.name: archive.extractfile(member) for member in files}
        return _members({name: stream.read() for name, stream in found.items() if stream}, [m.name for m in files])


def _members(files: dict[str, bytes], names: list[str]) -> Documents | None:
    """Texts of an archive; plain names of texts only."""
    plain = all(re.fullmatch(r"[\w/]+\.txt", name) for name in names) and len(set(names)) == len(names)
    if not plain or any(b"\0" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")) for data in files.values()):
        return None
    return [count_words(_text(data) or "") for data in files.values()]


def parquet(content: bytes) -> Documents | None:
    import pyarrow.parquet as pq

    return _texts_of(pq.read_table(io.BytesIO(content)).to_pylist())


def matlab(content: bytes) -> Documents | None:
    import scipy.sparse as sp
    from scipy.io import loadmat

    table = loadmat(io.BytesIO(content), variable_names=["X"]).get("X")  # it dies on other variables that are damaged
    if table is None or not sp.issparse(table):
        return None
    cells = table.tocoo()
    documents: Documents = [Counter() for _ in range(table.shape[0])]
    for d, w, value in zip(cells.row.tolist(), cells.col.tolist(), cells.data.tolist(), strict=True):
        documents[d][w] += value
    return [+document for document in documents]


#: By format: what reads it, and whether documents are known by the numbers of words, by their words, or in any order.
TEXTS: dict[str, tuple[Callable[[bytes], Any], str]] = {
    "csv": (comma_separated, "words"),
    "tsv": (tab_separated, "words"),
    "jsonl": (json_lines, "words"),
    "lines": (prose, "words"),
    "wide": (wide, "numbers"),
    "ldac": (ldac, "numbers"),
    "uci": (uci, "numbers"),
    "cluto": (cluto, "numbers"),
    "matrixmarket": (matrix_market, "numbers"),
    "svmlight": (svmlight, "numbers"),
    "unknown": (any_counts, "numbers"),
    "zip": (zipped, "unordered"),
    "tar": (tarred, "unordered"),
    "parquet": (parquet, "words"),
    "matlab": (matlab, "numbers"),
}
