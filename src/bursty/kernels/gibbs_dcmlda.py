"""Collapsed Gibbs sweeps of DCMLDA: the topic of a token given all others of its document.

    p(z = k) in proportion to (n_dk + alpha_k) / (n_dk + s_k) * (n_dwk + beta_wk)         [Doyle2009] section 3

with counts that leave the token out. Only the document's own counts occur, so documents are independent.

`sweep_dense` is that formula. `sweep_sparse` adds up the same weights in three parts and visits only what is not zero:

    ratio_k n_dwk    topics that the document already gave the word
    ratio_k b_wk     topics whose parameter for the word stands above their floor, beta_wk = floor_k + b_wk
    ratio_k floor_k  all topics, one sum kept up to date as counts change

with ratio_k = (n_dk + alpha_k) / (n_dk + s_k).

| name | what | shape |
|---|---|---|
| indptr, words, counts | the documents' cells, as in a sparse matrix | D + 1, cells, cells |
| first | where the tokens of each document begin | D + 1 |
| topics | the topic of each token, changed in place | tokens |
| alpha, totals, floor | alpha, s, the least beta of each topic | K |
| beta | W x K | |
| table_first, table_topics, table_values | the pairs (k, b_wk) of each word, largest first | W + 1, n, n |
| keys | the number that names each document's random stream | D |
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import kernel
from bursty.kernels.polya import log_rising

_NEITHER, _OUTSIDE = -2, -1


@kernel
def conditional(n_k, n_w, alpha, beta_row, totals, out):
    """Weights of the topics of a token, and their sum; the counts leave the token out."""
    total = 0.0
    for k in range(len(alpha)):
        out[k] = (n_k[k] + alpha[k]) / (n_k[k] + totals[k]) * (n_w[k] + beta_row[k])
        total += out[k]
    return total


@kernel
def sweep_dense(indptr, words, counts, first, topics, alpha, beta, totals, seed, sweep, keys, start, stop):
    """Draw every token's topic anew, one after the other."""
    n_topics = len(alpha)
    n_k, n_w, weights = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        token = first[document]
        n_k[:] = 0.0
        for i in range(token, first[document + 1]):
            n_k[topics[i]] += 1.0
        for cell in range(indptr[document], indptr[document + 1]):
            n_w[:] = 0.0
            for i in range(token, token + counts[cell]):
                n_w[topics[i]] += 1.0
            for _ in range(counts[cell]):
                n_k[topics[token]] -= 1.0
                n_w[topics[token]] -= 1.0
                total = conditional(n_k, n_w, alpha, beta[words[cell]], totals, weights)
                left = total * random.uniform(np.uint64(key), np.uint64(step), token - first[document])
                k = 0
                while k < n_topics - 1 and left >= weights[k]:
                    left -= weights[k]
                    k += 1
                topics[token] = k
                n_k[k] += 1.0
                n_w[k] += 1.0
                token += 1


@kernel
def build_table(beta, floor, table_first, table_topics, table_values, start, stop):
    """For each word the topics whose beta is above their floor, and by how much, largest first."""
    for word in range(start, stop):
        begin, end = table_first[word], table_first[word]
        for k in range(len(floor)):
            value = beta[word, k] - floor[k]
            if value > 0.0:
                place = end
                while place > begin and table_values[place - 1] < value:
                    table_values[place], table_topics[place] = table_values[place - 1], table_topics[place - 1]
                    place -= 1
                table_values[place], table_topics[place] = value, k
                end += 1


@kernel
def above_floor(ratio, table_topics, table_values, begin, end, weights):
    """The second part of the sum: its terms go to ``weights``, equivalent to ``ratio[topics] * values``."""
    total = 0.0
    for i in range(begin, end):
        weight = ratio[table_topics[i]] * table_values[i]
        weights[i - begin] = weight
        total += weight
    return total


