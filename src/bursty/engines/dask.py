"""The Dask engine: chunks live on the workers of a cluster, parameters are sent there and sums are returned.

Every thread of the cluster has a share of consecutive chunks and runs one task for all of it: an iteration has as many
tasks as there are threads, whatever the number of documents.

A share, and every column kept with it, is the result of a task, so that Dask recomputes it if its worker is lost. What
a chain of sweeps keeps is the result of all tasks before it. Every so often (after `RETAINED` bytes of parameters, or
`GENERATIONS` sweeps) it is copied to the client and placed again, which cuts the chain.
"""

from __future__ import annotations

import operator
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from distributed import CancelledError, Client, Future, get_client, wait
from distributed import TimeoutError as DaskTimeout
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from bursty.corpus.shards import ShardedCorpus
from bursty.engines import dask_tasks as jobs
from bursty.engines.chunks import cut
from bursty.engines.cuda import cut_for_cards
from bursty.engines.dask_collections import Task, cut_collection
from bursty.engines.documents import Column, Documents, Engine, Size
from bursty.kernels import threads
from bursty.typing import Array
from bursty.validation import Collection

#: What Dask would have to recompute after a loss: at most this many generations of a kept column, ...
GENERATIONS = 100
#: ... or as many as have sent this many bytes of parameters.
RETAINED = 2**28
#: Seconds between two checks of the workers while waiting for results, ...
POLL = 5.0
#: ... for which all busy workers may be paused, as they are when they run out of memory, ...
PATIENCE = 60.0
#: ... and for which there may be no workers at all.
ABSENCE = 300.0
#: How often each worker may be lost while waiting for one result: workers that run out of memory are restarted by their
#: nannies, only to run out of memory again.
LOSSES = 4


class EngineLost(RuntimeError):
    """The cluster is lost; a fit with a checkpoint can be resumed elsewhere."""


class DaskEngine(Engine):
    """The workers of the given client, or of the current one.

    With ``device="cuda"`` each worker runs the functions that have a version for the GPU on its own GPU, of which all
    workers need one: one process with one thread for each GPU. Everything else runs on the CPU.

    See Also
    --------
    bursty.engines.get_engine, bursty.engines.Engine

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from bursty.engines.dask import DaskEngine
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     DaskEngine(client).device
    'cpu'
    """

    def __init__(self, client: Client | None = None, device: str = "cpu") -> None:
        if device not in ("cpu", "cuda"):
            raise ValueError(f'device must be "cpu" or "cuda", not {device!r}')
        if client is None:
            try:
                client = get_client()
            except ValueError:
                raise ValueError(
                    'engine="dask" runs on the cluster of a dask.distributed.Client, but there is none: make one '
                    "first, such as Client() for processes on this machine"
                ) from None
        self.client = client
        self.device = device

    def place(self, counts: sp.csr_array | Array | ShardedCorpus | Collection) -> Documents:
        """Cut and send counts of this process; shards and collections are opened by the workers."""
        if isinstance(counts, np.ndarray):  # dense rows travel as sparse ones
            counts = sp.csr_array(counts.astype(np.float64))
        with _named_losses(self.client):
            if isinstance(counts, ShardedCorpus):
                sizes = [Size(shard.documents, shard.cells, shard.empty) for shard in counts.shards]
                shares, path = _shares(self.client, sizes), str(counts.path.resolve())
                placed = [
                    _run(self.client, share, jobs.OpenShards, path, share.start, share.stop, self.device)
                    for share in shares
                ]
            else:
                tasks, sizes = self._cut(counts)
                shares = _shares(self.client, sizes)
                placed = [_placed(self.client, share, tasks[share.slice], self.device) for share in shares]
            _finish(self.client, placed)
        n_words = counts.n_words if isinstance(counts, Collection) else counts.shape[1]
        return DaskDocuments(self.client, placed, shares, sizes, n_words, self.device)

    def _cut(self, counts: sp.csr_array | Collection) -> tuple[list[Task], list[Size]]:
        """The task of each chunk, and its size."""
        if isinstance(counts, Collection):
            return cut_collection(self.client, counts)
        chunks = list(cut(counts) if self.device == "cpu" else cut_for_cards(counts))
        return [(jobs.identity, chunk) for chunk in chunks], [Size.of(chunk) for chunk in chunks]


@dataclass(frozen=True)
class Share:
    """Consecutive chunks, and their home: the worker that processes them as long as it lives."""

    home: str
    start: int
    stop: int

    @property
    def slice(self) -> slice:
        """The positions of these chunks among all."""
        return slice(self.start, self.stop)


class KeptColumn(list[Future]):
    """A column on the workers: for each share, a list with one item per chunk."""


