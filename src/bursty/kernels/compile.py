"""How kernels are compiled: once per installation, cached on disk, with a word to the user when it happens.

Numba keeps the cache beside the library, or in the user's cache folder. Where neither can be written to (containers,
shared installations) it goes to a temporary folder that only this user can write to, or nowhere.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event


class _Announcer(event.Listener):
    """Says once per process, on stderr, that a first use is compiling."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        if self.said or not event.data["dispatcher"].py_func.__module__.startswith("bursty."):
            return
        self.said = True
        print("bursty: compiling kernels (once per installation; later runs use the cache)", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, cached, with NumPy's rules for division by zero."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, and put into every kernel that calls it: for small ones in their inner loops."""
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    options |= {"nogil": True, "error_model": "numpy"}
    if _cache.there:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # "cannot cache function": no folder can be written to
            _cache.move()
            return _compiled(function, **options)
    return numba.njit(**options)(function)


class _Cache:
    """Where kernels are cached: numba's own choice, then a temporary folder, then nowhere."""

    def __init__(self) -> None:
        self.there, self._moved = True, False

    def move(self) -> None:
        """To the next place; said once."""
        folder = None if self._moved else private_folder()
        self._moved, self.there = True, folder is not None
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # numba makes it at run time
        place = "are compiled again by every process" if folder is None else f"are cached in {folder}"
        warnings.warn(
            f"neither the library's folder nor the user's cache can be written to: compiled kernels {place}. Set "
            "NUMBA_CACHE_DIR to a folder that lasts",
            UserWarning,
            stacklevel=6,
        )


def private_folder() -> Path | None:
    """A temporary folder of this user, the same for every process; None where there is none that can be trusted.

    Cached kernels are run as they are, so that nobody else may be able to write there.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"bursty-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode):
            return None
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
            return None
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


_cache = _Cache()
