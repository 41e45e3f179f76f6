"""How time grows with documents, words, cells and components, and falls with threads and workers.

    python -m benchmarks.scaling                    all axes
    python -m benchmarks.scaling documents threads  some of them; the others stay as they are in the file

One iteration of each algorithm, on simulated documents, at sizes that double. The first four axes have processor
seconds of one thread, which other programs hardly change; threads and workers have seconds on the wall. Every size runs
once per round, in turn. The exponent p of ``seconds ~ size^p`` is the slope of a line through the logarithms.
``benchmarks/results/scaling.json`` has everything, and the documentation draws its figures from it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.harness import RESULTS, processor, spread
from benchmarks.simulated import joined
from benchmarks.timing import table
from bursty import DCMLDA, LDA
from bursty.engines import Engine, LocalEngine
from bursty.families import DCM, get_family
from bursty.inference import em, mcem
from bursty.inference.runs import advance
from bursty.inference.starts import perturb
from bursty.inference.stopping import RelativeChange

#: What is fixed while one of them grows; a document has so many draws of a word and rarely one word twice.
USUAL = {"documents": 8_000, "words": 10_000, "cells": 60, "K": 20}
SIZES = {
    "documents": (2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000),
    "words": (2_500, 5_000, 10_000, 20_000, 40_000),
    "cells": (15, 30, 60, 120, 240),
    "K": (5, 10, 20, 40, 80, 160),
}
#: Topic models take a hundred times as long as mixtures: they stop here.
MOST = {"documents": 32_000}
TITLES = {
    "documents": "documents",
    "words": "words in the vocabulary",
    "cells": "non-zero cells per document",
    "K": "components or topics, K",
    "threads": "threads",
    "workers": "Dask workers of one thread",
}
#: Several chunks of 32,768 documents: a Dask worker takes whole ones.
LARGE = {"documents": 131_072, "words": 10_000, "cells": 40, "K": 20}
SEVERAL = (1, 2)
ROUNDS = {"growth": 3, "threads": 7, "workers": 7}

Work = Callable[[], Any]
Result = dict[str, Any]


def one_fit(engine: Engine, counts: Any, k: int) -> Work:
    """Maximum likelihood of a DCM; it has no components."""
    return lambda: DCM(n_jobs=1).fit(counts)


def mixture(family: str) -> Callable[[Engine, Any, int], Work]:
    """An EM iteration."""

    def begin(engine: Engine, counts: Any, k: int) -> Work:
        documents = engine.place(counts)
        problem = em.Problem(documents, get_family(family), documents.split(None), k, 0.05)
        schedule = em.Schedule((1.0,), 1, RelativeChange(-1.0))
        state = perturb(problem, np.random.default_rng(0))
        for _ in range(2):
            state = advance(em.Run(problem, schedule, state)).state
        return lambda: advance(em.Run(problem, schedule, state))

    return begin


def topics(model: type) -> Callable[[Engine, Any, int], Work]:
    """An iteration of Monte Carlo EM, five sweeps and an M step, after 20 sweeps and five iterations."""

    def begin(engine: Engine, counts: Any, k: int) -> Work:
        run = model(k)._begin(engine.place(counts), k, mcem.Schedule(), np.random.default_rng(0))
        for _ in range(6):
            run.step()
        return run.step

    return begin


WORKS: dict[str, Callable[[Engine, Any, int], Work]] = {
    "DCM: fit": one_fit,
    "Mixture, DCM: EM iteration": mixture("dcm"),
    "Mixture, EDCM: EM iteration": mixture("edcm"),
    "DCMLDA: iteration": topics(DCMLDA),
    "LDA: iteration": topics(LDA),
}
TOPICS = ("DCMLDA: iteration", "LDA: iteration")


def simulate(sizes: Mapping[str, int]) -> Any:
    return joined(sizes["documents"], n_words=sizes["words"], length=sizes["cells"])


def growth(axis: str) -> Iterator[Result]:
    """Processor seconds of one thread as one of the sizes grows."""
    sizes = [{**USUAL, axis: size} for size in SIZES[axis]]
    corpora = [simulate(sizes[0])] * len(sizes) if axis == "K" else [simulate(own) for own in sizes]
    pairs = list(zip(corpora, sizes, strict=True))
    for name, begin in WORKS.items():
        if axis == "K" and begin is one_fit:
            continue
        most = MOST.get(axis, np.inf) if name in TOPICS else np.inf
        own_pairs = [(counts, own) for counts, own in pairs if own[axis] <= most]
        ready = [begin(LocalEngine(1), counts, own["K"]) for counts, own in own_pairs]
        seconds = in_turn(ready, ROUNDS["growth"], time.process_time)
        at = [counts.nnz / counts.shape[0] if axis == "cells" else own[axis] for counts, own in own_pairs]
        yield curve(axis, name, at, seconds, {key: value for key, value in USUAL.items() if key != axis})


def threads() -> Iterator[Result]:
    """Seconds on the wall with one thread and with two."""
    counts = simulate(LARGE)
    for name, begin in WORKS.items():
        if begin is not one_fit:
            ready = [begin(LocalEngine(n), counts, LARGE["K"]) for n in SEVERAL]
            yield curve("threads", name, SEVERAL, in_turn(ready, ROUNDS["threads"], time.perf_counter), LARGE)


def workers() -> Iterator[Result]:
    """Seconds on the wall with one Dask worker and with two, each a process with one thread."""
    from bursty.engines.dask import DaskEngine

    counts = simulate(LARGE)
    with cluster(1) as one, cluster(2) as two:
        for name in ("Mixture, DCM: EM iteration", "Mixture, EDCM: EM iteration", "DCMLDA: iteration"):
            ready = [WORKS[name](DaskEngine(client), counts, LARGE["K"]) for client in (one, two)]
            yield curve("workers", name, SEVERAL, in_turn(ready, ROUNDS["workers"], time.perf_counter), LARGE)


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """A client of a cluster on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


