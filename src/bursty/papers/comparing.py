"""Comparison of published values with ours: difference and verdict."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from bursty.papers.entry import Case, Entry, Measurements

#: Measures for which higher (True) or lower (False) is better; other measures only agree or differ.
#: Only the method that a paper proposes can be better or worse: a stronger baseline is no success of the replication.
DIRECTIONS = {
    "perplexity": False,
    "MI": True,
    "NMI": True,
    "accuracy": True,
    "macro break-even": True,
    "micro break-even": True,
    "log-likelihood a document": True,
    "true words found": True,
    "% perfect runs": True,
    "documents in the right cluster": True,
}


#: Correlations are compared as Fisher's z, whose standard error depends on the number of runs alone.
CORRELATION = "correlation"
#: Largest correlation taken at its value; z of a printed 1.00 would be infinite.
_LARGEST = 0.995


@dataclass(frozen=True)
class Published:
    """A published number: as printed, its standard error if available, and for a correlation the number of runs."""

    text: str
    error: float | None = None
    n_runs: int = 0

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def decimals(self) -> int:
        """Digits after the point, as printed."""
        return len(self.text.partition(".")[2])

    @property
    def rounding(self) -> float:
        """Maximum rounding error of the printed number."""
        return 0.5 * 10.0**-self.decimals


@dataclass(frozen=True)
class Row:
    """A row of a comparison: our value is missing without data, the published one in additional rows."""

    what: str
    measure: str
    data: str
    paper: Published | None
    ours: float | None
    error: float | None
    n_runs: int
    beyond: str = ""
    #: Reason for a missing verdict.
    reason: str = ""
    #: Whether this is the method that the paper proposes.
    own: bool = True

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None or self.ours is None else self.ours - self.paper.value

    @property
    def verdict(self) -> str:
        """Agrees, or higher or lower than published; for the paper's own method better or worse."""
        if self.ours is None:
            return self.reason or "not run"
        if self.paper is None or self.difference is None:
            return "ours only"
        if self.reason:
            return self.reason
        if self.measure == CORRELATION and min(self.n_runs, self.paper.n_runs) < 4:
            return "too few runs"
        if self._distance <= 2.0:
            return "agrees"
        more_is_better = DIRECTIONS.get(self.measure)
        if more_is_better is None or not self.own:
            return "differs, higher" if self.difference > 0 else "differs, lower"
        return "better" if (self.difference > 0) == more_is_better else "worse"

    @property
    def _distance(self) -> float:
        """Distance from the published value beyond rounding, in standard errors.

        Our error counts at most as much as the published one, so that a noisy replication does not agree more easily.
        """
        assert self.paper is not None
        assert self.ours is not None
        gap = abs(self.ours - self.paper.value) - self.paper.rounding
        if self.measure == CORRELATION:
            gap = abs(_fisher(self.ours) - _fisher(self.paper.value))
            error = math.hypot(*(1.0 / math.sqrt(n - 3) for n in (self.n_runs, self.paper.n_runs)))
        elif self.paper.error is None:
            error = self.error or 0.0
        else:
            error = math.hypot(self.paper.error, min(self.error or 0.0, self.paper.error))
        return 0.0 if gap <= 0 else math.inf if error == 0 else gap / error


def _fisher(correlation: float) -> float:
    return math.atanh(min(max(correlation, -_LARGEST), _LARGEST))


@cache
def published() -> dict[str, Any]:
    """`published.json`, the published values."""
    text = resources.files("bursty.papers").joinpath("published.json").read_text(encoding="utf-8")
    return json.loads(text)


def source(entry: Entry) -> dict[str, Any]:
    """Page, place and values of an entry's table or figure."""
    return published()[entry.paper]["entries"][entry.part]


def published_values(entry: Entry) -> dict[tuple[str, str], Published]:
    """Published values, by case and measure."""
    about = source(entry)
    return {
        (case, measure): _published(measure, printed, about)
        for case, measures in about["values"].items()
        for measure, printed in measures.items()
    }


def _published(measure: str, printed: str | list[str], about: dict[str, Any]) -> Published:
    """A value with its standard error: printed, from a standard deviation, or typical."""
    text, *spread = printed if isinstance(printed, list) else [printed]
    if spread:
        return Published(text, float(spread[0]) / math.sqrt(about.get("spread over", 1)))
    if measure == CORRELATION:
        return Published(text, n_runs=about["runs"])
    typical = about.get("typical error", {}).get(measure)
    return Published(text, None if typical is None else float(typical))


def proposes(entry: Entry, case: str) -> bool:
    """Whether a case is the method that the paper proposes."""
    methods = source(entry).get("methods", published()[entry.paper].get("methods", []))
    return methods == "all" or not set(methods).isdisjoint(case.split(", "))


def compare(entry: Entry, cases: list[Case], results: Measurements, missing: dict[str, str]) -> list[Row]:
    """All rows: first the published ones, in their order, then additional ones.

    In a reduced version the rows of other cases are omitted.
    """
    data = _Data(cases)
    rows = []
    for (case, measure), value in published_values(entry).items():
        if case in data.by_case or case in results:
            rows.append(_row(entry, case, measure, case, value, data, results, missing))
    for (case, measure), name in entry.extra.items():
        if case in results:
            rows.append(_row(entry, case, measure, name, None, data, results, missing))
    return rows


class _Data:
    """The data of each case; a case derived from others has their data if it is the same for all."""

    def __init__(self, cases: list[Case]) -> None:
        self.by_case = {case.name: case.data for case in cases}
        self._all = set(self.by_case.values())

    def of(self, case: str) -> str:
        return self.by_case.get(case, next(iter(self._all)) if len(self._all) == 1 else "")


def _row(
    entry: Entry,
    case: str,
    measure: str,
    what: str,
    value: Published | None,
    data: _Data,
    results: Measurements,
    missing: dict[str, str],
) -> Row:
    n_runs = results.n_runs(case, measure)
    ours = results.mean(case, measure) if n_runs else None
    beyond = ""
    if (case, measure) in entry.beyond:
        other, words = entry.beyond[case, measure]
        if results.n_runs(*other):
            digits = 3 if value is None else value.decimals
            beyond = f"{number(results.mean(*other), digits)} ({words})"
    return Row(
        what,
        measure,
        data.of(case),
        value,
        ours,
        results.error(case, measure) if n_runs else None,
        n_runs,
        beyond,
        "data not available" if case in missing else "other data" if entry.uses_other_data(case) else "",
        proposes(entry, case),
    )


def number(value: float | None, decimals: int) -> str:
    """A number with this many decimals; an empty string for None."""
    return "" if value is None else f"{value:.{decimals}f}"
