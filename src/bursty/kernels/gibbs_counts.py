"""Layout of tokens and topics for the kernels of topic models, and counts of topics by document, word and level.

A *level* is a word and its count within a document.

Tokens are stored one after the other: documents in order, words in order within a document, and all tokens of a word
together. A *cell* is a distinct word of a document.

| name | what | shape |
|---|---|---|
| indptr, words, counts | the cells of the documents, as in a sparse matrix | D + 1, cells, cells |
| keys | the key of the random stream of each document | D |
| first | index of the first token of each document | D + 1 |
| cell_first | index of the first token of each cell | cells + 1 |
| topics | the topic of each token | tokens |
| by_word | the cells word by word, see `order_by_word` | W + 1, W, cells, cells |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bursty.kernels.compile import inlined, kernel
from bursty.typing import Array

# Values below this are counted, the few others are sorted.
_FEW = 1024


class DocumentArrays(NamedTuple):
    """The documents, as every kernel receives them."""

    indptr: Array
    words: Array
    counts: Array
    first: Array
    keys: Array


class ByWord(NamedTuple):
    """The cells word by word: where those of each word begin, where its larger ones do, first tokens, sizes."""

    starts: Array
    larger: Array
    places: Array
    sizes: Array


@kernel
def by_document(first, topics, out, start, stop):
    """Number of tokens of each topic in each document: ``out[d] = np.bincount(topics[first[d]:first[d + 1]])``."""
    for document in range(start, stop):
        out[document] = 0
        for token in range(first[document], first[document + 1]):
            out[document, topics[token]] += 1


@kernel
def by_value(counts, values, weights, sizes, start, stop):
    """The positive values in columns ``start`` to ``stop``, in order, and the number of rows with each.

    Equivalent to ``np.unique(counts[:, k], return_counts=True)`` without 0. Those of column k are ``sizes[k]`` from
    ``k * len(counts)`` on.
    """
    n_rows = counts.shape[0]
    with_value, large = np.zeros(_FEW), np.empty(n_rows, dtype=np.int64)
    for k in range(start, stop):
        n_large, most, end = 0, 0, k * n_rows
        for row in range(n_rows):
            value = np.int64(counts[row, k])
            if value >= _FEW:
                large[n_large] = value
                n_large += 1
            elif value > 0:
                with_value[value] += 1.0
                most = max(most, value)
        for value in range(1, most + 1):
            if with_value[value] > 0.0:
                values[end], weights[end] = value, with_value[value]
                with_value[value] = 0.0
                end += 1
        large[:n_large].sort()
        for i in range(n_large):
            if i == 0 or large[i] > large[i - 1]:
                values[end], weights[end] = large[i], 0.0
                end += 1
            weights[end - 1] += 1.0
        sizes[k] = end - k * n_rows


@kernel
def add_by_cell(cell_first, topics, out, start, stop):
    """Count tokens by cell and topic: ``out[c] += np.bincount(topics[cell_first[c]:cell_first[c + 1]])``."""
    for cell in range(start, stop):
        for token in range(cell_first[cell], cell_first[cell + 1]):
            out[cell, topics[token]] += 1


@kernel
def order_by_word(words, counts, n_words, places, sizes):
    """The cells word by word, those of one token first: where those of each word begin, and where its larger ones do.

    ``places`` and ``sizes`` receive the first token and the number of tokens of each cell. The fields of `ByWord`.
    """
    starts, larger = np.zeros(n_words + 1, dtype=np.int64), np.zeros(n_words, dtype=np.int64)
    for cell in range(len(words)):
        starts[words[cell] + 1] += 1
        larger[words[cell]] += counts[cell] == 1
    for word in range(n_words):
        starts[word + 1] += starts[word]
        larger[word] += starts[word]
    next_single, next_larger, token = starts[:-1].copy(), larger.copy(), np.int64(0)
    for cell in range(len(words)):
        word = words[cell]
        if counts[cell] == 1:
            place = next_single[word]
            next_single[word] += 1
        else:
            place = next_larger[word]
            next_larger[word] += 1
        places[place], sizes[place] = token, counts[cell]
        token += counts[cell]
    return starts, larger


@kernel
def by_word(by_word, topics, out, start, stop):
    """Number of tokens of each word and topic: W x K. Equivalent to ``np.add.at(out, (word of token, topics), 1)``."""
    starts, larger, places, sizes = by_word
    for word in range(start, stop):
        row = out[word]
        row[:] = 0
        # Unsigned, so that compiled code need not check indices for a sign.
        for i in range(np.uint64(starts[word]), np.uint64(larger[word])):
            row[topics[np.uint64(places[i])]] += 1
        for i in range(np.uint64(larger[word]), np.uint64(starts[word + 1])):
            for token in range(np.uint64(places[i]), np.uint64(places[i] + sizes[i])):
                row[topics[token]] += 1


@kernel
def tally_parts(by_word, topics, n_topics, first, codes, weights, n_levels, start, stop):
    """For each word, the levels (k, v) and the number of documents with exactly v tokens of the word in topic k.

    Levels are numbers ``k << 32 | v``, sorted; those of a word begin at ``first``, and their number is in ``n_levels``.
    """
    starts, larger, places, sizes = by_word
    n_w, ones = np.zeros(n_topics, dtype=np.int64), np.zeros(n_topics)
    for word in range(start, stop):
        begin = end = first[word]
        for i in range(np.uint64(starts[word]), np.uint64(larger[word])):
            end = _add_one(np.int64(topics[np.uint64(places[i])]), ones, codes, end)
        for i in range(larger[word], starts[word + 1]):
            token, stop_token = places[i], places[i] + sizes[i]
            for place in range(token, stop_token):
                n_w[topics[place]] += 1
            for place in range(token, stop_token):
                k = np.int64(topics[place])
                if n_w[k] == 1:
                    end = _add_one(k, ones, codes, end)
                elif n_w[k] > 1:
                    codes[end] = (k << 32) | n_w[k]
                    end += 1
                n_w[k] = 0
        codes[begin:end].sort()
        n_levels[word] = _fold(codes, weights, ones, begin, end)


@kernel
def list_levels(first, codes, weights, n_topics, out_first, items, values, out, start, stop):
    """The levels of `tally_parts` without gaps: items ``word * n_topics + k``, values and weights."""
    for word in range(start, stop):
        begin = first[word] - out_first[word]
        for place in range(out_first[word], out_first[word + 1]):
            code = codes[begin + place]
            items[place], values[place] = word * n_topics + (code >> 32), code & 0xFFFFFFFF
            out[place, 0] = weights[begin + place]


@inlined
def _add_one(k, ones, codes, end):
    """Count a document with one token in the topic, whose level is listed once; returns the end of the list."""
    codes[end] = (k << 32) | 1
    end += ones[k] == 0.0
    ones[k] += 1.0
    return end


@kernel
def _fold(codes, weights, ones, begin, end):
    """Count equal neighbours of a sorted list in place, and merge the ``ones``; returns the number that is left."""
    place = begin - 1
    for i in range(begin, end):
        if i > begin and codes[i] == codes[place]:
            weights[place] += 1.0
            continue
        place += 1
        codes[place] = codes[i]
        weights[place] = 1.0
        if codes[i] & 0xFFFFFFFF == 1:
            weights[place] = ones[codes[i] >> 32]
            ones[codes[i] >> 32] = 0.0
    return place + 1 - begin


@kernel
def token_codes(first, indices, values, out, start, stop):
    """Codes of the tokens of cells ``start`` to ``stop`` for `kernels.cuda.gibbs`; ``first`` is their first token.

    4 times the word, plus 0 for the only token of a cell, 1 for the first of several and 2 for the others.
    """
    for cell in range(start, stop):
        code, begin = 4 * indices[cell], first[cell]
        out[begin] = code + (values[cell] > 1)
        for token in range(begin + 1, begin + values[cell]):
            out[token] = code + 2
