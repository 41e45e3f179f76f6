"""The industry sector table of Madsen et al. (2005), on a stand-in.

The paper's collection (9,555 documents in 104 classes) could not be had. These are 8,817 stemmed company pages in 12
top-level classes: the published values are shown for orientation, and ours cannot be compared with them. What can be
compared is the order of the methods. Halves for training and testing, mean and standard deviation over random splits.

    python -m benchmarks.classify_industry --splits 10
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp
from scipy.stats import ttest_rel
from sklearn.model_selection import train_test_split

from bursty import datasets
from bursty.models.classify import BayesClassifier

TABLE_1 = (
    ("M", 1.0, 0.600),
    ("L-M", 1.0, 0.654),
    ("M", 0.01, 0.783),
    ("DCM", 0.01, 0.806),
    ("L-M", 0.01, 0.812),
    ("TW-L-M", 1.0, 0.819),
    ("TW-L-M", 0.01, 0.868),
    ("C-M", 1.0, 0.889),
    ("C-M", 0.01, 0.889),
    ("C-L-M", 0.01, 0.899),
    ("C-L-M", 1.0, 0.912),
    ("C-DCM", 0.01, 0.917),
    ("C-TW-L-M", 0.01, 0.919),
    ("C-TW-L-M", 1.0, 0.921),
    ("EDCM", 0.01, 0.798),
    ("C-EDCM", 0.01, None),
    ("BayesClassifier()", None, None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--drop", type=int, default=0, help="leave out so many of the most common words")
    arguments = parser.parse_args()
    corpus = datasets.load("industry-sector-12", min_df=2, drop_most_common=arguments.drop)
    X, y = sp.csr_array(corpus.counts), np.asarray(corpus.labels)
    X, y = X[np.diff(X.indptr) > 0], y[np.diff(X.indptr) > 0]
    print(
        f"industry sector, 12-class stand-in: {X.shape[0]:,} documents, {X.shape[1]:,} words; {arguments.splits} splits"
    )
    results: dict[tuple[str, float | None], list[float]] = {(name, epsilon): [] for name, epsilon, _ in TABLE_1}
    for seed in range(arguments.splits):
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)
        for (name, epsilon), values in results.items():
            model = BayesClassifier() if epsilon is None else BayesClassifier.from_name(name, smoothing=epsilon)
            values.append(float(model.fit(X[train], y[train]).score(X[test], y[test])))
    print(f"{'method':20s}{'smoothing':>10s}{'104 classes, published':>24s}{'12 classes, ours':>18s}{'sd':>8s}")
    for name, epsilon, published in TABLE_1:
        values = np.array(results[name, epsilon])
        sd = values.std(ddof=1) if len(values) > 1 else 0.0
        shown = "" if published is None else f"{published:.3f}"
        print(f"{name:20s}{'' if epsilon is None else epsilon:>10}{shown:>24s}{values.mean():18.4f}{sd:8.4f}")
    if arguments.splits > 1:
        t, p = ttest_rel(results["DCM", 0.01], results["M", 0.01])
        print(f"DCM against M, smoothing 0.01: paired t = {t:.2f}, p = {p:.2g}")


if __name__ == "__main__":
    main()