def in_turn(ready: Sequence[Work], rounds: int, clock: Callable[[], float]) -> list[list[float]]:
    """Seconds of each, by round; a first round (compiling, caches) is not counted."""
    seconds: list[list[float]] = [[] for _ in ready]
    for round_ in range(rounds + 1):
        for own, work in zip(seconds, ready, strict=True):
            began = clock()
            work()
            if round_:
                own.append(clock() - began)
    return seconds


def curve(axis: str, work: str, sizes: Sequence[float], seconds: Sequence[Sequence[float]], fixed: Any) -> Result:
    """The points of a curve, its exponent with a standard error, and the exponent of its last step."""
    points = [{"size": float(size), **spread(own)} for size, own in zip(sizes, seconds, strict=True)]
    found = {"axis": axis, "work": work, "fixed": dict(fixed), "rounds": len(seconds[0]), "points": points}
    found |= exponents([point["size"] for point in points], [point["median"] for point in points])
    print(f"{axis}, {work}: {found['exponent']:.2f} (last step {found['last']:.2f})", file=sys.stderr, flush=True)
    return found


def exponents(sizes: Sequence[float], seconds: Sequence[float]) -> dict[str, float | None]:
    """Slope of log seconds against log size by least squares, its standard error, and the slope of the last step."""
    x, y = np.log(sizes), np.log(seconds)
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    residuals = y - y.mean() - slope * centred
    error = None if len(x) < 3 else float(np.sqrt(residuals @ residuals / (len(x) - 2) / (centred @ centred)))
    return {"exponent": slope, "error": error, "last": float((y[-1] - y[-2]) / (x[-1] - x[-2]))}


def main() -> None:
    axes: dict[str, Callable[[], Iterator[Result]]] = {axis: lambda axis=axis: growth(axis) for axis in SIZES}
    axes |= {"threads": threads, "workers": workers}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("axes", nargs="*", metavar="AXIS", help=f"some of: {', '.join(axes)} (default: all)")
    parser.add_argument("--out", type=Path, default=RESULTS / "scaling.json")
    arguments = parser.parse_args()
    if unknown := set(arguments.axes) - set(axes):
        parser.error(f"no such axis: {', '.join(sorted(unknown))}")
    kept = (
        json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else {"curves": [], "runs": {}}
    )
    for axis in arguments.axes or axes:
        curves = list(axes[axis]())
        kept["curves"] = [own for own in kept["curves"] if own["axis"] != axis] + curves
        kept["runs"][axis] = {
            "machine": f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "date": date.today().isoformat(),
            "command": f"python -m benchmarks.scaling {axis}",
            "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        }
        arguments.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        show(axis, curves)


def show(axis: str, curves: Sequence[Result]) -> None:
    """Print the table of an axis."""
    sizes = [f"{point['size']:g}" for point in curves[0]["points"]]
    rows = []
    for own in curves:
        seconds = [point["median"] for point in own["points"]]
        rows.append((own["work"], *seconds, *[""] * (len(sizes) - len(seconds)), own["exponent"]))
    table(f"Seconds against {TITLES[axis]}", rows, ("", *sizes, "exponent"))


if __name__ == "__main__":
    main()
