"""The page of scaling curves, made from what `benchmarks.scaling` and `benchmarks.cores` have written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmark_pages import RESULTS, write_if_new
from matplotlib.axes import Axes
from matplotlib.figure import Figure

GROWTH = ("documents", "words", "cells", "K")
SEVERAL = ("threads", "workers")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333", "#999999")
MARKERS = "osD^vP*X"
NARROW = "\N{NARROW NO-BREAK SPACE}"
Curve = Mapping[str, Any]

INTRODUCTION = """# Scaling

How the time of one iteration grows with the data and the model, and falls with threads and workers. This page is made
from `benchmarks/results/scaling.json` and `cores.json`, which `python -m benchmarks.scaling` and
`python -m benchmarks.cores` write. The exponent is p in *seconds ~ size^p*, the slope of a line through the logarithms,
with its standard error: 1 is linear, below 1 a fixed cost shows, and 0 is no cost at all.

## Documents, words, cells, components
"""
GROWTH_TEXT = """
The simulated documents have {cells} draws each from {words:,} words that follow a power law, with repetitions. There
are {documents:,} documents and {K} components or topics, except for what grows. Processor seconds of one thread,
medians of {rounds} rounds in which every size ran once. A mixture takes an EM iteration, a topic model one of Monte
Carlo EM (five sweeps and an M step) after 45 sweeps. More *cells* are longer documents; the axis has the non-zero
cells per document.
"""
SEVERAL_TEXT = """
## Threads and Dask workers, two cores

{documents:,} documents of {cells} draws from {words:,} words, K = {K}. Seconds on the wall, medians of {rounds} rounds;
a Dask worker is a process with one thread. A speed-up of 2 at two would be perfect. Other programs shared the two cores
(the load averages are given below), so two threads or workers had less than two cores, and these speed-ups say little
about an idle machine.
"""
CORES_TEXT = """
## Sixteen cores

