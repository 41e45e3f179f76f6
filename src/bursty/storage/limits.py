"""How much a file may cost: bytes that come out of it, and memory that what it says takes.

A file may give `RATIO` times its own size, or `FLOOR` bytes when that is more, and it may take as much memory, but no
more than is free. Whoever reads counts on the way and stops at the limit, so that no small file fills the memory. One
number raises the limit: ``max_memory=`` of a reader, ``--max-memory`` on the command line, or the environment variable
``BURSTY_MAX_MEMORY``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

#: A file may grow to so many times its size when it is read.
RATIO = 200
#: A file of any size may take so many bytes.
FLOOR = 256 * 2**20
#: Bytes of memory that a character of one document, line or row may take while it is cut into words or fields.
PER_CHARACTER = 24
#: Bytes of memory for a document or a word: its name, its place in lists and tables.
PER_NAME = 128
#: Bytes of memory for a file listed in an archive.
PER_MEMBER = 1024
VARIABLE = "BURSTY_MAX_MEMORY"

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_raised: ContextVar[int | None] = ContextVar("bursty_max_memory", default=None)


def parse_size(value: int | float | str) -> int:
    """Bytes from a number or a text such as ``"8GB"`` or ``"512 MiB"``."""
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
    """Inside this block files may take so many bytes, whatever their size."""
    token = _raised.set(_raised.get() if limit is None else parse_size(limit))
    try:
        yield
    finally:
        _raised.reset(token)


@dataclass
class Budget:
    """What may still come out of one file, and how much memory that may take."""

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
        """Number of characters that one document, line or row may have."""
        return max(1, self.memory // PER_CHARACTER)

    def spend(self, n_bytes: int) -> None:
        """Count what came out; refuse to go on past the limit."""
        self.used += n_bytes
        if self.used > self.limit:
            raise ValueError(
                f"{self.name} takes {self.on_disk:,} bytes on disk and grows past {self.limit:,} when read, which "
                f"looks like an attack on memory. If it is genuine, {_WAY_OUT}"
            )

    def hold(self, n_bytes: int, what: str) -> None:
        """Refuse what takes so much memory at one time."""
        if n_bytes <= self.memory:
            return
        if self.memory < self.limit:
            raise ValueError(
                f"{self.name}: {what} needs about {n_bytes:,} bytes of memory, and {self.memory:,} are free. If you "
                f"know better, {_WAY_OUT}"
            )
        raise ValueError(
            f"{self.name} takes {self.on_disk:,} bytes on disk, and {what} needs about {n_bytes:,} bytes of memory, "
            f"above the limit of {self.limit:,}: it is damaged or hostile. If it is genuine, {_WAY_OUT}"
        )


def check_claim(size: int, n_entries: int, name: str, what: str) -> None:
    """Refuse a number of documents or words that the counts of a table do not bear out: 64 for each, or 2,097,152."""
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
    """The limit that was asked for."""
    asked = _raised.get()
    return parse_size(os.environ[VARIABLE]) if asked is None and os.environ.get(VARIABLE) else asked


_WAY_OUT = f"raise the limit: max_memory='8GB' (--max-memory on the command line, or {VARIABLE} in the environment)"


def free_memory() -> int | None:
    """Bytes that this process may still take: of the machine, its container and its own limit. None if unknown."""
    found = [size for size in (_of_machine(), _of_container(), _of_process()) if size is not None]
    return max(0, min(found)) if found else None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _of_container() -> int | None:
    """The control group, version 2 and then version 1, as a container sees its own."""
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):
            bound = int((Path(folder) / limit).read_text())  # "max" where there is none
            return bound - int((Path(folder) / used).read_text()) + _cached(Path(folder))
    return None


def _cached(folder: Path) -> int:
    """Bytes of files that the system keeps in memory and gives back when they are wanted."""
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
