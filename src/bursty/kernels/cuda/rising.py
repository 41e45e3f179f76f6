"""Rising factorials on a GPU, as `bursty.kernels.polya`, and sums over the threads of a block."""

from __future__ import annotations

import math

from numba import cuda, float64

from bursty.kernels.cuda.lanes import SIMULATED

# Up to this many terms are added one by one; asymptotic series are used from this argument on.
_SHORT, _LARGE = 16, 10.0
#: Threads of a block whose sums are added.
THREADS = 4 if SIMULATED else 128


@cuda.jit(device=True)
def log_rising(a, n):
    """Sum of log(a + j) over 0 <= j < n."""
    total, j = 0.0, 0
    while j < n and (n - j <= _SHORT or a + j < _LARGE):
        total += math.log(a + j)
        j += 1
    if j < n:
        x, y, m = a + j, a + n, float64(n - j)
        total += (x - 0.5) * math.log1p(m / x) + m * (math.log(y) - 1.0) + stirling(y) - stirling(x)
    return total


@cuda.jit(device=True)
def stirling(x):
    """The remainder of Stirling's formula for log Gamma(x), for x >= 10."""
    r = 1.0 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * 691 / 360360))))) / x


@cuda.jit(device=True)
def inverse_sums(a, n):
    """Sums of 1 / (a + j) and of 1 / (a + j)^2 over 0 <= j < n."""
    first, second, j = 0.0, 0.0, 0
    while j < n and (n - j <= _SHORT or a + j < _LARGE):
        inverse = 1.0 / (a + j)
        first += inverse
        second += inverse * inverse
        j += 1
    if j < n:
        x, y, m = a + j, a + n, float64(n - j)
        p, q = 1.0 / x, 1.0 / y
        p2, q2 = p * p, q * q
        p4, q4 = p2 * p2, q2 * q2
        p6, q6, p8, q8 = p4 * p2, q4 * q2, p4 * p4, q4 * q4
        first += math.log1p(m / x) + (p - q) / 2 + (p2 - q2) / 12 - (p4 - q4) / 120 + (p6 - q6) / 252 - (p8 - q8) / 240
        second += m * p * q + (p2 - q2) / 2 + (p2 * p - q2 * q) / 6 - (p4 * p - q4 * q) / 30
        second += (p6 * p - q6 * q) / 42 - (p8 * p - q8 * q) / 30
    return first, second


@cuda.jit(device=True)
def block_sum(value, box):
    """The sum over the threads of a block (a power of two), for all of them; ``box`` is shared memory."""
    thread = cuda.threadIdx.x
    cuda.syncthreads()
    box[thread] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if thread < half:
            box[thread] += box[thread + half]
        cuda.syncthreads()
        half //= 2
    return box[0]
