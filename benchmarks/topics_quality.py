"""How well topic models predict, and how well their topics read, side by side on the same splits.

Prediction is document completion (`bursty.metrics.document_completion`): the models are fitted to training documents,
and one half of each test document is predicted from the other. The splits are fixed files, ``completion/*.npz`` in the
folder that BURSTY_DATA names; ``--split SEED`` makes another one of the same documents. Topics are judged by their ten
top words: NPMI over the training documents, diversity (share of distinct words), and stability (mean overlap of the
word probabilities of matched topics, between pairs of seeds).

tomotopy's LDA is compared with if it is installed (``pip install tomotopy``); its topics and alpha are given to the
same chains as ours. The perplexities of hca (Buntine and Mishra 2014), with bursts, and of tomotopy were published for
these splits with one chain of 30 samples and with 8 chains of 4.

    python -m benchmarks.topics_quality --corpora nips391 short-TS --topics 20 50 100 --seeds 3
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import table
from bursty import DCMLDA, LDA
from bursty.engines import get_engine
from bursty.inference import completion, heldout
from bursty.metrics import coherence, diversity, document_completion, match_topics
from bursty.samplers import lda as sampler

CORPORA = ("nips391", "20news", "ap", "short-TS")
#: Perplexities at K = 50 on the fixed splits: 1 chain x 30 samples / 8 chains x 4.
PUBLISHED = {
    "nips391": {"tomotopy LDA": "1410/1406", "hca, best variant": "779/774", "goal": "<= 760"},
    "20news": {"tomotopy LDA": "2767/2757", "hca, best variant": "1912/1873", "goal": "<= 1750"},
    "ap": {"tomotopy LDA": "2420/2414", "hca, best variant": "1782/1744", "goal": "<= 1680"},
    "short-TS": {"tomotopy LDA": "530/527", "hca, best variant": "464/434", "goal": "<= 425"},
}
HEADER = ("corpus", "K", "model", "perplexity", "+-", "NPMI", "diversity", "NPMI shown", "div. shown", "stability", "s")


@dataclass(frozen=True)
class Split:
    """Training documents, and the two halves of the test documents."""

    train: Any
    observed: Any
    held: Any


def load(name: str, seed: int | None) -> Split:
    """The fixed split, or another one of the same documents."""
    with np.load(Path(os.environ["BURSTY_DATA"]) / "completion" / f"{name}.npz", allow_pickle=False) as file:
        parts = {key: file[key] for key in file.files}
    split = Split(*(_matrix(parts, part) for part in ("train", "observed", "held")))
    if seed is None:
        return split
    rng = np.random.default_rng(seed)
    counts = sp.csr_array(sp.vstack([split.train, split.observed + split.held]))
    order = rng.permutation(counts.shape[0])
    n_test = split.held.shape[0]
    train, test = counts[np.sort(order[n_test:])], counts[np.sort(order[:n_test])]
    known = np.asarray(train.sum(axis=0)).ravel() > 0
    (documents,) = get_engine("local", 1).place(test[:, known]).map(completion.halves, seed=seed)
    return Split(train[:, known], documents[0].counts, documents[1])


def _matrix(parts: dict[str, Any], name: str) -> Any:
    arrays = parts[f"{name}_data"], parts[f"{name}_indices"], parts[f"{name}_indptr"]
    return sp.csr_array(arrays, shape=(len(arrays[2]) - 1, int(parts["n_words"])))


class Peer:
    """Topics of another package, as `document_completion` and the measures of topics see them."""

    def __init__(self, alpha: Any, components: Any) -> None:
        self.components_, self.alpha_ = components, alpha
        self._topics = sampler.Topics(alpha, np.ascontiguousarray(components.T))

    def log_predictive(self, X: Any, held: Any, random_state: int = 0) -> Any:
        """As for `LDA`."""
        documents = get_engine("local", None).place(X)
        chains = heldout.ShortChains()
        parts = documents.split(held)
        return documents.collect(completion.log_predictive, parts, model=self._topics, seed=random_state, chains=chains)


def fit_tomotopy(train: Any, n_topics: int, seed: int) -> Peer:
    """tomotopy's LDA with its own settings, which learn alpha, for 1000 sweeps."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, seed=seed)
    for row in range(train.shape[0]):
        cells = slice(train.indptr[row], train.indptr[row + 1])
        if cells.stop > cells.start:
            model.add_doc([str(word) for word in np.repeat(train.indices[cells], train.data[cells])])
    model.train(1000, workers=1)
    components = np.zeros((n_topics, train.shape[1]))
    own = [int(word) for word in model.used_vocabs]
    for k in range(n_topics):
        components[k, own] = model.get_topic_word_dist(k)
    components = np.maximum(components, 1e-12)
    return Peer(np.asarray(model.alpha, dtype=np.float64), components / components.sum(axis=1, keepdims=True))


def contenders() -> dict[str, Callable[[Any, int, int], Any]]:
    """What is compared: name, and a function that fits it."""
    found: dict[str, Callable[[Any, int, int], Any]] = {
        "LDA": lambda train, k, seed: LDA(k, random_state=seed).fit(train),
        "DCMLDA": lambda train, k, seed: DCMLDA(k, random_state=seed).fit(train),
    }
    if importlib.util.find_spec("tomotopy"):
        found["tomotopy LDA"] = fit_tomotopy
    return found


def measure(split: Split, fit: Callable[[Any, int, int], Any], n_topics: int, seeds: range) -> tuple[float, ...]:
    """Means over the seeds of what the table shows."""
    rows, models = [], []
    for seed in seeds:
        began = time.perf_counter()
        model = fit(split.train, n_topics, seed)
        seconds = time.perf_counter() - began
        models.append(model)
        perplexity, error = document_completion(model, split.observed, split.held, random_state=0, return_error=True)
        shown = model.word_scores() if hasattr(model, "word_scores") else model.components_
        quality = [(float(np.mean(coherence(scores, split.train))), diversity(scores)) for scores in (model, shown)]
        rows.append((perplexity, error, *quality[0], *quality[1], seconds))
    overlaps = [float(match_topics(a, b)[1].mean()) for a, b in itertools.combinations(models, 2)]
    means = [float(value) for value in np.mean(rows, axis=0)]
    return *means[:-1], float(np.mean(overlaps)) if overlaps else float("nan"), means[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=CORPORA)
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 50, 100])
    parser.add_argument("--seeds", type=int, default=3, help="number of fits of each model")
    parser.add_argument("--split", type=int, help="seed of another split of the same documents")
    parser.add_argument("--models", nargs="+", help="only these")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    chosen = {name: fit for name, fit in contenders().items() if not args.models or name in args.models}
    for name in args.corpora:
        split = load(name, args.split)
        rows: list[tuple[Any, ...]] = []
        for n_topics in args.topics:
            for model, fit in chosen.items():
                values = measure(split, fit, n_topics, range(args.seeds))
                rows.append((name, n_topics, model, f"{values[0]:.1f}", f"{values[1]:.1f}", *values[2:]))
        if args.split is None:
            rows += [(name, 50, f"{peer} (published)", value, *[""] * 7) for peer, value in PUBLISHED[name].items()]
        title = f"{name}: {split.train.shape[0]} training and {split.held.shape[0]} test documents"
        table(title, rows, HEADER)


if __name__ == "__main__":
    main()
