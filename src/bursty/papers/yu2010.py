"""Yu, Huang and Wang (2010), clusters of unknown number with DPMFS: Figures 4 to 8, Tables 1 to 3."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone

from bursty import DPMFS, Corpus, metrics
from bursty.papers import figures, yu2010_synthetic
from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial, Values, share
from bursty.papers.measures import ELKAN, cluster_corpus, labels_of, load

GROUPS = {
    "News-Different-3": ("alt.atheism", "rec.sport.baseball", "sci.space"),
    "News-Similar-3": ("comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
    "News-Moderated-6": (
        "rec.sport.baseball",
        "sci.space",
        "alt.atheism",
        "talk.politics.guns",
        "comp.windows.x",
        "soc.religion.christian",
    ),
}
CLASSIC = "Classic400"
#: True numbers of clusters.
TRUTH = {**{name: len(groups) for name, groups in GROUPS.items()}, CLASSIC: 3}
MESSAGES = 100
#: Number of random draws of the messages; the paper has one, which is not known.
DRAWS = 10
#: Minimum number of messages of a word, which gives the numbers of words closest to the paper's.
LEAST_DOCUMENTS = 3
#: Clusters of fewer documents are outliers.
LEAST = 5
METHODS: dict[str, dict[str, Any]] = {
    "DPMFS": {"sampler": "paper"},
    "DPMFS, 12,000 iterations": {"sampler": "paper", "n_iter": 12_000, "burn_in": 11_500},
    "DPMFS, collapsed": {"sampler": "collapsed", "n_iter": 300},
    "DPMFS, collapsed, DCM": {"sampler": "collapsed", "family": "dcm", "n_iter": "auto"},
    "DPMFS, collapsed, DCM, lambda fixed": {"sampler": "collapsed", "family": "dcm", "n_iter": 300, "lam_prior": None},
}
OURS = "DPMFS, collapsed, DCM"
#: Maximum number of runs of what takes longest.
FEWER = {"DPMFS, 12,000 iterations": 7, OURS: 1}
#: Log-probability under the model of the partitions of the chain, relative to the true partition.
ABOVE = "log joint above that of the truth"
SHOWN = ("clusters", "clusters of 5 or more", "NMI", ABOVE)
EM = {"EDCM": "edcm", "EM-MN": "multinomial"}
#: The initialisation of EM is not published: that of [Elkan2006], and our default.
STARTS: dict[str, dict[str, Any]] = {"": ELKAN, " from k-means": {**ELKAN, "init": "kmeans"}}


@lru_cache(maxsize=4)
def collection(name: str, draw: int) -> Corpus:
    """Classic400, or a draw of 100 messages from each newsgroup of a collection, without stop words and rare words.

    Encoded files are removed: in a draw of News-Similar-3 one or two messages contain a third of all tokens.
    """
    if name == CLASSIC:
        return load("classic400")
    everything = load("20news-18828", stop_words="english", attachments=False)
    labels = labels_of(everything)
    names = [] if everything.label_names is None else everything.label_names.tolist()
    rng = np.random.default_rng(draw)
    chosen = [
        rng.choice(np.flatnonzero(labels == names.index(group)), MESSAGES, replace=False) for group in GROUPS[name]
    ]
    corpus = everything.select(np.concatenate(chosen)).filter_words(min_df=LEAST_DOCUMENTS)
    return corpus.with_labels(np.repeat(np.arange(len(chosen)), MESSAGES)).drop_empty()


def describe(run: Trial, data: str) -> Values:
    """Size of a draw."""
    corpus = collection(data, run.seed % DRAWS)
    return {"documents": len(corpus), "classes": int(labels_of(corpus).max()) + 1, "words": corpus.n_words}


def discover(run: Trial, data: str, **options: Any) -> Values:
    """DPMFS on a collection."""
    corpus = collection(data, run.seed % DRAWS)
    model = DPMFS(random_state=run.seed, n_jobs=run.n_jobs, **{"family": "multinomial", **options}).fit(corpus)
    # With all labels known only words are sampled, and many flips per sweep make few sweeps sufficient; with DCM
    # components also s and the factor of lambda, which mix slowly.
    sweeps = 300 if model.family == "dcm" else 60
    truth = clone(model).set_params(n_iter=sweeps, burn_in=sweeps // 2, word_steps=1000)
    truth.fit(corpus, labels_of(corpus))
    return {
        "clusters": model.n_clusters_,
        "clusters of 5 or more": int(np.count_nonzero(model.sizes_ >= LEAST)),
        "NMI": metrics.normalized_mutual_information(labels_of(corpus), model.labels_),
        "words chosen": int(np.count_nonzero(model.discriminative_)),
        ABOVE: _last_log_joint(model) - _last_log_joint(truth),
        "labels": model.labels_.tolist(),
    }


def _last_log_joint(model: DPMFS) -> float:
    """Mean over the last sixth of the sweeps, the part of the paper's 3,000 after burn-in."""
    values = np.atleast_2d(model.trace_["log_joint"])
    return float(np.mean(values[:, -max(1, values.shape[1] // 6) :]))


def cluster_draw(run: Trial, data: str, n_components: int, **options: Any) -> Values:
    """EM with a given number of clusters."""
    values = cluster_corpus(run, collection(data, run.seed % DRAWS), n_components, **options)
    return {name: values[name] for name in ("NMI", "perplexity")}


def _sizes(sampler: str, quick: bool) -> dict[str, Any]:
    """Settings of the quick version, with a tenth of the sweeps."""
    if not quick:
        return {}
    return {"n_iter": 300, "burn_in": 250} if sampler == "paper" else {"n_iter": 60}


def _data(name: str) -> str:
    return "classic400" if name == CLASSIC else f"20news-18828, draws of {MESSAGES} a group"


def _discover_cases(names: tuple[str, ...], quick: bool) -> list[Case]:
    cases = []
    for name in names:
        for method, options in METHODS.items():
            if quick and method not in ("DPMFS", OURS):
                continue
            settings = {"data": name, **options, **_sizes(options["sampler"], quick)}
            cases.append(Case(f"{name}, {method}", discover, settings, _data(name), runs=FEWER.get(method)))
    return cases


def _em_cases(name: str, components: dict[str, int]) -> list[Case]:
    """EM for each number of clusters, whose name follows that of the method; from k-means for the true number."""
    return [
        Case(
            f"{name}, {method}{start}{words}",
            cluster_draw,
            {"data": name, "n_components": k, "family": family, **settings},
            _data(name),
        )
        for method, family in EM.items()
        for start, settings in STARTS.items()
        for words, k in components.items()
        if not start or k == TRUTH[name]
    ]


def _table1_cases(quick: bool) -> list[Case]:
    return [Case(name, describe, {"data": name}, _data(name)) for name in (*GROUPS, CLASSIC)]


def _table2_cases(quick: bool) -> list[Case]:
    sizes = {"News-Similar-3": 3} if quick else {"News-Similar-3": 3, "News-Moderated-6": 6}
    return [
        *_discover_cases(tuple(sizes), quick),
        *(case for name, k in sizes.items() for case in _em_cases(name, {"": k})),
    ]


def _table3_cases(quick: bool) -> list[Case]:
    names = (CLASSIC,) if quick else ("News-Different-3", CLASSIC)
    components = {f", K = {k}": k for k in (2, 3, 10)}
    return [*_discover_cases(names, quick), *(case for name in names for case in _em_cases(name, components))]


def _figure8_cases(quick: bool) -> list[Case]:
    shown = [f"News-Different-3, {method}" for method in ("DPMFS", OURS)]
    return [case for case in _discover_cases(("News-Different-3",), quick) if case.name in shown]


def _beats(results: Measurements, others: list[str]) -> float:
    """Share of the comparisons that DPMFS (the paper's sampler) wins in NMI."""
    return share(
        results.mean(f"{name}, DPMFS", "NMI") > results.mean(f"{name}, {other}", "NMI")
        for name in TRUTH
        for other in others
        if f"{name}, DPMFS" in results and f"{name}, {other}" in results
    )


def _too_many(results: Measurements) -> float:
    return share(
        results.mean(f"{name}, DPMFS", "clusters") > k for name, k in TRUTH.items() if f"{name}, DPMFS" in results
    )


def _nearer(results: Measurements) -> float:
    """Whether the collapsed DCM sampler is closer to the true number of clusters than the paper's sampler."""
    gaps = {
        name: [abs(results.mean(f"{name}, {method}", "clusters") - k) for method in (OURS, "DPMFS")]
        for name, k in TRUTH.items()
        if f"{name}, DPMFS" in results
    }
    return share(ours < papers for ours, papers in gaps.values())


def _draw_figure8(results: Measurements) -> Any:
    methods = [method for method in ("DPMFS", OURS) if f"News-Different-3, {method}" in results]
    labels = {method: results.first(f"News-Different-3, {method}")["labels"] for method in methods}
    return figures.estimated_labels(labels, MESSAGES)


def _ours(names: tuple[str, ...], em: str = "") -> dict[tuple[str, str], str]:
    """Additional rows; ``em`` is the suffix of the cases of EM with the true number of clusters."""
    rows = [
        (f"{name}, {method}", measure)
        for name in names
        for method in METHODS
        for measure in (SHOWN if method != "DPMFS" else SHOWN[1::2])
    ]
    rows += [(f"{name}, {method} from k-means{em}", "NMI") for name in names for method in EM]
    return {(case, measure): case for case, measure in rows}


def _beyond(names: tuple[str, ...]) -> dict[tuple[str, str], tuple[tuple[str, str], str]]:
    return {
        (f"{name}, DPMFS", measure): ((f"{name}, {OURS}", measure), "collapsed sampler, DCM")
        for name in names
        for measure in ("clusters", "NMI")
    }


_DRAWN = (
    "The paper's draw of messages is not known, and it drew from a version whose messages have all their header lines; "
    "each run here has one of ten draws from the version with From and Subject alone. Stop words, uuencoded files and "
    "words of fewer than three messages are left out."
)

ENTRIES = (
    *yu2010_synthetic.ENTRIES,
    Entry(
        "yu2010.table1",
        "the document collections",
        _table1_cases,
        runs=DRAWS,
        quick_runs=2,
        notes=_DRAWN + " The paper prints 6,025 words for Classic400 where the collection has 6,205.",
        stand_in=("News-",),
    ),
    Entry(
        "yu2010.table2",
        "clustering of News-Similar-3 and News-Moderated-6",
        _table2_cases,
        claims=(
            Claim(
                "DPMFS, which is not told the number of clusters, beats EDCM and multinomial EM, which are",
                lambda r: _beats(r, ["EDCM", "EM-MN"]),
            ),
            Claim(
                "DPMFS finds somewhat more clusters than there are",
                lambda r: _too_many(r),
            ),
            Claim(
                "with DCM components and the collapsed sampler the number is nearer the truth (not in the paper)",
                lambda r: _nearer(r),
            ),
        ),
        runs=DRAWS,
        extra=_ours(("News-Similar-3", "News-Moderated-6")),
        beyond=_beyond(("News-Similar-3", "News-Moderated-6")),
        notes=_DRAWN,
        stand_in=("News-",),
    ),
    Entry(
        "yu2010.table3",
        "clustering of News-Different-3 and Classic400, with right and wrong numbers of clusters",
        _table3_cases,
        claims=(
            Claim(
                "with a wrong number of clusters, EDCM and multinomial EM do worse than DPMFS",
                lambda r: _beats(r, [f"{m}, K = {k}" for m in EM for k in (2, 10)]),
            ),
            Claim(
                "with the right number, EDCM does better than DPMFS",
                lambda r: 1.0 - _beats(r, ["EDCM, K = 3"]),
            ),
            Claim(
                "with DCM components and the collapsed sampler the number is nearer the truth (not in the paper)",
                lambda r: _nearer(r),
            ),
        ),
        runs=DRAWS,
        extra=_ours(("News-Different-3", CLASSIC), ", K = 3"),
        beyond=_beyond(("News-Different-3", CLASSIC)),
        notes=_DRAWN,
        stand_in=("News-",),
    ),
    Entry(
        "yu2010.figure8",
        "estimated labels of the documents of News-Different-3",
        _figure8_cases,
        claims=(
            Claim(
                "the estimated labels follow the true clusters",
                lambda r: r.mean("News-Different-3, DPMFS", "NMI") > 0.4,
            ),
        ),
        runs=DRAWS,
        extra={("News-Different-3, DPMFS", "NMI"): "DPMFS", (f"News-Different-3, {OURS}", "NMI"): OURS},
        draw=_draw_figure8,
        notes=_DRAWN,
        stand_in=("News-",),
    ),
)
