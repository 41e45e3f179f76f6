"""Counts of topics: by document, by word, and by level (word, count within a document), which is what a DCM sees.

Tokens stand one after the other: the documents in order, in a document the words in order, all tokens of one word
together. A *cell* is a word of a document.

| name | what | shape |
|---|---|---|
| first | where the tokens of each document begin | D + 1 |
| cell_first | where the tokens of each cell begin | cells + 1 |
| topics | the topic of each token | tokens |
| starts, cells | where the cells of each word begin; the cells, word by word | W + 1; cells |
| slots | where the possible counts of each word begin, 1 to its largest | W + 1 |
"""

from __future__ import annotations

import numpy as np

from bursty.kernels.compile import kernel


@kernel
def by_document(first, topics, out, start, stop):
    """Tokens of each topic in each document: ``out[d] = np.bincount(topics[first[d]:first[d + 1]])``."""
    for document in range(start, stop):
        out[document] = 0
        for token in range(first[document], first[document + 1]):
            out[document, topics[token]] += 1


@kernel
def by_word(starts, cells, cell_first, topics, out, start, stop):
    """Tokens of each topic for each word: W x K. Equivalent to ``np.add.at(out, (word of token, topics), 1)``."""
    for word in range(start, stop):
        out[word] = 0
        for i in range(starts[word], starts[word + 1]):
            for token in range(cell_first[cells[i]], cell_first[cells[i] + 1]):
                out[word, topics[token]] += 1


@kernel
def largest(starts, cells, cell_first, out, start, stop):
    """The largest count of each word in one document; 0 for a word that is in none."""
    for word in range(start, stop):
        most = 0
        for i in range(starts[word], starts[word + 1]):
            most = max(most, cell_first[cells[i] + 1] - cell_first[cells[i]])
        out[word] = most


@kernel
def mark_levels(starts, cells, cell_first, topics, slots, n_topics, marks, start, stop):
    """Mark the pairs (word, v) where some document gave some topic exactly v tokens of the word: slot v - 1."""
    n_w = np.zeros(n_topics, dtype=np.int64)
    for word in range(start, stop):
        for i in range(starts[word], starts[word + 1]):
            begin, end = cell_first[cells[i]], cell_first[cells[i] + 1]
            if end == begin + 1:
                marks[slots[word]] = 1
                continue
            for token in range(begin, end):
                n_w[topics[token]] += 1
            for token in range(begin, end):
                if n_w[topics[token]] > 0:
                    marks[slots[word] + n_w[topics[token]] - 1] = 1
                    n_w[topics[token]] = 0


@kernel
def tally_levels(starts, cells, cell_first, topics, slots, codes, weights, start, stop):
    """Documents at each level: ``weights[codes[slots[w] + v - 1], k]`` of them gave topic k v tokens of word w."""
    n_w = np.zeros(weights.shape[1], dtype=np.int64)
    for word in range(start, stop):
        for i in range(starts[word], starts[word + 1]):
            begin, end = cell_first[cells[i]], cell_first[cells[i] + 1]
            if end == begin + 1:
                weights[codes[slots[word]], topics[begin]] += 1.0
                continue
            for token in range(begin, end):
                n_w[topics[token]] += 1
            for token in range(begin, end):
                k = topics[token]
                if n_w[k] > 0:
                    weights[codes[slots[word] + n_w[k] - 1], k] += 1.0
                    n_w[k] = 0
