"""Where burstiness pays: DCM beside multinomial components, everything else equal.

Perplexity of documents held out under mixtures; accuracy, log loss and calibration of Bayes' rule alone
(``refine=None``), with few documents per class and with all, for short and for long documents.

    python -m benchmarks.bursts_pay                         corpora that take minutes
    python -m benchmarks.bursts_pay --jobs 4 --out runs.jsonl --corpora classic400 nips391

Documents are split as by `benchmarks.classification`. "Long" are the longest third of the test documents, "short" the
shortest third. "As it is" is a classifier without calibration.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.classification import draw, load, measured
from benchmarks.clustering import CHOSEN_ON, SMALL
from benchmarks.runs import Runs, spread
from bursty import BayesClassifier, Mixture

FAMILIES = ("dcm", "multinomial")
KEY, MEASURES = ("corpus", "family", "what", "seed"), ("value",)
MOST = 3_000


@dataclass(frozen=True)
class Task:
    """All runs of one corpus and one seed."""

    corpus: str
    seed: int
    out: Path | None


def do(task: Task) -> dict[tuple[str, ...], tuple[float, ...]]:
    """The runs of a task, unless they are in the file."""
    runs = Runs(task.out, KEY, MEASURES)
    missing = [f for f in FAMILIES if not any(key[:2] == (task.corpus, f) and key[3] == str(task.seed) for key in runs)]
    if missing:
        warnings.simplefilter("ignore")
        X, y = load(task.corpus, MOST)
        with threadpool_limits(1):
            for family in missing:
                for what, value in compared(X, y, family, task.seed).items():
                    runs.add((task.corpus, family, what, str(task.seed)), [value])
    return {key: value for key, value in runs.items() if key[0] == task.corpus and key[3] == str(task.seed)}


def compared(X: sp.csr_array, y: np.ndarray, family: str, seed: int) -> dict[str, float]:
    """All measures of one family on one split."""
    train, test = draw(y, "all", seed)
    mixture = Mixture(int(y.max()) + 1, family=family, random_state=seed, n_jobs=1).fit(X[train])
    found = {"perplexity": float(mixture.perplexity(X[test]))}
    lengths = np.asarray(X[test].sum(axis=1)).ravel()
    low, high = np.quantile(lengths, [1 / 3, 2 / 3])
    parts: dict[str, Any] = {"": slice(None), ", short documents": lengths <= low, ", long documents": lengths >= high}
    for size in ("10", "all"):
        rows = draw(y, size, seed)[0]
        proba = predicted(X, y, rows, test, family)
        for part, chosen in parts.items():
            accuracy, loss, _, _ = measured(y[test][chosen], proba[chosen], proba[chosen], 0.0)
            found |= {f"accuracy, {size}{part}": accuracy, f"log loss, {size}{part}": loss}
        proba = predicted(X, y, rows, test, family, calibrate=None)
        found[f"calibration error as it is, {size}"] = measured(y[test], proba, proba, 0.0)[2]
    return found


def predicted(
    X: sp.csr_array, y: np.ndarray, train: np.ndarray, test: np.ndarray, family: str, **options: Any
) -> np.ndarray:
    """Probabilities of the classes of the test documents."""
    seen = np.bincount(X[train].indices, minlength=X.shape[1]) > 0
    rows = sp.csr_array(X[:, seen])
    return (
        BayesClassifier(family=family, refine=None, n_jobs=1, **options)
        .fit(rows[train], y[train])
        .predict_proba(rows[test])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=list(SMALL))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one corpus and seed at a time")
    parser.add_argument("--out", type=Path, help="a file of JSON lines, to go on from and to add to")
    arguments = parser.parse_args()
    runs = Runs(arguments.out, KEY, MEASURES)
    tasks = [Task(corpus, seed, arguments.out) for corpus in arguments.corpora for seed in range(arguments.seeds)]
    runs |= spread(do, tasks, arguments.jobs)
    for title, chosen in (("chosen on", True), ("not chosen on", False)):
        corpora = [corpus for corpus in arguments.corpora if (corpus in CHOSEN_ON) == chosen]
        if corpora:
            show(f"corpora {title}: {', '.join(corpora)}", runs, corpora)


def show(title: str, runs: Runs, corpora: list[str]) -> None:
    """Means over corpora, and on how many of them the DCM is ahead."""
    print(f"\n{title}\n\n| | DCM | multinomial | DCM ahead |\n|---|---|---|---|")
    for what in dict.fromkeys(key[2] for key in runs):
        dcm, other = (np.array([runs.mean("value", corpus, f, what) for corpus in corpora]) for f in FAMILIES)
        ahead = np.sum(dcm > other if what.startswith("accuracy") else dcm < other)
        print(f"| {what} | {dcm.mean():.4g} | {other.mean():.4g} | {ahead} of {len(corpora)} |")


if __name__ == "__main__":
    main()
