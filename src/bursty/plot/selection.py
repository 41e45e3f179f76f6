"""Selection of the number of components or topics: likelihood against K."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bursty.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    **{"heldout": "held-out log-likelihood per document", "bic": "gain by BIC", "icl": "gain by ICL"},
    **{"completion": "log-probability of a held-out token", "laplace": "log evidence per document"},
}


def score_title(criterion: str) -> str:
    """What the scores of a selection by this criterion are."""
    return _LABELS.get(criterion, criterion)


def likelihoods(selection: Any, *, ylabel: str | None = None, logx: bool = False, ax: Axes | None = None) -> Axes:
    """Likelihood against the number of components or topics, with standard errors.

    Parameters
    ----------
    selection : Selection, or mapping of str to (ks, scores) or (ks, scores, standard errors)
        The result of `bursty.select_components`, whose choice is marked, or one curve per model, as in [Doyle2009]
        Figures 2 and 3.
    ylabel : str, optional
        Label of the vertical axis.
    logx : bool, default False
        Whether to use a logarithmic scale for the number of components.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    bursty.select_components

    Examples
    --------
    >>> from bursty import plot
    >>> ax = plot.likelihoods({"DCMLDA": ([5, 10, 20], [-310.0, -302.0, -305.0])})
    >>> ax.get_xlabel()
    'components'
    """
    chosen = getattr(selection, "n_components", None)
    if chosen is not None:
        curves: Mapping[str, Any] = {"": (selection.ks, selection.scores, selection.standard_errors)}
        ylabel = ylabel or score_title(selection.criterion)
    elif isinstance(selection, Mapping) and selection:
        curves = selection
    else:
        raise TypeError("give the result of select_components, or a mapping of names to (ks, scores)")
    ax = style.axes(ax)
    for (name, curve), mark in zip(curves.items(), style.marks(), strict=False):
        ks, scores, *errors = (np.asarray(values, dtype=np.float64) for values in curve)
        if ks.shape != scores.shape or ks.ndim != 1:
            raise ValueError(
                f"{name or 'selection'}: give one score per number of components, not {scores.shape} for {ks.shape}"
            )
        look: dict[str, Any] = {"color": mark.colour, "marker": mark.marker, "linestyle": mark.dash, "capsize": 3.0}
        ax.errorbar(ks, scores, yerr=errors[0] if errors else None, label=style.short(name) or None, **look)
    if chosen is not None:
        ax.axvline(chosen, color=style.INK, linewidth=0.8, linestyle=":")
        ax.annotate(
            f"chosen: {chosen}",
            (chosen, 0.02),
            (4, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize="small",
        )
    elif any(curves):
        ax.legend(frameon=False, fontsize="small")
    if logx:
        ax.set_xscale("log")
    else:
        ax.locator_params(axis="x", integer=True)
    return style.finish(ax, "Number of components", "components", ylabel or "log-likelihood")
