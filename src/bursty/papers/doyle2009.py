"""Doyle and Elkan (2009), DCMLDA: Figures 2 and 3, Tables 1 and 2, the stability of empirical likelihood."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from bursty import DCMLDA, LDA, Corpus
from bursty.papers import figures
from bursty.papers.comparing import source
from bursty.papers.entry import Case, Claim, Entry, Results, Run, Values, share
from bursty.papers.measures import load

FOLDS = 5
STOCKS = "sp500 (rebuilt)"
#: Numbers of topics; the paper's are read off its figures only roughly.
STOCK_TOPICS = (3, 5, 7, 10, 20, 50, 100, 200)
NIPS_TOPICS = (3, 5, 10, 20, 50)
MEASURE = "log-likelihood a document"
#: What is compared: the three of the paper by empirical likelihood, and both models by left-to-right estimation.
MODELS = ("DCMLDA", "fitted LDA", "heuristic LDA")
LEFT_TO_RIGHT = ("DCMLDA, left to right", "LDA, left to right")
LEARNED = "LDA, fitted topics"
SHOWN = (*MODELS, LEARNED, *LEFT_TO_RIGHT)
#: Their values are in the text of the paper.
PRINTED = ("heuristic LDA, K = 3", "heuristic LDA, K = 100")
TOPIC_NAMES = ("computer related", "real estate")
# The sum of a topic's parameters runs to 1e10 where no document repeats its words: such a topic says nothing of a mean.
_RUNAWAY = 1e6
#: A fit that only sets alpha and beta: empirical likelihood with topics from the prior needs nothing else.
_UNTRAINED: dict[str, Any] = {
    "learn_hyperparameters": False,
    "n_iter": 1,
    "n_sweeps": 1,
    "burn_in": 0,
    "n_samples": 1,
    "tol": 0,
}


def folds_of(corpus: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """Training and test documents of fold ``seed % 5`` of trial ``seed // 5``."""
    trial, fold = divmod(seed, FOLDS)
    order = np.random.default_rng(trial).permutation(len(corpus))
    test = np.sort(order[fold::FOLDS])
    return corpus.select(np.setdiff1d(order, test)), corpus.select(test)


def describe(run: Run, data: str) -> Values:
    """Size and burstiness of a collection."""
    about = load(data).describe()
    return {
        "documents": about.documents,
        "tokens": about.tokens,
        "words": about.words,
        "burstiness": about.burstiness,
    }


def compare_models(run: Run, data: str, n_topics: int, n_iter: int, n_pseudo: int) -> Values:
    """Log-likelihood of a test document under DCMLDA and LDAs, by empirical likelihood and left to right."""
    train, test = folds_of(load(data), run.seed)
    common: dict[str, Any] = {"random_state": run.seed, "n_jobs": run.n_jobs}
    model = DCMLDA(n_topics, n_iter=n_iter, **common).fit(train)
    sane = model.s_ < _RUNAWAY
    means = {"alpha": float(model.alpha_.mean()), "beta": float(model.beta_[sane if sane.any() else ~sane].mean())}
    fitted = LDA(n_topics, **{**_UNTRAINED, **means, **common}).fit(train)
    heuristic = LDA(n_topics, **{**_UNTRAINED, **common}).fit(train)
    learned = LDA(n_topics, n_iter=n_iter, **common).fit(train)
    likelihoods = {
        "DCMLDA": model.empirical_likelihood(test, n_pseudo=n_pseudo),
        "fitted LDA": fitted.empirical_likelihood(test, n_pseudo=n_pseudo, topics="prior"),
        "heuristic LDA": heuristic.empirical_likelihood(test, n_pseudo=n_pseudo, topics="prior"),
        LEARNED: learned.empirical_likelihood(test, n_pseudo=n_pseudo),
        "DCMLDA, left to right": model.left_to_right(test),
        "LDA, left to right": learned.left_to_right(test),
    }
    return {name: float(np.mean(values)) for name, values in likelihoods.items()}


def find_topics(run: Run, model: str, n_topics: int, n_iter: int) -> Values:
    """Topics of the stocks: for each published topic, ours that shares most of its six words among its first 25."""
    estimator = {"DCMLDA": DCMLDA, "LDA": LDA}[model]
    fitted = estimator(n_topics, n_iter=n_iter, random_state=run.seed, n_jobs=run.n_jobs).fit(load("sp500"))
    words = fitted.top_words(25, by="probability")
    values: Values = {}
    for name, published in source(_TOPICS[model])["topics"].items():
        shared = [len(set(published) & set(topic)) for topic in words]
        best = words[int(np.argmax(shared))]
        values[f"{name}, top 6"] = len(set(published) & set(best[:6]))
        values[f"{name}, top 25"] = max(shared)
        values[f"{name}, words"] = best[:6]
        values[f"{name}, can be found"] = len(set(published) & set(load("sp500").vocabulary.tolist()))
    return values


