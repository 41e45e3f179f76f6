"""Whether the certainty of a clustering means what it says: how often "80% sure" is right.

A mixture with as many clusters as there are classes is fitted, clusters are matched to classes one to one, and a
document is right if its cluster's class is its own. Documents are sorted by the posterior of their cluster into bins;
where certainties can be trusted, the share of right documents in a bin is the mean certainty there. ECE is the mean
distance of the two. Classes that no cluster stands for make every certainty too high, whatever it is; the last columns
therefore compare with the majority class of each cluster.

    python -m benchmarks.cluster_reliability
    python -m benchmarks.cluster_reliability --temperatures 1 2 3 4   # of the fit's own posterior (1), and calmer ones
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.special import softmax

from bursty import Mixture, datasets
from bursty.inference.posteriors import CALIBRATION
from bursty.metrics import match_clusters

CHOSEN_ON = (
    "classic400",
    *(f"zhong15/{name}" for name in ("k1b", "tr11", "tr23", "hitech", "la1", "NG17-19", "reviews")),
)
REPORTED_ON = tuple(f"zhong15/{name}" for name in ("tr41", "tr45", "la2", "ohscal"))
EDGES = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])

Array = np.ndarray[Any, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="*", default=[*CHOSEN_ON, *REPORTED_ON])
    parser.add_argument("--temperatures", nargs="*", type=float, default=[CALIBRATION])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    pooled: dict[tuple[str, float], list[tuple[Array, ...]]] = {}
    print(f"{'corpus':<18}{'T':>5}{'documents':>11}{'said':>8}{'right':>8}{'ECE':>8}{'majority':>10}{'ECE':>8}")
    for name in arguments.corpora:
        corpus = datasets.load(name)
        corpus = corpus.select((corpus.labels >= 0) & (np.diff(corpus.counts.indptr) > 0))
        model = Mixture(len(np.unique(corpus.labels)), random_state=arguments.seed).fit(corpus)
        with np.errstate(divide="ignore"):
            # Calibration is a power, which is undone here.
            log_posterior = CALIBRATION * np.log(model.predict_proba(corpus))
        one_to_one, majority = judge(corpus.labels, model.labels_)
        kind = "chosen on" if name in CHOSEN_ON else "reported on"
        for temperature in arguments.temperatures:
            said = softmax(log_posterior / temperature, axis=1).max(axis=1)
            values = f"{said.mean():8.3f}{one_to_one.mean():8.3f}{error(said, one_to_one):8.3f}"
            values += f"{majority.mean():10.3f}{error(said, majority):8.3f}"
            print(f"{name.removeprefix('zhong15/'):<18}{temperature:>5g}{len(said):>11,}{values}", flush=True)
            pooled.setdefault((kind, temperature), []).append((said, one_to_one, majority))
    for (kind, temperature), parts in pooled.items():
        said, right, majority = (np.concatenate(column) for column in zip(*parts, strict=True))
        weights = np.concatenate([np.full(len(part[0]), 1.0 / len(part[0])) for part in parts])
        print(f"\n{kind}, T = {temperature:g}, every corpus with the same weight")
        print(f"{'certainty':>16}{'share':>8}{'said':>8}{'right':>8}{'majority':>10}")
        bins = np.clip(np.digitize(said, EDGES) - 1, 0, len(EDGES) - 2)
        for b in np.unique(bins):
            own = weights * (bins == b)
            means = [np.average(values, weights=own) for values in (said, right, majority)]
            share = own.sum() / weights.sum()
            print(f"{EDGES[b]:8.2f} - {EDGES[b + 1]:.2f}{share:>9.3f}{means[0]:8.3f}{means[1]:8.3f}{means[2]:10.3f}")


def judge(classes: Array, clusters: Array) -> tuple[Array, Array]:
    """Whether each document has the class that its cluster is matched to, and the one that most of its cluster have."""
    pairs = match_clusters(classes, clusters)
    matched = np.array([pairs.get(int(k), -1) for k in clusters])
    most = {k: np.bincount(classes[clusters == k]).argmax() for k in np.unique(clusters)}
    return matched == classes, np.array([most[k] for k in clusters]) == classes


def error(said: Array, right: Array) -> float:
    """Expected calibration error."""
    bins = np.clip(np.digitize(said, EDGES) - 1, 0, len(EDGES) - 2)
    parts = [np.mean(bins == b) * abs(said[bins == b].mean() - right[bins == b].mean()) for b in np.unique(bins)]
    return float(sum(parts))


if __name__ == "__main__":
    main()
