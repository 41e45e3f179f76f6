"""Tokens per second of one sweep of trained topic models, side by side in one run.

Each model is trained first (a sampler is slower at its random start than later); then all take turns and medians are
taken, so that a busy machine slows all alike: ratios are what counts. With one thread it is processor time that is
taken, with more the clock's. Peers are compared with if they are installed, as in ``.venv-bench`` of ``make bench``.

The second table has the parts of an EM iteration of DCMLDA, and in how many topics a word of a document stands above
the floor, which says how far the model is trained; the third has the parts of a sweep of LDA. ``--variational`` adds
one pass of the variational LDAs of scikit-learn and gensim, which is an E step over all documents and an update of the
topics.

    python -m benchmarks.topics_speed --corpus nips391 --topics 20 100 500
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.timing import side_by_side, table
from bursty import datasets
from bursty.engines import Chunk
from bursty.inference.topics import dcmlda as method
from bursty.kernels import threads
from bursty.models.dcmlda import DCMLDA
from bursty.models.lda import LDA
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import State, Tokens

Passes = dict[str, Callable[[], Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="nips391")
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--train", type=int, default=30, help="iterations (of 5 sweeps) before the clock starts")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--variational", action="store_true", help="scikit-learn and gensim too, which take long")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = datasets.load(arguments.corpus).counts
    n_tokens, clock = int(counts.sum()), time.process_time if arguments.jobs == 1 else time.perf_counter
    speeds, iterations, parts_of_lda, scaling = [], [], [], []
    for n_topics in arguments.topics:
        model, plain, sweeps = trained(counts, n_topics, arguments.train, arguments.jobs)
        seconds = side_by_side(
            sweeps | peers(counts, n_topics, 5 * arguments.train, arguments.jobs), arguments.rounds, clock
        )
        if arguments.variational:
            seconds |= side_by_side(variational(counts, n_topics), 1, clock)
        base = seconds.get("tomotopy LDA", seconds["LDA"])
        speeds += [(n_topics, name, n_tokens / t / 1e6, t * 1e3, base / t) for name, t in seconds.items()]
        own = side_by_side(sweep_of_lda(counts, plain, arguments.jobs), arguments.rounds, clock)
        parts_of_lda.append((n_topics, *(t * 1e3 for t in own.values()), own["phi"] / sum(own.values())))
        parts = side_by_side(iteration(counts, model, arguments.jobs), arguments.rounds, clock)
        whole = sum(parts.values())
        params = model._params
        sizes = np.diff(params.tables.table_first)[counts.indices].mean()
        scaling.append((n_topics, *on_two_threads(counts, model, arguments.rounds)))
        iterations.append((n_topics, sizes, *(t * 1e3 for t in parts.values()), parts["update"] / whole))
    peer = "tomotopy LDA" if importlib.util.find_spec("tomotopy") else "LDA"
    title = f"{arguments.corpus}: {counts.shape[0]} documents, {n_tokens:,} tokens, {arguments.jobs} thread(s)"
    table(title, speeds, ("topics", "model", "million tokens/s", "ms a pass", f"times {peer}"))
    parts_header = ("topics", "of a word", "ms of 5 sweeps", "of the log-likelihood", "of the update", "update's share")
    table("One EM iteration of DCMLDA", iterations, parts_header)
    lda_header = ("topics", "ms of counting", "of drawing phi", "of phi @ alpha", "of the tokens", "phi's share")
    table("One sweep of LDA", parts_of_lda, lda_header)
    scaling_header = ("topics", "1 thread ms", "2 threads ms", "times faster", "two sweeps at once", "goal")
    table("One sweep of DCMLDA on two threads, by the clock", scaling, scaling_header)


def trained(counts: Any, n_topics: int, n_iter: int, n_jobs: int) -> tuple[DCMLDA, LDA, Passes]:
    """Our models, and one sweep of each, after training."""
    options = {"n_iter": n_iter, "tol": 0, "random_state": 0, "n_jobs": n_jobs, "n_samples": 1}
    bursty = DCMLDA(n_topics, **options).fit(counts)
    plain = LDA(n_topics, learn_hyperparameters=True, **options).fit(counts)
    tokens = Tokens.numbered(Chunk(counts), 0)
    states = {name: State(tokens, model._topics) for name, model in (("dcmlda", bursty), ("lda", plain))}
    number = iter(range(10**6, 2 * 10**6))

    def one_dcmlda() -> None:
        with threads.using(n_jobs):
            states["dcmlda"] = bursty._params.sweep(states["dcmlda"], 0, next(number))

    def one_lda() -> None:
        with threads.using(n_jobs):
            own = tokens.word_topics(states["lda"].topics, n_topics, np.int32)
            phi = lda.draw_phi(own, plain._params.beta, 0, next(number), single=True)
            states["lda"] = lda.Topics(plain._params.alpha, phi).sweep(states["lda"], 0, next(number))

    return bursty, plain, {"DCMLDA": one_dcmlda, "LDA": one_lda}


def sweep_of_lda(counts: Any, model: LDA, n_jobs: int) -> Passes:
    """The parts of a sweep."""
    state, number = State(Tokens.numbered(Chunk(counts), 0), model._topics), iter(range(10**6, 2 * 10**6))
    params, n_topics = model._params, len(model.alpha_)
    found: dict[str, Any] = {}

    def part(name: str, function: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            with threads.using(n_jobs):
                found[name] = function()

        return run

    def phi() -> Any:
        return lda.draw_phi(found["count"], params.beta, 0, next(number), single=True)

    def tables() -> Any:
        model = lda.Topics(params.alpha, found["phi"])
        return model if model.tables else None

    return {
        "count": part("count", lambda: state.tokens.word_topics(state.topics, n_topics, np.int32)),
        "phi": part("phi", phi),
        "tables": part("tables", tables),
        "sweep": part("sweep", lambda: found["tables"].sweep(state, 0, next(number))),
    }


def on_two_threads(counts: Any, model: DCMLDA, rounds: int) -> tuple[float, float, float, float, str]:
    """A sweep on one thread and on two; and two sweeps side by side, which is what the machine allows."""
    state, number = State(Tokens.numbered(Chunk(counts), 0), model._topics), iter(range(10**6, 2 * 10**6))

    def sweep(n_threads: int) -> None:
        with threads.using(n_threads):
            model._params.sweep(state, 0, next(number))

    with ThreadPoolExecutor(2) as pool:
        passes: Passes = {
            "one": lambda: sweep(1),
            "two": lambda: sweep(2),
            "at once": lambda: list(pool.map(sweep, (1, 1))),
        }
        one, two, at_once = side_by_side(passes, rounds).values()
    return 1e3 * one, 1e3 * two, one / two, 2 * one / at_once, ">= 1.8"


def iteration(counts: Any, model: DCMLDA, n_jobs: int) -> Passes:
    """The parts of an EM iteration at its default of five sweeps."""
    state, params = State(Tokens.numbered(Chunk(counts), 0), model._topics), model._params
    number = iter(range(10**6, 2 * 10**6))

    def sweeps() -> None:
        fresh = replace(params)
        with threads.using(n_jobs):
            for _ in range(5):
                fresh.sweep(state, 0, next(number))

    def log_joint() -> None:
        with threads.using(n_jobs):
            dcmlda.log_joint(state, params)

    def update() -> None:
        with threads.using(n_jobs):
            method.Method().update(method.statistics(state, params.n_topics), params)

    return {"sweeps": sweeps, "log_joint": log_joint, "update": update}


def peers(counts: Any, n_topics: int, n_train: int, n_jobs: int) -> Passes:
    """One Gibbs sweep of each other package there is, after training."""
    passes: Passes = {}
    if importlib.util.find_spec("tomotopy"):
        passes["tomotopy LDA"] = _tomotopy(counts, n_topics, n_train, n_jobs)
    if importlib.util.find_spec("lda") and n_jobs == 1:
        passes["lda LDA"] = _lda(counts, n_topics)
    return passes


def _tomotopy(counts: Any, n_topics: int, n_train: int, n_jobs: int) -> Callable[[], Any]:
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, seed=0)
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        if counts.indptr[row + 1] > counts.indptr[row]:
            model.add_doc([str(word) for word in np.repeat(counts.indices[cells], counts.data[cells])])
    model.train(n_train, workers=n_jobs)
    return lambda: model.train(1, workers=n_jobs)


def _lda(counts: Any, n_topics: int) -> Callable[[], Any]:
    """Dense, so that its sweep costs the same whether it is trained or not."""
    import logging

    import lda as package

    logging.getLogger("lda").setLevel(logging.ERROR)
    model = package.LDA(n_topics=n_topics, n_iter=1, random_state=0, alpha=50 / n_topics, eta=0.01)
    model._initialize(counts)
    rands = np.random.default_rng(0).random(2**15)
    return lambda: model._sample_topics(rands)


def variational(counts: Any, n_topics: int) -> Passes:
    """One pass of the variational models."""
    from sklearn.decomposition import LatentDirichletAllocation

    sklearn = LatentDirichletAllocation(n_topics, random_state=0, n_jobs=1)
    passes: Passes = {"scikit-learn LDA": lambda: sklearn.partial_fit(counts)}
    if importlib.util.find_spec("gensim"):
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel

        corpus = Sparse2Corpus(counts.tocsr(), documents_columns=False)
        names = {i: str(i) for i in range(counts.shape[1])}
        model = LdaModel(num_topics=n_topics, id2word=names, random_state=0, eval_every=None)
        passes["gensim LDA"] = lambda: model.update(corpus)
    return passes


if __name__ == "__main__":
    main()