def repeat_likelihood(run: Run, n_topics: int, n_iter: int, n_pseudo: int) -> Values:
    """Empirical likelihood of one model, five times."""
    train, test = folds_of(load("sp500"), 0)
    model = DCMLDA(n_topics, n_iter=n_iter, random_state=run.seed, n_jobs=run.n_jobs).fit(train)
    return {
        "values": [
            float(np.mean(model.empirical_likelihood(test, n_pseudo=n_pseudo, random_state=number)))
            for number in range(5)
        ]
    }


def _curve_cases(data: str, name: str, shown: str, topics: tuple[int, ...], quick_topics: tuple[int, ...]) -> Any:
    def cases(quick: bool) -> list[Case]:
        sizes = {"n_iter": 6, "n_pseudo": 100} if quick else {"n_iter": 60, "n_pseudo": 1000}
        return [
            Case(name, describe, {"data": data}, shown, runs=1),
            *(
                Case(f"K = {k}", compare_models, {"data": data, "n_topics": k, **sizes}, shown)
                for k in (quick_topics if quick else topics)
            ),
        ]

    return cases


def _by_model(results: Results) -> dict[str, list[Values]]:
    """The runs of each number of topics, model by model; and the number at which DCMLDA is best."""
    derived: dict[str, list[Values]] = {}
    for k in topics_in(results):
        for model in SHOWN:
            values = results.values(f"K = {k}", model)
            derived[f"{model}, K = {k}"] = [{MEASURE: float(value)} for value in values]
    found = topics_in(results)
    if found:
        derived["DCMLDA"] = [{"best K": max(found, key=lambda k: results.mean(f"K = {k}", "DCMLDA"))}]
    return derived


def topics_in(results: Results) -> list[int]:
    """The numbers of topics that were run."""
    return [int(case.removeprefix("K = ")) for case in results.cases() if case.startswith("K = ") and case in results]


def _share_of_topics(better: str, worse: str, least: int = 1, most: int = 10_000) -> Any:
    """Share of the numbers of topics, from least to most, at which one model is better than another."""

    def check(results: Results) -> float:
        return share(
            results.mean(f"K = {k}", better) > results.mean(f"K = {k}", worse)
            for k in topics_in(results)
            if least <= k <= most
        )

    return check


def _draw(name: str) -> Any:
    def draw(results: Results) -> Any:
        figure, panels = figures.canvas(2, width=5.0)
        kinds = ((MODELS, "empirical likelihood"), (LEFT_TO_RIGHT, "left to right"))
        for axes, (models, how) in zip(panels, kinds, strict=True):
            curves = {model.removesuffix(", left to right"): _curve(results, model) for model in models}
            # The heuristic model is off the scale where topics are few, as in the paper.
            others = np.concatenate([means for model, (_, means, _) in curves.items() if model != "heuristic LDA"])
            margin = 0.2 * float(np.ptp(others)) or 1.0
            low, high = others.min() - margin, others.max() + margin
            seen = {model: curve for model, curve in curves.items() if curve[1].max() > low}
            figures.likelihood_curves(seen, axes, f"{name}: {how}", "mean log-likelihood of a document")
            axes.set_ylim(low, high)
        return figure

    return draw


def _curve(results: Results, model: str) -> tuple[Any, Any, Any]:
    """Numbers of topics, means and standard errors.

    Some folds have longer documents than others, which moves all models alike: the errors are those that are left when
    each fold's own level (the left-to-right likelihood of DCMLDA) is taken out.
    """
    ks = topics_in(results)
    values, levels = (np.array([results.values(f"K = {k}", name) for k in ks]) for name in (model, LEFT_TO_RIGHT[0]))
    n_runs = values.shape[1]
    spread = (values - levels.mean(axis=0)).std(axis=1, ddof=1) if n_runs > 1 else np.zeros(len(ks))
    return np.array(ks), values.mean(axis=1), spread / np.sqrt(n_runs)


def _topic_cases(model: str) -> Any:
    def cases(quick: bool) -> list[Case]:
        sizes = {"n_topics": 20, "n_iter": 15 if quick else 100}
        return [Case(model, find_topics, {"model": model, **sizes}, STOCKS)]

    return cases


def _topic_rows(model: str) -> Any:
    def derive(results: Results) -> dict[str, list[Values]]:
        shown = {"top words shared": "top 6", "in our top 25": "top 25"}
        return {
            name: [{row: run[f"{name}, {kept}"] for row, kept in shown.items()} for run in results.runs(model)]
            for name in TOPIC_NAMES
        }

    return derive


