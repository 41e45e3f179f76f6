"""Metrics of topic models: held-out likelihood, and coherence of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from bursty.typing import Array
from bursty.validation import check_counts


def empirical_likelihood(model: Any, X: Any, *, random_state: Any = None, n_pseudo: int = 1000, **options: Any) -> Any:
    r"""Held-out log-likelihood of each document, estimated by empirical likelihood.

    Parameters
    ----------
    model : fitted `LDA` or `DCMLDA`
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    random_state : int, Generator or RandomState, optional
    n_pseudo : int
        Number of pseudo-documents.
    **options
        Passed to the model's method: ``return_error=True`` for standard errors.

    See Also
    --------
    document_completion, left_to_right

    Notes
    -----
    With S pseudo-documents drawn from the model,

    .. math:: \log \frac{1}{S} \sum_s p(x_d \mid \hat p_s)

    Examples
    --------
    >>> from bursty import LDA, datasets
    >>> from bursty.metrics import empirical_likelihood
    >>> corpus, _ = datasets.make_bursty_mixture(60, 30, 2, random_state=0)
    >>> model = LDA(2, n_iter=10, tol=0, random_state=0).fit(corpus.select(range(50)))
    >>> empirical_likelihood(model, corpus.select(range(50, 60)), random_state=0).shape
    (10,)
    """
    return _own(model, "empirical_likelihood")(X, random_state=random_state, n_pseudo=n_pseudo, **options)


def left_to_right(model: Any, X: Any, *, random_state: Any = None, n_particles: int = 20, **options: Any) -> Array:
    r"""Held-out log-likelihood of each document, estimated left to right.

    Parameters
    ----------
    model : fitted `LDA` or `DCMLDA`
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    random_state : int, Generator or RandomState, optional
    n_particles : int
        Number of particles.
    **options
        Passed to the model's method.

    See Also
    --------
    document_completion : Less noisy.
    empirical_likelihood : The measure of the paper.

    Notes
    -----
    A document is a product of predictions, each estimated with particles for the topics z of the words before:

    .. math::

       \log p(w) = \sum_i \log p(w_i \mid w_{<i})
       \approx \sum_i \log \frac{1}{R} \sum_r p(w_i \mid z^r_{<i}, w_{<i})

    Examples
    --------
    >>> from bursty import LDA, datasets
    >>> from bursty.metrics import left_to_right
    >>> corpus, _ = datasets.make_bursty_mixture(60, 30, 2, random_state=0)
    >>> model = LDA(2, n_iter=10, tol=0, random_state=0).fit(corpus.select(range(50)))
    >>> left_to_right(model, corpus.select(range(50, 60)), random_state=0).shape
    (10,)
    """
    return _own(model, "left_to_right")(X, random_state=random_state, n_particles=n_particles, **options)


def _own(model: Any, name: str) -> Any:
    method = getattr(model, name, None)
    if not callable(method):
        raise TypeError(f"{type(model).__name__} has no {name}: it is for topic models (LDA, DCMLDA)")
    return method


def coherence(topics: Any, X: Any, *, measure: str = "npmi", n_words: int = 10) -> Array:
    r"""Coherence of the top words of each topic, from their co-occurrence in documents.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words of the vocabulary), or fitted topic model
        Scores of the words; the ``n_words`` largest of each row are its top words. For a model, its ``components_``.
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        Reference documents.
    measure : {"npmi", "umass"}
        "npmi": mean over pairs of ``log(p(u, v) / (p(u) p(v))) / -log p(u, v)``, with fractions of documents
        as probabilities; from -1 (never together) to 1 (always). "umass": mean over pairs of
        ``log((D(u, v) + 1) / D(u))``, where u is the higher-ranked word (Mimno et al. 2011).
    n_words : int
        Number of top words per topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        NaN if a top word occurs in no document (for "umass") or a topic has fewer than two words.

    See Also
    --------
    diversity : To be read beside it.
    document_completion : How well topics predict.

    Notes
    -----
    The mean over pairs of top words, with shares of documents as probabilities, of

    .. math:: \mathrm{NPMI}(u, v) = \log \frac{p(u, v)}{p(u) \, p(v)} \Big/ {-\log p(u, v)}

    Examples
    --------
    >>> from bursty.metrics import coherence
    >>> topics = [[0.5, 0.4, 0.1, 0.0], [0.0, 0.1, 0.4, 0.5]]
    >>> coherence(topics, [[1, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 1], [0, 0, 1, 1]], n_words=2)
    array([1., 1.])
    """
    scores = np.asarray(getattr(topics, "components_", topics), dtype=np.float64)
    counts = check_counts(X, integer=False, owner="coherence")
    if scores.ndim != 2 or scores.shape[1] != counts.shape[1]:
        raise ValueError(f"topics have shape {scores.shape}, but the documents have {counts.shape[1]} words")
    if measure not in ("npmi", "umass"):
        raise ValueError(f'measure must be "npmi" or "umass", not {measure!r}')
    present = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape).tocsc()
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n_words]
    return np.array([_coherence(present[:, row], measure) for row in best])


def diversity(topics: Any, *, n_words: int = 10) -> float:
    r"""Share of distinct words among the top words of all topics: 1 if no two topics share one.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words of the vocabulary), or fitted topic model
        Scores of the words, as for `coherence`.
    n_words : int
        Number of top words per topic (Dieng et al. 2020 take 25).

    See Also
    --------
    coherence, match_topics

    Notes
    -----
    With the set of the m top words of each of K topics,

    .. math:: \Bigl| \bigcup_k \mathrm{top}_k \Bigr| \Big/ (K m)

    Examples
    --------
    >>> from bursty.metrics import diversity
    >>> diversity([[0.5, 0.4, 0.1, 0.0], [0.0, 0.5, 0.4, 0.1]], n_words=2)
    0.75
    """
    scores = np.asarray(getattr(topics, "components_", topics), dtype=np.float64)
    if scores.ndim != 2 or scores.size == 0:
        raise ValueError(f"topics must have shape (n_topics, n_words), not {scores.shape}")
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n_words]
    return len(np.unique(best)) / best.size


def _coherence(present: Any, measure: str) -> float:
    """Coherence of the words in the columns, best first."""
    n_documents, n_words = present.shape
    if n_words < 2:
        return float("nan")
    together = np.asarray((present.T @ present).todense())
    earlier, later = np.triu_indices(n_words, k=1)
    both, single = together[earlier, later], np.diag(together)
    with np.errstate(divide="ignore", invalid="ignore"):
        if measure == "umass":
            return float(np.mean(np.where(single[earlier] > 0, np.log((both + 1.0) / single[earlier]), np.nan)))
        joint = both / n_documents
        values = np.log(joint / (single[earlier] * single[later] / n_documents**2)) / -np.log(joint)
    values = np.where(both == 0, -1.0, np.where(both == n_documents, 1.0, values))
    return float(np.mean(values))


def match_topics(first: Any, second: Any) -> tuple[Array, Array]:
    r"""One-to-one matching of the topics of two fits that maximises their overlap.

    Parameters
    ----------
    first, second : array-like of shape (n_topics, n_words), or fitted topic models
        Word probabilities (a model's ``components_``).

    Returns
    -------
    order : ndarray of int
        The topic of ``second`` matched to each topic of ``first``; -1 if there is none left.
    overlap : ndarray of float
        For each pair, the sum over words of the smaller of the two probabilities, from 0 to 1.

    See Also
    --------
    match_clusters, diversity

    Notes
    -----
    The overlap of two topics is

    .. math:: \sum_w \min(\phi_w, \phi'_w)

    Examples
    --------
    >>> from bursty.metrics import match_topics
    >>> columns, overlap = match_topics([[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.9, 0.1]])
    >>> columns
    array([1, 0])
    """
    rows, columns = (np.asarray(getattr(one, "components_", one), dtype=np.float64) for one in (first, second))
    if rows.ndim != 2 or columns.ndim != 2 or rows.shape[1] != columns.shape[1]:
        raise ValueError(f"topics over the same words are needed, not shapes {rows.shape} and {columns.shape}")
    rows, columns = rows / rows.sum(axis=1, keepdims=True), columns / columns.sum(axis=1, keepdims=True)
    overlap = np.array([np.minimum(row, columns).sum(axis=1) for row in rows])
    own, other = linear_sum_assignment(-overlap)
    order, values = np.full(len(rows), -1), np.zeros(len(rows))
    order[own], values[own] = other, overlap[own, other]
    return order, values
