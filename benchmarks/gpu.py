"""The CUDA engine on a card: the suite of its kernels, and its speed, in one run.

    python -m benchmarks.gpu --out results                                 all parts
    python -m benchmarks.gpu --out results --parts smoke suite             some of them

Each part writes what it has found to ``gpu.json`` in the folder as soon as it is known, so that a run that is cut short
has told what it could. Parts: ``smoke`` (imports, the card, its bandwidth), ``suite`` (the kernels against plain
formulas, the sampler against a list of all states, and against the processor's sampler), ``sweeps`` (tokens per second
for shapes of the kernel), ``iterations`` (an EM iteration and its parts), ``fit`` (``--counts``, a sparse matrix
saved by SciPy, from counts to topics, beside the processor and tomotopy).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import table

RESULTS: dict[str, Any] = {}
TOPICS = (20, 100, 500)
GOALS = {
    ("news", 20): 5.0,
    ("news", 100): 4.0,
    ("news", 500): 1.5,
    ("nips", 20): 2.0,
    ("nips", 100): 1.5,
    ("nips", 500): 0.8,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--tokens", type=float, default=48e6, help="of the corpora that are made up")
    parser.add_argument("--topics", type=int, nargs="+", default=list(TOPICS))
    parser.add_argument("--corpora", nargs="+", default=["news", "nips"], choices=["news", "nips"])
    parser.add_argument("--counts", type=Path, help="a corpus for the last part")
    parser.add_argument("--seconds", type=float, default=500.0, help="no new measurement is begun after that")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.stop = time.perf_counter() + arguments.seconds
    warnings.simplefilter("ignore")
    for name in arguments.parts:
        tried(arguments, name, lambda part=PARTS[name]: part(arguments))


def keep(arguments: argparse.Namespace, name: str, value: Any) -> None:
    """Write a result at once."""
    RESULTS[name] = value
    (arguments.out / "gpu.json").write_text(json.dumps(RESULTS, indent=1, default=float))


def tried(arguments: argparse.Namespace, name: str, part: Callable[[], Any]) -> Any:
    """Run something; where it fails, the others go on."""
    if time.perf_counter() > arguments.stop:
        print(f"{name}: no time left", flush=True)
        return None
    began = time.perf_counter()
    try:
        result = part()
    except Exception as error:
        traceback.print_exc()
        keep(arguments, f"{name}: failed", f"{type(error).__name__}: {error}")
        return None
    keep(arguments, f"{name}: seconds", time.perf_counter() - began)
    print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
    return result


# Parts -------------------------------------------------------------------------------------------------------


def smoke(arguments: argparse.Namespace) -> None:
    """Versions, the card, the speed of a plain copy."""
    from bursty.engines.cuda import open_card

    cuda = open_card()
    packages = ("numba", "numba_cuda", "llvmlite", "numpy", "scipy", "cuda.bindings", "tomotopy", "sklearn")
    versions = {name: importlib.import_module(name).__version__ for name in packages if importlib.util.find_spec(name)}
    keep(arguments, "versions", {"python": sys.version.split()[0], **versions})
    name = cuda.get_current_device().name
    keep(arguments, "card", name.decode() if isinstance(name, bytes) else name)
    source = cuda.device_array(2**28, np.float64)
    target = cuda.device_array_like(source)

    def copy() -> None:
        target.copy_to_device(source)
        cuda.synchronize()

    keep(arguments, "copy, GB/s read and written", 2 * source.nbytes / median(copy) / 1e9)
    print(RESULTS, flush=True)


def suite(arguments: argparse.Namespace) -> None:
    """The cases of the simulator, the posterior of a small document, the processor's sampler."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "kernels"))
    import cuda_cases

    for function in cuda_cases.CASES:
        tried(arguments, function.__name__, function)
        if "update" not in function.__name__:
            sizes = {} if "phi" in function.__name__ else {"n_documents": 60, "n_topics": 70}
            tried(arguments, f"{function.__name__}, larger", lambda f=function, s=sizes: f(**s))
    tried(arguments, "stationary distribution", lambda: keep(arguments, "p of all states", stationary()))
    tried(arguments, "same bits again", lambda: keep(arguments, "same bits again", same_bits()))
    tried(arguments, "against the processor", lambda: keep(arguments, "p against the processor", two_samples()))


