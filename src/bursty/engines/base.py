"""The interface of an engine, and the one that runs in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import scipy.sparse as sp

from bursty.engines.chunks import Chunk, cut
from bursty.kernels import threads


class Engine(ABC):
    """Runs functions over the chunks of a corpus."""

    @abstractmethod
    def place(self, counts: sp.csr_array) -> Sequence[Any]:
        """Cut a corpus into chunks and put them where they will be worked on."""

    @abstractmethod
    def map(self, function: Callable[..., Any], chunks: Sequence[Any], *columns: Iterable[Any]) -> Iterator[Any]:
        """``function(chunk, ...)`` for each chunk and the matching items of the columns; results in that order."""


class LocalEngine(Engine):
    """Chunk after chunk in this process; inside a chunk the kernels share the work among threads."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = threads.resolve(n_jobs)

    def place(self, counts: sp.csr_array) -> Sequence[Chunk]:
        """Chunks that share the memory of the counts where there is only one."""
        return list(cut(counts))

    def map(self, function: Callable[..., Any], chunks: Sequence[Any], *columns: Iterable[Any]) -> Iterator[Any]:
        """In order, one at a time."""
        for items in zip(chunks, *columns, strict=True):
            with threads.using(self.n_threads):
                result = function(*items)
            yield result


def get_engine(engine: str | Engine = "local", n_jobs: int | None = None) -> Engine:
    """The engine of that name; an engine object is taken as it is."""
    if isinstance(engine, Engine):
        return engine
    if engine == "local":
        return LocalEngine(n_jobs)
    raise ValueError(f'engine must be "local" or an Engine object, not {engine!r}')


def total(results: Iterable[Any]) -> Any:
    """Add up results in their order."""
    return reduce(add, results)
