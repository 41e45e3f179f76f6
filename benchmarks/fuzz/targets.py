"""Open a mutated file of each format, compare what comes out with what the file says, and use it.

A file may be refused with `ValueError`. If it is accepted, `Unusable` is raised unless

- what is in memory is what a second reader, which imports nothing of bursty, finds in the file (`oracle`): nothing is
  dropped, cut, cast, wrapped or made up. For containers it is saved again and the two files are compared;
- of a file that has checksums, and whose bytes were changed without making them right, it is the content of the file
  before the change;
- it can be used: counts are canonical, probabilities are finite and sum to one.

A valid number in the place of another, with the right checksum, is another valid file: nobody can tell.
"""

from __future__ import annotations

import csv
import random
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bursty
from benchmarks.fuzz import mutations, oracle, seeds
from bursty import persistence
from bursty.corpus import Corpus, ShardedCorpus, read_corpus
from bursty.storage import read_tree, write_tree
from bursty.storage.schema import stored_classes

Mutate = Callable[[bytes, random.Random], bytes]
#: One in so many mutations of a file with checksums leaves these wrong.
DAMAGED = 10
#: What readers of other people raise for files that they refuse.
REFUSALS = (
    *(ValueError, KeyError, IndexError, EOFError, OSError, NotImplementedError, RecursionError),
    *(csv.Error, struct.error, tarfile.TarError, zipfile.BadZipFile, zlib.error),
)


class Unusable(AssertionError):
    """Something was accepted that it should not have been."""


@dataclass(frozen=True)
class Target:
    """A format: valid files, how to change them, and how to open and use what comes out.

    ``use`` gets a folder, the name of the file, the bytes to write there, and the file whose content they must have:
    themselves, or the valid file where bytes were changed and checksums left as they were (``checked`` formats).
    """

    name: str
    valid: list[tuple[str, bytes]]
    mutate: Mutate
    use: Callable[[Path, str, bytes, bytes], None]
    container: bool = False
    checked: bool = False
    damage: Mutate = mutations.change_bytes


def expect(holds: Any, what: str) -> None:
    if not holds:
        raise Unusable(what)


def use_corpus(corpus: Corpus) -> None:
    counts = corpus.counts
    expect(counts.shape == (len(corpus), corpus.n_words), "shape")
    expect(counts.nnz == 0 or (counts.data.min() > 0 and counts.indices.max() < corpus.n_words), "counts outside")
    expect(counts.has_canonical_format, "counts not canonical")
    expect(len(corpus.vocabulary) == corpus.n_words and len(corpus.ids) == len(corpus), "names")
    if corpus.labels is not None and corpus.label_names is not None:
        expect(corpus.labels.min() >= -1 and corpus.labels.max() < len(corpus.label_names), "labels outside")
    if counts.nnz and corpus.n_words < 100_000:
        expect(np.isfinite(bursty.families.Multinomial().fit(corpus).log_prob(corpus)).any(), "no finite likelihood")


def use_model(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (6, model.n_features_in_))
    X[0] = 0
    X[0, 0] = 1
    for name in ("predict_proba", "transform"):
        if hasattr(model, name):
            table = np.asarray(getattr(model, name)(X))
            expect(
                table.shape[0] == len(X) and np.isfinite(table).all() and table.min() >= -1e-12, f"{name} is no table"
            )
            multilabel = type(model).__name__ == "BayesClassifier" and model.classes_.ndim and table.ndim == 2
            if not multilabel or np.allclose(table.sum(axis=1), 1.0):
                expect(np.allclose(table.sum(axis=1), 1.0, atol=1e-6), f"{name} does not sum to one")
    if hasattr(model, "predict"):
        model.predict(X)
    for name in ("log_prob", "score_samples"):
        if hasattr(model, name):
            expect(not np.isnan(getattr(model, name)(X)).any(), f"{name} is not a number")


def expect_same(found: Any, said: Callable[[], Any]) -> None:
    """What was read is what the second reader finds; where that one refuses the file, nothing should have been read."""
    try:
        expected = said()
    except REFUSALS as error:
        raise Unusable(f"accepted what the second reader refuses: {type(error).__name__}: {error}") from error
    where = oracle.difference(found, expected)
    expect(where is None, f"other content than the file has: {where}")


def documents_of(corpus: Corpus, known_by: str) -> list[Counter[Any]]:
    """The counts of each document, by the number of the word or by the word."""
    counts, words = corpus.counts, corpus.vocabulary
    rows = []
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        names = counts.indices[start:end].tolist()
        values = counts.data[start:end].tolist()
        rows.append(Counter(dict(zip(names if known_by == "numbers" else words[names].tolist(), values, strict=True))))
    return rows


def in_order(documents: list[Counter[Any]], known_by: str) -> list[Counter[Any]]:
    return sorted(documents, key=lambda d: sorted(d.items())) if known_by == "unordered" else documents


