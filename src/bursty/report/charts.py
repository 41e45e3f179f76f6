"""Charts of a report as Vega-Lite specifications, in plain dictionaries.

Colours of text and lines come from the style sheet of the page (dark, light and print), so a specification only encodes
data. Series differ in colour and in shape or position.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from bursty.report.text import percent

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
#: Okabe and Ito's colours, in tones that are visible on white and on near-black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#3A9BDC", "#B87F00", "#7A7A7A")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
BLUE, ORANGE, GREY = COLOURS[0], COLOURS[1], COLOURS[6]
#: Share of the largest value above which white is easier to read on a cell of a heat map than black, on white paper.
_DARK = 0.72


@dataclass(frozen=True)
class Chart:
    """A specification, a caption, and the numbers as a table for readers who cannot see the chart."""

    spec: dict[str, Any]
    caption: str
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)


def _spec(values: Any, height: int | None = None, **parts: Any) -> dict[str, Any]:
    size = {} if height is None else {"height": height}
    return {"$schema": SCHEMA, "width": "container", **size, "data": {"values": values}, **parts}


def _nominal(name: str, **scale: Any) -> dict[str, Any]:
    return {"field": name, "type": "nominal", "scale": scale, "legend": {"title": None, "orient": "bottom"}}


def axis(title: str, **options: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": title, **options}


def bars(names: list[str], values: list[Any], title: str, caption: str, *, share: bool = False) -> Chart:
    """Horizontal bars in the given order, with their values."""
    rows = [{"name": f"{i}", "label": n, "value": v} for i, (n, v) in enumerate(zip(names, values, strict=True))]
    labels = {row["name"]: row["label"] for row in rows}
    text = ".1%" if share else ",.0f"
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "axis": axis("", labelLimit=260, ticks=False, domain=False, labelPadding=6),
    }
    room = {"domain": [0, 1.25 * (max(values, default=0) or 1)], "nice": False}
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": room,
        "axis": axis(title, format="~%" if share else ",d", tickCount=4),
    }
    layers = [
        {"mark": {"type": "bar", "color": BLUE, "height": {"band": 0.7}}},
        {
            "name": "ink",
            "mark": {"type": "text", "align": "left", "dx": 4},
            "encoding": {"text": {"field": "value", "format": text}},
        },
    ]
    shown = [[label, percent(v) if share else v] for label, v in zip(labels.values(), values, strict=True)]
    spec = _spec(rows, 24 * max(1, len(rows)), encoding={"y": y, "x": x}, layer=layers)
    return Chart(spec, caption, ["name", title], shown)


def scatter(points: list[dict[str, Any]], groups: list[str], labels: list[dict[str, Any]], caption: str) -> Chart:
    """Scatter plot with one colour and shape per group, and the name of the group at its centre.

    Points have x, y, group, name, note; labels have x, y, text.
    """
    scale = {"domain": groups, "range": [COLOURS[i % len(COLOURS)] for i in range(len(groups))]}
    shape = {"domain": groups, "range": [SHAPES[i % len(SHAPES)] for i in range(len(groups))]}
    # Vega leaves out entries above its own limit unless told otherwise.
    legend = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 300, "symbolLimit": len(groups)}
    if len(groups) > 24:
        legend |= {"columns": 3, "labelLimit": 220}
    place = {
        name: {"field": name, "type": "quantitative", "axis": None, "scale": {"zero": False, "padding": 24}}
        for name in ("x", "y")
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.75, "aria": False},
        "encoding": {
            **place,
            "color": {"field": "group", "type": "nominal", "scale": scale, "legend": legend},
            "shape": {"field": "group", "type": "nominal", "scale": shape, "legend": legend},
            "tooltip": [{"field": "name", "title": "document"}, {"field": "group"}, {"field": "note"}],
        },
    }
    names = {
        "name": "label",
        "data": {"values": labels},
        # Above the centre, where all documents of a group may lie.
        "mark": {"type": "text", "fontSize": 12, "fontWeight": "bold", "dy": -10, "aria": False},
        "encoding": {**place, "text": {"field": "text"}},
    }
    return Chart(_spec(points, 440, layer=[dots, names], config={"view": {"stroke": None}}), caption)


def heat(
    cells: list[dict[str, Any]], rows: list[str], columns: list[str], titles: tuple[str, str], caption: str
) -> Chart:
    """Heat map with values, in the colour of the page. Cells have row, column, share (0 to 1) and text."""
    top = max((cell["share"] for cell in cells), default=1.0) or 1.0
    spec = _spec(
        cells,
        max(60, 26 * len(rows)),
        usermeta={"columns": len(columns), "widest": 280 + 90 * len(columns)},
        encoding={
            "y": {"field": "row", "type": "nominal", "sort": rows, "axis": axis(titles[0], labelLimit=180)},
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": columns,
                "axis": axis(titles[1], orient="top", labelAngle=-50 if len(columns) > 3 else 0, labelLimit=150),
            },
        },
        layer=[
            {
                "name": "shade",
                "mark": {"type": "rect", "stroke": "#88888844"},
                "encoding": {
                    "fillOpacity": {
                        "field": "share",
                        "type": "quantitative",
                        "scale": {"domain": [0, top], "range": [0, 1]},
                        "legend": None,
                    },
                    "tooltip": [{"field": "row"}, {"field": "column"}, {"field": "text", "title": "value"}],
                },
            },
            {
                "name": "cell",
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    "text": {"field": "text"},
                    "color": {"condition": {"test": f"datum.share > {_DARK * top}", "value": "#fff"}, "value": "#000"},
                },
            },
        ],
    )
    return Chart(spec, caption)


def stacked(cells: list[dict[str, Any]], groups: list[str], parts: list[str], caption: str) -> Chart:
    """Composition of each group as stacked bars. Cells have group, part, documents, share."""
    colours = {"domain": parts, "range": [COLOURS[i % len(COLOURS)] for i in range(len(parts))]}
    spec = _spec(
        cells,
        24 * max(1, len(groups)),
        mark={"type": "bar", "height": {"band": 0.7}, "stroke": "#ffffff", "strokeWidth": 0.8},
        encoding={
            "y": {"field": "group", "type": "nominal", "sort": groups, "axis": axis("", labelLimit=220, ticks=False)},
            "x": {
                "field": "documents",
                "type": "quantitative",
                "stack": "normalize",
                "axis": axis("share of its documents", format="%", tickCount=5),
            },
            "color": {
                "field": "part",
                "type": "nominal",
                "scale": colours,
                "sort": parts,
                "legend": {"title": None, "orient": "bottom", "columns": 3},
            },
            "order": {"field": "order"},
            "tooltip": [{"field": "group"}, {"field": "part"}, {"field": "documents"}],
        },
    )
    rows = [[cell["group"], cell["part"], cell["documents"]] for cell in cells]
    return Chart(spec, caption, ["group", "label", "documents"], rows)


def lines(
    x: list[Any], series: list[list[Any]], titles: tuple[str, str], caption: str, phases: list[tuple[float, str]]
) -> Chart:
    """One line per series, with a rule and a name at the start of each phase."""
    values = [
        {"x": a, "y": b, "line": f"chain {i + 1}"} for i, y in enumerate(series) for a, b in zip(x, y, strict=True)
    ]
    apart = {} if len(series) == 1 else {"color": _nominal("line", range=list(COLOURS)), "strokeDash": _nominal("line")}
    starts = [{"x": at, "text": text} for at, text in phases]
    across = {"field": "x", "type": "quantitative", "axis": axis(titles[0], tickMinStep=1), "scale": {"nice": False}}
    up = {"field": "y", "type": "quantitative", "axis": axis(titles[1], tickCount=5), "scale": {"zero": False}}
    drawn = {
        "mark": {"type": "line", "color": BLUE, "point": {"size": 18, "color": BLUE} if len(values) < 60 else False},
        "encoding": {"x": across, "y": up, "tooltip": [{"field": "x", "title": titles[0]}, {"field": "y"}], **apart},
    }
    marked = {
        "data": {"values": starts},
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [4, 3], "color": GREY}},
            {
                "name": "ink",
                "mark": {"type": "text", "align": "left", "dx": 4, "baseline": "bottom"},
                "encoding": {"text": {"field": "text"}, "y": {"value": -2}},
            },
        ],
    }
    return Chart(_spec(values, 220, layer=[drawn, marked] if starts else [drawn]), caption)


#: Tick format of the time axis, by length of a period.
_TICKS = {"day": "%d %b %Y", "month": "%b %Y", "year": "%Y", "decade": "%Y"}


def panels(
    values: list[dict[str, Any]], names: list[str], title: str, caption: str, *, time: str | None = None
) -> Chart:
    """Small multiples: one curve per topic, on a common scale.

    Values have x, y, panel. On an axis of ``time`` (the unit of its periods) x is in milliseconds since 1970, and
    values also have ``when`` (x as text), ``low`` and ``high`` (a band).
    """
    x: dict[str, Any] = {"field": "x", "type": "quantitative", "scale": {"zero": False, "nice": False}}
    x["axis"] = axis("", format=_TICKS[time] if time else "d", tickCount=4, grid=False, labelOverlap=True)
    if time:
        # In UTC: west of Greenwich, a year would otherwise begin in the one before.
        x |= {"type": "temporal", "scale": {"type": "utc", "nice": False}}
    y = {"field": "y", "type": "quantitative", "axis": axis("", format="%", tickCount=2)}
    said = {"field": "when" if time else "x", "title": title}
    curve = {
        "mark": {"type": "area", "color": BLUE, "opacity": 0.75, "line": {"color": BLUE}}
        if not time
        else {"type": "line", "color": BLUE, "point": {"size": 14, "color": BLUE}},
        "encoding": {"y": y, "tooltip": [said, {"field": "y", "format": ".1%", "title": "share"}]},
    }
    band = {
        "mark": {"type": "area", "color": BLUE, "opacity": 0.25},
        "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    spec = {
        "$schema": SCHEMA,
        "data": {"values": values},
        "facet": {"field": "panel", "type": "nominal", "sort": names, "header": {"title": None}},
        "columns": 3,
        "spacing": {"row": 14, "column": 22},
        "spec": {"height": 70, "encoding": {"x": x}, "layer": [band, curve] if time else [curve]},
    }
    return Chart(spec, caption)


def reliability(points: list[dict[str, Any]], caption: str) -> Chart:
    """Reliability diagram with the diagonal. Points have confidence, accuracy, documents."""
    ends = {"scale": {"domain": [0, 1]}, "type": "quantitative"}
    x = {"field": "confidence", **ends, "axis": axis("probability of the predicted class", format="%", tickCount=5)}
    y = {"field": "accuracy", **ends, "axis": axis("accuracy", format="%", tickCount=5)}
    diagonal = {
        "data": {"values": [{"confidence": 0, "accuracy": 0}, {"confidence": 1, "accuracy": 1}]},
        "mark": {"type": "line", "strokeDash": [4, 4], "color": GREY},
        "encoding": {"x": x, "y": y},
    }
    curve = {
        "layer": [
            {"mark": {"type": "line", "color": BLUE}},
            {
                "mark": {"type": "point", "filled": True, "color": BLUE, "opacity": 1},
                "encoding": {
                    "size": {
                        "field": "documents",
                        "type": "quantitative",
                        "legend": {"title": "documents", "orient": "bottom", "tickCount": 3},
                        "scale": {"range": [30, 350], "zero": False},
                    },
                    "tooltip": [
                        {"field": "confidence", "format": ".2f"},
                        {"field": "accuracy", "format": ".2f"},
                        {"field": "documents"},
                    ],
                },
            },
        ],
        "encoding": {"x": x, "y": y},
    }
    rows = [[f"{p['confidence']:.2f}", f"{p['accuracy']:.2f}", p["documents"]] for p in points]
    columns = ["mean probability", "accuracy", "documents"]
    return Chart(_spec(points, 340, layer=[diagonal, curve], usermeta={"widest": 560}), caption, columns, rows)


def topic_words(caption: str) -> Chart:
    """Probabilities of words in a topic and in the corpus. The page supplies the data when the slider moves."""
    spec = {
        "$schema": SCHEMA,
        "width": "container",
        "data": {"name": "words", "values": []},
        "encoding": {
            "y": {"field": "word", "type": "nominal", "sort": None, "axis": axis("", ticks=False, labelLimit=180)},
            "tooltip": [
                {"field": "word"},
                {"field": "topic", "format": ".4f", "title": "in the topic"},
                {"field": "corpus", "format": ".4f", "title": "in the corpus"},
            ],
        },
        "layer": [
            {
                "mark": {"type": "bar", "color": BLUE, "height": {"band": 0.75}},
                "encoding": {
                    "x": {
                        "field": "topic",
                        "type": "quantitative",
                        "axis": axis("probability", format=".1%", tickCount=4),
                    }
                },
            },
            {
                "mark": {"type": "tick", "color": ORANGE, "thickness": 3, "height": {"band": 0.9}},
                "encoding": {"x": {"field": "corpus", "type": "quantitative"}},
            },
        ],
    }
    return Chart(spec, caption)


def tree(titles: list[str], order: list[int], caption: str, rows: list[list[Any]]) -> Chart:
    """Dendrogram with the groups in this order from top to bottom. The page supplies the segments, and colours them."""
    labels = json.dumps([titles[k] for k in order])
    x = {"field": "x", "type": "quantitative", "scale": {"domain": [0, 1]}}
    x["axis"] = axis("share of the differences that is lost", format="%", tickCount=5)
    y = {"field": "y", "type": "quantitative", "scale": {"domain": [len(order) - 0.5, -0.5], "nice": False}}
    y["axis"] = axis(
        "",
        values=list(range(len(order))),
        labelExpr=f"{labels}[datum.value]",
        labelLimit=280,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )
    spec = {
        "$schema": SCHEMA,
        "width": "container",
        "usermeta": {"rows": len(order)},
        "data": {"name": "segments", "values": []},
        "mark": {"type": "rule", "strokeWidth": 2, "aria": False},
        "encoding": {
            "x": x,
            "y": y,
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
            "color": {"field": "colour", "type": "nominal", "scale": None},
        },
    }
    return Chart(spec, caption, ["merged", "with", "differences lost"], rows)


def word_groups() -> Chart:
    """Distribution of a word over groups. The page supplies the data when a word is chosen."""
    spec = {
        "$schema": SCHEMA,
        "width": "container",
        "data": {"name": "groups", "values": []},
        "encoding": {
            "y": {"field": "group", "type": "nominal", "sort": None, "axis": axis("", ticks=False, labelLimit=260)},
            "x": {
                "field": "share",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "axis": axis("share of the word's occurrences", format="%", tickCount=5),
            },
        },
        "layer": [
            {"mark": {"type": "bar", "color": BLUE, "height": {"band": 0.7}}},
            {
                "name": "ink",
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": {"field": "share", "format": ".0%"}},
            },
        ],
    }
    return Chart(spec, "")
