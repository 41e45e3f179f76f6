"""Elkan (2006), clustering with the EDCM: Figures 1 and 2, Tables 1, 2 and 3."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bursty import metrics, plot
from bursty.families import DCM, EDCM
from bursty.papers import elkan2006_table3, figures
from bursty.papers.elkan2006_table3 import correlation
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share, significant_gain
from bursty.papers.measures import ELKAN, LESS_NOISE, NO_ANNEALING, cluster, labels_of, load

#: The five algorithms of Figure 2.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "EDCM": {"family": "edcm", **ELKAN},
    "EDCM, no annealing": {"family": "edcm", **LESS_NOISE, **NO_ANNEALING},
    "multinomial": {"family": "multinomial", **LESS_NOISE},
    "multinomial, no annealing": {"family": "multinomial", **LESS_NOISE, **NO_ANNEALING},
    "vMF": {"family": "vonmisesfisher", **ELKAN, **NO_ANNEALING},
}
OURS: dict[str, dict[str, Any]] = {"our default": {}}
#: The paper reports that both bring nothing: a schedule of seven temperatures, and annealing for von Mises-Fisher.
ANNEALED: dict[str, dict[str, Any]] = {
    "EDCM, slower annealing": {"family": "edcm", **ELKAN, "temperatures": [64, 32, 16, 8, 4, 2, 1]},
    "vMF, annealing": {"family": "vonmisesfisher", **ELKAN},
}
COLLECTIONS = {"classic400": "Classic400", "nips391": "NIPS"}


def one_component(run: Trial, data: str) -> Values:
    """DCM and EDCM of a whole collection: probabilities of each document, and sizes of the parameters."""
    corpus = load(data)
    dcm, edcm = DCM(n_jobs=run.n_jobs).fit(corpus), EDCM(n_jobs=run.n_jobs).fit(corpus)
    exact, approximate = dcm.log_prob(corpus), edcm.log_prob(corpus)
    normalised = edcm.log_prob(corpus, normalized=True)
    cells = corpus.n_documents * corpus.n_words
    ones = int(np.count_nonzero(corpus.counts.data == 1))
    return {
        "documents": corpus.n_documents,
        "mean length": corpus.describe().mean_length,
        "words": corpus.n_words,
        "mean alpha": float(dcm.alpha_.mean()),
        "% of alpha below 0.1": 100.0 * float(np.mean(dcm.alpha_ < 0.1)),
        "alphas above 1": int(np.count_nonzero(dcm.alpha_ > 1.0)),
        "% of counts that are 0": 100.0 * (1.0 - corpus.counts.nnz / cells),
        "% of counts that are 1": 100.0 * ones / cells,
        "% of counts above 1": 100.0 * (corpus.counts.nnz - ones) / cells,
        "% difference of log-probabilities": 100.0 * float(np.mean(np.abs(approximate / exact - 1.0))),
        "% difference, normalised": 100.0 * float(np.mean(np.abs(normalised / exact - 1.0))),
    }


def describe(run: Trial, data: str) -> Values:
    """Size of a collection."""
    about = load(data).describe()
    return {"documents": about.documents, "mean length": about.mean_length, "words": about.words}


def _figure1_cases(quick: bool) -> list[Case]:
    return [Case("NIPS", one_component, {"data": "nips391"}, "nips391", runs=1)]


def _runs_of(data: str, algorithms: dict[str, dict[str, Any]]) -> list[Case]:
    name = COLLECTIONS[data]
    return [Case(f"{name}, {what}", cluster, {"data": data, **options}, data) for what, options in algorithms.items()]


def _table1_cases(quick: bool) -> list[Case]:
    compared = {"DCM": {"family": "dcm", **ELKAN}, "EDCM": ALGORITHMS["EDCM"], **OURS}
    cases = []
    for data, name in COLLECTIONS.items():
        cases.append(Case(name, describe, {"data": data}, data, runs=1))
        cases += _runs_of(data, compared)
        settings = {"data": data, "normalized": True, **ALGORITHMS["EDCM"]}
        cases.append(Case(f"{name}, EDCM normalised", cluster, settings, data))
    return cases


def _time_ratios(results: Measurements) -> dict[str, list[Values]]:
    """Ratio of the times of DCM and EDCM, and its relative error."""
    derived: dict[str, list[Values]] = {}
    for name in COLLECTIONS.values():
        dcm, edcm = (results.values(f"{name}, {what}", "seconds") for what in ("DCM", "EDCM"))
        if len(dcm) and len(edcm):
            # Medians, because the first run of a process includes compilation.
            derived[f"{name}, DCM against EDCM"] = [
                {"time ratio DCM / EDCM": float(np.median(dcm) / np.median(edcm))},
            ]
    return derived


def _figure2_cases(quick: bool) -> list[Case]:
    sets = ("classic400",) if quick else tuple(COLLECTIONS)
    started = {"vMF, our start": {"family": "vonmisesfisher", **NO_ANNEALING}}
    return [case for data in sets for case in _runs_of(data, {**ALGORITHMS, **OURS, **started, **ANNEALED})]


def _correlations(results: Measurements) -> dict[str, list[Values]]:
    """Correlation of better likelihood with better MI, over the runs of each algorithm."""
    derived = {}
    for name in COLLECTIONS.values():
        for what in ALGORITHMS:
            runs = results.runs(f"{name}, {what}")
            if len(runs) > 2:
                derived[f"{name}, {what}, runs"] = [correlation(runs, "MI")]
    return derived


def _table2_cases(quick: bool) -> list[Case]:
    chosen = {what: ALGORITHMS[what] for what in ("EDCM", "vMF")}
    return [
        *_runs_of("classic400", chosen | OURS),
        Case("classes", class_words, {"data": "classic400"}, "classic400", runs=1),
    ]


def class_words(run: Trial, data: str) -> Values:
    """Identify the classes of Classic400 by a word: Medline by "patients", CISI by "libraries"."""
    corpus = load(data)
    words = {"Medline": "patients", "CISI": "library", "Cranfield": "wing"}
    column = {word: int(np.flatnonzero(corpus.vocabulary == word)[0]) for word in words.values()}
    labels = labels_of(corpus)
    return {
        name: int(np.bincount(labels, weights=corpus.counts[:, [column[word]]].toarray()[:, 0]).argmax())
        for name, word in words.items()
    }


def _best_confusions(results: Measurements) -> dict[str, list[Values]]:
    """For the run with the largest likelihood: documents of each class in the largest cell of its row, and matched."""
    derived: dict[str, list[Values]] = {}
    if "classes" not in results:
        return derived
    classes = results.first("classes")
    for what in ("EDCM", "vMF", "our default"):
        runs = results.runs(f"Classic400, {what}")
        if not runs:
            continue
        table = np.array(max(runs, key=lambda run: run["log-likelihood"])["confusion"])
        truth, found = np.repeat(np.indices(table.shape).reshape(2, -1), table.ravel(), axis=1)
        matched = metrics.match_clusters(truth, found)
        right = sum(int(table[label, cluster]) for cluster, label in matched.items())
        rows = {f"{name}, largest cell": int(table[classes[name]].max()) for name in classes}
        derived[f"best run, {what}"] = [{"documents in the right cluster": right, "table": table.tolist(), **rows}]
    return derived


def _best_in_figure2(results: Measurements) -> float:
    """On each collection, whether EDCM with annealing has the best perplexity, and the best MI, of the five."""
    found = []
    for name in (name for name in COLLECTIONS.values() if f"{name}, EDCM" in results):
        others = [f"{name}, {what}" for what in ALGORITHMS if what != "EDCM"]
        perplexities = [results.mean(case, "perplexity") for case in others if results.n_runs(case, "perplexity")]
        found.append(results.mean(f"{name}, EDCM", "perplexity") < min(perplexities))
        found.append(results.mean(f"{name}, EDCM", "MI") > max(results.mean(case, "MI") for case in others))
    return share(found)


def _positive_correlations(results: Measurements) -> float:
    return share(
        results.mean(f"{name}, {what}, runs", "correlation") > 0
        for name in COLLECTIONS.values()
        for what in ALGORITHMS
        if what != "vMF" and results.n_runs(f"{name}, {what}, runs", "correlation")
    )


def _same_mi(results: Measurements) -> float:
    """On each collection: DCM and EDCM within two standard errors in MI."""
    found = []
    for name in COLLECTIONS.values():
        dcm, edcm = (f"{name}, {what}" for what in ("DCM", "EDCM"))
        first, second = results.error(dcm, "MI"), results.error(edcm, "MI")
        if first is not None and second is not None:
            gap = abs(results.mean(dcm, "MI") - results.mean(edcm, "MI"))
            found.append(gap <= 2.0 * math.hypot(first, second))
    return share(found)


def _gains_nothing(annealed: str, plain: str) -> Any:
    """On each collection: annealing does not raise MI by more than two standard errors."""

    def check(results: Measurements) -> float:
        return share(
            not significant_gain(results, f"{name}, {annealed}", f"{name}, {plain}", "MI")
            for name in COLLECTIONS.values()
            if f"{name}, {plain}" in results
        )

    return check


def _draw_figure1(results: Measurements) -> Any:
    corpus = load("nips391")
    figure, (axes,) = figures.canvas(height=4.4)
    plot.probabilities(DCM().fit(corpus), EDCM().fit(corpus), corpus, ax=axes)
    return figure


def _draw_figure2(results: Measurements) -> Any:
    names = [name for name in COLLECTIONS.values() if f"{name}, EDCM" in results]
    return figures.clouds(results, names, list(ALGORITHMS))


ENTRIES = (
    Entry(
        "elkan2006.figure1",
        "the EDCM's probability of each document against the DCM's",
        _figure1_cases,
        claims=(
            Claim(
                "EDCM and DCM give nearly the same log-probability: they differ by less than 1% on average",
                lambda r: r.mean("NIPS", "% difference of log-probabilities") < 1.0,
            ),
            Claim(
                "nearly all parameters of a DCM are far below 1",
                lambda r: r.mean("NIPS", "% of alpha below 0.1") > 80.0,
            ),
        ),
        extra={
            ("NIPS", "% difference of log-probabilities"): "NIPS, EDCM against DCM",
            ("NIPS", "% difference, normalised"): "NIPS, EDCM with its exact normaliser against DCM",
        },
        draw=_draw_figure1,
        notes="Probabilities are those of one sequence of words, as in the perplexities of the paper.",
    ),
    Entry(
        "elkan2006.table1",
        "clustering with DCM and EDCM components",
        _table1_cases,
        claims=(
            Claim("clustering with EDCM is as good as with DCM: MI differs by less than its noise", _same_mi),
            Claim(
                "clustering with EDCM is many times faster than with DCM (21 and 114 times)",
                lambda r: share(
                    r.mean(f"{n}, DCM against EDCM", "time ratio DCM / EDCM") > 10 for n in COLLECTIONS.values()
                ),
            ),
        ),
        runs=100,
        quick_runs=3,
        extra={
            (f"{name}, {what}", measure): f"{name}, {what}"
            for name in COLLECTIONS.values()
            for what, measure in (
                ("EDCM normalised", "normalised perplexity"),
                ("our default", "perplexity"),
                ("our default", "MI"),
            )
        },
        beyond={
            **{
                (f"{n}, EDCM", "perplexity"): ((f"{n}, EDCM normalised", "normalised perplexity"), "exact normaliser")
                for n in COLLECTIONS.values()
            },
            ("Classic400, EDCM", "MI"): (("Classic400, our default", "MI"), "our default"),
        },
        derive=_time_ratios,
        notes="The paper gives neither the size of the perturbation nor the rule of convergence; ours are 0.05 and a "
        "relative change of the log-likelihood below 1e-6. The exact DCM here costs little more than the EDCM, because "
        "its maximum is found as the root of one equation.",
    ),
    Entry(
        "elkan2006.figure2",
        "five clustering algorithms, perplexity and mutual information of each run",
        _figure2_cases,
        claims=(
            Claim("EDCM with annealing has the best perplexity and the best mutual information", _best_in_figure2),
            Claim("within a method, better perplexity goes with better mutual information", _positive_correlations),
            Claim(
                "annealing is what makes the multinomial work",
                lambda r: (
                    r.mean("Classic400, multinomial", "MI") > r.mean("Classic400, multinomial, no annealing", "MI")
                ),
            ),
            Claim(
                "slower annealing brings no significant benefit (section 4; here T = 64, 32, ..., 1)",
                _gains_nothing("EDCM, slower annealing", "EDCM"),
            ),
            Claim(
                "von Mises-Fisher does not benefit from annealing (section 5)",
                _gains_nothing("vMF, annealing", "vMF"),
            ),
        ),
        runs=100,
        quick_runs=4,
        extra={
            **{
                (f"{n}, {w}", "MI"): f"{n}, {w}"
                for n in COLLECTIONS.values()
                for w in ("vMF, our start", *ANNEALED, "our default")
            },
            **{
                (f"{n}, {w}, runs", "correlation"): f"{n}, {w}: better likelihood with better MI"
                for n in COLLECTIONS.values()
                for w in ALGORITHMS
            },
        },
        beyond={
            ("Classic400, vMF", "MI"): (("Classic400, vMF, our start", "MI"), "our start"),
            ("Classic400, EDCM", "MI"): (("Classic400, our default", "MI"), "our default"),
        },
        draw=_draw_figure2,
        derive=_correlations,
        notes="Multinomials and runs without annealing start from a perturbation of 0.01 and run until the relative "
        "change is below 1e-8: plain EM is sensitive to both, and neither is published.",
    ),
    Entry(
        "elkan2006.table2",
        "clusters of Classic400, from the run of greatest likelihood",
        _table2_cases,
        claims=(
            Claim(
                "EDCM separates the three groups, von Mises-Fisher does not",
                lambda r: (
                    r.mean("best run, EDCM", "documents in the right cluster") >= 360
                    and r.mean("best run, vMF", "documents in the right cluster") < 360
                ),
            ),
        ),
        runs=100,
        quick_runs=4,
        extra={("best run, our default", "documents in the right cluster"): "best run, our default"},
        beyond={
            ("best run, EDCM", "documents in the right cluster"): (
                ("best run, our default", "documents in the right cluster"),
                "our default",
            )
        },
        derive=_best_confusions,
        draw=lambda results: figures.confusions(results, ("EDCM", "vMF", "our default")),
        notes="Empty cells of the printed tables are lost in the copy of the paper at hand, so what is compared is the "
        "largest cell of each class and, for EDCM, the documents in the right cluster.",
    ),
    *elkan2006_table3.ENTRIES,
)
