"""Memory that is freed and asked for again, in the workers of a Dask cluster.

Every chunk needs a few arrays of some megabytes for a moment. glibc learns by itself to keep such memory for the next
chunk. But Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that they give memory back early, and any
setting of this kind turns the learning off: every array is then mapped, cleared and given back each time, which takes
as long as the work on it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache

# What Dask's nanny sets. Who sets anything else knows what they want.
_OF_DASK = "65536"
# From malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Arrays up to here, which is as far as glibc goes when it learns, are kept; this much of them a thread.
_LARGEST_KEPT, _KEPT = 32 * 2**20, 256 * 2**20


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Where Dask's setting is in force, put glibc to where it would have come by itself; once a process."""
    if sys.platform != "linux" or os.environ.get("MALLOC_TRIM_THRESHOLD_") != _OF_DASK:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt is not None and "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_TRIM_THRESHOLD, _KEPT)
