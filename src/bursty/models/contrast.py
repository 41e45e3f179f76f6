"""Discriminative words of groups (clusters, topics), found without a list of function words.

    score_kw = sqrt(p_kw) - f mean_j sqrt(p_jw)

with p the probabilities of words in groups. Where groups share no words, f is 0 and the ranking is that by probability;
where common words head all of them, f grows until the groups are distinct. Rare words do not gain by it as they do by
lift.
"""

from __future__ import annotations

import numpy as np

from bursty.typing import Array

# Number of top words per group, the fraction of all of them that is to be distinct, and the factors that are tried.
_TOP, _DISTINCT, _FACTORS = 10, 0.85, np.arange(0.0, 4.25, 0.25)
# Two words that a few groups have in common are less than 15% of their ten: of few groups, three are looked at as well.
_FEW, _FIRST = 10, 3


def contrast(p: Array) -> tuple[Array, float]:
    """Scores of shape (n_groups, n_words), and the factor f.

    f is the smallest of 0, 0.25, ..., 4 for which 85% of the ten top words of all groups are distinct and, with fewer
    than ten groups, 85% of the three top words.
    """
    roots = np.sqrt(p)
    common, scores, factor = roots.mean(axis=0), roots, 0.0
    tops = (_FIRST, _TOP) if len(p) < _FEW else (_TOP,)
    for factor in _FACTORS:
        scores = roots - factor * common
        if all(_are_distinct(scores, min(n, scores.shape[1])) for n in tops):
            break
    return scores, float(factor)


def _are_distinct(scores: Array, n: int) -> bool:
    best = np.argpartition(-scores, n - 1, axis=1)[:, :n]
    return len(np.unique(best)) >= _DISTINCT * min(best.size, scores.shape[1])
