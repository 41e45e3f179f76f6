"""Words by which groups (clusters, topics) are told apart, without a list of function words.

    score_kw = sqrt(p_kw) - f mean_j sqrt(p_jw)

with p the probabilities of words in groups. Where groups share no words, f is 0 and the ranking is that by probability;
where common words head all of them, f grows until the groups are distinct. Rare words do not gain by it as they do by
lift.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Number of top words per group, the fraction of all of them that is to be distinct, and the factors that are tried.
_TOP, _DISTINCT, _FACTORS = 10, 0.85, np.arange(0.0, 4.25, 0.25)


def contrast(p: Array) -> tuple[Array, float]:
    """Scores of shape (n_groups, n_words), and the factor f.

    f is the smallest of 0, 0.25, ..., 4 for which 85% of the ten top words of all groups are distinct.
    """
    roots = np.sqrt(p)
    common, n_words = roots.mean(axis=0), min(_TOP, roots.shape[1])
    scores, factor = roots, 0.0
    for factor in _FACTORS:
        scores = roots - factor * common
        best = np.argpartition(-scores, n_words - 1, axis=1)[:, :n_words]
        if len(np.unique(best)) >= _DISTINCT * min(best.size, roots.shape[1]):
            break
    return scores, float(factor)
