"""How kernels are compiled: once per installation, cached on disk, with a message to the user.

Numba keeps the cache beside the library, or in the cache folder of the user. If neither is writable (containers, shared
installations), it goes to a temporary folder that only this user can write to, or nowhere.
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
    """Prints to stderr, once per process, that kernels are being compiled."""

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
    """Compile with caching, without the GIL, and with the rules of NumPy for division by zero."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Like `kernel`, and inlined into every caller: for small functions in inner loops."""
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    options |= {"nogil": True, "error_model": "numpy"}
    if _cache.there:
        try:
            return _tolerant(numba.njit(cache=True, **options)(function))
        except RuntimeError:  # "cannot cache function": no folder is writable
            _cache.move()
            return _compiled(function, **options)
    return numba.njit(**options)(function)


def _tolerant(compiled: Any) -> Any:
    """Take a cache that names classes which are gone for empty: another version of bursty wrote it.

    Numba compares the age of the source after it has read the index, and reading imports these classes.
    """
    index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if index is not None:
        load = index._load_index

        def load_index() -> Any:
            try:
                return load()
            except (AttributeError, ImportError):
                return {}

        index._load_index = load_index
    return compiled


class _Cache:
    """Where kernels are cached: the choice of Numba, then a temporary folder, then nowhere."""

    def __init__(self) -> None:
        self.there, self._moved = True, False

    def move(self) -> None:
        """Switch to the next place, with a warning."""
        folder = None if self._moved else private_folder()
        self._moved, self.there = True, folder is not None
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # Numba defines it at run time
        place = "are compiled again by every process" if folder is None else f"are cached in {folder}"
        warnings.warn(
            f"neither the folder of the library nor the cache of the user is writable: compiled kernels {place}. Set "
            "NUMBA_CACHE_DIR to a permanent folder",
            UserWarning,
            stacklevel=6,
        )


def private_folder() -> Path | None:
    """A temporary folder of this user, the same for every process; None if it cannot be trusted.

    Cached kernels are executed, so nobody else may have write access.
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
