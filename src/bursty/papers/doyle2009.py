"""Doyle and Elkan (2009), DCMLDA: Tables 1 and 2, and the stability of empirical likelihood.

The figures are in `doyle2009_curves`.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from bursty import DCMLDA, LDA
from bursty.papers import doyle2009_curves
from bursty.papers.comparing import source
from bursty.papers.doyle2009_curves import STOCKS, folds_of, how_fits_ended, tell_converged
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share
from bursty.papers.measures import load

TOPIC_NAMES = ("computer related", "real estate")


def find_topics(run: Trial, model: str, n_topics: int, n_iter: int) -> Values:
    """Topics of stocks: for each published topic, the topic of ours with the most of its six words among its top 25."""
    common: dict[str, Any] = {"n_iter": n_iter, "random_state": run.seed, "n_jobs": run.n_jobs}
    unfitted = DCMLDA(n_topics, prior=None, n_drawn=0, **common) if model == "DCMLDA" else LDA(n_topics, **common)
    fitted = unfitted.fit(load("sp500"))
    words = fitted.top_words(25, by="probability")
    sectors = {name: stocks.split() for name, stocks in source(_TOPICS["DCMLDA"])["sectors"].items()}
    values: Values = how_fits_ended({model: fitted})
    for name, published in source(_TOPICS[model])["topics"].items():
        shared = [len(set(published) & set(topic)) for topic in words]
        best = words[int(np.argmax(shared))]
        values[f"{name}, top 6"] = len(set(published) & set(best[:6]))
        values[f"{name}, top 25"] = max(shared)
        values[f"{name}, words"] = best[:15]
        # The last character of a word says whether the stock rose or fell.
        values[f"{name}, sector"] = sum(word[:-1] in sectors[name] for word in best)
        values[f"{name}, can be found"] = len(set(published) & set(load("sp500").vocabulary.tolist()))
    return values


def repeat_likelihood(run: Trial, n_topics: int, n_iter: int, n_pseudo: int) -> Values:
    """Empirical likelihood of one model, five times."""
    train, test = folds_of(load("sp500"), 0)
    model = DCMLDA(n_topics, prior=None, n_drawn=0, n_iter=n_iter, random_state=run.seed, n_jobs=run.n_jobs).fit(train)
    return {
        "values": [
            float(np.mean(model.empirical_likelihood(test, n_pseudo=n_pseudo, random_state=number)))
            for number in range(5)
        ],
        **how_fits_ended({"DCMLDA": model}),
    }


def _topic_cases(*models: str) -> Any:
    def cases(quick: bool) -> list[Case]:
        sizes = {"n_topics": 20, "n_iter": 15 if quick else 400}
        return [Case(model, find_topics, {"model": model, **sizes}, STOCKS) for model in models]

    return cases


def _topic_rows(model: str) -> Any:
    def derive(results: Measurements) -> dict[str, list[Values]]:
        shown = {"top words shared": "top 6", "in our top 25": "top 25", "top 25 in the sector": "sector"}
        return {
            name: [{row: run[f"{name}, {kept}"] for row, kept in shown.items()} for run in results.runs(model)]
            for name in TOPIC_NAMES
        }

    return derive


def _overlap(results: Measurements) -> dict[str, list[Values]]:
    """Topics of LDA, and the six most likely words of DCMLDA's topics among the first 6 and 15 of those of LDA."""
    pairs = list(zip(results.runs("DCMLDA"), results.runs("LDA"), strict=True))
    return _topic_rows("LDA")(results) | {
        f"both models, {name}": [
            {
                f"shared with LDA's top {n}": len(set(dcm[f"{name}, words"][:6]) & set(lda[f"{name}, words"][:n]))
                for n in (6, 15)
            }
            for dcm, lda in pairs
        ]
        for name in TOPIC_NAMES
    }