def sweeps(arguments: argparse.Namespace) -> None:
    """Billions of tokens per second of one sweep, for every shape of the kernel."""
    rows = []
    for corpus in arguments.corpora:
        chunk, n_tokens = made_up(corpus, int(arguments.tokens))
        keep(arguments, f"{corpus}: documents, words, tokens", [chunk.n_documents, chunk.n_words, n_tokens])
        for n_topics in arguments.topics:
            best: tuple[float, Any] = (0.0, None)
            for bursty in (True, False):
                found: dict[Any, float] = {}
                variants = [(lanes, 128, None) for lanes in (4, 8, 16, 32)]
                for step in ("lanes", "threads", "registers"):
                    for variant in variants:
                        name = f"{corpus} K={n_topics} {'DCMLDA' if bursty else 'LDA'} {variant}"
                        part = partial(speed_of, chunk, n_tokens, n_topics, *variant, bursty)
                        speed = tried(arguments, name, part)
                        if speed is not None:
                            found[variant] = speed
                            keep(arguments, f"{name}: G tokens/s", speed)
                    if not found or not bursty:
                        break
                    lanes, threads, _ = max(found, key=lambda variant: found[variant])
                    sizes = ((lanes, 64, None), (lanes, 256, None), (lanes, 32, None))
                    variants = list(sizes) if step == "lanes" else [(lanes, threads, 64), (lanes, threads, 40)]
                if bursty and found:
                    best = max((speed, variant) for variant, speed in found.items())
                if not bursty and found:
                    keep(arguments, f"{corpus} K={n_topics} LDA best", max(found.items(), key=lambda item: item[1]))
            keep(arguments, f"{corpus} K={n_topics} DCMLDA best", best)
            rows.append((corpus, n_topics, best[1], best[0], GOALS.get((corpus, n_topics), "")))
    table("Sweeps of DCMLDA", rows, ("corpus", "topics", "lanes, threads, registers", "G tokens/s", "goal"))


def iterations(arguments: argparse.Namespace) -> None:
    """An EM iteration of DCMLDA, 5 sweeps and the M step, and where its time goes."""
    from numba import cuda

    from bursty.inference.topics import cuda_dcmlda, dcmlda

    rows = []
    for corpus in arguments.corpora:
        chunk, n_tokens = made_up(corpus, int(arguments.tokens))
        for n_topics in arguments.topics:

            def one(
                chunk: Any = chunk, n_tokens: int = n_tokens, n_topics: int = n_topics, corpus: str = corpus
            ) -> None:
                method, params, topics = (
                    dcmlda.Method(),
                    random_parameters(chunk.n_words, n_topics),
                    random_topics(n_tokens, n_topics),
                )
                times: dict[str, list[float]] = {"sweeps": [], "update": [], "whole": []}
                for i in range(5):
                    cuda.synchronize()
                    began = time.perf_counter()
                    topics, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(5 * i, 5 * i + 5), True)
                    cuda.synchronize()
                    middle = time.perf_counter()
                    params = cuda_dcmlda.update(method, stats, params)
                    cuda.synchronize()
                    end = time.perf_counter()
                    for part, seconds in zip(times, (middle - began, end - middle, end - began), strict=True):
                        times[part].append(seconds)
                medians = {part: float(np.median(seconds[1:])) for part, seconds in times.items()}
                speed = 5 * n_tokens / medians["whole"] / 1e9
                keep(
                    arguments,
                    f"{corpus} K={n_topics} iteration",
                    {**medians, "G tokens/s": speed, "first": times["whole"][0]},
                )
                rows.append((corpus, n_topics, *(1e3 * t for t in medians.values()), speed))

            tried(arguments, f"{corpus} K={n_topics} iteration", one)
    header = ("corpus", "topics", "ms of sweeps and tallies", "of the update", "in all", "G tokens/s in all")
    table("An EM iteration of DCMLDA: 5 sweeps and the M step", rows, header)
    tried(arguments, "parts of an iteration", lambda: keep(arguments, "parts of an iteration, ms", profile(arguments)))


