"""Clusterings of collections with known classes: `Mixture` beside k-means, NMI over three seeds.

Settings of the library were chosen on the first group of corpora only. The second group was not looked at for that: it
is what to expect on data that nobody tuned to.

    python -m benchmarks.clustering                              all corpora (hours)
    python -m benchmarks.clustering --small                      those that take minutes
    python -m benchmarks.clustering --corpora classic400 --methods "Mixture()" "LSA 100 + k-means"
    python -m benchmarks.clustering --jobs 16 --out runs.jsonl   16 processes; go on from the runs in this file

As many clusters as classes. Documents without words or class are left out, and words of one document only where texts
are read (the others come as counts). Of Reuters, documents of one class are taken; of cve and arxiv, 20,000 random
documents of classes of 100 or more. Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from benchmarks.runs import Runs, spread
from bursty import Mixture, datasets, metrics

SETS = ("k1b", "tr11", "tr23", "hitech", "la1", "NG17-19", "reviews")
OTHER_SETS = ("tr41", "tr45", "la2", "la12", "ohscal", "NG20")
CHOSEN_ON = ("classic400", *(f"zhong15/{name}" for name in SETS), "20news-18828", "reuters21578")
REPORTED = (
    *(f"zhong15/{name}" for name in OTHER_SETS),
    *("nips391", "short/T", "short/S", "short/TS", "short/Tweet"),
    *("industry-sector-12", "cve", "arxiv"),
)
TEXTS = ("20news-18828", "reuters21578", "industry-sector-12", "cve", "arxiv")
SMALL = (*CHOSEN_ON[:8], "zhong15/tr41", "zhong15/tr45", "zhong15/la2", "zhong15/la12", "nips391", "short/Tweet")
#: What `Mixture` did by default in version 0.1.
FIRST = {
    "family": "edcm",
    "init": "kmeans",
    "temperatures": (25, 5, 1),
    "tempering": None,
    "prior": None,
    "stopping": "relative",
    "max_iter": 200,
    "restart": False,
}
KEY, MEASURES = ("corpus", "method", "seed"), ("NMI", "seconds")
# Documents of the largest corpora, and the size of the smallest class there.
LARGEST, LEAST = 20_000, 100


def mixture(**options: Any) -> Callable[[sp.csr_array, int, int], np.ndarray]:
    """Labels that a mixture with these settings gives."""
    return lambda X, k, seed: Mixture(k, random_state=seed, n_jobs=1, **options).fit(X).labels_


def tfidf(X: sp.csr_array) -> sp.csr_array:
    """Unit rows, with the logarithm of the counts."""
    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(X))


def spherical_kmeans(X: sp.csr_array, k: int, seed: int, n_runs: int = 10, n_steps: int = 100) -> np.ndarray:
    """The best of several runs by mean cosine."""
    rng, rows = np.random.default_rng(seed), tfidf(X)
    best = -1.0, np.zeros(X.shape[0], dtype=np.intp)
    for _ in range(n_runs):
        centres = rows[rng.choice(rows.shape[0], k, replace=False)].toarray()
        last = None
        for _ in range(n_steps):
            cosines = rows @ centres.T
            labels = cosines.argmax(axis=1)
            if last is not None and np.array_equal(last, labels):
                break
            last = labels
            members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), (k, len(labels)))
            centres = normalize((members @ rows).toarray())
        best = max(best, (float(cosines.max(axis=1).mean()), labels), key=lambda run: run[0])
    return best[1]


def lsa_kmeans(X: sp.csr_array, k: int, seed: int, rank: int = 100) -> np.ndarray:
    """scikit-learn's TruncatedSVD and KMeans on tf-idf."""
    rank = min(rank, min(X.shape) - 1)
    rows = normalize(TruncatedSVD(rank, random_state=seed).fit_transform(tfidf(X)))
    return KMeans(k, n_init=10, random_state=seed).fit_predict(rows)


RECIPE = {"init": "lsa", "tempering": "distinct", "prior": "shared"}
METHODS: dict[str, Callable[[sp.csr_array, int, int], np.ndarray]] = {
    "Mixture()": mixture(),
    "default of 0.1": mixture(**FIRST),
    "spherical k-means, best of 10": spherical_kmeans,
    "LSA 100 + k-means": lsa_kmeans,
    "annealed multinomial": mixture(**{**FIRST, "family": "multinomial"}),
    "recipe, DCM": mixture(family="dcm", **RECIPE),
    "recipe, EDCM": mixture(family="edcm", **RECIPE),
    "recipe, multinomial": mixture(family="multinomial", **RECIPE),
}


