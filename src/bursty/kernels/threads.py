"""Threads for kernels: a plain pool and contiguous ranges; results do not depend on the number of threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

import joblib
import numpy as np

from bursty.typing import Array

# Below this many inner steps threads cost more than they save; a thread receives at least half of it, since waking many
# takes longer than a small kernel.
MIN_WORK = 100_000
# Threads that are done early take over ranges of slower ones. Therefore ranges become smaller towards the end: each is
# this share of what is left for a thread, but at least the other of all that a thread has, and this many inner steps.
_SHARE, _LEAST, _LEAST_STEPS = 1 / 2, 1 / 32, 25_000
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
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    available = int(joblib.cpu_count())  # it reads files, which takes longer than many a fit
    if n_jobs is not None:
        return max(1, available + 1 + int(n_jobs))
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(available, int(limit)) if limit.isdigit() and int(limit) > 0 else available


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
    n_items, n_threads, work = len(cost) - 1, _n_threads.get(), 0
    if n_threads > 1:
        work = int(cost[-1] - cost[0])
        n_threads = min(n_threads, work // max(1, MIN_WORK // 2))
    if n_threads <= 1 or work < MIN_WORK:
        kernel(*args, 0, n_items)
        return
    bounds = [0, *np.searchsorted(cost, cost[0] + np.asarray(_goals(work, n_threads))).tolist(), n_items]
    ranges = [bound for bound in pairwise(bounds) if bound[1] > bound[0]]
    left = iter(ranges)

    def work_off() -> None:
        for bound in left:
            kernel(*args, *bound)

    workers, n_helpers = _workers(os.getpid()), min(n_threads, len(ranges)) - 1
    done = workers.begin(work_off, n_helpers)
    try:
        work_off()  # this thread is already awake
    finally:
        errors = workers.end(done, n_helpers)
    for error in errors:
        raise error


@lru_cache
def _goals(work: int, n_threads: int) -> list[float]:
    """Where the ranges end, but for the last one."""
    part = work / n_threads
    least = min(part, max(_LEAST * part, _LEAST_STEPS))
    goals, left = [], float(work)
    while left > 1.5 * least:
        left -= max(_SHARE * left / n_threads, least)
        goals.append(work - left)
    return goals


def apply(function: Callable[..., Any], table: Any, *operands: Any, out: Array | None = None) -> Any:
    """``function(table, *operands, out=out)`` for an element-wise NumPy function.

    It runs on blocks of rows that do not depend on the number of threads, because the vector loops of NumPy may compute
    a different last bit for elements in their remainder.
    """
    if not isinstance(table, np.ndarray):  # on a device
        return function(table, *operands)
    result = np.empty_like(table) if out is None else out
    edges = block_edges(table)

    def blocks(start: int, stop: int) -> None:
        apply_blocks(function, edges, start, stop, table, result, *operands)

    run(blocks, edges * np.int64(table.shape[1]))
    return result


def block_edges(table: Array) -> Array:
    """First row of each block of a table, and its number of rows."""
    rows = max(1, BLOCK // max(1, table.shape[1]))
    return np.minimum(np.arange(0, len(table) + rows, rows), len(table))


def apply_blocks(
    function: Callable[..., Any], edges: Array, start: int, stop: int, table: Array, out: Array, *operands: Any
) -> None:
    """`apply` to blocks ``start`` to ``stop``."""
    with np.errstate(divide="ignore", under="ignore"):  # threads do not inherit this from the caller
        for block in range(start, stop):
            place = slice(edges[block], edges[block + 1])
            function(table[place], *operands, out=out[place])


class _Workers:
    """Threads that wait for work.

    Like an executor without futures, whose locks take longer than a kernel that many threads share: all of it runs
    while no other thread can run Python.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], None], SimpleQueue[BaseException | None]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._n_threads = self._n_jobs = 0
        self._limit = max(32, os.cpu_count() or 1)

    def begin(self, job: Callable[[], None], n_times: int) -> SimpleQueue[BaseException | None]:
        """Run the job on this many threads; pass the result to `end`."""
        with self._lock:
            self._n_jobs += n_times
            while self._n_threads < min(self._n_jobs, self._limit):
                self._n_threads += 1
                # Nothing is left to do when Python ends, since callers wait for their jobs.
                threading.Thread(target=self._work, name=f"bursty_{self._n_threads}", daemon=True).start()
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for _ in range(n_times):
            self._jobs.put((job, done))
        return done

    def end(self, done: SimpleQueue[BaseException | None], n_times: int) -> list[BaseException]:
        """Wait for the jobs, and return what they raised."""
        errors = [done.get() for _ in range(n_times)]
        with self._lock:
            self._n_jobs -= n_times
        return [error for error in errors if error is not None]

    def _work(self) -> None:
        while True:
            job, done = self._jobs.get()
            try:
                job()
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)
            del job, done  # and the arrays that belong to them


@lru_cache(maxsize=1)
def _workers(pid: int) -> _Workers:
    """One set of threads per process (a forked child gets its own)."""
    return _Workers()