def fit(arguments: argparse.Namespace) -> None:
    """From counts to topics: K = 100, 200 iterations, warm kernels."""
    from bursty.models.dcmlda import DCMLDA

    counts = sp.load_npz(arguments.counts).astype(np.int32)
    n_tokens = int(counts.sum())
    options = {"random_state": 0, "tol": 0, "n_components": 100}
    DCMLDA(engine="cuda", n_iter=2, burn_in=1, n_samples=1, **options).fit(counts)  # kernels

    def on(engine: str, n_iter: int) -> None:
        began = time.perf_counter()
        model = DCMLDA(engine=engine, n_iter=n_iter, **options).fit(counts)
        seconds = time.perf_counter() - began
        trace = model.trace_
        speeds = np.median(trace["tokens_per_second"]) / 1e6
        result = {"seconds": seconds, "log_likelihood": trace["log_likelihood"][-1], "sweeps, M tokens/s": speeds}
        keep(arguments, f"fit on {engine}, {n_iter} iterations", result)
        print(engine, n_iter, result, flush=True)

    tried(arguments, "fit on cuda, 200", lambda: on("cuda", 200))
    tried(arguments, "fit on cuda, 20", lambda: on("cuda", 20))
    tried(arguments, "fit on local, 20", lambda: on("local", 20))
    if importlib.util.find_spec("tomotopy"):
        tried(
            arguments, "tomotopy", lambda: keep(arguments, "tomotopy LDA, M tokens/s", tomotopy_speed(counts, n_tokens))
        )


PARTS = {"smoke": smoke, "suite": suite, "sweeps": sweeps, "iterations": iterations, "fit": fit}

# What they are made of ---------------------------------------------------------------------------------------


def median(function: Callable[[], Any], rounds: int = 5) -> float:
    """Seconds; the first round is not counted."""
    seconds = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds[1:]))


_MADE: dict[tuple[str, int], Any] = {}


def made_up(name: str, n_tokens: int) -> tuple[Any, int]:
    """Documents about as long, and words about as frequent and as often repeated, as in 20 newsgroups or nips391."""
    from bursty.engines import Chunk
    from bursty.engines.cuda import CudaChunk

    if (name, n_tokens) not in _MADE:
        _MADE.clear()
        rng = np.random.default_rng(0)
        length, n_words, repeats = (120, 30_000, 1.5) if name == "news" else (1300, 7_000, 2.7)
        n_documents = n_tokens // length
        sizes = np.maximum(1, rng.gamma(2.0 if name == "news" else 8.0, size=n_documents))
        sizes = np.maximum(1, sizes * length / repeats / sizes.mean()).astype(np.int64)
        weights = 1.0 / (np.arange(n_words) + 20.0)
        words = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(int(sizes.sum())))
        cells = np.unique(np.repeat(np.arange(n_documents), sizes) * n_words + np.minimum(words, n_words - 1))
        values = np.minimum(rng.zipf(2.6 if name == "news" else 2.1, size=len(cells)), 60).astype(np.int32)
        indptr = np.searchsorted(cells, np.arange(n_documents + 1) * n_words)
        counts = sp.csr_array((values, (cells % n_words).astype(np.int32), indptr), shape=(n_documents, n_words))
        _MADE[name, n_tokens] = CudaChunk(Chunk(counts)), int(values.sum())
    return _MADE[name, n_tokens]


@lru_cache(1)
def random_parameters(n_words: int, n_topics: int) -> Any:
    """A fifth of the pairs above their floor."""
    from bursty.samplers.dcmlda import Hyperparameters

    rng = np.random.default_rng(1)
    beta = np.where(rng.random((n_words, n_topics)) < 0.2, rng.gamma(0.3, size=(n_words, n_topics)), 0.0) + 1e-4
    return Hyperparameters(rng.gamma(1.0, size=n_topics) / n_topics + 0.01, beta)


@lru_cache(1)
def random_topics(n_tokens: int, n_topics: int) -> Any:
    """A topic for each token."""
    from bursty.samplers.tokens import topic_type

    return np.random.default_rng(2).integers(0, n_topics, size=n_tokens, dtype=topic_type(n_topics))


