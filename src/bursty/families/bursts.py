"""Burstiness in words: is there any, how certain is s, and what does it mean for a word that has been used once?

**Is there any?** Given how often each word occurs in all documents together, N_w, and how long the documents are, a
component without bursts has its tokens in random order. The score of 1 / s at 0 then depends on the data through

    C = sum_w c_w / N_w,    c_w = sum_d x_dw (x_dw - 1) / 2

the pairs of equal tokens in the same document. The mean, variance and third moment of C over all orders are known
exactly: two tokens are in the same document with probability rho_2, three with rho_3, two and two others with rho_22.
Therefore ``z`` and its p-value need no simulation, and unlike the likelihood ratio they are not biased by proportions
that are fitted to the same counts. Few pairs make C skewed: p is that of a gamma distribution with these moments.

**What does it mean?** In a document of n tokens word w is beta-binomial (n, alpha_w, s - alpha_w); without bursts it
would be binomial (n, alpha_w / s). `repeat_probabilities` compares the two for a word that occurs: is it used again?
`families.burstiest` finds the words for which the difference is most certain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaincc, ndtr

from bursty.engines import Assignment, Chunk, Levels
from bursty.families.burstiest import N_WORDS, burstiest_words
from bursty.families.dcm import DCMFamily
from bursty.families.priors import Solution, UrnPrior, solve_with_prior
from bursty.families.solve import S_MAX, S_MIN, solve_urns
from bursty.families.sparse_urns import PairUrns
from bursty.kernels import gather, polya
from bursty.typing import Array
from bursty.validation import check_counts


def burst_test(types: Array, repeats: Levels, lengths: Levels) -> tuple[Array, Array]:
    """z and one-sided p-value of each component, from the statistics of a DCM; NaN if nothing could be repeated.

    The moments are exact if the weights of documents are integers.
    """
    tokens, pairs = types.copy(), np.zeros_like(types)
    values = repeats.values[:, None].astype(np.float64)
    np.add.at(tokens, repeats.items, values * repeats.weights)
    np.add.at(pairs, repeats.items, (values + 1.0) * values / 2.0 * repeats.weights)
    return _z_of_pairs(tokens, pairs, lengths, gather.column_sums)


def _z_of_pairs(tokens: Array, pairs: Array, lengths: Levels, add: Callable[[Array], Array]) -> tuple[Array, Array]:
    """From tokens and pairs of equal tokens of each word; ``add`` sums over the words of each component."""
    weight = np.divide(1.0, tokens, out=np.zeros_like(tokens), where=tokens > 1.0)
    mean, variance, third = _moments_of_pairs(np.maximum(tokens, 1.0), weight, lengths, add)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (add(weight * pairs) - mean) / np.sqrt(variance)
        skewness = third / variance**1.5
        # The third moment is a difference of numbers as large as the cube of the mean.
        certain = 1e-14 * mean**3 < 0.01 * variance**1.5
    z = np.where((variance > 0) & (mean > 0), z, np.nan)
    return z, _upper_tail(z, np.where(certain & (skewness > 0), skewness, 0.0))


def _upper_tail(z: Array, skewness: Array) -> Array:
    """p-value of z: normal, or, with a positive skewness, that of a gamma distribution of the same three moments."""
    shape = 4.0 / np.maximum(skewness, 1e-4) ** 2
    return np.where(skewness > 1e-4, gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)), ndtr(-z))


def _moments_of_pairs(
    tokens: Array, weight: Array, lengths: Levels, add: Callable[[Array], Array]
) -> tuple[Array, Array, Array]:
    """Mean, variance and third central moment of ``add(weight * pairs)`` over all orders of the tokens.

    A power of a sum over pairs of equal tokens is a sum over pairs of pairs, or triples of them. What counts is which
    of their tokens have to be in the same document: sets of 2, 3 or 4, and how many sets.
    """
    n, of = lengths.values[:, None].astype(np.float64), lengths.weights
    two, three, four = (_falling(n, k) for k in (2, 3, 4))
    all_2, all_3, all_4 = ((ways * of).sum(axis=0) for ways in (two, three, four))
    # Several sets that are in one document each: all in the same one, or in different ones.
    sets_22 = (four * of).sum(axis=0) + all_2**2 - (two**2 * of).sum(axis=0)
    sets_32 = (_falling(n, 5) * of).sum(axis=0) + all_3 * all_2 - (three * two * of).sum(axis=0)
    sets_222 = (
        (_falling(n, 6) * of).sum(axis=0)
        + 3.0 * (all_4 * all_2 - (four * two * of).sum(axis=0))
        + all_2**3 - 3.0 * all_2 * (two**2 * of).sum(axis=0) + 2.0 * (two**3 * of).sum(axis=0)
    )  # fmt: skip
    total = (n * of).sum(axis=0)
    ways = {2: all_2, 3: all_3, 4: all_4, 22: sets_22, 32: sets_32, 222: sets_222}
    rho = {}
    for sets, found in ways.items():
        orders = _falling(total, sum(int(digit) for digit in str(sets)))
        rho[sets] = np.divide(found, orders, out=np.zeros_like(found), where=orders > 0)

    one = weight * _falling(tokens, 2) / 2.0
    ordered_3, ordered_4 = _falling(tokens, 3), _falling(tokens, 4)
    every = add(one)
    mean = every * rho[2]
    # Pairs of pairs: the same, with a token in common, disjoint. Those of two words are disjoint.
    same, common = add(weight * one), add(weight**2 * ordered_3)
    second = same * rho[2] + common * rho[3] + (every**2 - same - common) * rho[22]
    # Triples of pairs: all the same; two the same and the third with a token in common (3 orders), or triangles; stars
    # and paths of four tokens; two the same, the third disjoint; two with a token in common, the third disjoint.
    thrice, bent = add(weight**2 * one), add(weight**3 * ordered_3)
    spread = 4.0 * add(weight**3 * ordered_4)
    twice = 3.0 * (same * every - thrice - bent)
    apart = 3.0 * (common * every - 3.0 * add(weight**3 * ordered_3 * (tokens - 2.0)))
    disjoint = every**3 - thrice - 4.0 * bent - spread - twice - apart
    third = (
        thrice * rho[2] + 4.0 * bent * rho[3] + spread * rho[4]
        + twice * rho[22] + apart * rho[32] + disjoint * rho[222]
    )  # fmt: skip
    return mean, second - mean**2, third - 3.0 * mean * second + 2.0 * mean**3


def _falling(n: Array, k: int) -> Array:
    """n (n - 1) ... (n - k + 1), and 0 where a factor is negative."""
    result = np.ones_like(n)
    for j in range(k):
        result = result * np.maximum(n - j, 0.0)
    return result


@dataclass(frozen=True)
class Burstiness:
    """How bursty components are: arrays of shape (n_components,).

    Attributes
    ----------
    s : ndarray
        Total weight of the urn, with the prior of `bursty.families.priors`; the smaller, the burstier.
    low, high : ndarray
        Limits of a 95% interval for s.
    at_limit : ndarray of bool
        Whether maximum likelihood has no finite s.
    z, p_value : ndarray
        One-sided test for bursts; NaN if no word could be repeated.
    length : ndarray
        Mean number of tokens of the component per document.
    again, again_by_chance : ndarray
        Probability that a word that occurs in a document of this length occurs there again, and the same without
        bursts.
    words : ndarray of shape (n_components, 5)
        Indices of the burstiest words, starting with the one whose repeats exceed chance most; -1 if there are fewer.
        Only words that occur in at least five documents, and in at least 5% of them, are considered.
    words_again, words_by_chance : ndarray of shape (n_components, 5)
        Share of the documents with the word that use it again, and the same without bursts.

    See Also
    --------
    burstiness

    Examples
    --------
    >>> from bursty import datasets
    >>> from bursty.families.bursts import burstiness
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> print(burstiness(corpus).describe()[0])
    a word that a document has used once is used again with probability 78%; without bursts it would be 73%
    """

    s: Array
    low: Array
    high: Array
    at_limit: Array
    z: Array
    p_value: Array
    length: Array
    again: Array
    again_by_chance: Array
    words: Array
    words_again: Array
    words_by_chance: Array

    def describe(self, names: Any = None) -> list[str]:
        """One sentence per component; with the names of the words, its burstiest words follow."""
        found = [say_repeats(again, plain) for again, plain in zip(self.again, self.again_by_chance, strict=True)]
        if names is None:
            return found
        words = [
            ", ".join(f"{names[w]} {again:.0%} ({plain:.0%})" for w, again, plain in self.burstiest(k))
            for k in range(len(found))
        ]
        return [f"{text}. Burstiest: {row}" if row else text for text, row in zip(found, words, strict=True)]

    def burstiest(self, k: int) -> list[tuple[int, float, float]]:
        """The burstiest words of a component: index, share of the documents that use it again, the same by chance."""
        columns = self.words[k], self.words_again[k], self.words_by_chance[k]
        return [(int(w), float(again), float(plain)) for w, again, plain in zip(*columns, strict=True) if w >= 0]


def say_repeats(again: float, plain: float) -> str:
    """What burstiness means for a word."""
    if not np.isfinite(again):
        return "no word could be repeated"
    return (
        f"a word that a document has used once is used again with probability {again:.0%}; without bursts it would be "
        f"{plain:.0%}"
    )


def burstiness(X: Any, labels: Any = None) -> Burstiness:
    r"""Measure how bursty documents are, all together or per group.

    Parameters
    ----------
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        Counts of words.
    labels : array-like of shape (n_documents,), optional
        The group of each document: 0, 1, ..., such as ``Mixture.labels_``; -1 leaves a document out.

    Returns
    -------
    Burstiness
        One entry per group.

    See Also
    --------
    Burstiness : The result.
    repeat_probabilities : What s means for each word.
    bursty.metrics.burstiness : A plain ratio, without a model.
    bursty.families.uncertainty.overdispersion_test : Likelihood-ratio test against the multinomial.

    Notes
    -----
    The test compares with all orders of the tokens, over which mean, variance and skewness are known exactly, of

    .. math:: C = \sum_w \frac{1}{N_w} \sum_d \frac{x_{dw} (x_{dw} - 1)}{2}, \qquad N_w = \sum_d x_{dw}

    Examples
    --------
    >>> from bursty import datasets
    >>> from bursty.families.bursts import burstiness
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> found = burstiness(corpus, corpus.labels)
    >>> bool((found.low < found.s).all()), bool((found.p_value < 0.01).all())
    (True, True)
    """
    counts = check_counts(X, owner="burstiness")
    groups = np.zeros(counts.shape[0], dtype=np.int32) if labels is None else np.asarray(labels)
    if groups.shape != (counts.shape[0],) or groups.dtype.kind not in "iu":
        raise ValueError(f"labels must be one integer per document ({counts.shape[0]}), not {labels!r}")
    kept = groups >= 0
    if not kept.any() or counts[kept].nnz == 0:
        raise ValueError("there are no words to be bursty: every document is empty or left out")
    resp = Assignment(groups[kept].astype(np.int32), int(groups.max()) + 1, np.ones(int(kept.sum())))
    family = DCMFamily()
    stats = family.summarize(Chunk(sp.csr_array(counts[kept])), resp)
    test = burst_test(stats.types, stats.repeats, stats.lengths)
    tokens, again = stats.types.copy(), np.zeros_like(stats.types)
    np.add.at(tokens, stats.repeats.items, stats.repeats.values[:, None] * stats.repeats.weights)
    np.add.at(again, stats.repeats.items, stats.repeats.weights)
    found: list[tuple[Array, ...]] = [
        burstiest_words(stats.types[:, k], again[:, k], tokens[:, k], stats.lengths.values, stats.lengths.weights[:, k])
        for k in range(resp.n_components)
    ]
    return read_bursts(family.solve(stats, UrnPrior()), family.update(stats).s, test, stats.lengths, found)


def burstiness_of_pairs(words: Levels, lengths: Levels, n_components: int) -> Burstiness:
    """The same for topic models, from documents by (pair of word and component, number of tokens)."""
    urns = PairUrns(words, n_components)
    heads, weights, values = urns.first[:-1], words.weights[:, 0], words.values.astype(np.float64)
    pairs = np.add.reduceat(values * (values - 1.0) / 2.0 * weights, heads) if len(heads) else urns.types
    test = _z_of_pairs(urns.tokens, pairs, lengths, urns.by_component)
    at_most = solve_urns(urns, lengths).sum(axis=0)
    again = np.add.reduceat((values > 1) * weights, heads) if len(heads) else urns.types
    found: list[tuple[Array, ...]] = []
    for k in range(n_components):
        own = np.flatnonzero(urns.components == k)
        table = urns.types[own], again[own], urns.tokens[own]
        places, *shares = burstiest_words(*table, lengths.values, lengths.weights[:, k])
        found.append((urns.words[own][places], *shares))
    return read_bursts(solve_with_prior(urns, lengths, UrnPrior()), at_most, test, lengths, found)


def read_bursts(
    solution: Solution,
    at_most: Array,
    test: tuple[Array, Array],
    lengths: Levels,
    burstiest: list[tuple[Array, ...]],
) -> Burstiness:
    """Collect the results; ``at_most`` is s by maximum likelihood."""
    documents = ((lengths.values > 0)[:, None] * lengths.weights).sum(axis=0)
    tokens = lengths.values @ lengths.weights
    length = np.divide(tokens, documents, out=np.zeros_like(tokens), where=documents > 0)
    again, plain = np.full((2, len(length)), np.nan)
    for k in np.flatnonzero(solution.s > 0):
        repeats = repeat_probabilities(solution.alpha[:, k], max(2, round(length[k])))
        again[k], plain[k] = repeats.mean_bursty, repeats.mean_plain
    spread = np.exp(1.96 * solution.error)
    # A sum over words: at a limit but for rounding.
    at_limit = (at_most > 0.999 * S_MAX) | ((at_most > 0) & (at_most < 1.001 * S_MIN))
    words = np.full((len(length), N_WORDS), -1)
    shares = np.full((2, *words.shape), np.nan)
    for row, (chosen, *found) in enumerate(burstiest):
        words[row, : len(chosen)] = chosen
        shares[:, row, : len(chosen)] = found
    interval = solution.s / spread, solution.s * spread
    return Burstiness(solution.s, *interval, at_limit, *test, length, again, plain, words, *shares)


@dataclass(frozen=True)
class Repeats:
    """Probability that a word that occurs in a document occurs there again.

    Attributes
    ----------
    bursty, plain : ndarray of shape (n_words,)
        Per word, with and without bursts; NaN if it cannot occur.
    mean_bursty, mean_plain : float
        The same for a random word among those that a document uses.
    used : ndarray of shape (n_words,)
        Probability that a document uses the word at all.

    See Also
    --------
    repeat_probabilities

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families.bursts import repeat_probabilities
    >>> repeats = repeat_probabilities(np.array([0.1, 0.1, 5.0]), 20)
    >>> repeats.bursty.round(2), repeats.plain.round(2)
    (array([0.54, 0.54, 1.  ]), array([0.17, 0.17, 1.  ]))
    """

    bursty: Array
    plain: Array
    used: Array
    mean_bursty: float
    mean_plain: float

    def __str__(self) -> str:
        return say_repeats(self.mean_bursty, self.mean_plain)


def repeat_probabilities(alpha: Array, length: int) -> Repeats:
    r"""Probabilities of repeats in a document of this length, from the urn of a component.

    Parameters
    ----------
    alpha : array of shape (n_words,)
        Weights of the words in the urn, such as ``DCM.alpha_`` or a row of ``DCMLDA.beta_``.
    length : int
        Number of tokens of the component in the document, at least 2.

    See Also
    --------
    Repeats : The result.
    burstiness : The same for whole collections, with an interval of s.

    Notes
    -----
    The count of a word is beta-binomial:

    .. math:: p(x_w \ge 2 \mid x_w \ge 1), \qquad x_w \sim \mathrm{BetaBin}(n, \alpha_w, s - \alpha_w)

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families.bursts import repeat_probabilities
    >>> print(repeat_probabilities(np.full(100, 0.05), 20))
    a word that a document has used once is used again with probability 53%; without bursts it would be 9%
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.ndim != 1 or not np.all(np.isfinite(alpha)) or np.any(alpha < 0) or not alpha.any():
        raise ValueError("alpha must have the weights of the words: finite, non-negative, and not all zero")
    if not length >= 2:
        raise ValueError(f"length must be at least 2, since a document of one token repeats nothing, not {length!r}")
    s, n = float(alpha.sum()), int(length)
    known = (alpha > 0) & (alpha < s)
    a = np.where(known, alpha, s / 2.0)
    log_never = _log_none(a, s, n)
    once = n * a / (s + n - 1.0) * np.exp(_log_none(a, s, n - 1))
    log_plain = n * np.log1p(-a / s)
    plain_once = n * a / s * np.exp(log_plain * ((n - 1.0) / n))
    # The only word of an urn is certainly used again; a word that cannot occur is never used.
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
