r"""The exact normaliser of the EDCM, and exact draws from it.

Run a DCM's urn and call a token *fresh* when it comes from the base measure p = beta / s rather than as a copy. The
number J of fresh tokens among n is that of tables in a Chinese restaurant with concentration s. The EDCM gives a
document just the probability of all those urn histories in which no two fresh tokens are the same word. Therefore

    Z_n(beta) = P(the fresh tokens are all different) = sum_j P_s(J = j | n) D_j,      D_j = j! e_j(p)

with e_j the elementary symmetric polynomials. It is at most 1, so the papers' perplexities, which leave it out, are
too high. The same number comes from a generating function, ``n! Gamma(s) / Gamma(s + n) [t^n] prod_w (1 - beta_w
log(1 - t))``, and from Stirling numbers, ``Gamma(s) / Gamma(s + n) sum_j j! e_j(beta) |S1(n, j)|``.

Both factors come from recurrences with positive terms only, each the law of a sum of independent 0/1 variables, tilted
so that what the sum over j needs is near its mean: the words by x (odds p_w x), the restaurant's concentration from s
to y.

| symbol | name | shape |
|---|---|---|
| p | base measure, beta / s | words with beta > 0 |
| x | tilt of the words | a number for each range of degrees |
| y | tilted concentration | a number for each octave of lengths |
| log D_j | probability that j draws are all different | degrees |
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from bursty.kernels import normaliser as kernels
from bursty.kernels.polya import inverse_sums, log_rising
from bursty.typing import Array


def log_normaliser(beta: Array, lengths: Array) -> Array:
    """log Z_n(beta) for each of the lengths, which are non-negative integers in increasing order."""
    beta = beta[beta > 0]
    result = np.zeros(len(lengths))
    longer = np.flatnonzero(lengths > 1)
    if len(longer) == 0 or len(beta) == 0:
        return result
    s = float(beta.sum())
    p = np.sort(beta / s)[::-1]
    words = _Distinct(p, _largest_degree(s, int(lengths[-1]), len(p)))
    octaves = np.floor(np.log2(lengths[longer])).astype(int)
    for octave in np.unique(octaves):
        places = longer[octaves == octave]
        result[places] = _sum_over_fresh(s, words, lengths[places])
    return result


def sample(beta: Array, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
    """Exact draws of documents of these lengths.

    First which words: independent Bernoulli draws, tilted so that their number is about right, are accepted with the
    ratio of the wanted law of that number to theirs. Then how often each: logarithmic draws, given their sum.
    """
    support = np.flatnonzero(beta > 0)
    s = float(beta.sum())
    p = beta[support] / s
    words = _Distinct(np.sort(p)[::-1], _largest_degree(s, int(lengths.max(initial=0)), len(p)))
    rows, columns, values = [], [], []
    laws: dict[int, tuple[Array, Array]] = {}
    for row, n in enumerate(lengths.tolist()):
        if n == 0:
            continue
        if n not in laws:
            laws[n] = _law_of_distinct(s, p, words, n)
        chance, log_accept = laws[n]
        while True:
            chosen = np.flatnonzero(rng.random(len(p)) < chance)
            j = len(chosen)
            if j < len(log_accept) and np.log(rng.random()) < log_accept[j]:
                break
        columns.append(support[chosen])
        values.append(_sizes(n, j, rng))
        rows.append(np.full(j, row))
    if not rows:
        return sp.csr_array((len(lengths), len(beta)), dtype=np.int32)
    cells = (np.concatenate(rows), np.concatenate(columns))
    data = np.concatenate(values).astype(np.int32)
    return sp.coo_array((data, cells), shape=(len(lengths), len(beta))).tocsr()


class _Distinct:
    """log D_j of a base measure p, for j up to a degree, and the tilts that go with it.

    ``e_j x^j / prod_w (1 + p_w x)`` is the chance of j successes among independent variables with odds p_w x. That law
    is exact, in relative terms, for some 30 deviations around its mean; so a few tilts x cover all degrees.
    """

    def __init__(self, p: Array, degree: int) -> None:
        self.degree = degree
        self.log_distinct = np.full(degree + 1, -np.inf)
        values, sizes = np.unique(p, return_counts=True)
        known, mean = -1, min(1.0, len(p) - 0.5)
        while known < degree:
            log_x = _log_tilt(values, sizes, mean)
            odds = p * np.exp(log_x)
            law = np.zeros(degree + 1)
            law[0] = 1.0
            kernels.bernoulli_sum(odds, law)
            j = np.flatnonzero(law > 1e10 * kernels.TINY)
            j = j[j > known]
            if len(j) == 0:  # p spans more magnitudes than floats have
                break
            self.log_distinct[j] = np.log(law[j]) - j * log_x + np.log1p(odds).sum() + gammaln(j + 1.0)
            known = int(j[-1])
            mean = min(max(known, mean + 1.0), len(p) - 0.5)
        np.minimum(self.log_distinct, 0.0, out=self.log_distinct)
        self._values, self._sizes = values, sizes

    def log_tilt(self, mean: float) -> float:
        """log x at which the mean number of words is this."""
        return _log_tilt(self._values, self._sizes, min(mean, float(self._sizes.sum()) - 0.5))


def _log_tilt(values: Array, sizes: Array, mean: float) -> float:
    """log x with ``sum_w p_w x / (1 + p_w x) = mean``, for p given as distinct values and how often each occurs.

    Newton in log x, inside a bracket: the sum is at most x, and at least what the smallest p gives for all.
    """
    low = np.log(mean) - 1e-9
    high = np.log(mean / (sizes.sum() - mean) / values[0]) + 1e-9
    t = low
    for _ in range(200):
        px = values * np.exp(t)
        present = px / (1.0 + px)
        excess = sizes @ present - mean
        low, high = (low, t) if excess > 0 else (t, high)
        step = t - excess / (sizes @ (present / (1.0 + px)))
        step = step if low <= step <= high else (low + high) / 2
        if abs(step - t) < 1e-9:
            break
        t = step
    return float(step)


def _largest_degree(s: float, n: int, n_words: int) -> int:
    """Degrees beyond this add nothing: twelve deviations above the mean number of fresh tokens."""
    if n < 2:
        return max(1, n)
    first, second = inverse_sums(s, 0, n)
    mean, variance = s * first, max(s * first - s * s * second, 0.0)
    return int(min(n, n_words, np.ceil(mean + 12.0 * np.sqrt(variance) + 30.0)))


def _tilted_concentration(s: float, words: _Distinct, n: int) -> float:
    """The y at which the mean number of fresh tokens is at the largest term of the sum over j: x_j y_j = j s."""
    low, high = np.log(1e-12), np.log(s)
    for _ in range(60):
        log_y = (low + high) / 2
        y = float(np.exp(log_y))
        mean = y * inverse_sums(y, 0, n)[0]
        if mean > words.degree or words.log_tilt(mean) + log_y > np.log(mean) + np.log(s):
            high = log_y
        else:
            low = log_y
    return float(np.exp((low + high) / 2))


def _sum_over_fresh(s: float, words: _Distinct, lengths: Array) -> Array:
    """log Z for lengths within a factor of two."""
    y = _tilted_concentration(s, words, int(lengths[-1]))
    log_terms = words.log_distinct + np.arange(words.degree + 1) * np.log(s / y)
    q = np.zeros(words.degree + 1)
    q[0] = 1.0
    out = np.empty(len(lengths))
    kernels.occupancy_sums(y, lengths, log_terms, q, out)
    change = np.array([log_rising(y, 0, int(n)) - log_rising(s, 0, int(n)) for n in lengths])
    return np.minimum(out + change, 0.0)


def _law_of_distinct(s: float, p: Array, words: _Distinct, n: int) -> tuple[Array, Array]:
    """Chances of each word, and log acceptance of their number j, that together draw the set of distinct words."""
    degree = min(words.degree, n)
    y = _tilted_concentration(s, words, n)
    log_x = words.log_tilt(min(max(y * inverse_sums(y, 0, n)[0], 1.0), degree))
    q = np.zeros(degree + 1)
    q[0] = 1.0
    kernels.occupancy_sums(y, np.array([n], dtype=np.int64), np.zeros(degree + 1), q, np.empty(1))
    j = np.arange(degree + 1)
    with np.errstate(divide="ignore"):
        log_ratio = np.log(q) + j * (np.log(s / y) - log_x) + gammaln(j + 1.0)
    px = p * np.exp(log_x)
    return px / (1.0 + px), log_ratio - log_ratio.max()


def _sizes(n: int, j: int, rng: np.random.Generator) -> Array:
    """How often each of j distinct words occurs: positive, sum n, probability in proportion to prod 1 / x."""
    if j in (1, n):
        return np.full(j, n // j)
    theta = _logarithmic(n / j)
    log_theta = np.log(theta)
    n_tries = max(1, min(256, 2_000_000 // j))
    while True:
        sizes = rng.logseries(theta, size=(n_tries, j - 1))
        last = n - sizes.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_accept = np.where(last > 0, (last - 1) * log_theta - np.log(np.maximum(last, 1)), -np.inf)
        accepted = np.flatnonzero(np.log(rng.random(n_tries)) < log_accept)
        if len(accepted):
            return np.append(sizes[accepted[0]], last[accepted[0]])


def _logarithmic(mean: float) -> float:
    """The theta of the logarithmic distribution with this mean, above 1."""
    low, high = 1e-12, 1.0 - 1e-12
    for _ in range(60):
        theta = (low + high) / 2
        low, high = (theta, high) if -theta / ((1.0 - theta) * np.log1p(-theta)) < mean else (low, theta)
    return theta
