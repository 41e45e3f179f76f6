"""Words of topics that are drawn on a GPU, with one stream per pair of a word and a topic."""

from __future__ import annotations

import math

from numba import cuda, float32

from bursty.kernels.cuda import random

stream, uniform = random.stream, random.uniform


@cuda.jit(device=True)
def log_gamma(shape, key, step):
    """Logarithm of a gamma variate (Marsaglia and Tsang 2000), as `bursty.kernels.variates.log_gamma`."""
    boost, draw = 0.0, 0
    if shape < 1.0:
        boost = math.log(1.0 - uniform(key, step, draw)) / shape
        draw += 1
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, step, draw)))
        x = radius * math.cos(2.0 * math.pi * uniform(key, step, draw + 1))
        draw += 2
        v = 1.0 + c * x
        if v > 0.0:
            log_v = 3.0 * math.log(v)
            u = 1.0 - uniform(key, step, draw)
            draw += 1
            if math.log(u) < 0.5 * x * x + d - d * math.exp(log_v) + d * log_v:
                return math.log(d) + log_v + boost


@cuda.jit(cache=True)
def draw_gammas(word_topics, beta, least, seed, number, out):
    """A gamma variate of shape ``word_topics[w, k] + beta[w]`` for each word and topic, at least ``least``."""
    pair = cuda.grid(1)
    if pair < out.size:
        word, k = pair // out.shape[1], pair % out.shape[1]
        key, step = stream(seed, number, pair)
        out[word, k] = max(math.exp(log_gamma(word_topics[word, k] + beta[word], key, step)), least)


@cuda.jit(cache=True)
def draw_pairs(draws, given, seed, number, out):
    """A gamma variate of shape ``draws - given`` for each word and topic; of shape 0, it is 0."""
    pair = cuda.grid(1)
    if pair < out.size:
        word, k = pair // out.shape[1], pair % out.shape[1]
        shape = draws[word, k] - given[word, k]
        out[word, k] = 0.0
        if shape > 0.0:
            key, step = stream(seed, number, pair)
            out[word, k] = math.exp(log_gamma(shape, key, step))


@cuda.jit(cache=True)
def draw_new(s, lambdas, pool, total, least, n_pairs, seed, number, out):
    """The same for the words that are new to each topic, whose share of its draws is at least ``least``."""
    k = cuda.grid(1)
    if k < out.size:
        share = pool[0, k] / total[0, k] if total[0, k] > 0.0 else 0.0
        shape = max(share, least) * s[0, k] * lambdas[k]
        out[k] = 0.0
        if shape > 0.0:
            key, step = stream(seed, number, n_pairs + k)
            out[k] = math.exp(log_gamma(shape, key, step))


@cuda.jit(cache=True)
def normalise(gammas, new, sums, s, least, background, last, beta):
    """Proportions times s, and for all words a share of what is new; a topic without tokens keeps what it had."""
    pair = cuda.grid(1)
    if pair < beta.size:
        word, k = pair // beta.shape[1], pair % beta.shape[1]
        total = sums[0, k] + new[k]
        if s[0, k] == 0.0:
            beta[word, k] = last[word, k]
        else:
            scale = s[0, k] / total if total > 0.0 else 0.0
            rest = max(new[k] * scale, least * s[0, k]) / beta.shape[0]
            beta[word, k] = gammas[word, k] * scale + rest * background[word]


@cuda.jit(cache=True)
def scale_to_table(values, totals, table):
    """``values / totals`` (1 x K) in single precision, with columns padded with zeros."""
    pair = cuda.grid(1)
    if pair < table.size:
        word, k = pair // table.shape[1], pair % table.shape[1]
        table[word, k] = float32(values[word, k] / totals[0, k]) if k < values.shape[1] else float32(0.0)