class DaskDocuments(Documents):
    """Chunks on the workers, share by share."""

    def __init__(
        self,
        client: Client,
        chunks: Sequence[Future],
        shares: Sequence[Share],
        sizes: Sequence[Size],
        n_words: int,
        device: str = "cpu",
    ) -> None:
        super().__init__(sizes, n_words, threads.resolve(None))
        self.client = client
        self.device = device
        self.chunks = chunks
        self.shares = shares
        self._generations, self._retained = 0, 0

    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """All shares are submitted before the first result is returned."""
        with _named_losses(self.client):
            results = self._submit(jobs.map_chunks, function, columns, shared)[::-1]
            while results:
                yield from _result(self.client, results.pop())

    def sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Added on the workers, in the order of `total`; only one sum is sent."""
        with _named_losses(self.client):
            return _result(self.client, self._added(self._submit(jobs.sum_chunks, function, columns, shared)))

    def keep(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Column:
        """Return futures of the results."""
        with _named_losses(self.client):
            kept = self._submit(jobs.map_chunks, function, columns, shared)
            _finish(self.client, kept)
            return self._shortened(kept, shared)

    def keep_and_sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> tuple[Column, Any]:
        """The pairs are split on the workers."""
        with _named_losses(self.client):
            pairs = self._submit(jobs.map_and_sum_chunks, function, columns, shared)
            kept, sums = (
                [self._run(i, operator.getitem, pair, part) for i, pair in enumerate(pairs)] for part in (0, 1)
            )
            added = self._added(sums)
            _finish(self.client, kept)
            return self._shortened(kept, shared), _result(self.client, added)

    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Runs on the worker that has the chunk."""
        number = next(i for i, share in enumerate(self.shares) if chunk < share.stop)
        place = chunk - self.shares[number].start
        with _named_losses(self.client):
            return _result(
                self.client,
                self._run(number, jobs.apply_to_chunk, function, shared, place, *self._items(number, columns)),
            )

    def select(self, mask: Array) -> Documents:
        """The rows are selected on the workers."""
        masks = Documents.split(self, mask)
        with _named_losses(self.client):
            parts = [self._run(i, jobs.select_rows, self.chunks[i], masks[s.slice]) for i, s in enumerate(self.shares)]
            sizes = [
                _result(self.client, size) for size in [self._run(i, jobs.sizes_of, p) for i, p in enumerate(parts)]
            ]
        chosen: list[Future] = []
        shares: list[Share] = []
        for part, share, own in zip(parts, self.shares, sizes, strict=True):
            if own:
                start = shares[-1].stop if shares else 0
                shares.append(Share(share.home, start, start + len(own)))
                chosen.append(part)
        all_sizes = [size for own in sizes for size in own]
        return DaskDocuments(self.client, chosen, shares, all_sizes, self.n_words, self.device)

    def split(self, rows: Any) -> Column:
        """The parts are sent once."""
        parts = super().split(rows)
        return parts if rows is None else self._sent([parts[share.slice] for share in self.shares])

    def _submit(
        self, task: Callable[..., Any], function: Callable[..., Any], columns: Sequence[Column], shared: dict[str, Any]
    ) -> list[Future]:
        """Shared arguments are one task, on which the task of each share depends: they are sent to a worker once."""
        if self.device == "cuda" and getattr(function, "has_versions", False):
            task = partial(jobs.run_on_card, task)
        common = self._run(0, jobs.identity, shared)
        return [
            self._run(i, task, function, common, (share.start, len(self.sizes)), *self._items(i, columns))
            for i, share in enumerate(self.shares)
        ]

    def _items(self, number: int, columns: Sequence[Column]) -> list[Any]:
        """The chunks of a share, and its part of each column."""
        share = self.shares[number].slice
        return [self.chunks[number], *(c[number] if isinstance(c, KeptColumn) else list(c[share]) for c in columns)]

    def _run(self, number: int, function: Callable[..., Any], *args: Any) -> Future:
        """Submit a task to the home of a share."""
        return _run(self.client, self.shares[number], function, *args)

    def _added(self, sums: list[Future]) -> Future:
        """Join neighbours at the home of the first, until two are left."""
        reach = 1
        while len(sums) > 2:
            pairs = [sums[i : i + 2] for i in range(0, len(sums), 2)]
            sums = [self._run(2 * i * reach, jobs.join_sums, *pair) for i, pair in enumerate(pairs)]
            reach *= 2
        return self._run(0, jobs.value_of_sums, *sums)

    def _shortened(self, kept: list[Future], shared: dict[str, Any]) -> KeptColumn:
        self._generations += 1
        self._retained += jobs.bytes_of(shared)
        if self._generations < GENERATIONS and self._retained < RETAINED:
            return KeptColumn(kept)
        self._generations, self._retained = 0, 0
        return self._sent(self.client.gather(kept))

    def _sent(self, parts: Sequence[Any]) -> KeptColumn:
        return KeptColumn(self._run(i, jobs.identity, part) for i, part in enumerate(parts))


def _run(client: Client, share: Share, function: Callable[..., Any], *args: Any) -> Future:
    """Submit a task to the home of a share, or to another worker if that one is lost."""
    with warnings.catch_warnings():
        # Parameters are large, but are sent only once.
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        return client.submit(function, *args, pure=False, workers=[share.home], allow_other_workers=True)


