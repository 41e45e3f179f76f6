"""Likelihood of a new document, word after word from left to right (Wallach et al. 2009, algorithm 3).

    log p(w) = sum_n log p(w_n | w_<n),    p(w_n | w_<n) about the mean over particles of sum_k p(w_n, z_n = k | z_<n)

A particle holds topics of the words so far. Before each new word it renews topics of earlier ones (``n_moves`` of them,
chosen at random, or all where there are no more), then draws one for the new word. Documents are bags, so their words
are taken in a random order of their own.

``first``, ``keys`` and the other names are those of `gibbs_dcmlda`.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import kernel
from bursty.kernels.gibbs_dcmlda import conditional

# The stream a document's order is drawn from; particles use 0, 1, 2, ...
_ORDER = 2**41


@kernel
def _shuffled_cells(indptr, counts, document, seed, key_of_document, cells):
    """The cell (counted from the document's first) of each token, in a random order."""
    token = 0
    for cell in range(indptr[document], indptr[document + 1]):
        for _ in range(counts[cell]):
            cells[token] = cell - indptr[document]
            token += 1
    key, step = random.stream(seed, _ORDER, key_of_document)
    for i in range(token - 1, 0, -1):
        j = int((i + 1) * random.uniform(np.uint64(key), np.uint64(step), i))
        cells[i], cells[j] = cells[j], cells[i]


@kernel
def _pick(weights, left):
    """Where ``left`` falls along the weights."""
    k = 0
    while k < len(weights) - 1 and left >= weights[k]:
        left -= weights[k]
        k += 1
    return k


@kernel
def dcmlda(indptr, words, counts, first, alpha, beta, totals, seed, keys, n_particles, n_moves, out, start, stop):
    """Estimated log-likelihood of each document under DCMLDA."""
    n_topics, alpha_total = len(alpha), alpha.sum()
    weights, n_k = np.empty(n_topics), np.empty(n_topics)
    for document in range(start, stop):
        begin, length = indptr[document], first[document + 1] - first[document]
        cells, topics = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
        sums = np.zeros(length)
        n_w = np.empty((indptr[document + 1] - begin, n_topics))
        _shuffled_cells(indptr, counts, document, seed, keys[document], cells)
        for particle in range(n_particles):
            key, step = random.stream(seed, particle, keys[document])
            draw = 0
            n_k[:] = 0.0
            n_w[:] = 0.0
            for n in range(length):
                for move in range(min(n, n_moves)):
                    i = move
                    if n > n_moves:
                        i = int(n * random.uniform(np.uint64(key), np.uint64(step), draw))
                        draw += 1
                    n_k[topics[i]] -= 1.0
                    n_w[cells[i], topics[i]] -= 1.0
                    total = conditional(n_k, n_w[cells[i]], alpha, beta[words[begin + cells[i]]], totals, weights)
                    k = _pick(weights, total * random.uniform(np.uint64(key), np.uint64(step), draw))
                    draw += 1
                    topics[i] = k
                    n_k[k] += 1.0
                    n_w[cells[i], k] += 1.0
                total = conditional(n_k, n_w[cells[n]], alpha, beta[words[begin + cells[n]]], totals, weights)
                sums[n] += total / (n + alpha_total)
                k = _pick(weights, total * random.uniform(np.uint64(key), np.uint64(step), draw))
                draw += 1
                topics[n] = k
                n_k[k] += 1.0
                n_w[cells[n], k] += 1.0
        result = 0.0
        for n in range(length):
            result += math.log(sums[n] / n_particles)
        out[document] = result


@kernel
def _lda_weights(n_k, alpha, row, out):
    total = 0.0
    for k in range(len(alpha)):
        out[k] = (n_k[k] + alpha[k]) * row[k]
        total += out[k]
    return total


@kernel
def lda(indptr, words, counts, first, alpha, phi, seed, keys, n_particles, n_moves, out, start, stop):
    """Estimated log-likelihood of each document under LDA with given word probabilities."""
    n_topics, alpha_total = len(alpha), alpha.sum()
    weights, n_k = np.empty(n_topics), np.empty(n_topics)
    for document in range(start, stop):
        begin, length = indptr[document], first[document + 1] - first[document]
        cells, topics = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
        sums = np.zeros(length)
        _shuffled_cells(indptr, counts, document, seed, keys[document], cells)
        for particle in range(n_particles):
            key, step = random.stream(seed, particle, keys[document])
            draw = 0
            n_k[:] = 0.0
            for n in range(length):
                for move in range(min(n, n_moves)):
                    i = move
                    if n > n_moves:
                        i = int(n * random.uniform(np.uint64(key), np.uint64(step), draw))
                        draw += 1
                    n_k[topics[i]] -= 1.0
                    total = _lda_weights(n_k, alpha, phi[words[begin + cells[i]]], weights)
                    k = _pick(weights, total * random.uniform(np.uint64(key), np.uint64(step), draw))
                    draw += 1
                    topics[i] = k
                    n_k[k] += 1.0
                total = _lda_weights(n_k, alpha, phi[words[begin + cells[n]]], weights)
                sums[n] += total / (n + alpha_total)
                k = _pick(weights, total * random.uniform(np.uint64(key), np.uint64(step), draw))
                draw += 1
                topics[n] = k
                n_k[k] += 1.0
        result = 0.0
        for n in range(length):
            result += math.log(sums[n] / n_particles)
        out[document] = result
