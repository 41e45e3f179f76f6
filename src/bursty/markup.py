"""HTML of small tables, for notebooks: all text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

#: Number of rows of a table, and of characters of a cell.
MOST_ROWS, LONGEST_CELL = 20, 80


def table(columns: Mapping[str, Iterable[Any]], caption: str = "") -> str:
    """A table with these columns; rows beyond `MOST_ROWS` are counted."""
    rows = list(zip(*columns.values(), strict=True))
    head = "".join(f"<th>{cell(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell(value)}</td>' for value in row)}</tr>" for row in rows[:MOST_ROWS])
    more = f"<p>and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def cell(value: Any) -> str:
    """A value as escaped text of one line."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        text = f"{value:.4g}"
    elif isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = " ".join(str(value).split())
    return html.escape(text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…")