def _topic_text(model: str) -> Any:
    def more(results: Results) -> str:
        first = results.first(model)
        lines = [f"The topics of the first run ({model}, six most likely words):", ""]
        for name in TOPIC_NAMES:
            published = source(_TOPICS[model])["topics"][name]
            lines.append(f"- {name}: {', '.join(first[f'{name}, words'])} (paper: {', '.join(published)}; ")
            lines[-1] += f"{first[f'{name}, can be found']} of these are in our data)"
        return "\n".join(lines)

    return more


def _found(results: Results) -> float:
    """Whether each published topic has one of ours with half of its words among the first 25."""
    return share(results.mean(name, "in our top 25") >= 3 for name in TOPIC_NAMES)


def _differences(results: Results) -> dict[str, list[Values]]:
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


def _extra(topics: tuple[int, ...]) -> dict[tuple[str, str], str]:
    cases = [f"{model}, K = {k}" for k in topics for model in SHOWN]
    return {(case, MEASURE): case for case in cases if case not in PRINTED}


_NOTES = (
    "Empirical likelihood of the two LDAs draws the topics from their prior, as the published values suggest (the "
    "likelihood of alpha and beta alone); with fitted topics LDA does far better: the rows of that name. "
    "Left-to-right estimation, which is close to the truth for long documents, compares DCMLDA with an LDA whose alpha "
    "and beta are learned. Standard errors are those of folds, which differ for all models alike; the bars of the "
    "figure have that taken out. Topics at the ceiling of s (1e10, no repeats) are left out of the mean that gives the "
    "fitted LDA its beta."
)

ENTRIES = (
    Entry(
        "doyle2009.figure2",
        "likelihood of test days under DCMLDA and LDA, S&P 500",
        _curve_cases("sp500", "S&P 500", STOCKS, STOCK_TOPICS, (3, 7)),
        claims=(
            Claim(
                "up to 100 topics DCMLDA is better than fitted LDA, by empirical likelihood",
                _share_of_topics("DCMLDA", "fitted LDA", most=100),
            ),
            Claim(
                "above 100 topics DCMLDA falls below fitted LDA",
                _share_of_topics("fitted LDA", "DCMLDA", least=101),
            ),
            Claim("fitted LDA is better than heuristic LDA", _share_of_topics("fitted LDA", "heuristic LDA")),
            Claim(
                "DCMLDA is best with few topics, about seven",
                lambda r: 3 <= r.mean("DCMLDA", "best K") <= 20,
            ),
            Claim(
                "left to right, DCMLDA is better than LDA (not in the paper)",
                _share_of_topics(*LEFT_TO_RIGHT),
            ),
        ),
        runs=25,
        extra=_extra(STOCK_TOPICS),
        derive=_by_model,
        draw=_draw("S&P 500"),
        notes=_NOTES + " The paper's list of companies and its 501 days are not known: the exchange had 440.",
        stand_in=("",),
    ),
    Entry(
        "doyle2009.figure3",
        "likelihood of test papers under DCMLDA and LDA, NIPS",
        _curve_cases("nips391", "NIPS", "nips391", NIPS_TOPICS, (3,)),
        claims=(
            Claim(
                "DCMLDA is better than fitted LDA at every number of topics, by empirical likelihood",
                _share_of_topics("DCMLDA", "fitted LDA"),
            ),
            Claim("fitted LDA is better than heuristic LDA", _share_of_topics("fitted LDA", "heuristic LDA")),
            Claim(
                "left to right, DCMLDA is better than LDA (not in the paper)",
                _share_of_topics(*LEFT_TO_RIGHT),
            ),
        ),
        runs=25,
        extra=_extra(NIPS_TOPICS),
        derive=_by_model,
        draw=_draw("NIPS"),
        notes=_NOTES,
    ),
    Entry(
        "doyle2009.table1",
        "topics of DCMLDA, S&P 500",
        _topic_cases("DCMLDA"),
        claims=(Claim("DCMLDA finds a computer topic and a real estate topic", _found),),
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
        _topic_cases("LDA"),
        claims=(Claim("LDA finds a computer topic and a real estate topic", _found),),
        runs=5,
        extra={(name, "in our top 25"): name for name in TOPIC_NAMES},
        derive=_topic_rows("LDA"),
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
                {"n_topics": 20, **({"n_iter": 5, "n_pseudo": 100} if quick else {"n_iter": 100, "n_pseudo": 1000})},
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
    ),
)
_TOPICS = {"DCMLDA": ENTRIES[2], "LDA": ENTRIES[3]}
