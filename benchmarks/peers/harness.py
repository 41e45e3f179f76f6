"""What a comparison is, how it is run, and how its result is written."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from threadpoolctl import threadpool_limits

import bursty
from benchmarks.timing import table

RESULTS = Path(__file__).parents[1] / "results"
#: Processor time, which other programs on the machine do not change: `run` allows one thread.
clock = time.process_time


@dataclass(frozen=True)
class Column:
    """A measure: its key in what contenders return, its title, and which direction is better (None: neither).

    Of a column that `is_time`, the ratio to the first contender within each round is a column, too.
    """

    name: str
    title: str
    better: str | None
    is_time: bool = False


@dataclass(frozen=True)
class Contender:
    """A function of the data and the round's seed that returns measures by name, and the package that it needs."""

    work: Callable[[Any, int], Mapping[str, float]]
    package: str = "scikit-learn"

    @property
    def is_ours(self) -> bool:
        """Whether it is bursty."""
        return self.package == "bursty"

    def version(self) -> str | None:
        """Version of its package, or None where that is not installed; "R:name" is a package of R."""
        if self.is_ours:
            return bursty.__version__  # that of the checkout, which may be newer than what was installed
        if self.package.startswith("R:"):
            return r_version(self.package[2:])
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


@cache
def r_version(package: str) -> str | None:
    """Version of a package of R, or None where R or the package is missing."""
    if shutil.which("Rscript") is None:
        return None
    done = subprocess.run(
        ["Rscript", "-e", f'cat(format(packageVersion("{package}")))'], capture_output=True, text=True
    )
    return done.stdout.strip() or None if done.returncode == 0 else None


@dataclass(frozen=True)
class Case:
    """One comparison.

    `load(short)` gives the data; a short run may take a part of them. `rounds` are those of a full run and of a short
    one, in which `slow` contenders do not take part. A column "memory" is measured in a process per contender.
    """

    name: str
    title: str
    work: str
    data: str
    load: Callable[[bool], Any]
    contenders: Mapping[str, Contender]
    columns: Sequence[Column]
    rounds: tuple[int, int] = (5, 1)
    slow: Sequence[str] = ()


MEMORY = Column("memory", "memory, MiB", "low")


def run(case: Case, *, short: bool, rounds: int | None = None) -> dict[str, Any]:
    """Every contender once per round, in turn; a contender whose package is missing is left out and named."""
    with one_thread():
        return _run(case, short, rounds)


@contextmanager
def one_thread() -> Iterator[None]:
    """Of bursty, and of the libraries behind NumPy and scikit-learn."""
    with mock.patch.dict(os.environ, OMP_NUM_THREADS="1"), threadpool_limits(1):
        yield


def _run(case: Case, short: bool, rounds: int | None) -> dict[str, Any]:
    present = {
        name: who for name, who in case.contenders.items() if who.version() and not (short and name in case.slow)
    }
    data = case.load(short)
    warm_up = case.load(True)  # kernels are compiled or loaded, and imports done, before the clock starts
    for contender in present.values():
        contender.work(warm_up, 0)
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in present}
    for seed in range(rounds or case.rounds[short]):
        for name, contender in present.items():
            began = clock()
            measured[name].append(dict(contender.work(data, seed)))
            _say(f"{case.name}, round {seed + 1}: {name}, {clock() - began:.1f} s")
    if MEMORY in case.columns:
        for name, rounds_ in measured.items():
            for values in rounds_:
                values.pop("memory", None)  # measured beside all the others, whose memory it may have taken over
            rounds_[0]["memory"] = _in_a_process(case, name, short)
            _say(f"{case.name}: {name}, {rounds_[0]['memory']:.0f} MiB")
    return {
        "case": case.name,
        "title": case.title,
        "work": case.work,
        "data": case.data,
        "short": short,
        "rounds": rounds or case.rounds[short],
        "columns": [_column(column) for column in _with_ratios(case.columns)],
        "rows": _rows(present, measured, case.columns),
        "missing": sorted(set(case.contenders) - set(present)),
        "versions": _versions(present),
        "machine": f"{processor()}, one thread, Python {platform.python_version()}",
        "date": date.today().isoformat(),
        "command": f"python -m benchmarks.peers {case.name}"
        + (" --short" if short else "")
        + (f" --rounds {rounds}" if rounds else ""),
    }


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _in_a_process(case: Case, name: str, short: bool) -> float:
    """Memory of a contender that has a process to itself."""
    command = [sys.executable, "-m", "benchmarks.peers", case.name, "--memory", name, *(["--short"] if short else [])]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def memory(case: Case, name: str, *, short: bool) -> float:
    """What the contender measures of itself with `Peak`, in a process in which nothing else has run."""
    data = case.load(short)
    with one_thread():
        case.contenders[name].work(case.load(True), 0)
        return case.contenders[name].work(data, 0)["memory"]


class Peak:
    """Largest resident memory since it was made, above what the process held then (Linux)."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
        self.before = self._resident("VmRSS")

    def mebibytes(self) -> float:
        """So far."""
        return self._resident("VmHWM") - self.before

    @staticmethod
    def _resident(field: str) -> float:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def known(name: str, chosen_on: Sequence[str]) -> str:
    """Whether settings of the library may have been chosen on these data."""
    return "defaults of bursty were chosen on it and others" if name in chosen_on else "nothing was chosen on it"


def _with_ratios(columns: Sequence[Column]) -> list[Column]:
    ratios = [Column(f"{column.name}_ratio", f"{column.title}, ratio", None) for column in columns if column.is_time]
    return [*columns, *ratios]


def _column(column: Column) -> dict[str, Any]:
    return {"name": column.name, "title": column.title, "better": column.better, "log": column.is_time}


def _rows(
    present: Mapping[str, Contender], measured: Mapping[str, list[dict[str, float]]], columns: Sequence[Column]
) -> list[dict[str, Any]]:
    first = next(iter(measured.values()))
    rows = []
    for name, rounds in measured.items():
        values = {}
        for column in columns:
            found = [values_[column.name] for values_ in rounds if column.name in values_]
            if found:
                values[column.name] = spread(found)
            if found and column.is_time:
                own = zip(rounds, first, strict=True)
                values[f"{column.name}_ratio"] = spread([mine[column.name] / its[column.name] for mine, its in own])
        rows.append({"name": name, "ours": present[name].is_ours, "values": values})
    return rows


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and range."""
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def _versions(present: Mapping[str, Contender]) -> dict[str, str]:
    return {who.package: version for who in present.values() if (version := who.version())}


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show(result: Mapping[str, Any]) -> None:
    """Print the table."""
    columns = result["columns"]
    rows = []
    for row in result["rows"]:
        cells = [row["name"]]
        for column in columns:
            value = row["values"].get(column["name"])
            cells.append("" if value is None else "{} ({} to {})".format(*map(number, value.values())))
        rows.append(tuple(cells))
    title = f"{result['title']}: {result['data']}, {result['rounds']} rounds. {result['machine']}; {result['versions']}"
    table(title, rows, ("", *(column["title"] for column in columns)))
    if result["missing"]:
        print(f"not compared (not installed, or slow): {', '.join(result['missing'])}")


def write(result: Mapping[str, Any], folder: Path) -> Path:
    """One JSON file per case; short runs have names of their own and are not committed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{'short' if result['short'] else 'peers'}-{result['case']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path
