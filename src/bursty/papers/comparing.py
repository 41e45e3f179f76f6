"""Comparison of published values with ours: difference and verdict."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from bursty.papers.entry import Case, Entry, Results

#: Measures for which higher (True) or lower (False) is better; other measures only agree or differ.
DIRECTIONS = {
    "perplexity": False,
    "MI": True,
    "NMI": True,
    "accuracy": True,
    "macro break-even": True,
    "micro break-even": True,
    "time ratio DCM / EDCM": False,
    "log-likelihood a document": True,
    "true words found": True,
    "% perfect runs": True,
    "documents in the right cluster": True,
}


@dataclass(frozen=True)
class Published:
    """A published number: as printed, and its standard error if available."""

    text: str
    error: float | None = None

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
    better: str = ""
    #: Reason for a missing verdict.
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None or self.ours is None else self.ours - self.paper.value

    @property
    def verdict(self) -> str:
        """Agrees (within two standard errors and rounding), better or worse; "differs" if neither is better."""
        if self.ours is None:
            return self.reason or "not run"
        if self.paper is None or self.difference is None:
            return "ours only"
        if self.reason:
            return self.reason
        errors = [error for error in (self.error, self.paper.error) if error is not None]
        if abs(self.difference) <= 2.0 * math.hypot(*errors) + self.paper.rounding:
            return "agrees"
        more_is_better = DIRECTIONS.get(self.measure)
        if more_is_better is None:
            return "differs"
        return "better" if (self.difference > 0) == more_is_better else "worse"


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
    """A value with its standard error: printed, from a standard deviation, typical, or that of a correlation."""
    text, *spread = printed if isinstance(printed, list) else [printed]
    if spread:
        return Published(text, float(spread[0]) / math.sqrt(about.get("spread over", 1)))
    if measure == "correlation":
        return Published(text, (1.0 - float(text) ** 2) / math.sqrt(about["runs"] - 2))
    typical = about.get("typical error", {}).get(measure)
    return Published(text, None if typical is None else float(typical))


def compare(entry: Entry, cases: list[Case], results: Results, missing: dict[str, str]) -> list[Row]:
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
    results: Results,
    missing: dict[str, str],
) -> Row:
    n_runs = results.n_runs(case, measure)
    ours = results.mean(case, measure) if n_runs else None
    better = ""
    if (case, measure) in entry.better:
        other, words = entry.better[case, measure]
        if results.n_runs(*other):
            digits = 3 if value is None else value.decimals
            better = f"{number(results.mean(*other), digits)} ({words})"
    return Row(
        what,
        measure,
        data.of(case),
        value,
        ours,
        results.error(case, measure) if n_runs else None,
        n_runs,
        better,
        "data not available" if case in missing else "other data" if entry.uses_other_data(case) else "",
    )


def number(value: float | None, decimals: int) -> str:
    """A number with this many decimals; an empty string for None."""
    return "" if value is None else f"{value:.{decimals}f}"
