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
from typing import NamedTuple

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform
from bursty.typing import Array

# Number of factors multiplied before taking a logarithm; none is below 1 or above the length of a document plus s.
_FACTORS = 8


class LabelledDocuments(NamedTuple):
    """The documents, as rows of word numbers and counts, and their labels."""

    indptr: Array
    words: Array
    counts: Array
    labels: Array


class BurstUrns(NamedTuple):
    """Log-probabilities of the chosen words (components x slots) and of the others, and log s of both sides.

    ``slot`` is the column of each word in ``log_inside``, -1 for words that are not chosen.
    """

    slot: Array
    log_inside: Array
    log_outside: Array
    log_s: Array


@kernel
def draw_tables(documents, urns, seed, sweep, names, out):
    """Draw the t of every cell that has more than one token."""
    counts, labels = documents.counts, documents.labels
    for document in range(len(labels)):
        key, step = stream(seed, sweep, names + document)
        draw = 0
        for cell in range(documents.indptr[document], documents.indptr[document + 1]):
            out[cell] = 1
            if counts[cell] > 1:
                word = documents.words[cell]
                if urns.slot[word] >= 0:
                    a = math.exp(urns.log_s[0] + urns.log_inside[labels[document], urns.slot[word]])
                else:
                    a = math.exp(urns.log_s[1] + urns.log_outside[word])
                for m in range(1, counts[cell]):
                    out[cell] += uniform(np.uint64(key), np.uint64(step), draw) * (a + m) < a
                    draw += 1


@kernel
def log_prob(documents, slot, fresh, log_fresh, out):
    """Log-probability of each document in each component, its t summed out; constants of a document are left out.

    Rows of ``fresh`` are s eta of the components, one per chosen word. Equivalent to the sum over the chosen words of
    ``gammaln(fresh + x) - gammaln(fresh)``.
    """
    n_components, counts = fresh.shape[1], documents.counts
    product = np.empty(n_components)
    for document in range(len(documents.labels)):
        row = out[document]
        row[:] = 0.0
        product[:] = 1.0
        pending = 0
        for cell in range(documents.indptr[document], documents.indptr[document + 1]):
            place = slot[documents.words[cell]]
            if place < 0:
                continue
            for k in range(n_components):
                row[k] += log_fresh[place, k]
            for m in range(1, counts[cell]):
                for k in range(n_components):
                    product[k] *= fresh[place, k] + m
                pending += 1
                if pending == _FACTORS:
                    pending = 0
                    for k in range(n_components):
                        row[k] += math.log(product[k])
                        product[k] = 1.0
        for k in range(n_components):
            row[k] += math.log(product[k])


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
