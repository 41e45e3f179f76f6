"""Time and memory of `BayesClassifier` on 20 newsgroups, beside scikit-learn's MultinomialNB in the same run.

Calls are interleaved and medians taken, so that a busy machine slows all alike; ratios are what counts. Memory is above
the documents, in tables of classes x words (8 bytes a cell): what is kept after fitting, the statistics and the sample
of documents in it (for `partial_fit`), and the most that is held while fitting and while predicting.

    python -m benchmarks.classify_speed
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

from bursty import datasets
from bursty.models.classify import BayesClassifier

# What the ratios should stay below: fit, predict.
TARGETS = {"EDCM": (2.0, 2.0), "DCM": (10.0, 4.0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = datasets.load("20news-18828", min_df=2)
    X, y = sp.csr_array(corpus.counts), np.asarray(corpus.labels)
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    data = X[train], y[train], X[test]
    models = {
        "MultinomialNB": MultinomialNB(alpha=0.01),
        "M": BayesClassifier("multinomial", smoothing=0.01),
        "EDCM": BayesClassifier("edcm", smoothing=0.01),
        "DCM": BayesClassifier("dcm", smoothing=0.01),
        "C-DCM": BayesClassifier("dcm", smoothing=0.01, complement=True),
        "M, learned": BayesClassifier("multinomial", refine=None),
        "EDCM, learned": BayesClassifier("edcm", refine=None),
        "DCM, learned": BayesClassifier(refine=None),
        "DCM, refined": BayesClassifier(),
    }
    fit: dict[str, list[float]] = {name: [] for name in models}
    predict: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(arguments.repeats + 1):
        for name, model in models.items():
            fit[name].append(seconds(model.fit, data[0], data[1]))
            model.predict(data[2])  # the first one pays for memory that fitting has just given back
            predict[name].append(seconds(model.predict, data[2]))
    print(f"20 newsgroups: {len(train):,} and {len(test):,} documents, {X.shape[1]:,} words, 20 classes")
    table = 8 * 20 * X.shape[1]
    sizes = [sum(part.nbytes for part in (M.data, M.indices, M.indptr)) / table for M in (data[0], data[2])]
    print(f"memory in tables of {table / 1e6:.1f} MB; the documents are {sizes[0]:.2f} and {sizes[1]:.2f}")
    header = ("fit ms", "ratio", "target", "predict ms", "ratio", "target", "kept", "of it sums", "fit", "predict")
    print(" " * 16 + "".join(f"{title:>11s}" for title in header))
    base = np.median(fit["MultinomialNB"][1:]), np.median(predict["MultinomialNB"][1:])
    for name, model in models.items():
        times = np.median(fit[name][1:]), np.median(predict[name][1:])
        target = [f"{value:g}" for value in TARGETS[name]] if name in TARGETS else ["", ""]
        held = [f"{size / table:.2f}" for size in memory(model, *data)]
        row = (
            *(f"{times[0] * 1e3:.0f}", f"{times[0] / base[0]:.2f}", target[0]),
            *(f"{times[1] * 1e3:.1f}", f"{times[1] / base[1]:.2f}", target[1]),
            *held,
        )
        print(f"{name:16s}" + "".join(f"{cell:>11s}" for cell in row))


def seconds(function, *arguments) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def memory(model, X, y, X_test) -> tuple[int, int, int, int]:
    """Bytes that fitting keeps, those of them that are statistics, and the most that fitting and predicting hold."""
    for name in [name for name in vars(model) if name.startswith("_") or name.endswith("_")]:
        delattr(model, name)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model.fit(X, y)
    kept, fitting = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    model.predict(X_test)
    predicting = tracemalloc.get_traced_memory()[1]
    with_sums = tracemalloc.get_traced_memory()[0]
    sums = vars(model).pop("_seen", None)
    del sums
    freed = with_sums - tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return kept - before, freed, fitting - before, predicting - before


if __name__ == "__main__":
    main()
