"""Runs of a benchmark in a file of JSON lines: those that are there are not repeated, and tables are made from them.

The first line has the names of the columns. Every run is one line, written by one call, so that processes may add
runs to the same file at the same time and a killed benchmark loses the run that it was at.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

Key = tuple[str, ...]


class Runs(dict[Key, tuple[float, ...]]):
    """Measures by what was run, such as corpus, method and seed; kept in a file, if there is one."""

    def __init__(self, path: Path | None, names: Sequence[str], measures: Sequence[str]) -> None:
        super().__init__()
        self.path, self.names, self.measures = path, list(names), list(measures)
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        columns = [*self.names, *self.measures]
        if not path.exists() or not path.stat().st_size:
            path.parent.mkdir(parents=True, exist_ok=True)
            _append(path, columns)
            return
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n"):  # it was killed in the middle of a line
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")
        first, *lines = text.splitlines()
        if json.loads(first) != columns:
            raise ValueError(f"{path} has other columns than {columns}: name another file")
        for line in lines:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(row, list) and len(row) == len(columns):
                self[tuple(map(str, row[: len(self.names)]))] = tuple(row[len(self.names) :])

    def add(self, key: Sequence[str], values: Sequence[float]) -> None:
        """Keep a run, and say so."""
        self[tuple(key)] = tuple(float(f"{value:.5g}") for value in values)
        print(*key, *self[tuple(key)], flush=True)
        if self.path is not None:
            _append(self.path, [*key, *self[tuple(key)]])

    def mean(self, measure: str, *known: str) -> float:
        """Over all runs that begin like this; NaN if there are none."""
        place = self.measures.index(measure)
        found = [values[place] for key, values in self.items() if key[: len(known)] == known]
        return float(np.mean(found)) if found else np.nan


def _append(path: Path, row: list[Any]) -> None:
    """Add a line in one call, which other processes cannot interrupt."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, (json.dumps(row) + "\n").encode())
    finally:
        os.close(file)


def spread(function: Callable[[Any], dict[Key, Any]], tasks: Iterable[Any], n_jobs: int) -> dict[Key, Any]:
    """What a function returns for each task, merged; the tasks run in this number of processes."""
    found: dict[Key, Any] = {}
    if n_jobs == 1:
        for task in tasks:
            found |= function(task)
        return found
    with ProcessPoolExecutor(n_jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(function, task) for task in tasks]):
            found |= future.result()
    return found
