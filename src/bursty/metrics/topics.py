"""Measures of topic models: held-out likelihood, and coherence of the topics' words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from bursty.validation import check_counts

Array = np.ndarray[Any, Any]


def empirical_likelihood(model: Any, X: Any, *, random_state: Any = None, n_pseudo: int = 1000, **options: Any) -> Any:
    """Log-likelihood of each document by empirical likelihood: the model's own method.

    Parameters
    ----------
    model : fitted `LDA` or `DCMLDA`
    X : documents x words counts
    random_state : int, Generator or RandomState, optional
    n_pseudo : int
        Pseudo documents.
    **options
        Passed to the model's method: ``return_error=True`` for standard errors.
    """
    return _own(model, "empirical_likelihood")(X, random_state=random_state, n_pseudo=n_pseudo, **options)


def left_to_right(model: Any, X: Any, *, random_state: Any = None, n_particles: int = 20, **options: Any) -> Array:
    """Log-likelihood of each document, word after word: the model's own method.

    Parameters
    ----------
    model : fitted `LDA` or `DCMLDA`
    X : documents x words counts
    random_state : int, Generator or RandomState, optional
    n_particles : int
        Particles.
    **options
        Passed to the model's method.
    """
    return _own(model, "left_to_right")(X, random_state=random_state, n_particles=n_particles, **options)


def _own(model: Any, name: str) -> Any:
    method = getattr(model, name, None)
    if not callable(method):
        raise TypeError(f"{type(model).__name__} has no {name}: it is for topic models (LDA, DCMLDA)")
    return method


def coherence(topics: Any, X: Any, *, measure: str = "npmi", n_words: int = 10) -> Array:
    """How often the top words of each topic occur in the same documents.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words of the vocabulary), or fitted topic model
        Scores of the words; the ``n_words`` largest of each row are its top words. A model's are its ``components_``.
    X : documents x words counts
        The documents to look in.
    measure : {"npmi", "umass"}
        "npmi": mean over pairs of ``log(p(u, v) / (p(u) p(v))) / -log p(u, v)``, with shares of documents as
        probabilities; from -1 (never together) to 1 (always). "umass": mean over pairs of
        ``log((D(u, v) + 1) / D(u))``, u the word that ranks higher (Mimno et al. 2011).
    n_words : int
        Top words a topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        NaN where a top word is in no document (for "umass") or a topic has less than two words.
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
    """Share of distinct words among the top words of all topics: 1 where no two topics have one in common.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words of the vocabulary), or fitted topic model
        Scores of the words, as for `coherence`.
    n_words : int
        Number of top words per topic (Dieng et al. 2020 take 25).
    """
    scores = np.asarray(getattr(topics, "components_", topics), dtype=np.float64)
    if scores.ndim != 2 or scores.size == 0:
        raise ValueError(f"topics must have shape (n_topics, n_words), not {scores.shape}")
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n_words]
    return len(np.unique(best)) / best.size


def _coherence(present: Any, measure: str) -> float:
    """Of the words that are the columns, best first."""
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
    """Pair the topics of two fits, so that together the pairs are as alike as can be.

    Parameters
    ----------
    first, second : array-like of shape (n_topics, n_words), or fitted topic models
        Word probabilities (a model's ``components_``).

    Returns
    -------
    order : ndarray of int
        The topic of ``second`` that stands beside each topic of ``first``; -1 where there is none left.
    overlap : ndarray of float
        Of each pair, the sum of the smaller of the two probabilities of each word, from 0 to 1.
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
