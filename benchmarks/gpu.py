"""The CUDA engine on a card: the suite of its kernels, and its speed, in one run.

    python -m benchmarks.gpu --out results                                 all parts
    python -m benchmarks.gpu --out results --parts smoke suite             some of them

Each corpus and number of topics runs in a process of its own, so that a fault on the card ends that one alone, and
writes what it finds to a file in the folder at once; ``gpu.json`` has all of it in the end. Parts: ``smoke`` (versions,
the card, its bandwidth), ``suite`` (the kernels against plain formulas, the sampler against a list of all states, and
against the processor's sampler), ``sweeps`` (tokens per second for shapes of the kernel), ``iterations`` (an EM
iteration and its parts), ``fit`` (``--counts``, a sparse matrix saved by SciPy, from counts to topics, beside
tomotopy), ``profile`` (the parts of an iteration of that fit, by events of the card), ``streaming`` (a corpus in chunks
against one chunk), ``mixtures`` (an iteration of EM with the counts, and with rows like embeddings), ``dask`` (the
counts by one and two Dask workers that share the card).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import median, table

RESULTS: dict[str, Any] = {}
GOALS = {"news": {20: 5.0, 100: 4.0, 500: 1.5}, "nips": {20: 2.0, 100: 1.5, 500: 0.8}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gpu"))
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--tokens", type=float, default=48e6, help="of the corpora that are made up")
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 100, 500])
    parser.add_argument("--corpora", nargs="+", default=["news", "nips"], choices=["news", "nips", "counts"])
    parser.add_argument("--counts", type=Path, help="a corpus for the last part, and for --corpora counts")
    parser.add_argument("--iterations", type=int, default=200, help="of the fit")
    parser.add_argument("--seconds", type=float, default=500.0, help="no new process is begun after that")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    if arguments.job:
        tried(arguments, arguments.parts[0], lambda: PARTS[arguments.parts[0]](arguments))
        return
    stop = time.perf_counter() + arguments.seconds
    if {"sweeps", "iterations"} & set(arguments.parts):
        for corpus in set(arguments.corpora) - {"counts"}:
            make_up(arguments, corpus)
    for part in arguments.parts:
        of_corpora = part in ("sweeps", "iterations")
        for corpus in arguments.corpora if of_corpora else [""]:
            for n_topics in arguments.topics if of_corpora else [0]:
                if time.perf_counter() > stop:
                    print(f"{part} {corpus} {n_topics}: no time left", flush=True)
                    continue
                run(arguments, part, corpus, n_topics)
    for path in sorted(arguments.out.glob("job-*.json")):
        RESULTS.update(json.loads(path.read_text()))
        path.unlink()
    (arguments.out / "gpu.json").write_text(json.dumps(RESULTS, indent=1, default=float))
    show(arguments)


def run(arguments: argparse.Namespace, part: str, corpus: str, n_topics: int) -> None:
    """A part in a process of its own."""
    name = "-".join(str(word) for word in ("job", part, corpus, n_topics) if word)
    command = [sys.executable, "-m", "benchmarks.gpu", "--job", name, "--parts", part, "--out", str(arguments.out)]
    command += ["--tokens", str(arguments.tokens), "--topics", str(n_topics)]
    command += ["--iterations", str(arguments.iterations)]
    command += ["--corpora", corpus] if corpus else []
    command += ["--counts", str(arguments.counts)] if arguments.counts else []
    done = subprocess.run(command, check=False)
    if done.returncode:
        RESULTS[f"{name}: ended with"] = done.returncode


def keep(arguments: argparse.Namespace, name: str, value: Any) -> None:
    """Write a result at once."""
    RESULTS[name] = value
    (arguments.out / f"{arguments.job}.json").write_text(json.dumps(RESULTS, indent=1, default=float))


def tried(arguments: argparse.Namespace, name: str, part: Callable[[], Any]) -> Any:
    """Run something; where it fails, the others go on."""
    began = time.perf_counter()
    try:
        result = part()
    except Exception as error:
        traceback.print_exc()
        keep(arguments, f"{name}: failed", f"{type(error).__name__}: {error}")
        return None
    print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
    return result


def show(arguments: argparse.Namespace) -> None:
    """The tables."""
    for title in ("sweeps", "iteration"):
        rows = []
        for corpus in arguments.corpora:
            for n_topics in arguments.topics:
                found = RESULTS.get(f"{corpus} K={n_topics} {title}")
                if found:
                    goal = GOALS.get(corpus, {}).get(n_topics, 0.0) * (0.7 if title == "iteration" else 1.0)
                    rows.append((corpus, n_topics, *found.values(), goal))
                    header = ("corpus", "topics", *found, "goal, G tokens/s")
        if rows:
            table(f"DCMLDA, {title}", rows, header)


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
    from benchmarks import gpu_suite

    for function in gpu_suite.cuda_cases.CASES:
        tried(arguments, function.__name__, lambda f=function: (f(), keep(arguments, f.__name__, "passed")))
        if function.__name__.startswith(("check_dcmlda", "check_lda", "check_lanes")):
            larger = f"{function.__name__}, larger"
            tried(arguments, larger, lambda f=function, n=larger: (f(60, 70), keep(arguments, n, "passed")))
    for name, check in {
        "p of all states, for four shapes": gpu_suite.stationary,
        "same bits again": gpu_suite.same_bits,
        "tokens that change where all topics are as likely": gpu_suite.every_token_is_visited,
        "p of five statistics, card against processor": gpu_suite.two_samples,
        "perplexity of document completion": gpu_suite.completion,
    }.items():
        tried(arguments, name, lambda name=name, check=check: keep(arguments, name, check()))


def sweeps(arguments: argparse.Namespace) -> None:
    """Billions of tokens per second of one sweep, for shapes of the kernel; DCMLDA and LDA."""
    from bursty.inference.topics.cuda_sweeps import Shape

    (corpus,), (n_topics,) = arguments.corpora, arguments.topics
    chunk, n_tokens = load(arguments, corpus)
    sizes = [chunk.n_documents, chunk.n_words, n_tokens, chunk.on_card.longest]
    keep(arguments, f"{corpus}: documents, words, tokens, longest", sizes)
    result: dict[str, Any] = {}
    for model in ("DCMLDA", "LDA"):
        found: dict[tuple[int, int], float] = {}
        variants = [(lanes, 128) for lanes in (4, 8, 16, 32)]
        while variants:
            for variant in variants:
                name = f"{corpus} K={n_topics} {model} {variant}"
                speed = tried(arguments, name, lambda v=variant, m=model: speed_of(chunk, n_tokens, n_topics, v, m))
                if speed is not None:
                    found[variant] = speed
                    keep(arguments, f"{name}, G tokens/s", speed)
            best = max(found, key=lambda variant: found[variant])
            variants = [(best[0], 64), (best[0], 256)] if len(variants) == 4 and model == "DCMLDA" else []
        own = Shape.of(n_topics, chunk)
        shape = (own.n_lanes, own.n_threads)
        result |= {f"{model}, the shape taken": shape, f"{model}, G tokens/s": found.get(shape)}
        result |= {f"{model}, best shape": best, f"{model}, its G tokens/s": found[best]}
        keep(arguments, f"{corpus} K={n_topics} sweeps", result)


def iterations(arguments: argparse.Namespace) -> None:
    """An EM iteration of DCMLDA, 5 sweeps and the M step, and where its time goes."""
    from numba import cuda

    from benchmarks import gpu_profile
    from bursty.inference.topics import cuda_dcmlda, dcmlda

    (corpus,), (n_topics,) = arguments.corpora, arguments.topics
    chunk, n_tokens = load(arguments, corpus)
    method, params = dcmlda.Method(), random_parameters(chunk.n_words, n_topics)
    topics, times = random_topics(n_tokens, n_topics), []
    topics, _ = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(1), True)  # with moves, for their kernels
    for i in range(6):
        cuda.synchronize()
        clock = [time.perf_counter()]
        topics, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(5 * i + 1, 5 * i + 6), True)
        cuda.synchronize()
        clock.append(time.perf_counter())
        params = cuda_dcmlda.update(method, stats, params)
        cuda.synchronize()
        clock.append(time.perf_counter())
        times.append(np.diff(clock))
    # Four iterations are twenty sweeps, before one of which blocks of tokens are moved.
    sweeping, updating = (1e3 * float(t) for t in np.mean(times[2:], axis=0))
    speed = 5 * n_tokens / (sweeping + updating) / 1e6
    result = {"ms of sweeps and tallies": sweeping, "of the update": updating, "G tokens/s in all": speed}
    keep(arguments, f"{corpus} K={n_topics} iteration", result)
    parts = gpu_profile.parts_of_iteration(chunk, topics, params, n_topics)
    keep(arguments, f"{corpus} K={n_topics} parts of an iteration, ms on the card, until launched", parts)


def fit(arguments: argparse.Namespace) -> None:
    """From counts to topics: K = 100, 200 iterations, warm kernels; and tomotopy's sweeps beside them."""
    from benchmarks import gpu_fit

    counts = sp.csr_array(sp.load_npz(arguments.counts).astype(np.int32))
    fits = {}
    for n_drawn in (0, 60):
        found = gpu_fit.fits(counts, 100, arguments.iterations, 3, n_drawn)
        keep(arguments, f"fit, K = 100, {arguments.iterations} iterations, n_drawn = {n_drawn}", found)
        print(json.dumps(found, indent=1), flush=True)
        fits[n_drawn] = found
    if importlib.util.find_spec("tomotopy"):
        peer = gpu_fit.tomotopy(counts, 100, fits[0]["sweeps"])
        keep(arguments, "tomotopy LDA, K = 100", peer)
        for n_drawn, own in fits.items():
            ratios = {
                "its sweeps alone": own["M tokens/s, all of it"] / peer["M tokens/s of sweeps"],
                "its whole fit": peer["seconds of a whole fit"] / own["seconds"],
            }
            keep(arguments, f"times tomotopy, n_drawn = {n_drawn}", ratios)
            print(f"tomotopy {peer}; n_drawn={n_drawn}: {ratios}", flush=True)


