"""The M step of DCMLDA on a GPU, for words: one thread per pair of a word and a topic.

``levels`` has the number of documents at each level (word, tokens) and topic; all possible levels of a word are stored
one after the other from ``level_first``; ``scale`` is the weight of a document. Words with more levels than ``tall``
are left to `tall`, which has a block for each pair. What has one number per topic is in `topics`.
"""

from __future__ import annotations

import math

from numba import cuda, float32, int32

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
def count_types(levels, level_first, tall, scale, types, tokens):
    """Weight of the documents that have the pair, and of its tokens in them."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        documents, occurrences, begin = 0, 0, level_first[word]
        n_levels = level_first[word + 1] - begin
        if n_levels <= tall:
            for block in range(0, n_levels, _FEW):
                if block < _FEW or any_of(levels, begin + block, begin + n_levels, k):
                    for j in range(block, min(block + _FEW, n_levels)):
                        documents += levels[begin + j, k]
                        occurrences += (j + 1) * levels[begin + j, k]
            types[word, k] = scale * documents
            tokens[word, k] = scale * occurrences


@cuda.jit(cache=True)
def solve(levels, level_first, tall, scale, types, tokens, lambdas, max_steps, alpha, slope):
    """`gibbs_maximise.solve`: ``sum_j tail_j / (alpha + j) = lambdas[k]`` starting from ``alpha``."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        weight, target = types[word, k], lambdas[k]
        if weight == 0.0:
            alpha[word, k], slope[word, k] = 0.0, 0.0
        elif target > 0.0:
            least, n_levels = weight / target, level_first[word + 1] - level_first[word]
            if tokens[word, k] == weight:
                alpha[word, k], slope[word, k] = least, least / target
            elif n_levels <= tall:
                a = max(alpha[word, k], least)
                for _ in range(max_steps):
                    g, q, tail, begin = 0.0, 0.0, weight, level_first[word]
                    for j in range(n_levels):
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
def move(types, tokens, lambdas, change, type_factors, token_factors, alpha, slope, out):
    """Solutions for slightly changed lambdas; a topic with a positive factor has its types or tokens times it."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        value = 0.0
        if token_factors[k] > 0.0:
            value = tokens[word, k] * token_factors[k]
        elif type_factors[k] > 0.0:
            value = types[word, k] * type_factors[k]
        elif types[word, k] > 0.0:
            value = max(alpha[word, k] - slope[word, k] * change[k], types[word, k] / lambdas[k])
        out[word, k] = value


@cuda.jit(cache=True)
def set_limits(types, tokens, last, type_factors, token_factors, out):
    """``last``, or types or tokens times the factor of the topic where that is positive."""
    pair = cuda.grid(1)
    if pair < types.size:
        word, k = pair // types.shape[1], pair % types.shape[1]
        value = last[word, k]
        if token_factors[k] > 0.0:
            value = tokens[word, k] * token_factors[k]
        elif type_factors[k] > 0.0:
            value = types[word, k] * type_factors[k]
        out[word, k] = value


@cuda.jit(cache=True)
def count_draws(beta, lambdas, numbers, topics):
    """Pairs with about one draw, about two, and any, of ``beta * lambdas``; of the last also those of each word."""
    pair, n = cuda.grid(1), 0.0
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        n = beta[word, k] * lambdas[k]
        if n > 0.5:
            cuda.atomic.add(topics, word, 1)
    once = cuda.syncthreads_count(int32(n > 0.5 and n < 1.5))
    twice = cuda.syncthreads_count(int32(n > 1.5 and n < 2.5))
    known = cuda.syncthreads_count(int32(n > 0.5))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(numbers, 0, once)
        cuda.atomic.add(numbers, 1, twice)
        cuda.atomic.add(numbers, 2, known)


@cuda.jit(cache=True)
def give_up(beta, lambdas, numbers, given, draws):
    """The number of draws that each pair gives up, and all of them."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        n = beta[word, k] * lambdas[k]
        draws[word, k] = n
        given[word, k] = min(n, numbers[0] / max(numbers[0] + 2 * numbers[1], 1))


@cuda.jit(cache=True)
def weigh_words(topics, numbers, unseen, background):
    """Words by the number of topics that have them, and ``unseen`` more; with mean 1."""
    word = cuda.grid(1)
    if word < background.size:
        background[word] = (topics[word] + unseen) / (numbers[2] / background.size + unseen)


@cuda.jit(cache=True)
def add_background(beta, draws, given, s, pool, total, least, background, last):
    """Pairs keep what they do not give up, and all words get a share; a topic without tokens keeps what it had."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        if s[0, k] == 0.0:
            beta[word, k] = last[word, k]
        else:
            kept, share = 0.0, 0.0
            if draws[word, k] > 0.0:
                kept = beta[word, k] * ((draws[word, k] - given[word, k]) / draws[word, k])
            if total[0, k] > 0.0:
                share = pool[0, k] / total[0, k]
            beta[word, k] = kept + max(share, least) * s[0, k] / beta.shape[0] * background[word]


@cuda.jit(cache=True)
def to_table(beta, table):
    """Copy to single precision, with columns padded with zeros."""
    pair = cuda.grid(1)
    if pair < table.size:
        word, k = pair // table.shape[1], pair % table.shape[1]
        table[word, k] = float32(beta[word, k]) if k < beta.shape[1] else float32(0.0)


@cuda.jit(cache=True)
def log_words(levels, level_first, tall, beta, out):
    """Log-likelihood of each pair: ``log Gamma(beta + v) / Gamma(beta)`` for a document with v tokens, added up."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        b, begin, n_levels = beta[word, k], level_first[word], level_first[word + 1] - level_first[word]
        if n_levels <= tall:
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
def count_levels(levels, level_first, shape, out):
    """Number of levels of each pair that documents have."""
    pair = cuda.grid(1)
    if pair < out.size:
        word, k, n = pair // shape, pair % shape, 0
        for level in range(level_first[word], level_first[word + 1]):
            n += levels[level, k] > 0
        out[pair] = n


@cuda.jit(cache=True)
def add_up(sizes, shape, totals):
    """The sum of the sizes of each word, which become those of the pairs of the word before each."""
    word, total = cuda.grid(1), 0
    if word < totals.size:
        for pair in range(word * shape, (word + 1) * shape):
            size = sizes[pair]
            sizes[pair] = total
            total += size
        totals[word] = total


@cuda.jit(cache=True)
def list_levels(levels, level_first, shape, first, before, lists):
    """The levels of each pair that documents have: pair, level, and number of documents.

    ``first`` is the first column of each word in ``lists``, and ``before`` the levels of its pairs before each.
    """
    pair = cuda.grid(1)
    if pair < before.size:
        word, k = pair // shape, pair % shape
        place = first[word] + before[pair]
        for level in range(level_first[word], level_first[word + 1]):
            if levels[level, k] > 0:
                lists[0, place], lists[1, place] = pair, level - level_first[word] + 1
                lists[2, place] = levels[level, k]
                place += 1
