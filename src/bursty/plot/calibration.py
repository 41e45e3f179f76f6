"""Calibration of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bursty.plot import style
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Reliability(NamedTuple):
    """Mean confidence, accuracy and number of documents of each non-empty bin, and the calibration error."""

    confidence: Array
    accuracy: Array
    documents: Array
    error: float


def reliability_bins(y_true: Any, probabilities: Any, classes: Any = None, n_bins: int = 10) -> Reliability:
    r"""Mean confidence and accuracy of documents, binned by confidence.

    The confidence of a document is its largest probability. ``error`` is the expected calibration error, the absolute
    difference of confidence and accuracy of each bin, averaged over documents:

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \left| \mathrm{accuracy}_b - \mathrm{confidence}_b \right|

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        True labels.
    probabilities : array-like of shape (n_documents, n_classes)
        As returned by ``predict_proba``.
    classes : array-like of shape (n_classes,), optional
        Label of each column. Default: the sorted labels of ``y_true``.
    n_bins : int, default 10
        Number of bins of equal width.

    Returns
    -------
    Reliability
        Named tuple of ``confidence``, ``accuracy`` and ``documents``, one value per non-empty bin, and ``error``.

    See Also
    --------
    reliability

    Examples
    --------
    >>> from bursty.plot import reliability_bins
    >>> bins = reliability_bins(["a", "b", "b"], [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75]])
    >>> bins.documents.tolist(), bins.confidence.tolist()
    ([3], [0.75])
    """
    true, table = np.asarray(y_true), np.asarray(probabilities, dtype=np.float64)
    names = np.unique(true) if classes is None else np.asarray(classes)
    if table.ndim != 2 or true.shape != (len(table),) or table.shape[1] != len(names) or len(table) == 0:
        raise ValueError(
            f"labels of shape {true.shape} and probabilities of shape {table.shape} do not match {len(names)} classes: "
            "give one label per document, and in classes the label of each column"
        )
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a positive integer, not {n_bins!r}")
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
    """Reliability diagram: accuracy of a classifier against its confidence.

    Parameters
    ----------
    y_true, probabilities, classes, n_bins
        As in `reliability_bins`.
    label : str, optional
        Name in the legend, to compare several classifiers in the same axes.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    reliability_bins, bursty.BayesClassifier

    Examples
    --------
    >>> from bursty import plot
    >>> ax = plot.reliability(["a", "b", "b"], [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> ax.get_ylabel()
    'accuracy'
    """
    bins = reliability_bins(y_true, probabilities, classes, n_bins)
    ax = style.axes(ax, width=4.6, height=4.6)
    drawn = len(ax.collections)
    if drawn == 0:
        ax.plot([0, 1], [0, 1], color=style.INK, linewidth=0.8, linestyle="--", label="perfect calibration")
    mark = style.mark_number(drawn)
    name = f"{label + ': ' if label else ''}calibration error {bins.error:.3f}"
    ax.plot(bins.confidence, bins.accuracy, color=mark.colour, linestyle=mark.dash)
    size = 20 + 180 * bins.documents / bins.documents.sum()
    ax.scatter(bins.confidence, bins.accuracy, s=size, color=mark.colour, marker=mark.marker, label=name)
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False, fontsize="small")
    return style.finish(ax, "Calibration", "probability of the predicted class", "accuracy")