def speed_of(
    chunk: Any, n_tokens: int, n_topics: int, n_lanes: int, n_threads: int, max_registers: int | None, bursty: bool
) -> float | None:
    """Billions of tokens per second."""
    from numba import cuda

    from bursty.inference.topics import cuda_dcmlda, cuda_sweeps
    from bursty.kernels.cuda import gibbs

    shape = cuda_sweeps.Shape(n_lanes, -(-n_topics // n_lanes), n_threads, max_registers)
    if gibbs.shared_bytes(n_lanes, shape.n_slots, n_threads) > 49_152 or shape.n_slots > 64:
        return None
    weights = cuda_dcmlda.CardHyperparameters.of(random_parameters(chunk.n_words, n_topics)).weights(shape)
    weights = cuda_sweeps.Weights(weights.table, weights.alpha, weights.totals, bursty, n_topics)
    topics, number = cuda_sweeps.copied(random_topics(n_tokens, n_topics)), iter(range(1000))

    def one() -> None:
        cuda_sweeps.sweep(chunk, 0, topics, weights, 1, next(number), None, shape)
        cuda.synchronize()

    return n_tokens / median(one, 3) / 1e9


def profile(arguments: argparse.Namespace) -> dict[str, float]:
    """Milliseconds of the parts, K = 100, the first corpus."""
    from numba import cuda

    from bursty.inference.topics import cuda_dcmlda, cuda_sweeps
    from bursty.inference.topics.base import learn_alpha

    corpus, n_topics = arguments.corpora[0], 100
    chunk, n_tokens = made_up(corpus, int(arguments.tokens))
    params = cuda_dcmlda.CardHyperparameters.of(random_parameters(chunk.n_words, n_topics))
    topics = cuda_sweeps.copied(random_topics(n_tokens, n_topics))
    shape, tokens = cuda_sweeps.Shape.of(n_topics), chunk.on_card
    _, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(2), True)
    urns = cuda_dcmlda.CardUrns(stats, params.on_card.shape)
    urns.start(np.ones(n_topics), params.on_card)
    weights = params.weights(shape)
    mixtures = cuda_sweeps.zeros((n_topics, tokens.longest + 1), np.int32)
    words = cuda_sweeps.zeros((tokens.n_levels, n_topics), np.int32)
    whole = stats.of_mixtures()
    parts: dict[str, Callable[[], Any]] = {
        "copy of the topics": lambda: cuda_sweeps.copied(topics),
        "tables cleared": lambda: cuda_sweeps.zeros((tokens.n_levels, n_topics), np.int32),
        "sweep": lambda: cuda_sweeps.sweep(chunk, 0, topics, weights, 1, 3, None, shape),
        "sweep with tallies": lambda: cuda_sweeps.sweep(chunk, 0, topics, weights, 1, 3, (mixtures, words), shape),
        "mixtures copied": lambda: mixtures.copy_to_host(),
        "log-likelihood of words": lambda: cuda_dcmlda._log_words(stats.words, tokens.level_first, params.on_card),
        "of mixtures": lambda: cuda_dcmlda._log_mixtures(stats.mixtures, stats.lengths, params),
        "types": lambda: cuda_dcmlda.CardUrns(stats, params.on_card.shape),
        "solve": lambda: urns.solve(np.full(n_topics, 10.0), 1),
        "column sums": lambda: cuda_sweeps.column_sums(params.on_card),
        "levels of mixtures": lambda: stats.of_mixtures(),
        "alpha": lambda: learn_alpha(whole),
        "table": lambda: cuda_dcmlda.CardHyperparameters(params.alpha, params.on_card).weights(shape),
    }
    found = {}
    for name, part in parts.items():
        found[name] = 1e3 * median(lambda part=part: (part(), cuda.synchronize()))
        print(f"{name}: {found[name]:.3f} ms", flush=True)
    return found


def stationary(n: int = 50_000) -> list[float]:
    """p of a chi-squared test: copies of a document after some sweeps, against the list of all its states."""
    import cuda_cases
    from scipy import stats as laws

    from bursty.engines import Chunk
    from bursty.engines.cuda import CudaChunk, fetch
    from bursty.inference.topics import cuda_dcmlda, cuda_sweeps
    from bursty.samplers.dcmlda import Hyperparameters

    oracles, words = cuda_cases.oracles, [0, 0, 0, 1, 3, 3]
    alpha = np.array([0.7, 1.6, 0.4])
    beta = np.array([[0.05, 2.0, 0.3], [1.2, 0.1, 0.3], [0.05, 0.4, 4.0], [0.9, 0.1, 0.3]])
    counts = sp.csr_array(np.tile(np.bincount(words, minlength=4).astype(np.int32), (n, 1)))
    chunk, params, found = CudaChunk(Chunk(counts)), Hyperparameters(alpha, beta), []
    states = oracles.all_topics(len(words), 3)
    joint = np.exp([oracles.dcmlda_log_joint(words, z, alpha, beta) for z in states])
    expected = n * joint / joint.sum()
    often = expected >= 5
    for shape in cuda_cases.shapes(3):
        topics = cuda_sweeps.copied(random_topics(n * len(words), 3))
        weights = cuda_dcmlda.CardHyperparameters.of(params).weights(shape)
        for number in range(25):
            cuda_sweeps.sweep(chunk, 0, topics, weights, 12, number, None, shape)
        codes = fetch(topics).reshape(n, -1).astype(int) @ 3 ** np.arange(len(words))[::-1]
        observed = np.bincount(codes, minlength=len(states))
        both = (np.append(part[often], part[~often].sum()) for part in (observed, expected))
        found.append(float(laws.chisquare(*both).pvalue))
    return found


def same_bits() -> bool:
    """The same seed twice."""
    from bursty.engines.cuda import fetch
    from bursty.inference.topics import cuda_dcmlda

    chunk, n_tokens = made_up("news", 1_000_000)
    params, topics, found = random_parameters(chunk.n_words, 100), random_topics(n_tokens, 100), []
    for _ in range(2):
        moved, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(3), True)
        found.append((fetch(moved).tobytes(), fetch(stats.words).tobytes(), stats.log_joint))
    return found[0] == found[1]