def expect_same_documents(name: str, corpus: Corpus, content: bytes) -> None:
    """The second reader counts the same, or cannot tell."""
    read, known_by = oracle.TEXTS[name]
    found = in_order(documents_of(corpus, known_by), known_by)
    try:
        said = read(content)
    except REFUSALS as error:
        raise Unusable(f"accepted what the second reader refuses: {type(error).__name__}: {error}") from error
    if name == "unknown":
        expect(found in said, "other counts than any format gives")
    elif said is not None:
        expect(len(found) == len(said), f"{len(found)} documents instead of {len(said)}")
        expect(found == in_order(said, known_by), "other counts than the second reader's")


def text_target(name: str, valid: list[tuple[str, bytes]], mutate: Mutate = mutations.change_text) -> Target:
    def use(folder: Path, filename: str, content: bytes, same: bytes) -> None:
        path = folder / filename
        path.write_bytes(content)
        corpus = read_corpus(path)
        use_corpus(corpus)
        if name in oracle.TEXTS:
            expect_same_documents(name, corpus, content)
        else:
            path.write_bytes(same)
            kinds = documents_of(corpus, "words"), documents_of(read_corpus(path), "words")
            expect(kinds[0] == kinds[1], "other content than before the damage")

    return Target(name, valid, mutate, use, checked=name not in oracle.TEXTS)


def tree_of(content: bytes) -> Any:
    """What a saved tree says; the version of the library that wrote it does not count."""
    found = oracle.contents(content)
    if isinstance(found["tree"], dict):
        found["tree"].pop("'library'", None)
        for later in ("'vectorizer'", "'steps'"):  # which files of 0.1 do not have
            found["tree"].setdefault(later, None)
        corpus = found["tree"].get("'corpus'")
        if corpus is not None:
            manifest, arrays = corpus
            found["tree"]["'corpus'"] = [manifest, with_cells(arrays, "'")]
    return found


def with_cells(arrays: dict[str, Any], quote: str = "") -> dict[str, Any]:
    """The arrays of a corpus with its counts as cells, whatever their order."""
    counts = [f"{quote}{name}{quote}" for name in ("data", "indices", "indptr")]
    others = {name: array for name, array in arrays.items() if name not in counts}
    return {**others, "cells": oracle.cells(*(arrays[name] for name in counts))}


def model_target() -> Target:
    def use(folder: Path, filename: str, content: bytes, same: bytes) -> None:
        path = folder / "model.bursty"
        path.write_bytes(content)
        saved = persistence.read(path)
        model = saved.model if saved.pipeline is None else saved.pipeline
        again = bursty.save(model, folder / "again.bursty", corpus=saved.corpus, run=saved.run)
        expect_same(tree_of(again.read_bytes()), lambda: tree_of(same))
        use_model(saved.model)

    return Target("model", seeds.models(), mutations.change_container, use, container=True, checked=True)


def corpus_of(content: bytes) -> Any:
    """What the file of a corpus says: cells, and everything else as it is."""
    found = oracle.contents(content)
    arrays = with_cells(found.pop("arrays"))
    return {**found, **arrays}


def corpus_target() -> Target:
    def use(folder: Path, filename: str, content: bytes, same: bytes) -> None:
        path = folder / "corpus.bcorpus"
        path.write_bytes(content)
        corpus = read_corpus(path)
        expect_same(corpus_of(corpus.save(folder / "again.bcorpus").read_bytes()), lambda: corpus_of(same))
        use_corpus(corpus)

    return Target("corpus", seeds.corpora(), mutations.change_container, use, container=True, checked=True)


def shards_target() -> Target:
    """The files of a folder, one after the other in one string; counts get the checksum that the index has of them."""

    def mutate(content: bytes, rng: random.Random) -> bytes:
        files = seeds.split(content)
        name = rng.choice(sorted(files))
        if not name.endswith(".npy"):
            return seeds.join({**files, name: mutations.change_container(files[name], rng)})
        flat = mutations.change_array(seeds.array(files[name]), rng, [np.arange(5, dtype=np.int32)])
        manifest, arrays = mutations.unpack(files["index"])
        rows = dict(map(tuple, manifest["tree"]["dict"]))["shards"]
        checksum = zlib.crc32(np.ascontiguousarray(flat).data) if flat.dtype.kind in "iu" else 0
        rows[int(name[:5])][-1] = checksum
        names = f"{name[:5]}.names"
        told, columns = mutations.unpack(files[names])
        dict(map(tuple, told["tree"]["dict"]))["shard"][-1] = checksum
        changed = {names: mutations.pack(told, columns), "index": mutations.pack(manifest, arrays)}
        return seeds.join({**files, name: seeds.npy(flat), **changed})

    def damage(content: bytes, rng: random.Random) -> bytes:
        files = seeds.split(content)
        name = rng.choice(sorted(files))
        return seeds.join({**files, name: mutations.change_bytes(files[name], rng)})

    def use(folder: Path, filename: str, content: bytes, same: bytes) -> None:
        place = folder / "corpus.bshards"
        place.mkdir()
        for name, data in seeds.split(content).items():
            (place / name).write_bytes(data)
        corpus = ShardedCorpus(place)
        parts = list(corpus.parts())
        expect_same(shards_as_read(corpus, parts), lambda: shards_of(seeds.split(same)))
        for part in parts:
            use_corpus(part)
        bursty.families.DCM().fit(corpus)

    return Target("shards", seeds.shards(), mutate, use, container=True, checked=True, damage=damage)


