"""The tree of clusters or topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bursty.plot import style
from bursty.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def hierarchy(model: Any, n: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Dendrogram of clusters or topics: those that differ least in their words are merged first.

    Parameters
    ----------
    model : fitted Mixture, DPMFS, LDA or DCMLDA, or its ``hierarchy()``
    n : int, optional
        Number of branches to mark by a line.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    bursty.models.hierarchy.Hierarchy

    Examples
    --------
    >>> from bursty import Mixture, datasets, plot
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 3, random_state=0)
    >>> plot.hierarchy(Mixture(3, random_state=0).fit(corpus), n=2).get_xlabel()
    'share of the differences that is lost'
    """
    from scipy.cluster.hierarchy import dendrogram

    tree = model.hierarchy() if hasattr(model, "hierarchy") else model
    if tree.n_groups < 2:
        raise ValueError("a tree needs at least two groups")
    where = None if n is None else 1.0 - (tree.kept(n) + tree.kept(min(n + 1, tree.n_groups))) / 2.0
    ax = style.axes(ax, width=7.2, height=max(2.4, 0.28 * tree.n_groups + 1.2))
    names = [f"{k}: {style.short(tree.names[k])}" for k in range(tree.n_groups)]
    look: dict[str, Any] = {"color_threshold": 0.0, "above_threshold_color": style.COLOURS[0]}
    dendrogram(tree.linkage, orientation="right", labels=names, ax=ax, leaf_font_size=9, **look)
    ax.yaxis.tick_left()
    ax.set_xlim(0.0, 1.02)
    ax.invert_yaxis()
    if where is not None:
        ax.axvline(where, color=style.COLOURS[1], linestyle="--")
    title = counted(tree.n_groups, "group")
    if n is not None:
        title = f"{n} of {title} {'keeps' if n == 1 else 'keep'} {tree.kept(n):.0%}"
    return style.finish(ax, title, "share of the differences that is lost", grid="x")
