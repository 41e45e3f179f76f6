"""Pages of the benchmarks, made from the JSON files that the harness writes: a table and a plot for each case."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
OURS, THEIRS = "#0072B2", "#777777"
#: Which direction of a panel is better.
ARROWS = {"low": "\N{LEFTWARDS ARROW}", "high": "\N{RIGHTWARDS ARROW}"}


def write_all(docs: Path) -> None:
    """One fragment and one picture per case, and the page that includes them."""
    folder = docs / "benchmarks" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("peers-*.json"))]
    parts = ["# Beside other libraries\n", INTRODUCTION]
    parts += [overview(cases)] if cases else []
    for case in cases:
        name = case["case"]
        draw(case, folder / f"{name}.svg")
        parts.append(f"({anchor(case)})=\n## {case['title']}\n\n{case['work']} Data: {case['data']}.\n")
        parts.append(f"![{case['title']}](generated/{name}.svg)\n")
        parts.append(table(case))
        missing = f" Not installed, or too slow: {', '.join(case['missing'])}." if case["missing"] else ""
        note = f" {case['note']}" if "note" in case else ""  # by hand: what has changed since the run
        parts.append(f"{verdict(case)}{missing}{note}\n\n{machine(case)}\n")
    text = "\n".join(parts) if cases else "\n".join([*parts, "No results are committed.\n"])
    write_if_new(docs / "benchmarks" / "peers.md", text)


def anchor(case: dict) -> str:
    """Where other pages point to; names of anchors are in lower case."""
    return f"peers-{case['case'].lower()}"


def write_if_new(path: Path, text: str) -> None:
    """A page that has not changed is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


INTRODUCTION = """
This page is made from `benchmarks/results/peers-*.json`, which `make bench-full` writes. Every contender ran once per
round, in turn, with one thread; times are processor seconds. Columns have medians over rounds, each with its own seed
or split, and in brackets the range over rounds. Ratios are those of the times to the first row's, within each round.
In tables, bold is the best of a column. In plots, blue dots are bursty, lines are ranges, and the arrow beside a title
points to the better side. [Coming from another library](../migration.md) has the code of both side by side.

The first table has the best of each column, by its median; how close the others are is in the table of each comparison.
"""


def overview(cases: list[dict]) -> str:
    """One row per case: which columns we win, and which somebody else."""
    lines = ["| | bursty is best in | others are best in |", "|---|---|---|"]
    for case in cases:
        ours = {row["name"] for row in case["rows"] if row["ours"]}
        sides: dict[bool, list[str]] = {True: [], False: []}
        for column in case["columns"]:
            if (winner := best(case, column)) is not None:
                said = measure(column) if winner in ours else f"{measure(column)} ({winner})"
                sides[winner in ours].append(said)
        cells = [f"[{case['title']}](#{anchor(case)})", "; ".join(sides[True]), "; ".join(sides[False])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def measure(column: dict) -> str:
    """What a column measures, without the unit."""
    name = column["title"].removesuffix(", s").removesuffix(", MiB")
    return {"fit": "time to fit", "predict": "time to predict"}.get(name, name)


def table(case: dict) -> str:
    """Markdown; ours in italics, the best of each column in bold."""
    columns = case["columns"]
    lines = ["| | " + " | ".join(column["title"] for column in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in case["rows"]:
        cells = [row["name"] if not row["ours"] else f"*{row['name']}*"]
        for column in columns:
            value = row["values"].get(column["name"])
            if value is None:
                cells.append("")
                continue
            text = number(value["median"])
            # The ratio has the range of a time: it is free of what all contenders met in a round.
            if value["low"] != value["high"] and not column.get("log"):
                text += f" ({number(value['low'])}\N{EN DASH}{number(value['high'])})"
            cells.append(f"**{text}**" if row["name"] == best(case, column) else text)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def best(case: dict, column: dict) -> str | None:
    """Name of the best row of a column, or None if no direction is better."""
    found = {
        row["name"]: row["values"][column["name"]]["median"] for row in case["rows"] if column["name"] in row["values"]
    }
    if column["better"] is None or len(found) < 2:
        return None
    return (min if column["better"] == "low" else max)(found, key=found.__getitem__)


def verdict(case: dict) -> str:
    """Which columns somebody else wins."""
    ours = {row["name"] for row in case["rows"] if row["ours"]}
    lost = [(measure(column), best(case, column)) for column in case["columns"]]
    lost = [f"{title} ({name})" for title, name in lost if name is not None and name not in ours]
    return f"Others are best in: {'; '.join(lost)}." if lost else "No other is best in any column."


def machine(case: dict) -> str:
    """Versions and machine."""
    versions = ", ".join(f"{name} {version}" for name, version in case["versions"].items())
    return f"*{case['rounds']} rounds. {case['machine']}, {case['date']}. {versions}. `{case['command']}`*"


def draw(case: dict, path: Path) -> None:
    """Dots with ranges, one panel per column, two or three panels abreast."""
    columns = [column for column in case["columns"] if column["better"] is not None]
    rows, abreast = case["rows"][::-1], 2 if len(columns) <= 4 else 3
    n_lines = -(-len(columns) // abreast)
    figure = Figure(figsize=(8, n_lines * (0.9 + 0.28 * len(rows))), layout="constrained")
    panels = figure.subplots(n_lines, abreast, sharey=True, squeeze=False).ravel()
    for unused in panels[len(columns) :]:
        unused.set_axis_off()
    for ax, column in zip(panels, columns, strict=False):
        for i, row in enumerate(rows):
            if (value := row["values"].get(column["name"])) is None:
                continue
            error = [[value["median"] - value["low"]], [value["high"] - value["median"]]]
            ax.errorbar(value["median"], i, xerr=error, fmt="o", color=OURS if row["ours"] else THEIRS)
        ax.set_yticks(range(len(rows)), [row["name"] for row in rows])
        ax.set_ylim(-0.5, len(rows) - 0.5)
        ax.set_title(f"{column['title']} {ARROWS[column['better']]}", loc="left", fontsize=10)
        ax.grid(axis="y", color="#dddddd", linewidth=0.8)
        ax.spines[["top", "right"]].set_visible(False)
        if column.get("log"):
            ax.set_xscale("log")
            label_few(ax)
    figure.savefig(path, metadata={"Date": None})


def label_few(ax: Axes) -> None:
    """Numbers at powers of ten or, where the axis has less than two of them, also between these."""
    low, high = ax.get_xlim()
    few = high < 50 * low
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
