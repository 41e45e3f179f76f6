"""Interleaved timing: every contender once per round, the median of the rounds, ratios to the first."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def side_by_side(
    contenders: dict[str, Callable[[], Any]], rounds: int = 9, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each contender; a first round (compiling, caches) is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for round_ in range(rounds + 1):
        for name, function in contenders.items():
            start = clock()
            function()
            elapsed = clock() - start
            if round_ > 0:
                seconds[name].append(elapsed)
    return {name: statistics.median(times) for name, times in seconds.items()}


def median(function: Callable[[], Any], rounds: int = 5) -> float:
    """Median seconds of one function; the first round is not counted."""
    return side_by_side({"": function}, rounds)[""]


def table(title: str, rows: list[tuple[Any, ...]], header: tuple[str, ...]) -> None:
    """Print a plain table."""
    cells = [header, *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    print(f"\n{title}")
    for i, row in enumerate(cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if i == 0:
            print("  ".join("-" * width for width in widths))


def _text(cell: Any) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
