"""How well a model predicts words."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.typing import Array
from bursty.validation import check_counts


def perplexity(model: Any, X: Any, **options: Any) -> float:
    r"""``exp(-sum_d log p(x_d) / sum_d n_d)``: the effective number of equally likely words. Lower is better.

    p is the probability of one sequence of words (no multinomial coefficient), the logarithm is natural, and
    n_d is the number of tokens of document d. A uniform choice among W words has perplexity W.

    Parameters
    ----------
    model : fitted model, or array-like of shape (n_documents,)
        Its own ``perplexity`` method is used if it has one, otherwise its ``log_prob`` or ``score_samples``. An array
        is taken as the log-probabilities of the documents.
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    **options
        Passed to the model's method, e.g. ``normalized=True`` for an `EDCM`.

    Returns
    -------
    float
        Infinity if a document has probability 0.

    See Also
    --------
    document_completion : For topic models.
    bursty.families.EDCM : Needs ``normalized=True`` to be comparable.

    Notes
    -----
    With documents of n tokens,

    .. math:: \exp\Bigl(-\sum_d \log p(x_d) \Big/ \sum_d n_d\Bigr)

    [Elkan2006] section 5 prints the same formula without the minus sign, [Madsen2005] section 5.3 with it.

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.metrics import perplexity
    >>> round(perplexity([3 * np.log(1 / 8), 2 * np.log(1 / 8)], [[2, 1], [0, 2]]), 6)
    8.0
    """
    own = getattr(model, "perplexity", None)
    if callable(own):
        return float(own(X, **options))
    log_prob = _log_prob(model, X, options)
    lengths = check_counts(X, integer=False, owner="perplexity").sum(axis=1)
    if log_prob.shape != lengths.shape:
        raise ValueError(f"{len(lengths)} documents need as many log-probabilities, not shape {log_prob.shape}")
    if np.isnan(log_prob).any():
        raise ValueError(f"the log-probability of document {int(np.flatnonzero(np.isnan(log_prob))[0])} is NaN")
    n_tokens = float(lengths.sum())
    if n_tokens == 0:
        raise ValueError("perplexity is defined per token, and these documents have none")
    with np.errstate(over="ignore"):
        return float(np.exp(-np.sum(log_prob) / n_tokens))


def _log_prob(model: Any, X: Any, options: dict[str, Any]) -> Array:
    for name in ("log_prob", "score_samples"):
        method = getattr(model, name, None)
        if callable(method):
            return np.asarray(method(X, **options), dtype=np.float64)
    try:
        values = np.asarray(model, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{type(model).__name__} has none of perplexity, log_prob and score_samples, and is not an array "
            "of log-probabilities"
        ) from None
    if options:
        raise TypeError(f"log-probabilities take no options, but got {', '.join(sorted(options))}")
    return values
