"""Whole fits on a card, for `benchmarks.gpu`: where their time goes, and corpora that are cut into chunks."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from scipy import stats as laws

from bursty.engines import card
from bursty.engines import cuda as engine
from bursty.inference import mcem
from bursty.inference.stream import Stream
from bursty.inference.topics import cuda_dcmlda
from bursty.models import dcmlda, topics
from bursty.models.dcmlda import DCMLDA

#: Parts of a fit: what they are called, and the function that each of them is.
PHASES = {
    "counts are checked": (topics.TopicModel, "_place_to_fit"),
    "random topics": (mcem, "_begin"),
    "start by LDA": (dcmlda, "start"),
    "iterations": (mcem.Run, "step"),
    "samples": (mcem, "average"),
    "last M step": (cuda_dcmlda, "conclude"),
    "topics in order": (mcem.Result, "reordered"),
    "packed statistics": (Stream, "pack"),
}


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Seconds of each of the `PHASES` while this is open."""
    seconds = dict.fromkeys(PHASES, 0.0)
    patches = [mock.patch.object(*place, _timed(getattr(*place), name, seconds)) for name, place in PHASES.items()]
    for patch in patches:
        patch.start()
    try:
        yield seconds
    finally:
        for patch in patches:
            patch.stop()


def _timed(function: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[name] += time.perf_counter() - began

    return wrapper


def fits(counts: sp.csr_array, n_topics: int, n_iter: int, rounds: int, n_drawn: int) -> dict[str, Any]:
    """From counts to topics with warm kernels: medians of some fits, and the phases of the median one."""
    n_tokens, found = int(counts.sum()), []
    options = {"random_state": 0, "tol": 0, "n_components": n_topics, "n_drawn": n_drawn, "engine": "cuda"}
    DCMLDA(n_iter=n_drawn + 2, burn_in=1, n_samples=1, **options).fit(counts)
    for _ in range(rounds):
        with timed() as phases:
            began = time.perf_counter()
            model = DCMLDA(n_iter=n_iter, **options).fit(counts)
            seconds = time.perf_counter() - began
        phases["the rest"] = seconds - sum(phases.values())
        found.append((seconds, phases))
    found.sort(key=lambda pair: pair[0])
    seconds, phases = found[len(found) // 2]
    n_sweeps = int(model.trace_["sweep"][-1]) + model.n_samples
    return {
        "seconds": seconds,
        "of each fit": [one for one, _ in found],
        "sweeps": n_sweeps,
        "M tokens/s, all of it": n_sweeps * n_tokens / seconds / 1e6,
        "M tokens/s, median of iterations": float(np.median(model.trace_["tokens_per_second"])) / 1e6,
        "log_likelihood": float(model.trace_["log_likelihood"][-1]),
        "phases, seconds": phases,
    }


def tomotopy(counts: sp.csr_array, n_topics: int, n_sweeps: int) -> dict[str, float]:
    """Its LDA with all cores: speed after 100 sweeps (median of three times ten), and a whole fit of so many sweeps.

    The latter is the sum of its parts: the documents, the first 100 sweeps, and the others at that speed.
    """
    import tomotopy

    clock = [time.perf_counter()]
    model, seconds = tomotopy.LDAModel(k=n_topics, seed=0), []
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        if cells.stop > cells.start:
            model.add_doc([str(word) for word in np.repeat(counts.indices[cells], counts.data[cells])])
    n_workers = os.cpu_count() or 1
    clock.append(time.perf_counter())
    model.train(100, workers=n_workers)
    clock.append(time.perf_counter())
    filling, first = np.diff(clock).tolist()
    for _ in range(3):
        began = time.perf_counter()
        model.train(10, workers=n_workers)
        seconds.append(time.perf_counter() - began)
    one = float(np.median(seconds)) / 10
    return {
        "M tokens/s of sweeps": int(counts.sum()) / one / 1e6,
        "seconds for the documents": filling,
        "seconds of the first 100 sweeps": first,
        "seconds of a whole fit": filling + first + (n_sweeps - 100) * one,
    }


# Chunks ------------------------------------------------------------------------------------------------------


@contextmanager
def small_card(n_bytes: float) -> Iterator[list[Any]]:
    """As if the card had this much memory; yields the chunks that had to leave it, as often as they did."""
    gc.collect()  # what earlier fits have left
    card.free_unused()
    free, left, leave = engine.room(), [], engine.CudaChunk.leave_card

    def room() -> float:
        return n_bytes - (free - real())

    def leave_card(chunk: Any) -> None:
        left.append(chunk.n_documents)
        leave(chunk)

    real = engine.room
    with mock.patch.object(engine, "room", room), mock.patch.object(engine.CudaChunk, "leave_card", leave_card):
        yield left


def streaming(counts: sp.csr_array, n_iter: int, n_topics: int = 20, n_bytes: float = 0.25e9) -> dict[str, Any]:
    """Fits of ten copies in one chunk, in one chunk whose documents are cut as in many, and on a small card.

    Long documents of small chunks are cut into segments that documents of one large chunk need not be, and auxiliary
    variables make a chain slower. If that is all, the last two have the same log-likelihood up to noise.
    """
    many, found = sp.csr_array(sp.vstack([counts] * 10, format="csr")), {}
    options = {"n_components": n_topics, "n_iter": n_iter, "tol": 0, "n_samples": 2, "engine": "cuda"}
    with small_card(n_bytes):
        n_chunks = len(engine.CudaEngine(None).place(many).chunks)

    def fit(name: str, seed: int) -> None:
        began = time.perf_counter()
        model = DCMLDA(random_state=seed, **options).fit(many)
        values = [float(value) for value in model.trace_["log_likelihood"]]
        found[f"{name}, seed {seed}"] = {"seconds": time.perf_counter() - began, "log-likelihoods": values}

    for seed in (0, 1):
        fit("one chunk", seed)
        with mock.patch.object(engine, "_SIDE_BY_SIDE", n_chunks * engine._SIDE_BY_SIDE):
            fit("one chunk, cut as many", seed)
    with small_card(n_bytes) as left:
        fit(f"{n_chunks} chunks", 0)
    found["times that chunks left the card"] = len(left)
    return found


def same_distribution(n_runs: int = 20, n_iter: int = 10, n_documents: int = 308) -> dict[str, float]:
    """p of Kolmogorov and Smirnov's test: fits of eleven chunks against fits of one, with other seeds."""
    rng, shape = np.random.default_rng(3), (n_documents, 50)
    dense = rng.poisson(0.6, size=shape) * rng.integers(1, 4, size=shape)
    counts, found = sp.csr_array(dense.astype(np.int32)), {n_documents // 11: [], n_documents: []}
    for run in range(n_runs):
        for size, values in found.items():
            with mock.patch.object(engine, "_CHUNK", size):
                seed = 2 * run + (size == n_documents)
                options = {"n_iter": n_iter, "tol": 0, "n_samples": 2, "engine": "cuda", "random_state": seed}
                model = DCMLDA(5, **options).fit(counts)
            mixed = float((model.doc_topic_**2).sum())
            log_likelihood = float(np.mean(model.trace_["log_likelihood"][-5:]))
            values.append([log_likelihood, float(np.log(model.s_).mean()), float(model.alpha_.sum()), mixed])
    names = "log-likelihood", "log s", "sum of alpha", "squares of mixtures"
    chunked, whole = (np.array(values) for values in found.values())
    return {name: float(laws.ks_2samp(chunked[:, i], whole[:, i]).pvalue) for i, name in enumerate(names)}
