"""Gibbs moves of many tokens at once, for chains that move poorly one token at a time.

If alpha is small, a document keeps its topics: a single token that leaves its topic is penalised, even if all tokens of
the topic together fit another one better. And if a word comes in a burst, its tokens hold each other. Therefore, after
a sweep,

- `relabel`: all tokens of one topic in a document move to another topic that it does not have;
- `regroup`: all tokens of one word and topic in a document move to another topic that the word does not have there.

Each is a draw from the conditional distribution of the topic of the block given everything else. The set of topics that
the block may have is the same before and after, so that the posterior distribution is invariant. Blocks neither split
nor merge here; sweeps do that.

    relabel    p(k) in proportion to prod_{i < n} (alpha_k + i) / (s_k + i) * prod_w (beta_wk)(beta_wk + 1) ...
    regroup    p(k) in proportion to prod_{i < c} (n_dk + alpha_k + i) / (n_dk + s_k + i) * (beta_wk + i)

with n tokens of the topic, c tokens of the word in it, and counts that exclude the block. In LDA there is no s, and
phi_wk replaces beta_wk + i; there, the tokens of one word move as easily one by one.

`begin` starts a chain over a new document: from a random word on, the tokens receive topics one after the other, each
drawn given the previous ones. This is a far better start than random topics.

Names are those of `gibbs_dcmlda`.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import inlined, kernel

# Larger blocks practically never move.
LARGEST = 256
# Weights are products of many factors below 1: after this many factors, they are divided by the largest weight.
_OFTEN = 8


@inlined
def _rescale(weights):
    """Divide by the largest, so that products of small factors do not underflow."""
    largest = 0.0
    for k in range(len(weights)):
        largest = max(largest, weights[k])
    if largest > 0.0:
        for k in range(len(weights)):
            weights[k] /= largest


@inlined
def _draw(weights, u, stay):
    """The index at u (uniform on [0, 1)) along the weights; ``stay`` if their sum is not positive."""
    total = 0.0
    for k in range(len(weights)):
        total += weights[k]
    left, chosen = total * u, stay
    for k in range(len(weights)):
        if weights[k] > 0.0:
            chosen = k
            left -= weights[k]
            if left < 0.0:
                break
    return chosen


@inlined
def _list_topics(topics, begin, end, n_k, blocks):
    """Count the tokens of each topic; ``blocks`` receives the topics in order of occurrence. Returns their number."""
    n_k[:] = 0
    n_blocks = 0
    for token in range(begin, end):
        k = topics[token]
        if n_k[k] == 0:
            blocks[n_blocks] = k
            n_blocks += 1
        n_k[k] += 1
    return n_blocks


@inlined
def _open_to(n_k, own, weights):
    """Weight 1 for the topic of the block and for those that the document does not have, 0 for the others."""
    for k in range(len(weights)):
        weights[k] = 1.0 if n_k[k] == 0 or k == own else 0.0


@inlined
def _rename(topics, begin, end, old, new, n_k):
    """Move all tokens of one topic to another, and count them there."""
    if new != old:
        for token in range(begin, end):
            if topics[token] == old:
                topics[token] = new
        n_k[new], n_k[old] = n_k[old], 0


@kernel
def relabel(documents, topics, alpha, beta, totals, seed, number, start, stop):
    """Each topic of each document may become another that the document does not have.

    In LDA, beta is phi and ``totals`` is None, which Numba takes into account when it compiles.
    """
    indptr, words, counts, first, keys = documents
    n_topics = len(alpha)
    n_k, blocks = np.empty(n_topics, dtype=np.int64), np.empty(n_topics, dtype=np.int64)
    weights, ratios = np.empty(n_topics), np.empty((LARGEST, n_topics))
    if totals is not None:
        for i in range(LARGEST):
            for k in range(n_topics):
                ratios[i, k] = (alpha[k] + i) / (totals[k] + i)
    for document in range(start, stop):
        key, step = random.stream(seed, number, keys[document])
        begin, end = first[document], first[document + 1]
        for block in range(_list_topics(topics, begin, end, n_k, blocks)):
            own = blocks[block]
            if n_k[own] > LARGEST:
                continue
            _open_to(n_k, own, weights)
            i, token = 0, begin
            for cell in range(indptr[document], indptr[document + 1]):
                row, again = beta[words[cell]], 0.0
                for _ in range(counts[cell]):
                    if topics[token] == own:
                        for k in range(n_topics):
                            if totals is None:
                                weights[k] *= (alpha[k] + i) * row[k]
                            else:
                                weights[k] *= ratios[i, k] * (row[k] + again)
                        i += 1
                        again += 1.0
                        if i % _OFTEN == 0:
                            _rescale(weights)
                    token += 1
            u = random.uniform(np.uint64(key), np.uint64(step), block)
            _rename(topics, begin, end, own, _draw(weights, u, own), n_k)


@kernel
def regroup(documents, topics, urns, seed, number, start, stop):
    """The tokens of a word and topic in a document may move to another topic that the word does not have there.

    Both topics must be in the table of the word; topics that have the word at their floor are left to sweeps.
    """
    indptr, words, counts, first, keys = documents
    alpha, totals, floor, background, table_first, table_topics, table_values = urns
    n_topics = len(alpha)
    n_k, blocks = np.empty(n_topics, dtype=np.int64), np.empty(n_topics, dtype=np.int64)
    n_w, weights = np.zeros(n_topics, dtype=np.int64), np.empty(n_topics)
    for document in range(start, stop):
        key, step = random.stream(seed, number, keys[document])
        draw, token = 0, first[document]
        _list_topics(topics, token, first[document + 1], n_k, blocks)
        for cell in range(indptr[document], indptr[document + 1]):
            begin, end = token, token + counts[cell]
            token = end
            if counts[cell] < 2:
                continue
            low, high, q = table_first[words[cell]], table_first[words[cell] + 1], background[words[cell]]
            while high > low and table_values[high - 1] == 0.0:
                high -= 1
            n_blocks = _list_topics(topics, begin, end, n_w, blocks)
            for block in range(n_blocks):
                own, size = blocks[block], n_w[blocks[block]]
                if size < 2 or size > LARGEST:
                    continue
                n_k[own] -= size
                home = -1
                for place in range(low, high):
                    k = table_topics[place]
                    weight = 0.0
                    if n_w[k] == 0 or k == own:
                        weight = table_values[place] + floor[k] * q
                    if k == own:
                        home = place - low
                    weights[place - low] = weight
                u = random.uniform(np.uint64(key), np.uint64(step), draw)
                draw += 1
                new = own
                if home >= 0:
                    own_weights = weights[: high - low]
                    for i in range(size):
                        for place in range(low, high):
                            k = table_topics[place]
                            ratio = (n_k[k] + alpha[k] + i) / (n_k[k] + totals[k] + i)
                            again = 1.0
                            if i > 0:
                                again = table_values[place] + floor[k] * q + i
                            own_weights[place - low] *= ratio * again
                        if i % _OFTEN == _OFTEN - 1:
                            _rescale(own_weights)
                    new = np.int64(table_topics[low + _draw(own_weights, u, home)])
                n_k[new] += size
                _rename(topics, begin, end, own, new, n_w)


@inlined
def _first_cell(indptr, document, u):
    """A cell of the document, drawn by u (uniform on [0, 1))."""
    return indptr[document] + np.int64(u * (indptr[document + 1] - indptr[document]))


@kernel
def begin(documents, topics, alpha, beta, totals, seed, number, start, stop):
    """Topics of all tokens, each drawn given the previous ones; LDA as in `relabel`."""
    indptr, words, counts, first, keys = documents
    n_topics = len(alpha)
    n_k, n_w, weights = np.empty(n_topics), np.zeros(n_topics), np.empty(n_topics)
    for document in range(start, stop):
        key, step = random.stream(seed, number, keys[document])
        n_cells, length = indptr[document + 1] - indptr[document], first[document + 1] - first[document]
        cell = _first_cell(indptr, document, random.uniform(np.uint64(key), np.uint64(step), length))
        token = first[document]
        for i in range(indptr[document], cell):
            token += counts[i]
        n_k[:] = 0.0
        for _ in range(n_cells):
            row = beta[words[cell]]
            if totals is not None:
                n_w[:] = 0.0
            for _ in range(counts[cell]):
                for k in range(n_topics):
                    if totals is None:
                        weights[k] = (n_k[k] + alpha[k]) * row[k]
                    else:
                        weights[k] = (n_k[k] + alpha[k]) / (n_k[k] + totals[k]) * (n_w[k] + row[k])
                u = random.uniform(np.uint64(key), np.uint64(step), token - first[document])
                k = _draw(weights, u, 0)
                topics[token] = k
                n_k[k] += 1.0
                n_w[k] += 1.0
                token += 1
            cell += 1
            if cell == indptr[document + 1]:
                cell, token = indptr[document], first[document]
