"""The curves of Doyle and Elkan (2009): likelihood of test documents by number of topics, Figures 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bursty import DCMLDA, LDA, Corpus
from bursty.papers import figures
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share
from bursty.papers.measures import load

FOLDS = 5
STOCKS = "sp500 (rebuilt)"
#: Numbers of topics; those of the paper can be read from its figures only roughly.
STOCK_TOPICS = (2, 3, 5, 7, 10, 20, 50, 100, 200)
NIPS_TOPICS = (2, 3, 5, 10, 20, 50, 100)
MEASURE = "log-likelihood a document"
UNIFORM = "LDA with uniform beta"
#: The comparison suggested in the paper's conclusion: one beta for all topics, with one value per word.
NON_UNIFORM = "LDA with non-uniform beta"
#: By empirical likelihood, with topics from the prior: the three models of the paper, and the fourth it suggests.
MODELS = ("DCMLDA", "fitted LDA", "heuristic LDA", NON_UNIFORM)
#: By empirical likelihood with the topics of the fit.
TRAINED = f"{UNIFORM}, topics of the fit"
#: By left-to-right estimation; alpha and beta of the LDAs are learned.
LEFT_TO_RIGHT = tuple(f"{model}, left to right" for model in ("DCMLDA", UNIFORM, NON_UNIFORM))
SHOWN = (*MODELS, TRAINED, *LEFT_TO_RIGHT)
# The sum of a topic's parameters diverges to 1e10 if no document repeats its words; such topics are not averaged.
_RUNAWAY = 1e6
#: Prefix of the values that say whether the fit of a model converged: 1 or 0.
CONVERGED = "converged: "
#: A fit that only sets alpha and beta, which suffice for empirical likelihood with topics from the prior.
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


def describe(run: Trial, data: str) -> Values:
    """Size and burstiness of a collection."""
    about = load(data).describe()
    return {
        "documents": about.documents,
        "tokens": about.tokens,
        "words": about.words,
        "burstiness": about.burstiness,
    }


def compare_models(run: Trial, data: str, n_topics: int, n_iter: int, n_pseudo: int) -> Values:
    """Log-likelihood of a test document under DCMLDA and LDAs, by empirical likelihood and left to right."""
    train, test = folds_of(load(data), run.seed)
    common: dict[str, Any] = {"random_state": run.seed, "n_jobs": run.n_jobs}
    model = DCMLDA(n_topics, prior=None, n_drawn=0, n_iter=n_iter, **common).fit(train)
    sane = model.s_ < _RUNAWAY
    means = {"alpha": float(model.alpha_.mean()), "beta": float(model.beta_[sane if sane.any() else ~sane].mean())}
    fitted = LDA(n_topics, **{**_UNTRAINED, **means, **common}).fit(train)
    heuristic = LDA(n_topics, **{**_UNTRAINED, **common}).fit(train)
    uniform = LDA(n_topics, n_iter=n_iter, **common).fit(train)
    non_uniform = LDA(n_topics, n_iter=n_iter, learn_hyperparameters=True, **common).fit(train)
    from_prior = {"fitted LDA": fitted, "heuristic LDA": heuristic, NON_UNIFORM: non_uniform}
    left_to_right = zip(LEFT_TO_RIGHT, (model, uniform, non_uniform), strict=True)
    likelihoods = {
        "DCMLDA": model.empirical_likelihood(test, n_pseudo=n_pseudo),
        **{name: lda.empirical_likelihood(test, n_pseudo=n_pseudo, topics="prior") for name, lda in from_prior.items()},
        TRAINED: uniform.empirical_likelihood(test, n_pseudo=n_pseudo),
        **{name: fit.left_to_right(test) for name, fit in left_to_right},
    }
    fits = {"DCMLDA": model, UNIFORM: uniform, NON_UNIFORM: non_uniform}
    return {name: float(np.mean(values)) for name, values in likelihoods.items()} | how_fits_ended(fits)


def how_fits_ended(fits: Mapping[str, DCMLDA | LDA]) -> Values:
    """For each model, whether its fit converged, and after how many iterations."""
    ended = {f"{CONVERGED}{name}": int(fit.converged_) for name, fit in fits.items()}
    return ended | {f"iterations: {name}": fit.n_iter_ for name, fit in fits.items()}


def tell_converged(results: Measurements) -> str:
    """How many fits of each model converged, in words; empty if no run says so."""
    ended: dict[str, list[int]] = {}
    for case in results.cases():
        for run in results.runs(case):
            for name, value in run.items():
                if name.startswith(CONVERGED):
                    ended.setdefault(name.removeprefix(CONVERGED), []).append(value)
    if not ended:
        return ""
    counts = ", ".join(f"{name} {sum(values)} of {len(values)}" for name, values in ended.items())
    return f"Fits that converged before their last iteration: {counts}."


def _curve_cases(data: str, name: str, shown: str, topics: tuple[int, ...], quick_topics: tuple[int, ...]) -> Any:
    def cases(quick: bool) -> list[Case]:
        sizes = {"n_iter": 6, "n_pseudo": 100} if quick else {"n_iter": 400, "n_pseudo": 1000}
        return [
            Case(name, describe, {"data": data}, shown, runs=1),
            *(
                Case(f"K = {k}", compare_models, {"data": data, "n_topics": k, **sizes}, shown)
                for k in (quick_topics if quick else topics)
            ),
        ]

    return cases


def _by_model(results: Measurements) -> dict[str, list[Values]]:
    """The runs for each number of topics, by model, and the number at which DCMLDA is best."""
    derived: dict[str, list[Values]] = {}
    for k in topics_in(results):
        for model in SHOWN:
            values = results.values(f"K = {k}", model)
            derived[f"{model}, K = {k}"] = [{MEASURE: float(value)} for value in values]
    found = topics_in(results)
    if found:
        derived["DCMLDA"] = [{"best K": max(found, key=lambda k: results.mean(f"K = {k}", "DCMLDA"))}]
    return derived


def topics_in(results: Measurements) -> list[int]:
    """The numbers of topics that were run."""
    return [int(case.removeprefix("K = ")) for case in results.cases() if case.startswith("K = ") and case in results]


def _share_of_topics(better: str, worse: str, least: int = 1, most: int = 10_000) -> Any:
    """Share of the numbers of topics, from least to most, at which one model is better than another."""

    def check(results: Measurements) -> float:
        return share(
            results.mean(f"K = {k}", better) > results.mean(f"K = {k}", worse)
            for k in topics_in(results)
            if least <= k <= most
        )

    return check


def _draw(name: str) -> Any:
    def draw(results: Measurements) -> Any:
        figure, panels = figures.canvas(2, width=5.0)
        kinds = ((MODELS, "empirical likelihood"), (LEFT_TO_RIGHT, "left to right"))
        for axes, (models, how) in zip(panels, kinds, strict=True):
            # Short enough for a legend.
            names = [model.removesuffix(", left to right").replace(" with ", ", ") for model in models]
            curves = {shown: _curve(results, model) for shown, model in zip(names, models, strict=True)}
            # The heuristic model is off the scale where topics are few, as in the paper.
            others = np.concatenate([means for model, (_, means, _) in curves.items() if model != "heuristic LDA"])
            margin = 0.2 * float(np.ptp(others)) or 1.0
            low, high = others.min() - margin, others.max() + margin
            seen = {model: curve for model, curve in curves.items() if curve[1].max() > low}
            figures.likelihood_curves(seen, axes, f"{name}: {how}", "mean log-likelihood of a document")
            axes.set_ylim(low, high)
        return figure

    return draw


def _curve(results: Measurements, model: str) -> tuple[Any, Any, Any]:
    """Numbers of topics, means and standard errors.

    Some folds have longer documents than others, which shifts all models equally: the errors are computed after
    subtracting the level of each fold (the left-to-right likelihood of DCMLDA).
    """
    ks = topics_in(results)
    values, levels = (np.array([results.values(f"K = {k}", name) for k in ks]) for name in (model, LEFT_TO_RIGHT[0]))
    n_runs = values.shape[1]
    spread = (values - levels.mean(axis=0)).std(axis=1, ddof=1) if n_runs > 1 else np.zeros(len(ks))
    return np.array(ks), values.mean(axis=1), spread / np.sqrt(n_runs)


def _extra(topics: tuple[int, ...], printed: tuple[str, ...] = ()) -> dict[tuple[str, str], str]:
    """Rows of all models, except those whose values are printed in the paper."""
    cases = [f"{model}, K = {k}" for k in topics for model in SHOWN]
    return {(case, MEASURE): case for case in cases if case not in printed}


_NOTES = (
    "Empirical likelihood of an LDA draws the topics from their prior, as the published values suggest (the likelihood "
    "of alpha and beta alone); the rows 'topics of the fit' take those of the fit, with which LDA does far better. "
    "'LDA with uniform beta' learns one number for alpha and one for beta, 'LDA with non-uniform beta' an alpha for "
    "each topic and a beta for each word. Left-to-right estimation is close to the truth for long documents. Standard "
    "errors are those of folds, which are common to all models; the bars of the figure exclude that part. Topics "
    "at the ceiling of s (1e10, no repeats) are left out of the mean that gives the fitted LDA its beta."
)

_BETTER_THAN_LDA = (
    Claim(
        "DCMLDA is better than LDA with one learned non-uniform beta (asked for in the paper, not measured there)",
        _share_of_topics("DCMLDA", NON_UNIFORM),
    ),
    *(
        Claim(
            f"left to right, DCMLDA is better than {model} (not in the paper)",
            _share_of_topics(LEFT_TO_RIGHT[0], f"{model}, left to right"),
        )
        for model in (UNIFORM, NON_UNIFORM)
    ),
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
            *_BETTER_THAN_LDA,
        ),
        runs=FOLDS,
        extra=_extra(STOCK_TOPICS, printed=("heuristic LDA, K = 3", "heuristic LDA, K = 100")),
        derive=_by_model,
        draw=_draw("S&P 500"),
        more=tell_converged,
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
            *_BETTER_THAN_LDA,
        ),
        runs=FOLDS,
        extra=_extra(NIPS_TOPICS),
        derive=_by_model,
        draw=_draw("NIPS"),
        more=tell_converged,
        notes=_NOTES,
    ),
)
