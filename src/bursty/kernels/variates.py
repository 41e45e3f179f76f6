"""Normal and gamma variates from the counter-based streams of `bursty.kernels.random`.

Each takes the number of the next draw of its stream and gives back the number after the last one it used, so that what
a stream gives depends on its key alone.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform


@kernel
def normal(key, step, draw):
    """A standard normal variate (Box and Muller), and the number of the next draw."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(np.uint64(key), np.uint64(step), draw)))
    angle = 2.0 * math.pi * uniform(np.uint64(key), np.uint64(step), draw + 1)
    return radius * math.cos(angle), draw + 2


@kernel
def log_gamma(shape, key, step, draw):
    """Logarithm of a gamma variate of any positive shape (Marsaglia and Tsang), and the number of the next draw.

    The logarithm, because a variate of small shape is too small to be a floating-point number.
    """
    boost = 0.0
    if shape < 1.0:
        boost = math.log(1.0 - uniform(np.uint64(key), np.uint64(step), draw)) / shape
        draw += 1
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x, draw = normal(key, step, draw)
        v = 1.0 + c * x
        if v > 0.0:
            log_v = 3.0 * math.log(v)
            u = 1.0 - uniform(np.uint64(key), np.uint64(step), draw)
            draw += 1
            if math.log(u) < 0.5 * x * x + d - d * math.exp(log_v) + d * log_v:
                return math.log(d) + log_v + boost, draw


@kernel
def log_dirichlet(values, seed, sweep, name):
    """Put the logarithm of a Dirichlet draw in the place of its parameters; ``name`` is that of its stream."""
    key, step = stream(seed, sweep, name)
    draw, largest = 0, -np.inf
    for j in range(len(values)):
        values[j], draw = log_gamma(values[j], np.uint64(key), np.uint64(step), draw)
        largest = max(largest, values[j])
    total = 0.0
    for j in range(len(values)):
        total += math.exp(values[j] - largest)
    total = largest + math.log(total)
    for j in range(len(values)):
        values[j] -= total
