"""Time to fit `BayesClassifier()` beside the time to tune LinearSVC (five values of C, three folds).

Processor time of one process and one thread, fits of both in turn, medians of the rounds; on collections that the
default was chosen on, one split, the training sets of `benchmarks.classification`.

    python -m benchmarks.classify_fit
    python -m benchmarks.classify_fit --sizes 10 all --rounds 9 --corpora classic400
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.classification import compile_kernels, draw, load
from benchmarks.timing import side_by_side
from bursty import BayesClassifier

CORPORA = ("classic400", "zhong15/k1b", "zhong15/tr11", "zhong15/hitech", "zhong15/reviews")
SIZES = ("10", "20", "50", "100", "all")


def tune(X: sp.csr_array, y: np.ndarray) -> Any:
    """LinearSVC on tf-idf with the C of the best accuracy."""
    rows = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(X))
    folds = StratifiedKFold(min(3, int(np.bincount(y).min())), shuffle=True, random_state=0)
    grid = {"C": [0.1, 0.3, 1.0, 3.0, 10.0]}
    return GridSearchCV(LinearSVC(), grid, scoring="accuracy", cv=folds).fit(rows, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--sizes", nargs="+", default=SIZES, choices=SIZES, help="documents per class to learn from")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = {corpus: load(corpus, 3_000) for corpus in arguments.corpora}
    print("| documents per class | median | " + " | ".join(data) + " |\n|" + "---|" * (len(data) + 2))
    with threadpool_limits(1):
        compile_kernels()
        for size in arguments.sizes:
            found = [ratio(*data[corpus], size, arguments.rounds) for corpus in data]
            cells = [f"{ours / theirs:.2f} ({1e3 * ours:.0f} / {1e3 * theirs:.0f} ms)" for ours, theirs in found]
            print(f"| {size} | {np.median([a / b for a, b in found]):.2f} | " + " | ".join(cells) + " |", flush=True)


def ratio(X: sp.csr_array, y: np.ndarray, size: str, rounds: int) -> tuple[float, float]:
    """Median seconds of a fit of ours, and of tuning LinearSVC."""
    train, _ = draw(y, size, 0)
    rows, labels = sp.csr_array(X[train][:, np.bincount(X[train].indices, minlength=X.shape[1]) > 0]), y[train]
    contenders = {
        "ours": lambda: BayesClassifier(n_jobs=1).fit(rows, labels),
        "LinearSVC": lambda: tune(rows, labels),
    }
    seconds = side_by_side(contenders, rounds, time.process_time)
    return seconds["ours"], seconds["LinearSVC"]


if __name__ == "__main__":
    main()
