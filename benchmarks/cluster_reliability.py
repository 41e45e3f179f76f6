"""Whether the certainty of a clustering means what it says: how often "80% sure" is right.

A mixture with as many clusters as there are classes is fitted, clusters are matched to classes one to one, and a
document is right if its cluster's class is its own. Documents are sorted by the posterior of their cluster into bins;
where certainties can be trusted, the share of right documents in a bin is the mean certainty there. ECE is the mean
distance of the two. Classes that no cluster stands for make every certainty too high, whatever it is; the last columns
therefore compare with the majority class of each cluster.

    python -m benchmarks.cluster_reliability
    python -m benchmarks.cluster_reliability --temperatures 1 2 3 4   # of the fit's own posterior (1), and calmer ones
    python -m benchmarks.cluster_reliability --constant 4  # calmer for short documents: 4 + 4 sqrt(distinct words)
    python -m benchmarks.cluster_reliability --words 10    # ten words of each document, drawn without replacement
    python -m benchmarks.cluster_reliability --halves      # new documents, too: a fit to one half, shown the other

With ``--halves`` a row "new" follows each corpus, and the last number of it needs no classes: how many of the documents
that were not fitted have the cluster, matched one to one, that a fit to their own half gives them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from bursty import Corpus, Mixture, datasets
from bursty.inference.posteriors import CALIBRATION
from bursty.metrics import match_clusters

CHOSEN_ON = (
    "classic400",
    *(f"zhong15/{name}" for name in ("k1b", "tr11", "tr23", "hitech", "la1", "NG17-19", "reviews")),
)
REPORTED_ON = tuple(f"zhong15/{name}" for name in ("tr41", "tr45", "la2", "ohscal"))
TITLES = tuple(f"short/{name}" for name in ("T", "S", "TS", "Tweet"))
EDGES = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])

Array = np.ndarray[Any, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="*", default=[*CHOSEN_ON, *REPORTED_ON, *TITLES])
    parser.add_argument("--temperatures", nargs="*", type=float, default=[CALIBRATION])
    parser.add_argument("--constant", type=float, default=0.0, help="added to T times the root of distinct words")
    parser.add_argument("--words", type=int, help="words of each document; all by default")
    parser.add_argument("--halves", action="store_true", help="fit to one half, and judge the other as well")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    pooled: dict[tuple[str, float, str], list[tuple[Array, ...]]] = {}
    print(f"{'corpus':<12}{'':>7}{'T':>5}{'documents':>11}{'said':>8}{'right':>8}{'ECE':>8}{'majority':>10}{'ECE':>8}")
    for name in arguments.corpora:
        corpus = read(name, arguments.words, arguments.seed)
        kind = "chosen on" if name in CHOSEN_ON else "titles" if name in TITLES else "reported on"
        for view in views(corpus, arguments.halves, arguments.seed):
            which, one_to_one, majority, agree = view.which, view.one_to_one, view.majority, view.agree
            for temperature in arguments.temperatures:
                heat = temperature + arguments.constant / np.sqrt(view.n_distinct)
                said = softmax(view.log_posterior / heat[:, None], axis=1).max(axis=1)
                values = f"{said.mean():8.3f}{one_to_one.mean():8.3f}{error(said, one_to_one):8.3f}"
                values += f"{majority.mean():10.3f}{error(said, majority):8.3f}"
                values += "" if agree is None else f"   the other half agrees: {agree:.3f}"
                row = f"{name.removeprefix('zhong15/'):<12}{which:>7}{temperature:>5g}{len(said):>11,}"
                print(row + values, flush=True)
                pooled.setdefault((kind, temperature, which), []).append((said, one_to_one, majority))
    for (kind, temperature, which), parts in pooled.items():
        said, right, majority = (np.concatenate(column) for column in zip(*parts, strict=True))
        weights = np.concatenate([np.full(len(part[0]), 1.0 / len(part[0])) for part in parts])
        errors = [np.mean([error(part[0], part[column]) for part in parts]) for column in (1, 2)]
        means = [np.average(values, weights=weights) for values in (said, right, majority)]
        print(f"\n{kind}, T = {temperature:g}, {which} documents, every corpus with the same weight")
        print(f"said {means[0]:.3f}, right {means[1]:.3f} (ECE {errors[0]:.3f}), ", end="")
        print(f"majority {means[2]:.3f} (ECE {errors[1]:.3f})")
        print(f"{'certainty':>16}{'share':>8}{'said':>8}{'right':>8}{'majority':>10}")
        bins = np.clip(np.digitize(said, EDGES) - 1, 0, len(EDGES) - 2)
        for b in np.unique(bins):
            own = weights * (bins == b)
            means = [np.average(values, weights=own) for values in (said, right, majority)]
            share = own.sum() / weights.sum()
            print(f"{EDGES[b]:8.2f} - {EDGES[b + 1]:.2f}{share:>9.3f}{means[0]:8.3f}{means[1]:8.3f}{means[2]:10.3f}")


def read(name: str, n_words: int | None, seed: int) -> Corpus:
    """The documents with a class and words; of each at most ``n_words``, drawn at random."""
    corpus = datasets.load(name)
    corpus = corpus.select((corpus.labels >= 0) & (np.diff(corpus.counts.indptr) > 0))
    if n_words is None:
        return corpus
    counts, rng = corpus.counts.copy(), np.random.default_rng(seed)
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        row = counts.data[start:end]
        if row.sum() > n_words:
            counts.data[start:end] = rng.multivariate_hypergeometric(row.astype(np.int64), n_words, method="marginals")
    counts.eliminate_zeros()
    return Corpus(counts, labels=corpus.labels)


class View(NamedTuple):
    """Documents of a fit, or new ones, and how they are judged; log-posteriors are before calibration."""

    which: str
    n_distinct: Array
    log_posterior: Array
    one_to_one: Array
    majority: Array
    agree: float | None = None


def views(corpus: Corpus, halves: bool, seed: int) -> Iterator[View]:
    """All documents, or those that were fitted and new ones, with the agreement of two fits."""
    n_classes = len(np.unique(corpus.labels))
    if not halves:
        model = Mixture(n_classes, random_state=seed).fit(corpus)
        judged = judge(corpus.labels, model.labels_)
        yield View("all", distinct(corpus), log_posterior(model, corpus), *judged(model.labels_, corpus.labels))
        return
    first = np.random.default_rng(seed).permutation(len(corpus)) < len(corpus) // 2
    fitted, new = corpus.select(first), corpus.select(~first)
    model, other = (Mixture(n_classes, random_state=seed).fit(half) for half in (fitted, new))
    judged = judge(fitted.labels, model.labels_)
    yield View("fitted", distinct(fitted), log_posterior(model, fitted), *judged(model.labels_, fitted.labels))
    labels = model.predict(new)
    pairs = match_clusters(other.labels_, labels)
    agree = float(np.mean(np.array([pairs.get(int(k), -1) for k in labels]) == other.labels_))
    yield View("new", distinct(new), log_posterior(model, new), *judged(labels, new.labels), agree)


def distinct(corpus: Corpus) -> Array:
    """Number of distinct words of each document."""
    return np.diff(corpus.counts.indptr)


def log_posterior(model: Mixture, corpus: Corpus) -> Array:
    """The fit's own, before calibration, which is a power."""
    with np.errstate(divide="ignore"):
        return CALIBRATION * np.log(model.predict_proba(corpus))


def judge(classes: Array, clusters: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
    """From a clustering, a function that judges documents.

    It says whether each has the class that its cluster is matched to, and the one that most of its cluster have.
    """
    pairs = match_clusters(classes, clusters)
    most = {k: np.bincount(classes[clusters == k]).argmax() for k in np.unique(clusters)}

    def judged(labels: Array, truth: Array) -> tuple[Array, Array]:
        matched, majority = (np.array([table.get(int(k), -1) for k in labels]) for table in (pairs, most))
        return matched == truth, majority == truth

    return judged


def error(said: Array, right: Array) -> float:
    """Expected calibration error."""
    bins = np.clip(np.digitize(said, EDGES) - 1, 0, len(EDGES) - 2)
    parts = [np.mean(bins == b) * abs(said[bins == b].mean() - right[bins == b].mean()) for b in np.unique(bins)]
    return float(sum(parts))


if __name__ == "__main__":
    main()
