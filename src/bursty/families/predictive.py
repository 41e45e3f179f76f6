"""Predictive checks: does a fitted model generate data like those it was fitted to?

Documents of the same lengths are drawn from the model, and statistics of them are compared with those of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.estimator import check_whole, generator
from bursty.typing import Array
from bursty.validation import check_counts


def _dispersion(counts: sp.csr_array) -> float:
    """Variance over documents divided by the mean, averaged over the words that occur."""
    n = counts.shape[0]
    mean = np.asarray(counts.sum(axis=0)).ravel() / n
    square = np.asarray(counts.astype(np.float64).power(2).sum(axis=0)).ravel() / n
    return float(np.mean((square - mean**2)[mean > 0] / mean[mean > 0]))


#: What `predictive_check` compares: functions of a sparse table of counts.
STATISTICS: Mapping[str, Callable[[sp.csr_array], float]] = {
    "share of empty cells": lambda counts: 1.0 - counts.nnz / (counts.shape[0] * counts.shape[1]),
    "share of words that are repeated": lambda counts: float(np.mean(counts.data > 1)),
    "mean count of a word that occurs": lambda counts: float(np.mean(counts.data)),
    "variance of counts over their mean": _dispersion,
    "share of the most frequent word": lambda counts: float(
        np.mean(counts.max(axis=1).toarray().ravel() / np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1))
    ),
}


@dataclass(frozen=True)
class PredictiveCheck:
    """Statistics of the data, and of data drawn from the model.

    Attributes
    ----------
    observed : dict of str to float
    drawn : dict of str to ndarray of shape (n_draws,)
    p_values : dict of str to float
        Two-sided: twice the share of draws beyond the observed value. If it is small, the model does not generate such
        data.

    See Also
    --------
    predictive_check, bursty.plot.predictive_check

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families import DCM
    >>> from bursty.families.uncertainty import predictive_check
    >>> X = np.array([[4, 2], [1, 5], [6, 0], [3, 3]])
    >>> check = predictive_check(DCM().fit(X), X, n_draws=9, random_state=0)
    >>> check.observed["mean count of a word that occurs"]
    3.4285714285714284
    """

    observed: dict[str, float]
    drawn: dict[str, Array]
    p_values: dict[str, float]


def predictive_check(
    model: Any,
    X: Any,
    *,
    statistics: Mapping[str, Callable[[sp.csr_array], float]] | None = None,
    n_draws: int = 99,
    random_state: Any = None,
) -> PredictiveCheck:
    r"""Goodness of fit: compare data with documents of the same lengths, drawn from a fitted model.

    Parameters
    ----------
    model : fitted family, Mixture, LDA or DCMLDA
        Anything with ``sample(lengths, random_state)``.
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    statistics : mapping of str to function of a sparse table, optional
        What to compare. By default those of ``bursty.families.uncertainty.STATISTICS``.
    n_draws : int, default 99
        Number of collections to draw.
    random_state : int, Generator or RandomState, optional

    See Also
    --------
    PredictiveCheck : The result.
    bursty.plot.predictive_check : Plot the result.

    Notes
    -----
    A p-value counts the draws :math:`t_1, \dots, t_n` of a statistic on either side of the observed :math:`t`:

    .. math:: p = \min\left(1, \frac{2 (1 + \min(\#\{t_i \le t\}, \#\{t_i \ge t\}))}{1 + n}\right)

    Examples
    --------
    >>> from bursty import datasets
    >>> from bursty.families import DCM, Multinomial
    >>> from bursty.families.uncertainty import predictive_check
    >>> corpus, _ = datasets.make_bursty_mixture(80, 30, 1, random_state=0)
    >>> name = "share of words that are repeated"
    >>> fits = [family().fit(corpus) for family in (DCM, Multinomial)]
    >>> [predictive_check(fit, corpus, random_state=0).p_values[name] > 0.02 for fit in fits]
    [True, False]
    """
    counts = check_counts(X, owner="predictive_check")
    check_whole("n_draws", n_draws, 1)
    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
    chosen, rng = STATISTICS if statistics is None else statistics, generator(random_state)
    drawn: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(n_draws):
        sample = model.sample(lengths, random_state=rng)
        sample = sample[0] if isinstance(sample, tuple) else sample
        for name, function in chosen.items():
            drawn[name].append(function(sample))
    observed = {name: float(function(counts)) for name, function in chosen.items()}
    values = {name: np.array(found) for name, found in drawn.items()}
    return PredictiveCheck(observed, values, {name: _two_sided(observed[name], values[name]) for name in chosen})


def _two_sided(observed: float, drawn: Array) -> float:
    least = min(np.count_nonzero(drawn <= observed), np.count_nonzero(drawn >= observed))
    return float(min(1.0, 2.0 * (1 + least) / (1 + len(drawn))))
