"""Kill every writer at random moments and count what is lost: ``python -m benchmarks.kills --times 60``.

A child process writes a new content over an old one and is killed (SIGKILL) somewhere on the way. Afterwards the old or
the new content must be there, whole, and the next write must leave nothing else in the folder.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bursty
from bursty.cli import run
from bursty.corpus import ShardedCorpus, shards, write_shards


@dataclass(frozen=True)
class Writer:
    """Something that writes: how to write version 0 or 1 to a path, and how to read back which one is there."""

    name: str
    write: Callable[[Path, int], Any]
    read: Callable[[Path], int]


def writers(folder: Path) -> list[Writer]:
    corpora = [bursty.datasets.make_bursty_mixture(3_000, 300, 2, random_state=version)[0] for version in (0, 1)]
    models = [bursty.Mixture(2, random_state=version, max_iter=3, tol=1.0).fit(corpora[version]) for version in (0, 1)]
    sums = [int(corpus.counts.sum()) for corpus in corpora]
    paths = [corpus.save(folder / f"corpus{version}") for version, corpus in enumerate(corpora)]
    expected = [".bursty.json", "documents.csv", "model.bursty", "version"]
    bounds = [model.lower_bound_ for model in models]

    def read_out(path: Path) -> int:
        from bursty.cli.reading_models import load

        version = bounds.index(load(path).model.lower_bound_)
        names = sorted(file.name for file in path.iterdir())
        assert names == expected, f"{names} where {expected} were written"
        assert (path / "version").read_text() == str(version), "files of two runs are mixed"
        return version

    def write_out(path: Path, version: int) -> None:
        """The folder of ``--out``, by the class behind it: a model, tables, and a file that says which run it was."""
        from bursty.cli.options import Output
        from bursty.cli.results import Results
        from bursty.cli.tables import Table

        with Results("cluster", Output(out=path)) as results:
            results.keep(models[version], None)
            results.tables.append(Table("documents", {"id": corpora[version].ids}, shown=False))
            assert results._staging is not None
            (results._staging / "version").write_text(str(version))

    def write_checkpoint(path: Path, version: int) -> None:
        from bursty.inference.checkpoint import Checkpoint, CheckpointWriter

        CheckpointWriter(Checkpoint(path)).write({"version": version, "state": np.full(10**6, version)})

    def read_checkpoint(path: Path) -> int:
        from bursty.inference.checkpoint import Checkpoint, CheckpointWriter

        state = CheckpointWriter(Checkpoint(path)).resume()
        assert (state["state"] == state["version"]).all()
        return state["version"]

    def imported(path: Path, version: int) -> None:
        assert run(["import", str(paths[version]), "--shards", "--out", str(path)]) == 0

    def read_model(path: Path) -> int:
        return bounds.index(bursty.load(path).lower_bound_)

    def read_corpus(path: Path) -> int:
        return sums.index(int(bursty.read_corpus(path).counts.sum()))

    def read_shards(path: Path) -> int:
        return sums.index(sum(int(part.counts.sum()) for part in ShardedCorpus(path).parts()))

    return [
        Writer("model.bursty", lambda path, v: bursty.save(models[v], path), read_model),
        Writer("corpus.bcorpus", lambda path, v: corpora[v].save(path), read_corpus),
        Writer("corpus.bshards", lambda path, v: write_shards(path, corpora[v]), read_shards),
        Writer("imported.bshards", imported, read_shards),
        Writer("checkpoint", write_checkpoint, read_checkpoint),
        Writer("out", write_out, read_out),
    ]


def killed(work: Callable[[], Any], after: float) -> bool:
    """Run this in a child and kill it after so many seconds; whether it was still at it."""
    pid = os.fork()
    if pid == 0:
        with open(os.devnull, "w") as nowhere:
            sys.stdout = sys.stderr = nowhere
            try:
                work()
            finally:
                os._exit(0)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def attack(writer: Writer, folder: Path, times: int, rng: random.Random) -> tuple[int, int, int]:
    """Number of kills in mid-writing, of those after which the new content was there, and of losses."""
    path = folder / writer.name
    writer.write(path, 0)
    began = time.perf_counter()
    writer.write(path, 0)
    duration = time.perf_counter() - began
    n_killed = n_new = n_lost = 0
    while n_killed < times:
        if not killed(lambda: writer.write(path, 1), rng.random() * duration):
            writer.write(path, 0)
            continue
        n_killed += 1
        try:
            n_new += writer.read(path)
            writer.write(path, 0)
            left = [name for name in os.listdir(folder) if name != writer.name]
            assert not left, f"{left} left behind"
        except Exception as error:
            n_lost += 1
            print(f"{writer.name}: {type(error).__name__}: {error}", file=sys.stderr)
            shutil.rmtree(folder)
            folder.mkdir()
            writer.write(path, 0)
    return n_killed, n_new, n_lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=60, help="kills of each writer")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    shards.SHARD_SIZE = 500  # several files a folder
    rng, lost = random.Random(options.seed), 0
    print("| writer | killed while writing | new content was there | lost |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as made:
        there = Path(made) / "written"
        (Path(made) / "sources").mkdir()
        for writer in writers(Path(made) / "sources"):
            shutil.rmtree(there, ignore_errors=True)
            there.mkdir()
            counts = attack(writer, there, options.times, rng)
            lost += counts[2]
            print(f"| {writer.name} | {counts[0]} | {counts[1]} | {counts[2]} |", flush=True)
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
