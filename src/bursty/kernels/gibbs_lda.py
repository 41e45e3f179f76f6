"""Gibbs sweeps of LDA given the word probabilities of the topics, with the topic mixtures integrated out.

    p(z = k) in proportion to (n_dk + alpha_k) phi_wk

with counts that exclude the token. Only counts of the same document occur, so that documents are independent. The sum
has two parts: ``sum_k alpha_k phi_wk``, the same for every token of a word (``smooth``), and ``sum_k n_dk phi_wk``,
over the topics of the document. These are in a list, in no particular order: ``present`` has the topics, ``sizes``
their numbers of tokens, ``weights`` the terms of the sum, and ``places`` the position of each topic in the list (-1:
none).

Names and shapes are those of `gibbs_counts` and `gibbs_dcmlda`; ``phi`` is W x K, ``smooth`` is ``phi @ alpha``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import kernel
from bursty.kernels.polya import log_rising
from bursty.kernels.prefetch import prefetch
from bursty.kernels.variates import gammas_above, whole_gamma

Array = np.ndarray[Any, Any]

# Rows of phi are prefetched this many cells ahead, by cache lines.
_AHEAD, _LINE = 2, 16
# Unsigned, so that compiled code need not check indices for a sign.
_0, _1, _2, _3, _4 = (np.uint64(i) for i in range(5))


class SharedTopics(NamedTuple):
    """The topics that all documents share, as sweeps and estimators of the likelihood receive them."""

    alpha: Array
    phi: Array
    smooth: Array


@kernel
def sweep(documents, topics, shared, seed, sweep, start, stop):
    """Resample the topic of every token, one after the other.

    The terms of the sum over the topics of the document are computed once per word; between tokens of the same word,
    only those of the two topics whose counts change.
    """
    indptr, words, counts, first, keys = documents
    alpha, phi, smooth = shared
    n_topics = len(alpha)
    sizes, weights = np.empty(n_topics), np.empty(n_topics)
    present, places = np.empty(n_topics, dtype=np.uint32), np.full(n_topics, -1, dtype=np.int32)
    flat = phi.reshape(phi.size)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        token, n_present, last_cell = first[document], 0, indptr[document + 1] - 1
        for i in range(token, first[document + 1]):
            k = topics[i]
            if places[k] < 0:
                present[n_present], places[k], sizes[n_present] = k, n_present, 0.0
                n_present += 1
            sizes[places[k]] += 1.0
        for cell in range(indptr[document], indptr[document + 1]):
            ahead = np.int64(words[min(cell + _AHEAD, last_cell)])
            prefetch(smooth, ahead)
            for k in range(0, n_topics, _LINE):
                prefetch(flat, ahead * n_topics + k)
            row = phi[words[cell]]
            drawn = weigh(sizes, present, n_present, row, weights)
            for _ in range(counts[cell]):
                k = topics[token]
                place = places[k]
                sizes[place] -= 1.0
                weights[place] -= row[k]
                drawn -= row[k]
                if sizes[place] == 0.0:
                    # The last one of the list takes its position.
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
                    k = from_prior(left - max(drawn, 0.0), alpha, row)
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
    """``phi @ alpha``, added in the same order for any number of threads."""
    for word in range(start, stop):
        total = 0.0
        for k in range(len(alpha)):
            total += alpha[k] * phi[word, k]
        out[word] = total


@kernel
def weigh(sizes, present, n_present, row, weights):
    """``weights = sizes * row[present]`` and their sum; four sums side by side, which do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    n = np.uint64(n_present)
    whole = n // _4 * _4
    for i in range(_0, whole, _4):
        weights[i] = sizes[i] * row[present[i]]
        weights[i + _1] = sizes[i + _1] * row[present[i + _1]]
        weights[i + _2] = sizes[i + _2] * row[present[i + _2]]
        weights[i + _3] = sizes[i + _3] * row[present[i + _3]]
        a += weights[i]
        b += weights[i + _1]
        c += weights[i + _2]
        d += weights[i + _3]
    for i in range(whole, n):
        weights[i] = sizes[i] * row[present[i]]
        a += weights[i]
    return (a + b) + (c + d)


@kernel
def find(weights, n_weights, left):
    """Position of ``left`` along the first weights: ``np.searchsorted(np.cumsum(weights[:n]), left, "right")``."""
    place, n = _0, np.uint64(n_weights)
    while place + _4 < n:
        four = (weights[place] + weights[place + _1]) + (weights[place + _2] + weights[place + _3])
        if left < four:
            break
        left -= four
        place += _4
    left -= weights[place]
    while left >= 0.0 and place + _1 < n:
        place += _1
        left -= weights[place]
    return place


@kernel
def from_prior(left, alpha, row):
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
    """Log-probability of the topics of each document, with the mixture integrated out: [Doyle2009] eq. 2."""
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
def draw_gammas(word_topics, beta, least, seed, sweep, edges, out, sums, start, stop):
    """A gamma variate of shape ``word_topics[w, k] + beta[w]`` for each word and topic; one stream per word.

    Each is the sum of a variate of shape beta_w, drawn for all topics at once and raised to ``least`` if it is smaller,
    and of a variate for the tokens, if there are any. ``sums`` has the sums over the blocks of words bounded by
    ``edges``, in an order that does not depend on the number of threads.
    """
    n_topics = out.shape[1]
    row, topics, values = np.empty(n_topics), np.empty(n_topics, dtype=np.int64), np.empty(n_topics)
    for block in range(start, stop):
        sums[block] = 0.0
        for word in range(edges[block], edges[block + 1]):
            key, step = random.stream(seed, sweep, word)
            n, draw = gammas_above(beta[word], n_topics, least, np.uint64(key), np.uint64(step), 0, topics, values)
            row[:] = least
            for i in range(n):
                row[topics[i]] = values[i]
            for k in range(n_topics):
                if word_topics[word, k] > 0:
                    x, draw = whole_gamma(word_topics[word, k], np.uint64(key), np.uint64(step), draw)
                    row[k] += x
            for k in range(n_topics):
                sums[block, k] += row[k]
                out[word, k] = row[k]


@kernel
def scale(factors, edges, out, start, stop):
    """``out *= factors``, in the same blocks."""
    for word in range(edges[start], edges[stop]):
        for k in range(len(factors)):
            out[word, k] *= factors[k]
