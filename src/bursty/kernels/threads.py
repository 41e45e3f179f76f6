"""Threads for kernels: a plain pool and contiguous ranges; results do not depend on the number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from typing import Any

import joblib
import numpy as np

Array = np.ndarray[Any, Any]

# Below this many inner steps threads cost more than they save; a thread receives at least an eighth of it.
MIN_WORK = 100_000
# Ranges per thread if there is enough work: threads that are done early take over ranges of slower ones.
_SHARES = 4
# Number of elements that easily fit into the cache of a core.
BLOCK = 32_768

_n_threads: ContextVar[int] = ContextVar("bursty_threads", default=1)


def resolve(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs``: None and -1 mean all cores that this process may use.

    Differs from scikit-learn's default of one: results here are the same bits for any number of threads. A limit
    set in OMP_NUM_THREADS (as joblib's workers do) is respected.
    """
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a non-zero integer or None, not {n_jobs!r}")
    available = int(joblib.cpu_count())
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(available, int(limit)) if limit.isdigit() and int(limit) > 0 else available
    return int(n_jobs) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


@contextmanager
def using(n_threads: int) -> Iterator[None]:
    """Run the kernels called inside with this many threads."""
    token = _n_threads.set(n_threads)
    try:
        yield
    finally:
        _n_threads.reset(token)


def run(kernel: Callable[..., Any], cost: Array, *args: Any) -> None:
    """Call ``kernel(*args, start, stop)`` on ranges of about equal cost.

    ``cost`` is cumulative: item i takes ``cost[i + 1] - cost[i]`` (the ``indptr`` of a sparse matrix).
    """
    n_items, n_threads = len(cost) - 1, _n_threads.get()
    work = int(cost[-1] - cost[0])
    n_threads = min(n_threads, work // max(1, MIN_WORK // 8))
    if n_threads <= 1 or work < MIN_WORK:
        kernel(*args, 0, n_items)
        return
    n_ranges = n_threads * max(1, min(_SHARES, work // (n_threads * MIN_WORK)))
    goals = cost[0] + work * np.arange(1, n_ranges) / n_ranges
    bounds = [0, *np.searchsorted(cost, goals).tolist(), n_items]
    ranges = [bound for bound in pairwise(bounds) if bound[1] > bound[0]]
    left = iter(ranges)

    def work_off() -> None:
        for bound in left:
            kernel(*args, *bound)

    futures = [_pool(os.getpid()).submit(work_off) for _ in range(min(n_threads, len(ranges)) - 1)]
    try:
        work_off()  # this thread is already awake
    finally:
        wait(futures)
    for future in futures:
        future.result()


def apply(function: Callable[..., Any], table: Array, *operands: Any, out: Array | None = None) -> Array:
    """``function(table, *operands, out=out)`` for an element-wise NumPy function.

    It runs on blocks of rows that do not depend on the number of threads, because the vector loops of NumPy may compute
    a different last bit for elements in their remainder.
    """
    result = np.empty_like(table) if out is None else out
    rows = max(1, BLOCK // max(1, table.shape[1]))
    edges = np.append(np.arange(0, len(table), rows), len(table))

    def blocks(start: int, stop: int) -> None:
        with np.errstate(divide="ignore", under="ignore"):  # threads do not inherit this from the caller
            for block in range(start, stop):
                place = slice(edges[block], edges[block + 1])
                function(table[place], *operands, out=result[place])

    run(blocks, edges * np.int64(table.shape[1]))
    return result


@lru_cache(maxsize=1)
def _pool(pid: int) -> ThreadPoolExecutor:
    """One pool per process (a forked child gets its own)."""
    return ThreadPoolExecutor(max_workers=max(32, os.cpu_count() or 1), thread_name_prefix="bursty")
