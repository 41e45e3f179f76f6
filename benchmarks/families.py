"""Fitting one component per class: EDCM and exact DCM against scikit-learn's naive Bayes, on 20 newsgroups."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from benchmarks.timing import side_by_side, table
from bursty import datasets
from bursty.engines import Assignment, Chunk
from bursty.families.dcm import DCMFamily
from bursty.families.edcm import EDCMFamily
from bursty.kernels import threads
from bursty.validation import check_counts


def main() -> None:
    corpus = datasets.load("20news-18828").filter_words(min_df=2)
    counts, labels = corpus.counts, corpus.labels.astype(np.int32)
    n_classes = int(labels.max()) + 1

    def fit(family):
        with threads.using(threads.resolve(None)):
            chunk = Chunk(check_counts(counts))
            return family.update(family.summarize(chunk, Assignment(labels, n_classes, np.ones(len(labels)))))

    times = side_by_side(
        {
            "MultinomialNB.fit": lambda: MultinomialNB().fit(counts, labels),
            "EDCM per class": lambda: fit(EDCMFamily()),
            "DCM per class": lambda: fit(DCMFamily()),
        }
    )
    naive, edcm = times["MultinomialNB.fit"], times["EDCM per class"]
    goals = {"MultinomialNB.fit": "", "EDCM per class": "<= 2 x MultinomialNB", "DCM per class": "<= 5 x EDCM"}
    rows = [(name, 1e3 * t, t / naive, t / edcm, goals[name]) for name, t in times.items()]
    size = f"{counts.shape[0]} documents, {counts.shape[1]} words, {n_classes} classes"
    table(f"Fit of one component per class: 20 newsgroups, {size}", rows, ("what", "ms", "x NB", "x EDCM", "goal"))


if __name__ == "__main__":
    main()
