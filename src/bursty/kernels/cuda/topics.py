"""What has one number per topic in the M step of DCMLDA on a GPU, and the topics of documents.

``mixtures`` has the number of documents by topic and tokens in it, K x (longest + 1); a block for each topic sums over
its row. ``sums`` has, for each topic, its tokens, its documents, and ``h(s)`` and ``-h'(s)`` of its sizes
(`bursty.families.solve.LengthUrn`).
"""

from __future__ import annotations

import math

from numba import cuda, float32, float64

from bursty.kernels.cuda.rising import THREADS, block_sum, inverse_sums, log_rising

TOKENS, DOCUMENTS, SLOPE, CURVATURE = range(4)
# What is known of a topic: s runs to infinity, to zero, or there is an equation to solve.
NOTHING, NO_REPEAT, ONE_WORD, ACTIVE = range(4)
_SLACK = 1.0 + 1e-12


@cuda.jit(cache=True)
def sum_sizes(mixtures, scale, s, sums):
    """Fill ``sums``; s of a topic without tokens counts as 1."""
    box = cuda.shared.array(THREADS, float64)
    k = cuda.blockIdx.x
    a = s[0, k] if s[0, k] > 0.0 else 1.0
    tokens, documents, first, second = 0.0, 0.0, 0.0, 0.0
    for n in range(1 + cuda.threadIdx.x, mixtures.shape[1], THREADS):
        weight = scale * mixtures[k, n]
        if weight > 0.0:
            g, q = inverse_sums(a, n)
            tokens += n * weight
            documents += weight
            first += weight * g
            second += weight * q
    tokens, documents = block_sum(tokens, box), block_sum(documents, box)
    first, second = block_sum(first, box), block_sum(second, box)
    if cuda.threadIdx.x == 0:
        sums[k, TOKENS], sums[k, DOCUMENTS], sums[k, SLOPE], sums[k, CURVATURE] = tokens, documents, first, second


@cuda.jit(cache=True)
def log_mixtures(mixtures, alpha, s, out):
    """Log-probability of the topics' sizes in documents, less what they take off that of the words."""
    box = cuda.shared.array(THREADS, float64)
    k, total = cuda.blockIdx.x, 0.0
    for n in range(1 + cuda.threadIdx.x, mixtures.shape[1], THREADS):
        if mixtures[k, n] > 0:
            total += mixtures[k, n] * (log_rising(alpha[k], n) - log_rising(s[0, k], n))
    total = block_sum(total, box)
    if cuda.threadIdx.x == 0:
        out[k] = total


@cuda.jit(cache=True)
def solve_alpha(mixtures, scale, types, target, max_steps, alpha, slope):
    """``sum_n mixtures[k, n] * (psi(alpha_k + n) - psi(alpha_k)) = target``, by Newton's method as `maximise.solve`."""
    box = cuda.shared.array(THREADS, float64)
    k = cuda.blockIdx.x
    if types[k] > 0.0:
        least = types[k] / target
        a, change = max(alpha[k], least), 0.0
        for _ in range(max_steps):
            g, q = 0.0, 0.0
            for n in range(1 + cuda.threadIdx.x, mixtures.shape[1], THREADS):
                weight = scale * mixtures[k, n]
                if weight > 0.0:
                    g_step, q_step = inverse_sums(a, n)
                    g += weight * g_step
                    q += weight * q_step
            g, q = block_sum(g, box), block_sum(q, box)
            before = a
            a = max(least, before + g * (g / target - 1.0) / q)
            change = (g / target) ** 2 / q
            if abs(a - before) <= 1e-6 * a:
                break
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            alpha[k], slope[k] = a, change


@cuda.jit(cache=True)
def begin_lambda(types, sums, state, lambdas):
    """Which topics have an equation to solve, and where it starts: one thread per topic. Types are 1 x K."""
    k = cuda.grid(1)
    if k < state.size:
        known = ACTIVE if types[0, k] > 0.0 else NOTHING
        if sums[k, TOKENS] <= types[0, k] * _SLACK:
            known = NO_REPEAT
        elif types[0, k] <= sums[k, DOCUMENTS] * _SLACK:
            known = ONE_WORD
        state[k] = known
        lambdas[k] = sums[k, SLOPE] if known == ACTIVE else 0.0


@cuda.jit(cache=True)
def step_lambda(types, sums, s, slopes, s_min, s_max, state, lambdas, change, type_factors, token_factors):
    """One step of Newton's method in log lambda, as `families.solve.solve_urns`: one thread per topic.

    Types, s and slopes are 1 x K. ``change`` gets the change of lambda; the factors are those of `maximise.move` for
    topics at a limit.
    """
    k = cuda.grid(1)
    if k < state.size:
        if state[k] == ACTIVE and s[0, k] > s_max:
            state[k] = NO_REPEAT
        elif state[k] == ACTIVE and s[0, k] < s_min:
            state[k] = ONE_WORD
        before, change[k], type_factors[k], token_factors[k] = lambdas[k], 0.0, 0.0, 0.0
        if state[k] == ACTIVE:
            value = math.log(sums[k, SLOPE]) - math.log(before)
            divisor = sums[k, CURVATURE] / sums[k, SLOPE] * before * slopes[0, k] - 1.0
            step = math.copysign(1.0, value)
            if divisor != 0.0:
                newton = -value / divisor
                if abs(newton) < 3.0 and newton * value > 0.0:
                    step = newton
            if value == 0.0:
                step = 0.0
            lambdas[k] = before * math.exp(step)
            change[k] = lambdas[k] - before
        elif state[k] == NO_REPEAT and types[0, k] > 0.0:
            token_factors[k] = s_max / sums[k, TOKENS]
        elif state[k] == ONE_WORD:
            type_factors[k] = s_min / types[0, k]


@cuda.jit(cache=True)
def pick(sums, column, out):
    """A column of ``sums``: one thread per topic."""
    k = cuda.grid(1)
    if k < out.size:
        out[k] = sums[k, column]


@cuda.jit(cache=True)
def count_topics(spans, topics, n_topics, by_document, counts, mixtures):
    """Count tokens by topic, a block for each document.

    Add them to ``counts``, documents x topics (``by_document``), or count documents in ``mixtures``.
    """
    memory = cuda.shared.array(0, float32)
    span = cuda.blockIdx.x
    for k in range(cuda.threadIdx.x, n_topics, cuda.blockDim.x):
        memory[k] = float32(0.0)
    cuda.syncthreads()
    for token in range(spans[span, 1] + cuda.threadIdx.x, spans[span, 2], cuda.blockDim.x):
        cuda.atomic.add(memory, topics[token], float32(1.0))
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, n_topics, cuda.blockDim.x):
        n = int(memory[k])
        if by_document:
            counts[spans[span, 0], k] += n
        elif n > 0:
            cuda.atomic.add(mixtures, (k, n), 1)
