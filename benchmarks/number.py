"""Number of clusters that each rule of `select_components` chooses, and the NMI of a mixture of that number.

Corpora that settings were chosen on come first, then those that were not looked at for that.

    python -m benchmarks.number                                  corpora that take minutes
    python -m benchmarks.number --corpora classic400 zhong15/tr11
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.clustering import CHOSEN_ON, SMALL, load
from benchmarks.timing import table
from bursty import Mixture, metrics, select_components
from bursty.models.selection import RULES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=list(SMALL))
    parser.add_argument("--numbers", type=int, nargs="+", default=[1, 2, 3, 4, 6, 9, 12, 16])
    parser.add_argument("--folds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in arguments.corpora:
        X, y = load(name)
        n_classes = len(np.unique(y))
        found = select_components(X, arguments.numbers, "heldout", arguments.folds, random_state=0).choices
        nmi = {
            k: metrics.normalized_mutual_information(y, Mixture(k, random_state=0).fit(X).labels_)
            for k in {n_classes, *found.values()}
        }
        cells = [f"{found[rule]} ({nmi[found[rule]]:.3f})" for rule in RULES]
        group = "yes" if name in CHOSEN_ON else "no"
        rows.append((name, group, f"{n_classes} ({nmi[n_classes]:.3f})", *cells))
        print(*rows[-1], sep="  ", flush=True)
    table("number of clusters (NMI)", rows, ("corpus", "chosen on", "classes", *RULES))


if __name__ == "__main__":
    main()