@kernel
def sweep_sparse(
    indptr,
    words,
    counts,
    first,
    topics,
    alpha,
    totals,
    floor,
    table_first,
    table_topics,
    table_values,
    seed,
    sweep,
    keys,
    start,
    stop,
):
    """The same draw as `sweep_dense`, in distribution, at the cost of the terms that are not zero.

    Where a word has several tokens in a document, the terms of the topics in its table take in n_dwk, are computed
    once, and change from token to token for two topics only; the few topics that the document gave the word though
    they are not in its table are kept in a list of their own.
    """
    n_topics = len(alpha)
    n_k, n_w, ratio, weights = np.empty(n_topics), np.zeros(n_topics), np.empty(n_topics), np.empty(n_topics)
    # Where each topic is in the word's table; in the list of those outside it; or neither.
    places, outside = np.full(n_topics, _NEITHER), np.empty(n_topics, dtype=np.int64)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        token = first[document]
        n_k[:] = 0.0
        for i in range(token, first[document + 1]):
            n_k[topics[i]] += 1.0
        rest = 0.0
        for k in range(n_topics):
            ratio[k] = (n_k[k] + alpha[k]) / (n_k[k] + totals[k])
            rest += ratio[k] * floor[k]
        for cell in range(indptr[document], indptr[document + 1]):
            begin, end, several = table_first[words[cell]], table_first[words[cell] + 1], counts[cell] > 1
            n_outside, drawn, above, home, stay = 0, 0.0, 0.0, _NEITHER, 0.0
            if several:
                for i in range(begin, end):
                    places[table_topics[i]] = i - begin
                for i in range(token, token + counts[cell]):
                    k = topics[i]
                    n_w[k] += 1.0
                    if places[k] == _NEITHER:
                        places[k] = _OUTSIDE
                        outside[n_outside] = k
                        n_outside += 1
                for i in range(begin, end):
                    k = table_topics[i]
                    weights[i - begin] = ratio[k] * (table_values[i] + n_w[k])
                    above += weights[i - begin]
            for _ in range(counts[cell]):
                old = topics[token]
                with_token = ratio[old]
                n_k[old] -= 1.0
                ratio[old] = (n_k[old] + alpha[old]) / (n_k[old] + totals[old])
                rest += (ratio[old] - with_token) * floor[old]
                if several:
                    n_w[old] -= 1.0
                    home, stay = places[old], 0.0
                    if home >= 0:
                        stay = ratio[old] * (table_values[begin + home] + n_w[old])
                        above += stay - weights[home]
                        # The topic it had is the likeliest: it comes first, and has no weight in its place.
                        weights[home] = 0.0
                    drawn = 0.0
                    for i in range(n_outside):
                        drawn += ratio[outside[i]] * n_w[outside[i]]
                else:
                    above = above_floor(ratio, table_topics, table_values, begin, end, weights)
                left = (above + drawn + rest) * random.uniform(np.uint64(key), np.uint64(step), token - first[document])
                if left < stay:
                    k = old + 0
                elif left < above and end > begin:
                    place = 0
                    left -= stay + weights[0]
                    while left >= 0.0 and place < end - begin - 1:
                        place += 1
                        left -= weights[place]
                    k = table_topics[begin + place] + 0
                elif left < above + drawn:
                    place = 0
                    left -= above + ratio[outside[0]] * n_w[outside[0]]
                    while left >= 0.0 and place < n_outside - 1:
                        place += 1
                        left -= ratio[outside[place]] * n_w[outside[place]]
                    k = outside[place]
                else:
                    k = 0
                    left -= above + drawn + ratio[0] * floor[0]
                    while left >= 0.0 and k < n_topics - 1:
                        k += 1
                        left -= ratio[k] * floor[k]
                without = ratio[k]
                n_k[k] += 1.0
                ratio[k] = with_token if k == old else (n_k[k] + alpha[k]) / (n_k[k] + totals[k])
                rest += (ratio[k] - without) * floor[k]
                if several:
                    if home >= 0:
                        weights[home] = stay
                    n_w[k] += 1.0
                    place = places[k]
                    if place >= 0:
                        weight = ratio[k] * (table_values[begin + place] + n_w[k])
                        above += weight - weights[place]
                        weights[place] = weight
                    elif place == _NEITHER:
                        places[k] = _OUTSIDE
                        outside[n_outside] = k
                        n_outside += 1
                topics[token] = k
                token += 1
            if several:
                for i in range(begin, end):
                    n_w[table_topics[i]] = 0.0
                    places[table_topics[i]] = _NEITHER
                for i in range(n_outside):
                    n_w[outside[i]] = 0.0
                    places[outside[i]] = _NEITHER


@kernel
def log_joint(indptr, words, counts, first, topics, alpha, beta, totals, out, start, stop):
    """Log-probability of each document's words and topics, [Doyle2009] eq. 3."""
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
