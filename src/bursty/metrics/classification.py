"""Precision and recall of classifiers that may assign several classes to a document.

Of the D documents, N_k belong to class k. A threshold on the scores of class k calls n of them positive, TP of them
correctly: precision is TP / n, recall is TP / N_k. They are equal where n = N_k.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import scipy.sparse as sp

from bursty.sparse import as_csr
from bursty.typing import Array


@overload
def break_even(y_true: Any, scores: Any, *, average: Literal["micro", "macro"] = "micro") -> float: ...
@overload
def break_even(y_true: Any, scores: Any, *, average: None) -> Array: ...


def break_even(y_true: Any, scores: Any, *, average: Literal["micro", "macro"] | None = "micro") -> float | Array:
    r"""Precision at the threshold where it equals recall ([Madsen2005] section 5.4).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_documents, n_classes), or (n_documents,) for one class
        1 if the document has the class, 0 otherwise.
    scores : array-like of the same shape
        Higher means more likely, on any scale, infinities included. Each class is ranked separately.
    average : {"micro", "macro"} or None, default "micro"
        "micro" weights classes by their number of documents N_k, "macro" weights them equally; None returns one value
        per class.

    Returns
    -------
    float, or ndarray of shape (n_classes,)
        Between 0 and 1. A class without documents has no recall: its value is NaN, and both averages ignore it.

    See Also
    --------
    bursty.BayesClassifier

    Notes
    -----
    A class of N documents has precision = recall at the threshold that calls N documents positive:

    .. math:: \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}

    Precision equals recall where as many documents are called positive as belong to the class. Documents with the same
    score go together, so ties can make this impossible. In that case the threshold that calls the nearest number of
    documents positive is used, and the value is the mean of precision and recall there (both are 0 if no document is
    called positive); two equally near thresholds are averaged. The order of the documents never matters.

    In the micro average, N is the number of (document, class) pairs, the sum of all N_k, so that it is a mean. Differs
    from [Madsen2005], where N is the number of documents: with several classes per document that could exceed 1. With
    one class per document both are the same.

    Examples
    --------
    >>> from bursty.metrics import break_even
    >>> labels, scores = [[1, 0], [1, 1], [0, 1], [0, 0]], [[9, 1], [2, 8], [5, 7], [1, 3]]
    >>> break_even(labels, scores, average=None)
    array([0.5, 1. ])
    """
    if average not in ("micro", "macro", None):
        raise ValueError(f'average must be "micro", "macro" or None, not {average!r}')
    table, rows, columns = _check(y_true, scores)
    n_documents, n_classes = table.shape
    sizes = np.bincount(columns, minlength=n_classes)
    if average is not None and not sizes.any():
        raise ValueError("y_true has no document in any class: precision and recall are not defined")

    # The N_k-th best score. The documents above it are n_low < N_k; with its equals they are n_high >= N_k.
    rank = n_documents - np.maximum(sizes, 1)
    at = np.take_along_axis(np.sort(table, axis=0), rank[None, :], axis=0)[0]
    n_high, n_low = (table >= at).sum(axis=0), (table > at).sum(axis=0)
    of_class = table[rows, columns]
    hits_high = np.bincount(columns[of_class >= at[columns]], minlength=n_classes)
    hits_low = np.bincount(columns[of_class > at[columns]], minlength=n_classes)

    above, below = n_high - sizes, sizes - n_low
    weight_high = (above < below) + 0.5 * (above == below)
    values = weight_high * _mean(hits_high, n_high, sizes) + (1 - weight_high) * _mean(hits_low, n_low, sizes)
    if average is None:
        return np.where(sizes > 0, values, np.nan)
    known = sizes > 0
    weights = sizes[known] if average == "micro" else None
    return float(np.average(values[known], weights=weights))


def _mean(hits: Array, n_called: Array, sizes: Array) -> Array:
    """Mean of precision and recall, 0 if there is nothing to divide by."""
    return (hits / np.maximum(n_called, 1) + hits / np.maximum(sizes, 1)) / 2


def _check(y_true: Any, scores: Any) -> tuple[Array, Array, Array]:
    """Scores as documents x classes, and the pairs (document, class) that are true."""
    table = np.asarray(as_csr(scores, "scores").toarray() if sp.issparse(scores) else scores, dtype=np.float64)
    truth = as_csr(y_true, "y_true") if sp.issparse(y_true) else np.asarray(y_true)
    if truth.shape != table.shape:
        binarize = "; sklearn.preprocessing.label_binarize converts labels to a 0/1 table"
        raise ValueError(
            f"y_true has shape {truth.shape} and scores have shape {table.shape}: they must have the same shape"
            + (binarize if truth.ndim == 1 else "")
        )
    if table.ndim not in (1, 2):
        raise ValueError(f"scores must be documents x classes, not an array of {table.ndim} dimensions")
    if table.size == 0:
        raise ValueError(f"y_true and scores are empty (shape {table.shape}): there is nothing to rank")
    if np.isnan(table).any():
        raise ValueError(f"scores hold NaN in row {int(np.argwhere(np.isnan(table))[0, 0])}")
    pairs = _true_pairs(truth)
    if table.ndim == 1:
        return table[:, None], pairs[0], np.zeros_like(pairs[0])
    return table, pairs[0], pairs[1]


def _true_pairs(truth: Any) -> tuple[Array, ...]:
    """Where a table of 0 and 1 holds 1."""
    cells = truth.data if sp.issparse(truth) else truth.ravel()
    strange = np.ones(len(cells), bool) if cells.dtype.kind not in "biufO" else (cells != 0) & (cells != 1)
    if strange.any():
        raise ValueError(f"y_true must hold 0 and 1 only, but holds {cells[np.argmax(strange)]!r}")
    return truth.nonzero()
