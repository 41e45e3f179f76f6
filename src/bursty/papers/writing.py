"""Output files of an entry: a CSV file, a Markdown table, a figure, and one line per claim."""

from __future__ import annotations

import csv
import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bursty
from bursty.papers.comparing import Row, number, published, source
from bursty.papers.study import Replication
from bursty.storage import replacing

COLUMNS = ("what", "measure", "paper", "ours", "difference", "verdict", "beyond the paper", "runs", "data")
#: Resolution for a web page rather than print, to keep files small.
DPI = 80


def write_outcome(outcome: Replication, out: Path) -> list[Path]:
    """Write ``ID.csv``, ``ID.md`` and, if there is a figure, ``ID.png``; returns their paths."""
    paths = [out / f"{outcome.entry.id}.csv", out / f"{outcome.entry.id}.md"]
    _replace(paths[0], _csv(outcome.rows).encode("utf-8"))
    picture = _picture(outcome)
    if picture is not None:
        paths.append(out / f"{outcome.entry.id}.png")
        _replace(paths[-1], picture)
    _replace(paths[1], markdown(outcome, with_picture=picture is not None).encode("utf-8"))
    return paths


def write_summary(outcomes: list[Replication], out: Path) -> Path:
    """Write ``summary.md``, with one line per claim."""
    lines = ["| paper | where | claim | here |", "|---|---|---|---|"]
    for outcome in outcomes:
        about = source(outcome.entry)
        for text, verdict in outcome.verdicts:
            lines.append(f"| {outcome.entry.paper} | {about['where']} | {text} | {verdict} |")
    path = out / "summary.md"
    _replace(path, ("\n".join(lines) + "\n").encode("utf-8"))
    return path


def markdown(outcome: Replication, *, with_picture: bool) -> str:
    """The table, the claims, the figure and notes, as Markdown."""
    entry, about = outcome.entry, source(outcome.entry)
    paper = published()[entry.paper]
    lines = [f"# {about['where']}: {entry.title}", ""]
    lines += [f"`{entry.id}`: {paper['short']}, {about['where']}, page {about['page']}.", ""]
    if outcome.quick:
        lines += ["Reduced version (`--quick`): smaller, fewer runs, not to be taken for the full result.", ""]
    if entry.notes:
        lines += [entry.notes, ""]
    if with_picture:
        lines += [f"![{entry.title}]({entry.id}.png)", ""]
    if outcome.rows:
        lines += _table(outcome.rows)
    if outcome.verdicts:
        lines += ["| claim | here |", "|---|---|"]
        lines += [f"| {text} | {verdict} |" for text, verdict in outcome.verdicts] + [""]
    if entry.more is not None and any(row.n_runs for row in outcome.rows):
        lines += [entry.more(outcome.results), ""]
    for message in sorted(set(outcome.missing.values())):
        lines += [f"Not run: {message}.", ""]
    if outcome.not_converged:
        lines += [f"{outcome.not_converged} of {outcome.n_runs} runs reached their maximum number of iterations.", ""]
    if outcome.days:
        lines += [f"Run with bursty {bursty.__version__}, {' to '.join(outcome.days)}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def cells(row: Row) -> tuple[str, ...]:
    """A row as text, in the order of `COLUMNS`."""
    decimals = 3 if row.paper is None else row.paper.decimals
    if decimals == 0 and row.ours is not None and abs(row.ours) < 10 and row.ours != round(row.ours):
        decimals = 1
    paper = "" if row.paper is None else row.paper.text
    if row.paper is not None and row.paper.error is not None:
        paper += f" ± {number(row.paper.error, max(decimals, 1))}"
    ours = number(row.ours, decimals)
    if row.error is not None:
        ours += f" ± {number(row.error, max(decimals, 1))}"
    difference = "" if row.difference is None else f"{row.difference:+.{decimals}f}"
    runs = str(row.n_runs) if row.n_runs else ""
    return row.what, row.measure, paper, ours, difference, row.verdict, row.beyond, runs, row.data


def _table(rows: list[Row]) -> list[str]:
    """A Markdown table, without empty columns."""
    texts = [cells(row) for row in rows]
    kept = [i for i in range(len(COLUMNS)) if any(text[i] for text in texts)]
    lines = ["| " + " | ".join(COLUMNS[i] for i in kept) + " |", "|" + "---|" * len(kept)]
    lines += ["| " + " | ".join(text[i] for i in kept) + " |" for text in texts]
    return [*lines, ""]


def _csv(rows: list[Row]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ("what", "measure", "paper", "paper_error", "ours", "error", "difference", "verdict", "runs", "data")
    )
    for row in rows:
        paper = (None, None) if row.paper is None else (row.paper.text, row.paper.error)
        values: tuple[Any, ...] = (*paper, row.ours, row.error, row.difference)
        writer.writerow(
            (row.what, row.measure, *(_plain(value) for value in values), row.verdict, row.n_runs, row.data)
        )
    return stream.getvalue()


def _plain(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def _picture(outcome: Replication) -> bytes | None:
    """The figure as PNG, if its runs are available."""
    if outcome.entry.draw is None or outcome.nothing_ran or find_spec("matplotlib") is None:
        return None
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"font.size": 9.0, "axes.spines.top": False, "axes.spines.right": False}):
        outcome.entry.draw(outcome.results).savefig(stream, format="png", dpi=DPI)
    return stream.getvalue()


def _replace(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as file:
        file.write(content)
