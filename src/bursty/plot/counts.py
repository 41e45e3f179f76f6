"""Distribution of the count of a word in a document: in data, and under a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from bursty.corpus.units import units_of
from bursty.engines import Chunk
from bursty.families import get_family
from bursty.families.estimator import FamilyEstimator
from bursty.metrics import CountProbabilities
from bursty.metrics import count_probabilities as count
from bursty.plot import style
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def count_probabilities(
    data: Any, *, label: str = "", markers: bool = True, ax: Axes | None = None, **options: Any
) -> Axes:
    """Probability that a word occurs exactly x times, by how common it is ([Madsen2005] Figures 1, 2 and 4).

    Parameters
    ----------
    data : CountProbabilities, or {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        The result of `bursty.metrics.count_probabilities`, or its input.
    label : str, optional
        Name in the legend, to compare several data sets in the same axes.
    markers : bool, default True
        Whether to mark points; False draws lines only, as for a model over data.
    ax : Axes, optional
    **options
        Passed to `bursty.metrics.count_probabilities` if ``data`` are documents.

    Returns
    -------
    Axes

    See Also
    --------
    bursty.metrics.count_probabilities : The numbers.

    Examples
    --------
    >>> from bursty import plot
    >>> groups = {"common": 1, "rare": None}
    >>> ax = plot.count_probabilities([[3, 0, 1], [1, 0, 1]], max_count=3, groups=groups)
    >>> ax.get_xlabel()
    'occurrences in a document'
    """
    if isinstance(data, CountProbabilities) and options:
        raise TypeError(f"options do not apply to computed curves: {', '.join(sorted(options))}")
    curves = data if isinstance(data, CountProbabilities) else count(data, **options)
    ax = style.axes(ax)
    for (group, values), mark in zip(curves.probabilities.items(), style.marks(), strict=False):
        shown = np.where(values > 0, values, np.nan)
        if not np.isfinite(shown).any():
            continue
        look = {"marker": mark.marker, "markersize": 3, "linewidth": 0.8} if markers else {"linestyle": "--"}
        words = units_of(data).plural[1]
        name = f"{group} ({label})" if label else f"{group}: {curves.n_words[group]:,} {words}"
        ax.plot(curves.counts, shown, color=mark.colour, label=name, **look)
    ax.set_yscale("log")
    ax.legend(frameon=False, fontsize="small")
    return style.finish(ax, "Count of a word in a document", "occurrences in a document", "probability", of=data)


def simplex(
    parameters: Any,
    n: int = 50,
    *,
    family: str = "dcm",
    words: Any = None,
    bar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Probabilities of all counts of three words in a document of n words ([Madsen2005] Figures 3 and 5).

    Each corner is a document with only one of the words; burstiness moves probability to edges and corners.

    Parameters
    ----------
    parameters : array-like of shape (3,), or a family fitted on three words
        theta, alpha or beta.
    n : int
        Number of words in the document.
    family : str
        Family of the parameters: one of `bursty.families.FAMILIES` that is a distribution of counts. EDCM
        probabilities are as published: they sum to less than 1.
    words : sequence of three str, optional
        Names of the corners.
    bar : bool, default True
        Whether to draw a colour bar.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    bursty.families.DCM, bursty.families.Dirichlet

    Examples
    --------
    >>> from bursty import plot
    >>> ax = plot.simplex([0.44, 0.25, 0.31], n=20, family="dcm", words=["rain", "sun", "wind"])
    >>> ax.get_title(loc="left")
    'Counts of three words: DCM'
    """
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be a positive integer, the number of words, not {n!r}")
    first, second = (values.ravel() for values in np.mgrid[0 : n + 1, 0 : n + 1])
    inside = first + second <= n
    counts = np.stack([first[inside], second[inside], n - first[inside] - second[inside]], axis=1).astype(np.int32)
    probabilities = np.exp(_log_prob(parameters, counts, family))
    names = ["word 1", "word 2", "word 3"] if words is None else [style.short(word) for word in words]
    if len(names) != 3:
        raise ValueError(f"a simplex has three corners, but words has {len(names)} names")
    ax = style.axes(ax, width=5.0, height=4.4)
    x, y = counts[:, 1] / n + counts[:, 2] / (2 * n), counts[:, 2] * np.sqrt(0.75) / n
    area = ax.tripcolor(x, y, probabilities, shading="gouraud", cmap=style.SHADES, vmin=0.0)
    for name, (left, up), side in zip(
        names, ((0, 0), (1, 0), (0.5, np.sqrt(0.75))), ("top", "top", "bottom"), strict=True
    ):
        ax.text(left, up + (0.02 if side == "bottom" else -0.02), name, ha="center", va=side, color=style.INK)
    if bar:
        ax.figure.colorbar(area, ax=ax, label=f"probability of the counts, n = {n}", shrink=0.8)
    ax.set_aspect("equal")
    ax.set_axis_off()
    title = get_family(parameters if isinstance(parameters, FamilyEstimator) else family).title
    ax.set_title(f"Counts of three words: {title}", loc="left", fontsize="medium", color=style.INK)
    return ax


def _log_prob(parameters: Any, counts: Array, family: str) -> Array:
    """Log-probability of each row of counts, summed over all orders of the words."""
    model = get_family(parameters if isinstance(parameters, FamilyEstimator) else family)
    if not model.has_perplexity:
        raise ValueError(f"{model.title} is a density, not a distribution of counts, which the simplex shows")
    if isinstance(parameters, FamilyEstimator):
        if getattr(parameters, "n_features_in_", 3) != 3:
            raise ValueError(f"a simplex needs three words, but the family was fitted on {parameters.n_features_in_}")
        return parameters.log_prob(counts, coefficient=True)
    values = np.asarray(parameters, dtype=np.float64)
    if values.shape != (3,) or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"a simplex needs three positive parameters, not {parameters!r}")
    sequence = model.log_prob(Chunk(sp.csr_array(counts)), model.from_weights(values[:, None]))[:, 0]
    return sequence + gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1)
