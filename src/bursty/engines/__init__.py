"""Where chunks of documents run.

An engine places the chunks of a corpus, maps a function over them and gives the results back in the order of the
chunks, so that sums are added in one order and come out the same bits wherever the work was done. Imports the
kernels only.
"""

from __future__ import annotations

from bursty.engines.base import Engine, LocalEngine, get_engine, total
from bursty.engines.chunks import CHUNK_SIZE, Assignment, Chunk, Levels, Resp, cut, slices

__all__ = [
    "CHUNK_SIZE",
    "Assignment",
    "Chunk",
    "Engine",
    "Levels",
    "LocalEngine",
    "Resp",
    "cut",
    "get_engine",
    "slices",
    "total",
]
