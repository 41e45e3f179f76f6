"""The streams of `bursty.kernels.random` on a GPU: the same keys and the same 64 bits for each draw.

Weights have single precision there, so that a uniform number uses the upper 24 bits of a draw.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, float64, uint64

_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_FIRST, _SECOND = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_1, _11, _27, _30, _31, _40 = (np.uint64(i) for i in (1, 11, 27, 30, 31, 40))
_SINGLE, _DOUBLE = np.float32(2.0**-24), 2.0**-53


@cuda.jit(device=True)
def mix(x):
    """`bursty.kernels.random.mix`."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@cuda.jit(device=True)
def combine(key, number):
    """`bursty.kernels.random.combine`."""
    return mix(key + (uint64(number) + _1) * _GOLDEN)


@cuda.jit(device=True)
def stream(seed, sweep, document):
    """`bursty.kernels.random.stream`."""
    key = combine(combine(mix(uint64(seed)), sweep), document)
    return key, mix(key + _GOLDEN) | _1


@cuda.jit(device=True)
def branch(key, number):
    """A stream of its own for each number, from the key of a stream."""
    key = combine(key, number)
    return key, mix(key + _GOLDEN) | _1


@cuda.jit(device=True)
def single(key, step, draw):
    """A uniform number in single precision, below 1."""
    return float32(mix(key + uint64(draw) * step) >> _40) * _SINGLE


@cuda.jit(device=True)
def uniform(key, step, draw):
    """`bursty.kernels.random.uniform`."""
    return float64(mix(key + uint64(draw) * step) >> _11) * _DOUBLE
