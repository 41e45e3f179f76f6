"""How well topic models predict, and how well their topics read, side by side on the same splits.

Prediction is document completion (`bursty.metrics.document_completion`): the models are fitted to training documents,
and one half of each test document is predicted from the other. The splits are fixed files, ``completion/*.npz`` in the
folder that BURSTY_DATA names; ``--split SEED`` makes another one of the same documents. Settings are chosen on other
collections, and two more are only reported on (tr45 and la2): at most 2,000 documents of each, a quarter of them for
the test, ``--corpora k1b la1 --split 0``.

Topics are judged by their ten top words: NPMI over the training documents, diversity (share of distinct words), and
stability (mean overlap of the word probabilities of matched topics, between pairs of seeds).

tomotopy's LDA is compared with if it is installed (``make bench-topics`` does that); its topics and alpha are given to
the same chains as ours. The perplexities of hca (Buntine and Mishra 2014), with bursts, and of tomotopy were published
for these splits with one chain of 30 samples and with 8 chains of 4.

    python -m benchmarks.topics_quality --corpora nips391 short-TS --topics 20 50 100 --seeds 3 --out FILE.json

Results are written to ``--out`` row by row, and what is there already is not fitted again: with the file of the page,
``benchmarks/results/topics_quality.json``, its tables are printed. "settled" counts the fits whose log-likelihood no
longer grew: by the stopping rule of the fit for ours; for tomotopy, a relative gain of at most 0.001 in the last 100
sweeps.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import table
from bursty import DCMLDA, LDA, datasets
from bursty.engines import get_engine
from bursty.inference import completion, heldout
from bursty.metrics import coherence, diversity, document_completion, match_topics
from bursty.samplers import lda as sampler

CORPORA = ("nips391", "20news", "ap", "short-TS")
#: Collections to choose settings on, by their names in `bursty.datasets`.
CHOOSING = {"classic400": "classic400"} | {name: f"zhong15/{name}" for name in ("k1b", "hitech", "la1", "reviews")}
#: Collections that nothing was chosen on.
REPORTING = {name: f"zhong15/{name}" for name in ("tr45", "la2")}
_AT_MOST = 2000
#: What is compared unless `--models` says otherwise.
MODELS = ("DCMLDA, 60 drawn", "DCMLDA, 0 drawn", "tomotopy LDA")
#: Perplexities at K = 50 on the fixed splits: 1 chain x 30 samples / 8 chains x 4.
PUBLISHED = {
    "nips391": {
        "tomotopy LDA": "1410/1406",
        "hca, best variant": "779/774",
        "DCMLDA of 0.1": "803/775",
        "goal": "<= 760",
    },
    "20news": {
        "tomotopy LDA": "2767/2757",
        "hca, best variant": "1912/1873",
        "DCMLDA of 0.1": "1908/1790",
        "goal": "<= 1750",
    },
    "ap": {
        "tomotopy LDA": "2420/2414",
        "hca, best variant": "1782/1744",
        "DCMLDA of 0.1": "1845/1722",
        "goal": "<= 1680",
    },
    "short-TS": {
        "tomotopy LDA": "530/527",
        "hca, best variant": "464/434",
        "DCMLDA of 0.1": "519/459",
        "goal": "<= 425",
    },
}
#: What is measured of a fit, as the table calls it.
MEASURES = {
    "perplexity": "perplexity",
    "error": "+-",
    "npmi": "NPMI",
    "diversity": "diversity",
    "npmi_shown": "NPMI shown",
    "diversity_shown": "div. shown",
    "seconds": "s",
}
HEADER = ("corpus", "K", "model", *MEASURES.values(), "topics", "stability", "settled")


@dataclass(frozen=True)
class Split:
    """Training documents, and the two halves of the test documents."""

    train: Any
    observed: Any
    held: Any


def load(name: str, seed: int | None) -> Split:
    """The fixed split, or another one of the same documents, or of a collection to choose or report on."""
    if source := (CHOOSING | REPORTING).get(name):
        return _split(datasets.load(source).counts, 0.25, seed or 0)
    with np.load(Path(os.environ["BURSTY_DATA"]) / "completion" / f"{name}.npz", allow_pickle=False) as file:
        parts = {key: file[key] for key in file.files}
    split = Split(*(_matrix(parts, part) for part in ("train", "observed", "held")))
    if seed is None:
        return split
    counts = sp.csr_array(sp.vstack([split.train, split.observed + split.held]))
    return _split(counts, split.held.shape[0] / counts.shape[0], seed, counts.shape[0])


def _split(counts: Any, share: float, seed: int, at_most: int = _AT_MOST) -> Split:
    """A split of documents chosen at random, with this share of them for the test."""
    order = np.random.default_rng(seed).permutation(counts.shape[0])[:at_most]
    n_test = round(share * len(order))
    train, test = counts[np.sort(order[n_test:])], counts[np.sort(order[:n_test])]
    known = np.asarray(train.sum(axis=0)).ravel() > 0
    (documents,) = get_engine("local", 1).place(test[:, known]).map(completion.halves, seed=seed)
    return Split(train[:, known], documents[0].counts, documents[1])


def _matrix(parts: dict[str, Any], name: str) -> Any:
    arrays = parts[f"{name}_data"], parts[f"{name}_indices"], parts[f"{name}_indptr"]
    return sp.csr_array(arrays, shape=(len(arrays[2]) - 1, int(parts["n_words"])))


class Peer:
    """Topics of another package, as `document_completion` and the measures of topics see them."""

    def __init__(self, alpha: Any, components: Any, converged: bool | None = None) -> None:
        self.components_, self.alpha_, self.converged_ = components, alpha, converged
        self._topics = sampler.Topics(alpha, np.ascontiguousarray(components.T))

    def log_predictive(self, X: Any, held: Any, random_state: int = 0) -> Any:
        """As for `LDA`."""
        documents = get_engine("local", None).place(X)
        chains = heldout.ShortChains()
        parts = documents.split(held)
        return documents.collect(completion.log_predictive, parts, model=self._topics, seed=random_state, chains=chains)


def fit_tomotopy(train: Any, n_topics: int, seed: int, most: int = 1000) -> Peer:
    """tomotopy's LDA with its own settings, which learn alpha: 1000 sweeps, and up to ``most`` until it has settled."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, seed=seed)
    for row in range(train.shape[0]):
        cells = slice(train.indptr[row], train.indptr[row + 1])
        if cells.stop > cells.start:
            model.add_doc([str(word) for word in np.repeat(train.indices[cells], train.data[cells])])
    model.train(900, workers=1)
    settled = False
    while not settled and model.global_step < most:
        before = model.ll_per_word
        model.train(100, workers=1)
        settled = bool(model.ll_per_word - before <= 1e-3 * abs(before))
    components = np.zeros((n_topics, train.shape[1]))
    own = [int(word) for word in model.used_vocabs]
    for k in range(n_topics):
        components[k, own] = model.get_topic_word_dist(k)
    components = np.maximum(components, 1e-12)
    return Peer(np.asarray(model.alpha, dtype=np.float64), components / components.sum(axis=1, keepdims=True), settled)


