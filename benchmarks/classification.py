"""`BayesClassifier()` beside tuned linear models and naive Bayes: accuracy, log loss, calibration and time to fit.

Settings of the library were chosen on the first group of corpora only; the second group says what to expect on data
that nobody tuned to. Documents are split 70/30; training sets of 10 to 100 documents per class are drawn from the 70%.

    python -m benchmarks.classification                              at most 3,000 documents of each corpus (an hour)
    python -m benchmarks.classification --sizes all 10 --seeds 1     some sizes of training sets, one draw
    python -m benchmarks.classification --most 0 --corpora 20news-18828 --sizes all     all documents of one corpus
    python -m benchmarks.classification --jobs 16 --out runs.jsonl   16 processes; go on from the runs in this file

The rivals get tf-idf (with the logarithm of the counts; naive Bayes of complements gets counts) and are tuned by
three-fold cross-validation: for accuracy in the column of accuracy, for log loss in the others. LinearSVC, which has no
probabilities, is tuned for accuracy alone, and its log loss is that of CalibratedClassifierCV.
Seconds are of processor time, of one search and one fit, with one thread. Of corpora with more than 20 classes the 20
largest are taken (of Reuters the 10 largest), classes of less than 10 documents are left out, and words of one document
only as well.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.clustering import CHOSEN_ON, REPORTED
from benchmarks.clustering import load as load_clusters
from benchmarks.runs import Runs, spread
from bursty import BayesClassifier

SIZES = ("all", "10", "20", "50", "100")
KEY = ("corpus", "size", "method", "seed")
MEASURES = ("accuracy", "log loss", "calibration error", "seconds")
LARGEST_CLASSES, LEAST = 20, 10
ALPHAS = np.geomspace(1e-4, 10.0, 6)
Result = tuple[float, float, float, float]


def ours(**parameters: Any) -> Callable[..., Result]:
    """`BayesClassifier` with these parameters."""

    def run(X: sp.csr_array, y: np.ndarray, X_test: sp.csr_array, y_test: np.ndarray) -> Result:
        start = time.process_time()
        model = BayesClassifier(n_jobs=1, **parameters).fit(X, y)
        seconds = time.process_time() - start
        proba = model.predict_proba(X_test)
        return measured(y_test, proba, proba, seconds)

    return run


def tuned(model: Any, grid: dict[str, Any], tfidf: bool = True) -> Callable[..., Result]:
    """A rival with the best parameter for accuracy, and with the best for log loss."""

    def run(X: sp.csr_array, y: np.ndarray, X_test: sp.csr_array, y_test: np.ndarray) -> Result:
        start = time.process_time()
        if tfidf:
            weighting = TfidfTransformer(sublinear_tf=True).fit(X)
            X, X_test = sp.csr_array(weighting.transform(X)), sp.csr_array(weighting.transform(X_test))
        folds = StratifiedKFold(min(3, int(np.bincount(y).min())), shuffle=True, random_state=0)
        margins = not hasattr(model, "predict_proba")
        scoring = ["accuracy"] if margins else ["accuracy", "neg_log_loss"]
        found = GridSearchCV(model, grid, scoring=scoring, refit=False, cv=folds).fit(X, y).cv_results_
        seconds, predicted = 0.0, []
        for name in scoring:
            best = model.set_params(**found["params"][int(np.argmax(found[f"mean_test_{name}"]))])
            fitted = best.fit(X, y)
            seconds = seconds or time.process_time() - start
            predicted.append(fitted.decision_function(X_test) if margins else fitted.predict_proba(X_test))
        if margins:
            predicted.append(CalibratedClassifierCV(best, cv=folds).fit(X, y).predict_proba(X_test))
        return measured(y_test, predicted[0], predicted[1], seconds)

    return run


METHODS: dict[str, Callable[..., Result]] = {
    "BayesClassifier()": ours(),
    "BayesClassifier(refine=None)": ours(refine=None),
    "LinearSVC": tuned(LinearSVC(), {"C": [0.1, 0.3, 1.0, 3.0, 10.0]}),
    "LogisticRegression": tuned(LogisticRegression(max_iter=1000, tol=1e-3), {"C": [1.0, 10.0, 100.0, 1e3, 1e4]}),
    "MultinomialNB on tf-idf": tuned(MultinomialNB(), {"alpha": ALPHAS}),
    "ComplementNB": tuned(ComplementNB(), {"alpha": ALPHAS}, tfidf=False),
}


def measured(y: np.ndarray, decision: np.ndarray, proba: np.ndarray, seconds: float) -> Result:
    """Accuracy of a decision; log loss (zero counts as 1e-15) and calibration error of probabilities."""
    classes = np.arange(proba.shape[1])
    if decision.ndim == 1:  # margins of two classes
        decision = np.column_stack([-decision, decision])
    clipped = np.clip(proba, 1e-15, 1.0)
    loss = log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=classes)
    said, right = proba.max(axis=1), proba.argmax(axis=1) == y
    bins = np.minimum((said * 10).astype(int), 9)
    error = sum(np.mean(bins == b) * abs(said[bins == b].mean() - right[bins == b].mean()) for b in np.unique(bins))
    return float(accuracy_score(y, decision.argmax(axis=1))), float(loss), float(error), seconds


def load(name: str, most: int) -> tuple[sp.csr_array, np.ndarray]:
    """Counts and classes of at most so many documents (0: all)."""
    X, y = load_clusters(name)
    sizes = np.bincount(y)
    largest = np.argsort(-sizes, kind="stable")[: 10 if name == "reuters21578" else LARGEST_CLASSES]
    keep = np.flatnonzero(np.isin(y, largest) & (sizes[y] >= LEAST))
    if most and len(keep) > most:
        keep = np.sort(train_test_split(keep, train_size=most, random_state=0, stratify=y[keep])[0])
        keep = keep[np.bincount(y[keep])[y[keep]] >= LEAST]
    X, y = sp.csr_array(X[keep]), np.unique(y[keep], return_inverse=True)[1]
    X = sp.csr_array(X[:, np.bincount(X.indices, minlength=X.shape[1]) > 1])
    filled = np.diff(X.indptr) > 0
    return sp.csr_array(X[filled]), y[filled]


def draw(y: np.ndarray, size: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test documents."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y)
    if size != "all":
        rng = np.random.default_rng(seed)
        train = np.concatenate([rng.permutation(train[y[train] == k])[: int(size)] for k in np.unique(y)])
    return train, test


@dataclass(frozen=True)
class Task:
    """All runs of one corpus and one seed."""

    corpus: str
    seed: int
    arguments: argparse.Namespace


def do(task: Task) -> dict[tuple[str, ...], Result]:
    """The runs of a task that are not in the file yet."""
    arguments, corpus = task.arguments, task.corpus
    runs = Runs(arguments.out, KEY, MEASURES)
    wanted = [(corpus, size, method, str(task.seed)) for size in arguments.sizes for method in arguments.methods]
    missing = [key for key in wanted if key not in runs]
    if not missing:
        return {}
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        compile_kernels()
        X, y = load(corpus, arguments.most)
        for key in missing:
            train, test = draw(y, key[1], task.seed)
            seen = np.bincount(X[train].indices, minlength=X.shape[1]) > 0
            rows = sp.csr_array(X[:, seen])
            runs.add(key, METHODS[key[2]](rows[train], y[train], rows[test], y[test]))
    return {key: runs[key] for key in missing}


@cache
def compile_kernels() -> None:
    """A small fit, once per process: compiling and reading the cache of kernels is not fitting."""
    rng = np.random.default_rng(0)
    X, y = sp.csr_array(rng.poisson(0.5, (90, 30))), np.arange(90) % 3
    for refine in ("auto", None):
        BayesClassifier(n_jobs=1, refine=refine).fit(X, y).predict_proba(X)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=(*CHOSEN_ON, *REPORTED), help="some of the corpora only")
    parser.add_argument("--sizes", nargs="+", default=SIZES, choices=SIZES, help="documents per class to learn from")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=2, help="splits, and draws of training sets (default 2)")
    parser.add_argument("--most", type=int, default=3_000, help="documents of a corpus, 0 for all (default 3000)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one corpus and seed at a time")
    parser.add_argument("--out", type=Path, help="a file of JSON lines, to go on from and to add to")
    arguments = parser.parse_args()
    # The largest collections come last in the list and take longest: they begin first.
    tasks = [Task(corpus, seed, arguments) for corpus in reversed(arguments.corpora) for seed in range(arguments.seeds)]
    runs = Runs(arguments.out, KEY, MEASURES)
    runs |= spread(do, tasks, arguments.jobs)
    for title, group in (("chosen on", CHOSEN_ON), ("not chosen on", REPORTED)):
        corpora = [corpus for corpus in group if corpus in arguments.corpora]
        if corpora:
            show(title, runs, corpora, arguments)


def show(title: str, runs: Runs, corpora: Sequence[str], arguments: Any) -> None:
    """Means over corpora by size, then accuracy and log loss of each corpus, and where another method is better."""
    methods = arguments.methods
    for number, measure in enumerate(MEASURES):
        print(f"\n{measure}, {len(corpora)} corpora {title}: {', '.join(corpora)}")
        print("| documents per class | " + " | ".join(methods) + " |\n|" + "---|" * (len(methods) + 1))
        for size in arguments.sizes:
            print(row(size, [mean(runs, corpora, size, method, number) for method in methods], number))
    for other in methods[1:]:
        print(f"\nseconds of {methods[0]} / {other}: {ratios(runs, corpora, arguments, other)}")
    for number, size in ((0, "all"), (1, "all")):
        if size in arguments.sizes:
            print(f"\n{MEASURES[number]} of each corpus, 70% of the documents")
            print("| corpus | " + " | ".join(methods) + " |\n|" + "---|" * (len(methods) + 1))
            for corpus in corpora:
                print(row(corpus, [mean(runs, [corpus], size, method, number) for method in methods], number))


def ratios(runs: Runs, corpora: Sequence[str], arguments: Any, other: str) -> str:
    """Median over corpora and draws of the time to fit, relative to another method, by size."""
    found = []
    for size in arguments.sizes:
        pairs = [
            run[-1] / runs[corpus, size, other, seed][-1]
            for (corpus, where, method, seed), run in runs.items()
            if corpus in corpora and where == size and method == arguments.methods[0]
        ]
        found.append(f"{size} {np.median(pairs):.2f}")
    return ", ".join(found)


def row(title: str, values: Sequence[float], number: int) -> str:
    """A line of a table, the best value in bold."""
    best = max(values) if number == 0 else min(values)
    digits = 1 if MEASURES[number] == "seconds" else 3
    cells = [f"**{value:.{digits}f}**" if value == best else f"{value:.{digits}f}" for value in values]
    return f"| {title} | " + " | ".join(cells) + " |"


def mean(runs: Runs, corpora: Sequence[str], size: str, method: str, number: int) -> float:
    """Over corpora of the means over draws."""
    found = [
        np.mean([run[number] for key, run in runs.items() if key[:3] == (corpus, size, method)]) for corpus in corpora
    ]
    return float(np.mean(found))


if __name__ == "__main__":
    main()
