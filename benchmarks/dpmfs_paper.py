"""Yu, Huang and Wang 2010: the synthetic data of 6.2, Tables 2 and 3; published value beside ours.

``python -m benchmarks.dpmfs_paper`` runs all of it, in parts with ``--synthetic``, ``--robustness`` and ``--tables``;
``--runs`` and ``--draws`` say how often; ``--figures FOLDER`` draws Figures 4 to 8.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import table
from bursty import DPMFS, Corpus, Mixture, datasets, metrics

SYNTHETIC = {"max_components": 30, "omega": 0.01, "lam": 0.1}
# 2,500 iterations of which 2,000 do not count; the collapsed sampler needs far fewer.
LENGTHS = {"paper": {"n_iter": 2500, "burn_in": 2000}, "collapsed": {"n_iter": 100, "burn_in": 50}}

GROUPS = {
    "News-Different-3": ("alt.atheism", "rec.sport.baseball", "sci.space"),
    "News-Similar-3": ("comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
    "News-Moderated-6": (
        "rec.sport.baseball", "sci.space", "alt.atheism", "talk.politics.guns", "comp.windows.x",
        "soc.religion.christian",
    ),
}  # fmt: skip
# Clusters and NMI of DPMFS; NMI of EDCM and of the multinomial by EM, for each k.
PUBLISHED = {
    "News-Different-3": (5.9, 0.688, {2: (0.386, 0.464), 3: (0.734, 0.867), 10: (0.561, 0.634)}),
    "News-Similar-3": (8.1, 0.231, {3: (0.163, 0.081)}),
    "News-Moderated-6": (7.9, 0.663, {6: (0.531, 0.562)}),
    "classic400": (8.0, 0.641, {2: (0.243, 0.36), 3: (0.684, 0.496), 10: (0.403, 0.506)}),
}
METHODS: dict[str, dict[str, Any]] = {
    "paper's sampler": {"sampler": "paper"},
    "collapsed": {"sampler": "collapsed", "n_iter": 300},
    "collapsed, DCM, lambda fixed": {"sampler": "collapsed", "family": "dcm", "n_iter": 300, "lam_prior": None},
    "collapsed, DCM": {"sampler": "collapsed", "family": "dcm", "n_iter": 300},
}


def nmi(corpus: Corpus, labels: Any) -> float:
    return metrics.normalized_mutual_information(corpus.labels, labels)


def synthetic(runs: int) -> None:
    rows = []
    corpus, _ = datasets.make_yu2010(0)
    for sampler, length in LENGTHS.items():
        found, nearly, true, false, begin = 0, 0, [], [], time.perf_counter()
        for run in range(runs):
            model = DPMFS(**SYNTHETIC, sampler=sampler, **length, random_state=run).fit(corpus)
            found += model.n_clusters_ == 3 and nmi(corpus, model.labels_) > 0.9999
            large = model.sizes_[model.labels_] > 1
            nearly += metrics.normalized_mutual_information(corpus.labels[large], model.labels_[large]) > 0.9999
            true.append(model.discriminative_[:50].sum())
            false.append(model.discriminative_[50:].sum())
        seconds = (time.perf_counter() - begin) / runs
        counts = f"{found} of {runs}", f"{nearly} of {runs}"
        rows.append((sampler, *counts, float(np.mean(true)), float(np.mean(false)), seconds))
    rows.append(("published", "30 of 30", "", 41.0, "", ""))
    header = ("sampler", "true partition", "but for lone documents", "true words", "false words", "s a run")
    table("Section 6.2: one collection, runs of different seeds", rows, header)


def robustness(runs: int) -> None:
    rows = []
    settings = [{"alpha": a, "omega": 0.01, "max_components": 200} for a in (0.1, 1.0, 10.0)]
    settings += [{"alpha": 1.0, "omega": w / 1000, "max_components": 30} for w in (1, 50, 100)]
    corpus, _ = datasets.make_yu2010(0)
    for setting in settings:
        for sampler, length in LENGTHS.items():
            found, words = 0, []
            for run in range(runs):
                model = DPMFS(lam=0.5, **setting, sampler=sampler, **length, learn_alpha=False, random_state=run)
                found += nmi(corpus, model.fit(corpus).labels_) > 0.9999
                words.append(model.discriminative_.sum())
            rows.append((setting["alpha"], setting["omega"], sampler, f"{found} of {runs}", np.mean(words)))
    table("Section 6.2.3: robustness (published: the true partition always)", rows,
          ("alpha", "omega", "sampler", "true partition", "words"))  # fmt: skip


def news(name: str, everything: Corpus, draw: int) -> Corpus:
    """100 messages of each group, without stop words and words of one or two messages: about the paper's size."""
    rng = np.random.default_rng(draw)
    names = list(everything.label_names)
    rows = [rng.choice(np.flatnonzero(everything.labels == names.index(g)), 100, replace=False) for g in GROUPS[name]]
    return everything.select(np.sort(np.concatenate(rows))).filter_words(min_df=3)


