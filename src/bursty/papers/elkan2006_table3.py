"""Table 3 of Elkan (2006): fifteen document collections."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.papers import figures
from bursty.papers.comparing import published_values
from bursty.papers.entry import Case, Claim, Entry, Measurements, Values, share, significant_gain
from bursty.papers.measures import ELKAN, NO_ANNEALING, cluster

#: The collections of Table 3, except sports, which is not available.
LARGER = ("NG20", "NG17-19", "classic", "ohscal", "hitech", "reviews", "sports", "la1", "la12", "la2", "k1b")
METHODS = ("multinomial", "EDCM", "vMF")
SETS = (*LARGER, "tr11", "tr23", "tr41", "tr45")
QUICK_SETS = ("tr11", "tr23")


def correlation(runs: list[Values], measure: str) -> Values:
    """Correlation over runs of better perplexity (or likelihood) with a measure, and its standard error."""
    quality = np.array([-run["perplexity"] if "perplexity" in run else run["log-likelihood"] for run in runs])
    values = np.array([run[measure] for run in runs])
    if np.ptp(quality) < 1e-12 or np.ptp(values) < 1e-12:
        return {}
    r = float(np.corrcoef(quality, values)[0, 1])
    return {"correlation": r, "correlation error": float((1.0 - r**2) / np.sqrt(max(len(runs) - 2, 1)))}


def _table3_cases(quick: bool) -> list[Case]:
    methods: dict[str, dict[str, Any]] = {
        "multinomial": {"family": "multinomial", **ELKAN},
        "EDCM": {"family": "edcm", **ELKAN},
        "vMF": {"family": "vonmisesfisher", **ELKAN, **NO_ANNEALING},
        "our default": {},
    }
    sets = QUICK_SETS if quick else SETS
    cases = []
    for name in sets:
        data = f"zhong15/{name}"
        cases += [
            Case(f"{name}, {what}", cluster, {"data": data, **options}, data) for what, options in methods.items()
        ]
    return cases


def _table3_correlations(results: Measurements) -> dict[str, list[Values]]:
    derived = {}
    for name in SETS:
        for what in METHODS:
            case = f"{name}, {what}"
            if len(results.runs(case)) > 2:
                # An additional value, the same for every run of the case, so that its mean is itself.
                extra = correlation(results.runs(case), "NMI")
                derived[case] = [run | extra for run in results.runs(case)]
    means = {}
    for what in (*METHODS, "our default"):
        found = [results.mean(f"{name}, {what}", "NMI") for name in SETS if f"{name}, {what}" in results]
        if found:
            means[f"mean of the sets, {what}"] = [{"NMI": float(np.mean(found))}]
    return derived | means


def _lower_perplexity(results: Measurements) -> float:
    """Share of the sets on which the perplexity of EDCM is significantly below that of the multinomial."""
    return share(
        significant_gain(results, f"{name}, EDCM", f"{name}, multinomial", "perplexity", -1.0)
        for name in SETS
        if f"{name}, EDCM" in results
    )


def _each_best_somewhere(results: Measurements) -> float:
    """Share of the three methods that are the best on some set in NMI."""
    winners = {
        max(METHODS, key=lambda what: results.mean(f"{name}, {what}", "NMI"))
        for name in SETS
        if f"{name}, EDCM" in results
    }
    return share(what in winners for what in METHODS)


def _negative_correlations(results: Measurements, what: str) -> tuple[int, int]:
    """Number of sets on which better likelihood goes with worse NMI, and number of sets."""
    found = [results.mean(f"{name}, {what}", "correlation") for name in SETS if f"{name}, {what}" in results]
    return sum(value < 0 for value in found), len(found)


def _follows_perplexity(results: Measurements) -> float:
    """For multinomial and EDCM: whether better perplexity goes with better NMI on all sets except two."""
    return share(_negative_correlations(results, what)[0] <= 2 for what in ("multinomial", "EDCM"))


def _as_often_worse(results: Measurements) -> bool:
    """For von Mises-Fisher: whether the numbers of both signs differ by at most two standard deviations of a coin."""
    negative, n_sets = _negative_correlations(results, "vMF")
    return abs(2 * negative - n_sets) <= 2.0 * np.sqrt(n_sets)


def _draw_table3(results: Measurements) -> Any:
    points: dict[str, dict[str, list[tuple[float, float]]]] = {"perplexity": {}, "NMI": {}}
    for (case, measure), value in published_values(ENTRIES[-1]).items():
        if measure in points and case in results:
            method = case.rpartition(", ")[2]
            points[measure].setdefault(method, []).append((value.value, results.mean(case, measure)))
    return figures.published_against_ours(points)


ENTRIES = (
    Entry(
        "elkan2006.table3",
        "fifteen document collections",
        _table3_cases,
        claims=(
            Claim(
                "EDCM has a significantly lower perplexity than the multinomial on every collection",
                _lower_perplexity,
            ),
            Claim(
                "in mutual information each of the three methods is the best on some collections",
                _each_best_somewhere,
            ),
            Claim(
                "for multinomial and EDCM, better perplexity goes with better NMI on all collections except two",
                _follows_perplexity,
            ),
            Claim(
                "for von Mises-Fisher, better likelihood goes with worse NMI as often as with better",
                _as_often_worse,
            ),
        ),
        runs=10,
        quick_runs=2,
        extra={
            **{(f"{n}, our default", "NMI"): f"{n}, our default" for n in SETS},
            **{(f"mean of the sets, {what}", "NMI"): f"mean of the sets, {what}" for what in (*METHODS, "our default")},
        },
        beyond={(f"{n}, EDCM", "NMI"): ((f"{n}, our default", "NMI"), "our default") for n in SETS},
        derive=_table3_correlations,
        draw=_draw_table3,
        notes="The correlation is that of better perplexity (for von Mises-Fisher: likelihood) with better NMI over "
        "the runs. Perplexities have no published errors ('around 10 or less').",
    ),
)
