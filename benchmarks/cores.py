"""Speed on 1, 4, 8 and 16 threads, and where the time of an iteration goes: one command, two tables.

    python -m benchmarks.cores --counts counts.npz --threads 1 4 8 16 --out results

Topic models take the corpus as it is, mixtures several copies of it (``--copies``). The counts are a sparse matrix
saved by SciPy, or the corpus of that name. Every number is a median; what is found goes to ``cores.json`` at once. For
the E step of mixtures, the bytes it must read and write are counted, and the table says what share that is of what
a plain copy reaches on the same threads: above 100% if what it reads comes from the cache.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import median, table
from bursty.engines import LocalEngine
from bursty.families import get_family
from bursty.families.priors import UrnPrior
from bursty.inference import em
from bursty.inference.starts import perturb
from bursty.inference.topics import dcmlda
from bursty.inference.topics.base import mixture_levels
from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.models.dcmlda import DCMLDA
from bursty.models.lda import LDA
from bursty.samplers import lda
from bursty.samplers.tokens import State, Tokens

RESULTS: dict[str, Any] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", default="20news-18828")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4, 8, 16])
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--components", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--models", nargs="+", default=["topics", "mixtures"], choices=["topics", "mixtures"])
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--train", type=int, default=10, help="iterations before the clock starts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=500.0, help="no new measurement is begun after that")
    parser.add_argument("--out", type=Path, default=Path())
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.stop = time.perf_counter() + arguments.seconds
    counts = load(arguments.counts)
    keep(arguments, "documents, words, tokens", [*counts.shape, int(counts.sum())])
    measure(arguments, "copy", copies_of_memory())
    seconds = RESULTS["copy: copy of 512 MiB, seconds"]
    keep(arguments, "copy: GB/s", {n_threads: 2**30 / t / 1e9 for n_threads, t in seconds.items()})
    for model in arguments.models:
        (measure_topics if model == "topics" else measure_mixtures)(arguments, counts)


def measure_topics(arguments: argparse.Namespace, counts: sp.csr_array) -> None:
    """Both topic models, and a peer."""
    for n_topics in arguments.topics:
        for name, parts in topic_models(counts, n_topics, arguments.train):
            measure(arguments, f"{name}, K = {n_topics}", parts, int(counts.sum()))
        peer(arguments, counts, n_topics)


def measure_mixtures(arguments: argparse.Namespace, counts: sp.csr_array) -> None:
    """An iteration of EM of both families, with several copies of the counts."""
    many = sp.csr_array(sp.vstack([counts] * arguments.copies, format="csr"))
    for n_components in arguments.components:
        for family in ("edcm", "dcm"):
            title, parts = f"mixture, {family}, K = {n_components}", mixture(many, family, n_components)
            measure(arguments, title, parts, n_bytes={"E step": bytes_of_e_step(many, family, n_components)})


def bytes_of_e_step(counts: sp.csr_array, family: str, n_components: int) -> int:
    """The least that it reads and writes.

    For each cell its index twice, a row of logarithms in single precision, and the label and weight of its document;
    the table of documents x components, in double precision, once each way. The DCM has sums over repeated words
    besides, with rows in double precision.
    """
    n_repeated = int(np.count_nonzero(counts.data > 1)) if family == "dcm" else 0
    of_cells = counts.nnz * (20 + 4 * n_components) + n_repeated * (20 + 8 * n_components)
    return of_cells + 16 * counts.shape[0] * n_components


def load(source: str) -> sp.csr_array:
    """A file, or words of five documents or more of a named corpus."""
    if Path(source).exists():
        return sp.csr_array(sp.load_npz(source).astype(np.int32))
    from bursty import datasets

    counts = datasets.load(source).counts
    return sp.csr_array(counts[:, np.bincount(counts.indices, minlength=counts.shape[1]) >= 5])


def keep(arguments: argparse.Namespace, name: str, value: Any) -> None:
    """Write a result at once."""
    RESULTS[name] = value
    (arguments.out / "cores.json").write_text(json.dumps(RESULTS, indent=1, default=float))


def measure(
    arguments: argparse.Namespace,
    title: str,
    parts: dict[str, Callable[[], Any]],
    tokens: int = 0,
    n_bytes: dict[str, int] | None = None,
) -> None:
    """Seconds of each part on each number of threads; sweeps also as tokens per second.

    Parts with a number of bytes also as the share of what a copy reaches.
    """
    rows, n_bytes = [], n_bytes or {}
    for name, part in parts.items():
        if time.perf_counter() > arguments.stop:
            print(f"{title}, {name}: no time left", flush=True)
            return
        seconds = []
        for n_threads in arguments.threads:
            with threads.using(n_threads):
                seconds.append(median(part, arguments.rounds))
        keep(arguments, f"{title}: {name}, seconds", dict(zip(arguments.threads, seconds, strict=True)))
        rows.append((name, *(1e3 * t for t in seconds), seconds[0] / seconds[-1]))
        if name in n_bytes:
            speeds = [n_bytes[name] / t / 1e9 for t in seconds]
            shares = [100 * v / copied for v, copied in zip(speeds, RESULTS["copy: GB/s"].values(), strict=True)]
            keep(arguments, f"{title}: {name}, GB/s and % of a copy", [speeds, shares])
            rows.append((f"{name}, GB/s", *speeds, speeds[-1] / speeds[0]))
            rows.append((f"{name}, % of a copy", *shares, shares[-1] / shares[0]))
        if tokens and "sweep" in name:
            rows.append((f"{name}, M tokens/s", *(tokens / t / 1e6 for t in seconds), seconds[0] / seconds[-1]))
    table(title, rows, ("ms", *(f"{n} threads" for n in arguments.threads), "times faster"))


@kernel
def draw(out, start, stop):
    """Arithmetic without memory: generators of random numbers (xorshift), whose steps wait for each other."""
    for i in range(start, stop):
        value = np.uint64(i + 1)
        for _ in range(10_000):
            value ^= value << np.uint64(13)
            value ^= value >> np.uint64(7)
            value ^= value << np.uint64(17)
        out[i] = value


@kernel
def draw_side_by_side(out, start, stop):
    """The same of four generators at once, which do not wait for each other: as much as a core can do."""
    for i in range(start, stop):
        a, b, c, d = np.uint64(4 * i + 1), np.uint64(4 * i + 2), np.uint64(4 * i + 3), np.uint64(4 * i + 4)
        for _ in range(10_000):
            a ^= a << np.uint64(13)
            b ^= b << np.uint64(13)
            c ^= c << np.uint64(13)
            d ^= d << np.uint64(13)
            a ^= a >> np.uint64(7)
            b ^= b >> np.uint64(7)
            c ^= c >> np.uint64(7)
            d ^= d >> np.uint64(7)
            a ^= a << np.uint64(17)
            b ^= b << np.uint64(17)
            c ^= c << np.uint64(17)
            d ^= d << np.uint64(17)
        out[i] = a ^ b ^ c ^ d


def copies_of_memory() -> dict[str, Callable[[], Any]]:
    """What the machine allows: half a gigabyte, read and written; arithmetic; and what threads cost that do nothing.

    Two threads of a core share its arithmetic: they are faster than one only if it waits for itself.
    """
    source = np.ones((8192, 8192))
    target, cost, sums = np.empty_like(source), threads.MIN_WORK * np.arange(65), np.empty(4096, dtype=np.uint64)
    return {
        "copy of 512 MiB": lambda: threads.apply(np.positive, source, out=target),
        "arithmetic, step by step": lambda: threads.run(draw, 10_000 * np.arange(4097), sums),
        "arithmetic, side by side": lambda: threads.run(draw_side_by_side, 10_000 * np.arange(4097), sums),
        "64 ranges without work": lambda: threads.run(lambda start, stop: None, cost),
    }


def topic_models(counts: sp.csr_array, n_topics: int, n_train: int) -> Any:
    """The parts of an iteration of each, after training."""
    options = {"n_iter": n_train, "tol": 0, "random_state": 0, "n_samples": 1}
    model = DCMLDA(n_topics, **options).fit(counts)
    tokens = Tokens.numbered(LocalEngine(None).place(counts).chunks[0], 0)
    state, params = State(tokens, model._topics), model._params
    stats, number = dcmlda.statistics(state, n_topics), iter(range(10**6, 2 * 10**6))
    method = dcmlda.Method()

    def whole() -> None:
        own, fresh = state, replace(params)
        for _ in range(5):
            own = fresh.sweep(own, 0, next(number))
        total = float(dcmlda.log_joint(own, fresh).sum())
        method.update(dcmlda.statistics(own, n_topics, total), fresh)

    yield (
        "DCMLDA",
        {
            "table": lambda: replace(params).tables,
            "sweep": lambda: params.sweep(state, 0, next(number)),
            "log-likelihood": lambda: dcmlda.log_joint(state, params),
            "topics by document": lambda: tokens.document_topics(state.topics, n_topics),
            "levels of mixtures": lambda: mixture_levels(tokens.document_topics(state.topics, n_topics)),
            "levels of words": lambda: tokens.word_levels(state.topics, n_topics),
            "M step": lambda: method.update(stats, params),
            "last M step, with its prior": lambda: replace(method, prior=UrnPrior()).conclude(stats, params),
            "iteration (5 of the former)": whole,
        },
    )
    plain = LDA(n_topics, learn_hyperparameters=True, **options).fit(counts)
    own = State(tokens, plain._topics)
    word_topics, alpha, beta = (
        tokens.word_topics(own.topics, n_topics, np.int32),
        plain._params.alpha,
        plain._params.beta,
    )
    shared = lda.Topics(alpha, lda.draw_phi(word_topics, beta, 0, 0, single=True))

    def sweep() -> None:
        phi = lda.draw_phi(tokens.word_topics(own.topics, n_topics, np.int32), beta, 0, next(number), single=True)
        lda.Topics(alpha, phi).sweep(own, 0, next(number))

    yield (
        "LDA",
        {
            "words by topic": lambda: tokens.word_topics(own.topics, n_topics, np.int32),
            "phi": lambda: lda.draw_phi(word_topics, beta, 0, next(number), single=True),
            "topics of tokens": lambda: shared.sweep(own, 0, next(number)),
            "sweep": sweep,
            "log-likelihood": lambda: lda.log_topics(own, alpha),
            "levels of mixtures": lambda: mixture_levels(tokens.document_topics(own.topics, n_topics)),
            "levels of words": lambda: mixture_levels(word_topics.T),
        },
    )


def mixture(counts: sp.csr_array, family: str, n_components: int) -> dict[str, Callable[[], Any]]:
    """The E step and the M step."""
    documents = LocalEngine(None).place(counts)
    problem = em.Problem(documents, get_family(family), documents.split(None), n_components, 0.05)
    state = perturb(problem, np.random.default_rng(0))
    for _ in range(3):
        state = em.maximise(problem.family, problem.expectation(state), state.params)
    stats = problem.expectation(state)

    def expectation() -> Any:
        # The documents give the number of threads to the kernels themselves.
        documents.n_threads = threads._n_threads.get()
        return problem.expectation(state)

    return {
        "E step": expectation,
        "M step": lambda: em.maximise(problem.family, stats, state.params),
        "iteration": lambda: em.maximise(problem.family, expectation(), state.params),
    }


def peer(arguments: argparse.Namespace, counts: sp.csr_array, n_topics: int) -> None:
    """tomotopy's LDA, whose scheme for several workers is approximate."""
    if not importlib.util.find_spec("tomotopy"):
        return
    import tomotopy

    found = {}
    for n_threads in (arguments.threads[0], arguments.threads[-1]):
        model = tomotopy.LDAModel(k=n_topics, seed=0)
        for row in range(counts.shape[0]):
            cells = slice(counts.indptr[row], counts.indptr[row + 1])
            if cells.stop > cells.start:
                model.add_doc([str(word) for word in np.repeat(counts.indices[cells], counts.data[cells])])
        model.train(30, workers=n_threads)
        seconds = median(lambda model=model, n=n_threads: model.train(5, workers=n), 3)
        found[n_threads] = 5 * int(counts.sum()) / seconds / 1e6
    keep(arguments, f"tomotopy LDA, K = {n_topics}, M tokens/s", found)
    print(f"tomotopy LDA, K = {n_topics}, M tokens/s: {found}", flush=True)


if __name__ == "__main__":
    main()
