"""Execution engines: where documents are processed.

An engine cuts a corpus into chunks, places them, and returns `Documents`, which has four ways of applying a function to
the chunks; the results have the same bits on every engine. The local engine works in this process, from memory or from
shards on disk; the Dask engine on the workers of a cluster; the CUDA engine on a GPU.
"""

from __future__ import annotations

from typing import Any

from bursty.engines.chunks import Assignment, Chunk, Resp, cut, weighted, with_trace
from bursty.engines.documents import Column, Documents, Engine, has_versions, total
from bursty.engines.levels import Levels
from bursty.engines.local import LocalEngine

__all__ = [
    "DEVICES",
    "Assignment",
    "Chunk",
    "Column",
    "Documents",
    "Engine",
    "Levels",
    "LocalEngine",
    "Resp",
    "cut",
    "get_engine",
    "has_versions",
    "total",
    "weighted",
    "with_trace",
]

#: Names of the engines that need nothing but this machine; the command line offers these.
DEVICES = ("local", "cuda")


def get_engine(engine: Any = "local", n_jobs: int | None = None) -> Engine:
    """Return the engine of that name; an `Engine` is returned unchanged, and a Dask client becomes a Dask engine.

    See Also
    --------
    LocalEngine, Engine

    Examples
    --------
    >>> from bursty.engines import get_engine
    >>> type(get_engine("local", n_jobs=2)).__name__
    'LocalEngine'
    """
    if isinstance(engine, Engine):
        return engine
    if engine == "local":
        return LocalEngine(n_jobs)
    if engine == "dask" or type(engine).__module__.startswith("distributed."):
        from bursty.engines.dask import DaskEngine

        return DaskEngine(None if engine == "dask" else engine)
    if engine == "cuda":
        from bursty.engines.cuda import CudaEngine

        return CudaEngine(n_jobs)
    raise ValueError(f'engine must be "local", "dask", "cuda", a Dask client or an Engine object, not {engine!r}')