def em(corpus: Corpus, k: int, family: str, seed: int) -> float:
    """The paper's EM: annealed, from a perturbed start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Mixture(k, family=family, init="perturb", smoothing=0.0, random_state=seed)
        return nmi(corpus, model.fit(corpus).labels_)


def tables(draws: int, only: list[str] | None) -> None:
    news_sets = [name for name in PUBLISHED if name in GROUPS and (not only or name in only)]
    everything = datasets.load("20news-18828", stop_words="english") if news_sets else None
    rows: list[tuple[Any, ...]] = []
    baselines: list[tuple[Any, ...]] = []
    for name, (clusters, published, ks) in PUBLISHED.items():
        if only and name not in only:
            continue
        corpora = [
            datasets.load("classic400") if name == "classic400" else news(name, everything, draw)
            for draw in range(draws)
        ]
        rows.append((name, "published", clusters, published, "", ""))
        for method, options in METHODS.items():
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                models = [DPMFS(**options, random_state=draw).fit(corpus) for draw, corpus in enumerate(corpora)]
            seconds = (time.perf_counter() - begin) / draws
            scores = [nmi(corpus, model.labels_) for corpus, model in zip(corpora, models, strict=True)]
            sizes = np.mean([model.n_clusters_ for model in models])
            words = np.mean([model.discriminative_.sum() for model in models])
            rows.append((name, method, sizes, np.mean(scores), words, seconds))
            print(rows[-1], flush=True)
        for k, (edcm, multinomial) in ks.items():
            for family, value in (("edcm", edcm), ("multinomial", multinomial)):
                ours = np.mean([em(corpus, k, family, draw) for draw, corpus in enumerate(corpora)])
                baselines.append((name, family, k, value, float(ours)))
    table(
        f"Tables 2 and 3: DPMFS, mean of {draws} draws", rows, ("set", "method", "clusters", "NMI", "words", "s a fit")
    )
    table("EM at a given k", baselines, ("set", "family", "k", "published NMI", "ours"))


def figures(folder: Path) -> None:
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    corpus, _ = datasets.make_yu2010(0)

    def draw(name: str, key: str, label: str, settings: dict[str, dict[str, Any]], stop: int | None = None) -> None:
        figure, axes = plt.subplots(figsize=(6, 3.5))
        for title, setting in settings.items():
            model = DPMFS(sampler="paper", **LENGTHS["paper"], random_state=1, **setting).fit(corpus)
            axes.plot(model.trace_[key][:stop], label=title, linewidth=1)
        axes.set_xlabel("iteration")
        axes.set_ylabel(label)
        if len(settings) > 1:
            axes.legend()
        figure.tight_layout()
        figure.savefig(folder / f"{name}.png", dpi=120)
        plt.close(figure)

    typical = {"": SYNTHETIC}
    alphas = {f"alpha = {a}": {"max_components": 200, "omega": 0.01, "lam": 0.5, "alpha": a} for a in (0.1, 1.0, 10.0)}
    omegas = {f"omega = {w}/W": {"max_components": 30, "omega": w / 1000, "lam": 0.5} for w in (1, 50, 100)}
    draw("figure4", "n_clusters", "clusters", typical)
    draw("figure5", "n_words", "discriminative words", typical)
    draw("figure6", "n_clusters", "clusters", alphas, 400)
    draw("figure7", "n_words", "discriminative words", omegas)
    everything = datasets.load("20news-18828", stop_words="english")
    sample = news("News-Different-3", everything, 0)
    order = np.argsort(sample.labels, kind="stable")
    figure, axes = plt.subplots(figsize=(6, 3.5))
    axes.plot(DPMFS(sampler="paper", random_state=0).fit(sample).labels_[order], ".", markersize=3)
    axes.set_xlabel("document, ordered by newsgroup")
    axes.set_ylabel("cluster")
    figure.tight_layout()
    figure.savefig(folder / "figure8.png", dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--robustness", action="store_true")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", nargs="*", help="sets of the tables")
    parser.add_argument("--figures", type=Path)
    args = parser.parse_args()
    everything = not (args.synthetic or args.robustness or args.tables or args.figures)
    if args.synthetic or everything:
        synthetic(args.runs)
    if args.robustness or everything:
        robustness(max(1, args.runs // 10))
    if args.tables or everything:
        tables(args.draws, args.only)
    if args.figures:
        figures(args.figures)


if __name__ == "__main__":
    main()
