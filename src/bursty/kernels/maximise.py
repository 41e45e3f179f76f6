"""The inner steps of weighted maximum likelihood for urns, all components at once.

The DCM's gradient vanishes where every word has the same ``g_w(a) = sum_j tail_j / (a + j) = lambda`` and ``lambda =
h(s)``, the same sum over document lengths at ``s = sum_w a_w``. Given lambda, there is one scalar equation per word;
`solve_pairs` solves it for pairs (word, component) and computes the sums that the outer Newton step needs.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.kernels.polya import SHORT, inverse_sums
from bursty.typing import Array

# Words are summed in blocks of this many, then block by block: the same bits for any number of threads.
BLOCK = 64
# Replaces zero in logarithms and denominators.
TINY = 1e-300
# Newton squares the error: a relative change this small is the last one needed.
_SMALL = 1e-6


@kernel
def harmonic(values, tails, a, first, second, start, stop):
    """One urn for each component from ``start`` to ``stop``.

    ``first[k] = sum_j tail_j / (a_k + j)``, ``second[k] = sum_j tail_j / (a_k + j)^2``.

    Equivalent to ``weights @ (digamma(a + values) - digamma(a))`` with the weights of the single levels.
    """
    for k in range(start, stop):
        g, q, lo = 0.0, 0.0, 0
        for level in range(len(values)):
            tail = tails[level, k]
            if tail <= 0.0:
                break
            g_step, q_step = inverse_sums(a[k], lo, values[level])
            g += tail * g_step
            q += tail * q_step
            lo = values[level]
        first[k], second[k] = g, q


def repeated_pairs(first: Array, types: Array, tails: Array) -> tuple[Array, Array, Array]:
    """The pairs (word, component) in which some document repeats the word.

    Returns
    -------
    pair_first, components : index of the first pair of each word, and the component of each pair
    single : sum of types over the other pairs, K
    """
    n_words, n_components = types.shape
    cost = np.arange(n_words + 1) * np.int64(n_components)
    sizes = np.empty(n_words, dtype=np.int32)
    threads.run(count_pairs, cost, first, tails, sizes)
    pair_first = np.append(np.int32(0), np.cumsum(sizes, dtype=np.int32))
    components = np.empty(pair_first[-1], dtype=np.int32)
    n_blocks = -(-n_words // BLOCK)
    single = np.zeros((n_blocks, n_components))
    by_block = cost[np.minimum(np.arange(n_blocks + 1) * BLOCK, n_words)]
    threads.run(list_pairs, by_block, pair_first, first, types, tails, components, single)
    return pair_first, components, single.sum(axis=0)


@kernel
def count_pairs(first, tails, out, start, stop):
    """Number of components that repeat each word."""
    for word in range(start, stop):
        out[word] = 0
        if first[word] < first[word + 1]:
            for k in range(tails.shape[1]):
                out[word] += tails[first[word], k] > 0.0


@kernel
def list_pairs(pair_first, first, types, tails, components, single, start, stop):
    """The components that repeat each word of the blocks, and the sum of types of the others."""
    n_words, n_components = types.shape
    for block in range(start, stop):
        for word in range(block * BLOCK, min(n_words, (block + 1) * BLOCK)):
            pair = pair_first[word]
            repeated = pair < pair_first[word + 1]
            for k in range(n_components):
                if repeated and tails[first[word], k] > 0.0:
                    components[pair] = k
                    pair += 1
                else:
                    single[block, k] += types[word, k]


@kernel
def pick_pairs(pair_first, components, table, scale, out, start, stop):
    """The value of the table at each pair (word, component), times the scale of the component; positive."""
    for word in range(start, stop):
        for pair in range(pair_first[word], pair_first[word + 1]):
            k = components[pair]
            out[pair] = max(table[word, k] * scale[k], TINY)


@kernel
def spread_pairs(pair_first, components, alpha, slope, moves, types, lambdas, out, start, stop):
    """The solutions of all pairs, W x K: ``types / lambda``, or that of `solve_pairs`, moved along its slope."""
    for word in range(start, stop):
        for k in range(out.shape[1]):
            out[word, k] = types[word, k] / lambdas[k]
        for pair in range(pair_first[word], pair_first[word + 1]):
            k = components[pair]
            out[word, k] = max(out[word, k], alpha[pair] - slope[pair] * moves[k])


@kernel
def solve_pairs(
    pair_first, components, types, first, values, tails, lambdas, max_steps, alpha, slope, sums, slopes, start, stop
):
    """Solve ``g_w(alpha[i]) = lambdas[k]`` for the pairs i = (w, k) of the words in blocks ``start`` to ``stop``.

    Here ``g_w(a) = types_w / a + sum_j tail_wj / (a + 1 + j)``: the first occurrence, then the repetitions. Newton's
    method on 1/g, which is concave and increasing in a: every step lands at or left of the root, so that the following
    ones increase monotonically; at most ``max_steps`` steps. ``alpha`` holds the starting values; a component whose
    lambda is not positive is left alone. ``slope`` gets ``-d alpha / d lambda``; ``sums[block, k]`` and ``slopes[block,
    k]`` the sums of both. The components of a word are processed side by side, so that the loops vectorise.
    """
    n_words, n_components = len(first) - 1, len(lambdas)
    a, g, q, tail = np.empty(n_components), np.empty(n_components), np.empty(n_components), np.empty(n_components)
    for block in range(start, stop):
        sums[block] = 0.0
        slopes[block] = 0.0
        for word in range(block * BLOCK, min(n_words, (block + 1) * BLOCK)):
            pairs, size = pair_first[word], pair_first[word + 1] - pair_first[word]
            for i in range(size):
                k = components[pairs + i]
                a[i] = max(alpha[pairs + i], types[word, k] / lambdas[k]) if lambdas[k] > 0.0 else 1.0
            for _ in range(max_steps if size > 0 else 0):
                for i in range(size):
                    inverse = 1.0 / a[i]
                    g[i] = types[word, components[pairs + i]] * inverse
                    q[i] = g[i] * inverse
                lo = 0
                for level in range(first[word], first[word + 1]):
                    hi = values[level]
                    for i in range(size):
                        tail[i] = tails[level, components[pairs + i]]
                    if hi - lo <= SHORT:
                        for j in range(lo + 1, hi + 1):
                            for i in range(size):
                                inverse = 1.0 / (a[i] + j)
                                part = tail[i] * inverse
                                g[i] += part
                                q[i] += part * inverse
                    else:
                        for i in range(size):
                            first_sum, second_sum = inverse_sums(a[i] + 1.0, lo, hi)
                            g[i] += tail[i] * first_sum
                            q[i] += tail[i] * second_sum
                    lo = hi
                largest_change = 0.0
                for i in range(size):
                    k = components[pairs + i]
                    if lambdas[k] > 0.0:
                        before = a[i]
                        a[i] = max(types[word, k] / lambdas[k], before + g[i] * (g[i] / lambdas[k] - 1.0) / q[i])
                        slope[pairs + i] = (g[i] / lambdas[k]) ** 2 / q[i]
                        largest_change = max(largest_change, abs(a[i] - before) / a[i])
                if largest_change <= _SMALL:
                    break
            for i in range(size):
                k = components[pairs + i]
                if lambdas[k] > 0.0:
                    alpha[pairs + i] = a[i]
                    sums[block, k] += a[i]
                    slopes[block, k] += slope[pairs + i]
