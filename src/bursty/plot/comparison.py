"""Scatter plots: two families on the same documents, and the quality of runs against their likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bursty.families import get_family
from bursty.plot import style
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def probabilities(first: Any, second: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """Log-probability of each document under two fitted families, such as DCM and EDCM ([Elkan2006] Figure 1).

    Parameters
    ----------
    first, second : fitted families
        Horizontal and vertical axis.
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    parameters
    bursty.families.DCM, bursty.families.EDCM

    Examples
    --------
    >>> from bursty import plot
    >>> from bursty.families import DCM, EDCM
    >>> X = [[3, 0, 1], [1, 0, 1], [0, 2, 2]]
    >>> plot.probabilities(DCM().fit(X), EDCM().fit(X), X).get_xlabel()
    'log-probability, DCM'
    """
    ax = style.axes(ax, width=4.6, height=4.6)
    names = [get_family(model).title for model in (first, second)]
    _against(ax, first.log_prob(X), second.log_prob(X))
    return style.finish(ax, "One dot per document", *(f"log-probability, {name}" for name in names), of=X)


def parameters(first: Any, second: Any, *, ax: Axes | None = None) -> Axes:
    """Parameter of each word in two fitted families, such as DCM and EDCM ([MadsenEDCM] Figure 1).

    Parameters
    ----------
    first, second : fitted families of the same words
        Horizontal and vertical axis, both logarithmic; words with a parameter of 0 are not shown.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    probabilities
    bursty.families.DCM, bursty.families.EDCM

    Examples
    --------
    >>> from bursty import plot
    >>> from bursty.families import DCM, EDCM
    >>> X = [[3, 0, 1], [1, 0, 1], [0, 2, 2]]
    >>> plot.parameters(DCM().fit(X), EDCM().fit(X)).get_title(loc="left")
    'One dot per word'
    """
    values = [_parameter(model) for model in (first, second)]
    if values[0].shape != values[1].shape:
        raise ValueError(
            f"the families were fitted on {len(values[0])} and {len(values[1])} words: fit both on the same documents"
        )
    ax = style.axes(ax, width=4.6, height=4.6)
    shown = (values[0] > 0) & (values[1] > 0)
    _against(ax, values[0][shown], values[1][shown])
    ax.set_xscale("log")
    ax.set_yscale("log")
    names = [f"{model._parameters.symbol} of {get_family(model).title}" for model in (first, second)]
    return style.finish(ax, "One dot per word", *names, of=first)


def runs(results: Mapping[str, Any], *, xlabel: str = "perplexity", ax: Axes | None = None) -> Axes:
    """Perplexity of each run against the mutual information of its clusters with the truth ([Elkan2006] Figure 2).

    Parameters
    ----------
    results : mapping of str to (perplexities, mutual informations)
        One pair of sequences per method, with one value per run in each.
    xlabel : str, default "perplexity"
        Label of the horizontal axis.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    trace, bursty.Mixture

    Examples
    --------
    >>> from bursty import plot
    >>> results = {"EDCM": ([1290, 1300], [0.9, 0.8]), "multinomial": ([2560, 2550], [0.5, 0.6])}
    >>> ax = plot.runs(results)
    >>> ax.get_xlabel()
    'perplexity'
    """
    if not results:
        raise ValueError("results is empty: give at least one method")
    ax = style.axes(ax)
    for (name, pair), mark in zip(results.items(), style.marks(), strict=False):
        x, y = (np.asarray(values, dtype=np.float64) for values in pair)
        if x.shape != y.shape or x.ndim != 1:
            raise ValueError(f"{name}: give as many perplexities as mutual informations, not {x.shape} and {y.shape}")
        ax.scatter(x, y, s=26, marker=mark.marker, facecolor="none", edgecolor=mark.colour, label=style.short(name))
    ax.legend(frameon=False, fontsize="small")
    return style.finish(ax, "One mark per run", xlabel, "mutual information with the labels (nats)")


def _parameter(model: Any) -> Array:
    get_family(model)
    check_is_fitted(model)
    return model._parameters.table[:, 0]


def _against(ax: Axes, x: Array, y: Array) -> None:
    """Scatter plot with the diagonal."""
    ax.scatter(x, y, s=9, color=style.COLOURS[0], alpha=0.5, linewidth=0)
    finite = np.concatenate([x[np.isfinite(x)], y[np.isfinite(y)]])
    if len(finite):
        ends = [finite.min(), finite.max()]
        ax.plot(ends, ends, color=style.INK, linewidth=0.8, linestyle="--", label="equal")
        ax.legend(frameon=False, fontsize="small")
