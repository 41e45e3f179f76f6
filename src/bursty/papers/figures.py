"""The figures of the papers: `bursty.plot` applied to results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bursty import plot
from bursty.metrics import CountProbabilities
from bursty.papers.entry import Measurements, Values
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def canvas(n_panels: int = 1, *, width: float = 4.6, height: float = 3.8) -> tuple[Figure, list[Any]]:
    """A figure with panels side by side, without a window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_panels, height), layout="constrained")
    return figure, list(figure.subplots(1, n_panels, squeeze=False)[0])


def clouds(results: Measurements, collections: Sequence[str], algorithms: Sequence[str]) -> Figure:
    """Perplexity and mutual information of each run, one panel per collection.

    Von Mises-Fisher runs have no perplexity: their negative log-likelihood is scaled to the middle of the axis.
    """
    figure, panels = canvas(len(collections), width=4.8)
    for axes, name in zip(panels, collections, strict=True):
        pairs: dict[str, tuple[Array, Array]] = {}
        for what in algorithms:
            case = f"{name}, {what}"
            if results.n_runs(case, "perplexity"):
                pairs[what] = results.values(case, "perplexity"), results.values(case, "MI")
        low, high = min(x.min() for x, _ in pairs.values()), max(x.max() for x, _ in pairs.values())
        for what in algorithms:
            case = f"{name}, {what}"
            if case in results and what not in pairs:
                loss = -results.values(case, "log-likelihood")
                scaled = (loss - loss.min()) / max(float(np.ptp(loss)), 1e-12)
                pairs[f"{what} (scaled)"] = low + (0.4 + 0.2 * scaled) * (high - low), results.values(case, "MI")
        plot.runs({what.replace("no annealing", "plain EM"): pair for what, pair in pairs.items()}, ax=axes)
        axes.set_title(name, loc="left")
        if axes is not panels[-1]:
            axes.get_legend().remove()
    return figure


def confusions(results: Measurements, methods: Sequence[str]) -> Figure:
    """Documents of each class in each cluster, for the best run of each method."""
    shown = [what for what in methods if f"best run, {what}" in results]
    classes = results.first("classes")
    figure, panels = canvas(len(shown), width=3.4, height=2.8)
    for axes, what in zip(panels, shown, strict=True):
        table = np.array(results.first(f"best run, {what}")["table"])
        truth, found = np.repeat(np.indices(table.shape).reshape(2, -1), table.ravel(), axis=1)
        names = np.array(sorted(classes, key=lambda name: classes[name]))
        plot.confusion(names[truth], found, ax=axes)
        axes.set_title(what, loc="left")
    return figure


def published_against_ours(points: Mapping[str, Mapping[str, Iterable[tuple[float, float]]]]) -> Figure:
    """Our values against published ones, one panel per measure and one mark per method."""
    figure, panels = canvas(len(points), height=3.6)
    for axes, (measure, methods) in zip(panels, points.items(), strict=True):
        for marker, (method, pairs) in zip("os^Dv", methods.items(), strict=False):
            x, y = np.array(list(pairs)).T
            axes.plot(x, y, marker, markersize=4, markerfacecolor="none", label=method)
        ends = [min(axes.get_xlim()[0], axes.get_ylim()[0]), max(axes.get_xlim()[1], axes.get_ylim()[1])]
        axes.plot(ends, ends, color="0.6", linewidth=0.8, zorder=0)
        axes.set(xlabel=f"{measure}, published", ylabel=f"{measure}, ours")
        axes.legend(frameon=False, fontsize="small")
    return figure


def count_curves(values: Values, title: str) -> Figure:
    """Count-probability curves of groups of words."""
    figure, (axes,) = canvas()
    curves = {group: np.array(curve) for group, curve in values["curves"].items()}
    n_counts = len(next(iter(curves.values())))
    shares = dict.fromkeys(curves, float("nan"))
    plot.count_probabilities(CountProbabilities(np.arange(n_counts), curves, values["sizes"], shares), ax=axes)
    axes.set_title(title, loc="left")
    axes.set_ylim(1e-8, 1.0)
    return figure


def simplices(panels: Sequence[tuple[str, str, Sequence[float]]], n: int) -> Figure:
    """Count probabilities of three words: title, family and parameters of each panel."""
    figure, places = canvas(len(panels), width=2.9, height=2.9)
    for axes, (title, family, parameters) in zip(places, panels, strict=True):
        plot.simplex(parameters, n, family=family, bar=False, words=("", "", ""), ax=axes)
        axes.set_title(title, loc="left", fontsize="small")
    return figure


def likelihood_curves(curves: Mapping[str, tuple[Array, Array, Array]], axes: Any, title: str, ylabel: str) -> None:
    """Likelihood against the number of topics, one curve per model."""
    plot.likelihoods(curves, ylabel=ylabel, logx=True, ax=axes)
    ks = next(iter(curves.values()))[0]
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="topics")
    axes.set_title(title, loc="left")


def sweeps(curves: Mapping[str, tuple[Array, Array]], quantity: str, title: str) -> Figure:
    """A quantity of a sampler by sweep, one curve per setting."""
    figure, (axes,) = canvas(width=5.4)
    for dash, (label, (x, y)) in zip(("-", "--", ":"), curves.items(), strict=False):
        axes.plot(x, y, dash, linewidth=1.2, label=label)
    axes.set(xlabel="sweep", ylabel=quantity)
    axes.set_title(title, loc="left")
    if len(curves) > 1:
        axes.legend(frameon=False, fontsize="small")
    return figure


def estimated_labels(labels: Mapping[str, Sequence[int]], per_class: int) -> Figure:
    """The cluster of each document, one panel per method; lines separate the true classes."""
    figure, panels = canvas(len(labels), width=4.4, height=2.8)
    for axes, (method, found) in zip(panels, labels.items(), strict=True):
        axes.plot(np.arange(len(found)), np.array(found) + 1, ".", markersize=3)
        for edge in range(per_class, len(found), per_class):
            axes.axvline(edge - 0.5, color="0.6", linewidth=0.8)
        axes.set(xlabel="document", ylabel="estimated cluster", yticks=range(1, max(found) + 2))
        axes.set_title(method, loc="left")
    return figure
