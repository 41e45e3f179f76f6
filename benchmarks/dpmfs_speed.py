"""Processor seconds of DPMFS: the paper's 3,000 iterations on classic400, and how a sweep grows with the corpus.

``python -m benchmarks.dpmfs_speed``. With ``--cve``, instead: the curve over descriptions of vulnerabilities, and the
whole fit of 20,000 of them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import table
from bursty import DPMFS, datasets

SWEEPS = 20


def seconds(X: Any, **options: Any) -> tuple[float, Any]:
    model = DPMFS(random_state=0, n_jobs=1, **options)
    begin = time.process_time()
    model.fit(X)
    return time.process_time() - begin, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cve", action="store_true")
    parser.add_argument("--sweeps", type=int, default=500, help="sweeps of the whole cve fit")
    args = parser.parse_args()
    if args.cve:
        cve(args.sweeps)
        return
    corpus = datasets.load("classic400")
    for sampler in ("paper", "collapsed"):
        seconds(corpus, sampler=sampler, n_iter=3)
    took, model = seconds(corpus, sampler="paper")
    rows: list[tuple[Any, ...]] = [("paper", "multinomial", 3000, took, model.n_clusters_)]
    for family in ("multinomial", "dcm"):
        took, model = seconds(corpus, family=family, n_iter=500)
        rows.append(("collapsed", family, 500, took, model.n_clusters_))
    table("classic400, one core", rows, ("sampler", "family", "sweeps", "seconds", "clusters"))

    rows = []
    for width in (0, 50_000, 500_000):
        X = sp.hstack([corpus.counts, sp.csr_array((400, width), dtype=np.int32)]).tocsr()
        took, _ = seconds(X, sampler="paper", n_iter=300)
        rows.append((X.shape[1], X.nnz, took / 300 * 1e3))
    table("Words that no document has cost nothing", rows, ("words", "non-zeros", "ms a sweep"))

    rows = []
    for copies in (8, 16, 32):
        X = sp.vstack([corpus.counts] * copies).tocsr()
        for sampler in ("paper", "collapsed"):
            took, _ = seconds(X, sampler=sampler, n_iter=SWEEPS, max_components=40)
            rows.append((sampler, X.shape[0], X.nnz, took / SWEEPS * 1e3))
    table("Time of a sweep by non-zeros", rows, ("sampler", "documents", "non-zeros", "ms a sweep"))


def cve(sweeps: int) -> None:
    everything = datasets.load("cve", max_documents=20_000, stop_words="english", min_df=5)
    seconds(everything.select(np.arange(500)), n_iter=3)
    rows: list[tuple[Any, ...]] = []
    for n in (1_250, 2_500, 5_000, 10_000, 20_000):
        part = everything.select(np.arange(n))
        took, model = seconds(part, n_iter=SWEEPS)
        rows.append((n, part.counts.nnz, took / SWEEPS, float(model.trace_["n_clusters"].mean())))
    table(f"cve, collapsed sampler, the first {SWEEPS} sweeps, one core", rows,
          ("documents", "non-zeros", "s a sweep", "clusters"))  # fmt: skip
    rows = []
    for family in ("multinomial", "dcm"):
        took, model = seconds(everything, family=family, n_iter=sweeps)
        sizes = model.sizes_
        share = float(sizes[:10].sum() / sizes.sum())
        found = len(sizes), int(np.median(sizes)), int(sizes[0]), share, int(model.discriminative_.sum())
        rows.append((family, sweeps, took, took / sweeps, *found))
        table("cve, 20,000 documents, one core", rows,
              ("family", "sweeps", "seconds", "s a sweep", "clusters", "median size", "largest", "share of ten largest",
               "words"))  # fmt: skip


if __name__ == "__main__":
    main()
