"""Progress bars on stderr, if requested and if stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]


@contextmanager
def progress(description: str, total: int | None, enabled: bool) -> Iterator[Report]:
    """Context manager that yields a function to call once per step, with a status message.

    On a terminal it shows a bar with elapsed and remaining time, or an indeterminate bar if the total is None;
    elsewhere nothing is shown.
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
