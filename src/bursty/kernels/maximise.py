"""The inner steps of weighted maximum likelihood for urns, all components at once.

The DCM's gradient vanishes where every word has the same ``g_w(a) = sum_j tail_j / (a + j) = lambda`` and
``lambda = h(s)``, the same sum over document lengths at ``s = sum_w a_w``. Given lambda each word is a scalar
equation; `solve_pairs` solves it for pairs (word, component) and adds up what the outer Newton step needs.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.polya import inverse_sums

# Sums over pairs are added up within blocks of this many, then block by block: the same bits for any threads.
BLOCK = 4096
_MAX_STEPS = 100


@kernel
def harmonic(values, tails, a, first, second):  # type: ignore[no-untyped-def]
    """One urn per component: ``first[k] = sum_j tail_j / (a_k + j)``, ``second[k] = sum_j tail_j / (a_k + j)^2``.

    Equivalent to ``weights @ (digamma(a + values) - digamma(a))`` with the weights of the single levels.
    """
    for k in range(len(a)):
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


@kernel
def repeated_pairs(first, values, tails):  # type: ignore[no-untyped-def]
    """The pairs (word, component) in which some document repeats the word, and what is known of the others.

    Returns
    -------
    types : weight of the documents that have the word, W x K; equivalent to ``tails[first[w]]`` where w has levels
    words, components : the pairs, in order
    single : sum of types over the other pairs, K
    """
    n_words, n_components = len(first) - 1, tails.shape[1]
    types = np.zeros((n_words, n_components))
    single = np.zeros(n_components)
    n_pairs = 0
    words, components = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32)
    for word in range(n_words):
        begin, end = first[word], first[word + 1]
        if begin == end:
            continue
        if n_pairs + n_components > len(words):
            size = 2 * len(words) + n_components
            old_words, old_components = words, components
            words, components = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
            words[:n_pairs], components[:n_pairs] = old_words[:n_pairs], old_components[:n_pairs]
        for k in range(n_components):
            total = tails[begin, k]
            types[word, k] = total
            if total > 0.0 and (values[begin] > 1 or (end > begin + 1 and tails[begin + 1, k] > 0.0)):
                words[n_pairs], components[n_pairs] = word, k
                n_pairs += 1
            else:
                single[k] += total
    return types, words[:n_pairs].copy(), components[:n_pairs].copy(), single


@kernel
def solve_pairs(words, components, first, values, tails, lambdas, tolerance, alpha, sums, slopes, start, stop):  # type: ignore[no-untyped-def]
    """Solve ``g_w(alpha[i]) = lambdas[k]`` for the pairs i = (w, k) of blocks ``start`` to ``stop``.

    Newton on 1/g, which is concave and increasing in a: every step lands at or left of the root, so from there on
    the way up is monotone. ``alpha`` holds the starting values; a component whose lambda is not positive is left
    alone. ``sums[block, k]`` gets the sum of alpha, ``slopes[block, k]`` that of ``-1 / g'``.
    """
    for block in range(start, stop):
        sums[block] = 0.0
        slopes[block] = 0.0
        for pair in range(block * BLOCK, min(len(words), (block + 1) * BLOCK)):
            word, k = words[pair], components[pair]
            begin, end = first[word], first[word + 1]
            lam = lambdas[k]
            if lam <= 0.0:
                continue
            least = tails[begin, k] / lam
            a = max(alpha[pair], least)
            slope = 0.0
            for _ in range(_MAX_STEPS):
                g, q, lo = 0.0, 0.0, 0
                for level in range(begin, end):
                    tail = tails[level, k]
                    if tail <= 0.0:
                        break
                    hi = values[level]
                    if hi == lo + 1:
                        inverse = 1.0 / (a + lo)
                        part = tail * inverse
                        g += part
                        q += part * inverse
                    else:
                        g_step, q_step = inverse_sums(a, lo, hi)
                        g += tail * g_step
                        q += tail * q_step
                    lo = hi
                before = a
                a = max(least, a + g * (g / lam - 1.0) / q)
                slope = (g / lam) ** 2 / q
                if abs(a - before) <= tolerance * a:
                    break
            alpha[pair] = a
            sums[block, k] += a
            slopes[block, k] += slope