def profile(arguments: argparse.Namespace) -> None:
    """The parts of an iteration with the counts, K = 100."""
    from benchmarks import gpu_profile

    counts = sp.csr_array(sp.load_npz(arguments.counts).astype(np.int32))
    found = gpu_profile.of_fit(counts, 100, min(30, arguments.iterations))
    keep(arguments, "profile, counts, K = 100", found)
    rows = [(name, *both) for name, both in found["ms on the card, until launched"].items()]
    table("Parts of an iteration of DCMLDA, K = 100", rows, ("part", "ms on the card", "ms until launched"))


def streaming(arguments: argparse.Namespace) -> None:
    """Corpora in chunks: the same distribution, and a card that is too small for all of them."""
    from benchmarks import gpu_fit

    result = gpu_fit.same_distribution()
    keep(arguments, "p of four statistics, eleven chunks against one", result)
    print(result, flush=True)
    if arguments.counts:
        counts = sp.csr_array(sp.load_npz(arguments.counts).astype(np.int32))
        result = gpu_fit.streaming(counts, 10)
        keep(arguments, "ten copies in chunks, K = 20", result)
        print(json.dumps(result), flush=True)


def mixtures(arguments: argparse.Namespace) -> None:
    """An iteration of EM for mixtures of six copies of the counts, and of rows like embeddings."""
    from benchmarks import gpu_mixtures

    counts = sp.csr_array(sp.load_npz(arguments.counts).astype(np.int32))
    for name, found in gpu_mixtures.steps(counts):
        keep(arguments, f"mixture, {name}", found)
        print(name, found, flush=True)


