"""Sums of rows that a sparse pattern lists, and Bayes' rule, on a GPU: one warp for each row of the result.

| name | what | shape |
|---|---|---|
| begins, ends | first index of each piece of the pattern, and the last plus 1 | pieces |
| indices | rows of the table | n |
| table | single or double precision | rows x K |
| heads | the first piece of each row of the result | rows + 1 |
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from numba import cuda, float32, float64, int32

from bursty.kernels.cuda import lanes as warp
from bursty.kernels.cuda.lanes import SIMULATED
from bursty.kernels.cuda.rising import log_rising

place, meet, read = warp.place, warp.meet, warp.read
#: Lanes of a warp, and threads of a block.
LANES = 2 if SIMULATED else 32
THREADS = 2 if SIMULATED else 128
_DEPTH = LANES.bit_length() - 1
# Maximum number of columns, lanes for each row, and maximum number of columns for each lane: of those tried with 20, 50
# 100 and 200 columns on an H200, the fastest or nearly so.
_SHAPES: tuple[tuple[int, int, int], ...] = (4, 4, 1), (32, 8, 4), (56, 8, 7), (112, 16, 7), (2**31, 32, 7)
if SIMULATED:
    _SHAPES = (4, 1, 2), (2**31, LANES, 2)


def sum_kernel(n_columns: int, is_weighted: bool) -> Any:
    """`_sum_kernel` of the shape for this number of columns."""
    lanes, slots = next((lanes, slots) for most, lanes, slots in _SHAPES if n_columns <= most)
    return _sum_kernel(lanes, min(slots, -(-n_columns // lanes)), is_weighted)


@lru_cache
def _sum_kernel(n_lanes: int, n_slots: int, is_weighted: bool) -> Any:
    """Sums of rows, of which a warp reads several at once: T = ``n_lanes`` for each, with S = ``n_slots`` columns each.

    ``out[i] = table[indices[begins[i]:ends[i]]].sum(axis=0)``, weighted by values if ``is_weighted``.
    """
    T, S, ROWS, WEIGHTED = n_lanes, n_slots, LANES // n_lanes, is_weighted
    DEPTH = ROWS.bit_length() - 1

    @cuda.jit(cache=True)
    def sum_rows(begins, ends, indices, values, table, out):
        piece = cuda.blockIdx.x * (cuda.blockDim.x // LANES) + cuda.threadIdx.x // LANES
        if piece < begins.shape[0]:
            lane, home = int32(cuda.threadIdx.x % LANES), int32(place() - cuda.threadIdx.x % LANES)
            row, begin, end, last = lane // T, begins[piece], ends[piece], table.shape[1] - 1
            totals = cuda.local.array(S, float64)
            for column in range(lane % T, table.shape[1] + lane % T, T * S):
                for i in range(S):
                    totals[i] = 0.0
                for base in range(begin, end, LANES):
                    index, weight = int32(0), float64(0.0)
                    if base + lane < end:
                        index, weight = int32(indices[base + lane]), float64(1.0)
                        if WEIGHTED:
                            weight = float64(values[base + lane])
                    if base + LANES <= end and not WEIGHTED:
                        for j in range(T):
                            own = read(index, home + j * ROWS + row)
                            for i in range(S):
                                totals[i] += table[own, min(column + T * i, last)]
                    else:  # indices past the end have weight zero
                        for j in range(min(T, (end - base + ROWS - 1) // ROWS)):
                            own, factor = read(index, home + j * ROWS + row), read(weight, home + j * ROWS + row)
                            for i in range(S):
                                if factor != 0.0:
                                    totals[i] += factor * table[own, min(column + T * i, last)]
                for i in range(S):
                    for depth in range(DEPTH):
                        totals[i] += read(totals[i], home + (lane ^ (T << depth)))
                    if row == 0 and column + T * i <= last:
                        out[piece, column + T * i] = totals[i]

    return sum_rows


@cuda.jit(cache=True)
def join_pieces(heads, pieces, out):
    """Sum of the pieces of each row, in order: one thread per row and column."""
    pair = cuda.grid(1)
    if pair < out.size:
        row, k = pair // out.shape[1], pair % out.shape[1]
        total = 0.0
        for piece in range(heads[row], heads[row + 1]):
            total += pieces[piece, k]
        out[row, k] = total


@cuda.jit(cache=True)
def add_trace(trace, weights, out):
    """``out += trace * weights[:, None]``: one thread per row and column."""
    pair = cuda.grid(1)
    if pair < out.size:
        row, k = pair // out.shape[1], pair % out.shape[1]
        out[row, k] += trace * weights[row]


@cuda.jit(cache=True)
def add_rows(table, codes, constants, out):
    """``out += table[codes] + constants[:, None]``: one thread per row and column."""
    pair = cuda.grid(1)
    if pair < out.size:
        row, k = pair // out.shape[1], pair % out.shape[1]
        out[row, k] += table[codes[row], k] + constants[row]


@cuda.jit(device=True)
def across(value, is_sum, home, lane):
    """The sum or the largest over the lanes of a warp, for all of them."""
    for depth in range(_DEPTH):
        other = read(value, home + (lane ^ (1 << depth)))
        value = value + other if is_sum else max(value, other)
    return value


@cuda.jit(cache=True)
def share_out(log_prob, log_weights, temperature, own, labels, weights, last, resp, places, sizes, sums):
    """`bursty.kernels.posterior.posterior` and what `inference.em.expect` makes of it, for each document.

    ``own`` are temperatures of documents, and ``resp`` are times their weights. ``labels`` of 0 or more are given.
    ``places`` are the component and its responsibility, and ``sizes`` the number of documents of each component.
    ``sums`` get the weighted log-evidence, and the change from ``last``, which may have no rows.
    """
    row = cuda.blockIdx.x * (cuda.blockDim.x // LANES) + cuda.threadIdx.x // LANES
    if row < log_prob.shape[0]:
        lane, home = int32(cuda.threadIdx.x % LANES), int32(place() - cuda.threadIdx.x % LANES)
        n_components, inverse, label = log_prob.shape[1], 1.0 / (temperature * own[row]), labels[row]
        most = float64(-math.inf)
        for k in range(lane, n_components, LANES):
            most = max(most, log_prob[row, k] * inverse + log_weights[k])
        most = across(most, False, home, lane)
        is_possible, total = most > -math.inf, float64(0.0)
        for k in range(lane, n_components, LANES):
            joint = log_prob[row, k] * inverse + log_weights[k] - most if is_possible else log_weights[k]
            total += math.exp(joint)
        total = across(total, True, home, lane)
        best, winner, before = float64(-1.0), int32(0), float64(0.0)
        for k in range(lane, n_components, LANES):
            joint = log_prob[row, k] * inverse + log_weights[k] - most if is_possible else log_weights[k]
            share = math.exp(joint) / total
            if label >= 0:
                share = 1.0 if k == label else 0.0
            resp[row, k] = float32(share * weights[row])
            if share > best:
                best, winner = share, int32(k)
            if last.shape[0] > 0 and k == int32(last[row, 0]):
                before = share
        largest = across(best, False, home, lane)
        first = across(-float64(winner) if best == largest else -float64(n_components), False, home, lane)
        before = across(before, True, home, lane)
        if lane == 0:
            places[row, 0], places[row, 1] = float32(-first), float32(largest)
            evidence = most + math.log(total)
            if label >= 0:
                evidence = log_prob[row, label] * inverse + log_weights[label]
            sums[row, 0] = weights[row] * evidence if math.isfinite(evidence) else 0.0
            sums[row, 1] = weights[row] * (1.0 if last.shape[0] == 0 else abs(before - last[row, 1]))
            cuda.atomic.add(sizes, int(-first), 1)


@cuda.jit(cache=True)
def take_logs(values, out):
    """Logarithms in single precision."""
    pair = cuda.grid(1)
    if pair < out.size:
        row, k = pair // out.shape[1], pair % out.shape[1]
        out[row, k] = math.log(float32(values[row, k])) if values[row, k] > 0.0 else -math.inf


@cuda.jit(cache=True)
def log_rising_table(items, values, weights, more, out):
    """`bursty.kernels.polya.log_rising_table` of ``weights + more``, whose row each level has in ``items``."""
    pair = cuda.grid(1)
    if pair < out.size:
        level, k = pair // out.shape[1], pair % out.shape[1]
        out[level, k] = log_rising(weights[items[level], k] + more, values[level])
