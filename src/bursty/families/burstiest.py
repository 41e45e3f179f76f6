"""The burstiest words of a component: those that documents use again most often beyond chance.

With one s, the urn of a component makes words of the same alpha equally bursty, so that the documents have to tell them
apart. Of the documents that have word w, a share uses it again; by chance, if each of its N_w tokens was in document d
with probability n_d / N, the share would be

    sum_d p(x_dw >= 2) / sum_d p(x_dw >= 1),    x_dw ~ Bin(N_w, n_d / N)

Few documents show little, and among many words some are far above chance by accident. So words are ranked by how far
the lower limit of the share ([Wilson1927]) is above chance, and the limits of all words that are compared hold together
with probability 95% (Bonferroni).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from bursty.typing import Array

#: Maximum number of words.
N_WORDS = 5
# At least this number of documents, and this share of them, have the word.
_LEAST, _LEAST_SHARE = 5, 0.05
# Number of words whose chances are computed at once.
_AT_ONCE = 100


def burstiest_words(
    used: Array, again: Array, tokens: Array, lengths: Array, documents: Array
) -> tuple[Array, Array, Array]:
    """Indices of the burstiest words of a component, the share of the documents that use them again, and by chance.

    Parameters
    ----------
    used, again, tokens : arrays of shape (n_words,)
        Number of documents that have the word, and that have it more than once, and its number of tokens in them.
    lengths, documents : arrays of shape (n_lengths,)
        Distinct lengths of documents, and number of documents of each.
    """
    candidates = np.flatnonzero(used >= max(_LEAST, _LEAST_SHARE * documents[lengths > 0].sum()))
    share = again[candidates] / used[candidates]
    low = _lower_limit(share, used[candidates], ndtri(1.0 - 0.05 / max(1, len(candidates))))
    chance = np.full(len(candidates), np.nan)
    best = np.zeros(0, dtype=np.intp)
    # No chance is negative, so that words whose limit is below the gains found already need not be looked at.
    order = np.argsort(-low, kind="stable")
    for first in range(0, len(order), _AT_ONCE):
        if len(best) == N_WORDS and low[order[first]] <= (low - chance)[best[-1]]:
            break
        part = order[first : first + _AT_ONCE]
        chance[part] = _again_by_chance(tokens[candidates[part]], lengths, documents)
        best = np.append(best, part[low[part] > chance[part]])
        best = best[np.argsort((chance - low)[best], kind="stable")][:N_WORDS]
    return candidates[best], share[best], chance[best]


def _lower_limit(share: Array, n: Array, deviations: float) -> Array:
    """Lower limit for a share of n, this number of standard deviations away [Wilson1927]."""
    z = deviations**2 / n
    return (share + z / 2.0 - np.sqrt(z * (share * (1.0 - share) + z / 4.0))) / (1.0 + z)


def _again_by_chance(tokens: Array, lengths: Array, documents: Array) -> Array:
    """Share of the documents with a word that have it again, if its tokens were anywhere in the documents."""
    # A length of a few of the samples of a topic model can exceed the mean number of tokens.
    place = np.minimum(lengths / (lengths @ documents), 1.0)[:, None]
    never = (1.0 - place) ** tokens
    once = tokens * place * (1.0 - place) ** (tokens - 1.0)
    return documents @ (1.0 - never - once) / (documents @ (1.0 - never))
