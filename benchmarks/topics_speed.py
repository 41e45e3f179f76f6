"""Tokens per second of one sweep of trained topic models, side by side in one run.

Each model is trained first (a sampler is slower at its random start than later); then all take turns and medians are
taken, so that a busy machine slows all alike: ratios are what counts. scikit-learn's LDA is variational; its pass is
the E step over all documents, with one update of the topics. tomotopy is compared with if it is installed.

    python -m benchmarks.topics_speed --corpus nips391 --topics 20 100
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks.timing import side_by_side, table
from bursty import datasets
from bursty.engines import Chunk
from bursty.inference import mcem
from bursty.kernels import threads
from bursty.models.dcmlda import DCMLDA
from bursty.models.lda import LDA
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import State, Tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="nips391")
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--train", type=int, default=30, help="iterations (of 5 sweeps) before the clock starts")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = datasets.load(arguments.corpus).counts
    n_tokens = int(counts.sum())
    rows = []
    for n_topics in arguments.topics:
        contenders = trained(counts, n_topics, arguments.train, arguments.jobs)
        seconds = side_by_side(contenders, arguments.rounds)
        base = seconds.get("tomotopy LDA", seconds["LDA"])
        for name, time in seconds.items():
            rows.append((n_topics, name, n_tokens / time / 1e6, time * 1e3, base / time))
    peer = "tomotopy LDA" if importlib.util.find_spec("tomotopy") else "LDA"
    title = f"{arguments.corpus}: {counts.shape[0]} documents, {n_tokens:,} tokens, {arguments.jobs} thread(s)"
    table(title, rows, ("topics", "model", "million tokens/s", "ms a pass", f"times {peer}"))


def trained(counts: Any, n_topics: int, n_iter: int, n_jobs: int) -> dict[str, Callable[[], Any]]:
    """One pass of each model, after training."""
    options = {"n_iter": n_iter, "tol": 0, "random_state": 0, "n_jobs": n_jobs, "n_samples": 1}
    bursty = DCMLDA(n_topics, **options).fit(counts)
    plain = LDA(n_topics, learn_hyperparameters=True, **options).fit(counts)
    tokens = Tokens.numbered(Chunk(counts), 0)
    states = {name: State(tokens, model._topics) for name, model in (("dcmlda", bursty), ("lda", plain))}
    number = iter(range(10**6, 2 * 10**6))

    def one_dcmlda(dense: bool) -> None:
        with threads.using(n_jobs):
            states["dcmlda"] = dcmlda.sweep(states["dcmlda"], bursty._params, 0, next(number), dense=dense)

    def one_lda() -> None:
        with threads.using(n_jobs):
            own = tokens.word_topics(states["lda"].topics, n_topics)
            phi = lda.draw_phi(own, plain._params.beta, 0, next(number)).astype(np.float32)
            states["lda"] = lda.sweep(states["lda"], plain._params.alpha, phi, 0, next(number))

    def one_update() -> None:
        with threads.using(n_jobs):
            mcem.DCMLDAMethod().update(mcem.dcmlda_statistics(states["dcmlda"], n_topics), bursty._params)

    sklearn = LatentDirichletAllocation(n_topics, random_state=0, n_jobs=1).partial_fit(counts)
    contenders: dict[str, Callable[[], Any]] = {
        "DCMLDA": lambda: one_dcmlda(False),
        "DCMLDA, dense": lambda: one_dcmlda(True),
        "DCMLDA, learning alpha and beta": one_update,
        "LDA": one_lda,
        "scikit-learn LDA": lambda: sklearn.partial_fit(counts),
    }
    if importlib.util.find_spec("tomotopy"):
        contenders["tomotopy LDA"] = tomotopy_pass(counts, n_topics, 5 * n_iter, n_jobs)
    return contenders


def tomotopy_pass(counts: Any, n_topics: int, n_train: int, n_jobs: int) -> Callable[[], Any]:
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, seed=0)
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        if counts.indptr[row + 1] > counts.indptr[row]:
            model.add_doc([str(word) for word in np.repeat(counts.indices[cells], counts.data[cells])])
    model.train(n_train, workers=n_jobs)
    return lambda: model.train(1, workers=n_jobs)


if __name__ == "__main__":
    main()
