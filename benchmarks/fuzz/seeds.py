"""One small valid file of each format, to be changed."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import bursty
from bursty import DCMLDA, DPMFS, LDA, BayesClassifier, Corpus, Mixture
from bursty.corpus import shards as sharding
from bursty.corpus import write_shards
from bursty.families import DCM, EDCM, Multinomial, VonMisesFisher
from bursty.inference import checkpoint as checkpointing


@cache
def documents() -> Corpus:
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 2
    counts = rng.poisson(np.where(labels[:, None] == (np.arange(10) < 5), 1.5, 0.2))
    return Corpus(
        counts,
        [f"word{number}" for number in range(10)],
        ids=[f"d{number}" for number in range(24)],
        labels=labels,
        label_names=["even", "odd"],
        metadata={"year": 1900 + np.arange(24), "who": [f"author {number % 3}" for number in range(24)]},
        info={"name": "fuzz"},
    )


def prose(X: Corpus) -> list[str]:
    """A text for each document."""
    return [" ".join(np.repeat(X.vocabulary, row)) for row in X.counts.toarray()]


def models() -> list[tuple[str, bytes]]:
    X = documents()
    y = X.label_names[X.labels]
    two = np.column_stack([X.labels, np.arange(len(X)) % 3 == 0]).astype(int)
    fits = {
        "mixture": Mixture(2, random_state=0).fit(X),
        "mixture-multinomial": Mixture(2, family="multinomial", random_state=0).fit(X),
        "mixture-vmf": Mixture(2, family="vonmisesfisher", random_state=0).fit(X),
        "classifier": BayesClassifier().fit(X, y),
        "classifier-complement": BayesClassifier(complement=True).fit(X, y),
        "classifier-multilabel": BayesClassifier().fit(X, two),
        "lda": LDA(2, n_iter=5, random_state=0).fit(X),
        "dcmlda": DCMLDA(2, n_iter=5, random_state=0).fit(X),
        "dpmfs": DPMFS(4, n_iter=10, random_state=0).fit(X),
        "multinomial": Multinomial().fit(X),
        "dcm": DCM().fit(X),
        "edcm": EDCM().fit(X),
        "vmf": VonMisesFisher().fit(X),
        "pipeline": make_pipeline(CountVectorizer(), Multinomial()).fit(prose(X)),
    }
    with tempfile.TemporaryDirectory() as folder:
        saved = [
            bursty.save(model, Path(folder) / name, corpus=X if name == "lda" else None) for name, model in fits.items()
        ]
        return [(path.stem, path.read_bytes()) for path in saved]


def corpora() -> list[tuple[str, bytes]]:
    X = documents()
    several = Corpus(X.counts, label_matrix=np.column_stack([X.labels, 1 - X.labels]), label_names=["a", "b"])
    with tempfile.TemporaryDirectory() as folder:
        return [
            (str(number), corpus.save(Path(folder) / str(number)).read_bytes())
            for number, corpus in enumerate((X, several))
        ]


def shards() -> list[tuple[str, bytes]]:
    size, sharding.SHARD_SIZE = sharding.SHARD_SIZE, 10
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = write_shards(Path(folder) / "s", documents()).path
            return [("shards", join({file.name: file.read_bytes() for file in path.iterdir()}))]
    finally:
        sharding.SHARD_SIZE = size


@cache
def checkpoints() -> dict[str, tuple[Any, bytes]]:
    """Models, and what a fit of each that was stopped on its way left."""
    fits = {
        "mixture": Mixture(2, init="perturb", n_init=2, max_iter=6, tol=0, n_jobs=1, random_state=1),
        "vmf": Mixture(2, family="vonmisesfisher", init="perturb", max_iter=6, tol=0, n_jobs=1, random_state=1),
        "lda": LDA(2, n_iter=6, tol=0, n_jobs=1, random_state=1),
        "dcmlda": DCMLDA(2, n_iter=6, tol=0, n_jobs=1, random_state=1),
        "dpmfs": DPMFS(4, n_iter=8, n_chains=2, n_jobs=1, random_state=1),
        "dpmfs-paper": DPMFS(4, sampler="paper", n_iter=8, burn_in=4, n_jobs=1, random_state=1),
    }
    found = {}
    done, checkpointing.CheckpointWriter.done = checkpointing.CheckpointWriter.done, lambda writer: None  # type: ignore[method-assign]  # the file stays
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, model in fits.items():
                path = Path(folder) / name
                model.set_params(checkpoint=bursty.Checkpoint(path, iterations=3)).fit(documents())
                found[name] = model, path.read_bytes()
    finally:
        checkpointing.CheckpointWriter.done = done  # type: ignore[method-assign]  # as it was
    return found


def texts() -> dict[str, list[tuple[str, bytes]]]:
    """Files that are text."""
    X = documents()
    rows = X.counts.toarray()
    pairs = [[(i, n) for i, n in enumerate(row) if n] for row in rows]
    nnz, shape = X.counts.nnz, rows.shape
    cells = [f"{d + 1} {w + 1} {n}" for d, row in enumerate(pairs) for w, n in row]
    header = f"%%MatrixMarket matrix coordinate integer general\n{shape[0]} {shape[1]} {nnz}\n"
    square = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 2\n2 1 1\n3 2 4\n"
    dense = "%%MatrixMarket matrix array integer general\n3 2\n1\n0\n2\n3\n1\n1\n"
    both = list(zip(prose(X), X.labels, strict=True))
    table = "id,text,label,year\n" + "".join(f'{i},"{t}",{y},19{i:02}\n' for i, (t, y) in enumerate(both))
    objects = "".join(
        f'{{"id": "{i}", "text": "{t}", "label": "{y}", "n": [1, null]}}\n' for i, (t, y) in enumerate(both)
    )
    wide = "sample," + ",".join(X.vocabulary) + "\n"
    wide += "".join(f"s{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(rows))
    ldac = "".join(f"{len(p)} " + " ".join(f"{w}:{n}" for w, n in p) + "\n" for p in pairs)
    cluto = f"{shape[0]} {shape[1]} {nnz}\n" + "".join(" ".join(f"{w + 1} {n}" for w, n in p) + "\n" for p in pairs)
    filled = f"{shape[0]} {shape[1]}\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows)
    svm = "".join(f"{y} " + " ".join(f"{w + 1}:{n}" for w, n in p) + "\n" for y, p in zip(X.labels, pairs, strict=True))
    coordinates = header + "\n".join(cells) + "\n"
    files = {
        "csv": [("a.csv", table)],
        "tsv": [("a.tsv", table.replace(",", "\t").replace('"', ""))],
        "jsonl": [("a.jsonl", objects), ("a.json", "[" + ",".join(objects.splitlines()) + "]")],
        "lines": [("a.txt", "\n".join(prose(X)) + "\n")],
        "wide": [("a.csv", wide)],
        "ldac": [("a.ldac", ldac)],
        "uci": [("docword.a.txt", f"{shape[0]}\n{shape[1]}\n{nnz}\n" + "\n".join(cells) + "\n")],
        "cluto": [("a.mat", cluto), ("a.mat", filled)],
        "matrixmarket": [("a.mtx", coordinates), ("a.mtx", square), ("a.mtx", dense)],
        "svmlight": [("a.svm", svm)],
        "unknown": [("noname", coordinates), ("noname", "2 0:1 1:2\n1 0:3\n"), ("noname", "1 1:2 2:1 # note\n")],
    }
    return {name: [(file, text.encode()) for file, text in valid] for name, valid in files.items()}


def packed() -> dict[str, list[tuple[str, bytes]]]:
    """Files that are not."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from scipy.io import savemat

    X = documents()
    plain = texts()
    stream = io.BytesIO()
    columns = {
        "text": ["some words here", "other words", None] * 9,
        "label": ["a", "b", "a"] * 9,
        "n": [[1], None, []] * 9,
    }
    parquet = []
    for options in ({}, {"compression": "NONE"}, {"compression": "ZSTD", "use_dictionary": False}):
        stream = io.BytesIO()
        pq.write_table(pa.table(columns), stream, **options)
        parquet.append(("a.parquet", stream.getvalue()))
    matlab = []
    for compress in (False, True):
        stream = io.BytesIO()
        savemat(
            stream,
            {"X": X.counts.tocsc().astype(float), "labels": X.labels, "words": np.array(list(X.vocabulary), object)},
            do_compression=compress,
        )
        matlab.append(("a.mat", stream.getvalue()))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(6):
            archive.writestr(f"mails/{'ab'[number % 2]}/{number}.txt", f"words of mail {number}")
    zipped = stream.getvalue()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for number in range(4):
            info = tarfile.TarInfo(f"{'ab'[number % 2]}/{number}.txt")
            info.size = 5
            tar.addfile(info, io.BytesIO(b"words"))
    csv = plain["csv"][0][1]
    return {
        "parquet": parquet,
        "matlab": matlab,
        "zip": [("a.zip", zipped)],
        "tar": [("a.tar", stream.getvalue()), ("a.tar.gz", gzip.compress(stream.getvalue(), mtime=0))],
        "compressed": [("a.csv.gz", gzip.compress(csv, mtime=0)), ("a.csv.xz", lzma.compress(csv))],
    }


def join(files: dict[str, bytes]) -> bytes:
    """Files as one zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def split(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def array(content: bytes) -> np.ndarray:
    return np.load(io.BytesIO(content))


def npy(values: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(values), allow_pickle=False)
    return stream.getvalue()
