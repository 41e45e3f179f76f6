"""Reuse of freed memory in the workers of a Dask cluster.

Every chunk briefly needs a few arrays of some megabytes. By itself glibc learns to keep such memory for the next chunk.
But Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that they return memory early, and any such
setting turns the learning off: every array is then mapped, cleared and unmapped each time, which takes as long as the
work on it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache

# The value that Dask's nanny sets; any other value is the user's choice.
_OF_DASK = "65536"
# From malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Arrays up to the largest size that glibc learns to keep are kept, up to this many bytes per thread.
_LARGEST_KEPT, _KEPT = 32 * 2**20, 256 * 2**20


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Where Dask's setting is in force, set glibc to what it would have learned; once per process."""
    if sys.platform != "linux" or os.environ.get("MALLOC_TRIM_THRESHOLD_") != _OF_DASK:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt is not None and "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_TRIM_THRESHOLD, _KEPT)