def shards_of(files: dict[str, bytes]) -> Any:
    """What the files of a folder of shards say."""
    index = oracle.contents(files["index"])["tree"]
    parts = []
    for number, (documents, n_cells, *_) in enumerate(index["'shards'"]):
        flat = seeds.array(files[f"{number:05d}.npy"])
        indptr, indices, data = np.split(flat, [documents + 1, documents + 1 + n_cells])
        names = oracle.contents(files[f"{number:05d}.names"])["tree"]
        names.pop("'shard'", None)  # whose names they are, which others would not be accepted for
        parts.append({"cells": oracle.cells(data[:n_cells], indices, indptr), "names": names})
    told = {name: index[f"'{name}'"] for name in ("has_words", "is_multilabel", "vocabulary", "label_names", "info")}
    return {"parts": parts, "shards": index["'shards'"], **told}


def shards_as_read(corpus: ShardedCorpus, parts: list[Corpus]) -> Any:
    def strings(values: Any) -> Any:
        return None if values is None else {"items": list(values), "shape": [len(values)]}

    def column(values: Any) -> Any:
        return strings(values) if values.dtype.kind == "O" else values

    read = []
    for part in parts:
        counts = part.counts
        metadata = {repr(name): column(values) for name, values in part.metadata.items()}
        names = {"'ids'": strings(part.ids), "'labels'": part.labels, "'metadata'": metadata}
        read.append({"cells": oracle.cells(counts.data, counts.indices, counts.indptr), "names": names})
    rows = [[s.documents, s.cells, s.tokens, s.empty, s.checksum] for s in corpus.shards]
    told = {"has_words": corpus.has_words, "is_multilabel": corpus.is_multilabel}
    told |= {"vocabulary": strings(corpus.vocabulary), "label_names": strings(corpus.label_names)}
    return {"parts": read, "shards": rows, **told, "info": {repr(key): item for key, item in corpus.info.items()}}


def checkpoint_target() -> Target:
    fits = seeds.checkpoints()

    def use(folder: Path, filename: str, content: bytes, same: bytes) -> None:
        path = folder / "fit.checkpoint"
        path.write_bytes(content)
        model, X = fits[filename][0], seeds.documents()
        from sklearn.base import clone

        again = write_tree(
            folder / "again", "checkpoint", read_tree(path, "checkpoint", stored_classes()), stored_classes()
        )
        expect_same(tree_of(again.read_bytes()), lambda: tree_of(same))
        fitted = clone(model).set_params(checkpoint=bursty.Checkpoint(path, iterations=10**6)).fit(X)
        use_model(fitted)

    valid = [(name, content) for name, (_, content) in fits.items()]
    return Target("checkpoint", valid, mutations.change_container, use, container=True, checked=True)


def targets() -> list[Target]:
    texts = [text_target(name, valid) for name, valid in seeds.texts().items()]
    packed = [text_target(name, valid, mutations.change_bytes) for name, valid in seeds.packed().items()]
    return [model_target(), corpus_target(), shards_target(), checkpoint_target(), *texts, *packed]


def warm_up(target: Target, folder: Path) -> None:
    """Use the valid files, which must be accepted; what that compiles is there for all mutations."""
    for number, (filename, content) in enumerate(target.valid):
        place = folder / str(number)
        place.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.use(place, filename, content, content)


def attempt(target: Target, folder: Path, seed: int) -> tuple[str, str]:
    """What became of one mutation: "refused", "accepted", "unusable" or "foreign", and what was said."""
    rng = random.Random(f"{target.name} {seed}")
    filename, content = rng.choice(target.valid)
    damaged = target.checked and (not target.container or rng.randrange(DAMAGED) == 0)
    mutated = (target.damage if damaged else target.mutate)(content, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.use(folder, filename, mutated, content if damaged else mutated)
        except Unusable as error:
            return "unusable", f"{filename}: {error}"
        except ValueError as error:
            return ("refused", "") if type(error) is ValueError else ("foreign", f"{type(error).__name__}: {error}")
        except Exception as error:
            return "foreign", f"{filename}: {type(error).__name__}: {error}"
    return "accepted", ""
