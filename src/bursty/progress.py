"""The library's one progress interface: a bar on stderr, when asked for and when somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]


@contextmanager
def progress(description: str, total: int | None, enabled: bool) -> Iterator[Report]:
    """Give a function to call once a step, with a word on how it goes.

    On a terminal this is a bar with the time it took and the time left, one that only moves where the total is not
    known (None); elsewhere, nothing is shown.
    """
    if not enabled or not sys.stderr.isatty():
        yield lambda message: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    times = (
        (TimeElapsedColumn(),) if total is None else (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    )
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[message]}"), *times
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, message="")
        yield lambda message: bar.update(task, advance=1, message=message)
