"""The figures of Madsen, Kauchak and Elkan (2005): distributions of counts in data and under models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import dirichlet_multinomial, multinomial

from bursty import metrics
from bursty.families import DCM, Multinomial
from bursty.papers import figures
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share
from bursty.papers.measures import load

STAND_IN = (
    "The industry sector collection of the paper (9,555 documents, 104 classes) is not available. This is a stand-in "
    "of 8,801 stemmed company pages in 12 broad classes: shapes and orders can be compared, values not."
)
FAMILIES = {"multinomial": Multinomial, "DCM": DCM}
FIGURE3 = (0.4375, 0.25, 0.3125)
FIGURE5 = {
    "DCM 0.44, 0.25, 0.31": (0.44, 0.25, 0.31),
    "DCM 1.32, 0.75, 0.93": (1.32, 0.75, 0.93),
    "DCM 3.94, 2.25, 2.81": (3.94, 2.25, 2.81),
}
LENGTH = 50
WORD_GROUPS = ("common", "average", "rare")


def count_curves(run: Trial, family: str | None = None, max_count: int = 100) -> Values:
    """Count probabilities of common, average and rare words, in the documents or in samples from a fitted family."""
    corpus = load("industry-sector-12")
    counts, frequencies = corpus.counts, corpus.counts.sum(axis=0)
    if family is not None:
        lengths = counts.sum(axis=1)
        counts = FAMILIES[family](n_jobs=run.n_jobs).fit(corpus).sample(lengths, random_state=run.seed)
    found = metrics.count_probabilities(counts, max_count=max_count, frequencies=frequencies)
    values: Values = {
        "curves": {group: [float(f"{p:.4g}") for p in curve] for group, curve in found.probabilities.items()},
        "sizes": found.n_words,
    }
    for group, curve in found.probabilities.items():
        values[f"% of tokens, {group} words"] = 100.0 * found.token_share[group]
        # Among documents with a word of the group, the share that repeats it.
        values[f"repeats, {group} words"] = float(1.0 - curve[1] / (1.0 - curve[0])) if curve[0] < 1 else 0.0
    return values


def simplex_mass(run: Trial, family: str, parameters: list[float], n: int) -> Values:
    """Probability of the edges of the simplex, where one of three words does not occur."""
    first, second = (values.ravel() for values in np.mgrid[0 : n + 1, 0 : n + 1])
    inside = first + second <= n
    counts = np.stack([first, second, n - first - second], axis=1)[inside]
    # The paper prints parameters with two digits; probabilities must sum to one.
    theta = np.array(parameters) / np.sum(parameters)
    law = multinomial(n, theta) if family == "multinomial" else dirichlet_multinomial(np.array(parameters), n)
    probabilities = law.pmf(counts)
    return {
        "probability of an edge": float(probabilities[(counts == 0).any(axis=1)].sum()),
        "probability of a corner": float(probabilities[(counts == n).any(axis=1)].sum()),
    }


def _curve_cases(family: str | None) -> Any:
    def cases(quick: bool) -> list[Case]:
        name = "industry sector" if family is None else f"{family} model"
        settings = {} if family is None else {"family": family}
        data = "industry-sector-12 (stand-in)"
        shown = [Case("industry sector", count_curves, {}, data, runs=1)]
        return shown if family is None else [*shown, Case(name, count_curves, settings, data)]

    return cases


def _repeat_ratio(results: Measurements, case: str, group: str) -> float:
    """Ratio of the repeats of words of a group under a model to those in the documents."""
    measure = f"repeats, {group} words"
    return results.mean(case, measure) / results.mean("industry sector", measure)


def _repeats(case: str) -> dict[tuple[str, str], str]:
    return {(case, f"repeats, {group} words"): case for group in WORD_GROUPS}


def _simplex_cases(quick: bool) -> list[Case]:
    panels = [("multinomial", "multinomial", FIGURE3), *((name, "dcm", values) for name, values in FIGURE5.items())]
    return [
        Case(name, simplex_mass, {"family": family, "parameters": list(values), "n": LENGTH}, "exact", runs=1)
        for name, family, values in panels
    ]


ENTRIES = (
    Entry(
        "madsen2005.figure1",
        "how often common, average and rare words occur in a document",
        _curve_cases(None),
        claims=(
            Claim(
                "once a word has occurred it is about as likely to come again whether it is common or rare",
                lambda r: (
                    r.mean("industry sector", "repeats, rare words")
                    > 0.5 * r.mean("industry sector", "repeats, common words")
                ),
            ),
        ),
        extra=_repeats("industry sector"),
        draw=lambda results: figures.count_curves(results.first("industry sector"), "Documents"),
        notes=STAND_IN
        + " Its vocabulary is 21,489 words, not 55,535, so that the groups (the 500 most frequent words, "
        "the next 5,000, the rest) take other shares.",
        stand_in=("",),
    ),
    Entry(
        "madsen2005.figure2",
        "the same for documents drawn from a multinomial",
        _curve_cases("multinomial"),
        claims=(
            Claim(
                "a multinomial gives rare words far too few repeats",
                lambda r: _repeat_ratio(r, "multinomial model", "rare") < 0.25,
            ),
            Claim(
                "a multinomial is nearer to the data for common words than for rare ones",
                lambda r: (
                    _repeat_ratio(r, "multinomial model", "common") > _repeat_ratio(r, "multinomial model", "rare")
                ),
            ),
        ),
        runs=10,
        quick_runs=1,
        extra=_repeats("industry sector") | _repeats("multinomial model"),
        draw=lambda results: figures.count_curves(results.first("multinomial model"), "Drawn from a multinomial"),
        notes=STAND_IN,
        stand_in=("",),
    ),
    Entry(
        "madsen2005.figure3",
        "counts of three words under a multinomial",
        _simplex_cases,
        claims=(
            Claim(
                "all probability is near the most likely counts: none on the edges, where bursts are",
                lambda r: r.mean("multinomial", "probability of an edge") < 1e-4,
            ),
        ),
        extra={("multinomial", "probability of an edge"): "multinomial"},
        draw=lambda results: figures.simplices([("multinomial, n = 50", "multinomial", FIGURE3)], LENGTH),
    ),
    Entry(
        "madsen2005.figure4",
        "the same as Figure 1 for documents drawn from a DCM",
        _curve_cases("DCM"),
        claims=(
            Claim(
                "a DCM gives all kinds of words about as many repeats as they have",
                lambda r: share(0.5 < _repeat_ratio(r, "DCM model", group) < 2.0 for group in WORD_GROUPS),
            ),
        ),
        runs=10,
        quick_runs=1,
        extra=_repeats("industry sector") | _repeats("DCM model"),
        draw=lambda results: figures.count_curves(results.first("DCM model"), "Drawn from a DCM"),
        notes=STAND_IN,
        stand_in=("",),
    ),
    Entry(
        "madsen2005.figure5",
        "counts of three words under DCMs and a multinomial",
        _simplex_cases,
        claims=(
            Claim(
                "the smaller the parameters of a DCM, the more probability is at edges and corners",
                lambda r: bool(np.all(np.diff([r.mean(name, "probability of an edge") for name in FIGURE5]) < 0)),
            ),
            Claim(
                "as the parameters of a DCM grow it approaches a multinomial",
                lambda r: r.mean("DCM 3.94, 2.25, 2.81", "probability of an edge") < 0.1,
            ),
        ),
        extra={
            (name, f"probability of {part}"): name
            for name in (*FIGURE5, "multinomial")
            for part in ("an edge", "a corner")
        },
        draw=lambda results: figures.simplices(
            [*((name, "dcm", values) for name, values in FIGURE5.items()), ("multinomial", "multinomial", FIGURE3)],
            LENGTH,
        ),
    ),
)