def two_samples(n_runs: int = 40) -> dict[str, float]:
    """p of Kolmogorov and Smirnov's test of five statistics after some sweeps, card against processor."""
    from scipy import stats as laws

    from bursty.engines import Chunk
    from bursty.engines.cuda import CudaChunk, fetch
    from bursty.inference.topics import cuda_dcmlda, dcmlda
    from bursty.samplers.tokens import State, Tokens, random_topics

    rng = np.random.default_rng(3)
    dense = rng.poisson(0.6, size=(300, 50)) * rng.integers(1, 4, size=(300, 50))
    params = dcmlda.Hyperparameters(rng.gamma(1.0, size=10) + 0.1, rng.gamma(0.3, size=(50, 10)) + 0.01)
    chunk = CudaChunk(Chunk(sp.csr_array(dense.astype(np.int32))))
    tokens, found = Tokens.numbered(chunk, 0), {"card": [], "processor": []}
    for run in range(n_runs):
        for place, values in found.items():
            seed = 2 * run + (place == "card")
            topics = random_topics(tokens, 10, seed)
            if place == "card":
                topics = fetch(cuda_dcmlda.sweeps(chunk, 0, topics, params, seed, range(30), True)[0])
            else:
                topics, _ = dcmlda.sweeps(chunk, 0, topics, params, seed, range(30), True)
            own, words = tokens.document_topics(topics, 10), tokens.word_topics(topics, 10)
            log_joint = dcmlda.log_joint(State(tokens, topics), params).sum()
            values.append([log_joint, (own > 0).sum(), (own**2).sum(), (words**2).sum(), own[:, 0].sum()])
    card, processor = np.array(found["card"]), np.array(found["processor"])
    names = "log-likelihood", "topics of documents", "squares of documents", "squares of words", "first topic"
    return {name: float(laws.ks_2samp(card[:, i], processor[:, i]).pvalue) for i, name in enumerate(names)}


def tomotopy_speed(counts: Any, n_tokens: int) -> float:
    """Millions of tokens per second of its LDA with all cores, after 100 sweeps, K = 100."""
    import os

    import tomotopy

    model = tomotopy.LDAModel(k=100, seed=0)
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        if cells.stop > cells.start:
            model.add_doc([str(word) for word in np.repeat(counts.indices[cells], counts.data[cells])])
    n_workers = os.cpu_count() or 1
    model.train(100, workers=n_workers)
    return n_tokens / median(lambda: model.train(10, workers=n_workers), 3) / 1e5


if __name__ == "__main__":
    main()
