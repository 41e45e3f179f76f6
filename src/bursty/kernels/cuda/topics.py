"""What has one number per topic in the M step of DCMLDA on a GPU, and the topics of documents.

``mixtures`` has the number of documents by topic and tokens in it, K x (longest + 1); a block for each topic sums over
its row. ``sums`` has, for each topic, its tokens, its documents, and ``h(s)`` and ``-h'(s)`` of its sizes
(`bursty.families.solve.LengthUrn`).
"""

from __future__ import annotations

import math

from numba import cuda, float32, float64

from bursty.kernels.cuda.lanes import SIMULATED
from bursty.kernels.cuda.rising import block_sum, inverse_sums, log_rising

#: Threads of a block: there are few topics, and one of them may have a document with very many tokens.
THREADS = 4 if SIMULATED else 512
TOKENS, DOCUMENTS, SLOPE, CURVATURE = range(4)
# What is known of a topic: s runs to infinity, to zero, or there is an equation to solve, or its solution.
NOTHING, NO_REPEAT, ONE_WORD, ACTIVE, FOUND = range(5)
_SLACK = 1.0 + 1e-12
# The search for alpha: what is known, lambda, the one for which alpha was solved, and between which it is.
STATE, LAMBDA, SOLVED, LOW, HIGH = range(5)


@cuda.jit(device=True)
def known_of(types, tokens, documents):
    """`families.solve.limits`."""
    known = ACTIVE if types > 0.0 else NOTHING
    if tokens <= types * _SLACK:
        known = NO_REPEAT
    elif types <= documents * _SLACK:
        known = ONE_WORD
    return known


@cuda.jit(device=True)
def bounded(value, derivative):
    """The step of Newton's method, or a step of 1 where it is too far or goes back."""
    step = math.copysign(1.0, value) if value != 0.0 else 0.0
    if derivative != 0.0:
        newton = -value / derivative
        if abs(newton) < 3.0 and newton * value > 0.0:
            step = newton
    return step


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
def log_mixtures(mixtures, lengths, alpha, s, out):
    """Log-probability of the topics' sizes in documents, less what they take off that of the words; K + 1 blocks.

    The last block has what the lengths of documents take off that of the sizes.
    """
    box = cuda.shared.array(THREADS, float64)
    k, total = cuda.blockIdx.x, 0.0
    if k < alpha.size:
        for n in range(1 + cuda.threadIdx.x, mixtures.shape[1], THREADS):
            if mixtures[k, n] > 0:
                total += mixtures[k, n] * (log_rising(alpha[k], n) - log_rising(s[0, k], n))
    else:
        whole = 0.0
        for i in range(cuda.threadIdx.x, alpha.size, THREADS):
            whole += alpha[i]
        whole = block_sum(whole, box)
        for i in range(cuda.threadIdx.x, lengths.shape[0], THREADS):
            total -= lengths[i, 1] * log_rising(whole, lengths[i, 0])
    total = block_sum(total, box)
    if cuda.threadIdx.x == 0:
        out[k] = total


@cuda.jit(cache=True)
def solve_alpha(mixtures, scale, sums, search, max_steps, alpha, slope):
    """``sum_n mixtures[k, n] * (psi(alpha_k + n) - psi(alpha_k)) = lambda``, by Newton's method as `maximise.solve`."""
    box = cuda.shared.array(THREADS, float64)
    k, target, weight = cuda.blockIdx.x, search[LAMBDA], sums[cuda.blockIdx.x, DOCUMENTS]
    if search[STATE] == ACTIVE and weight > 0.0:
        least = weight / target
        a, change = max(alpha[k], least), 0.0
        for _ in range(max_steps):
            g, q = 0.0, 0.0
            for n in range(1 + cuda.threadIdx.x, mixtures.shape[1], THREADS):
                documents = mixtures[k, n]
                if documents > 0:
                    g_step, q_step = inverse_sums(a, n)
                    g += scale * documents * g_step
                    q += scale * documents * q_step
            g, q = block_sum(g, box), block_sum(q, box)
            before = a
            a = max(least, before + g * (g / target - 1.0) / q)
            change = (g / target) ** 2 / q
            if abs(a - before) <= 1e-6 * a:
                break
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            alpha[k], slope[k] = a, change


@cuda.jit(device=True)
def known_sum(values, sums, box):
    """Sum over the topics with documents, by a block."""
    total = 0.0
    for k in range(cuda.threadIdx.x, values.size, THREADS):
        if sums[k, DOCUMENTS] > 0.0:
            total += values[k]
    return block_sum(total, box)


@cuda.jit(device=True)
def sum_lengths(lengths, scale, s, box):
    """Weight of the documents, and h(s) and -h'(s) of their lengths, by a block."""
    documents, first, second = 0.0, 0.0, 0.0
    for i in range(cuda.threadIdx.x, lengths.shape[0], THREADS):
        weight = scale * lengths[i, 1]
        g, q = inverse_sums(s, lengths[i, 0])
        documents += weight
        first += weight * g
        second += weight * q
    return block_sum(documents, box), block_sum(first, box), block_sum(second, box)


