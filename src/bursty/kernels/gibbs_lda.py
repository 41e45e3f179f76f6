"""Gibbs sweeps of LDA with the topics' word probabilities given and the documents' topic mixtures integrated out.

    p(z = k) in proportion to (n_dk + alpha_k) phi_wk

with counts that leave the token out. Only the document's own counts occur, so documents are independent. The sum has
two parts: ``sum_k alpha_k phi_wk``, the same for every token of a word (``smooth``), and ``sum_k n_dk phi_wk``, over
the topics the document has. These stand in a list, in no particular order: ``present`` has the topics, ``sizes`` their
tokens, ``weights`` the terms of the sum, and ``places`` says where in the list each topic is (-1: nowhere).

Names and shapes are those of `gibbs_dcmlda`; ``phi`` is W x K, ``smooth`` is ``phi @ alpha``.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import kernel
from bursty.kernels.polya import log_rising
from bursty.kernels.variates import normal

# Gamma draws of tiny shape underflow; a probability this small is never drawn but keeps sums above zero.
_TINY = 1e-300


@kernel
def sweep(indptr, words, counts, first, topics, alpha, phi, smooth, seed, sweep, keys, start, stop):
    """Draw every token's topic anew, one after the other.

    The terms of the sum over the document's topics are computed once for each word; from token to token of the same
    word only those of the two topics whose counts change.
    """
    n_topics = len(alpha)
    sizes, weights = np.empty(n_topics), np.empty(n_topics)
    present, places = np.empty(n_topics, dtype=np.int32), np.full(n_topics, -1, dtype=np.int32)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        token, n_present = first[document], 0
        for i in range(token, first[document + 1]):
            k = topics[i]
            if places[k] < 0:
                present[n_present], places[k], sizes[n_present] = k, n_present, 0.0
                n_present += 1
            sizes[places[k]] += 1.0
        for cell in range(indptr[document], indptr[document + 1]):
            row = phi[words[cell]]
            drawn = weigh(sizes, present, n_present, row, weights)
            for _ in range(counts[cell]):
                k = topics[token]
                place = places[k]
                sizes[place] -= 1.0
                weights[place] -= row[k]
                drawn -= row[k]
                if sizes[place] == 0.0:
                    # The last of the list takes its place.
                    n_present -= 1
                    last = present[n_present]
                    weights[place], sizes[place], present[place] = weights[n_present], sizes[n_present], last
                    places[last] = place
                    places[k] = -1
                left = (max(drawn, 0.0) + smooth[words[cell]]) * random.uniform(
                    np.uint64(key), np.uint64(step), token - first[document]
                )
                if left < drawn and n_present > 0:
                    k = present[find(weights, n_present, left)]
                else:
                    k = _from_prior(left - max(drawn, 0.0), alpha, row)
                if places[k] < 0:
                    present[n_present], places[k], sizes[n_present] = k, n_present, 0.0
                    weights[n_present] = 0.0
                    n_present += 1
                sizes[places[k]] += 1.0
                weights[places[k]] += row[k]
                drawn += row[k]
                topics[token] = k
                token += 1
        for i in range(n_present):
            places[present[i]] = -1


@kernel
def smooth_sums(phi, alpha, out, start, stop):
    """``phi @ alpha``, in one order of adding whatever the number of threads."""
    for word in range(start, stop):
        total = 0.0
        for k in range(len(alpha)):
            total += alpha[k] * phi[word, k]
        out[word] = total


@kernel
def weigh(sizes, present, n_present, row, weights):
    """``weights = sizes * row[present]`` and their sum; four sums side by side, as none has to wait for another."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = n_present // 4 * 4
    for i in range(0, whole, 4):
        weights[i] = sizes[i] * row[present[i]]
        weights[i + 1] = sizes[i + 1] * row[present[i + 1]]
        weights[i + 2] = sizes[i + 2] * row[present[i + 2]]
        weights[i + 3] = sizes[i + 3] * row[present[i + 3]]
        a += weights[i]
        b += weights[i + 1]
        c += weights[i + 2]
        d += weights[i + 3]
    for i in range(whole, n_present):
        weights[i] = sizes[i] * row[present[i]]
        a += weights[i]
    return (a + b) + (c + d)


