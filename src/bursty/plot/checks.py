"""Goodness of fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bursty.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Standard deviations up to which the axis is linear; data farther from the draws than that need a logarithm.
LINEAR = 5.0


def predictive_check(check: Any, *, ax: Axes | None = None) -> Axes:
    """Statistics of data drawn from a model, and of the data itself: one row each.

    All are shown relative to the mean and standard deviation of the draws. A model that fits has its data among them.

    Parameters
    ----------
    check : PredictiveCheck
        Result of `bursty.families.uncertainty.predictive_check`.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    bursty.families.uncertainty.predictive_check : The numbers.

    Examples
    --------
    >>> from bursty import datasets, plot
    >>> from bursty.families import DCM
    >>> from bursty.families.uncertainty import predictive_check
    >>> corpus, _ = datasets.make_bursty_mixture(40, 30, 1, random_state=0)
    >>> check = predictive_check(DCM().fit(corpus), corpus, n_draws=19, random_state=0)
    >>> plot.predictive_check(check).get_xlabel()
    'standard deviations from the mean of the draws'
    """
    names = list(check.observed)
    ax = style.axes(ax, width=7.2, height=0.45 * len(names) + 1.4)
    rng, farthest = np.random.default_rng(0), 0.0
    for row, name in enumerate(names):
        drawn = np.asarray(check.drawn[name])
        scale = drawn.std() or 1.0
        heights = row + rng.uniform(-0.25, 0.25, len(drawn))
        # Matplotlib omits names with an underscore from the legend.
        names_of_marks = ("drawn from the model", "data") if row == 0 else ("_", "_")
        places = (drawn - drawn.mean()) / scale
        ax.plot(places, heights, ".", color=style.COLOURS[0], alpha=0.4, label=names_of_marks[0])
        place = (check.observed[name] - drawn.mean()) / scale
        farthest = max(farthest, abs(place))
        ax.plot([place], [row], "D", color=style.COLOURS[1], markersize=7, label=names_of_marks[1])
    ax.set_yticks(range(len(names)), [f"{name} (p = {check.p_values[name]:.2g})" for name in names])
    if farthest > LINEAR:
        ax.set_xscale("symlog", linthresh=LINEAR)
        ax.xaxis.set_major_formatter("{x:g}")
    ax.axvline(0.0, color="0.7", linewidth=0.8)
    ax.invert_yaxis()
    ax.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.05),  # above the title, which may be as wide as the axes
        ncols=2,
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.0,
        fontsize=9,
    )
    ax.margins(x=0.08)
    return style.finish(ax, "Predictive check", "standard deviations from the mean of the draws", grid="x")
