"""Collapsed Gibbs sweeps of DCMLDA: the topic of a token given all others of its document.

    p(z = k) in proportion to (n_dk + alpha_k) / (n_dk + s_k) * (n_dwk + beta_wk)         [Doyle2009] section 3

with counts that exclude the token. Only counts of the same document occur, so that documents are independent.

`sweep` sums these weights in three parts and visits only terms that are not zero:

    ratio_k n_dwk    topics that the word already has in the document
    ratio_k b_wk     topics whose parameter for the word is above their floor, beta_wk = floor_k q_w + b_wk
    ratio_k floor_k  all topics, times q_w: one sum, and one per sixteen topics, kept up to date as counts change

with ratio_k = (n_dk + alpha_k) / (n_dk + s_k), and q the background that all topics share.

| name | what | shape |
|---|---|---|
| documents | `gibbs_counts.DocumentArrays` | |
| topics | the topic of each token, changed in place | tokens |
| alpha, totals, floor | alpha, s, the smallest beta_wk / q_w of each topic | K |
| background | q | W |
| beta | W x K | |
| table_first, table_topics, table_values | pairs (k, b_wk) of each word, largest first, padded to fours | W + 1, n, n |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import inlined, kernel
from bursty.kernels.polya import log_rising
from bursty.kernels.prefetch import prefetch
from bursty.typing import Array

_NEITHER, _OUTSIDE = -2, -1
_FEW = 4
# A parameter that exceeds its floor by less than this is at its floor: the rest is rounding.
_EVEN = 1.0 + 1e-12
# Rows of the table are prefetched this many cells ahead.
_AHEAD = 3
# Unsigned, so that compiled code need not check indices for a sign.
_0, _1, _2, _3, _4, _16 = (np.uint64(i) for i in (0, 1, 2, 3, 4, 16))


class TopicUrns(NamedTuple):
    """The parameters, as sweeps and estimators of the likelihood receive them."""

    alpha: Array
    totals: Array
    floor: Array
    background: Array
    table_first: Array
    table_topics: Array
    table_values: Array


@kernel
def least_ratios(beta, background, edges, out, start, stop):
    """The smallest ratio of beta to the background for each topic, in blocks of words: blocks x K."""
    for block in range(start, stop):
        least = out[block]
        least[:] = np.inf
        for word in range(edges[block], edges[block + 1]):
            for k in range(len(least)):
                least[k] = min(least[k], beta[word, k] / background[word])


@kernel
def count_above(beta, floor, background, out, start, stop):
    """Number of topics in which each word is above the floor."""
    for word in range(start, stop):
        out[word] = 0
        for k in range(len(floor)):
            out[word] += beta[word, k] > floor[k] * background[word] * _EVEN


@kernel
def build_table(beta, floor, background, table_first, table_topics, table_values, start, stop):
    """For each word, the topics whose beta is above their floor, and by how much, largest first.

    The last topic is repeated with value 0 up to the beginning of the next word.
    """
    for word in range(start, stop):
        begin, end = table_first[word], table_first[word]
        for k in range(len(floor)):
            value = beta[word, k] - floor[k] * background[word]
            if beta[word, k] > floor[k] * background[word] * _EVEN:
                place = end
                while place > begin and table_values[place - 1] < value:
                    table_values[place], table_topics[place] = table_values[place - 1], table_topics[place - 1]
                    place -= 1
                table_values[place], table_topics[place] = value, k
                end += 1
        for place in range(end, table_first[word + 1]):
            table_values[place], table_topics[place] = 0.0, table_topics[end - 1]


@inlined
def begin_ratios(n_k, alpha, totals, floor, ratio, sixteens):
    """The ratios of all topics, and ``sum(ratio * floor)``; ``sixteens`` receives that of sixteen topics each."""
    rest = 0.0
    sixteens[:] = 0.0
    for k in range(np.uint64(len(floor))):
        ratio[k] = (n_k[k] + alpha[k]) / (n_k[k] + totals[k])
        rest += ratio[k] * floor[k]
        sixteens[k // _16] += ratio[k] * floor[k]
    return rest


@inlined
def recount(k, change, n_k, alpha, totals, floor, ratio, sixteens):
    """Change the tokens of a topic, and with them its ratio and its sixteen; returns the change of the whole sum."""
    before = ratio[k]
    n_k[k] += change
    ratio[k] = (n_k[k] + alpha[k]) / (n_k[k] + totals[k])
    difference = (ratio[k] - before) * floor[k]
    sixteens[np.uint64(k) // _16] += difference
    return difference


@inlined
def above_floor(ratio, table_topics, table_values, begin, end, weights, bounds):
    """The second part of the sum, ``ratio[topics] @ values``.

    Four terms at a time: ``weights`` receives the sums of the first one, two and three of them, and ``bounds`` the sums
    of all fours so far.
    """
    total, four, place = 0.0, _0, _0
    for i in range(begin, end, _4):
        a = ratio[table_topics[i]] * table_values[i]
        b = a + ratio[table_topics[i + _1]] * table_values[i + _1]
        c = ratio[table_topics[i + _2]] * table_values[i + _2]
        d = c + ratio[table_topics[i + _3]] * table_values[i + _3]
        weights[place], weights[place + _1], weights[place + _2] = a, b, b + c
        total += b + d
        bounds[four] = total
        four, place = four + _1, place + _4
    return total


@inlined
def along_table(left, begin, end, table_topics, weights, bounds):
    """The topic at ``left`` along the terms of `above_floor`."""
    four, last = _0, (end - begin) // _4 - _1
    while four < last and left >= bounds[four]:
        four += _1
    if four > _0:
        left -= bounds[four - _1]
    place = _4 * four
    a, b, c = np.uint64(left >= weights[place]), left >= weights[place + _1], left >= weights[place + _2]
    return np.uint64(table_topics[begin + place + a + np.uint64(b) + np.uint64(c)])


@inlined
def of_the_mates(token, begin, end, topics, ratio):
    """The first part of the sum, ``sum_k ratio_k n_dwk``: the ratios of the topics of the word's other tokens."""
    total = 0.0
    for mate in range(begin, end):
        if mate != token:
            total += ratio[topics[mate]]
    return total


