"""The parts of a page: panels rendered by templates, charts and data used by its scripts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bursty.report.charts import Chart
from bursty.wording import counted


@dataclass(frozen=True)
class Panel:
    """One tab, rendered by ``template`` from ``values``."""

    id: str
    title: str
    template: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class Content:
    """The content of a page."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    panels: list[Panel]
    charts: dict[str, Chart] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


def tile(number: int, thing: str, things: str | None = None) -> tuple[str, str]:
    """A tile that shows a number of things."""
    figure, _, name = counted(number, thing, things).partition(" ")
    return name, figure


DOCUMENTS = Panel("documents", "Documents", "documents.html")
