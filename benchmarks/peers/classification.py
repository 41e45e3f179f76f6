"""Classifiers: accuracy, log loss, calibration and time, beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.classify_default import corpus
from benchmarks.clustering import CHOSEN_ON
from benchmarks.peers.harness import Case, Column, Contender, clock, known
from bursty import BayesClassifier
from bursty.plot import reliability_bins

#: Documents per class in a short run.
SHORT = 30


def load(short: bool, *, name: str, per_class: int | None = None) -> Any:
    """Counts and classes; of a short run, few documents of each class."""
    X, y = corpus(name)
    if short:
        rng = np.random.default_rng(0)
        keep = np.concatenate([rng.permutation(np.flatnonzero(y == k))[: 2 * SHORT] for k in np.unique(y)])
        X, y = X[np.sort(keep)], y[np.sort(keep)]
    return X, y, per_class


def classify(make: Callable[[], Any], data: Any, seed: int) -> Mapping[str, float]:
    """Fit to a random part (80%, or so many documents per class), predict the rest."""
    X, y, per_class = data
    if per_class is None:
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    else:
        rng = np.random.default_rng(seed)
        train = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:per_class] for k in np.unique(y)])
        test = np.setdiff1d(np.arange(len(y)), train)
    model = make()
    began = clock()
    model.fit(X[train], y[train])
    fitted = clock()
    predicted = model.predict(X[test])
    done = clock()
    found = {"accuracy": accuracy_score(y[test], predicted), "fit": fitted - began, "predict": done - fitted}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X[test])
        found["log_loss"] = log_loss(y[test], probabilities, labels=model.classes_)
        bins = reliability_bins(y[test], probabilities, model.classes_)
        errors = np.abs(bins.confidence - bins.accuracy)
        found["calibration"] = float(np.nansum(errors * bins.documents) / bins.documents.sum())
    return found


def tfidf(model: Any) -> Any:
    return make_pipeline(TfidfTransformer(sublinear_tf=True), model)


MODELS: dict[str, Callable[[], Any]] = {
    "BayesClassifier()": BayesClassifier,
    "MultinomialNB": lambda: MultinomialNB(alpha=0.01),
    "ComplementNB": lambda: ComplementNB(alpha=0.1),
    "LogisticRegression, tf-idf": lambda: tfidf(LogisticRegression(C=10, max_iter=300)),
    "LinearSVC, tf-idf": lambda: tfidf(LinearSVC()),
    "LinearSVC, tf-idf, calibrated": lambda: tfidf(CalibratedClassifierCV(LinearSVC(), cv=3)),
    "SGD (log loss), tf-idf": lambda: tfidf(SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0)),
}
CONTENDERS = {
    name: Contender(partial(classify, make), "bursty" if name.startswith("Bayes") else "scikit-learn")
    for name, make in MODELS.items()
}
COLUMNS = (
    Column("accuracy", "accuracy", "high"),
    Column("log_loss", "log loss", "low"),
    Column("calibration", "calibration error", "low"),
    Column("fit", "fit, s", "low", is_time=True),
    Column("predict", "predict, s", "low", is_time=True),
)


def case(name: str, corpus_name: str, data: str, per_class: int | None = None) -> Case:
    return Case(
        name=f"classification-{name}",
        title=f"Classification, {data.partition(':')[0]}",
        work="Fit and predict; peers with their usual settings.",
        data=f"{data}; {known(corpus_name, (*CHOSEN_ON, 'reuters-10'))}",
        load=partial(load, name=corpus_name, per_class=per_class),
        contenders=CONTENDERS,
        columns=COLUMNS,
        rounds=(3, 1),
        slow=("LinearSVC, tf-idf, calibrated",),
    )


CASES = [
    case("20news", "20news-18828", "20 newsgroups: 18,828 documents in 20 classes, 80/20"),
    case("reuters", "reuters-10", "Reuters: documents of one of the ten largest classes, 80/20"),
    case("cve", "cve-100", "cve: 132 classes of at least 100 documents, 80/20"),
    case("few", "20news-18828", "20 newsgroups with 20 documents per class: the others are predicted", 20),
]
