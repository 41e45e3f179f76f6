"""Whether probabilities mean what they say: 20 newsgroups, before and after calibration.

Documents are sorted by the probability of their predicted class into ten bins. Where probabilities can be trusted, the
share of right predictions in a bin is the mean probability there. The expected calibration error (ECE) is the mean
distance of the two.

    python -m benchmarks.classify_reliability
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from bursty import datasets
from bursty.models.classify import BayesClassifier

EDGES = np.linspace(0.0, 1.0, 11)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="20news-18828")
    arguments = parser.parse_args()
    corpus = datasets.load(arguments.corpus)
    X, y = sp.csr_array(corpus.counts), np.asarray(corpus.labels)
    X, y = X[np.diff(X.indptr) > 0], y[np.diff(X.indptr) > 0]
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    for title, model in {
        "multinomial, smoothing 0.01": BayesClassifier("multinomial", smoothing=0.01),
        "DCM, smoothing 0.01": BayesClassifier(smoothing=0.01),
        'DCM, smoothing 0.01, calibrate="temperature"': BayesClassifier(smoothing=0.01, calibrate="temperature"),
        "BayesClassifier(refine=None)": BayesClassifier(refine=None),
        "BayesClassifier()": BayesClassifier(),
    }.items():
        proba = model.fit(X[train], y[train]).predict_proba(X[test])
        show(title, proba.max(axis=1), model.classes_[proba.argmax(axis=1)] == y[test])


def show(title: str, confidence: np.ndarray, right: np.ndarray) -> None:
    bins = np.clip(np.digitize(confidence, EDGES) - 1, 0, 9)
    print(f"\n{title}\n{'probability':>14s}{'documents':>11s}{'said':>8s}{'right':>8s}")
    error = 0.0
    for b in np.unique(bins):
        said, share = confidence[bins == b].mean(), right[bins == b].mean()
        error += np.mean(bins == b) * abs(said - share)
        print(f"{EDGES[b]:8.1f} - {EDGES[b + 1]:.1f}{np.sum(bins == b):11d}{said:8.3f}{share:8.3f}")
    print(f"expected calibration error {error:.4f}")


if __name__ == "__main__":
    main()