def dask(arguments: argparse.Namespace) -> None:
    """Twenty iterations of DCMLDA with the counts, K = 100, by this process and by workers."""
    from benchmarks import gpu_dask

    counts = sp.csr_array(sp.load_npz(arguments.counts).astype(np.int32))
    for name, found in gpu_dask.fits(counts, 100, min(20, arguments.iterations)):
        keep(arguments, f"dask, {name}", found)
        print(name, found, flush=True)


PARTS = {
    "smoke": smoke,
    "suite": suite,
    "sweeps": sweeps,
    "iterations": iterations,
    "fit": fit,
    "profile": profile,
    "streaming": streaming,
    "mixtures": mixtures,
    "dask": dask,
}

# What they are made of ---------------------------------------------------------------------------------------


def make_up(arguments: argparse.Namespace, name: str) -> None:
    """Documents about as long, and words about as frequent and as often repeated, as in 20 newsgroups or nips391."""
    if path_of(arguments, name).exists():
        return
    rng, n_tokens = np.random.default_rng(0), int(arguments.tokens)
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
    sp.save_npz(path_of(arguments, name), counts, compressed=False)


def path_of(arguments: argparse.Namespace, name: str) -> Path:
    """Where a corpus is."""
    return arguments.counts if name == "counts" else arguments.out / f"{name}-{arguments.tokens:.0f}.npz"


