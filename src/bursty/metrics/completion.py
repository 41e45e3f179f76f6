"""Document completion: how well a model predicts one half of a document from the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.typing import Array


def document_completion(
    model: Any, X: Any, held: Any = None, *, random_state: Any = None, return_error: bool = False
) -> Any:
    r"""Perplexity of held-out tokens, given the other tokens of their documents. Lower is better.

    Parameters
    ----------
    model : fitted `LDA` or `DCMLDA`, or any model with a method ``log_predictive``
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        Documents that the model was not fitted to. Where ``held`` is given, their observed counts.
    held : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words), optional
        Held-out counts of the same documents. By default half of the tokens of each row of X are held out, drawn at
        random without replacement (the smaller half of an odd number), and the others are observed.
    random_state : int, Generator or RandomState, optional
        For the split and for the Gibbs chains; by default that of the fit.
    return_error : bool, default False
        Also return the standard error of the perplexity.

    Returns
    -------
    float, or pair of floats
        ``exp(-sum_d log p(held_d | observed_d) / n_held)``, and, with ``return_error``, its standard error. Documents
        are the sampling units, so that it estimates how much the value varies between test sets of the same size.

    See Also
    --------
    left_to_right, empirical_likelihood
    coherence : How well topics read.

    Notes
    -----
    .. math::

       \exp\Bigl(-\sum_d \sum_{i \in \mathrm{held}_d} \log p(w_{di} \mid \mathrm{observed}_d)
       \Big/ \sum_d |\mathrm{held}_d|\Bigr)

    A topic model infers the topics of the observed tokens with its parameters fixed, by 16 independent Gibbs chains of
    2 sweeps that are discarded and 3 that count. For each of these 48 samples,

    ``p(w | d) = sum_k (n_dk + alpha_k) / (n_d + sum_k alpha_k) * p(w | d, k)``

    with ``p(w | d, k) = components_[k, w]`` in LDA and ``(n_dwk + beta_kw) / (n_dk + s_k)`` in DCMLDA, where n counts
    the observed tokens; p(w | d) is their arithmetic mean. Held-out tokens are scored independently of each other:
    none of them is ever conditioned on.

    Examples
    --------
    >>> from bursty import DCMLDA, datasets
    >>> from bursty.metrics import document_completion
    >>> corpus, _ = datasets.make_bursty_mixture(150, 50, 2, random_state=0)
    >>> model = DCMLDA(2, random_state=0).fit(corpus.select(range(100)))
    >>> perplexity = document_completion(model, corpus.select(range(100, 150)), random_state=0)
    >>> 1 < perplexity < 50
    True
    """
    method = getattr(model, "log_predictive", None)
    if not callable(method):
        raise TypeError(
            f"{type(model).__name__} has no log_predictive: document completion is for topic models (LDA, DCMLDA)"
        )
    log_prob, sizes = (np.asarray(part, dtype=np.float64) for part in method(X, held, random_state=random_state))
    if sizes.sum() == 0:
        raise ValueError("no tokens are held out: document_completion needs documents of at least two tokens")
    mean = log_prob.sum() / sizes.sum()
    perplexity = float(np.exp(-mean))
    return (perplexity, perplexity * _error_of_ratio(log_prob, sizes)) if return_error else perplexity


def _error_of_ratio(values: Array, sizes: Array) -> float:
    """Standard error of ``values.sum() / sizes.sum()`` over independent documents: NaN for one document."""
    n = int(np.count_nonzero(sizes))
    if n < 2:
        return float("nan")
    residuals = values - values.sum() / sizes.sum() * sizes
    return float(np.sqrt(n / (n - 1) * np.sum(residuals**2)) / sizes.sum())
