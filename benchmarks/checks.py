"""Cost of checking a sparse table before a fit walks it: ``python -m benchmarks.checks [CORPUS ...]``.

Processor time of `bursty.validation.check_counts` beside each fit in turn, interleaved, medians. Fits that take
milliseconds are repeated 200 times.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial

import bursty
from benchmarks.timing import side_by_side, table
from bursty import datasets, families
from bursty.validation import check_counts


def main(corpora: list[str]) -> None:
    warnings.simplefilter("ignore")
    fits = {
        "EDCM": (families.EDCM(), 200),
        "DCM": (families.DCM(), 200),
        "Mixture": (bursty.Mixture(20, n_jobs=1, random_state=0), 5),
        "LDA, 20 iterations": (bursty.LDA(20, n_iter=20, n_jobs=1, random_state=0), 5),
    }
    for name in corpora:
        counts = datasets.load(name).counts
        rows = []
        for fit, (model, rounds) in fits.items():
            contenders = {
                "checks": partial(check_counts, counts, owner="the benchmark"),
                "fit": partial(model.fit, counts),
            }
            seconds = side_by_side(contenders, rounds=rounds, clock=time.process_time)
            rows.append((fit, seconds["fit"], 100 * seconds["checks"] / seconds["fit"]))
        table(f"{name}: {counts.shape[0]} x {counts.shape[1]}", rows, ("fit", "seconds", "checks, %"))


if __name__ == "__main__":
    main(sys.argv[1:] or ["classic400", "nips391"])
