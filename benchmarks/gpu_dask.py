"""DCMLDA through workers that share one GPU, beside the same GPU without workers, for `benchmarks.gpu`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster

from bursty import DCMLDA
from bursty.engines.cuda import cut_for_cards
from bursty.engines.dask import DaskEngine


def fits(counts: sp.csr_array, n_topics: int, n_iter: int) -> Iterator[tuple[str, Any]]:
    """Times and log-likelihoods per word; whether one and two workers find the same, to the bit."""
    yield "chunks of workers", len(list(cut_for_cards(counts)))
    yield 'engine="cuda"', _fit(counts, n_topics, n_iter, "cuda")[1]
    models = []
    for n_workers in (1, 2):
        options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            model, found = _fit(counts, n_topics, n_iter, DaskEngine(client, device="cuda"))
        models.append(model)
        yield f"workers: {n_workers}", found
    same = {name: bool(np.array_equal(*(getattr(m, name) for m in models))) for name in ("beta_", "alpha_", "_topics")}
    same["log_likelihood"] = bool(np.array_equal(*(model.trace_["log_likelihood"] for model in models)))
    yield "the same bits by one and two workers", same


def _fit(counts: sp.csr_array, n_topics: int, n_iter: int, engine: Any) -> tuple[DCMLDA, dict[str, float]]:
    """With warm kernels: the second of two fits, of which the first is short."""
    options = {"n_components": n_topics, "tol": 0, "random_state": 0, "n_drawn": 0, "engine": engine}
    DCMLDA(n_iter=2, burn_in=1, n_samples=1, **options).fit(counts)
    began = time.perf_counter()
    model = DCMLDA(n_iter=n_iter, **options).fit(counts)
    seconds, sweeps = time.perf_counter() - began, np.diff(model.trace_["sweep"])
    speeds = np.array(model.trace_["tokens_per_second"])[1:]
    return model, {
        "seconds": seconds,
        "ms of an iteration, median": float(np.median(1e3 * sweeps * counts.sum() / speeds)),
        "log-likelihood per word": float(model.trace_["log_likelihood"][-1]),
    }
