"""The engine of a Dask cluster: chunks live on the workers, parameters go there and sums come back.

Every chunk and everything kept beside it is the result of a task, so that Dask makes it again when the worker that had
it is lost. What a chain of sweeps keeps is the result of all tasks before it; now and then (`RETAINED` bytes of
parameters, or `GENERATIONS` of them) it is copied to the client and placed anew, which cuts the chain.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from dask.sizeof import sizeof
from distributed import CancelledError, Client, Future, get_client, wait
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from bursty.corpus.shards import SHARD_SIZE, ShardedCorpus
from bursty.engines.base import Engine
from bursty.engines.chunks import Chunk, cut
from bursty.engines.documents import Column, Documents, Size
from bursty.kernels import threads
from bursty.validation import Collection, check_counts, stack_documents

Array = np.ndarray[Any, Any]
#: A function and its arguments.
Task = tuple[Any, ...]

#: What Dask would have to do again after a loss: at most so many generations of a kept column, ...
GENERATIONS = 100
#: ... or as many as have sent parameters of so many bytes.
RETAINED = 2**28


class EngineLost(RuntimeError):
    """The cluster is gone; work that was checkpointed can go on elsewhere."""


class DaskEngine(Engine):
    """The workers of a client: the one given, or the one of the context."""

    def __init__(self, client: Client | None = None) -> None:
        if client is None:
            try:
                client = get_client()
            except ValueError:
                raise ValueError(
                    'engine="dask" runs on the cluster of a dask.distributed.Client, and there is none: make one '
                    "first, such as Client() for processes on this machine"
                ) from None
        self.client = client

    def place(self, counts: sp.csr_array | ShardedCorpus | Collection) -> Documents:
        """Counts of this process are cut and sent; shards and collections are opened by the workers."""
        with _named_losses(self.client):
            if isinstance(counts, ShardedCorpus):
                sizes = [Size(shard.documents, shard.cells, shard.empty) for shard in counts.shards]
                path = str(counts.path.resolve())
                tasks: list[Task] = [(_open_shard, path, number) for number in range(len(sizes))]
            elif isinstance(counts, Collection):
                tasks, sizes = _cut_collection(self.client, counts)
            else:
                chunks = list(cut(counts))
                sizes = [Size.of(chunk) for chunk in chunks]
                tasks = [(_itself, chunk) for chunk in chunks]
            homes = _homes(self.client, sizes)
            placed = [_run(self.client, home, *task) for task, home in zip(tasks, homes, strict=True)]
            _finish(placed)
        n_words = counts.n_words if isinstance(counts, Collection) else counts.shape[1]
        return DaskDocuments(self.client, placed, homes, sizes, n_words)


class DaskDocuments(Documents):
    """Chunks on the workers, each with a home: the worker that works on it as long as it lives."""

    def __init__(
        self, client: Client, chunks: Sequence[Future], homes: Sequence[str], sizes: Sequence[Size], n_words: int
    ) -> None:
        super().__init__(sizes, n_words)
        self.client = client
        self.chunks = chunks
        self.homes = homes
        self._generations, self._retained = 0, 0

    def map(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Iterator[Any]:
        """All chunks are under way when the first result comes back."""
        with _named_losses(self.client):
            results = self._submit(function, columns, shared)[::-1]
            while results:
                yield results.pop().result()

    def sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Added on the workers, by neighbours as in `total`; one sum travels."""
        with _named_losses(self.client):
            return self._added(self._submit(function, columns, shared)).result()

    def keep(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Column:
        """Futures of the results."""
        with _named_losses(self.client):
            kept = self._submit(function, columns, shared)
            _finish(kept)
            return self._shortened(kept, shared)

    def keep_and_sum(self, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> tuple[Column, Any]:
        """The pairs are taken apart on the workers."""
        with _named_losses(self.client):
            pairs = self._submit(function, columns, shared)
            kept, addends = (
                [self._run(i, operator.getitem, pair, part) for i, pair in enumerate(pairs)] for part in (0, 1)
            )
            added = self._added(addends)
            _finish(kept)
            return self._shortened(kept, shared), added.result()

    def at(self, chunk: int, function: Callable[..., Any], /, *columns: Column, **shared: Any) -> Any:
        """Runs where the chunk is."""
        items = [self.chunks[chunk], *(column[chunk] for column in columns)]
        with _named_losses(self.client):
            return self._run(chunk, _call, function, shared, *items).result()

    def split(self, rows: Any) -> Column:
        """The parts are sent once."""
        parts = super().split(rows)
        return parts if rows is None else [self._run(i, _itself, part) for i, part in enumerate(parts)]

    def _submit(self, function: Callable[..., Any], columns: Sequence[Column], shared: dict[str, Any]) -> list[Future]:
        """What is shared is one task, which each chunk's task depends on: it is sent to a worker once."""
        common = self._run(0, _itself, shared)
        rows = zip(self.chunks, *columns, strict=True)
        return [self._run(i, _call, function, common, *items) for i, items in enumerate(rows)]

    def _run(self, chunk: int, function: Callable[..., Any], *args: Any) -> Future:
        """A task at the home of a chunk."""
        return _run(self.client, self.homes[chunk], function, *args)

    def _added(self, parts: list[Future]) -> Future:
        """Each pair of neighbours at the home of the first."""
        reach = 1
        while len(parts) > 1:
            n_pairs = len(parts) // 2
            pairs = [self._run(2 * i * reach, operator.add, *parts[2 * i : 2 * i + 2]) for i in range(n_pairs)]
            parts, reach = [*pairs, *parts[2 * n_pairs :]], 2 * reach
        return parts[0]

    def _shortened(self, kept: list[Future], shared: dict[str, Any]) -> list[Future]:
        self._generations += 1
        self._retained += sizeof(list(shared.values()))
        if self._generations < GENERATIONS and self._retained < RETAINED:
            return kept
        self._generations, self._retained = 0, 0
        return [self._run(i, _itself, values) for i, values in enumerate(self.client.gather(kept))]


def _call(function: Callable[..., Any], shared: dict[str, Any], *items: Any) -> Any:
    """One thread: Dask runs as many of these at once as it has."""
    with threads.using(1):
        return function(*items, **shared)


def _itself(value: Any) -> Any:
    return value


def _open_shard(path: str, number: int) -> Chunk:
    return Chunk.from_orders(*ShardedCorpus(path).orders(number))


def _run(client: Client, home: str, function: Callable[..., Any], *args: Any) -> Future:
    """A task that runs at this worker, or at another where this one is gone."""
    with warnings.catch_warnings():
        # Parameters are as large as they are, and are sent once.
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        return client.submit(function, *args, pure=False, workers=[home], allow_other_workers=True)


def _homes(client: Client, sizes: Sequence[Size]) -> list[str]:
    """A worker for each chunk: neighbours together, so that their sums are made where they are, and equal shares."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    if not workers:
        raise EngineLost("the Dask cluster has no workers: start some, or wait for them with client.wait_for_workers")
    ends = np.cumsum([size.cells + 1 for size in sizes])
    share = np.minimum((ends - 1) * len(workers) // ends[-1], len(workers) - 1)
    return [workers[number] for number in share.tolist()]


def _finish(futures: Sequence[Future]) -> None:
    """Wait for all, and raise what went wrong in any."""
    wait(futures)
    for future in futures:
        if future.status != "finished":
            future.result()


# Dask collections --------------------------------------------------------------------------------------------


def _cut_collection(client: Client, counts: Collection) -> tuple[list[Task], list[Size]]:
    """Tasks that make chunks of the usual size from the blocks of a collection, whatever size these have."""
    blocks = client.compute(_blocks(counts.values))
    counts = replace(counts, values=None)  # the rest travels with the blocks
    checked = [client.submit(_checked, block, counts, pure=False) for block in blocks]
    facts = client.gather([client.submit(_block_facts, block, pure=False) for block in checked])
    ends = np.cumsum([len(cells) for cells in facts])
    cells = np.concatenate(facts)
    if not len(cells):
        raise ValueError(f"X has no documents, and {counts.owner} needs at least one")
    tasks: list[Task] = []
    sizes = []
    for start in range(0, len(cells), SHARD_SIZE):
        stop = min(start + SHARD_SIZE, len(cells))
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        before = int(ends[first - 1]) if first else 0
        tasks.append((_stacked, start - before, stop - start, *checked[first : last + 1]))
        mine = cells[start:stop]
        sizes.append(Size(stop - start, int(mine.sum()), int(np.count_nonzero(mine == 0))))
    return tasks, sizes


def _blocks(values: Any) -> list[Any]:
    """Of an array, a data frame or a bag."""
    if not hasattr(values, "rechunk"):
        return list(values.to_delayed())
    return list(values.rechunk({1: -1}).to_delayed().ravel())


def _checked(block: Any, counts: Collection) -> sp.csr_array:
    """A block as canonical counts; that of a bag is a list of documents."""
    table = stack_documents(block) if isinstance(block, list) else block
    if not table.shape[0]:
        return sp.csr_array((0, counts.n_words), dtype=np.int32 if counts.integer else np.float64)
    return check_counts(table, integer=counts.integer, owner=counts.owner, n_words=counts.n_words)


def _block_facts(block: sp.csr_array) -> Array:
    """Words of each document."""
    return np.diff(block.indptr)


def _stacked(start: int, n_documents: int, *blocks: sp.csr_array) -> Chunk:
    """So many documents of these blocks, from this one on."""
    whole = blocks[0] if len(blocks) == 1 else sp.vstack(blocks, format="csr")
    rows = whole if whole.shape[0] == n_documents else whole[start : start + n_documents]
    return Chunk(sp.csr_array(rows))


@contextmanager
def _named_losses(client: Client) -> Iterator[None]:
    """A cluster that is gone, in the user's words."""
    if client.status in ("closed", "closing"):
        raise EngineLost("the Dask client is closed: make a new one, and fit again")
    try:
        yield
    except KilledWorker as error:
        raise EngineLost(f"workers died one after the other at the same work, perhaps of memory: {error}") from error
    except (CancelledError, CommClosedError, TimeoutError) as error:
        raise EngineLost(
            "the Dask scheduler went away or forgot its work: connect to a cluster and fit again; with a checkpoint, "
            "the fit goes on where it was"
        ) from error
