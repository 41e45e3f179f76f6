"""Pseudo-documents: log word probabilities drawn from a topic model, for empirical likelihood.

    theta ~ Dirichlet(alpha)        phi_k ~ Dirichlet(beta_k), or given        p_w = sum_k theta_k phi_wk

A Dirichlet draw is a vector of gamma variates divided by their sum, and a gamma variate splits as its shape does,
beta_wk = floor_k + b_wk (names as in `gibbs_dcmlda`). The shapes b_wk are few, and nearly all of the many variates of
the tiny shape floor_k underflow and need not be drawn (`variates.gammas_above`).

Every pseudo-document has a number, which is the key of its random streams.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import kernel
from bursty.kernels.streams import PSEUDO_MIXTURES, PSEUDO_WORDS
from bursty.kernels.variates import gamma, gammas_above, log_dirichlet

# Below this, variates and probabilities underflow.
_TINY = 1e-300


@kernel
def mixtures(alpha, seed, number, out, start, stop):
    """Topic mixture of each pseudo-document, in rows; ``number`` is that of the first."""
    for i in range(start, stop):
        out[i] = alpha
        log_dirichlet(out[i], seed, PSEUDO_MIXTURES, number + i)
        for k in range(len(alpha)):
            out[i, k] = math.exp(out[i, k])


@kernel
def lda(phi, theta, out, start, stop):
    """``out = np.log(np.maximum(phi @ theta, _TINY))``, with phi of shape W x K and one mixture per column of theta."""
    for word in range(start, stop):
        row = out[word]
        row[:] = 0.0
        for k in range(phi.shape[1]):
            probability = phi[word, k]
            for i in range(theta.shape[1]):
                row[i] += probability * theta[k, i]
        for i in range(theta.shape[1]):
            row[i] = math.log(max(row[i], _TINY))


@kernel
def dcmlda(theta, urns, level_first, level_words, seed, number, out, start, stop):
    """The same for DCMLDA, with pseudo-documents in rows: each draws its own phi.

    ``level_words`` has the words sorted by background; those of equal background begin at ``level_first``.
    """
    _, _, floor, background, table_first, table_topics, table_values = urns
    n_topics, n_words = len(floor), len(table_first) - 1
    variates, words, values = np.empty(len(table_values)), np.empty(n_words, dtype=np.int64), np.empty(n_words)
    totals, scale = np.empty(n_topics), np.empty(n_topics)
    for i in range(start, stop):
        key, step = random.stream(seed, PSEUDO_WORDS, number + i)
        draw, row = 0, out[i]
        row[:] = 0.0
        totals[:] = 0.0
        for place in range(len(table_values)):
            variates[place], draw = gamma(table_values[place], np.uint64(key), np.uint64(step), draw)
            totals[table_topics[place]] += variates[place]
        for k in range(n_topics):
            found = 0
            for level in range(len(level_first) - 1):
                begin, size = level_first[level], level_first[level + 1] - level_first[level]
                shape = floor[k] * background[level_words[begin]]
                places, own = words[found:], values[found:]
                n, draw = gammas_above(shape, size, _TINY, np.uint64(key), np.uint64(step), draw, places, own)
                for j in range(n):
                    places[j] = level_words[begin + places[j]]
                found += n
            for j in range(found):
                totals[k] += values[j]
            scale[k] = theta[i, k] / max(totals[k], _TINY)
            for j in range(found):
                row[words[j]] += scale[k] * values[j]
        for word in range(n_words):
            for place in range(table_first[word], table_first[word + 1]):
                row[word] += scale[table_topics[place]] * variates[place]
            row[word] = math.log(max(row[word], _TINY))
