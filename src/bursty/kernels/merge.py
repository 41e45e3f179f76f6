"""Addition of sorted lists of pairs (item, value) with weights, in blocks that several threads can process.

| name | what | shape |
|---|---|---|
| items, values | the pairs of each list, sorted | n |
| weights | one row per pair | n x K |
| edges | the first pair of each block, in the left and in the right list | blocks + 1, 2 |
"""

from __future__ import annotations

import numpy as np

from bursty.kernels import threads
from bursty.kernels.compile import kernel
from bursty.typing import Array

Pairs = tuple[Array, Array, Array]

# Pairs of the left list per block.
_BLOCK = 4096


def added(left: Pairs, right: Pairs) -> Pairs:
    """Items, values and weights of the pairs of either list; where both have a pair, its weights are added."""
    edges = _cut(left[0], left[1], right[0], right[1], _BLOCK)
    sizes, n_columns = np.empty(len(edges) - 1, dtype=np.int64), left[2].shape[1]
    cost = edges.sum(axis=1) * np.int64(1 + n_columns)
    threads.run(_count, cost, edges, *left[:2], *right[:2], sizes)
    first = np.append(0, np.cumsum(sizes))
    items, values = np.empty((2, first[-1]), dtype=np.int32)
    weights = np.empty((first[-1], n_columns))
    threads.run(_merge, cost, edges, first, left, right, (items, values, weights))
    return items, values, weights


@kernel
def _cut(items, values, other_items, other_values, size):
    """Edges of blocks of this size of the first list, with what lies between them in the second."""
    n_blocks = max(1, -(-len(items) // size))
    edges = np.zeros((n_blocks + 1, 2), dtype=np.int64)
    for block in range(1, n_blocks):
        place = block * size
        low, high = edges[block - 1, 1], len(other_items)
        while low < high:
            middle = (low + high) // 2
            if other_items[middle] < items[place] or (
                other_items[middle] == items[place] and other_values[middle] < values[place]
            ):
                low = middle + 1
            else:
                high = middle
        edges[block] = place, low
    edges[n_blocks] = len(items), len(other_items)
    return edges


@kernel
def _side(items, values, i, end, other_items, other_values, j, other_end):
    """Which list has the next pair: -1 the left one, 1 the right one, 0 both."""
    if j == other_end:
        return -1
    if i == end:
        return 1
    if items[i] != other_items[j]:
        return -1 if items[i] < other_items[j] else 1
    if values[i] != other_values[j]:
        return -1 if values[i] < other_values[j] else 1
    return 0


@kernel
def _count(edges, items, values, other_items, other_values, out, start, stop):
    """Number of different pairs of each block."""
    for block in range(start, stop):
        (i, j), (end, other_end), n = edges[block], edges[block + 1], 0
        while i < end or j < other_end:
            side = _side(items, values, i, end, other_items, other_values, j, other_end)
            i += side <= 0
            j += side >= 0
            n += 1
        out[block] = n


@kernel
def _merge(edges, first, left, right, result, start, stop):
    """The pairs of each block and their weights."""
    items, values, weights = left
    other_items, other_values, other_weights = right
    out_items, out_values, out = result
    for block in range(start, stop):
        (i, j), (end, other_end), place = edges[block], edges[block + 1], first[block]
        while i < end or j < other_end:
            side = _side(items, values, i, end, other_items, other_values, j, other_end)
            if side <= 0:
                out_items[place], out_values[place] = items[i], values[i]
            else:
                out_items[place], out_values[place] = other_items[j], other_values[j]
            for k in range(out.shape[1]):
                if side < 0:
                    out[place, k] = weights[i, k]
                elif side > 0:
                    out[place, k] = other_weights[j, k]
                else:
                    out[place, k] = weights[i, k] + other_weights[j, k]
            i += side <= 0
            j += side >= 0
            place += 1
