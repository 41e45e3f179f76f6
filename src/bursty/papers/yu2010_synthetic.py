"""The synthetic data of Yu, Huang and Wang (2010): Figures 4 to 7."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty import DPMFS, datasets, metrics
from bursty.papers import figures
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share
from bursty.papers.measures import labels_of

#: The synthetic data and the settings of section 6.2.
PAPER: dict[str, Any] = {"sampler": "paper", "n_iter": 2500, "burn_in": 2000, "max_components": 30, "omega": 0.01}
WORDS = 1000
DRAWN = "synthetic, a new draw each run"
#: The paper has 30 runs on one collection; ours is `make_yu2010(0)`. The other design is shown beside it.
ONE = "synthetic, one collection"
DRAWS = "new collections"
THIN = 10
ALPHAS = (0.1, 1.0, 10.0)
OMEGAS = (1.0, 50.0, 100.0)
COLLAPSED = ", collapsed sampler"
#: Documents alone in a cluster are moved to the most probable other cluster.
NOT_ALONE = ", min_cluster_size = 2"
WAYS = ("", NOT_ALONE, COLLAPSED)
FOUND = ("% perfect runs", "true words found", "false words found")


def synthetic(run: Trial, draw: int | None = None, **options: Any) -> Values:
    """DPMFS on the synthetic data: partition, words, and their numbers at every tenth sweep.

    ``draw`` is the number of the collection; by default each run has its own collection.
    """
    corpus, truth = datasets.make_yu2010(random_state=run.seed if draw is None else draw)
    model = DPMFS(family="multinomial", random_state=run.seed, n_jobs=run.n_jobs, **options).fit(corpus)
    nmi = metrics.normalized_mutual_information(labels_of(corpus), model.labels_)
    return {
        "% perfect runs": 100.0 * float(nmi > 1.0 - 1e-9),
        "NMI": nmi,
        "clusters": model.n_clusters_,
        "true words found": int(np.count_nonzero(model.discriminative_ & truth.discriminative)),
        "false words found": int(np.count_nonzero(model.discriminative_ & ~truth.discriminative)),
        "clusters by sweep": model.trace_["n_clusters"][::THIN].tolist(),
        "words by sweep": model.trace_["n_words"][::THIN].tolist(),
    }


def _synthetic_cases(quick: bool) -> list[Case]:
    sizes = {"n_iter": 1000, "burn_in": 800} if quick else {}
    papers = {**PAPER, "lam": 0.1, **sizes}
    ways: dict[str, dict[str, Any]] = {
        "": papers,
        NOT_ALONE: {**papers, "min_cluster_size": 2},
        COLLAPSED: {"omega": 0.01, "lam": 0.1, "n_iter": 60 if quick else 200},
    }
    cases = [Case(f"synthetic{way}", synthetic, {**ways[way], "draw": 0}, ONE) for way in WAYS]
    if not quick:
        cases += [Case(f"{DRAWS}{way}", synthetic, ways[way], DRAWN) for way in WAYS]
    return cases


def _with_collapsed(cases: list[Case]) -> list[Case]:
    """The cases with the collapsed sampler, for comparison."""
    settings = {"n_iter": 200, "learn_alpha": False}
    kept = ("alpha", "omega", "lam", "max_components")
    others = [
        Case(
            f"{case.name}{COLLAPSED}",
            synthetic,
            {**settings, **{name: case.settings[name] for name in kept if name in case.settings}},
            case.data,
        )
        for case in cases
    ]
    return [case for pair in zip(cases, others, strict=True) for case in pair]


def _alpha_cases(quick: bool) -> list[Case]:
    settings = {**PAPER, "lam": 0.5, "max_components": 200, **({"n_iter": 600, "burn_in": 500} if quick else {})}
    alphas = ALPHAS[:2] if quick else ALPHAS
    cases = [Case(f"alpha = {alpha:g}", synthetic, {**settings, "alpha": alpha}, DRAWN) for alpha in alphas]
    return cases if quick else _with_collapsed(cases)


def _omega_cases(quick: bool) -> list[Case]:
    settings = {**PAPER, "lam": 0.5, **({"n_iter": 600, "burn_in": 500} if quick else {})}
    cases = [Case(f"omega = {part:g} / W", synthetic, {**settings, "omega": part / WORDS}, DRAWN) for part in OMEGAS]
    return cases if quick else _with_collapsed(cases)


def _perfect(names: list[str]) -> Any:
    """Share of the settings for which nearly all runs found the true partition."""

    def check(results: Measurements) -> float:
        return share(results.mean(name, "% perfect runs") >= 90 for name in names if name in results)

    return check


def _draw_traces(cases: list[str], quantity: str, title: str, last: int | None = None) -> Any:
    def draw(results: Measurements) -> Any:
        curves = {}
        for name in cases:
            if name in results:
                values = results.first(name)[f"{quantity} by sweep"]
                sweeps = np.arange(len(values)) * THIN + 1
                shown = sweeps <= (last or sweeps[-1])
                curves[name] = sweeps[shown], np.array(values)[shown]
        return figures.sweeps(curves, quantity, title)

    return draw


def settles(results: Measurements, quantity: str) -> float:
    """The sweep after which a quantity stays within a tenth of its last value, averaged over runs."""
    found = []
    for run in results.runs("synthetic"):
        values = np.array(run[f"{quantity} by sweep"], dtype=np.float64)
        off = np.flatnonzero(np.abs(values - values[-1]) > 0.1 * values[-1])
        found.append(THIN * (int(off[-1]) + 1) if len(off) else 0)
    return float(np.mean(found)) if found else float("nan")


def _collapsed_rows(names: list[str]) -> dict[tuple[str, str], str]:
    return {(f"{name}{COLLAPSED}", measure): f"{name}{COLLAPSED}" for name in names for measure in FOUND[:2]}


ENTRIES = (
    Entry(
        "yu2010.figure4",
        "number of clusters on synthetic data",
        _synthetic_cases,
        claims=(
            Claim(
                "the true partition of synthetic data is found in (nearly) every run: 90% or more",
                _perfect(["synthetic"]),
            ),
            Claim(
                "about 41 of the 50 discriminative words are found: 38 to 44",
                lambda r: 38 <= r.mean("synthetic", "true words found") <= 44,
            ),
            Claim(
                "the same with a new collection for each run (not in the paper): 90% or more",
                _perfect([DRAWS]),
            ),
        ),
        runs=30,
        quick_runs=2,
        extra={
            ("synthetic", "false words found"): "synthetic",
            **{
                (f"{data}{way}", measure): f"{data}{way}"
                for data in ("synthetic", DRAWS)
                for way in WAYS
                for measure in FOUND
                if (data, way) != ("synthetic", "")
            },
        },
        beyond={
            ("synthetic", measure): ((f"synthetic{COLLAPSED}", measure), "collapsed sampler, 200 sweeps")
            for measure in FOUND[:2]
        },
        draw=_draw_traces(["synthetic"], "clusters", "Clusters, synthetic data", last=400),
    ),
    Entry(
        "yu2010.figure5",
        "number of discriminative words on synthetic data",
        _synthetic_cases,
        claims=(
            Claim(
                "the number of clusters settles long before the number of words",
                lambda r: settles(r, "clusters") < settles(r, "words"),
            ),
        ),
        runs=30,
        quick_runs=2,
        extra={("synthetic", "true words found"): "synthetic"},
        draw=_draw_traces(["synthetic"], "words", "Discriminative words, synthetic data"),
    ),
    Entry(
        "yu2010.figure6",
        "number of clusters for three values of alpha",
        _alpha_cases,
        claims=(Claim("the true partition is found whatever alpha is", _perfect([f"alpha = {a:g}" for a in ALPHAS])),),
        runs=5,
        extra=_collapsed_rows([f"alpha = {a:g}" for a in ALPHAS]),
        draw=_draw_traces([f"alpha = {alpha:g}" for alpha in ALPHAS], "clusters", "Clusters, synthetic data", last=400),
    ),
    Entry(
        "yu2010.figure7",
        "number of discriminative words for three values of omega",
        _omega_cases,
        claims=(
            Claim("the true partition is found whatever omega is", _perfect([f"omega = {o:g} / W" for o in OMEGAS])),
            Claim(
                "the words that are found are almost the same for every omega",
                lambda r: float(np.ptp([r.mean(f"omega = {o:g} / W", "true words found") for o in OMEGAS])) < 5,
            ),
        ),
        runs=5,
        extra={
            **{(f"omega = {o:g} / W", "true words found"): f"omega = {o:g} / W" for o in OMEGAS},
            **_collapsed_rows([f"omega = {o:g} / W" for o in OMEGAS]),
        },
        draw=_draw_traces([f"omega = {o:g} / W" for o in OMEGAS], "words", "Discriminative words, synthetic data"),
    ),
)
