"""Sums over rows on a GPU, and tables set to zero."""

from __future__ import annotations

from numba import cuda

#: Number of rows that one thread adds up.
BLOCK = 192
# Sums that a thread has under way, so that it need not wait for each number.
_WAYS = 8


@cuda.jit(cache=True)
def add_blocks(values, out):
    """Sums over `BLOCK` rows at a time, in one order: blocks x columns."""
    place = cuda.grid(1)
    if place < out.size:
        block, k = place // out.shape[1], place % out.shape[1]
        row, end = block * BLOCK, min(values.shape[0], (block + 1) * BLOCK)
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        e, f, g, h = 0.0, 0.0, 0.0, 0.0
        while row + _WAYS <= end:
            a += values[row, k]
            b += values[row + 1, k]
            c += values[row + 2, k]
            d += values[row + 3, k]
            e += values[row + 4, k]
            f += values[row + 5, k]
            g += values[row + 6, k]
            h += values[row + 7, k]
            row += _WAYS
        while row < end:
            a += values[row, k]
            row += 1
        out[block, k] = ((a + b) + (c + d)) + ((e + f) + (g + h))


@cuda.jit(cache=True)
def add_tables(left, right, out):
    """``left + right``."""
    place = cuda.grid(1)
    if place < out.size:
        row, k = place // out.shape[1], place % out.shape[1]
        out[row, k] = left[row, k] + right[row, k]


@cuda.jit(cache=True)
def clear(values):
    """Set to zero."""
    place = cuda.grid(1)
    if place < values.size:
        values[place] = 0
