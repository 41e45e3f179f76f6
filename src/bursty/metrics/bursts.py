"""Burstiness of counts, measured on the data without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from bursty.typing import Array
from bursty.validation import check_counts

#: The groups of [Madsen2005] section 3: number of words in each, most frequent first; None takes the rest.
MADSEN_GROUPS: Mapping[str, int | None] = {"common": 500, "average": 5000, "rare": None}


@overload
def burstiness(counts: Any, *, axis: None = None) -> float: ...
@overload
def burstiness(counts: Any, *, axis: Literal["word"]) -> Array: ...


def burstiness(counts: Any, *, axis: Literal["word"] | None = None) -> float | Array:
    r"""Mean count of a word in the documents that contain it: tokens over distinct (document, word) pairs.

    Parameters
    ----------
    counts : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    axis : None or "word", default None
        None returns one value for the whole corpus, "word" one value per word.

    Returns
    -------
    float, or ndarray of shape (n_words,)
        1 if no word is ever repeated, larger if words come in bursts; NaN if there are no tokens.

    See Also
    --------
    bursty.families.bursts.burstiness : With a model, an interval and a test.
    count_probabilities : The distribution of counts.

    Notes
    -----
    .. math:: \sum_{dw} x_{dw} \Big/ \sum_{dw} [x_{dw} > 0]

    Examples
    --------
    >>> from bursty.metrics import burstiness
    >>> burstiness([[3, 0, 1], [1, 0, 1]])
    1.5
    >>> burstiness([[3, 0, 1], [1, 0, 1]], axis="word")
    array([ 2., nan,  1.])
    """
    if axis not in (None, "word"):
        raise ValueError(f'axis must be None or "word", not {axis!r}')
    table = check_counts(counts, owner="burstiness")
    if axis is None:
        return float(table.data.sum(dtype=np.int64) / table.nnz) if table.nnz else float("nan")
    pairs = np.bincount(table.indices, minlength=table.shape[1])
    tokens = np.bincount(table.indices, weights=table.data, minlength=table.shape[1])
    return np.divide(tokens, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


@dataclass(frozen=True)
class CountProbabilities:
    """Count-probability curves of groups of words, as returned by `count_probabilities`.

    Attributes
    ----------
    counts : ndarray of shape (max_count + 1,)
        0, 1, ..., max_count: the horizontal axis.
    probabilities : dict of str to ndarray of shape (max_count + 1,)
        For each group, the probability that one of its words has each count in a document; NaN for a group without
        words.
    n_words : dict of str to int
        Number of words in each group.
    token_share : dict of str to float
        Fraction of all tokens in each group.

    See Also
    --------
    count_probabilities

    Examples
    --------
    >>> from bursty.metrics import count_probabilities
    >>> count_probabilities([[3, 0, 1], [1, 0, 1]], max_count=3).counts
    array([0, 1, 2, 3])
    """

    counts: Array
    probabilities: dict[str, Array]
    n_words: dict[str, int]
    token_share: dict[str, float]


def count_probabilities(
    counts: Any,
    *,
    max_count: int = 100,
    groups: Mapping[str, int | None] | None = None,
    frequencies: Any = None,
) -> CountProbabilities:
    r"""Probability that a word occurs exactly x times in a document, for common, average and rare words.

    These are the curves of [Madsen2005] Figures 1, 2 and 4: over all documents and all words of a group, the
    fraction of (document, word) pairs whose count is x. Pairs whose count exceeds ``max_count`` are not shown, so a
    curve sums to at most 1.

    Parameters
    ----------
    counts : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    max_count : int, default 100
        The largest x.
    groups : mapping of str to int or None, optional
        Number of words in each group, most frequent first; None takes all remaining words, and words beyond the last
        group are ignored. Default: ``{"common": 500, "average": 5000, "rare": None}``.
    frequencies : array-like of shape (n_words,), optional
        Values that words are ranked by; ties are broken by column. Default: their number of tokens in ``counts``.
        To compare documents sampled from a model with those it was fitted to, pass the frequencies in the latter, so
        that both have the same groups.

    Returns
    -------
    CountProbabilities

    See Also
    --------
    bursty.plot.count_probabilities : The plot.
    burstiness : One number.

    Notes
    -----
    With the words G of a group and D documents,

    .. math:: p(x) = \frac{1}{D |G|} \sum_d \sum_{w \in G} [x_{dw} = x]

    Examples
    --------
    >>> from bursty.metrics import count_probabilities
    >>> groups = {"common": 1, "rare": None}
    >>> curves = count_probabilities([[3, 0, 1], [1, 0, 1]], max_count=3, groups=groups)
    >>> curves.probabilities["common"]
    array([0. , 0.5, 0. , 0.5])
    """
    if not isinstance(max_count, int | np.integer) or isinstance(max_count, bool) or max_count < 0:
        raise ValueError(f"max_count must be a non-negative integer, not {max_count!r}")
    table = check_counts(counts, owner="count_probabilities")
    n_documents, n_words = table.shape
    tokens = np.bincount(table.indices, weights=table.data, minlength=n_words)
    sizes = _sizes(MADSEN_GROUPS if groups is None else groups, n_words)
    group_of = _group_of(_ranking(tokens, frequencies), list(sizes.values()))

    cell_group = group_of[table.indices]
    n_groups, n_counts = len(sizes), int(max_count) + 1
    inside = (table.data <= max_count) & (cell_group < n_groups)
    cells = cell_group[inside] * n_counts + table.data[inside]
    numbers = np.bincount(cells, minlength=n_groups * n_counts).reshape(n_groups, n_counts)
    pairs = np.array([n_documents * size for size in sizes.values()], dtype=np.int64)
    numbers[:, 0] = pairs - np.bincount(cell_group, minlength=n_groups + 1)[:n_groups]
    curves = np.divide(
        numbers,
        pairs[:, None],
        out=np.full(numbers.shape, np.nan),
        where=np.broadcast_to(pairs[:, None] > 0, numbers.shape),
    )
    group_tokens = np.bincount(group_of, weights=tokens, minlength=n_groups + 1)[:n_groups]
    shares = group_tokens / tokens.sum() if tokens.any() else np.full(n_groups, np.nan)
    return CountProbabilities(
        counts=np.arange(n_counts),
        probabilities=dict(zip(sizes, curves, strict=True)),
        n_words=sizes,
        token_share=dict(zip(sizes, shares.tolist(), strict=True)),
    )


def _sizes(groups: Mapping[str, int | None], n_words: int) -> dict[str, int]:
    """Number of words in each group, given how many there are."""
    if not groups:
        raise ValueError("groups is empty: name at least one group of words")
    left, sizes = n_words, {}
    for name, size in groups.items():
        whole = isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 0
        if size is not None and not whole:
            raise ValueError(f"group {name!r} must have an integer number of words or None (the rest), not {size!r}")
        sizes[name] = left if size is None else min(int(size), left)
        left -= sizes[name]
    return sizes


def _ranking(tokens: Array, frequencies: Any) -> Array:
    """Words from the most frequent to the least."""
    values = tokens if frequencies is None else np.asarray(frequencies, dtype=np.float64)
    if values.shape != tokens.shape:
        raise ValueError(f"frequencies has shape {values.shape} for {len(tokens)} words: give one per word")
    if not np.isfinite(values).all():
        raise ValueError("frequencies must be finite")
    return np.argsort(-values, kind="stable")


def _group_of(ranking: Array, sizes: list[int]) -> Array:
    """The group of each word; words in no group have the number after the last one."""
    group_of = np.full(len(ranking), len(sizes), dtype=np.int64)
    group_of[ranking[: sum(sizes)]] = np.repeat(np.arange(len(sizes)), sizes)
    return group_of
