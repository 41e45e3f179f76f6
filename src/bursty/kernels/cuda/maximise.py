"""The M step of DCMLDA on a GPU, and sums over words: one thread per pair of a word and a topic.

``levels`` has the number of documents at each level (word, tokens) and topic; all possible levels of a word are stored
one after the other from ``level_first``; ``scale`` is the weight of a document.
"""

from __future__ import annotations

import math

from numba import cuda, float32

# Number of words that one thread sums.
BLOCK = 64
# Levels that are looked at together.
_FEW = 16


@cuda.jit(device=True)
def any_of(levels, begin, end, k):
    """Whether there are documents at the next `_FEW` levels: read side by side, since most levels are empty."""
    found = 0
    for j in range(_FEW):
        found |= levels[min(begin + j, end - 1), k]
    return found != 0


@cuda.jit(cache=True)
def count_types(levels, level_first, scale, types, tokens):
    """Weight of the documents that have the pair, and of its tokens in them."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        documents, occurrences, begin = 0, 0, level_first[word]
        n_levels = level_first[word + 1] - begin
        for block in range(0, n_levels, _FEW):
            if block < _FEW or any_of(levels, begin + block, begin + n_levels, k):
                for j in range(block, min(block + _FEW, n_levels)):
                    documents += levels[begin + j, k]
                    occurrences += (j + 1) * levels[begin + j, k]
        types[word, k] = scale * documents
        tokens[word, k] = scale * occurrences


@cuda.jit(cache=True)
def solve(levels, level_first, scale, types, tokens, lambdas, max_steps, alpha, slope):
    """`gibbs_maximise.solve`: ``sum_j tail_j / (alpha + j) = lambdas[k]`` starting from ``alpha``."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        weight, target = types[word, k], lambdas[k]
        if weight == 0.0:
            alpha[word, k], slope[word, k] = 0.0, 0.0
        elif target > 0.0:
            least = weight / target
            if tokens[word, k] == weight:
                alpha[word, k], slope[word, k] = least, least / target
            else:
                a = max(alpha[word, k], least)
                for _ in range(max_steps):
                    g, q, tail, begin = 0.0, 0.0, weight, level_first[word]
                    for j in range(level_first[word + 1] - begin):
                        inverse = 1.0 / (a + j)
                        g += tail * inverse
                        q += tail * inverse * inverse
                        tail -= scale * levels[begin + j, k]
                        if tail <= 0.25 * scale:
                            break
                    before = a
                    a = max(least, before + g * (g / target - 1.0) / q)
                    slope[word, k] = (g / target) ** 2 / q
                    if abs(a - before) <= 1e-6 * a:
                        break
                alpha[word, k] = a


@cuda.jit(cache=True)
def begin(types, scale, alpha):
    """Starting values: the first occurrences times a scale per topic."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        alpha[word, k] = max(types[word, k] * scale[k], 1e-300)


@cuda.jit(cache=True)
def move(types, lambdas, change, alpha, slope, out):
    """Solutions for slightly changed lambdas."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        out[word, k] = 0.0
        if types[word, k] > 0.0:
            moved = alpha[word, k] - slope[word, k] * change[k]
            out[word, k] = max(moved, types[word, k] / lambdas[k])


@cuda.jit(cache=True)
def set_columns(weights, factors, alpha):
    """``weights * factors`` in the topics whose factor is positive."""
    pair = cuda.grid(1)
    if pair < alpha.size:
        word, k = pair // alpha.shape[1], pair % alpha.shape[1]
        if factors[k] > 0.0:
            alpha[word, k] = weights[word, k] * factors[k]


@cuda.jit(cache=True)
def count_draws(beta, lambdas, draws, once, twice):
    """Draws behind each pair, ``beta * lambdas``, and 1 where they are about one, about two."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        n = beta[word, k] * lambdas[k]
        draws[word, k] = n
        once[word, k] = 1.0 if 0.5 < n < 1.5 else 0.0
        twice[word, k] = 1.0 if 1.5 < n < 2.5 else 0.0


@cuda.jit(cache=True)
def give_up(draws, discount, given):
    """The number of draws that each pair gives up."""
    pair = cuda.grid(1)
    if pair < draws.size:
        word, k = pair // draws.shape[1], pair % draws.shape[1]
        given[word, k] = min(draws[word, k], discount)


@cuda.jit(cache=True)
def count_topics(draws, out):
    """Number of topics that have each word."""
    word = cuda.grid(1)
    if word < out.size:
        n = 0.0
        for k in range(draws.shape[1]):
            if draws[word, k] > 0.5:
                n += 1.0
        out[word] = n


@cuda.jit(cache=True)
def add_background(beta, draws, given, floor, background, lost, last):
    """Pairs keep what they do not give up, and all words get a share; a topic without tokens keeps what it had."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        if lost[k]:
            beta[word, k] = last[word, k]
        else:
            kept = 0.0
            if draws[word, k] > 0.0:
                kept = beta[word, k] * ((draws[word, k] - given[word, k]) / draws[word, k])
            beta[word, k] = kept + floor[k] * background[word]


@cuda.jit(cache=True)
def to_table(beta, table):
    """Copy to single precision, with columns padded with zeros."""
    pair = cuda.grid(1)
    if pair < table.size:
        word, k = pair // table.shape[1], pair % table.shape[1]
        table[word, k] = float32(beta[word, k]) if k < beta.shape[1] else float32(0.0)


@cuda.jit(cache=True)
def log_words(levels, level_first, beta, out):
    """Log-likelihood of each pair: ``log Gamma(beta + v) / Gamma(beta)`` for a document with v tokens, added up."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        b, begin, n_levels = beta[word, k], level_first[word], level_first[word + 1] - level_first[word]
        total, rising = 0.0, 0.0
        for j in range(min(n_levels, _FEW)):
            rising += math.log(b + j)
            total += levels[begin + j, k] * rising
        for block in range(_FEW, n_levels, _FEW):
            if any_of(levels, begin + block, begin + n_levels, k):
                for j in range(block, min(block + _FEW, n_levels)):
                    n = levels[begin + j, k]
                    if n > 0:
                        total += n * (rising + math.lgamma(b + j + 1) - math.lgamma(b + _FEW))
        out[word, k] = total


@cuda.jit(cache=True)
def add_blocks(values, out):
    """Sums over `BLOCK` rows at a time, in order: blocks x columns."""
    place = cuda.grid(1)
    if place < out.size:
        block, k = place // out.shape[1], place % out.shape[1]
        total = 0.0
        for row in range(block * BLOCK, min(values.shape[0], (block + 1) * BLOCK)):
            total += values[row, k]
        out[block, k] = total


@cuda.jit(cache=True)
def add_tables(left, right, out):
    """``left + right``."""
    place = cuda.grid(1)
    if place < out.size:
        row, k = place // out.shape[1], place % out.shape[1]
        out[row, k] = left[row, k] + right[row, k]


@cuda.jit(cache=True)
def clear(table):
    """Set to zero."""
    place = cuda.grid(1)
    if place < table.size:
        table[place // table.shape[1], place % table.shape[1]] = 0
