"""Runs of a benchmark in a JSON file: those that are there are not repeated, and pages show tables made from them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

Key = tuple[str, ...]


class Runs(dict[Key, tuple[float, ...]]):
    """Measures by what was run, such as corpus, method and seed; kept in a file, if there is one."""

    def __init__(self, path: Path | None, names: Sequence[str], measures: Sequence[str]) -> None:
        super().__init__()
        self.path, self.names, self.measures = path, list(names), list(measures)
        if path is not None and path.exists():
            for row in json.loads(path.read_text(encoding="utf-8"))["runs"]:
                self[tuple(map(str, row[: len(names)]))] = tuple(row[len(names) :])

    def add(self, key: Sequence[str], values: Sequence[float]) -> None:
        """Keep a run, and say so."""
        self[tuple(key)] = tuple(float(f"{value:.5g}") for value in values)
        print(*key, *self[tuple(key)], flush=True)
        if self.path is not None:
            rows = ",\n".join(json.dumps([*key, *values]) for key, values in sorted(self.items()))
            head = json.dumps([*self.names, *self.measures])
            self.path.write_text(f'{{"columns": {head},\n"runs": [\n{rows}\n]}}\n', encoding="utf-8")

    def mean(self, measure: str, *known: str) -> float:
        """Over all runs that begin like this; NaN if there are none."""
        place = self.measures.index(measure)
        found = [values[place] for key, values in self.items() if key[: len(known)] == known]
        return float(np.mean(found)) if found else np.nan


def insert(page: Path, name: str, text: str) -> None:
    """Put a text in its place on a page, between two comments that have its name."""
    before = page.read_text(encoding="utf-8")
    place = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not place.search(before):
        raise ValueError(f"{page} has no place for {name!r}")
    page.write_text(place.sub(lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", before), encoding="utf-8")
