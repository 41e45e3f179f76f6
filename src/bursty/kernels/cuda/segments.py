"""Long documents on a GPU, cut into segments whose tokens can be drawn side by side.

A document is a chain of draws, because the topics of its other tokens appear in the conditional of each. They do so
through n_dk only, and an auxiliary variable for each topic takes that away. In DCMLDA, for s_k > alpha_k,

    Gamma(n + alpha) / Gamma(n + s)  is in proportion to  the integral of  r^(n + alpha - 1) (1 - r)^(s - alpha - 1)

so that with r_k ~ Beta(n_dk + alpha_k, s_k - alpha_k) drawn first,

    p(z = k | r)  is in proportion to  r_k * (beta_wk + n_dwk)

and different words are independent. The same again for a word with very many tokens in the document:
g_k ~ Gamma(beta_wk + n_dwk) drawn first makes its tokens independent, with weights r_k g_k. In LDA,
g_k ~ Gamma(n_dk + alpha_k) does, with weights g_k phi_wk. Each draw is from a conditional distribution of the extended
posterior, so that the sampler remains exact.

| name | what | shape |
|---|---|---|
| spans | segments as in `gibbs`, and the index of their word among the heavy ones or -1 | n x 6 |
| counts | tokens of each topic, by document (row) or heavy word | rows, K |
| given | r or g, padded with zeros | rows, at least K |
| heavy | words with very many tokens in a document: row, word | n x 2 |
"""

from __future__ import annotations

import math

from numba import cuda, float32

from bursty.kernels.cuda import random
from bursty.kernels.cuda.variates import log_gamma

stream, branch, single = random.stream, random.branch, random.single
# Columns of spans.
KEY, BEGIN, END, SHIFT, ROW, HEAVY = range(6)


@cuda.jit(cache=True)
def count(spans, topics, counts, of_heavy):
    """Add the tokens of each topic to the row of the document, and of the heavy word: one block per segment."""
    span = cuda.blockIdx.x
    row, heavy = spans[span, ROW], spans[span, HEAVY]
    for token in range(spans[span, BEGIN] + cuda.threadIdx.x, spans[span, END], cuda.blockDim.x):
        cuda.atomic.add(counts, (row, topics[token]), 1)
        if heavy >= 0:
            cuda.atomic.add(of_heavy, (heavy, topics[token]), 1)


@cuda.jit(cache=True)
def draw_given(counts, keys, alpha, totals, seed, number, bursty, given):
    """The auxiliary variables of each document, whose counts are cleared: one thread per document and topic."""
    pair = cuda.grid(1)
    if pair < given.size:
        row, k = pair // given.shape[1], pair % given.shape[1]
        value = 0.0
        if k < counts.shape[1]:
            document, _ = stream(seed, number, keys[row])
            key, step = branch(document, 2 * k)
            log_g = log_gamma(counts[row, k] + alpha[k], key, step)
            counts[row, k] = 0
            value = math.exp(log_g)
            if bursty:
                key, step = branch(document, 2 * k + 1)
                value = 1.0 / (1.0 + math.exp(log_gamma(totals[k] - alpha[k], key, step) - log_g))
        given[row, k] = float32(value)


@cuda.jit(cache=True)
def draw_heavy(heavy, counts, given, table, keys, seed, number, weights):
    """Weights of the topics of each heavy word, whose counts are cleared: one thread per word and topic."""
    pair = cuda.grid(1)
    if pair < weights.size:
        i, k = pair // weights.shape[1], pair % weights.shape[1]
        row, word = heavy[i, 0], heavy[i, 1]
        document, _ = stream(seed, number, keys[row])
        cell, _ = branch(document, word)
        key, step = branch(cell, k)
        weights[i, k] = given[row, k] * math.exp(log_gamma(table[word, k] + counts[i, k], key, step))
        counts[i, k] = 0


@cuda.jit(cache=True)
def add_up(weights):
    """Replace each row by its cumulative sums: one thread per row."""
    i = cuda.grid(1)
    if i < weights.shape[0]:
        total = 0.0
        for k in range(weights.shape[1]):
            total += weights[i, k]
            weights[i, k] = total


@cuda.jit(cache=True)
def draw_tokens(spans, weights, keys, seed, number, topics):
    """Topics of the tokens of heavy words, given cumulative weights: one block per segment."""
    span = cuda.blockIdx.x
    begin, row, last = spans[span, BEGIN], spans[span, HEAVY], weights.shape[1] - 1
    key, step = stream(seed, number, keys[spans[span, KEY]])
    for token in range(begin + cuda.threadIdx.x, spans[span, END], cuda.blockDim.x):
        left = single(key, step, spans[span, SHIFT] + token - begin) * weights[row, last]
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if weights[row, middle] > left:
                high = middle
            else:
                low = middle + 1
        topics[token] = low


@cuda.jit(cache=True)
def tally_mixtures(counts, mixtures):
    """Count documents by topic and tokens in it, and clear the counts: one thread per document and topic."""
    pair = cuda.grid(1)
    if pair < counts.size:
        k = pair % counts.shape[1]
        n = counts[pair // counts.shape[1], k]
        if n > 0:
            cuda.atomic.add(mixtures, (k, n), 1)
            counts[pair // counts.shape[1], k] = 0


@cuda.jit(cache=True)
def tally_words(heavy, counts, level_first, words):
    """Count documents by level and topic, for heavy words, and clear the counts: one thread per word and topic."""
    pair = cuda.grid(1)
    if pair < counts.size:
        i, k = pair // counts.shape[1], pair % counts.shape[1]
        if counts[i, k] > 0:
            cuda.atomic.add(words, (level_first[heavy[i, 1]] + counts[i, k] - 1, k), 1)
            counts[i, k] = 0
