"""The parts of a page: panels that a template writes, charts and data that its scripts draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bursty.report.charts import Chart


@dataclass(frozen=True)
class Panel:
    """One tab: ``template`` writes it from ``values``."""

    id: str
    title: str
    template: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class Content:
    """Everything a page says about a model."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    panels: list[Panel]
    charts: dict[str, Chart] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


DOCUMENTS = Panel("documents", "Documents", "documents.html")