def load(arguments: argparse.Namespace, name: str) -> tuple[Any, int]:
    """A corpus, and its tokens."""
    from bursty.engines import Chunk
    from bursty.engines.cuda import CudaChunk

    counts = sp.csr_array(sp.load_npz(path_of(arguments, name)).astype(np.int32))
    return CudaChunk(Chunk(counts)), int(counts.sum())


def random_parameters(n_words: int, n_topics: int) -> Any:
    """A fifth of the pairs above their floor."""
    from bursty.samplers.dcmlda import Hyperparameters

    rng = np.random.default_rng(1)
    beta = np.where(rng.random((n_words, n_topics)) < 0.2, rng.gamma(0.3, size=(n_words, n_topics)), 0.0) + 1e-4
    return Hyperparameters(rng.gamma(1.0, size=n_topics) / n_topics + 0.01, beta)


def random_topics(n_tokens: int, n_topics: int) -> Any:
    """A topic for each token."""
    from bursty.samplers.tokens import topic_type

    return np.random.default_rng(2).integers(0, n_topics, size=n_tokens, dtype=topic_type(n_topics))


def speed_of(chunk: Any, n_tokens: int, n_topics: int, variant: tuple[int, int], model: str) -> float | None:
    """Billions of tokens per second with so many lanes and threads, or None where the shared memory is too small."""
    from numba import cuda

    from bursty.engines.card import copied
    from bursty.inference.topics import cuda_dcmlda, cuda_sweeps
    from bursty.kernels.cuda import gibbs

    shape = cuda_sweeps.Shape(variant[0], -(-n_topics // variant[0]), variant[1])
    if gibbs.shared_bytes(shape.n_lanes, shape.n_slots, shape.n_threads) > 49_152 or shape.n_slots > 32:
        return None
    weights = cuda_dcmlda.CardHyperparameters.of(random_parameters(chunk.n_words, n_topics)).weights
    weights = dataclasses.replace(weights, bursty=model == "DCMLDA")
    topics, number = copied(random_topics(n_tokens, n_topics)), iter(range(1000))

    def one() -> None:
        cuda_sweeps.Sweep(chunk, 0, topics, weights, 1, next(number), None, shape).run()
        cuda.synchronize()

    return n_tokens / median(one, 3) / 1e9


if __name__ == "__main__":
    main()
