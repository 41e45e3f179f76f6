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

from typing import NamedTuple

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import inlined, kernel
from bursty.kernels.polya import log_rising
from bursty.kernels.prefetch import prefetch
from bursty.kernels.variates import gammas_above, whole_gamma
from bursty.typing import Array

# Rows of phi are prefetched this many cells ahead, by cache lines.
_AHEAD, _LINE = np.uint64(4), np.uint64(16)
# With more weights than this left, four are passed at a time.
_MANY = np.uint64(48)
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
    n_topics = np.uint64(len(alpha))
    sizes, weights = np.empty(n_topics), np.empty(n_topics)
    present, places = np.empty(n_topics, dtype=np.uint32), np.full(n_topics, -1, dtype=np.int32)
    # Rows of phi are addressed by their first element: arrays made of them would be counted, cell by cell.
    flat = phi.reshape(phi.size)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        first_token, n_present = np.uint64(first[document]), _0
        for i in range(first_token, np.uint64(first[document + 1])):
            k = topics[i]
            if places[k] < 0:
                present[n_present], places[k], sizes[n_present] = k, n_present, 0.0
                n_present += _1
            sizes[np.uint64(places[k])] += 1.0
        token, end = first_token, np.uint64(indptr[document + 1])
        for cell in range(np.uint64(indptr[document]), end):
            ahead = np.uint64(words[min(cell + _AHEAD, end - _1)])
            prefetch(smooth, ahead)
            for k in range(_0, n_topics, _LINE):
                prefetch(flat, ahead * n_topics + k)
            word, stop_token = np.uint64(words[cell]), token + np.uint64(counts[cell])
            base, prior = word * n_topics, smooth[word]
            drawn = weigh(sizes, present, n_present, flat, base, weights)
            for own in range(token, stop_token):
                k = np.uint64(topics[own])
                place, p = np.uint64(places[k]), flat[base + k]
                size = sizes[place] - 1.0
                sizes[place] = size
                weights[place] -= p
                drawn -= p
                if size == 0.0:
                    # The last one of the list takes its position.
                    n_present -= _1
                    last = present[n_present]
                    weights[place], sizes[place], present[place] = weights[n_present], sizes[n_present], last
                    places[last] = place
                    places[k] = -1
                u = random.uniform(np.uint64(key), np.uint64(step), own - first_token)
                left = (max(drawn, 0.0) + prior) * u
                if left < drawn and n_present > _0:
                    place = find(weights, n_present, left)
                    k = np.uint64(present[place])
                else:
                    k = from_prior(left - max(drawn, 0.0), alpha, flat, base)
                    if places[k] < 0:
                        present[n_present], places[k], sizes[n_present] = k, n_present, 0.0
                        weights[n_present] = 0.0
                        n_present += _1
                    place = np.uint64(places[k])
                p = flat[base + k]
                sizes[place] += 1.0
                weights[place] += p
                drawn += p
                topics[own] = k
            token = stop_token
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


@inlined
def weigh(sizes, present, n_present, flat, base, weights):
    """``weights = sizes * flat[base:][present]`` and their sum; four sums, which do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = n_present // _4 * _4
    for i in range(_0, whole, _4):
        weights[i] = sizes[i] * flat[base + present[i]]
        weights[i + _1] = sizes[i + _1] * flat[base + present[i + _1]]
        weights[i + _2] = sizes[i + _2] * flat[base + present[i + _2]]
        weights[i + _3] = sizes[i + _3] * flat[base + present[i + _3]]
        a += weights[i]
        b += weights[i + _1]
        c += weights[i + _2]
        d += weights[i + _3]
    for i in range(whole, n_present):
        weights[i] = sizes[i] * flat[base + present[i]]
        a += weights[i]
    return (a + b) + (c + d)


@inlined
def find(weights, n, left):
    """Position of ``left`` along the first weights: ``np.searchsorted(np.cumsum(weights[:n]), left, "right")``.

    Branches are faster here than counting comparisons: what follows proceeds with the predicted topic, which is mostly
    the right one. While many are left, four at a time.
    """
    place = _0
    while place + _MANY < n:
        four = (weights[place] + weights[place + _1]) + (weights[place + _2] + weights[place + _3])
        if left < four:
            break
        left -= four
        place += _4
    bound = weights[place]
    while left >= bound and place + _1 < n:
        place += _1
        bound += weights[place]
    return place


@inlined
def from_prior(left, alpha, flat, base):
    """The topic at ``left`` along the weights alpha_k phi_wk; never one of weight 0."""
    chosen = _0
    for k in range(np.uint64(len(alpha))):
        weight = alpha[k] * flat[base + k]
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
