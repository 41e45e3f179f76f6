"""Results of a clustering or a classifier, and their agreement with known labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bursty.metrics import posterior_similarity
from bursty.plot import style
from bursty.typing import Array
from bursty.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CELLS = 900


def cluster_sizes(model: Any, *, n_words: int = 4, ax: Axes | None = None) -> Axes:
    """Number of documents per cluster, largest first, with the discriminative words of each.

    Parameters
    ----------
    model : fitted Mixture, any clustering with ``labels_``, or array-like of shape (n_documents,)
        The clustering, or its labels.
    n_words : int, default 4
        Number of words beside each bar, if the model has words.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    cluster_words, bursty.Mixture

    Examples
    --------
    >>> from bursty import plot
    >>> plot.cluster_sizes([0, 0, 1, 0]).get_title(loc="left")
    '4 documents in 2 clusters'
    """
    labels = np.asarray(getattr(model, "labels_", model))
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"cluster sizes need one label per document, not shape {labels.shape}")
    clusters, sizes = np.unique(labels, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    ax = style.axes(ax, height=max(2.0, 0.42 * len(order) + 1.2))
    style.bars(ax, [f"cluster {clusters[k]}" for k in order], sizes[order])
    if n_words and hasattr(model, "word_scores"):
        scores = model.word_scores()
        names = style.word_names(model, scores.shape[1])
        for place, k in enumerate(order):
            best = np.argsort(-scores[clusters[k]], kind="stable")[:n_words]
            text = ", ".join(style.short(names[word]) for word in best)
            ax.annotate(text, (sizes[k], place), (4, 0), textcoords="offset points", va="center", fontsize="small")
        ax.margins(x=0.6)
    return style.finish(
        ax, f"{counted(len(labels), 'document')} in {counted(len(order), 'cluster')}", "documents", grid="x", of=model
    )


def cluster_words(model: Any, cluster: int, n: int = 12, *, by: str = "contrast", ax: Axes | None = None) -> Axes:
    """Top words of a cluster.

    Parameters
    ----------
    model : fitted Mixture
    cluster : int
    n : int, default 12
        Number of words.
    by : {"contrast", "discriminative", "parameter", "lift"}, default "contrast"
        Ranking of the words, as in ``Mixture.top_words``.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    cluster_sizes, topic_words

    Examples
    --------
    >>> from bursty import Mixture, datasets, plot
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> model = Mixture(2, random_state=0).fit(corpus)
    >>> ax = plot.cluster_words(model, 0, n=5)
    >>> len(ax.get_yticklabels())
    5
    """
    check_is_fitted(model)
    scores = model.word_scores(by)
    number = style.column_number(cluster, len(scores), "cluster")
    best = np.argsort(-scores[number], kind="stable")[: max(1, n)]
    ax = style.axes(ax, height=max(2.0, 0.26 * len(best) + 1.0))
    style.bars(ax, style.word_names(model, scores.shape[1])[best], scores[number][best])
    title = (
        f"Cluster {number}: {counted(int(model.sizes_[number]), 'document')}"
        if hasattr(model, "sizes_")
        else f"Cluster {number}"
    )
    return style.finish(ax, title, by, grid="x", of=model)


def confusion(
    labels_true: Any, labels_pred: Any, *, normalize: bool = False, names: Any = None, ax: Axes | None = None
) -> Axes:
    """Confusion matrix: number of documents of each class in each cluster or predicted class.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_documents,)
    normalize : bool, default False
        Whether to show shares of each true class instead of numbers.
    names : sequence of str, optional
        Names of the true labels, in sorted order; predicted labels with the same value have the same name.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    bursty.metrics.match_clusters, reliability

    Examples
    --------
    >>> from bursty import plot
    >>> ax = plot.confusion(["wet", "wet", "dry"], ["wet", "dry", "dry"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['dry', 'wet']
    """
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or len(true) == 0:
        raise ValueError(
            f"give one true and one predicted label per document, not shapes {true.shape} and {pred.shape}"
        )
    rows, row_of = np.unique(true, return_inverse=True)
    columns, column_of = np.unique(pred, return_inverse=True)
    numbers = np.zeros((len(rows), len(columns)))
    np.add.at(numbers, (row_of, column_of), 1)
    if names is not None and len(names) != len(rows):
        raise ValueError(f"names has {len(names)} names for {len(rows)} labels")
    called = dict(zip(rows.tolist(), rows.tolist() if names is None else names, strict=True))
    shares = numbers / numbers.sum(axis=1, keepdims=True)
    shown = shares if normalize else numbers
    text = [[f"{value:.2f}" if normalize else f"{value:.0f}" for value in row] for row in shown]
    ax = style.axes(ax, width=max(4.0, 0.62 * len(columns) + 2.2), height=max(3.2, 0.42 * len(rows) + 1.6))
    # Shaded by share, so that a large class does not make the others pale.
    style.table(ax, shares, text if numbers.size <= _MOST_CELLS else [], largest=1.0)
    same = names is not None and set(columns.tolist()) <= set(rows.tolist())
    ax.set_xticks(range(len(columns)), [style.short(called[c] if same else c) for c in columns.tolist()], rotation=90)
    ax.set_yticks(range(len(rows)), [style.short(called[r]) for r in rows.tolist()])
    return style.finish(ax, "Confusion matrix", "predicted", "true", grid="")


def similarity(samples: Any, *, labels: Any = None, ax: Axes | None = None) -> Axes:
    """Posterior similarity: probability that each pair of documents shares a cluster.

    Parameters
    ----------
    samples : fitted DPMFS, or array of shape (n_samples, n_documents) or (n_documents, n_components)
        Integers: labels of the documents in each sample of a Gibbs sampler. Otherwise: ``predict_proba`` of a mixture,
        with rows that sum to one.
    labels : array-like of shape (n_documents,), optional
        Labels by which documents are ordered. Default: their last, or most probable, cluster.
    ax : Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    bursty.metrics.posterior_similarity, bursty.DPMFS

    Examples
    --------
    >>> from bursty import plot
    >>> plot.similarity([[0, 0, 1], [0, 1, 1]]).get_title(loc="left")
    'Posterior similarity'
    """
    matrix, own = _together(np.asarray(getattr(samples, "samples_", samples)))
    given = own if labels is None else np.asarray(labels)
    if given.shape != (len(matrix),):
        raise ValueError(f"labels has shape {given.shape} for {len(matrix)} documents: give one per document")
    order = np.argsort(given, kind="stable")
    ax = style.axes(ax, width=5.2, height=4.6)
    image = ax.imshow(matrix[np.ix_(order, order)], cmap=style.SHADES, vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="probability of the same cluster", shrink=0.8)
    for edge in np.flatnonzero(np.diff(np.unique(given, return_inverse=True)[1][order])) + 0.5:
        ax.axhline(edge, color="white", linewidth=0.6)
        ax.axvline(edge, color="white", linewidth=0.6)
    return style.finish(
        ax, "Posterior similarity", "documents, by cluster", "documents, by cluster", grid="", of=samples
    )


def _together(samples: Array) -> tuple[Array, Array]:
    """Documents x documents matrix, and a cluster per document to sort by."""
    if samples.ndim != 2 or samples.size == 0:
        raise ValueError(f"similarity needs samples x documents labels or documents x clusters, not {samples.shape}")
    n_documents = samples.shape[1] if samples.dtype.kind in "iu" else samples.shape[0]
    if n_documents > 5000:
        raise ValueError(f"{n_documents:,} documents give too many pairs to draw: choose at most 5,000")
    if samples.dtype.kind in "iu":
        return posterior_similarity(samples), samples[-1]
    if np.any(samples < 0) or not np.allclose(samples.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError("posteriors must be non-negative, and each row must sum to one")
    return samples @ samples.T, samples.argmax(axis=1)
