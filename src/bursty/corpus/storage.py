"""A corpus in one file: the names of its arrays in the container of `bursty.storage`.

| array | content |
|---|---|
| `data`, `indices`, `indptr` | the counts, in the smallest integer type that holds them |
| `vocabulary.bytes`, `vocabulary.ends` | the words, if they have names |
| `ids.bytes`, `ids.ends` | the documents' names |
| `labels`, or `classes.indices` and `classes.indptr` | one class per document, or any number |
| `metadata.<n>`, or `.bytes` and `.ends` | the n-th column |
| `texts.data`, `texts.ends`, `texts.lengths` | compressed blocks of the texts, if they are kept |
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.core import Corpus
from bursty.corpus.texts import Texts
from bursty.sparse import check_csr
from bursty.storage import pack_strings, read_arrays, unpack_strings, write_arrays
from bursty.typing import Array

KIND = "corpus"
SUFFIX = ".bcorpus"
_TEXTS = ("data", "ends", "lengths")
#: Kinds of arrays that columns of metadata are stored as; strings are stored as bytes and ends.
NUMBERS = "biufmM"


def save_corpus(corpus: Corpus, path: str | Path) -> Path:
    """Write the corpus to `path`; the suffix is added if the name has none."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(SUFFIX)
    return write_arrays(path, KIND, *take_apart(corpus))


def load_corpus(path: str | Path) -> Corpus:
    """Read a file written by `save_corpus`; `ValueError` for any other file."""
    manifest, arrays = read_arrays(path, KIND)
    try:
        return rebuild(manifest, arrays)
    except (KeyError, TypeError, IndexError, ValueError, OverflowError) as error:
        raise ValueError(f"{path} is not a readable bursty corpus file: its parts do not match ({error})") from error


def take_apart(corpus: Corpus) -> tuple[dict[str, Any], dict[str, Array]]:
    """The corpus as a JSON-serialisable manifest and named arrays."""
    counts = corpus.counts
    arrays: dict[str, Array] = {
        "data": _narrow(counts.data),
        "indices": counts.indices,
        "indptr": counts.indptr,
    }
    if corpus.has_words:
        _put_strings(arrays, "vocabulary", corpus.vocabulary)
    _put_strings(arrays, "ids", corpus.ids)
    if corpus.is_multilabel and corpus.label_matrix is not None:
        arrays["classes.indices"] = corpus.label_matrix.indices
        arrays["classes.indptr"] = corpus.label_matrix.indptr
    elif corpus.labels is not None:
        arrays["labels"] = corpus.labels
    for number, column in enumerate(corpus.metadata.values()):
        if column.dtype.kind == "O":
            _put_strings(arrays, f"metadata.{number}", column)
        else:
            arrays[f"metadata.{number}"] = column
    if corpus.texts is not None:
        arrays |= {f"texts.{part}": array for part, array in corpus.texts.pack().items()}
    manifest = {
        "documents": len(corpus),
        "words": corpus.n_words,
        "label_names": None if corpus.label_names is None else list(corpus.label_names),
        "metadata": list(corpus.metadata),
        "info": dict(corpus.info),
    }
    return manifest, arrays


def rebuild(manifest: dict[str, Any], arrays: dict[str, Array]) -> Corpus:
    """The corpus from the result of `take_apart`; raises an error if the parts do not match."""
    _check_parts(manifest, arrays)
    n_documents, n_words = manifest["documents"], manifest["words"]
    data, indices, indptr = (arrays[name] for name in ("data", "indices", "indptr"))
    check_csr(indices, indptr, len(data), (n_documents, n_words))
    if "vocabulary.ends" not in arrays and n_words > max(2**21, 64 * len(data)):
        raise ValueError(f"it claims {n_words} words but has {len(data)} counts")
    counts = sp.csr_array((data.astype(np.int32, copy=False), indices, indptr), shape=(n_documents, n_words))
    names = manifest["label_names"]
    matrix = None
    if "classes.indptr" in arrays:
        where, edges = arrays["classes.indices"], arrays["classes.indptr"]
        check_csr(where, edges, len(where), (n_documents, len(names)))
        ones = np.ones(len(where), dtype=np.int8)
        matrix = sp.csr_array((ones, where, edges), shape=(n_documents, len(names)))
    metadata = {
        name: arrays[f"metadata.{number}"] if f"metadata.{number}" in arrays else _strings(arrays, f"metadata.{number}")
        for number, name in enumerate(manifest["metadata"])
    }
    return Corpus(
        counts,
        _strings(arrays, "vocabulary") if "vocabulary.ends" in arrays else None,
        ids=_strings(arrays, "ids"),
        labels=arrays.get("labels"),
        label_names=names,
        label_matrix=matrix,
        metadata={name: _objects(column) for name, column in metadata.items()},
        info=manifest["info"],
        texts=Texts.unpack(*(arrays[f"texts.{part}"] for part in _TEXTS)) if "texts.data" in arrays else None,
    )


def _check_parts(manifest: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Raise an error for values of other types, and for arrays that would be dropped."""
    names = manifest["label_names"]
    lists = [manifest["metadata"], [] if names is None else names]
    if any(type(manifest[key]) is not int or manifest[key] < 0 for key in ("documents", "words")):
        raise ValueError("the numbers of documents and words are not integers")
    if not all(isinstance(part, list) and all(type(name) is str for name in part) for part in lists):
        raise ValueError("the names of classes and columns are not lists of strings")
    if len(set(manifest["metadata"])) < len(manifest["metadata"]) or not isinstance(manifest["info"], dict):
        raise ValueError("two columns have the same name, or the facts about it have none")
    known = {"data", "indices", "indptr", *(f"texts.{part}" for part in _TEXTS)}
    known |= {"classes.indices", "classes.indptr"} if "classes.indptr" in arrays else {"labels"}
    for name in ("vocabulary", "ids", *(f"metadata.{number}" for number in range(len(manifest["metadata"])))):
        strings = {f"{name}.bytes", f"{name}.ends"}
        known |= strings if f"{name}.ends" in arrays else {name}
    if not arrays.keys() <= known:
        raise ValueError(f"it has arrays that belong to nothing: {', '.join(sorted(arrays.keys() - known))}")
    for number in range(len(manifest["metadata"])):
        if arrays.get(f"metadata.{number}", np.zeros(0)).dtype.kind not in NUMBERS:
            raise ValueError(f"column {manifest['metadata'][number]!r} is neither numbers nor strings")
    for name in ("data", "labels"):
        if name in arrays and arrays[name].dtype.kind not in "iu":
            raise ValueError(f"its {name} are of type {arrays[name].dtype}")
    if (names is None) is bool(arrays.keys() & {"labels", "classes.indptr"}):
        raise ValueError("it has labels without names, or names of classes without labels")


def _narrow(data: Array) -> Array:
    top = int(data.max()) if len(data) else 0
    return data.astype(np.uint8 if top < 2**8 else np.uint16 if top < 2**16 else np.int32)


def _put_strings(arrays: dict[str, Array], name: str, values: Array) -> None:
    arrays[f"{name}.bytes"], arrays[f"{name}.ends"] = pack_strings(values)


def _strings(arrays: dict[str, Array], name: str) -> list[str]:
    return unpack_strings(arrays[f"{name}.bytes"], arrays[f"{name}.ends"])


def _objects(column: Any) -> Any:
    return np.array(column, dtype=object) if isinstance(column, list) else column
