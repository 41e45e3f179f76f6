"""Open a mutated file of each format and use what comes out.

A target is a function of a folder, the content and a random generator. It raises `ValueError` where the file is
refused, and `Unusable` where it was accepted and cannot be what it says.
"""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bursty
from benchmarks.fuzz import mutations, seeds
from bursty.corpus import Corpus, ShardedCorpus, read_corpus

Mutate = Callable[[bytes, random.Random], bytes]


class Unusable(AssertionError):
    """Something was accepted that it should not have been."""


@dataclass(frozen=True)
class Target:
    """A format: valid files, how to change them, and how to open and use what comes out."""

    name: str
    valid: list[tuple[str, bytes]]
    mutate: Mutate
    use: Callable[[Path, str, bytes], None]
    container: bool = False


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


def text_target(name: str, valid: list[tuple[str, bytes]], mutate: Mutate = mutations.change_text) -> Target:
    def use(folder: Path, filename: str, content: bytes) -> None:
        path = folder / filename
        path.write_bytes(content)
        use_corpus(read_corpus(path))

    return Target(name, valid, mutate, use)


def model_target() -> Target:
    def use(folder: Path, filename: str, content: bytes) -> None:
        path = folder / "model.bursty"
        path.write_bytes(content)
        use_model(bursty.load(path))

    return Target("model", seeds.models(), mutations.change_container, use, container=True)


def corpus_target() -> Target:
    def use(folder: Path, filename: str, content: bytes) -> None:
        path = folder / "corpus.bcorpus"
        path.write_bytes(content)
        use_corpus(read_corpus(path))

    return Target("corpus", seeds.corpora(), mutations.change_container, use, container=True)


def shards_target() -> Target:
    """The files of a folder, one after the other in one string; counts get the checksum that the index has of them."""

    def mutate(content: bytes, rng: random.Random) -> bytes:
        files = seeds.split(content)
        name = rng.choice(sorted(files))
        if not name.endswith(".npy") or rng.random() < 0.1:
            mutator = mutations.change_bytes if name.endswith(".npy") else mutations.change_container
            return seeds.join({**files, name: mutator(files[name], rng)})
        flat = mutations.change_array(seeds.array(files[name]), rng, [np.arange(5, dtype=np.int32)])
        manifest, arrays = mutations.unpack(files["index"])
        rows = dict(map(tuple, manifest["tree"]["dict"]))["shards"]
        rows[int(name[:5])][-1] = zlib.crc32(np.ascontiguousarray(flat).data) if flat.dtype.kind in "iu" else 0
        return seeds.join({**files, name: seeds.npy(flat), "index": mutations.pack(manifest, arrays)})

    def use(folder: Path, filename: str, content: bytes) -> None:
        place = folder / "corpus.bshards"
        place.mkdir()
        for name, data in seeds.split(content).items():
            (place / name).write_bytes(data)
        corpus = ShardedCorpus(place)
        for part in corpus.parts():
            use_corpus(part)
        bursty.families.DCM().fit(corpus)

    return Target("shards", seeds.shards(), mutate, use, container=True)


def checkpoint_target() -> Target:
    fits = seeds.checkpoints()

    def use(folder: Path, filename: str, content: bytes) -> None:
        path = folder / "fit.checkpoint"
        path.write_bytes(content)
        model, X = fits[filename][0], seeds.documents()
        from sklearn.base import clone

        fitted = clone(model).set_params(checkpoint=bursty.Checkpoint(path, iterations=10**6)).fit(X)
        use_model(fitted)

    valid = [(name, content) for name, (_, content) in fits.items()]
    return Target("checkpoint", valid, mutations.change_container, use, container=True)


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
            target.use(place, filename, content)


def attempt(target: Target, folder: Path, seed: int) -> tuple[str, str]:
    """What became of one mutation: "refused", "accepted", "unusable" or "foreign", and what was said."""
    rng = random.Random(f"{target.name} {seed}")
    filename, content = rng.choice(target.valid)
    mutated = target.mutate(content, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.use(folder, filename, mutated)
        except Unusable as error:
            return "unusable", f"{filename}: {error}"
        except ValueError as error:
            return ("refused", "") if type(error) is ValueError else ("foreign", f"{type(error).__name__}: {error}")
        except Exception as error:
            return "foreign", f"{filename}: {type(error).__name__}: {error}"
    return "accepted", ""
