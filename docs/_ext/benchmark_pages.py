"""Pages of the benchmarks, made from the JSON files that the harness writes: a table and a plot for each case."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
OURS, THEIRS = "#0072B2", "#999999"


def write_all(docs: Path) -> None:
    """One fragment and one picture per case, and the page that includes them."""
    folder = docs / "benchmarks" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("peers-*.json"))]
    parts = ["# Beside other libraries\n", INTRODUCTION]
    for case in cases:
        name = case["case"]
        draw(case, folder / f"{name}.svg")
        parts.append(f"## {case['title']}\n\n{case['work']} Data: {case['data']}.\n")
        parts.append(f"![{case['title']}](generated/{name}.svg)\n")
        parts.append(table(case))
        parts.append(f"{verdict(case)}\n\n{machine(case)}\n")
    text = "\n".join(parts) if cases else "\n".join([*parts, "No results are committed.\n"])
    target = docs / "benchmarks" / "peers.md"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


INTRODUCTION = """
This page is made from `benchmarks/results/peers-*.json`, which `make bench-full` writes. Every contender ran once per
round, in turn, with one thread; times are processor seconds. Columns have medians over rounds, each with its own seed
or split, and in brackets the range. Ratios are those of the times to the first row's, within each round. Bold is the
best of a column.
"""


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
            text = f"{value['median']:.3g}"
            if value["low"] != value["high"]:
                text += f" ({value['low']:.3g} to {value['high']:.3g})"
            cells.append(f"**{text}**" if row["name"] == best(case, column) else text)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


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
    lost = [(column["title"], best(case, column)) for column in case["columns"]]
    lost = [f"{title} ({name})" for title, name in lost if name is not None and name not in ours]
    return f"Others are best in: {', '.join(lost)}." if lost else "No other is best in any column."


def machine(case: dict) -> str:
    """Versions and machine."""
    versions = ", ".join(f"{name} {version}" for name, version in case["versions"].items())
    return f"*{case['rounds']} rounds. {case['machine']}, {case['date']}. {versions}. `{case['command']}`*"


def draw(case: dict, path: Path) -> None:
    """Bars with ranges, one panel per column."""
    columns = [column for column in case["columns"] if column["better"] is not None][:4]
    rows = case["rows"][::-1]
    figure = Figure(figsize=(10, 0.8 + 0.34 * len(rows)), layout="constrained")
    panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for ax, column in zip(panels, columns, strict=True):
        for i, row in enumerate(rows):
            if (value := row["values"].get(column["name"])) is None:
                continue
            error = [[value["median"] - value["low"]], [value["high"] - value["median"]]]
            colour = OURS if row["ours"] else THEIRS
            ax.barh(i, value["median"], xerr=error, color=colour, error_kw={"linewidth": 1, "ecolor": "#333333"})
        ax.set_yticks(range(len(rows)), [row["name"] for row in rows])
        better = "less is better" if column["better"] == "low" else "more is better"
        ax.set_title(f"{column['title']}\n({better})", loc="left", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        if column.get("log"):
            ax.set_xscale("log")
    figure.savefig(path, metadata={"Date": None})
