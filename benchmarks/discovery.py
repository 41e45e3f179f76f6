"""What `DPMFS` finds where its chains have settled: clusters, words, NMI with known classes, R-hat; over three seeds.

Settings of the library were chosen on the first group of collections only. The second group was not looked at for that.

    python -m benchmarks.discovery
    python -m benchmarks.discovery --corpora classic400 --seeds 1
    python -m benchmarks.discovery --results runs.csv            go on from the runs in this file, and add to it
    python -m benchmarks.discovery --apart 300 --seeds 1         how far apart four chains are after so many sweeps
    python -m benchmarks.discovery --apart 300 --family multinomial

Collections of newsgroups are those of `bursty papers` (yu2010); their draws 100 and above are for choosing, those of
the paper's tables (0 to 9) for reporting. Of larger collections, 1,000 random documents are taken.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from benchmarks.clustering import load
from benchmarks.timing import table
from bursty import DPMFS, metrics
from bursty.papers import yu2010

NEWS = tuple(yu2010.GROUPS)
CHOSEN_ON = ("classic400", *(f"{name}:100" for name in NEWS), "zhong15/tr11", "zhong15/tr23")
REPORTED = (*(f"{name}:0" for name in NEWS), "zhong15/tr41", "zhong15/tr45", "nips391", "zhong15/la2")
LARGEST = 1_000
FIELDS = (
    "corpus", "seed", "classes", "clusters", "of 5 or more", "NMI", "words", "sweeps", "settled", "r_hat", "overlap",
    "s",
)  # fmt: skip


def collection(name: str) -> tuple[sp.csr_array, np.ndarray]:
    """Counts and classes."""
    group, _, draw = name.partition(":")
    if draw:
        corpus = yu2010.collection(group, int(draw))
        return sp.csr_array(corpus.counts), np.asarray(corpus.labels)
    X, y = load(name)
    if X.shape[0] > LARGEST:
        rows = np.sort(np.random.default_rng(0).choice(X.shape[0], LARGEST, replace=False))
        X, y = sp.csr_array(X[rows]), y[rows]
    return X, y


def measure(name: str, seed: int, **options: Any) -> dict[str, Any]:
    X, y = collection(name)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DPMFS(random_state=seed, **options).fit(X)
    found = (
        name, seed, len(np.unique(y)), model.n_clusters_, int(np.sum(model.sizes_ >= 5)),
        round(metrics.normalized_mutual_information(y, model.labels_), 4), int(model.discriminative_.sum()),
        model.n_iter_, int(model.converged_), round(max(f["r_hat"] for f in model.diagnostics_.values()), 3),
        round(float(model.chain_overlap_.min()), 3), round(time.process_time() - begin, 1),
    )  # fmt: skip
    return dict(zip(FIELDS, found, strict=True))


def apart(name: str, seed: int, n_iter: int, **options: Any) -> None:
    """Four chains of a given length: log joint probability below the best, clusters, NMI, R-hat of the second half.

    Numbers of clusters are means, of all clusters and of those of five documents or more. The overlap is that of the
    two chains that differ most: of the pairs of documents that either puts together, the share for which both do.
    """
    X, y = collection(name)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DPMFS(n_iter=n_iter, n_chains=4, random_state=seed, **options).fit(X)
    half = n_iter // 2
    means = model.trace_["log_joint"][:, half:].mean(axis=1)
    # Chains keep as many partitions each; the last one of each is the last of its quarter.
    draws = model.samples_.reshape(4, -1, X.shape[0])
    last = draws[:, -1]
    larger = [np.mean([np.count_nonzero(np.bincount(labels) >= 5) for labels in chain]) for chain in draws]
    parts = {
        "below the best": [f"{means.max() - mean:.0f}" for mean in means],
        "clusters": [f"{k:.1f}" for k in model.trace_["n_clusters"][:, half:].mean(axis=1)],
        "of 5 or more": [f"{k:.1f}" for k in larger],
        "overlap": [f"{model.chain_overlap_.min():.3f}"],
        "NMI": [f"{metrics.normalized_mutual_information(y, labels):.3f}" for labels in last],
        "R-hat": [f"{what} {facts['r_hat']:.2f}" for what, facts in model.diagnostics_.items()],
        "splits and merges accepted": [f"{model.trace_['split_changes'][:, half:].mean():.2%}"],
        "seconds": [f"{time.process_time() - begin:.0f}"],
    }
    said = "; ".join(f"{what} {', '.join(values)}" for what, values in parts.items())
    print(f"{name}, seed {seed}: {said}", flush=True)


def show(rows: list[dict[str, Any]]) -> None:
    """Means over the seeds, the two groups of collections apart."""
    shown = FIELDS[2:]
    for title, names in (("Chosen on", CHOSEN_ON), ("Not chosen on", REPORTED)):
        lines: list[tuple[Any, ...]] = []
        for name in names:
            runs = [row for row in rows if row["corpus"] == name]
            if runs:
                lines.append((name, len(runs), *(float(np.mean([float(run[f]) for run in runs])) for f in shown)))
        if lines:
            table(f"{title}; means over seeds", lines, ("corpus", "runs", *shown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--corpora", nargs="+", default=[*CHOSEN_ON, *REPORTED])
    parser.add_argument("--max-iter", type=int, help="of DPMFS, in the place of its default")
    parser.add_argument("--results", type=Path, help="a CSV file of runs, to go on from and to add to")
    parser.add_argument("--family", help="of the components, in the place of the default")
    parser.add_argument("--apart", type=int, metavar="SWEEPS", help="compare four chains of this length instead")
    arguments = parser.parse_args()
    chosen = {"max_iter": arguments.max_iter, "family": arguments.family}
    options = {name: value for name, value in chosen.items() if value is not None}
    if arguments.apart is not None:
        for seed in range(arguments.seeds):
            for name in arguments.corpora:
                apart(name, seed, arguments.apart, **options)
        return
    rows: list[dict[str, Any]] = []
    if arguments.results is not None and arguments.results.exists():
        with arguments.results.open() as file:
            rows = list(csv.DictReader(file))
    done = {(row["corpus"], int(row["seed"])) for row in rows}
    for seed in range(arguments.seeds):
        for name in arguments.corpora:
            if (name, seed) in done:
                continue
            rows.append(measure(name, seed, **options))
            print(rows[-1], flush=True)
            if arguments.results is not None:
                with arguments.results.open("w", newline="") as file:
                    writer = csv.DictWriter(file, FIELDS)
                    writer.writeheader()
                    writer.writerows(rows)
    show(rows)


if __name__ == "__main__":
    main()
