"""Limits on reading a file: on its decompressed size, and on the memory that its content takes.

A file may expand to `RATIO` times its size, or to `FLOOR` bytes if that is more, and may take as much memory, but no
more than is free. Readers count as they go and stop at the limit, so that a small file cannot fill the memory. The
limit can be set with ``max_memory=`` of a reader, ``--max-memory`` on the command line, or the environment variable
``BURSTY_MAX_MEMORY``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

#: Maximum ratio of decompressed size to file size.
RATIO = 200
#: Number of bytes allowed for a file of any size.
FLOOR = 256 * 2**20
#: Bytes of memory per character while a document, line or row is split into words or fields.
PER_CHARACTER = 24
#: Bytes of memory per document or word: its name, and its entries in lists and tables.
PER_NAME = 128
#: Bytes of memory per file listed in an archive.
PER_MEMBER = 1024
VARIABLE = "BURSTY_MAX_MEMORY"

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_raised: ContextVar[int | None] = ContextVar("bursty_max_memory", default=None)


def parse_size(value: int | float | str) -> int:
    """Number of bytes from a number or a string such as ``"8GB"`` or ``"512 MiB"``."""
    text = str(value).strip().lower().removesuffix("b")
    digits = text.rstrip("kmgti ")
    try:
        size = int(float(digits) * _UNITS[text[len(digits) :].strip()])
    except (KeyError, ValueError, OverflowError):
        size = 0
    if size < 1:
        raise ValueError(f"max_memory={value!r} is not a number of bytes; examples: 8000000000, '8GB', '512MiB'")
    return size


@contextmanager
def raised(limit: int | float | str | None) -> Iterator[None]:
    """Context manager that sets the limit to this number of bytes, for files of any size."""
    token = _raised.set(_raised.get() if limit is None else parse_size(limit))
    try:
        yield
    finally:
        _raised.reset(token)


@dataclass
class Budget:
    """Limits for one file: bytes that may still be read from it, and memory that they may take."""

    name: str
    on_disk: int
    used: int = 0
    limit: int = field(init=False)
    memory: int = field(init=False)

    def __post_init__(self) -> None:
        asked = _asked()
        self.limit = max(FLOOR, RATIO * self.on_disk) if asked is None else asked
        free = free_memory() if asked is None else None
        self.memory = self.limit if free is None else min(self.limit, free)

    @property
    def longest(self) -> int:
        """Maximum number of characters of one document, line or row."""
        return max(1, self.memory // PER_CHARACTER)

    def spend(self, n_bytes: int) -> None:
        """Count decompressed bytes; raises an error past the limit."""
        self.used += n_bytes
        if self.used > self.limit:
            raise ValueError(
                f"{self.name} takes {self.on_disk:,} bytes on disk and expands to more than {self.limit:,}, which "
                f"looks like a decompression bomb. If it is genuine, {_WAY_OUT}"
            )

    def hold(self, n_bytes: int, what: str) -> None:
        """Raise an error if this much memory at one time exceeds the limit."""
        if n_bytes <= self.memory:
            return
        if self.memory < self.limit:
            raise ValueError(
                f"{self.name}: {what} needs about {n_bytes:,} bytes of memory, but {self.memory:,} are free. If you "
                f"know better, {_WAY_OUT}"
            )
        raise ValueError(
            f"{self.name} takes {self.on_disk:,} bytes on disk, and {what} needs about {n_bytes:,} bytes of memory, "
            f"above the limit of {self.limit:,}: it is damaged or hostile. If it is genuine, {_WAY_OUT}"
        )


def check_claim(size: int, n_entries: int, name: str, what: str) -> None:
    """Raise an error for more documents or words than 64 per count of a table, or 2,097,152 if that is more."""
    asked = _asked()
    if PER_NAME * size > (max(FLOOR, 64 * PER_NAME * n_entries) if asked is None else asked):
        raise ValueError(
            f"{name} claims {size:,} {what} but has {n_entries:,} counts: it is damaged or hostile. If it is genuine, "
            f"{_WAY_OUT}"
        )


def check_memory(n_bytes: int, what: str, instead: str) -> None:
    """Refuse what needs more memory than is free (or was allowed), before any of it is taken.

    Less than `FLOOR` is not looked at: asking the system takes longer than taking it.
    """
    if n_bytes <= FLOOR:
        return
    asked = _asked()
    limit = free_memory() if asked is None else asked
    if limit is not None and n_bytes > limit:
        raise ValueError(
            f"{what} needs about {n_bytes:,} bytes of memory, and {limit:,} are free: {instead}. If you know better, "
            f"set {VARIABLE} in the environment, to 8GB for example"
        )


def _asked() -> int | None:
    """The limit set by the user, if any."""
    asked = _raised.get()
    return parse_size(os.environ[VARIABLE]) if asked is None and os.environ.get(VARIABLE) else asked


_WAY_OUT = f"raise the limit: max_memory='8GB' (--max-memory on the command line, or {VARIABLE} in the environment)"


def free_memory() -> int | None:
    """Free memory in bytes, within the limits of machine, container and process; None if unknown."""
    found = [size for size in (_of_machine(), _of_container(), _of_process()) if size is not None]
    return max(0, min(found)) if found else None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _of_container() -> int | None:
    """Free memory of the control group (version 2, then version 1), as seen from inside a container."""
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):
            bound = int((Path(folder) / limit).read_text())  # "max" where there is none
            return bound - int((Path(folder) / used).read_text()) + _cached(Path(folder))
    return None


def _cached(folder: Path) -> int:
    """Bytes of the page cache, which the system releases on demand."""
    with suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                return int(value)
    return 0


def _of_process() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    bound = resource.getrlimit(resource.RLIMIT_AS)[0]
    if bound == resource.RLIM_INFINITY:
        return None
    with suppress(OSError, ValueError, IndexError):
        return bound - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return bound
