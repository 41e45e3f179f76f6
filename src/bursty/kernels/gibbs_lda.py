"""Gibbs sweeps of LDA with the topics' word probabilities given and the documents' topic mixtures integrated out.

    p(z = k) in proportion to (n_dk + alpha_k) phi_wk

with counts that leave the token out. Only the document's own counts occur, so documents are independent. The sum has
two parts: ``sum_k alpha_k phi_wk``, the same for every token of a word (``smooth``), and ``sum_k n_dk phi_wk``, over
the topics the document has.

Names and shapes are those of `gibbs_dcmlda`; ``phi`` is W x K, ``smooth`` is ``phi @ alpha``.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import kernel
from bursty.kernels.polya import log_rising


@kernel
def sweep(indptr, words, counts, first, topics, alpha, phi, smooth, seed, sweep, keys, start, stop):
    """Draw every token's topic anew, one after the other.

    The terms of the sum over the document's topics are computed once for each word; from token to token of the same
    word only those of the two topics whose counts change.
    """
    n_topics = len(alpha)
    n_k, weights = np.zeros(n_topics), np.empty(n_topics)
    # The topics of the document, in no particular order, and where in that list each stands.
    present, places = np.empty(n_topics, dtype=np.int64), np.empty(n_topics, dtype=np.int64)
    for document in range(start, stop):
        key, step = random.stream(seed, sweep, keys[document])
        token, n_present = first[document], 0
        for i in range(token, first[document + 1]):
            k = topics[i]
            if n_k[k] == 0.0:
                present[n_present], places[k] = k, n_present
                n_present += 1
            n_k[k] += 1.0
        for cell in range(indptr[document], indptr[document + 1]):
            row = phi[words[cell]]
            drawn = 0.0
            for i in range(n_present):
                weights[i] = n_k[present[i]] * row[present[i]]
                drawn += weights[i]
            for _ in range(counts[cell]):
                k = topics[token]
                n_k[k] -= 1.0
                weights[places[k]] -= row[k]
                drawn -= row[k]
                if n_k[k] == 0.0:
                    n_present -= 1
                    last = present[n_present]
                    weights[places[k]] = weights[n_present]
                    present[places[k]], places[last] = last, places[k]
                left = (max(drawn, 0.0) + smooth[words[cell]]) * random.uniform(
                    np.uint64(key), np.uint64(step), token - first[document]
                )
                if left < drawn and n_present > 0:
                    place = 0
                    left -= weights[0]
                    while left >= 0.0 and place < n_present - 1:
                        place += 1
                        left -= weights[place]
                    k = present[place]
                else:
                    k = _from_prior(left - max(drawn, 0.0), alpha, row)
                if n_k[k] == 0.0:
                    present[n_present], places[k] = k, n_present
                    weights[n_present] = 0.0
                    n_present += 1
                n_k[k] += 1.0
                weights[places[k]] += row[k]
                drawn += row[k]
                topics[token] = k
                token += 1
        for i in range(n_present):
            n_k[present[i]] = 0.0


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
