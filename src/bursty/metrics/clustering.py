"""Mutual information of two labellings of the same documents.

Of D documents, c_ij have label i in one labelling and label j in the other; m_i and n_j are the marginal counts.
Then

    I = sum_ij c_ij / D log(D c_ij / (m_i n_j)),        H = -sum_i m_i / D log(m_i / D)

in nats. Only the partitions matter, not the names of the labels.

| symbol | name | shape |
|---|---|---|
| c | number of documents per pair of labels that occurs | pairs |
| m, n | number of documents per label | labels |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bursty.typing import Array

_MEANS: dict[str, Callable[[float, float], float]] = {
    "geometric": lambda a, b: float(np.sqrt(a * b)),
    "arithmetic": lambda a, b: (a + b) / 2,
    "min": min,
    "max": max,
}


def mutual_information(labels_true: Any, labels_pred: Any) -> float:
    r"""Mutual information of two labellings, in nats ([Elkan2006] section 5).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_documents,)
        One label per document, numbers or strings. -1 is a label like any other.

    Returns
    -------
    float
        Between 0 (independent) and the smaller of the two entropies.

    See Also
    --------
    normalized_mutual_information : From 0 to 1.
    match_clusters : Which cluster is which class.

    Notes
    -----
    With the shares r of documents in each pair of labels, and the shares p and q of each label,

    .. math:: I = \sum_{ij} r_{ij} \log \frac{r_{ij}}{p_i q_j}

    Examples
    --------
    >>> from bursty.metrics import mutual_information
    >>> round(mutual_information([0, 0, 1, 1], ["b", "b", "a", "a"]), 4)
    0.6931
    """
    return _information(*_codes(labels_true, labels_pred))


def normalized_mutual_information(labels_true: Any, labels_pred: Any, *, method: str = "geometric") -> float:
    r"""Mutual information over a mean of the two entropies: 1 for the same partition, 0 for independent ones.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_documents,)
        One label per document.
    method : {"geometric", "arithmetic", "min", "max"}, default "geometric"
        Mean of the entropies. Both papers use the geometric mean, see Notes.

    Returns
    -------
    float
        Between 0 and 1. If both labellings have a single label they agree (1); if only one of them has, it carries no
        information about the other (0).

    See Also
    --------
    mutual_information : In nats.
    variation_of_information : A distance.

    Notes
    -----
    With the entropies of the two labellings, by default

    .. math:: \frac{I}{\sqrt{H H'}}

    [Elkan2006] Table 3 uses the normalisation of Zhong and Ghosh (2005), ``I / sqrt(H(true) H(pred))``.
    [Yu2010] eq. 18 is the same measure written in document counts. Differs from eq. 18 as printed: the
    logarithm in its numerator lacks the factor d (the number of documents), without which equal partitions
    would not give the 1 that the text states; with it, d cancels and the formula is the one above.

    Examples
    --------
    >>> from bursty.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8165
    """
    if method not in _MEANS:
        raise ValueError(f"method must be one of {', '.join(map(repr, _MEANS))}, not {method!r}")
    true, pred = _codes(labels_true, labels_pred)
    entropies = _entropy(true), _entropy(pred)
    if entropies == (0.0, 0.0):
        return 1.0
    if min(entropies) == 0.0:
        return 0.0
    return min(1.0, _information(true, pred) / _MEANS[method](*entropies))


def match_clusters(labels_true: Any, labels_pred: Any) -> dict[Any, Any]:
    r"""One-to-one matching of clusters to labels that maximises the number of documents that agree.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_documents,)
        One label per document.

    Returns
    -------
    dict
        Cluster to label; clusters without a label (there may be more clusters than labels) are missing.

    See Also
    --------
    normalized_mutual_information, bursty.plot.confusion

    Notes
    -----
    .. math:: \max_\pi \sum_i n_{i \pi(i)}

    over all one-to-one :math:`\pi`, with :math:`n_{ij}` the number of documents in cluster i that have label j.

    Examples
    --------
    >>> from bursty.metrics import match_clusters
    >>> match_clusters(["a", "a", "b", "b"], [1, 1, 0, 7])
    {0: 'b', 1: 'a'}
    """
    true, pred = _codes(labels_true, labels_pred)
    clusters, labels = np.unique(np.asarray(labels_pred)), np.unique(np.asarray(labels_true))
    agree = np.zeros((len(clusters), len(labels)), dtype=np.int64)
    np.add.at(agree, (pred, true), 1)
    rows, columns = linear_sum_assignment(-agree)
    pairs = zip(clusters[rows].tolist(), labels[columns].tolist(), agree[rows, columns], strict=True)
    return {cluster: label for cluster, label, size in pairs if size > 0}


def _codes(labels_true: Any, labels_pred: Any) -> tuple[Array, Array]:
    """Both labellings as codes from 0, in the order of the sorted labels."""
    true, pred = _code(labels_true, "labels_true"), _code(labels_pred, "labels_pred")
    if len(true) != len(pred):
        raise ValueError(
            f"labels_true has {len(true)} labels and labels_pred has {len(pred)}: give one per document in each"
        )
    return true, pred


def _code(labels: Any, name: str) -> Array:
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension, with one label per document; it has {values.ndim}")
    if len(values) == 0:
        raise ValueError(f"{name} is empty: there are no documents to compare")
    if values.dtype.kind in "fc" and np.isnan(values).any():
        raise ValueError(f"{name} holds NaN for document {int(np.flatnonzero(np.isnan(values))[0])}")
    try:
        return np.unique(values, return_inverse=True)[1]
    except TypeError as error:
        raise ValueError(f"{name} mixes labels that cannot be compared ({error}): use numbers or strings") from error


def _entropy(codes: Array) -> float:
    sizes = np.bincount(codes).astype(np.float64)
    return float(np.sum(sizes * np.log(len(codes) / sizes))) / len(codes)


def _information(true: Array, pred: Array) -> float:
    n_documents, n_pred = len(true), int(pred.max()) + 1
    pairs, sizes = np.unique(true.astype(np.int64) * n_pred + pred, return_counts=True)
    expected = np.bincount(true)[pairs // n_pred] * (np.bincount(pred)[pairs % n_pred] / n_documents)
    # Rounding can leave a value just below zero where the labellings are independent.
    return max(0.0, float(np.sum(sizes * np.log(sizes / expected))) / n_documents)