def _fit_drawn(n_drawn: int, train: Any, n_topics: int, seed: int) -> Any:
    return DCMLDA(n_topics, n_drawn=n_drawn, random_state=seed).fit(train)


def contenders() -> dict[str, Callable[[Any, int, int], Any]]:
    """What is compared: name, and a function that fits it."""
    found: dict[str, Callable[[Any, int, int], Any]] = {
        "LDA": lambda train, k, seed: LDA(k, random_state=seed).fit(train),
        "DCMLDA": lambda train, k, seed: DCMLDA(k, random_state=seed).fit(train),
    }
    for n in (0, 30, 60, 100):
        found[f"DCMLDA, {n} drawn"] = partial(_fit_drawn, n)
    if importlib.util.find_spec("tomotopy"):
        found["tomotopy LDA"] = partial(fit_tomotopy, most=2000)
    return found


def measure(split: Split, fit: Callable[[Any, int, int], Any], n_topics: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """A fitted model, and what the table shows of it; seconds are those of the processor."""
    began = time.process_time()
    model = fit(split.train, n_topics, seed)
    seconds = time.process_time() - began
    perplexity, error = document_completion(model, split.observed, split.held, random_state=0, return_error=True)
    shown = model.word_scores() if hasattr(model, "word_scores") else model.components_
    npmi, npmi_shown = (float(np.mean(coherence(scores, split.train))) for scores in (model, shown))
    values = perplexity, error, npmi, diversity(model), npmi_shown, diversity(shown), seconds
    found = dict(zip(MEASURES, map(float, values), strict=True))
    return model, {**found, "topics": len(model.alpha_), "settled": bool(model.converged_)}


class Results:
    """Everything measured so far, in a file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = json.loads(path.read_text()) if path and path.exists() else []

    def of(self, key: dict[str, Any]) -> list[dict[str, Any]]:
        """What was measured of a corpus, number of topics and model."""
        return [row for row in self.rows if key.items() <= row.items()]

    def put(self, key: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        """Keep these in the place of what was measured of the same."""
        self.rows = [row for row in self.rows if not key.items() <= row.items()] + rows
        if self.path:
            self.path.write_text("[\n" + ",\n".join(json.dumps(row) for row in self.rows) + "\n]\n")


def fill(
    results: Results, key: dict[str, Any], split: Split, fit: Callable[[Any, int, int], Any], seeds: int, jobs: int
) -> None:
    """Fit the seeds that are missing. Stability needs the topics of all seeds at once, so all or none are fitted."""
    if len(results.of(key)) >= seeds:
        return
    # Processes share the cores.
    found = Parallel(n_jobs=jobs)(delayed(measure)(split, fit, key["K"], seed) for seed in range(seeds))
    models, measured = zip(*found, strict=True)
    rows = []
    for seed, row in enumerate(measured):
        others = [float(match_topics(models[seed], other)[1].mean()) for other in models[seed + 1 :]]
        rows.append({**key, "seed": seed, **row, "overlaps": others})
    results.put(key, rows)


def line(key: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    """A row of the table: means over the seeds."""
    means = [float(np.mean([row[name] for row in rows])) for name in MEASURES]
    overlaps = [value for row in rows for value in row["overlaps"]]
    stability = float(np.mean(overlaps)) if overlaps else float("nan")
    topics = "-".join(str(n) for n in sorted({row["topics"] for row in rows}))
    settled = f"{sum(row['settled'] for row in rows)} of {len(rows)}"
    perplexity, error = (f"{value:.1f}" for value in means[:2])
    return key["corpus"], key["K"], key["model"], perplexity, error, *means[2:], topics, stability, settled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=(*CORPORA, *CHOOSING, *REPORTING))
    parser.add_argument("--topics", nargs="+", type=_number, default=[20, 50, 100], help='numbers of topics, or "auto"')
    parser.add_argument("--seeds", type=int, default=3, help="number of fits of each model")
    parser.add_argument("--jobs", type=int, default=1, help="number of seeds that are fitted at once")
    parser.add_argument("--split", type=int, help="seed of another split of the same documents")
    known = contenders()
    chosen = [name for name in MODELS if name in known]
    parser.add_argument(
        "--models", nargs="+", default=chosen, choices=list(known), metavar="MODEL", help="what to compare"
    )
    parser.add_argument("--out", type=Path, help="JSON file of the results")
    args = parser.parse_args()
    if "auto" in args.topics and "tomotopy LDA" in args.models:
        parser.error("tomotopy's LDA needs a number of topics: name the --models")
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = Results(args.out)
    for name in args.corpora:
        split = load(name, args.split)
        lines: list[tuple[Any, ...]] = []
        for n_topics in args.topics:
            for model in args.models:
                key = {"corpus": name, "split": args.split, "K": n_topics, "model": model}
                fill(results, key, split, known[model], args.seeds, args.jobs)
                lines.append(line(key, results.of(key)))
        if name in PUBLISHED and args.split is None:
            empty = [""] * (len(HEADER) - 4)
            lines += [(name, 50, f"{peer} (published)", value, *empty) for peer, value in PUBLISHED[name].items()]
        title = f"{name}: {split.train.shape[0]} training and {split.held.shape[0]} test documents"
        table(title, lines, HEADER)


def _number(text: str) -> int | str:
    return text if text == "auto" else int(text)


if __name__ == "__main__":
    main()
