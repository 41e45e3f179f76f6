"""Words of topics, and their shares by group or over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bursty.plot import style
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def topic_words(
    model: Any, topic: int, n: int = 12, *, by: str = "contrast", weight: float = 0.6, ax: Axes | None = None
) -> Axes:
    """Top words of a topic, with their probabilities in it.

    Parameters
    ----------
    model : fitted LDA or DCMLDA
    topic : int
    n : int, default 12
        Number of words.
    by, weight
        Ranking of the words, as in ``LDA.top_words``.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    topics_over, cluster_words

    Examples
    --------
    >>> from bursty import LDA, datasets, plot
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> model = LDA(2, n_iter=10, tol=0, random_state=0).fit(corpus)
    >>> plot.topic_words(model, 0, n=5).get_xlabel()
    'probability in the topic'
    """
    check_is_fitted(model)
    scores = model.word_scores(by, weight)
    number = style.column_number(topic, len(scores), "topic")
    best = np.argsort(-scores[number], kind="stable")[: max(1, n)]
    ax = style.axes(ax, height=max(2.0, 0.26 * len(best) + 1.0))
    style.bars(ax, style.word_names(model, scores.shape[1])[best], model.components_[number][best])
    share = float(model.doc_topic_[:, number].mean())
    return style.finish(
        ax, f"Topic {number}: {share:.1%} of a document", "probability in the topic", grid="x", of=model
    )


def topics_over(
    model: Any, groups: Any, *, topics: Any = None, window: int = 1, n_words: int = 3, ax: Axes | None = None
) -> Axes:
    """Share of topics by group of documents: lines over numbers such as years, a table over names.

    Parameters
    ----------
    model : fitted LDA or DCMLDA
    groups : array-like of shape (n_documents,)
        Numbers (such as years) or labels, one per document of the fit.
    topics : sequence of int, optional
        Topics to show. Default: the five that change most.
    window : int, default 1
        Number of neighbouring times in the running mean.
    n_words : int, default 3
        Number of top words in the name of a topic.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    topic_words, bursty.DCMLDA

    Examples
    --------
    >>> from bursty import LDA, datasets, plot
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> model = LDA(2, n_iter=10, tol=0, random_state=0).fit(corpus)
    >>> years = [2000 + document % 5 for document in range(60)]
    >>> plot.topics_over(model, years).get_title(loc="left")
    'Topics over time'
    """
    names, shares = model.prevalence(groups)
    if not isinstance(window, int | np.integer) or window < 1:
        raise ValueError(f"window must be a positive integer, not {window!r}")
    chosen = np.argsort(-shares.std(axis=0), kind="stable")[:5] if topics is None else topics
    numbers = [style.column_number(topic, shares.shape[1], "topic") for topic in chosen]
    words = _titles(model, n_words)
    if names.dtype.kind not in "iufM":
        return _by_label(ax, names, shares[:, numbers], [words[k] for k in numbers])
    ax = style.axes(ax, width=7.2)
    for k, mark in zip(numbers, style.marks(), strict=False):
        line = running_mean(shares[:, k], window)
        look: dict[str, Any] = {"marker": mark.marker, "markersize": 4, "markevery": max(1, len(names) // 12)}
        ax.plot(names, line, color=mark.colour, linestyle=mark.dash, label=words[k], **look)
    ax.legend(frameon=False, fontsize="small")
    ax.set_ylim(bottom=0.0)
    return style.finish(ax, "Topics over time", "", "share of a document", of=model)


def running_mean(values: Array, window: int) -> Array:
    """Running mean over ``window`` values; fewer at the ends."""
    ones = np.ones(min(window, len(values)))
    return np.convolve(values, ones, "same") / np.convolve(np.ones(len(values)), ones, "same")


def _by_label(ax: Axes | None, names: Array, shares: Array, topics: list[str]) -> Axes:
    ax = style.axes(ax, width=max(4.5, 0.8 * len(topics) + 2.4), height=max(2.8, 0.36 * len(names) + 2.2))
    style.table(ax, shares, [[f"{value:.2f}" for value in row] for row in shares])
    ax.set_xticks(range(len(topics)), topics, rotation=30, ha="right")
    ax.set_yticks(range(len(names)), [style.short(name) for name in names])
    return style.finish(ax, "Share of each topic", grid="")


def _titles(model: Any, n_words: int) -> list[str]:
    scores = model.word_scores()
    words = style.word_names(model, scores.shape[1])
    best = np.argsort(-scores, axis=1, kind="stable")[:, : max(0, n_words)]
    return [
        f"{k}: " + ", ".join(style.short(words[w]) for w in row) if len(row) else str(k) for k, row in enumerate(best)
    ]