def _topic_text(model: str) -> Any:
    def more(results: Measurements) -> str:
        first = results.first(model)
        lines = [f"Topics of the first run ({model}, six most likely words):", ""]
        for name in TOPIC_NAMES:
            published = source(_TOPICS[model])["topics"][name]
            lines.append(f"- {name}: {', '.join(first[f'{name}, words'][:6])} (paper: {', '.join(published)}; ")
            lines[-1] += f"{first[f'{name}, can be found']} of these are in our data)"
        return "\n".join([*lines, "", tell_converged(results)])

    return more


def _found(results: Measurements) -> float:
    """Whether each published topic has a topic of ours with half of its words among the top 25."""
    return share(results.mean(name, "in our top 25") >= 3 for name in TOPIC_NAMES)


def _differences(results: Measurements) -> dict[str, list[Values]]:
    """Relative differences between values of the same model, and between values of separate models."""
    models = [run["values"] for run in results.runs("DCMLDA, 20 topics")]
    if not models:
        return {}
    pairs = {
        "same model": [pair for values in models for pair in combinations(values, 2)],
        "separate models": [pair for one, two in combinations(models, 2) for pair in product(one, two)],
    }
    derived = {}
    for name, found in pairs.items():
        if found:
            gaps = [200.0 * abs(a - b) / abs(a + b) for a, b in found]
            derived[name] = [
                {"% mean difference of EL": float(np.mean(gaps)), "% greatest difference of EL": float(np.max(gaps))}
            ]
    return derived


ENTRIES = (
    *doyle2009_curves.ENTRIES,
    Entry(
        "doyle2009.table1",
        "topics of DCMLDA, S&P 500",
        _topic_cases("DCMLDA"),
        claims=(
            Claim("DCMLDA finds a computer topic and a real estate topic", _found),
            Claim(
                "the 25 most likely stocks of a topic are in one sector (25 and 24 of 25; here at least 24 and 23)",
                lambda r: share(
                    r.mean(name, "top 25 in the sector") >= least
                    for name, least in zip(TOPIC_NAMES, (24, 23), strict=True)
                ),
            ),
        ),
        runs=5,
        extra={(name, "in our top 25"): name for name in TOPIC_NAMES},
        derive=_topic_rows("DCMLDA"),
        more=_topic_text("DCMLDA"),
        notes="How many of the six words that the paper prints are among the six, and among the 25, most likely words "
        "of our nearest topic.",
        stand_in=("",),
    ),
    Entry(
        "doyle2009.table2",
        "topics of LDA, S&P 500",
        _topic_cases("LDA", "DCMLDA"),
        claims=(
            Claim("LDA finds a computer topic and a real estate topic", _found),
            Claim(
                "half of the six most likely stocks of the computer topic are the same in both models",
                lambda r: r.mean("both models, computer related", "shared with LDA's top 6") >= 3,
            ),
            Claim(
                "the six most likely stocks of DCMLDA's real estate topic are among the first 15 of LDA's",
                lambda r: r.mean("both models, real estate", "shared with LDA's top 15") >= 5.5,
            ),
        ),
        runs=5,
        extra={(name, row): name for name in TOPIC_NAMES for row in ("in our top 25", "top 25 in the sector")},
        derive=_overlap,
        more=_topic_text("LDA"),
        notes="As for Table 1.",
        stand_in=("",),
    ),
    Entry(
        "doyle2009.stability",
        "how much empirical likelihood varies",
        lambda quick: [
            Case(
                "DCMLDA, 20 topics",
                repeat_likelihood,
                {"n_topics": 20, **({"n_iter": 5, "n_pseudo": 100} if quick else {"n_iter": 400, "n_pseudo": 1000})},
                STOCKS,
            )
        ],
        claims=(
            Claim(
                "empirical likelihood varies by less than half a percent, within a model and between models",
                lambda r: share(
                    r.mean(name, "% greatest difference of EL") < 0.5
                    for name in ("same model", "separate models")
                    if name in r
                ),
            ),
        ),
        runs=3,
        quick_runs=2,
        derive=_differences,
        more=tell_converged,
    ),
)
_TOPICS = {"DCMLDA": ENTRIES[2], "LDA": ENTRIES[3]}
