"""Normal and gamma variates from the counter-based streams of `bursty.kernels.random`.

Each kernel receives the number of the next draw of its stream and returns the number after the last one it used, so
that a stream depends only on its key.

Most gamma variates of Dirichlet draws over many words have shapes far below 1 and are too small to matter:
`gammas_above` draws only those that do. `log_gamma` is for the few that must be distinguished however small they are.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform

# Up to this shape the logarithm of a product is faster than rejection.
_FEW = 12


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
    """Replace Dirichlet parameters by the logarithm of a draw; ``name`` identifies its stream."""
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


@kernel
def gamma(shape, key, step, draw):
    """A gamma variate of any shape, and the number of the next draw."""
    if shape >= 1.0:
        return large_gamma(shape, np.uint64(key), np.uint64(step), draw)
    return small_gamma(shape, np.uint64(key), np.uint64(step), draw)


@kernel
def gammas(shapes, names, seed, sweep, out, start, stop):
    """A gamma variate of each shape, from the stream of its name; of shape 0, it is 0."""
    for i in range(start, stop):
        out[i] = 0.0
        if shapes[i] > 0.0:
            key, step = stream(seed, sweep, names[i])
            out[i], _ = gamma(shapes[i], np.uint64(key), np.uint64(step), 0)


@kernel
def gammas_above(shape, n_items, least, key, step, draw, items, values):
    """Gamma variates of the same shape for ``n_items`` items: only those above ``least``.

    Their items and values are written to the arrays; returns their number and that of the next draw. If the shape is
    small, nearly all are below, and the others are found by jumping from one to the next.
    """
    n = 0
    if shape >= 1.0:
        for item in range(n_items):
            items[item] = item
            values[item], draw = large_gamma(shape, np.uint64(key), np.uint64(step), draw)
        return n_items, draw
    # Log-probability that the first try of `small_gamma` is below.
    log_below = shape * math.log(least) - math.log(1.0 + shape / math.e)
    below, item = math.exp(log_below), -1
    while True:
        rest = 1.0 - uniform(np.uint64(key), np.uint64(step), draw)
        item += 1
        if rest <= below:
            item += int(min(math.log(rest) / log_below, n_items))
        if item >= n_items:
            return n, draw + 1
        x = _candidate((1.0 - below) * uniform(np.uint64(key), np.uint64(step), draw + 1), shape)
        v = uniform(np.uint64(key), np.uint64(step), draw + 2)
        draw += 3
        if not _accepted(x, v, shape):
            x, draw = small_gamma(shape, np.uint64(key), np.uint64(step), draw)
        if x > least:
            items[n], values[n] = item, x
            n += 1


@kernel
def whole_gamma(shape, key, step, draw):
    """A gamma variate of integer shape, and the number of the next draw."""
    if shape > _FEW:
        return large_gamma(np.float64(shape), np.uint64(key), np.uint64(step), draw)
    product = 1.0
    for _ in range(int(shape)):
        product *= 1.0 - uniform(np.uint64(key), np.uint64(step), draw)
        draw += 1
    return -math.log(product), draw


@kernel
def small_gamma(shape, key, step, draw):
    """A gamma variate of shape below 1 (Ahrens and Dieter 1974, algorithm GS), and the number of the next draw."""
    while True:
        x = _candidate(uniform(np.uint64(key), np.uint64(step), draw), shape)
        v = uniform(np.uint64(key), np.uint64(step), draw + 1)
        draw += 2
        if _accepted(x, v, shape):
            return x, draw


@kernel
def _candidate(u, shape):
    """A proposal of `small_gamma`: at most 1 or above 1, depending on u."""
    bound = 1.0 + shape / math.e
    u = bound * (1.0 - u)
    return math.exp(math.log(u) / shape) if u <= 1.0 else -math.log((bound - u) / shape)


@kernel
def _accepted(x, v, shape):
    """Accept with probability exp(-x) up to x = 1 (the bound 1 - x nearly always decides), else x^(shape - 1)."""
    if x <= 1.0:
        return v < 1.0 - x or v <= math.exp(-x)
    return v <= math.exp((shape - 1.0) * math.log(x))


@kernel
def large_gamma(shape, key, step, draw):
    """A gamma variate of shape 1 or more (Marsaglia and Tsang 2000), and the number of the next draw."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x, draw = normal(np.uint64(key), np.uint64(step), draw)
        u = 1.0 - uniform(np.uint64(key), np.uint64(step), draw)
        draw += 1
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            square = x * x
            if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return d * v, draw