`python -m benchmarks.cores` on another machine, which [Scale, measured](scale.md#sixteen-cores) names: 20 newsgroups,
and for mixtures six copies of it. Here the exponent is that of the speed: 1 is perfect. That page also says what binds,
and how Dask workers compare with threads.
"""


def write(docs: Path) -> None:
    """The page and its figures; without results, a page that says so."""
    folder = docs / "benchmarks" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [INTRODUCTION]
    path = RESULTS / "scaling.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"curves": [], "runs": {}}
    curves: dict[str, list[Curve]] = {}
    for curve in found["curves"]:
        curves.setdefault(curve["axis"], []).append(curve)
    growth = [axis for axis in GROWTH if axis in curves]
    if growth:
        parts += _growth(curves, growth, folder)
    several = [axis for axis in SEVERAL if axis in curves]
    if several:
        parts += _several(curves, several, folder)
    parts += [_machine(found["runs"][axis]) for axis in (*growth, *several)]
    cores = RESULTS / "cores.json"
    if cores.exists():
        parts += _cores(json.loads(cores.read_text(encoding="utf-8")), folder)
    write_if_new(docs / "benchmarks" / "scaling.md", "\n".join(parts))


def _growth(curves: Mapping[str, Sequence[Curve]], axes: Sequence[str], folder: Path) -> list[str]:
    titles = {"documents": "documents", "words": "words", "cells": "non-zero cells per document", "K": "K"}
    figure = Figure(figsize=(9, 7.6), layout="constrained")
    works = list(dict.fromkeys(curve["work"] for axis in axes for curve in curves[axis]))
    for ax, axis in zip(figure.subplots(2, 2).flat, axes, strict=False):
        for curve in curves[axis]:
            _line(ax, curve["points"], works.index(curve["work"]), curve["work"])
        ax.set(xscale="log", yscale="log", xlabel=titles[axis], ylabel="processor seconds")
        ticks = [point["size"] for point in curves[axis][0]["points"]]
        ax.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        ax.minorticks_off()
    for unused in figure.axes[len(axes) :]:
        unused.set_axis_off()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(folder / "scaling-growth.svg", metadata={"Date": None})
    sizes: dict[str, int] = {}
    for axis in axes:
        sizes |= curves[axis][0]["fixed"]
    exponents = {(curve["work"], axis): curve for axis in axes for curve in curves[axis]}
    lines = ["| exponent of | " + " | ".join(titles[axis] for axis in axes) + " |", "|---" * (len(axes) + 1) + "|"]
    for work in works:
        cells = [_exponent(exponents.get((work, axis))) for axis in axes]
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    text = GROWTH_TEXT.format(**sizes, rounds=curves[axes[0]][0]["rounds"])
    picture = "![Seconds against documents, words, cells and components](generated/scaling-growth.svg)\n"
    return [text, picture, "\n".join(lines) + "\n", _steps(exponents)]


def _steps(curves: Mapping[tuple[str, str], Curve]) -> str:
    """The steepest last step of all curves."""
    steepest = max(curves.items(), key=lambda item: item[1]["last"])
    (work, axis), curve = steepest
    return (
        f"Fixed costs matter less as sizes grow, so that the last step of most curves is steeper than the whole. The "
        f"steepest last step, that of *{work}* with {axis}, has an exponent of {curve['last']:.2f}.\n"
    )


def _several(curves: Mapping[str, Sequence[Curve]], axes: Sequence[str], folder: Path) -> list[str]:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    works = list(dict.fromkeys(curve["work"] for axis in axes for curve in curves[axis]))
    lines = ["| | " + " | ".join(f"{axis}: seconds with 1, 2 | speed-up | exponent" for axis in axes) + " |"]
    lines.append("|---" * (3 * len(axes) + 1) + "|")
    for ax, axis in zip(figure.subplots(1, len(axes), squeeze=False)[0], axes, strict=True):
        for curve in curves[axis]:
            _line(ax, curve["points"], works.index(curve["work"]), curve["work"])
        ax.set(yscale="log", xlabel=axis, ylabel="seconds", xticks=(1, 2))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(folder / "scaling-several.svg", metadata={"Date": None})
    for work in works:
        cells = []
        for axis in axes:
            curve = next((own for own in curves[axis] if own["work"] == work), None)
            if curve is None:
                cells += ["", "", ""]
                continue
            one, two = (point["median"] for point in curve["points"])
            cells += [f"{one:.3g}, {two:.3g}", f"{one / two:.2f}", f"{curve['exponent']:.2f}"]
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    first = curves[axes[0]][0]
    text = SEVERAL_TEXT.format(**first["fixed"], rounds=first["rounds"])
    return [text, "![Seconds with threads and workers](generated/scaling-several.svg)\n", "\n".join(lines) + "\n"]


def _cores(found: Mapping[str, Any], folder: Path) -> list[str]:
    """Speed against threads, of what a whole step takes."""
    kept = {}
    for name, seconds in found.items():
        title, _, part = name.partition(": ")
        if part in ("sweep, seconds", "iteration, seconds") or (part.startswith("iteration (") and "seconds" in part):
            title = title.replace("mixture, edcm", "Mixture, EDCM").replace("mixture, dcm", "Mixture, DCM")
            kept[f"{title}, {'sweep' if part.startswith('sweep') else 'iteration'}"] = {
                int(n): one for n, one in seconds.items()
            }
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    ax = figure.subplots()
    numbers = ["1 thread" if n == 1 else f"{n} threads" for n in next(iter(kept.values()))]
    lines = ["| | " + " | ".join(numbers) + " | exponent |", "|---" * (len(numbers) + 2) + "|"]
    for i, (name, seconds) in enumerate(kept.items()):
        threads = list(seconds)
        speed = [seconds[threads[0]] / seconds[n] for n in threads]
        style = "-" if i < len(COLOURS) else "--"
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        ax.plot(threads, speed, style, color=colour, marker=marker, markersize=4, label=name)
        lines.append(f"| {name} | " + " | ".join(f"{one:.2f}" for one in speed) + f" | {_slope(threads, speed):.2f} |")
    ax.plot(threads, threads, color="#bbbbbb", linewidth=1, label="perfect")
    ax.set(xscale="log", yscale="log", xlabel="threads", ylabel="times faster than one thread")
    ax.set_xticks(threads, [str(n) for n in threads])
    ax.set_yticks(threads, [str(n) for n in threads])
    ax.minorticks_off()
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    figure.savefig(folder / "scaling-cores.svg", metadata={"Date": None})
    return [CORES_TEXT, "![Speed against threads](generated/scaling-cores.svg)\n", "\n".join(lines) + "\n"]


def _line(ax: Axes, points: Sequence[Mapping[str, float]], number: int, label: str) -> None:
    sizes, medians = ([point[name] for point in points] for name in ("size", "median"))
    spread = [
        [point["median"] - point["low"] for point in points],
        [point["high"] - point["median"] for point in points],
    ]
    style = {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 4, "linewidth": 1.5, "elinewidth": 1}
    ax.errorbar(sizes, medians, spread, label=label, **style)
    ax.spines[["top", "right"]].set_visible(False)


def _slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _exponent(curve: Curve | None) -> str:
    if curve is None:
        return ""
    return f"{curve['exponent']:.2f}" + ("" if curve["error"] is None else f"{NARROW}±{NARROW}{curve['error']:.2f}")


def _machine(run: Mapping[str, Any]) -> str:
    load = "" if run.get("load") is None else f", load average {run['load']} at the end"
    return f"*`{run['command']}`: {run['machine']}, {run['date']}{load}.*\n"
