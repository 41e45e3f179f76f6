"""Sums over the levels of words of which some document has very many tokens: a block of threads for each pair.

Names are those of `maximise`; ``words`` are the tall ones. A document with v tokens adds ``psi(a + v) - psi(a)`` to the
slope, so that levels need not be added up from the end, and threads can share them.
"""

from __future__ import annotations

from numba import cuda, float64

from bursty.kernels.cuda.rising import THREADS, block_sum, inverse_sums, log_rising


@cuda.jit(cache=True)
def count_types(words, levels, level_first, scale, types, tokens):
    """`maximise.count_types`."""
    box = cuda.shared.array(THREADS, float64)
    word, k = words[cuda.blockIdx.x // types.shape[1]], cuda.blockIdx.x % types.shape[1]
    documents, occurrences, begin = 0.0, 0.0, level_first[word]
    for j in range(cuda.threadIdx.x, level_first[word + 1] - begin, THREADS):
        documents += levels[begin + j, k]
        occurrences += (j + 1) * levels[begin + j, k]
    documents, occurrences = block_sum(documents, box), block_sum(occurrences, box)
    if cuda.threadIdx.x == 0:
        types[word, k] = scale * documents
        tokens[word, k] = scale * occurrences


@cuda.jit(cache=True)
def solve(words, levels, level_first, scale, types, tokens, lambdas, max_steps, alpha, slope):
    """`maximise.solve`."""
    box = cuda.shared.array(THREADS, float64)
    word, k = words[cuda.blockIdx.x // types.shape[1]], cuda.blockIdx.x % types.shape[1]
    weight, target = types[word, k], lambdas[k]
    if weight > 0.0 and target > 0.0 and tokens[word, k] != weight:
        least, begin = weight / target, level_first[word]
        a, change = max(alpha[word, k], least), 0.0
        for _ in range(max_steps):
            g, q = 0.0, 0.0
            for j in range(cuda.threadIdx.x, level_first[word + 1] - begin, THREADS):
                n = scale * levels[begin + j, k]
                if n > 0.0:
                    g_step, q_step = inverse_sums(a, j + 1)
                    g += n * g_step
                    q += n * q_step
            g, q = block_sum(g, box), block_sum(q, box)
            before = a
            a = max(least, before + g * (g / target - 1.0) / q)
            change = (g / target) ** 2 / q
            if abs(a - before) <= 1e-6 * a:
                break
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            alpha[word, k], slope[word, k] = a, change


@cuda.jit(cache=True)
def log_words(words, levels, level_first, beta, out):
    """`maximise.log_words`."""
    box = cuda.shared.array(THREADS, float64)
    word, k = words[cuda.blockIdx.x // beta.shape[1]], cuda.blockIdx.x % beta.shape[1]
    total, begin = 0.0, level_first[word]
    for j in range(cuda.threadIdx.x, level_first[word + 1] - begin, THREADS):
        n = levels[begin + j, k]
        if n > 0:
            total += n * log_rising(beta[word, k], j + 1)
    total = block_sum(total, box)
    if cuda.threadIdx.x == 0:
        out[word, k] = total
