"""How kernels are compiled: once per installation, cached on disk, with a word to the user when it happens."""

from __future__ import annotations

import sys
from collections.abc import Callable
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
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, and put into every kernel that calls it: for small ones in their inner loops."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function)
