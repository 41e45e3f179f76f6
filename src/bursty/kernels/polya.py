r"""Rising factorials without gamma functions, the building blocks of the DCM and the EDCM.

A Polya urn that starts with weight a has weight a + j after j draws. Summing over the draws,

    log Gamma(a + v) - log Gamma(a) = sum_{j < v} log(a + j)
    psi(a + v)       - psi(a)       = sum_{j < v} 1 / (a + j)

so everything below is a sum over j. Levels cut it into steps: between two counts that occur, the tail weight
(of the documents that have at least this count) does not change.

| name | what | shape |
|---|---|---|
| first | index of the first level of each word | W + 1 |
| values | the count of each level, increasing within a word | n |
| tails | weight of the documents at this level or above | n x K |
| alpha | urn weight of each word | W x K |
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.typing import Array

# Steps up to this length are summed term by term; longer ones use asymptotic series, from this argument on.
SHORT = 16
_LARGE = 10.0


@kernel
def _log(x):
    """log(x), with log(0) = -inf without a warning."""
    return math.log(x) if x > 0.0 else -math.inf


@kernel
def log_rising(a, lo, hi):
    """Sum of log(a + j) over lo <= j < hi.

    Equivalent to ``scipy.special.gammaln(a + hi) - scipy.special.gammaln(a + lo)``, without its cancellation.
    """
    total, product = 0.0, 1.0
    while lo < hi and (hi - lo <= SHORT or a + lo < _LARGE):
        product *= a + lo
        lo += 1
        if product > 1e100 or product < 1e-100:
            total += _log(product)
            product = 1.0
    total += _log(product)
    if lo < hi:
        x, y, m = a + lo, a + hi, float(hi - lo)
        total += (x - 0.5) * math.log1p(m / x) + m * (math.log(y) - 1.0) + _stirling(y) - _stirling(x)
    return total


@kernel
def _stirling(x):
    """The remainder of Stirling's formula for log Gamma(x), for x >= 10."""
    r = 1.0 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * 691 / 360360))))) / x


@kernel
def inverse_sums(a, lo, hi):
    """Sums of 1 / (a + j) and of 1 / (a + j)^2 over lo <= j < hi.

    Equivalent to differences of ``scipy.special.digamma`` and (with the opposite sign) ``polygamma(1, .)``.
    """
    first, second = 0.0, 0.0
    while lo < hi and (hi - lo <= SHORT or a + lo < _LARGE):
        inverse = 1.0 / (a + lo)
        first += inverse
        second += inverse * inverse
        lo += 1
    if lo < hi:
        x, y, m = a + lo, a + hi, float(hi - lo)
        first += math.log1p(m / x) + _digamma_rest(y) - _digamma_rest(x)
        second += m / (x * y) + _trigamma_rest(x) - _trigamma_rest(y)
    return first, second


@kernel
def _digamma_rest(x):
    """psi(x) - log(x), for x >= 10."""
    r = 1.0 / (x * x)
    return -0.5 / x - r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * 691 / 32760)))))


@kernel
def _trigamma_rest(x):
    """psi'(x) - 1 / x, for x >= 10."""
    r = 1.0 / (x * x)
    return r * (0.5 + (1 / 6 - r * (1 / 30 - r * (1 / 42 - r * (1 / 30 - r * (5 / 66 - r * 691 / 2730))))) / x)


@kernel
def rising_steps(first, values, alpha, out, start, stop):
    """The factor by which the rising factorial grows from level to level (1 if the step is long).

    Equivalent to ``out[i, k] = prod(alpha[w, k] + arange(v[i - 1], v[i]))`` for i of word w, v[i - 1] = 0 at its first.
    """
    for word in range(start, stop):
        lo = 0
        for level in range(first[word], first[word + 1]):
            hi = values[level]
            if hi == lo + 1:
                for k in range(alpha.shape[1]):
                    out[level, k] = alpha[word, k] + lo
            else:
                for k in range(alpha.shape[1]):
                    product = 1.0
                    if hi - lo <= SHORT:
                        for j in range(lo, hi):
                            product *= alpha[word, k] + j
                    out[level, k] = product
            lo = hi


