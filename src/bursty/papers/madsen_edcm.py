"""Madsen, "Approximating the DCM" (report): Figures 1 and 2, Table 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from bursty import Corpus, plot
from bursty.families import DCM, EDCM
from bursty.papers import figures
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share
from bursty.papers.measures import classify, labels_of, load

#: The report does not say how words were chosen; without the From and Subject lines their number is closest.
NEWS = {"headers": False, "min_df": 2, "drop_most_common": 500}
INDUSTRY = {"min_df": 2}
NEWSGROUP = "sci.space"
STAND_IN = (
    "The industry sector collection of the report (104 classes) is not available: the rows of that name use a stand-in "
    "of 12 broad classes of stemmed pages, whose values cannot be compared, only the order of methods."
)


def _documents_of(corpus: Corpus, name: str) -> Corpus:
    names = [] if corpus.label_names is None else corpus.label_names.tolist()
    return corpus.select(labels_of(corpus) == names.index(name))


def parameters_of_class(run: Trial, newsgroup: str) -> Values:
    """DCM and EDCM parameters of 800 messages of a newsgroup."""
    corpus = _documents_of(load("20news-18828", **NEWS), newsgroup)
    corpus = corpus.select(slice(0, 800))
    dcm, edcm = DCM(n_jobs=run.n_jobs).fit(corpus), EDCM(n_jobs=run.n_jobs).fit(corpus)
    alpha, beta = dcm.alpha_, edcm.beta_
    a, x = alpha[corpus.counts.indices], corpus.counts.data.astype(np.float64)
    ratio = np.exp(np.log(a) + gammaln(x) + gammaln(a) - gammaln(x + a))
    used = alpha > 0
    return {
        "mean alpha": float(alpha.mean()),
        "words": corpus.n_words,
        "% of alpha below 0.1": 100.0 * float(np.mean(alpha < 0.1)),
        "alphas above 0.5": int(np.count_nonzero(alpha > 0.5)),
        "alphas above 1": int(np.count_nonzero(alpha > 1.0)),
        "% error of the gamma ratio": 100.0 * float(np.mean(np.abs(ratio - 1.0))),
        "correlation of log parameters": float(np.corrcoef(np.log(alpha[used]), np.log(beta[used]))[0, 1]),
    }


def compare_families(run: Trial, data: str, test_size: float) -> Values:
    """For each class, s of DCM and EDCM; for test documents, log-likelihoods under their own class."""
    corpus = load(data, **NEWS)
    train, test = corpus.split(test_size, stratify=True, random_state=run.seed)
    sums, exact, approximate, normalised = [], [], [], []
    for label in np.unique(labels_of(train)):
        rows = train.select(labels_of(train) == label)
        held_out = test.select(labels_of(test) == label)
        dcm = DCM(smoothing=0.01, n_jobs=run.n_jobs).fit(rows)
        edcm = EDCM(smoothing=0.01, n_jobs=run.n_jobs).fit(rows)
        sums.append([dcm.s_, edcm.s_])
        exact.append(dcm.log_prob(held_out))
        approximate.append(edcm.log_prob(held_out))
        normalised.append(edcm.log_prob(held_out, normalized=True))
    p, q, z = (np.concatenate(parts) for parts in (exact, approximate, normalised))
    shown = np.linspace(0, len(p) - 1, min(len(p), 1000)).astype(int)
    return {
        "% difference of log-probabilities": 100.0 * float(np.mean(np.abs(q / p - 1.0))),
        "% difference, normalised": 100.0 * float(np.mean(np.abs(z / p - 1.0))),
        "correlation of log-likelihoods": float(np.corrcoef(p, q)[0, 1]),
        "mean s of EDCM / s of DCM": float(np.mean([edcm / dcm for dcm, edcm in sums])),
        "sums": np.round(sums, 2).tolist(),
        "dcm": np.round(p[shown], 1).tolist(),
        "edcm": np.round(q[shown], 1).tolist(),
    }


def _draw_figure1(results: Measurements) -> Any:
    corpus = _documents_of(load("20news-18828", **NEWS), NEWSGROUP).select(slice(0, 800))
    # Words with equal counts coincide: each pair of parameters is drawn once.
    corpus = corpus.filter_words(min_df=1)
    figure, (axes,) = figures.canvas(height=4.4)
    plot.parameters(DCM().fit(corpus), EDCM().fit(corpus), ax=axes)
    return figure


def _draw_figure2(results: Measurements) -> Any:
    values = results.first("20 newsgroups")
    figure, panels = figures.canvas(2)
    pairs = (np.array(values["sums"]).T, np.array([values["dcm"], values["edcm"]]))
    for axes, (x, y), title in zip(panels, pairs, ("s of each class", "log-likelihood of test documents"), strict=True):
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        axes.plot(ends, ends, color="0.6", linewidth=0.8)
        axes.plot(x, y, "o", markersize=3, markerfacecolor="none")
        axes.set(xlabel="DCM", ylabel="EDCM", title=title)
    return figure


def _table1_cases(quick: bool) -> list[Case]:
    sets = {"20 newsgroups": ("20news-18828", 0.2, NEWS), "industry sector": ("industry-sector-12", 0.5, INDUSTRY)}
    methods: dict[str, dict[str, Any]] = {
        "M": {"method": "M", "smoothing": "auto"},
        "DCM": {"method": "DCM"},
        "EDCM": {"method": "EDCM"},
        "DCM, learned": {"method": None},
    }
    cases = []
    for name, (data, test_size, options) in sets.items():
        fixed = {"data": data, "test_size": test_size, "options": options}
        cases += [Case(f"{name}, {what}", classify, {**fixed, **given}, data) for what, given in methods.items()]
    return cases


def _time_ratio(results: Measurements) -> dict[str, list[Values]]:
    dcm, edcm = (results.values(f"20 newsgroups, {what}", "seconds") for what in ("DCM", "EDCM"))
    if not len(dcm):
        return {}
    return {"20 newsgroups, DCM against EDCM": [{"time ratio DCM / EDCM": float(np.median(dcm) / np.median(edcm))}]}


def _close(results: Measurements, first: str, second: str) -> bool:
    """Whether two accuracies differ by at most 0.01."""
    return abs(results.mean(first, "accuracy") - results.mean(second, "accuracy")) < 0.01


ENTRIES = (
    Entry(
        "madsen-edcm.figure1",
        "parameters of the DCM and of the EDCM, word by word",
        lambda quick: [
            Case("one newsgroup", parameters_of_class, {"newsgroup": NEWSGROUP}, f"20news-18828, {NEWSGROUP}", runs=1)
        ],
        claims=(
            Claim(
                "the parameters of DCM and EDCM are almost the same",
                lambda r: r.mean("one newsgroup", "correlation of log parameters") > 0.99,
            ),
            Claim(
                "nearly all parameters are small: 99% below 0.1",
                lambda r: r.mean("one newsgroup", "% of alpha below 0.1") > 98.5,
            ),
        ),
        extra={("one newsgroup", "correlation of log parameters"): "one newsgroup"},
        draw=_draw_figure1,
        notes="The report does not say which newsgroup it shows; this is " + NEWSGROUP + ", 800 messages.",
    ),
    Entry(
        "madsen-edcm.figure2",
        "degree of burstiness and likelihood of test documents, DCM and EDCM",
        lambda quick: [
            Case("20 newsgroups", compare_families, {"data": "20news-18828", "test_size": 0.2}, "20news-18828", runs=10)
        ],
        claims=(
            Claim(
                "DCM and EDCM agree on the degree of burstiness s of each class (within a fifth, on average)",
                lambda r: 0.8 < r.mean("20 newsgroups", "mean s of EDCM / s of DCM") < 1.25,
            ),
            Claim(
                "the log-likelihoods of test documents are nearly the same",
                lambda r: r.mean("20 newsgroups", "correlation of log-likelihoods") > 0.99,
            ),
        ),
        runs=10,
        extra={
            ("20 newsgroups", "mean s of EDCM / s of DCM"): "20 newsgroups",
            ("20 newsgroups", "correlation of log-likelihoods"): "20 newsgroups",
        },
        beyond={
            ("20 newsgroups", "% difference of log-probabilities"): (
                ("20 newsgroups", "% difference, normalised"),
                "exact normaliser",
            )
        },
        draw=_draw_figure2,
    ),
    Entry(
        "madsen-edcm.table1",
        "classification with multinomial, DCM and EDCM",
        _table1_cases,
        claims=(
            Claim(
                "EDCM classifies as well as DCM",
                lambda r: share(_close(r, f"{n}, EDCM", f"{n}, DCM") for n in ("20 newsgroups", "industry sector")),
            ),
            Claim(
                "both classify slightly better than an optimally smoothed multinomial",
                lambda r: share(
                    r.mean(f"{n}, {what}", "accuracy") > r.mean(f"{n}, M", "accuracy")
                    for n in ("20 newsgroups", "industry sector")
                    for what in ("DCM", "EDCM")
                ),
            ),
            Claim(
                "EDCM is more than a hundred times faster to train than DCM",
                lambda r: r.mean("20 newsgroups, DCM against EDCM", "time ratio DCM / EDCM") > 100,
            ),
        ),
        runs=10,
        quick_runs=2,
        extra={(f"{n}, DCM, learned", "accuracy"): f"{n}, DCM, learned" for n in ("20 newsgroups", "industry sector")},
        beyond={
            (f"{n}, {what}", "accuracy"): ((f"{n}, DCM, learned", "accuracy"), "DCM, learned")
            for n in ("20 newsgroups", "industry sector")
            for what in ("DCM", "EDCM")
        },
        derive=_time_ratio,
        notes=STAND_IN,
        stand_in=("industry sector",),
    ),
)
