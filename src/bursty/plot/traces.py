"""Trace of a fit: a quantity by iteration, with the phases of annealing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bursty.plot import style
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "log_likelihood": "log-likelihood",
    "n_clusters": "clusters",
    "n_words": "discriminative words",
    "log_joint": "log joint probability",
    "tokens_per_second": "tokens per second",
}


def trace(model: Any, quantity: str | None = None, *, label: str = "", ax: Axes | None = None) -> Axes:
    """A quantity of a fit by iteration, with the phases of annealing marked.

    Parameters
    ----------
    model : fitted Mixture, LDA, DCMLDA or DPMFS, or its ``trace_``
    quantity : str, optional
        A key of ``trace_`` with one number per iteration. Default: "log_likelihood", or the first key.
    label : str, optional
        Name in the legend, to compare several fits in the same axes.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    runs, bursty.metrics.r_hat

    Examples
    --------
    >>> from bursty import Mixture, datasets, plot
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> model = Mixture(2, random_state=0).fit(corpus)
    >>> plot.trace(model).get_xlabel()
    'iteration'
    """
    entries = model if isinstance(model, Mapping) else getattr(model, "trace_", None)
    if not entries:
        raise ValueError(f"{type(model).__name__} has no trace: fit it first")
    series = quantities(entries)
    name = quantity or ("log_likelihood" if "log_likelihood" in series else next(iter(series), ""))
    if name not in series:
        raise ValueError(f"the trace has no {name!r}; it has {', '.join(map(repr, series))}")
    ax = style.axes(ax)
    chains = comparable(entries, name)
    for i, values in enumerate(chains):
        mark = style.mark_number(len(ax.lines))
        called = f"{label} chain {i + 1}".strip() if len(chains) > 1 else label
        ax.plot(np.arange(1, len(values) + 1), values, color=mark.colour, linestyle=mark.dash, label=called or None)
    for start, text in phases(entries):
        ax.axvspan(start + 0.5, chains.shape[1] + 0.5, color=style.FAINT, alpha=0.10, linewidth=0)
        ax.annotate(text, (start + 0.7, 0.02), xycoords=("data", "axes fraction"), fontsize="small", color=style.INK)
    if label or len(chains) > 1:
        ax.legend(frameon=False, fontsize="small")
    ax.locator_params(axis="x", integer=True)
    return style.finish(ax, "Convergence", "iteration", title(entries, name))


def comparable(entries: Mapping[str, Any], name: str) -> Array:
    """The values of a quantity, chains x iterations; values divided by T in annealing are multiplied by it."""
    values = np.atleast_2d(np.asarray(entries[name], dtype=np.float64))
    return values * np.asarray(entries["temperature"]) if _annealed(entries, name) else values


def title(entries: Mapping[str, Any], name: str) -> str:
    """Display name of a quantity."""
    return _LABELS.get(name, name.replace("_", " ")) + (" times T" if _annealed(entries, name) else "")


def _annealed(entries: Mapping[str, Any], name: str) -> bool:
    return name == "log_likelihood" and bool(np.any(np.asarray(entries.get("temperature", 1.0)) != 1.0))


def quantities(entries: Mapping[str, Any]) -> dict[str, Array]:
    """The numeric quantities of a trace, by name, without counters and phase markers.

    Each has one value per iteration, or one row of values per chain.
    """
    arrays = {name: np.asarray(values) for name, values in entries.items()}
    others = ("iteration", "sweep", "phase", "temperature", "weights")
    return {
        name: values
        for name, values in arrays.items()
        if name not in others and values.ndim in (1, 2) and values.dtype.kind in "iuf" and values.size
    }


def phases(entries: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Start and name of each phase; empty if there is only one."""
    if "phase" not in entries:
        return []
    numbers = np.asarray(entries["phase"])
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    if len(starts) < 2:
        return []
    heat = entries.get("temperature")
    return [(int(at), f"T = {heat[at]:g}" if heat is not None else f"phase {i + 1}") for i, at in enumerate(starts)]
