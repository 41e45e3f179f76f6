"""Description of a table or figure of a paper: cases to measure, values to compare, claims to check, a plot.

| name | meaning |
|---|---|
| `Case` | one setting to measure, with several seeds |
| `Trial` | one run of a case: its seed, and its number of threads |
| `Measurements` | the values of all runs of all cases |
| `Claim` | a sentence of the paper, and a check of it |
| `Entry` | all of these for one table or figure |
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import bursty
from bursty.typing import Array

Values = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """One run: its seed, and its number of threads (None for all)."""

    seed: int
    n_jobs: int | None = None


@dataclass(frozen=True)
class Case:
    """One setting: ``measure(run, **settings)`` returns JSON-serialisable numbers, or short lists of them.

    Parameters
    ----------
    name : str
        Name used by `published.json`, claims and figures.
    measure : function at module level
        Does one run.
    settings : mapping
        JSON-serialisable keyword arguments. Together with the measure and the seed they identify a run, so that entries
        with the same runs share them.
    data : str
        Description of the data.
    runs : int, optional
        Maximum number of runs: 1 if the result does not depend on the seed.
    """

    name: str
    measure: Callable[..., Values]
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    runs: int | None = None

    def key(self, seed: int) -> str:
        """Key of a run, independent of the entry."""
        task = f"{self.measure.__module__.rpartition('.')[2]}.{self.measure.__name__}"
        return f"{task} {json.dumps(dict(self.settings), sort_keys=True)} seed={seed} bursty={bursty.__version__}"

    def n_runs(self, wanted: int) -> int:
        """Number of runs of this case, given the requested number."""
        return wanted if self.runs is None else min(wanted, self.runs)


class NotMeasured(LookupError):
    """A case has no runs, because its data is missing or it was not requested."""


class Measurements:
    """Values of the runs of each case, in the order of their seeds; a case that could not run has none."""

    def __init__(self, by_case: Mapping[str, Sequence[Values]]) -> None:
        self._by_case = {name: list(runs) for name, runs in by_case.items()}

    def __contains__(self, case: str) -> bool:
        return bool(self._by_case.get(case))

    def cases(self) -> list[str]:
        """The names of the requested cases."""
        return list(self._by_case)

    def runs(self, case: str) -> list[Values]:
        """All measured values, one dictionary per run."""
        return self._by_case.get(case, [])

    def values(self, case: str, measure: str) -> Array:
        """One number per run that has the measure."""
        found = [run[measure] for run in self.runs(case) if run.get(measure) is not None]
        return np.array(found, dtype=np.float64)

    def mean(self, case: str, measure: str) -> float:
        """Mean over the runs."""
        values = self.values(case, measure)
        if len(values) == 0:
            raise NotMeasured(f"{case} has no run with {measure}")
        return float(values.mean())

    def error(self, case: str, measure: str) -> float | None:
        """Standard error of the mean; None if there are fewer than two runs.

        A measure that is not a mean over runs provides its own error as ``"<measure> error"``.
        """
        own = self.values(case, f"{measure} error")
        if len(own):
            return float(own.mean())
        values = self.values(case, measure)
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None

    def n_runs(self, case: str, measure: str) -> int:
        """Number of runs that have the measure."""
        return len(self.values(case, measure))

    def first(self, case: str) -> Values:
        """The first run of a case, for values that do not depend on the seed, or as a typical run."""
        return self.runs(case)[0]


def share(truths: Iterable[bool]) -> float:
    """Share of true values; NaN if there are none."""
    found = list(truths)
    return float(np.mean(found)) if found else float("nan")


def significant_gain(results: Measurements, better: str, worse: str, measure: str, sign: float = 1.0) -> bool:
    """Whether the mean of one case exceeds that of another by more than two standard errors."""
    first, second = (results.error(case, measure) for case in (better, worse))
    if first is None or second is None:
        raise NotMeasured(f"{better} or {worse} has fewer than two runs")
    gain = sign * (results.mean(better, measure) - results.mean(worse, measure))
    return gain > 2.0 * math.hypot(first, second)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the share of it that holds here, from 0 to 1.

    ``check`` may return a bool, or a share if the sentence makes several statements.
    """

    text: str
    check: Callable[[Measurements], bool | float]

    def verdict(self, results: Measurements) -> str:
        """Whether it holds, in words."""
        try:
            part = float(self.check(results))
        except NotMeasured:
            return "not checked"
        if not np.isfinite(part):
            return "not checked"
        return "holds" if part >= 1.0 else "does not hold here" if part <= 0.0 else "holds partly"


@dataclass(frozen=True)
class Entry:
    """One table or figure.

    Parameters
    ----------
    id : str
        ``paper.table1``.
    title : str
        What it shows.
    cases : function of a bool
        The cases; with True, those of the quick version.
    claims : sequence of Claim
    runs, quick_runs : int
        Number of runs per case.
    extra : mapping of (case, measure) to str
        Additional rows that are not in the paper, with their names.
    beyond : mapping of (case, measure) to ((case, measure), str)
        Shown beside a published value: a result of what bursty has beyond the paper, better or not, with its name.
    draw : function of Measurements, optional
        Returns a matplotlib figure.
    derive : function of Measurements, optional
        Adds cases that are computed from others (ratios, correlations over runs).
    more : function of Measurements, optional
        Returns Markdown to be shown below the table.
    notes : str
        Differences from the paper.
    stand_in : tuple of str
        Cases whose name contains one of these use other data than the paper, and get no verdict.
    """

    id: str
    title: str
    cases: Callable[[bool], list[Case]]
    claims: tuple[Claim, ...] = ()
    runs: int = 1
    quick_runs: int = 1
    extra: Mapping[tuple[str, str], str] = field(default_factory=dict)
    beyond: Mapping[tuple[str, str], tuple[tuple[str, str], str]] = field(default_factory=dict)
    draw: Callable[[Measurements], Any] | None = None
    derive: Callable[[Measurements], Mapping[str, Sequence[Values]]] | None = None
    more: Callable[[Measurements], str] | None = None
    notes: str = ""
    stand_in: tuple[str, ...] = ()

    def uses_other_data(self, case: str) -> bool:
        """Whether a case uses other data than the paper."""
        return any(part in case for part in self.stand_in)

    @property
    def paper(self) -> str:
        """The paper it belongs to."""
        return self.id.partition(".")[0]

    @property
    def part(self) -> str:
        """Which table or figure."""
        return self.id.partition(".")[2]
