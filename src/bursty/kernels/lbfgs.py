"""Directions of L-BFGS, for vectors of one or two rows: coordinates, and what inner products are taken with.

The inner product of two vectors is that of the first row of one and the last row of the other. With one row it is the
plain one.
"""

from __future__ import annotations

import numpy as np

from bursty.kernels.compile import kernel


@kernel
def dot(left, right):
    """Inner product of two arrays, as four running sums."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(left) - len(left) % 4
    for i in range(0, whole, 4):
        a += left[i] * right[i]
        b += left[i + 1] * right[i + 1]
        c += left[i + 2] * right[i + 2]
        d += left[i + 3] * right[i + 3]
    for i in range(whole, len(left)):
        a += left[i] * right[i]
    return (a + b) + (c + d)


@kernel
def add(out, factor, vector):
    """``out += factor * vector``."""
    for row in range(len(out)):
        for i in range(out.shape[1]):
            out[row, i] += factor * vector[row, i]


@kernel
def downhill(slope, steps, changes, curvatures, newest, n_steps, out):
    """Minus the slope times the approximate inverse Hessian, by the two loops over the last steps (Nocedal 1980).

    ``steps`` and ``changes`` (of the slope) are ring buffers of vectors, the last one at index ``newest``;
    ``curvatures`` has the inner product of each pair.
    """
    last, size = len(slope) - 1, len(steps)
    factors = np.empty(n_steps)
    out[:] = 0.0
    add(out, -1.0, slope)
    for age in range(n_steps):
        place = (newest - age) % size
        factors[age] = dot(steps[place, last], out[0]) / curvatures[place]
        add(out, -factors[age], changes[place])
    if n_steps > 0:
        square = dot(changes[newest, 0], changes[newest, last])
        scale = curvatures[newest] / max(square, 1e-300)
        for row in range(len(out)):
            for i in range(out.shape[1]):
                out[row, i] *= scale
    for age in range(n_steps - 1, -1, -1):
        place = (newest - age) % size
        add(out, factors[age] - dot(changes[place, last], out[0]) / curvatures[place], steps[place])
