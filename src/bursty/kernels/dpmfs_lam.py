"""lambda of each word: a factor of its own, by slice sampling (Neal 2003) of its logarithm ([Yu2010] eq. 17).

The logarithm v of a word's factor has a standard normal prior. With ``rest`` for the lambda of the other words of its
side, and lam = base exp(v), its log density is, up to a constant,

    -v^2 / 2 + sum_k [log Gamma(rest + lam) - log Gamma(rest + lam + n_k) + log Gamma(lam + n_kj) - log Gamma(lam)]

if the components are integrated out, and ``c [log Gamma(rest + lam) - log Gamma(lam)] + lam sum_k log eta_kj`` in the
place of the sum if the parameters of c components are given. Words follow one another, each given the others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.dpmfs_words import tally_word
from bursty.kernels.random import stream, uniform
from bursty.typing import Array

# The prior has a standard deviation of 1.
_WIDTH = 1.5
# Factors stay between exp(-_FARTHEST) and exp(_FARTHEST), where the prior leaves nothing.
_FARTHEST = 20.0


class Terms(NamedTuple):
    """One side: ``totals`` and ``tally`` of components that are integrated out, ``copies`` of components given.

    ``log_eta`` is the sum of the log-probabilities of the word in the latter.
    """

    totals: Array
    tally: Array
    copies: float
    log_eta: float


@kernel
def log_density(v, base, rest, terms):
    """Log density of the logarithm of a word's factor, up to a constant."""
    lam = base * math.exp(v)
    value = -0.5 * v * v + terms.log_eta * lam
    weight, own = math.lgamma(rest + lam), math.lgamma(lam)
    if terms.copies > 0:
        value += terms.copies * (weight - own)
    for k in range(len(terms.totals)):
        if terms.totals[k] > 0:
            value += weight - math.lgamma(rest + lam + terms.totals[k])
        if terms.tally[k] > 0:
            value += math.lgamma(lam + terms.tally[k]) - own
    return value


@kernel
def slice_word(v, base, rest, terms, key, step):
    """One draw, from ``v``."""
    level = log_density(v, base, rest, terms)
    level += math.log(1.0 - uniform(key, step, 0))
    low = v - _WIDTH * uniform(key, step, 1)
    high, draw = low + _WIDTH, 2
    while low > -_FARTHEST and log_density(low, base, rest, terms) > level:
        low -= _WIDTH
    while high < _FARTHEST and log_density(high, base, rest, terms) > level:
        high += _WIDTH
    low, high = max(low, -_FARTHEST), min(high, _FARTHEST)
    while True:
        candidate = low + (high - low) * uniform(key, step, draw)
        draw += 1
        if candidate == v or log_density(candidate, base, rest, terms) >= level:
            return candidate
        if candidate < v:
            low = candidate
        else:
            high = candidate


@kernel
def draw_integrated(own, base, chosen, sums, cells, clusters, seed, sweep, names):
    """Draw the factor of every word with the components integrated out; ``own`` and ``sums`` are kept up to date."""
    noise_total, noise_tally = np.full(1, sums[2]), np.zeros(1)
    for word in range(len(own)):
        side = 1 - int(chosen[word])
        rest = max(sums[side] - base[word] * own[word], 0.0)
        if side == 0:
            tally_word(word, cells, clusters.labels, clusters.tally)
            terms = Terms(clusters.totals, clusters.tally, 0.0, 0.0)
        else:
            noise_tally[0] = cells.totals[word]
            terms = Terms(noise_total, noise_tally, 0.0, 0.0)
        key, step = stream(seed, sweep, names + word)
        key, step = np.uint64(key), np.uint64(step)
        own[word] = math.exp(slice_word(math.log(own[word]), base[word], rest, terms, key, step))
        sums[side] = rest + base[word] * own[word]
        for cell in range(cells.indptr[word], cells.indptr[word + 1]):
            clusters.tally[clusters.labels[cells.documents[cell]]] = 0


@kernel
def draw_given(own, base, chosen, sums, copies, log_eta, seed, sweep, names):
    """The same given the parameters: of ``copies`` components for chosen words, and of one for the others.

    ``log_eta`` has the sum of the log-probabilities of each word in them.
    """
    none = np.empty(0)
    for word in range(len(own)):
        side = 1 - int(chosen[word])
        rest = max(sums[side] - base[word] * own[word], 0.0)
        terms = Terms(none, none, 1.0 if side else copies, log_eta[word])
        key, step = stream(seed, sweep, names + word)
        key, step = np.uint64(key), np.uint64(step)
        own[word] = math.exp(slice_word(math.log(own[word]), base[word], rest, terms, key, step))
        sums[side] = rest + base[word] * own[word]
