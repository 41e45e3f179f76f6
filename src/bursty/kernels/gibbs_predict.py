"""Probability of the next word of a document given the topics of its tokens.

    p(w | d) = sum_k (n_dk + alpha_k) / (n_d + sum_k alpha_k) * p(w | d, k)

with ``p(w | d, k) = phi_wk`` in LDA and ``(n_dwk + beta_wk) / (n_dk + s_k)`` in DCMLDA. Each kernel adds it to ``out``
for the cells of a second matrix whose rows are the same documents (``held_first``: index of the first cell of each,
``held_words``: their words). Every word is scored as if it came next. The other names are those of `gibbs_dcmlda`.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import random, streams
from bursty.kernels.compile import kernel


@kernel
def hold_out(documents, seed, out, start, stop):
    """Choose half of the tokens of each document at random (rounded down), and count them per cell.

    Each token in turn is chosen with probability (still to choose) / (still to come), which makes all choices of that
    many tokens equally likely.
    """
    indptr, _, counts, first, keys = documents
    for document in range(start, stop):
        key, step = random.stream(seed, streams.HELD, keys[document])
        to_come, draw = first[document + 1] - first[document], 0
        to_choose = to_come // 2
        for cell in range(indptr[document], indptr[document + 1]):
            out[cell] = 0
            for _ in range(counts[cell]):
                if to_come * random.uniform(np.uint64(key), np.uint64(step), draw) < to_choose:
                    out[cell] += 1
                    to_choose -= 1
                to_come -= 1
                draw += 1


@kernel
def dcmlda(documents, topics, urns, held_first, held_words, out, start, stop):
    """The sum in the three parts of `gibbs_dcmlda.sweep`: the table, the word's own tokens, the floor."""
    indptr, words, counts, first, _ = documents
    alpha, totals, floor, background, table_first, table_topics, table_values = urns
    n_topics, alpha_total = len(alpha), alpha.sum()
    ratio = np.empty(n_topics)
    for document in range(start, stop):
        length = first[document + 1] - first[document]
        ratio[:] = 0.0
        for token in range(first[document], first[document + 1]):
            ratio[topics[token]] += 1.0
        rest = 0.0
        for k in range(n_topics):
            ratio[k] = (ratio[k] + alpha[k]) / (ratio[k] + totals[k])
            rest += ratio[k] * floor[k]
        cell, token, last = indptr[document], first[document], indptr[document + 1]
        for place in range(held_first[document], held_first[document + 1]):
            word = held_words[place]
            while cell < last and words[cell] < word:
                token += counts[cell]
                cell += 1
            total = rest * background[word]
            for i in range(table_first[word], table_first[word + 1]):
                total += ratio[table_topics[i]] * table_values[i]
            if cell < last and words[cell] == word:
                for i in range(token, token + counts[cell]):
                    total += ratio[topics[i]]
            out[place] += total / (length + alpha_total)


@kernel
def lda(documents, topics, shared, held_first, held_words, out, start, stop):
    """The mixture of the topics' word probabilities."""
    _, _, _, first, _ = documents
    alpha, phi, _ = shared
    n_topics, alpha_total = len(alpha), alpha.sum()
    share = np.empty(n_topics)
    for document in range(start, stop):
        share[:] = alpha
        for token in range(first[document], first[document + 1]):
            share[topics[token]] += 1.0
        for place in range(held_first[document], held_first[document + 1]):
            row = phi[held_words[place]]
            total = 0.0
            for k in range(n_topics):
                total += share[k] * row[k]
            out[place] += total / (first[document + 1] - first[document] + alpha_total)
