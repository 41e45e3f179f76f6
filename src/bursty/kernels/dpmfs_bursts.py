"""Numbers of fresh tokens, for words that come in bursts.

A document of a DCM draws its tokens from an urn: a token is a fresh draw from the component, or a copy of an earlier
one. The t of a cell is the number of its x tokens that were fresh. Given t, the t of a document are a multinomial draw,
so that the DCM uses the formulas of the multinomial; and given the probability eta of the component,

    p(t | x, eta) in proportion to |S1(x, t)| (s eta)^t

(unsigned Stirling numbers of the first kind), the law of the number of fresh tokens if token m + 1 is fresh with
probability s eta / (s eta + m).
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform


@kernel
def draw_tables(indptr, words, counts, labels, slot, log_inside, log_outside, log_s, seed, sweep, names, out):
    """Draw the t of every cell that has more than one token; ``slot`` is -1 for words that are not chosen.

    ``log_inside`` has shape components x chosen words, ``log_outside`` one entry per word, ``log_s`` one per side.
    """
    for document in range(len(labels)):
        key, step = stream(seed, sweep, names + document)
        draw = 0
        for cell in range(indptr[document], indptr[document + 1]):
            out[cell] = 1
            if counts[cell] > 1:
                word = words[cell]
                if slot[word] >= 0:
                    a = math.exp(log_s[0] + log_inside[labels[document], slot[word]])
                else:
                    a = math.exp(log_s[1] + log_outside[word])
                for m in range(1, counts[cell]):
                    out[cell] += uniform(np.uint64(key), np.uint64(step), draw) * (a + m) < a
                    draw += 1


@kernel
def log_stirling(values, first, out):
    """log |S1(x, t)| for t = 1..x and some increasing x; those of ``values[i]`` begin at ``first[i]``."""
    row = np.full(values[-1] + 2, -np.inf)
    row[0] = 0.0
    i = 0
    for x in range(1, values[-1] + 1):
        for t in range(x, 0, -1):
            stay = row[t] + math.log(x - 1) if x > 1 else -np.inf
            larger, smaller = max(stay, row[t - 1]), min(stay, row[t - 1])
            row[t] = larger + math.log1p(math.exp(smaller - larger)) if smaller > -np.inf else larger
        row[0] = -np.inf
        if x == values[i]:
            for t in range(1, x + 1):
                out[first[i] + t - 1] = row[t]
            i += 1