@kernel
def add_up_steps(first, values, alpha, out, start, stop):
    """From logs of steps to logs of rising factorials: ``out[i, k] = log_rising(alpha[w, k], 0, values[i])``."""
    for word in range(start, stop):
        lo = 0
        for level in range(first[word], first[word + 1]):
            hi = values[level]
            if hi - lo > SHORT:
                for k in range(alpha.shape[1]):
                    out[level, k] = log_rising(alpha[word, k], lo, hi)
            if level > first[word]:
                for k in range(alpha.shape[1]):
                    out[level, k] += out[level - 1, k]
            lo = hi


def log_rising_table(first: Array, values: Array, alpha: Array) -> Array:
    """Log rising factorials of every level and component: levels x K.

    Two passes of kernels around the vectorised logarithm of NumPy, which is faster than a logarithm in the loop; block
    by block, so that all three find a block in the cache.
    """
    table, n_components = np.empty((len(values), alpha.shape[1])), np.int64(alpha.shape[1])
    args = first, values, alpha, table
    if len(first) == 2:  # one word has all levels: only the logarithm can be shared by threads
        rising_steps(*args, 0, 1)
        threads.apply(np.log, table, out=table)
        add_up_steps(*args, 0, 1)
        return table
    # Blocks of words that do not depend on the number of threads: see `threads.apply`.
    size = max(1, 4 * threads.BLOCK // max(1, alpha.shape[1]))
    edges = np.array([0, len(first) - 1])
    if len(values) > size:
        edges = np.unique(np.append(np.searchsorted(first, np.arange(0, len(values), size)), len(first) - 1))
        edges[0] = 0

    def blocks(start: int, stop: int) -> None:
        with np.errstate(divide="ignore"):  # threads do not inherit this from the caller
            for block in range(start, stop):
                own = int(edges[block]), int(edges[block + 1])
                rising_steps(*args, *own)
                part = table[first[own[0]] : first[own[1]]]
                np.log(part, out=part)
                add_up_steps(*args, *own)

    threads.run(blocks, first[edges] * n_components)
    return table


@kernel
def tail_sums(first, weights, out, start, stop):
    """From weights of levels to tails.

    Equivalent to ``out[a:b] = weights[a:b][::-1].cumsum(axis=0)[::-1]`` for each word's levels a to b.
    """
    for word in range(start, stop):
        last = first[word + 1] - 1
        for level in range(last, first[word] - 1, -1):
            if level == last:
                for k in range(weights.shape[1]):
                    out[level, k] = weights[level, k]
            else:
                for k in range(weights.shape[1]):
                    out[level, k] = weights[level, k] + out[level + 1, k]


@kernel
def expected_draws(first, values, tails, types, alpha, out, start, stop):
    """Expected number of occurrences of each word that are draws from the initial urn, not copies of earlier ones.

    ``types + alpha sum_{j >= 1} tail_j / (alpha + j)``, where the levels count repeats (occurrences after the first).
    """
    for word in range(start, stop):
        for k in range(types.shape[1]):
            out[word, k] = types[word, k]
        lo = 0
        for level in range(first[word], first[word + 1]):
            for k in range(types.shape[1]):
                if tails[level, k] > 0.0:
                    again = inverse_sums(alpha[word, k] + 1.0, lo, values[level])[0]
                    out[word, k] += tails[level, k] * alpha[word, k] * again
            lo = values[level]


@kernel
def add_second_sums(first, values, tails, alpha, out):
    """Add ``sum_{j >= 1} tail_j / (alpha + j)^2`` to each word and component; the levels count repetitions."""
    for word in range(len(out)):
        lo = 0
        for level in range(first[word], first[word + 1]):
            for k in range(out.shape[1]):
                if tails[level, k] > 0.0:
                    out[word, k] += tails[level, k] * inverse_sums(alpha[word, k] + 1.0, lo, values[level])[1]
            lo = values[level]


@kernel
def urn_draws(lengths, cumulative, total, uniforms, words):
    """Draw documents from a Polya urn: each token is a new draw from the base measure or a copy of an earlier one.

    ``cumulative`` is the running sum of alpha, ``total`` its last value s; each token uses two of ``uniforms``.
    """
    token = 0
    for document in range(len(lengths)):
        start = token
        for j in range(lengths[document]):
            if uniforms[token, 0] * (total + j) < total:
                words[token] = np.searchsorted(cumulative, uniforms[token, 1] * total, side="right")
            else:
                words[token] = words[start + int(uniforms[token, 1] * j)]
            token += 1
