"""Cost of checking a sparse table before a fit walks it: ``python -m benchmarks.checks [CORPUS ...]``.

Processor time of `bursty.validation.check_counts` beside fits, interleaved, medians.
"""

from __future__ import annotations

import sys
import time
import warnings

import bursty
from benchmarks.timing import side_by_side, table
from bursty import datasets, families
from bursty.validation import check_counts


def main(corpora: list[str]) -> None:
    warnings.simplefilter("ignore")
    fits = {
        "EDCM": families.EDCM(),
        "DCM": families.DCM(),
        "Mixture": bursty.Mixture(20, n_jobs=1, random_state=0),
        "LDA, 20 iterations": bursty.LDA(20, n_iter=20, n_jobs=1, random_state=0),
    }
    for name in corpora:
        counts = datasets.load(name).counts
        contenders = {"checks": lambda counts=counts: check_counts(counts, owner="the benchmark")}
        contenders |= {fit: lambda model=model, counts=counts: model.fit(counts) for fit, model in fits.items()}
        seconds = side_by_side(contenders, rounds=5, clock=time.process_time)
        rows = [(fit, seconds[fit], 100 * seconds["checks"] / seconds[fit]) for fit in fits]
        table(f"{name}: {counts.shape[0]} x {counts.shape[1]}", rows, ("fit", "seconds", "checks, %"))


if __name__ == "__main__":
    main(sys.argv[1:] or ["classic400", "nips391"])
