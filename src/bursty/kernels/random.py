"""A random stream for every document, keyed by (seed, sweep, document) and never by thread or worker.

Draw i of a stream is a hash of its number,

    draw_i = mix(key + i * step),   key, step = hashes of (seed, sweep, document)

(SplitMix64, with a separate step for each stream, so that no two streams overlap). No state is carried from one draw to
the next, so that a document can be processed anywhere, to the same bits.

Arithmetic is modulo 2^64. Compiled uint64 does this by itself; plain Python needs masks, so each step is written for
both. Keys are cast to uint64 when they are passed from one kernel to another: a compiled kernel called from plain
Python returns Python integers, and takes such integers to be signed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from bursty.kernels.compile import kernel

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15
_MULTIPLIERS = 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB
_UNIT = 2.0**-53


def _add(a: Any, b: Any) -> Any:
    """The sum modulo 2^64."""
    return (int(a) + int(b)) & _MASK


def _times(a: Any, b: Any) -> Any:
    """The product modulo 2^64."""
    return (int(a) * int(b)) & _MASK


def _fold(x: Any, n: Any) -> Any:
    """Mix the upper bits into the lower ones."""
    return int(x) ^ (int(x) >> n)


def _odd(x: Any) -> Any:
    """Set the lowest bit."""
    return int(x) | 1


def _unit(x: Any) -> Any:
    """The upper 53 bits as a number in [0, 1)."""
    return (int(x) >> 11) * _UNIT


@overload(_add)
def _add_compiled(a, b):
    return lambda a, b: np.uint64(a) + np.uint64(b)


@overload(_times)
def _times_compiled(a, b):
    return lambda a, b: np.uint64(a) * np.uint64(b)


@overload(_fold)
def _fold_compiled(x, n):
    return lambda x, n: np.uint64(x) ^ (np.uint64(x) >> np.uint64(n))


@overload(_odd)
def _odd_compiled(x):
    return lambda x: np.uint64(x) | np.uint64(1)


@overload(_unit)
def _unit_compiled(x):
    return lambda x: np.float64(np.uint64(x) >> np.uint64(11)) * _UNIT


@kernel
def mix(x):
    """Scramble 64 bits: every bit of the result depends on every bit of x, and the map is one to one."""
    x = _times(_fold(x, 30), _MULTIPLIERS[0])
    x = _times(_fold(x, 27), _MULTIPLIERS[1])
    return _fold(x, 31)


@kernel
def combine(key, number):
    """A new key from a key and a number."""
    return mix(_add(key, _times(_add(number, 1), _GOLDEN)))


@kernel
def stream(seed, sweep, document):
    """Key and step of a stream."""
    key = np.uint64(combine(np.uint64(combine(np.uint64(mix(seed)), sweep)), document))
    return key, np.uint64(_odd(mix(_add(key, _GOLDEN))))


@kernel
def uniform(key, step, draw):
    """Draw number ``draw`` of a stream: uniform on [0, 1)."""
    return _unit(mix(_add(key, _times(draw, step))))


@kernel
def uniforms(seed, sweep, document, out):
    """The first draws of a stream."""
    key, step = stream(seed, sweep, document)
    for draw in range(len(out)):
        out[draw] = uniform(np.uint64(key), np.uint64(step), draw)


@kernel
def keys(numbers, out):
    """A key for each number: ``combine(0, number)``."""
    for i in range(len(numbers)):
        out[i] = combine(0, numbers[i])


@kernel
def document_keys(indptr, words, counts, out, start, stop):
    """A number per document that depends on its contents and not on its position."""
    for document in range(start, stop):
        key = np.uint64(mix(0))
        for cell in range(indptr[document], indptr[document + 1]):
            key = np.uint64(combine(np.uint64(combine(key, words[cell])), counts[cell]))
        out[document] = key


@kernel
def choices(first, seed, sweep, keys, n_choices, out, start, stop):
    """A uniformly random integer below ``n_choices`` for each token of each document."""
    for document in range(start, stop):
        key, step = stream(seed, sweep, keys[document])
        for token in range(first[document], first[document + 1]):
            draw = uniform(np.uint64(key), np.uint64(step), token - first[document])
            out[token] = int(draw * n_choices)