@inlined
def along_mates(left, token, begin, end, topics, ratio):
    """The topic at ``left`` along the terms of `of_the_mates`."""
    k = np.uint64(topics[token])
    for mate in range(begin, end):
        if mate != token:
            k = np.uint64(topics[mate])
            left -= ratio[k]
            if left < 0.0:
                break
    return k


@inlined
def along_floor(left, ratio, floor, sixteens):
    """The topic at ``left`` along the third part of the sum, the terms ratio_k floor_k: first by sixteens."""
    sixteen, last = _0, np.uint64(len(sixteens) - 1)
    while sixteen < last and left >= sixteens[sixteen]:
        left -= sixteens[sixteen]
        sixteen += _1
    k = _16 * sixteen
    last = min(k + _16, np.uint64(len(floor))) - _1
    left -= ratio[k] * floor[k]
    while left >= 0.0 and k < last:
        k += _1
        left -= ratio[k] * floor[k]
    return k


@kernel
def sweep(documents, topics, urns, seed, sweep, start, stop):
    """Resample the topic of every token, one after the other, at the cost of the terms that are not zero.

    If a word has several tokens in a document, the terms of the topics in its table include n_dwk, are computed once,
    and change from token to token for two topics only; the few topics that the word has in the document without being
    in its table are kept in a separate list. Up to `_FEW` tokens it is faster to compute all terms for each token.
    """
    indptr, words, counts, first, keys = documents
    alpha, totals, floor, background, table_first, table_topics, table_values = urns
    n_topics = np.uint64(len(alpha))
    n_k, n_w, ratio = np.empty(n_topics), np.zeros(n_topics), np.empty(n_topics)
    weights, bounds = np.empty(n_topics + _3), np.empty((n_topics + _3) // _4)
    sixteens = np.empty((n_topics + _16 - _1) // _16)
    # Position of each topic in the table of the word, or in the list of those outside it, or neither.
    places, outside = np.full(n_topics, _NEITHER), np.empty(n_topics, dtype=np.uint64)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        first_token, token, last_cell = np.uint64(first[document]), np.uint64(first[document]), indptr[document + 1] - 1
        n_k[:] = 0.0
        for i in range(token, np.uint64(first[document + 1])):
            n_k[topics[i]] += 1.0
        rest = begin_ratios(n_k, alpha, totals, floor, ratio, sixteens)
        for cell in range(indptr[document], indptr[document + 1]):
            ahead = table_first[words[min(cell + _AHEAD, last_cell)]]
            prefetch(table_topics, ahead)
            prefetch(table_values, ahead)
            prefetch(background, words[min(cell + _AHEAD, last_cell)])
            begin, end = np.uint64(table_first[words[cell]]), np.uint64(table_first[words[cell] + 1])
            stop_token, q = token + np.uint64(counts[cell]), background[words[cell]]
            # A token that has the topic which the one before it was given leaves the counts as they were for that one.
            k, above, drawn = n_topics, 0.0, 0.0
            if counts[cell] <= _FEW:
                for own in range(token, stop_token):
                    old = np.uint64(topics[own])
                    if old != k:
                        if own > token:
                            rest += recount(k, 1.0, n_k, alpha, totals, floor, ratio, sixteens)
                        rest += recount(old, -1.0, n_k, alpha, totals, floor, ratio, sixteens)
                        above = above_floor(ratio, table_topics, table_values, begin, end, weights, bounds)
                        drawn = of_the_mates(own, token, stop_token, topics, ratio)
                    u = random.uniform(np.uint64(key), np.uint64(step), own - first_token)
                    left = (above + drawn + rest * q) * u
                    if left < above:
                        k = along_table(left, begin, end, table_topics, weights, bounds)
                    elif left < above + drawn:
                        k = along_mates(left - above, own, token, stop_token, topics, ratio)
                    else:
                        k = along_floor((left - above - drawn) / q, ratio, floor, sixteens)
                    topics[own] = k
                rest += recount(k, 1.0, n_k, alpha, totals, floor, ratio, sixteens)
                token = stop_token
                continue
            while end > begin and table_values[end - _1] == 0.0:
                end -= _1
            n_outside, home, stay, stays = _0, np.int64(_NEITHER), 0.0, False
            for i in range(begin, end):
                places[table_topics[i]] = i - begin
            for i in range(token, stop_token):
                k = np.uint64(topics[i])
                n_w[k] += 1.0
                if places[k] == _NEITHER:
                    places[k], outside[n_outside] = _OUTSIDE, k
                    n_outside += _1
            for i in range(begin, end):
                k = np.uint64(table_topics[i])
                weights[i - begin] = ratio[k] * (table_values[i] + n_w[k])
                above += weights[i - begin]
            for own in range(token, stop_token):
                old = np.uint64(topics[own])
                # Here that one must have kept its topic, because the previous topic comes first.
                if not stays or old != k:
                    if own > token:
                        rest += recount(k, 1.0, n_k, alpha, totals, floor, ratio, sixteens)
                        if home >= 0:
                            weights[home] = stay
                        n_w[k] += 1.0
                        if places[k] >= 0:
                            place = np.uint64(places[k])
                            weight = ratio[k] * (table_values[begin + place] + n_w[k])
                            above += weight - weights[place]
                            weights[place] = weight
                        elif places[k] == _NEITHER:
                            places[k], outside[n_outside] = _OUTSIDE, k
                            n_outside += _1
                    rest += recount(old, -1.0, n_k, alpha, totals, floor, ratio, sixteens)
                    n_w[old] -= 1.0
                    home, stay, drawn = places[old], 0.0, 0.0
                    if home >= 0:
                        stay = ratio[old] * (table_values[begin + np.uint64(home)] + n_w[old])
                        above += stay - weights[home]
                        # The previous topic is the likeliest: it comes first, and has no weight at its own position.
                        weights[home] = 0.0
                    for i in range(n_outside):
                        drawn += ratio[outside[i]] * n_w[outside[i]]
                u = random.uniform(np.uint64(key), np.uint64(step), own - first_token)
                left = (above + drawn + rest * q) * u
                if left < stay:
                    k = old
                elif left < above and end > begin:
                    i = begin
                    left -= stay + weights[_0]
                    while left >= 0.0 and i < end - _1:
                        i += _1
                        left -= weights[i - begin]
                    k = np.uint64(table_topics[i])
                elif left < above + drawn:
                    i = _0
                    left -= above + ratio[outside[i]] * n_w[outside[i]]
                    while left >= 0.0 and i < n_outside - _1:
                        i += _1
                        left -= ratio[outside[i]] * n_w[outside[i]]
                    k = outside[i]
                else:
                    k = along_floor((left - above - drawn) / q, ratio, floor, sixteens)
                stays = k == old
                topics[own] = k
            rest += recount(k, 1.0, n_k, alpha, totals, floor, ratio, sixteens)
            n_w[k], places[k] = 0.0, _NEITHER
            for i in range(begin, end):
                n_w[table_topics[i]] = 0.0
                places[table_topics[i]] = _NEITHER
            for i in range(n_outside):
                n_w[outside[i]] = 0.0
                places[outside[i]] = _NEITHER
            token = stop_token


@kernel
def log_joint(documents, topics, alpha, beta, totals, out, start, stop):
    """Log-probability of the words and topics of each document, [Doyle2009] eq. 3."""
    indptr, words, counts, first, _ = documents
    n_topics = len(alpha)
    alpha_total = alpha.sum()
    n_k, n_w = np.zeros(n_topics, dtype=np.int64), np.zeros(n_topics, dtype=np.int64)
    for document in range(start, stop):
        n_k[:] = 0
        token = first[document]
        total = -log_rising(alpha_total, 0, first[document + 1] - token)
        for cell in range(indptr[document], indptr[document + 1]):
            for i in range(token, token + counts[cell]):
                n_w[topics[i]] += 1
            for i in range(token, token + counts[cell]):
                k = topics[i]
                if n_w[k] > 0:
                    total += log_rising(beta[words[cell], k], 0, n_w[k])
                    n_k[k] += n_w[k]
                    n_w[k] = 0
            token += counts[cell]
        for k in range(n_topics):
            if n_k[k] > 0:
                total += log_rising(alpha[k], 0, n_k[k]) - log_rising(totals[k], 0, n_k[k])
        out[document] = total
