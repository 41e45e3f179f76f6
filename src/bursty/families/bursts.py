"""Burstiness that can be read: is there any, how sure is s, and what does it mean for a word that has been used once.

**Is there any?** Given how often each word occurs in all documents together, N_w, and how long the documents are, a
component without bursts has its tokens in random order. The score of 1 / s at 0 then depends on the data through

    C = sum_w c_w / N_w,    c_w = sum_d x_dw (x_dw - 1) / 2

pairs of equal tokens in the same document, and mean and variance of C over all orders are known exactly: two tokens
are in the same document with probability rho_2, three with rho_3, two and two others with rho_22. So ``z`` needs no
simulation, and is not biased by proportions fitted to the same counts, as the likelihood ratio is.

**What does it mean?** In a document of n tokens word w is beta-binomial (n, alpha_w, s - alpha_w); without bursts it
would be binomial (n, alpha_w / s). `repeat_probabilities` compares the two for a word that occurs: is it used again?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from bursty.engines import Levels
from bursty.kernels import polya

Array = np.ndarray[Any, Any]


def burst_test(types: Array, repeats: Levels, lengths: Levels) -> tuple[Array, Array]:
    """z and one-sided p-value of each component, from the statistics of a DCM; NaN where nothing could be repeated.

    Weights of documents need not be whole; the test is exact in its first two moments where they are.
    """
    tokens, pairs = types.copy(), np.zeros_like(types)
    values = repeats.values[:, None].astype(np.float64)
    np.add.at(tokens, repeats.items, values * repeats.weights)
    np.add.at(pairs, repeats.items, (values + 1.0) * values / 2.0 * repeats.weights)
    return _z_of_pairs(tokens, pairs, lengths)


def _z_of_pairs(tokens: Array, pairs: Array, lengths: Levels) -> tuple[Array, Array]:
    n = lengths.values[:, None].astype(np.float64)
    two, three, four = ((_falling(n, k) * lengths.weights).sum(axis=0) for k in (2, 3, 4))
    total = (n * lengths.weights).sum(axis=0)
    squares = (_falling(n, 2) ** 2 * lengths.weights).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho_2 = two / _falling(total, 2)
        rho_3 = three / _falling(total, 3)
        # Two disjoint pairs, each in one document: the same one, or two.
        rho_22 = (four + two**2 - squares) / _falling(total, 4)
        weight = np.divide(1.0, tokens, out=np.zeros_like(tokens), where=tokens > 1.0)
        n_pairs = _falling(np.maximum(tokens, 1.0), 2) / 2.0
        chances = weight * n_pairs
        mean = chances.sum(axis=0) * rho_2
        # Pairs of pairs of one word: the same, with a token in common, disjoint; those of two words are disjoint.
        common = weight**2 * _falling(np.maximum(tokens, 2.0), 3)
        disjoint = chances.sum(axis=0) ** 2 - (weight * chances).sum(axis=0) - common.sum(axis=0)
        second = (weight * chances).sum(axis=0) * rho_2 + common.sum(axis=0) * rho_3 + disjoint * rho_22
        variance = second - mean**2
        z = ((weight * pairs).sum(axis=0) - mean) / np.sqrt(variance)
    z = np.where((variance > 0) & (mean > 0), z, np.nan)
    return z, ndtr(-z)


def _falling(n: Array, k: int) -> Array:
    """n (n - 1) ... (n - k + 1), and 0 where a factor is negative."""
    result = np.ones_like(n)
    for j in range(k):
        result = result * np.maximum(n - j, 0.0)
    return result


@dataclass(frozen=True)
class Repeats:
    """How probable it is that a word which a document has used once is used again.

    Attributes
    ----------
    bursty, plain : ndarray of shape (n_words,)
        For each word, with bursts and without; NaN where it cannot occur.
    mean_bursty, mean_plain : float
        The same for a word of the component taken at random among those that a document uses.
    used : ndarray of shape (n_words,)
        How probable it is that a document uses the word at all.
    """

    bursty: Array
    plain: Array
    used: Array
    mean_bursty: float
    mean_plain: float

    def __str__(self) -> str:
        return (
            f"a word that a document has used once is used again with probability {self.mean_bursty:.0%}; "
            f"without bursts it would be {self.mean_plain:.0%}"
        )

    def burstiest(self, n_words: int = 5, *, least_used: float = 0.05) -> Array:
        """The words with the most repeats beyond chance, among those that documents use often enough."""
        gain = np.where(self.used >= least_used, self.bursty - self.plain, -np.inf)
        order = np.argsort(-gain, kind="stable")[:n_words]
        return order[np.isfinite(gain[order])]


def repeat_probabilities(alpha: Array, length: int) -> Repeats:
    """Repeats in a document of this many tokens, from the urn of a component.

    Parameters
    ----------
    alpha : array of shape (n_words,)
        Weights of the words in the urn, such as ``DCM.alpha_`` or a row of ``DCMLDA.beta_``.
    length : int
        Tokens that the document has of this component, 2 at least.

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families.bursts import repeat_probabilities
    >>> print(repeat_probabilities(np.full(100, 0.05), 20))
    a word that a document has used once is used again with probability 53%; without bursts it would be 9%
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.ndim != 1 or not np.all(np.isfinite(alpha)) or np.any(alpha < 0) or not alpha.any():
        raise ValueError("alpha must be the weights of the words: finite, zero or more, and not all zero")
    if not length >= 2:
        raise ValueError(f"length must be at least 2, since a document of one token repeats nothing, not {length!r}")
    s, n = float(alpha.sum()), int(length)
    known = (alpha > 0) & (alpha < s)
    a = np.where(known, alpha, s / 2.0)
    log_never = _log_none(a, s, n)
    once = n * a / (s + n - 1.0) * np.exp(_log_none(a, s, n - 1))
    log_plain = n * np.log1p(-a / s)
    plain_once = n * a / s * np.exp(log_plain * ((n - 1.0) / n))
    # A word that is all there is, is used again for certain; one that cannot occur is not used.
    sure = (alpha >= s).astype(np.float64)
    used, plain_used = np.where(known, -np.expm1(log_never), sure), np.where(known, -np.expm1(log_plain), sure)
    again = np.where(known, np.maximum(used - once, 0.0), sure)
    plain_again = np.where(known, np.maximum(plain_used - plain_once, 0.0), sure)
    with np.errstate(invalid="ignore", divide="ignore"):
        bursty, plain = again / used, plain_again / plain_used
    means = again.sum() / used.sum(), plain_again.sum() / plain_used.sum()
    return Repeats(bursty, plain, used, float(means[0]), float(means[1]))


def _log_none(a: Array, s: float, n: int) -> Array:
    """Log-probability that n draws have none of a word of weight a."""
    rest = np.append(s - a, s)[:, None]
    first, values = np.arange(len(rest) + 1, dtype=np.int32), np.full(len(rest), n, dtype=np.int32)
    rising = polya.log_rising_table(first, values, rest)[:, 0]
    return rising[:-1] - rising[-1]