@kernel
def find(weights, n, left):
    """Where ``left`` falls along the first n weights: ``np.searchsorted(np.cumsum(weights[:n]), left, "right")``."""
    place = 0
    while place + 4 < n:
        four = (weights[place] + weights[place + 1]) + (weights[place + 2] + weights[place + 3])
        if left < four:
            break
        left -= four
        place += 4
    left -= weights[place]
    while left >= 0.0 and place < n - 1:
        place += 1
        left -= weights[place]
    return place


@kernel
def _from_prior(left, alpha, row):
    """The topic at ``left`` along the weights alpha_k phi_wk; never one of weight 0."""
    chosen = 0
    for k in range(len(alpha)):
        weight = alpha[k] * row[k]
        if weight > 0.0:
            chosen = k
            left -= weight
            if left < 0.0:
                break
    return chosen


@kernel
def log_topics(first, topics, alpha, out, start, stop):
    """Log-probability of each document's topics, the mixture integrated out: [Doyle2009] eq. 2."""
    alpha_total = alpha.sum()
    n_k = np.zeros(len(alpha), dtype=np.int64)
    for document in range(start, stop):
        n_k[:] = 0
        for token in range(first[document], first[document + 1]):
            n_k[topics[token]] += 1
        total = -log_rising(alpha_total, 0, first[document + 1] - first[document])
        for k in range(len(alpha)):
            total += log_rising(alpha[k], 0, n_k[k])
        out[document] = total


@kernel
def begin_gammas(beta, seed, sweep, out, start, stop):
    """The first uniform number of `small_gamma` of shape ``beta[w]``, for each word and topic."""
    n_topics = out.shape[1]
    for word in range(start, stop):
        key, step = random.stream(seed, sweep, word)
        bound = 1.0 + beta[word] / math.e
        for k in range(n_topics):
            out[word, k] = bound * (1.0 - random.uniform(np.uint64(key), np.uint64(step), k))


@kernel
def finish_gammas(word_topics, beta, seed, sweep, out, start, stop):
    """A gamma variate of shape ``word_topics[w, k] + beta[w]`` for each word and topic; a word has its own stream.

    ``out`` holds ``min(u ** (1 / beta), 1)`` with the u of `begin_gammas`, which NumPy computes faster than a loop:
    where a topic has no token of the word, that is what `small_gamma` would try first.
    """
    n_topics = out.shape[1]
    for word in range(start, stop):
        key, step = random.stream(seed, sweep, word)
        draw = 2 * n_topics
        for k in range(n_topics):
            shape = word_topics[word, k] + beta[word]
            if shape >= 1.0:
                out[word, k], draw = large_gamma(shape, np.uint64(key), np.uint64(step), draw)
                continue
            x = out[word, k]
            if x == 1.0:
                x = _candidate(random.uniform(np.uint64(key), np.uint64(step), k), shape)
            v = random.uniform(np.uint64(key), np.uint64(step), n_topics + k)
            if word_topics[word, k] > 0.0 or not _accepted(x, v, shape):
                x, draw = small_gamma(shape, np.uint64(key), np.uint64(step), draw)
            out[word, k] = max(x, _TINY)


@kernel
def small_gamma(shape, key, step, draw):
    """A gamma variate of shape below 1 (Ahrens and Dieter 1974, algorithm GS), and the number of the next draw."""
    while True:
        x = _candidate(random.uniform(np.uint64(key), np.uint64(step), draw), shape)
        v = random.uniform(np.uint64(key), np.uint64(step), draw + 1)
        draw += 2
        if _accepted(x, v, shape):
            return x, draw


@kernel
def _candidate(uniform, shape):
    """At most 1 where u is, else above 1."""
    bound = 1.0 + shape / math.e
    u = bound * (1.0 - uniform)
    return math.exp(math.log(u) / shape) if u <= 1.0 else -math.log((bound - u) / shape)


@kernel
def _accepted(x, v, shape):
    """With probability exp(-x) up to 1 (where 1 - x, which is below it, nearly always decides), x^(shape - 1) above."""
    if x <= 1.0:
        return v < 1.0 - x or v <= math.exp(-x)
    return v <= math.exp((shape - 1.0) * math.log(x))


@kernel
def large_gamma(shape, key, step, draw):
    """A gamma variate of shape 1 or more (Marsaglia and Tsang 2000), and the number of the next draw."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x, draw = normal(np.uint64(key), np.uint64(step), draw)
        u = 1.0 - random.uniform(np.uint64(key), np.uint64(step), draw)
        draw += 1
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            square = x * x
            if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return d * v, draw
