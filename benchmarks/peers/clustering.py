"""Clusterings: agreement with known classes and time."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.mixture import BayesianGaussianMixture
from sklearn.preprocessing import normalize

from benchmarks import clustering
from benchmarks.peers.harness import Case, Column, Contender, clock, known
from benchmarks.peers.topics import hdp
from bursty import DPMFS, Mixture, metrics


def load(short: bool, *, name: str) -> Any:
    """Counts and classes; of a short run, 200 documents."""
    X, y = clustering.load(name)
    if short:
        keep = np.sort(np.random.default_rng(0).choice(len(y), 200, replace=False))
        X, y = X[keep], y[keep]
        X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
    return X, y


def cluster(fit: Callable[[Any, int, int], Any], data: Any, seed: int) -> Mapping[str, float]:
    """As many clusters as classes, for those who need to be told."""
    X, y = data
    began = clock()
    labels = np.asarray(fit(X, len(np.unique(y)), seed))
    seconds = clock() - began
    nmi = metrics.normalized_mutual_information(y, labels)
    return {"nmi": float(nmi), "clusters": float(len(np.unique(labels))), "seconds": seconds}


def lsa(X: Any, seed: int, rank: int = 50) -> Any:
    rank = min(rank, min(X.shape) - 1)
    return normalize(TruncatedSVD(rank, random_state=seed).fit_transform(clustering.tfidf(X)))


def with_stepmix(X: Any, k: int, seed: int) -> Any:
    """A latent class model of the words' presence, of the 300 most common words: stepmix needs dense data."""
    from stepmix.stepmix import StepMix

    common = np.argsort(-np.asarray((X > 0).sum(axis=0)).ravel(), kind="stable")[:300]
    model = StepMix(k, measurement="binary", n_init=3, random_state=seed, progress_bar=0)
    rows = (X[:, common] > 0).astype(float).toarray()
    return model.fit(rows).predict(rows)


def with_hdp(X: Any, k: int, seed: int) -> Any:
    """tomotopy's HDP is a topic model: a document is in the cluster of its largest topic."""
    model = hdp(X, seed)
    labels = np.zeros(X.shape[0], dtype=np.intp)
    rows = np.flatnonzero(np.diff(X.indptr))
    labels[rows] = [int(np.argmax(document.get_topic_dist())) for document in model.docs]
    return labels


def with_gsdmm(X: Any, k: int, seed: int) -> Any:
    """A Gibbs sampler for mixtures of multinomials, made for short texts, with its own settings."""
    with mock.patch("scipy.log", np.log, create=True):  # GPyM_TM 3.0.1 imports what SciPy no longer has
        from GPyM_TM.GSDMM import DMM
    random.seed(seed)  # the package draws from Python's own generator
    rows = np.split(np.repeat(X.indices, X.data), np.cumsum(X.sum(axis=1))[:-1])
    with contextlib.redirect_stdout(io.StringIO()):
        model = DMM([[str(word) for word in row] for row in rows], k)
        model.topicAssigmentInitialise()
        model.inference()
    return np.asarray(model.topicAssignments)


GIVEN: dict[str, tuple[Callable[[Any, int, int], Any], str]] = {
    "Mixture(k)": (lambda X, k, seed: Mixture(k, random_state=seed).fit(X).labels_, "bursty"),
    "KMeans, tf-idf": (
        lambda X, k, seed: KMeans(k, n_init=3, random_state=seed).fit_predict(clustering.tfidf(X)),
        "scikit-learn",
    ),
    "MiniBatchKMeans, tf-idf": (
        lambda X, k, seed: MiniBatchKMeans(k, n_init=3, random_state=seed).fit_predict(clustering.tfidf(X)),
        "scikit-learn",
    ),
    "LSA 100 + KMeans": (clustering.lsa_kmeans, "scikit-learn"),
    "StepMix, 300 words": (with_stepmix, "stepmix"),
}
#: StepMix would see hardly any of the words of a short text.
SHORT = {name: own for name, own in GIVEN.items() if "StepMix" not in name} | {"GSDMM": (with_gsdmm, "GPyM_TM")}
UNKNOWN: dict[str, tuple[Callable[[Any, int, int], Any], str]] = {
    'Mixture("auto")': (lambda X, k, seed: Mixture("auto", random_state=seed).fit(X).labels_, "bursty"),
    "DPMFS()": (lambda X, k, seed: DPMFS(random_state=seed).fit(X).labels_, "bursty"),
    "HDBSCAN on LSA": (
        lambda X, k, seed: HDBSCAN(min_cluster_size=10, copy=True).fit_predict(lsa(X, seed)),
        "scikit-learn",
    ),
    "BayesianGaussianMixture on LSA": (
        lambda X, k, seed: BayesianGaussianMixture(n_components=20, max_iter=300, random_state=seed).fit_predict(
            lsa(X, seed)
        ),
        "scikit-learn",
    ),
    "tomotopy HDP, largest topic": (with_hdp, "tomotopy"),
}
COLUMNS = (
    Column("nmi", "NMI", "high"),
    Column("clusters", "clusters", None),
    Column("seconds", "fit, s", "low", is_time=True),
)


def case(kind: str, name: str, data: str, methods: Any) -> Case:
    given = kind == "clustering"
    return Case(
        name=f"{kind}-{name.rpartition('/')[2].partition('-')[0]}",
        title=f"{'Clusters' if given else 'Unknown number of clusters'}, {data.partition(':')[0]}",
        work="As many clusters as classes." if given else "The number of clusters is not given.",
        data=f"{data}; {known(name, clustering.CHOSEN_ON)}",
        load=partial(load, name=name),
        contenders={label: Contender(partial(cluster, fit), package) for label, (fit, package) in methods.items()},
        columns=COLUMNS,
        rounds=(3, 1),
    )


CLASSIC = "classic400: 400 abstracts of 3 classes"
CASES = [
    case("clustering", "classic400", CLASSIC, GIVEN),
    case("clustering", "zhong15/la12", "la12: 6,279 newspaper articles in 6 classes", GIVEN),
    case("clustering", "20news-18828", "20 newsgroups: 18,828 documents in 20 classes", GIVEN),
    case("clustering", "short/Tweet", "short/Tweet: 2,472 tweets in 89 classes", SHORT),
    case("number", "classic400", CLASSIC, UNKNOWN),
]
