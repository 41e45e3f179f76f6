"""What a table or a figure of a paper is: cases to measure, values to compare, claims to check, a picture.

| name | what it is |
|---|---|
| `Case` | one setting to measure, with one seed after the other |
| `Run` | one of these: its seed, and the threads it may use |
| `Results` | what all runs of all cases gave |
| `Claim` | a sentence of the paper, and how to tell whether it holds |
| `Entry` | all of that for one table or figure |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import bursty

Array = np.ndarray[Any, Any]
Values = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One run: its seed, and how many threads it may use (None: all)."""

    seed: int
    n_jobs: int | None = None


@dataclass(frozen=True)
class Case:
    """One setting: ``measure(run, **settings)`` gives numbers, or short lists of them, that JSON can hold.

    Parameters
    ----------
    name : str
        How `published.json`, claims and figures refer to it.
    measure : function of a module
        Does one run.
    settings : mapping
        Its keyword arguments; JSON can hold them. Together with the measure and the seed they say which run it is, so
        entries that ask for the same runs share them.
    data : str
        The data it uses, for the reader.
    runs : int, optional
        At most so many runs: 1 for what does not depend on the seed.
    """

    name: str
    measure: Callable[..., Values]
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    runs: int | None = None

    def key(self, seed: int) -> str:
        """What a run is known by, whichever entry asked for it."""
        task = f"{self.measure.__module__.rpartition('.')[2]}.{self.measure.__name__}"
        return f"{task} {json.dumps(dict(self.settings), sort_keys=True)} seed={seed} bursty={bursty.__version__}"

    def n_runs(self, wanted: int) -> int:
        """How many runs it takes of as many as are wanted."""
        return wanted if self.runs is None else min(wanted, self.runs)


class NotMeasured(LookupError):
    """A case has no run, because its data is missing or it was not asked for."""


class Results:
    """What the runs of each case gave, in the order of their seeds; a case that could not run has none."""

    def __init__(self, by_case: Mapping[str, Sequence[Values]]) -> None:
        self._by_case = {name: list(runs) for name, runs in by_case.items()}

    def __contains__(self, case: str) -> bool:
        return bool(self._by_case.get(case))

    def cases(self) -> list[str]:
        """The names of the cases that were asked for."""
        return list(self._by_case)

    def runs(self, case: str) -> list[Values]:
        """All that was measured, one dictionary a run."""
        return self._by_case.get(case, [])

    def values(self, case: str, measure: str) -> Array:
        """One number a run, of the runs that have it; empty where none has."""
        found = [run[measure] for run in self.runs(case) if run.get(measure) is not None]
        return np.array(found, dtype=np.float64)

    def mean(self, case: str, measure: str) -> float:
        """Mean over the runs."""
        values = self.values(case, measure)
        if len(values) == 0:
            raise NotMeasured(f"{case} has no run with {measure}")
        return float(values.mean())

    def error(self, case: str, measure: str) -> float | None:
        """Standard error of the mean; None where there are less than two runs.

        A measure that has one of its own, because it is no mean over runs, brings it as ``"<measure> error"``.
        """
        own = self.values(case, f"{measure} error")
        if len(own):
            return float(own.mean())
        values = self.values(case, measure)
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None

    def n_runs(self, case: str, measure: str) -> int:
        """How many runs have the measure."""
        return len(self.values(case, measure))

    def first(self, case: str) -> Values:
        """The first run of a case: what does not depend on the seed, or one typical run."""
        return self.runs(case)[0]


def share(truths: Iterable[bool]) -> float:
    """The part that is true; NaN of nothing."""
    found = list(truths)
    return float(np.mean(found)) if found else float("nan")


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the part of it that holds here: from 0 (none of it) to 1 (all of it).

    ``check`` may give a truth value, or a share where the sentence speaks of several things.
    """

    text: str
    check: Callable[[Results], bool | float]

    def verdict(self, results: Results) -> str:
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
    cases : function of a truth value
        The cases; with True, those of the quick version.
    claims : sequence of Claim
    runs, quick_runs : int
        Runs of each case.
    extra : mapping of (case, measure) to str
        Rows beyond the paper: our own, with a name each.
    better : mapping of (case, measure) to ((case, measure), str)
        Beside a published value: what of ours does better, and what it is.
    draw : function of Results, optional
        Gives a matplotlib figure.
    derive : function of Results, optional
        Adds cases that are computed from others (ratios, correlations over runs).
    more : function of Results, optional
        Gives more Markdown to stand below the table.
    notes : str
        What differs from the paper, for the reader of the table.
    stand_in : tuple of str
        Cases whose name has one of these in it use other data than the paper's: they get no verdict.
    """

    id: str
    title: str
    cases: Callable[[bool], list[Case]]
    claims: tuple[Claim, ...] = ()
    runs: int = 1
    quick_runs: int = 1
    extra: Mapping[tuple[str, str], str] = field(default_factory=dict)
    better: Mapping[tuple[str, str], tuple[tuple[str, str], str]] = field(default_factory=dict)
    draw: Callable[[Results], Any] | None = None
    derive: Callable[[Results], Mapping[str, Sequence[Values]]] | None = None
    more: Callable[[Results], str] | None = None
    notes: str = ""
    stand_in: tuple[str, ...] = ()

    def uses_other_data(self, case: str) -> bool:
        """Whether a case's data is not the paper's."""
        return any(part in case for part in self.stand_in)

    @property
    def paper(self) -> str:
        """The paper it belongs to."""
        return self.id.partition(".")[0]

    @property
    def part(self) -> str:
        """Which table or figure."""
        return self.id.partition(".")[2]
