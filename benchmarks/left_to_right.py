"""Bias and error of left-to-right estimation: its value by number of moves and of particles, and the seconds.

Values approach the truth as moves are added; those with the most moves are the reference.

    python -m benchmarks.left_to_right --corpus nips391 --topics 50 --documents 12
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from benchmarks.timing import table
from bursty import DCMLDA, LDA, datasets
from bursty.inference.heldout import GROWING_MOVES, left_to_right

#: (Least number of moves, share of the earlier words), number of particles.
SETTINGS = [
    ((20, 0.0), 20),
    ((20, 0.05), 20),
    (GROWING_MOVES, 20),
    ((20, 0.25), 20),
    ((400, 0.0), 20),
    (GROWING_MOVES, 5),
    (GROWING_MOVES, 80),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="nips391")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--documents", type=int, default=12)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    train, test = datasets.load(arguments.corpus).drop_empty().split(0.2, random_state=0)
    test, rows = test.select(slice(0, arguments.documents)), []
    for model in (DCMLDA, LDA):
        fitted = model(arguments.topics, n_iter=arguments.iterations, random_state=0).fit(train)
        for moves, n_particles in SETTINGS:
            began = time.perf_counter()
            options = {"seed": 1, "n_particles": n_particles, "moves": moves}
            values, errors = fitted._place(test).collect(left_to_right, model=fitted._fitted(), **options).T
            seconds = time.perf_counter() - began
            error = np.sqrt((errors**2).sum()) / len(errors)
            rows.append((model.__name__, *moves, n_particles, f"{values.mean():.1f}", error, seconds))
    header = ("model", "least moves", "share", "particles", "nats per document", "error", "seconds")
    table(f"left to right, {arguments.corpus}, {arguments.topics} topics", rows, header)


if __name__ == "__main__":
    main()
