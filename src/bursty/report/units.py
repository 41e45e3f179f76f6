"""The names of units on a page: every label of ours in the units of the corpus, and no text of the data."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from bursty.corpus.units import Units
from bursty.report.content import Content

#: What of a template is not text for readers: expressions, statements and tags.
_CODE = re.compile(r"(\{\{.*?\}\}|\{%.*?%\}|<[^>]*>)", re.DOTALL)
_SPOKEN_ATTRIBUTES = re.compile(r'((?:aria-label|placeholder)=")([^"{]*)')
#: Facts of the corpus whose values are names of the data.
_NAMES = ("Name", "Origin")


def translate_template(source: str, units: Units) -> str:
    """A template whose own words are in these units."""
    parts = _CODE.split(source)
    for i, part in enumerate(parts):
        parts[i] = _in_tag(part, units) if i % 2 else units.say(part)
    return "".join(parts)


def translate(content: Content, units: Units) -> None:
    """The titles, captions, axes and facts of a page in these units."""
    say = units.say
    content.title, content.lead = say(content.title), say(content.lead)
    content.tiles = [(say(name), value) for name, value in content.tiles]
    content.panels = [replace(panel, title=say(panel.title)) for panel in content.panels]
    for name, chart in content.charts.items():
        columns = [say(column) for column in chart.columns]
        content.charts[name] = replace(
            chart, spec=_titles(chart.spec, units), caption=say(chart.caption), columns=columns
        )
    for panel in content.panels:
        for card in panel.values.get("cards") or []:
            card["facts"] = [(name, say(text)) for name, text in card["facts"]]
        if panel.id == "run":
            panel.values["corpus"] = [
                (say(n), text if n in _NAMES else say(text)) for n, text in panel.values["corpus"]
            ]
    for topic in content.data.get("topics", ()):
        topic["bursts"] = None if topic["bursts"] is None else say(topic["bursts"])
    for column in content.data.get("documents", {}).get("columns", ()):
        column["title"] = say(column["title"]) if column["title"] in ("Document", "Tokens") else column["title"]
    content.data["units"] = {"singular": list(units.singular), "plural": list(units.plural)}


def _in_tag(tag: str, units: Units) -> str:
    return _SPOKEN_ATTRIBUTES.sub(lambda match: match[1] + units.say(match[2]), tag) if tag.startswith("<") else tag


def _titles(spec: Any, units: Units) -> Any:
    """A specification with its titles translated; data are not touched."""
    if isinstance(spec, dict):
        return {
            key: units.say(value)
            if key == "title" and isinstance(value, str)
            else (value if key == "values" else _titles(value, units))
            for key, value in spec.items()
        }
    return [_titles(item, units) for item in spec] if isinstance(spec, list) else spec