def _placed(client: Client, share: Share, tasks: Sequence[Task], device: str) -> Future:
    """The chunks of a share, from their tasks."""
    return _run(client, share, jobs.on_device, device, *(_run(client, share, *task) for task in tasks))


def _shares(client: Client, sizes: Sequence[Size]) -> list[Share]:
    """Consecutive chunks for each thread of each worker, with about the same amount of work each."""
    # Not `scheduler_info`: the client refreshes it by itself, without the workers, at any time.
    homes = [address for address, n_threads in sorted(client.nthreads().items()) for _ in range(n_threads)]
    if not homes:
        raise EngineLost("the Dask cluster has no workers: start some, or wait for them with client.wait_for_workers")
    costs = np.array([size.cells + 1.0 for size in sizes])
    middles = np.cumsum(costs) - costs / 2  # a chunk belongs where its middle falls
    edges = np.searchsorted(middles, costs.sum() * np.arange(len(homes)) / len(homes))
    # Shares that begin at a branch of the tree have fewer branches to send.
    branch = 2 ** int(np.log2(max(1.0, len(sizes) / (8 * len(homes)))))
    edges = [*(np.rint(edges / branch).astype(int) * branch).tolist(), len(sizes)]
    return [Share(home, *edge) for home, edge in zip(homes, pairwise(edges), strict=True) if edge[0] < edge[1]]


def _finish(client: Client, futures: Sequence[Future]) -> None:
    """Wait for all, and raise the error of any that failed."""
    seen: dict[str, Worker] = {}
    stalled_since = None
    while True:
        try:
            with client.as_current():  # it need not be the current client
                wait(futures, timeout=POLL)
            break
        except DaskTimeout:
            workers = _workers(client)
        seen |= {worker.address: worker for worker in workers}
        n_lost = len(seen) - len(workers)
        if n_lost >= LOSSES * max(1, len(workers)):
            why = f"workers were lost {n_lost} times in one step, perhaps because they ran out of memory"
            raise EngineLost(_with_limit(why, seen.values())) from None
        busy = [worker for worker in workers if worker.n_tasks] or workers
        if not all(worker.paused for worker in busy):
            stalled_since = None
            continue
        stalled_since = stalled_since or time.monotonic()
        if time.monotonic() - stalled_since > (PATIENCE if busy else ABSENCE):
            if not busy:
                raise EngineLost("the Dask cluster has no workers any more: start some and fit again") from None
            used = max(worker.used for worker in workers)
            why = f"all busy workers are paused, because they ran out of memory ({used:,} bytes are in use)"
            raise EngineLost(_with_limit(why, workers)) from None
    for future in futures:
        if future.status != "finished":
            future.result()


def _result(client: Client, future: Future) -> Any:
    _finish(client, [future])
    return future.result()


class Worker(NamedTuple):
    """What the scheduler knows about a worker."""

    address: str
    paused: bool
    limit: int
    used: int
    n_tasks: int


def _workers(client: Client) -> list[Worker]:
    """The workers as they are now; tasks whose homes are lost are sent to them."""
    return [Worker(*row) for row in client.run_on_scheduler(_known_workers)]


def _known_workers(dask_scheduler: Any) -> list[tuple[Any, ...]]:
    # If all workers are lost at once, Dask leaves their tasks waiting for these addresses, and workers that are
    # restarted have others.
    homeless = [task for task in dask_scheduler.unrunnable if task.loose_restrictions]
    if dask_scheduler.workers and homeless:
        dask_scheduler.set_restrictions({task.key: None for task in homeless})
        dask_scheduler.transitions({task.key: "processing" for task in homeless}, stimulus_id="bursty-homeless")
    return [tuple(_as_known(worker)) for worker in dask_scheduler.workers.values()]


def _as_known(worker: Any) -> Worker:
    used = worker.metrics.get("memory", 0)
    return Worker(worker.address, worker.status.name == "paused", worker.memory_limit, used, len(worker.processing))


def _with_limit(why: str, workers: Iterable[Worker]) -> str:
    limits = sorted({worker.limit for worker in workers if worker.limit})
    limit = f"the limit is {limits[0]:,} bytes per worker" if limits else "workers have no limit of their own"
    return (
        f"{why}; {limit}. Give the workers more (memory_limit= of the cluster), add workers, or fit from shards "
        "(write_shards)"
    )


@contextmanager
def _named_losses(client: Client) -> Iterator[None]:
    """Explain the loss of a cluster in the user's terms."""
    if client.status in ("closed", "closing"):
        raise EngineLost("the Dask client is closed: make a new one and fit again")
    try:
        yield
    except KilledWorker as error:
        why = f"several workers died on the same task, perhaps because they ran out of memory ({error})"
        raise EngineLost(_with_limit(why, [_as_known(error.last_worker)])) from error
    except (CancelledError, CommClosedError, TimeoutError) as error:
        raise EngineLost(
            "the connection to the Dask scheduler is lost, or the scheduler lost its tasks: connect to a cluster and "
            "fit again; with a checkpoint, the fit resumes where it stopped"
        ) from error
