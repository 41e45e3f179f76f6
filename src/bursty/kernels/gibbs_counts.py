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
| starts, cells | index of the first cell of each word; the cells, word by word | W + 1; cells |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bursty.kernels.compile import kernel

Array = np.ndarray[Any, Any]


class Documents(NamedTuple):
    """The documents, as every kernel receives them."""

    indptr: Array
    words: Array
    counts: Array
    first: Array
    keys: Array


@kernel
def by_document(first, topics, out, start, stop):
    """Number of tokens of each topic in each document: ``out[d] = np.bincount(topics[first[d]:first[d + 1]])``."""
    for document in range(start, stop):
        out[document] = 0
        for token in range(first[document], first[document + 1]):
            out[document, topics[token]] += 1


@kernel
def by_value(counts, out, start, stop):
    """Add the number of rows with each value in each column: ``out[k] += np.bincount(counts[:, k])``."""
    for row in range(len(counts)):
        for k in range(start, stop):
            out[k, counts[row, k]] += 1


@kernel
def add_by_cell(cell_first, topics, out, start, stop):
    """Count tokens by cell and topic: ``out[c] += np.bincount(topics[cell_first[c]:cell_first[c + 1]])``."""
    for cell in range(start, stop):
        for token in range(cell_first[cell], cell_first[cell + 1]):
            out[cell, topics[token]] += 1


@kernel
def by_word(starts, cells, cell_first, topics, out, start, stop):
    """Number of tokens of each word and topic: W x K. Equivalent to ``np.add.at(out, (word of token, topics), 1)``."""
    for word in range(start, stop):
        row = out[word]
        row[:] = 0
        for i in range(starts[word], starts[word + 1]):
            # Unsigned, so that compiled code need not check indices for a sign.
            for token in range(np.uint64(cell_first[cells[i]]), np.uint64(cell_first[cells[i] + 1])):
                row[topics[token]] += 1


@kernel
def tally_parts(starts, cells, cell_first, topics, n_topics, first, codes, weights, sizes, start, stop):
    """For each word, the levels (k, v) and the number of documents with exactly v tokens of the word in topic k.

    Levels are numbers ``k << 32 | v``, sorted; those of a word begin at ``first``, and their number is in ``sizes``.
    """
    n_w, ones = np.zeros(n_topics, dtype=np.int64), np.zeros(n_topics)
    for word in range(start, stop):
        begin = end = first[word]
        for i in range(starts[word], starts[word + 1]):
            token, stop_token = cell_first[cells[i]], cell_first[cells[i] + 1]
            if stop_token == token + 1:
                end = _add_one(np.int64(topics[token]), ones, codes, end)
                continue
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
        sizes[word] = _fold(codes, weights, ones, begin, end)


@kernel
def _add_one(k, ones, codes, end):
    """Count a document with one token in the topic, whose level is listed once; returns the end of the list."""
    ones[k] += 1.0
    if ones[k] == 1.0:
        codes[end] = (k << 32) | 1
        end += 1
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