@cuda.jit(cache=True)
def begin_alpha(lengths, scale, sums, alpha, search):
    """Begin the search for alpha, whose "words" are the topics: one block. ``lengths`` are lengths and their number."""
    box = cuda.shared.array(THREADS, float64)
    types, tokens = known_sum(sums[:, DOCUMENTS], sums, box), known_sum(sums[:, TOKENS], sums, box)
    s = 0.0
    for k in range(cuda.threadIdx.x, alpha.size, THREADS):
        s += alpha[k]
    documents, slope, _ = sum_lengths(lengths, scale, block_sum(s, box), box)
    if cuda.threadIdx.x == 0:
        search[STATE] = known_of(types, tokens, documents)
        search[LAMBDA], search[SOLVED], search[LOW], search[HIGH] = slope, slope, 0.0, math.inf


@cuda.jit(cache=True)
def step_alpha(lengths, scale, sums, alpha, slope, s_min, s_max, near, search):
    """One step of Newton's method in log lambda, inside a bracket, as `families.solve.solve_urns`: one block."""
    box = cuda.shared.array(THREADS, float64)
    if search[STATE] == ACTIVE:
        s, slopes = known_sum(alpha, sums, box), known_sum(slope, sums, box)
        _, h, curvature = sum_lengths(lengths, scale, s, box)
        if cuda.threadIdx.x == 0:
            target = search[LAMBDA]
            search[SOLVED] = target
            if s > s_max:
                search[STATE] = NO_REPEAT
            elif s < s_min:
                search[STATE] = ONE_WORD
            else:
                value = math.log(h) - math.log(target)
                if value > 0.0:
                    search[LOW] = target
                else:
                    search[HIGH] = target
                new = target * math.exp(bounded(value, curvature / h * target * slopes - 1.0))
                if new <= search[LOW] or new >= search[HIGH]:
                    new = math.sqrt(search[LOW] * search[HIGH])
                    if search[LOW] == 0.0 or search[HIGH] == math.inf:
                        new = target * math.exp(math.copysign(1.0, value))
                search[LAMBDA] = new
                if abs(math.log(new / target)) < near:
                    search[STATE] = FOUND


@cuda.jit(cache=True)
def finish_alpha(sums, alpha, slope, s_min, s_max, least, search, out):
    """The solutions, moved along their slopes to the last lambda, and none below ``least`` times their mean: one block.

    At a limit, they are the proportions of the tokens or of the documents.
    """
    box = cuda.shared.array(THREADS, float64)
    types, tokens = known_sum(sums[:, DOCUMENTS], sums, box), known_sum(sums[:, TOKENS], sums, box)
    state, total = search[STATE], 0.0
    for k in range(cuda.threadIdx.x, out.size, THREADS):
        value = 0.0
        if sums[k, DOCUMENTS] > 0.0:
            if state == NO_REPEAT:
                value = s_max * sums[k, TOKENS] / tokens
            elif state == ONE_WORD:
                value = s_min * sums[k, DOCUMENTS] / types
            else:
                value = alpha[k] - slope[k] * (search[LAMBDA] - search[SOLVED])
                value = max(value, sums[k, DOCUMENTS] / search[LAMBDA])
        out[k] = value
        total += value
    mean = block_sum(total, box) / out.size
    for k in range(cuda.threadIdx.x, out.size, THREADS):
        out[k] = max(out[k], least * mean)


@cuda.jit(cache=True)
def begin_lambda(types, sums, state, lambdas):
    """Which topics have an equation to solve, and where it starts: one thread per topic. Types are 1 x K."""
    k = cuda.grid(1)
    if k < state.size:
        state[k] = known_of(types[0, k], sums[k, TOKENS], sums[k, DOCUMENTS])
        lambdas[k] = sums[k, SLOPE] if state[k] == ACTIVE else 0.0


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
            step = bounded(value, sums[k, CURVATURE] / sums[k, SLOPE] * before * slopes[0, k] - 1.0)
            lambdas[k] = before * math.exp(step)
            change[k] = lambdas[k] - before
        elif state[k] == NO_REPEAT and types[0, k] > 0.0:
            token_factors[k] = s_max / sums[k, TOKENS]
        elif state[k] == ONE_WORD:
            type_factors[k] = s_min / types[0, k]


@cuda.jit(cache=True)
def to_rows(alpha, s, row_of_alpha, row_of_s):
    """alpha and s (1 x K) in single precision, padded with 0 and 1: one thread per column."""
    k = cuda.grid(1)
    if k < row_of_s.size:
        row_of_alpha[k] = float32(alpha[k]) if k < alpha.size else float32(0.0)
        row_of_s[k] = float32(s[0, k]) if k < alpha.size else float32(1.0)


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
