"""Tokens and their topics, as the kernels of topic models have them; counts of topics by document, word and level.

A *level* is a word and its count within a document, which is what a DCM sees.

Tokens stand one after the other: the documents in order, in a document the words in order, all tokens of one word
together. A *cell* is a word of a document.

| name | what | shape |
|---|---|---|
| indptr, words, counts | the documents' cells, as in a sparse matrix | D + 1, cells, cells |
| keys | the number that names each document's random stream | D |
| first | where the tokens of each document begin | D + 1 |
| cell_first | where the tokens of each cell begin | cells + 1 |
| topics | the topic of each token | tokens |
| starts, cells | where the cells of each word begin; the cells, word by word | W + 1; cells |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bursty.kernels.compile import kernel

Array = np.ndarray[Any, Any]


class Documents(NamedTuple):
    """What every sweep begins with."""

    indptr: Array
    words: Array
    counts: Array
    first: Array
    keys: Array


@kernel
def by_document(first, topics, out, start, stop):
    """Tokens of each topic in each document: ``out[d] = np.bincount(topics[first[d]:first[d + 1]])``."""
    for document in range(start, stop):
        out[document] = 0
        for token in range(first[document], first[document + 1]):
            out[document, topics[token]] += 1


@kernel
def by_value(counts, out, start, stop):
    """Add the rows that have each value of each column: ``out[k] += np.bincount(counts[:, k])``."""
    for row in range(len(counts)):
        for k in range(start, stop):
            out[k, counts[row, k]] += 1


@kernel
def add_by_cell(cell_first, topics, out, start, stop):
    """Add the tokens of each topic in each cell: ``out[c] += np.bincount(topics[cell_first[c]:cell_first[c + 1]])``."""
    for cell in range(start, stop):
        for token in range(cell_first[cell], cell_first[cell + 1]):
            out[cell, topics[token]] += 1


@kernel
def by_word(starts, cells, cell_first, topics, out, start, stop):
    """Tokens of each topic for each word: W x K. Equivalent to ``np.add.at(out, (word of token, topics), 1)``."""
    for word in range(start, stop):
        row = out[word]
        row[:] = 0
        for i in range(starts[word], starts[word + 1]):
            # Places that are known not to be negative: an index that might be costs a test each time.
            for token in range(np.uint64(cell_first[cells[i]]), np.uint64(cell_first[cells[i] + 1])):
                row[topics[token]] += 1


@kernel
def tally_parts(starts, cells, cell_first, topics, n_topics, first, codes, weights, sizes, start, stop):
    """For each word the levels (k, v) and the documents at each: those that gave topic k exactly v of its tokens.

    Levels are numbers ``k << 32 | v``, sorted; a word's begin at ``first``, and ``sizes`` says how many it has.
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
    """Count a document with one token in the topic, whose level is listed once; gives the end of the list."""
    ones[k] += 1.0
    if ones[k] == 1.0:
        codes[end] = (k << 32) | 1
        end += 1
    return end


@kernel
def _fold(codes, weights, ones, begin, end):
    """Count equal neighbours of a sorted list, in place, and take the ``ones`` in; gives the number that is left."""
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
