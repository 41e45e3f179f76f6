"""Products of dense rows with a table on a GPU, tile by tile: `bursty.kernels.points`.

| name | what | shape |
|---|---|---|
| points | dense rows, in single precision | n x R |
| table | single or double precision | R x K, or n x K for the transposed product |
| out | for each piece of the summands, the product, row by row | pieces * rows * K |
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import cuda, float64

from bursty.kernels.cuda.lanes import SIMULATED

#: Threads of a block along each side of a tile, and number of rows of the product that a thread computes.
SIDE, ROWS = (2, 2) if SIMULATED else (16, 4)


def multiply(points: Any, table: Any, constants: Any, out: Any, *, size: int, is_transposed: bool) -> None:
    """Launch `_product_kernel` with as many columns for each thread as are needed, up to `ROWS`."""
    n_slots = min(ROWS, -(-table.shape[1] // SIDE))
    n_rows, n_pieces = points.shape[int(is_transposed)], max(1, -(-table.shape[0] // size))
    grid = -(-n_rows // (SIDE * ROWS)), -(-table.shape[1] // (SIDE * n_slots)), n_pieces
    if n_rows:
        _product_kernel(n_slots, is_transposed)[grid, (SIDE, SIDE)](points, table, constants, size, out)


@lru_cache
def _product_kernel(n_slots: int, is_transposed: bool) -> Any:
    """Products of pieces, of which a block computes a tile, from tiles of the factors in shared memory.

    ``out[p] = constants + points[:, own] @ table[own]`` with the summands ``own = range(p * size, (p + 1) * size)``, or
    ``constants + points[own].T @ table[own]``; sums are in double precision and in one order.
    """
    T, E, S, N, TRANSPOSED = SIDE, ROWS, n_slots, ROWS * n_slots, is_transposed
    HIGH, WIDE, STRIDE = SIDE * ROWS, SIDE * n_slots, SIDE + 1  # rows of a tile begin in different banks

    @cuda.jit(cache=True)
    def multiply_tiles(points, table, constants, size, out):
        left = cuda.shared.array((HIGH, STRIDE), float64)
        right = cuda.shared.array((T, WIDE), float64)  # the simulator tells shared arrays apart by their lines
        totals = cuda.local.array(N, float64)
        x, y, n_columns = cuda.threadIdx.x, cuda.threadIdx.y, table.shape[1]
        n_rows = points.shape[1] if TRANSPOSED else points.shape[0]
        row, column, begin = cuda.blockIdx.x * HIGH, cuda.blockIdx.y * WIDE, cuda.blockIdx.z * size
        end = min(begin + size, table.shape[0])
        for i in range(N):
            totals[i] = 0.0
        for base in range(begin, end, T):
            for e in range(E):
                if TRANSPOSED:
                    i, j = row + e * T + x, base + y
                    left[e * T + x, y] = points[j, i] if j < end and i < n_rows else 0.0
                else:
                    i, j = row + e * T + y, base + x
                    left[e * T + y, x] = points[i, j] if j < end and i < n_rows else 0.0
            for s in range(S):
                j, k = base + y, column + s * T + x
                right[y, s * T + x] = table[j, k] if j < end and k < n_columns else 0.0
            cuda.syncthreads()
            for j in range(T):
                for e in range(E):
                    for s in range(S):
                        totals[e * S + s] += left[e * T + y, j] * right[j, s * T + x]
            cuda.syncthreads()
        for e in range(E):
            for s in range(S):
                i, k = row + e * T + y, column + s * T + x
                if i < n_rows and k < n_columns:
                    out[(cuda.blockIdx.z * n_rows + i) * n_columns + k] = totals[e * S + s] + constants[k]

    return multiply_tiles
