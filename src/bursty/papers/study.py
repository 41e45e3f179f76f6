"""Execution of an entry: every run once, stored as one line of a file, in any number of processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from bursty.datasets import DatasetUnavailable
from bursty.papers.comparing import Row, compare
from bursty.papers.entry import Case, Entry, Measurements, Trial, Values

JOURNAL = "runs.jsonl"
Report = Callable[[str], None]


@dataclass
class Replication:
    """The outcome of running an entry."""

    entry: Entry
    quick: bool
    rows: list[Row]
    verdicts: list[tuple[str, str]]
    results: Measurements
    #: Message about missing data, by case.
    missing: dict[str, str] = field(default_factory=dict)
    #: Number of runs, and of those that warned about convergence.
    n_runs: int = 0
    not_converged: int = 0
    #: First and last day (UTC) of these runs, as far as the journal has it.
    days: tuple[str, ...] = ()

    @property
    def nothing_ran(self) -> bool:
        """Whether there are no results, because all data is missing."""
        return bool(self.missing) and not any(row.n_runs for row in self.rows)


@dataclass(frozen=True)
class Task:
    """One run to be executed."""

    case: Case
    seed: int

    @property
    def key(self) -> str:
        """Key of the run."""
        return self.case.key(self.seed)


class Journal:
    """The file of finished runs: one JSON line each, written as soon as a run ends.

    A truncated line, from a process that was killed while writing, is dropped, and its run is repeated.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / JOURNAL
        self.done: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        whole = 0
        with open(self.path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    break
                try:
                    record = json.loads(line)
                    self.done[record["key"]] = {
                        "values": dict(record["values"]),
                        "warned": bool(record["warned"]),
                        "day": str(record.get("day", "")),
                    }
                except (ValueError, KeyError, TypeError):
                    raise ValueError(
                        f"{self.path}, line {number}: not a finished run. Choose another --out, or remove the line"
                    ) from None
                whole += len(line)
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)

    def add(self, task: Task, values: Values, warned: bool, seconds: float) -> None:
        """Store a run."""
        day = datetime.now(UTC).date().isoformat()
        record = {"key": task.key, "day": day, "seconds": round(seconds, 3), "warned": warned, "values": values}
        line = json.dumps(record, allow_nan=False) + "\n"
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        # In the form in which it will be read: lists for tuples, plain numbers for those of NumPy.
        self.done[task.key] = {"values": json.loads(line)["values"], "warned": warned, "day": day}


def run_entry(
    entry: Entry,
    out: Path,
    *,
    runs: int | None = None,
    jobs: int = 1,
    quick: bool = False,
    seed: int = 0,
    report: Report = lambda message: None,
) -> Replication:
    """Execute the missing runs of an entry, and compare the results with the paper.

    Parameters
    ----------
    entry : Entry
    out : Path
        Folder of the finished runs; created if necessary.
    runs : int, optional
        Number of runs per case; by default that of the entry.
    jobs : int
        Number of processes. With one, each run may use all cores; with more, each has one thread. Results do not depend
        on it.
    quick : bool
        The reduced version.
    seed : int
        Seed of the first run; run r has the seed ``seed + r``.
    report : function of a message
        Called after every run.
    """
    wanted = runs if runs is not None else entry.quick_runs if quick else entry.runs
    cases = entry.cases(quick)
    journal = Journal(out)
    tasks = [Task(case, seed + number) for case in cases for number in range(case.n_runs(wanted))]
    missing = _do(tasks, journal, jobs, report)
    by_case: dict[str, list[Values]] = {case.name: [] for case in cases}
    done = [(task, journal.done[task.key]) for task in tasks if task.key in journal.done]
    for task, record in done:
        by_case[task.case.name].append(record["values"])
    results = Measurements(by_case)
    if entry.derive is not None:
        results = Measurements(by_case | {name: list(values) for name, values in entry.derive(results).items()})
    days = {record["day"] for _, record in done if record["day"]}
    return Replication(
        entry,
        quick,
        compare(entry, cases, results, missing),
        [(claim.text, claim.verdict(results)) for claim in entry.claims],
        results,
        missing,
        len(done),
        sum(record["warned"] for _, record in done),
        tuple(sorted({min(days), max(days)})) if days else (),
    )


def _do(tasks: list[Task], journal: Journal, jobs: int, report: Report) -> dict[str, str]:
    """Execute the missing runs; returns the cases whose data is missing, with the message."""
    pending = list({task.key: task for task in tasks if task.key not in journal.done}.values())
    missing: dict[str, str] = {}
    for number, (task, done) in enumerate(_finished(pending, jobs), start=1):
        if isinstance(done, DatasetUnavailable):
            report(f"{task.case.name}: {done}")
            missing[task.case.name] = str(done)
            continue
        values, warned, seconds = done
        journal.add(task, values, warned, seconds)
        report(f"{number}/{len(pending)} {task.case.name}, seed {task.seed}: {seconds:.1f} s")
    return missing


def _finished(pending: list[Task], jobs: int) -> Iterator[tuple[Task, Any]]:
    """Tasks with their results, as they finish; a case without data is tried once."""
    lacking: set[str] = set()
    if jobs == 1 or len(pending) < 2:
        for task in pending:
            if task.case.name not in lacking:
                done = _perform(task, None)
                if isinstance(done, DatasetUnavailable):
                    lacking.add(task.case.name)
                yield task, done
        return
    # A forked child would inherit the threads of compiled kernels in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {pool.submit(_perform, task, 1): task for task in pending}
        try:
            for future in as_completed(futures):
                task = futures[future]
                if future.cancelled() or task.case.name in lacking:
                    continue
                if isinstance(future.result(), DatasetUnavailable):
                    lacking.add(task.case.name)
                    for other in futures:
                        if futures[other].case.name == task.case.name:
                            other.cancel()
                yield task, future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _perform(task: Task, n_jobs: int | None) -> tuple[Values, bool, float] | DatasetUnavailable:
    """One run: its values, whether it warned about convergence, and its seconds; or a message about missing data."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            values = task.case.measure(Trial(task.seed, n_jobs), **task.case.settings)
        except DatasetUnavailable as error:
            return error
    warned = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    for other in caught:
        if other not in warned:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return values, bool(warned), time.perf_counter() - start
