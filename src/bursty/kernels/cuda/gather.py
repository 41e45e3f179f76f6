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

from numba import cuda, float32, float64, int32

from bursty.kernels.cuda import lanes as warp
from bursty.kernels.cuda.lanes import SIMULATED

place, meet, read = warp.place, warp.meet, warp.read
#: Lanes of a warp, and threads of a block.
LANES = 2 if SIMULATED else 32
THREADS = 2 if SIMULATED else 128
_DEPTH = LANES.bit_length() - 1


@cuda.jit(cache=True)
def sum_rows(begins, ends, indices, values, table, out):
    """``out[i] = table[indices[begins[i]:ends[i]]].sum(axis=0)``; weighted by values, where there are any."""
    piece = cuda.blockIdx.x * (cuda.blockDim.x // LANES) + cuda.threadIdx.x // LANES
    if piece < begins.shape[0]:
        lane, home = int32(cuda.threadIdx.x % LANES), int32(place() - cuda.threadIdx.x % LANES)
        begin, end, n_columns = begins[piece], ends[piece], table.shape[1]
        is_weighted = values.shape[0] > 0
        for block in range(0, n_columns if n_columns <= LANES or is_weighted else 0, LANES):
            k = min(block + lane, n_columns - 1)
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for base in range(begin, end, LANES):
                index, weight = int32(0), float32(0.0)
                if base + lane < end:
                    index, weight = int32(indices[base + lane]), float32(1.0)
                    if is_weighted:
                        weight = float32(values[base + lane])
                # Indices past the end have weight zero, so that four numbers are on their way at any time.
                j = int32(0)
                while j < LANES and base + j < end:
                    if LANES >= 4 and not is_weighted and base + j + 4 <= end:
                        a += table[read(index, home + j), k]
                        b += table[read(index, home + j + 1), k]
                        c += table[read(index, home + j + 2), k]
                        d += table[read(index, home + j + 3), k]
                        j += int32(4)
                    else:
                        a += read(weight, home + j) * table[read(index, home + j), k]
                        j += int32(1)
            if block + lane < n_columns:
                out[piece, block + lane] = (a + b) + (c + d)
        # With many columns, four of them are on their way.
        for block in range(0, 0 if n_columns <= LANES or is_weighted else n_columns, 4 * LANES):
            k = block + lane
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for base in range(begin, end, LANES):
                index = int32(0)
                if base + lane < end:
                    index = int32(indices[base + lane])
                for j in range(min(LANES, end - base)):
                    row = read(index, home + j)
                    if k < n_columns:
                        a += table[row, k]
                    if k + LANES < n_columns:
                        b += table[row, k + LANES]
                    if k + 2 * LANES < n_columns:
                        c += table[row, k + 2 * LANES]
                    if k + 3 * LANES < n_columns:
                        d += table[row, k + 3 * LANES]
            if k < n_columns:
                out[piece, k] = a
            if k + LANES < n_columns:
                out[piece, k + LANES] = b
            if k + 2 * LANES < n_columns:
                out[piece, k + 2 * LANES] = c
            if k + 3 * LANES < n_columns:
                out[piece, k + 3 * LANES] = d


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
def share_out(log_prob, log_weights, inverse_temperatures, labels, weights, last, resp, places, log_evidence, moved):
    """`bursty.kernels.posterior.posterior` and what `inference.em.expect` makes of it, for each document.

    ``resp`` are times the weights of documents. ``labels`` of 0 or more are given. ``places`` are the component and its
    responsibility; ``moved`` compares with ``last``, which may have no rows.
    """
    row = cuda.blockIdx.x * (cuda.blockDim.x // LANES) + cuda.threadIdx.x // LANES
    if row < log_prob.shape[0]:
        lane, home = int32(cuda.threadIdx.x % LANES), int32(place() - cuda.threadIdx.x % LANES)
        n_components, inverse, label = log_prob.shape[1], inverse_temperatures[row], labels[row]
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
            log_evidence[row] = evidence
            moved[row] = 1.0 if last.shape[0] == 0 else abs(before - last[row, 1])
