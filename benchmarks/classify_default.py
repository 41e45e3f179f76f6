"""`BayesClassifier(refine=None)` beside scikit-learn's naive Bayes with tuned smoothing: accuracy and log loss.

The rivals are MultinomialNB, ComplementNB and MultinomialNB on tf-idf. Each one's alpha is tuned by the same
stratified cross-validation on the training half, once for accuracy (the accuracy column) and once for log loss (the
log loss column), so that each number is the best the method can do. Ours is tuned by nothing: it learns in `fit`.

    python -m benchmarks.classify_default                      all four corpora
    python -m benchmarks.classify_default --small              10 to 100 documents a class
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp
from scipy.stats import ttest_rel
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from bursty import datasets
from bursty.models.classify import BayesClassifier

ALPHAS = np.geomspace(1e-4, 10.0, 11)
SMALL = ("20news-18828", "industry-sector-12", "zhong15/k1b", "zhong15/la1", "zhong15/hitech", "zhong15/ohscal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=3, help="random 80/20 splits (default 3)")
    parser.add_argument("--small", action="store_true", help="training sets of 10, 20, 50 and 100 documents a class")
    parser.add_argument("--corpora", nargs="+", help="some of the corpora only")
    arguments = parser.parse_args()
    if arguments.small:
        small_classes(arguments.corpora or SMALL, arguments.splits)
    else:
        names = arguments.corpora or ("20news-18828", "reuters-10", "industry-sector-12", "cve-100")
        for name in names:
            X, y = corpus(name)
            results = [compare(X, y, seed, None) for seed in range(arguments.splits)]
            show(f"{name}: {X.shape[0]:,} documents, {len(np.unique(y))} classes", results)


def corpus(name: str) -> tuple[sp.csr_array, np.ndarray]:
    """Counts and labels of the documents with a class; words of one document only are left out."""
    if name == "reuters-10":
        loaded = datasets.load("reuters21578")
        table = sp.csr_array(loaded.label_matrix)
        single = np.asarray(table.sum(axis=1)).ravel() == 1
        X, y = loaded.counts[single], table[single].argmax(axis=1)
        y = np.asarray(y).ravel()
        keep = np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:10])
    else:
        loaded = datasets.load("cve" if name == "cve-100" else name)
        X, y = loaded.counts, np.asarray(loaded.labels)
        sizes = np.bincount(y[y >= 0])
        keep = (y >= 0) & (sizes[np.maximum(y, 0)] >= (100 if name == "cve-100" else 10))
    X, y = sp.csr_array(X[keep]), y[keep]
    df = np.bincount(X.indices, minlength=X.shape[1])
    X = sp.csr_array(X[:, df >= 2])
    filled = np.diff(X.indptr) > 0
    return sp.csr_array(X[filled]), y[filled]


def compare(X: sp.csr_array, y: np.ndarray, seed: int, per_class: int | None) -> dict[str, tuple[float, float, float]]:
    """Accuracy, log loss and seconds of each method on one split."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed, stratify=y)
    if per_class is not None:
        rng = np.random.default_rng(seed)
        train = np.concatenate([rng.permutation(train[y[train] == k])[:per_class] for k in np.unique(y)])
    results = {}
    for name, model in {
        "MultinomialNB": MultinomialNB(),
        "ComplementNB": ComplementNB(),
        "tf-idf MultinomialNB": make_pipeline(TfidfTransformer(), MultinomialNB()),
    }.items():
        results[name] = tuned(model, X[train], y[train], X[test], y[test], seed)
    start = time.perf_counter()
    ours = BayesClassifier(refine=None).fit(X[train], y[train])
    seconds = time.perf_counter() - start
    probabilities = ours.predict_proba(X[test])
    accuracy = accuracy_score(y[test], ours.classes_[probabilities.argmax(axis=1)])
    results["BayesClassifier(refine=None)"] = (accuracy, loss(y[test], probabilities, ours.classes_), seconds)
    return results


def tuned(model, X, y, X_test, y_test, seed: int) -> tuple[float, float, float]:
    """The model at its best alpha for accuracy, and at its best for log loss."""
    alpha = "multinomialnb__alpha" if hasattr(model, "steps") else "alpha"
    folds = StratifiedKFold(
        min(3, int(np.bincount(np.unique(y, return_inverse=True)[1]).min())), shuffle=True, random_state=seed
    )
    search = GridSearchCV(model, {alpha: ALPHAS}, scoring=["accuracy", "neg_log_loss"], refit=False, cv=folds)
    start = time.perf_counter()
    found = search.fit(X, y).cv_results_
    seconds = time.perf_counter() - start
    best = {
        measure: model.set_params(**{alpha: ALPHAS[int(np.argmax(found[f"mean_test_{measure}"]))]})
        .fit(X, y)
        .predict_proba(X_test)
        for measure in ("accuracy", "neg_log_loss")
    }
    classes = np.unique(y)
    accuracy = accuracy_score(y_test, classes[best["accuracy"].argmax(axis=1)])
    return accuracy, loss(y_test, best["neg_log_loss"], classes), seconds


def loss(y: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> float:
    """Log loss; a probability of zero counts as 1e-15."""
    clipped = np.clip(probabilities, 1e-15, 1.0)
    return float(log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=classes))


def show(title: str, results: list[dict[str, tuple[float, float, float]]]) -> None:
    """Means and standard deviations; p of paired t-tests against ours."""
    print(f"\n{title}, {len(results)} splits")
    header = ("accuracy", "sd", "p", "log loss", "sd", "p", "fit s")
    print(" " * 24 + "".join(f"{column:>10s}" for column in header))
    tables = {name: np.array([result[name] for result in results]) for name in results[0]}
    ours = tables["BayesClassifier(refine=None)"]
    for name, table in tables.items():
        row = []
        for measure in (0, 1):
            values = table[:, measure]
            several = len(values) > 1
            p = ttest_rel(ours[:, measure], values).pvalue if several and table is not ours else np.nan
            row += [
                f"{values.mean():.4f}",
                f"{values.std(ddof=1) if several else 0:.4f}",
                "" if np.isnan(p) else f"{p:.2g}",
            ]
        row.append(f"{table[:, 2].mean():.2f}")
        print(f"{name:24s}" + "".join(f"{cell:>10s}" for cell in row), flush=True)


def small_classes(names, n_splits: int) -> None:
    """Training sets of few documents a class, over several corpora."""
    everything = []
    for per_class in (10, 20, 50, 100):
        pooled: list[dict[str, tuple[float, float, float]]] = []
        for name in names:
            X, y = corpus(name)
            results = [compare(X, y, seed, per_class) for seed in range(n_splits)]
            show(f"{name}, {per_class} documents a class", results)
            pooled += results
        everything += pooled
        show(f"all corpora, {per_class} documents a class", pooled)
    show("all corpora, all sizes", everything)


if __name__ == "__main__":
    main()
