"""Measurements common to several papers: data by name, one clustering, one classifier on one split."""

from __future__ import annotations

import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bursty import BayesClassifier, Corpus, Mixture, datasets, metrics
from bursty.models.mixture_settings import PAPERS
from bursty.papers.entry import Trial, Values

#: The settings of [Elkan2006] except the family: a perturbed one-component fit, annealing, plain maximum likelihood.
ELKAN: dict[str, Any] = {name: value for name, value in PAPERS["elkan2006"].items() if name != "family"}
#: Neither the size of the perturbation nor the rule of convergence is published, and plain EM is sensitive to both.
LESS_NOISE = {**ELKAN, "perturbation": 0.01, "tol": 1e-8, "max_iter": 500}
NO_ANNEALING = {"temperatures": [1]}

# Maximum number of clusters for which a confusion matrix is stored.
_FEW = 3


@lru_cache(maxsize=8)
def load(name: str, **options: Any) -> Corpus:
    """A collection without its empty documents; the most recent ones are cached in memory."""
    if name not in datasets.names():
        raise datasets.DatasetUnavailable(
            f"the corpus {name!r} (of Zhong and Ghosh 2005, once distributed with the program CLUTO) is not available: "
            "bursty has no loader for it. Read your copy with bursty.read_corpus and cluster it with bursty.Mixture"
        )
    return datasets.load(name, **options).drop_empty()


def labels_of(corpus: Corpus) -> Any:
    """The labels, which the collections of the papers all have."""
    if corpus.labels is None:
        raise ValueError(f"{corpus!r} has no labels")
    return corpus.labels


def cluster(run: Trial, data: str, n_components: int | None = None, normalized: bool = False, **options: Any) -> Values:
    """Cluster a collection, by default into as many clusters as classes. Options are those of `Mixture`."""
    # The published perplexities of la12 were not measured with the published number of words.
    corpus = load(data, **({"filter": "stated"} if data == "zhong15/la12" else {}))
    return cluster_corpus(run, corpus, n_components, normalized, **options)


def cluster_corpus(
    run: Trial, corpus: Corpus, n_components: int | None = None, normalized: bool = False, **options: Any
) -> Values:
    """Mutual information with the labels, perplexity, seconds and, for few clusters, the confusion matrix."""
    truth = labels_of(corpus)
    k = int(truth.max()) + 1 if n_components is None else n_components
    model = Mixture(k, random_state=run.seed, n_jobs=run.n_jobs, **options)
    start = time.perf_counter()
    with warnings.catch_warnings():
        # A cluster that the paper's annealing loses is part of its result, and no run that has not converged.
        warnings.filterwarnings("ignore", r"\d+ of \d+ clusters have no documents", ConvergenceWarning)
        found = model.fit_predict(corpus)
    values: Values = {
        "seconds": time.perf_counter() - start,
        "MI": metrics.mutual_information(truth, found),
        "NMI": metrics.normalized_mutual_information(truth, found),
        "log-likelihood": model.lower_bound_,
    }
    if options.get("family") != "vonmisesfisher":
        values["perplexity"] = model.perplexity(corpus)
    if normalized:
        values["normalised perplexity"] = model.perplexity(corpus, normalized=True)
    if k <= _FEW:
        table = np.zeros((int(truth.max()) + 1, k), dtype=np.int64)
        np.add.at(table, (truth, found), 1)
        values["confusion"] = table.tolist()
    return values


def classify(
    run: Trial,
    data: str,
    method: str | None,
    test_size: float,
    smoothing: float | None = None,
    options: dict[str, Any] | None = None,
) -> Values:
    """Accuracy of a method on one random split; None is the default classifier without its refinement."""
    corpus = load(data, **(options or {}))
    train, test = corpus.split(test_size, stratify=True, random_state=run.seed)
    if method is None:
        model = BayesClassifier(refine=None, n_jobs=run.n_jobs)
    elif method == "Dirichlet":
        model = BayesClassifier("dirichlet", class_prior="uniform", calibrate=None, n_jobs=run.n_jobs)
    else:
        given = {} if smoothing is None else {"smoothing": smoothing}
        model = BayesClassifier.from_name(method, **given, n_jobs=run.n_jobs)
    start = time.perf_counter()
    model.fit(train, train.labels)
    return {"seconds": time.perf_counter() - start, "accuracy": float(model.score(test, test.labels))}
