"""Progress on stderr, if requested: bars on a terminal, and elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]

#: Width of a bar.
BAR = 12
#: Seconds before the first line and between lines where there is no terminal.
FIRST, EVERY = 10.0, 30.0


@contextmanager
def progress(description: str, total: int | None, enabled: bool) -> Iterator[Report]:
    """Context manager that yields a function to call once per step, with a status message.

    On a terminal it shows a bar with elapsed and remaining time, or an indeterminate bar if the total is None.
    Elsewhere, work that takes long says in a line now and then how far it is, and how much time is left at most.
    """
    if not enabled:
        yield lambda message: None
        return
    if not sys.stderr.isatty():
        yield (lambda message: None) if total is None else _Lines(description, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    times = (
        (TimeElapsedColumn(),) if total is None else (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    )
    columns = TextColumn("{task.description}"), BarColumn(BAR), TextColumn("{task.fields[message]}"), *times
    console = Console(stderr=True)
    # Of a line that is too long, the message gives way, not the time that is left.
    room = max(0, console.width - len(description) - BAR - len(" 0:00:00 left 0:00:00   "))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(description, total=total, message="")
        yield lambda message: bar.update(task, advance=1, message=_fitting(message, room))


def _fitting(message: str, room: int) -> str:
    """The message, cut between words: half of a number would be another number."""
    return message if len(message) <= room else message[: room + 1].rpartition(" ")[0].rstrip(",")


class _Lines:
    """Prints a line from time to time."""

    def __init__(self, description: str, total: int) -> None:
        self._description, self._total, self._done = description, total, 0
        self._first = time.monotonic()
        self._next = self._first + FIRST

    def __call__(self, message: str) -> None:
        self._done += 1
        now = time.monotonic()
        if self._done == 1:  # which compiles kernels, and says nothing about the others
            self._first = now
        if now < self._next or self._done >= self._total:
            return
        self._next = now + EVERY
        what = f" ({message})" if message else ""
        text = f"{self._description}: {self._done:,} of {self._total:,}{what}"
        if self._done > 1:
            left = (now - self._first) / (self._done - 1) * (self._total - self._done)
            text += f", at most {spoken_time(left)} left"
        print(text, file=sys.stderr, flush=True)


def spoken_time(seconds: float) -> str:
    """A number of seconds in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
