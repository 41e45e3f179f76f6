"""The inner step of the M step of DCMLDA, over the pairs (word, topic) that occur.

Does for lists what `maximise.solve_pairs` does for tables of levels x components: most words occur in few of many
topics, so that the list is far shorter than the table.

| name | what | shape |
|---|---|---|
| first | index of the first entry of each pair | pairs + 1 |
| values | counts of the pair that occur in documents, increasing within a pair | entries |
| tails | weight of the documents that have at least this count | entries |
| extra | added to the weight of the first draws of a pair: from a prior, or 0 | pairs |
| topics | the topic of each pair | pairs |
| word_first | index of the first pair of each word | words + 1 |
"""

from __future__ import annotations

from bursty.kernels.compile import kernel
from bursty.kernels.polya import inverse_sums

# Newton squares the error: a relative change this small is the last one needed.
_SMALL = 1e-6
# Places of a table of hashes that are looked at.
_PROBES = 8


@kernel
def tail_sums(first, weights, out, start, stop):
    """Within each pair ``out = np.cumsum(weights[::-1])[::-1]``."""
    for pair in range(start, stop):
        tail = 0.0
        for entry in range(first[pair + 1] - 1, first[pair] - 1, -1):
            tail += weights[entry]
            out[entry] = tail


@kernel
def find_alike(first, values, topics, types, places, out):
    """For each pair the first one with the same equation: of the same topic, without repeats, in as many documents.

    ``places`` is a table of hashes, filled with -1. Pairs that find no place in it stand for themselves.
    """
    for pair in range(len(types)):
        out[pair] = pair
        if values[first[pair + 1] - 1] > 1:
            continue
        place = int((topics[pair] * 7919.0 + types[pair] * 997.0) % len(places))
        for _ in range(_PROBES):
            other = places[place]
            if other < 0:
                places[place] = pair
                break
            if topics[other] == topics[pair] and types[other] == types[pair]:
                out[pair] = other
                break
            place = (place + 1) % len(places)


@kernel
def solve(first, values, tails, extra, topics, lambdas, max_steps, alpha, slope, start, stop):
    """Solve ``extra[i] / alpha[i] + sum_j tail_j / (alpha[i] + j) = lambdas[topics[i]]`` for the pairs i.

    Newton's method on the reciprocal, starting from ``alpha``, as in `maximise.solve_pairs`; at most ``max_steps``
    steps. ``slope`` gets ``-d alpha / d lambda``. Pairs of a topic whose lambda is not positive are left alone.
    """
    for pair in range(start, stop):
        target = lambdas[topics[pair]]
        if target <= 0.0:
            continue
        begin, end = first[pair], first[pair + 1]
        least = (tails[begin] + extra[pair]) / target
        if values[end - 1] == 1:
            alpha[pair], slope[pair] = least, least / target
            continue
        a = max(alpha[pair], least)
        for _ in range(max_steps):
            g, q, lo = extra[pair] / a, extra[pair] / (a * a), 0
            for entry in range(begin, end):
                g_step, q_step = inverse_sums(a, lo, values[entry])
                g += tails[entry] * g_step
                q += tails[entry] * q_step
                lo = values[entry]
            before = a
            a = max(least, before + g * (g / target - 1.0) / q)
            slope[pair] = (g / target) ** 2 / q
            if abs(a - before) <= _SMALL * a:
                break
        alpha[pair] = a


@kernel
def sum_by_topic(topics, values, size, out, start, stop):
    """Sums over the pairs of each topic, for blocks ``start`` to ``stop`` of this many pairs.

    Equivalent to ``out[block] = np.bincount(topics[own], weights=values[own])`` with the pairs of the block.
    """
    for block in range(start, stop):
        total = out[block]
        total[:] = 0.0
        for pair in range(block * size, min(len(topics), (block + 1) * size)):
            total[topics[pair]] += values[pair]


@kernel
def pick(word_first, topics, table, out, start, stop):
    """The value of the table at each pair of words ``start`` to ``stop``: ``out = table[words, topics]``."""
    for word in range(start, stop):
        for pair in range(word_first[word], word_first[word + 1]):
            out[pair] = table[word, topics[pair]]


@kernel
def count_draws(word_first, topics, table, lambdas, draws, numbers, start, stop):
    """``draws`` of the pairs of words ``start`` to ``stop``: `pick` times lambda.

    ``numbers`` gets the pairs of each word with about one, about two, and any: averages over sweeps are not integers.
    """
    for word in range(start, stop):
        once, twice, known = 0, 0, 0
        for pair in range(word_first[word], word_first[word + 1]):
            n = table[word, topics[pair]] * lambdas[topics[pair]]
            once += (n > 0.5) & (n < 1.5)
            twice += (n > 1.5) & (n < 2.5)
            known += n > 0.5
            draws[pair] = n
        numbers[word, 0], numbers[word, 1], numbers[word, 2] = once, twice, known


@kernel
def give_up(draws, discount, given, kept, start, stop):
    """The number of draws that each pair gives up, at most the discount, and the share of them that it keeps."""
    for pair in range(start, stop):
        n = draws[pair]
        given[pair] = min(n, discount)
        kept[pair] = (n - given[pair]) / n if n > 0.0 else 0.0


@kernel
def spread(word_first, topics, values, rest, out, start, stop):
    """The reverse of `pick`, for a table that has ``rest[k]`` at words which topic k does not have."""
    for word in range(start, stop):
        out[word] = rest
        for pair in range(word_first[word], word_first[word + 1]):
            out[word, topics[pair]] = values[pair]


@kernel
def move(topics, first, alpha, slope, lambdas, change, out, start, stop):
    """The solutions of `solve`, moved along their slopes to new lambdas: ``alpha - slope * change``.

    At least ``first / lambdas``, the solution for the first draws alone.
    """
    for pair in range(start, stop):
        k = topics[pair]
        out[pair] = max(alpha[pair] - slope[pair] * change[k], first[pair] / lambdas[k])


@kernel
def add_background(word_first, topics, kept, floor, background, beta, start, stop):
    """``beta[words, topics] *= kept; beta += background[:, None] * floor``, for words ``start`` to ``stop``."""
    for word in range(start, stop):
        for pair in range(word_first[word], word_first[word + 1]):
            beta[word, topics[pair]] *= kept[pair]
        for k in range(len(floor)):
            beta[word, k] += floor[k] * background[word]