def load(name: str) -> tuple[sp.csr_array, np.ndarray]:
    """Counts and classes."""
    loaded = datasets.load(name)
    X = sp.csr_array(loaded.counts)
    if name == "reuters21578":
        table = sp.csr_array(loaded.label_matrix)
        keep = np.asarray(table.sum(axis=1)).ravel() == 1
        y = np.asarray(table.argmax(axis=1)).ravel()
    else:
        y = np.asarray(loaded.labels)
        keep = y >= 0
    if name in ("cve", "arxiv"):
        keep &= np.bincount(y[keep])[np.maximum(y, 0)] >= LEAST
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(keep))[:LARGEST]
        keep = np.isin(np.arange(len(y)), chosen)
    X, y = sp.csr_array(X[keep]), y[keep]
    if name in TEXTS:
        X = sp.csr_array(X[:, np.bincount(X.indices, minlength=X.shape[1]) > 1])
    filled = np.diff(X.indptr) > 0
    return sp.csr_array(X[filled]), np.unique(y[filled], return_inverse=True)[1]


@dataclass(frozen=True)
class Task:
    """All runs of one corpus and one seed."""

    corpus: str
    seed: int
    arguments: argparse.Namespace


def do(task: Task) -> dict[tuple[str, ...], tuple[float, ...]]:
    """The runs of a task that are not in the file yet."""
    runs = Runs(task.arguments.out, KEY, MEASURES)
    missing = [key for method in task.arguments.methods if (key := (task.corpus, method, str(task.seed))) not in runs]
    if missing:
        X, y = load(task.corpus)
        with threadpool_limits(1):
            for key in missing:
                compile_kernels(key[1])
                runs.add(key, run(METHODS[key[1]], X, y, task.seed))
    return {key: runs[key] for key in missing}


@cache
def compile_kernels(method: str) -> None:
    """A small clustering, once per process: compiling and reading the cache of kernels is not fitting."""
    rng = np.random.default_rng(0)
    blocks = rng.gamma(0.1, size=(3, 300))[np.arange(90) % 3]
    run(METHODS[method], sp.csr_array(rng.poisson(blocks)), np.arange(90) % 3, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="only corpora that take minutes")
    parser.add_argument("--corpora", nargs="+", help="some of the corpora only")
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="METHOD", help=", ".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one corpus and seed at a time")
    parser.add_argument("--out", type=Path, help="a file of JSON lines, to go on from and to add to")
    arguments = parser.parse_args()
    corpora = arguments.corpora or (SMALL if arguments.small else (*CHOSEN_ON, *REPORTED))
    arguments.methods = arguments.methods or list(METHODS)
    # The largest collections come last in the list and take longest: they begin first.
    tasks = [Task(corpus, seed, arguments) for corpus in reversed(corpora) for seed in range(arguments.seeds)]
    runs = Runs(arguments.out, KEY, MEASURES)
    runs |= spread(do, tasks, arguments.jobs)
    for corpus in corpora:
        show_corpus(corpus, runs, arguments.methods)
    show_means(runs, corpora, arguments.methods)


def run(method: Callable[..., np.ndarray], X: sp.csr_array, y: np.ndarray, seed: int) -> tuple[float, float]:
    """NMI and seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = method(X, int(y.max()) + 1, seed)
    return float(metrics.normalized_mutual_information(y, labels)), time.process_time() - start


def show_corpus(corpus: str, runs: Runs, methods: list[str]) -> None:
    """NMI and seconds of each method."""
    cells = [
        f"{method} {runs.mean('NMI', corpus, method):.3f} ({runs.mean('seconds', corpus, method):.1f} s)"
        for method in methods
    ]
    print(f"{corpus}: " + ", ".join(cells), flush=True)


def show_means(runs: Runs, corpora: Any, methods: list[str]) -> None:
    """The table: one row per method, one column per group of corpora."""
    groups = {"chosen on": CHOSEN_ON, "not chosen on": REPORTED, "short texts": [c for c in REPORTED if "short" in c]}
    groups = {name: [corpus for corpus in group if corpus in corpora] for name, group in groups.items()}
    groups |= {corpus: [corpus] for corpus in ("classic400", "nips391") if corpus in corpora}
    groups = {name: group for name, group in groups.items() if group}
    print("\n| mean NMI | " + " | ".join(f"{name} ({len(group)})" for name, group in groups.items()) + " |")
    print("|---" * (len(groups) + 1) + "|")
    for method in methods:
        means = [np.mean([runs.mean("NMI", corpus, method) for corpus in group]) for group in groups.values()]
        print(f"| {method} | " + " | ".join(f"{value:.3f}" for value in means) + " |")


if __name__ == "__main__":
    main()
