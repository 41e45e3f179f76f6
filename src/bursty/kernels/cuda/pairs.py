"""The last M step of DCMLDA on a GPU: one thread per pair of a word and a topic, from lists of its levels.

Names are those of `bursty.kernels.gibbs_maximise`, and the formulas those of `bursty.kernels.tables`.
"""

from __future__ import annotations

from numba import cuda, float64

from bursty.kernels.cuda.rising import THREADS, block_sum, inverse_sums
from bursty.kernels.tables import NODES, WEIGHTS

# Newton squares the error: a relative change this small is the last one needed.
_SMALL = 1e-6
# Terms up to here are added one by one; longer steps are integrated by Gauss and Legendre, in blocks that grow by half.
_SHORT = 64


@cuda.jit(cache=True)
def solve(first, values, tails, extra, topics, lambdas, max_steps, alpha, slope):
    """`bursty.kernels.gibbs_maximise.solve`."""
    pair = cuda.grid(1)
    if pair < alpha.size:
        target, begin, end = lambdas[topics[pair]], first[pair], first[pair + 1]
        if target > 0.0:
            least = (tails[begin] + extra[pair]) / target
            a, change = least, least / target
            if values[end - 1] > 1:
                a = max(alpha[pair], least)
                for _ in range(max_steps):
                    g, q, lo = extra[pair] / a, extra[pair] / (a * a), 0
                    for entry in range(begin, end):
                        g_step, q_step = inverse_sums(a + lo, values[entry] - lo)
                        g += tails[entry] * g_step
                        q += tails[entry] * q_step
                        lo = values[entry]
                    before = a
                    a = max(least, before + g * (g / target - 1.0) / q)
                    change = (g / target) ** 2 / q
                    if abs(a - before) <= _SMALL * a:
                        break
            alpha[pair], slope[pair] = a, change


@cuda.jit(cache=True)
def sum_by_component(bounds, order, n_alike, alpha, slope, out):
    """Sums of both over the pairs of each component, each as often as there are pairs like it: a block for each."""
    box = cuda.shared.array(THREADS, float64)
    k, first, second = cuda.blockIdx.x, 0.0, 0.0
    for place in range(bounds[k] + cuda.threadIdx.x, bounds[k + 1], THREADS):
        pair = order[place]
        first += n_alike[pair] * alpha[pair]
        second += n_alike[pair] * slope[pair]
    first, second = block_sum(first, box), block_sum(second, box)
    if cuda.threadIdx.x == 0:
        out[0, k], out[1, k] = first, second


@cuda.jit(device=True)
def removed(a, j, shape):
    """`bursty.kernels.tables.removed`."""
    share = a / (a + j)
    d = share * share / shape
    first = (1.0 - share) * d
    if d >= 1.0 or first >= share * (1.0 - d):
        return share, first, share * (1.0 - share), 0.0
    term, gain = first / (1.0 - d), 1.0 / (1.0 - d)
    return term, first, term * (2.0 * (1.0 - share) * gain - share), term * gain


@cuda.jit(cache=True)
def tables(first, values, tails, types, alpha, own, out):
    """`bursty.kernels.tables.list_of_tables`; ``out`` is 3 x pairs."""
    pair = cuda.grid(1)
    if pair < types.size:
        begin, end, a = first[pair], first[pair + 1], alpha[pair]
        found, bias, change = types[pair], 0.0, 0.0
        if values[end - 1] > 1 and a > 0.0:
            shape, lo = types[pair], 1
            for entry in range(begin, end):
                if values[entry] > lo:
                    first_sum, second_sum = inverse_sums(a + lo, values[entry] - lo)
                    found += tails[entry] * a * first_sum
                    shape += tails[entry] * a * a * second_sum
                    lo = values[entry]
            shape = max(shape + own[pair], 1e-3 * types[pair])
            to_first_order, through, lo = 0.0, 0.0, 1
            for entry in range(begin, end):
                tail = tails[entry]
                while lo < values[entry]:
                    if lo < _SHORT:
                        term = removed(a, float64(lo), shape)
                        bias += tail * term[0]
                        to_first_order += tail * term[1]
                        change += tail * term[2]
                        through += tail * term[3]
                        lo += 1
                    else:
                        stop = min(values[entry], lo + (lo >> 1))
                        for i in range(4):
                            term = removed(a, lo - 0.5 + NODES[i] * (stop - lo), shape)
                            weight = tail * WEIGHTS[i] * (stop - lo)
                            bias += weight * term[0]
                            to_first_order += weight * term[1]
                            change += weight * term[2]
                            through += weight * term[3]
                        lo = stop
            change -= 2.0 * to_first_order * through
        out[0, pair], out[1, pair], out[2, pair] = found, bias, change
