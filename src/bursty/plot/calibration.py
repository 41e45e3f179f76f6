"""Whether probabilities can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bursty.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = np.ndarray[Any, Any]


class Reliability(NamedTuple):
    """Documents by how sure the model was of them: a row for each bin that has any."""

    confidence: Array
    accuracy: Array
    documents: Array
    error: float


def reliability_bins(y_true: Any, probabilities: Any, classes: Any = None, n_bins: int = 10) -> Reliability:
    """Mean confidence and share of right answers of documents of like confidence.

    ``error`` is the expected calibration error: the mean difference of the two, over documents.

    Parameters
    ----------
    y_true : one label a document
    probabilities : documents x classes
    classes : the label of each column; by default the sorted labels of ``y_true``
    n_bins : int
        Bins of equal width.
    """
    true, table = np.asarray(y_true), np.asarray(probabilities, dtype=np.float64)
    names = np.unique(true) if classes is None else np.asarray(classes)
    if table.ndim != 2 or true.shape != (len(table),) or table.shape[1] != len(names) or len(table) == 0:
        raise ValueError(
            f"labels of shape {true.shape} and probabilities of shape {table.shape} do not match {len(names)} classes: "
            "give one label a document, and in classes the label of each column"
        )
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number, one or more, not {n_bins!r}")
    sure = table.max(axis=1)
    right = names[table.argmax(axis=1)] == true
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    documents = np.bincount(bins, minlength=n_bins)
    some = documents > 0
    confidence = np.bincount(bins, weights=sure, minlength=n_bins)[some] / documents[some]
    accuracy = np.bincount(bins, weights=right, minlength=n_bins)[some] / documents[some]
    error = float(np.sum(documents[some] * np.abs(confidence - accuracy)) / len(table))
    return Reliability(confidence, accuracy, documents[some], error)


def reliability(
    y_true: Any, probabilities: Any, classes: Any = None, *, n_bins: int = 10, label: str = "", ax: Axes | None = None
) -> Axes:
    """Of the documents that a classifier is p sure of, the share it gets right: the nearer to the line, the better.

    Parameters
    ----------
    y_true, probabilities, classes, n_bins
        As in `reliability_bins`.
    label : str, optional
        For the legend: draw several into the same axes to compare.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    bins = reliability_bins(y_true, probabilities, classes, n_bins)
    ax = style.axes(ax, width=4.6, height=4.6)
    drawn = len(ax.collections)
    if drawn == 0:
        ax.plot([0, 1], [0, 1], color=style.INK, linewidth=0.8, linestyle="--", label="as sure as right")
    mark = style.mark_number(drawn)
    name = f"{label + ': ' if label else ''}off by {bins.error:.3f} on average"
    ax.plot(bins.confidence, bins.accuracy, color=mark.colour, linestyle=mark.dash)
    size = 20 + 180 * bins.documents / bins.documents.sum()
    ax.scatter(bins.confidence, bins.accuracy, s=size, color=mark.colour, marker=mark.marker, label=name)
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False, fontsize="small")
    return style.finish(ax, "Are the probabilities right?", "probability of the class given", "share that is right")
