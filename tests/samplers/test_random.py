"""The random streams: uniform, independent of each other, the same bits compiled and not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bursty.kernels import random
from samplers import oracles_topics as oracles


def both(kernel):
    return [kernel] if not hasattr(kernel, "py_func") else [kernel, kernel.py_func]


@pytest.mark.parametrize("name", [(0, 0, 0), (7, 2, 3), (2**62 - 1, 12345, 2**40)])
def test_draws_are_those_of_the_oracle(name):
    for kernel in both(random.uniforms):
        out = np.empty(50)
        kernel(*name, out)
        assert out.tobytes() == oracles.uniforms(*name, 50).tobytes()


def test_every_stream_is_uniform_and_streams_are_independent():
    n_streams, n_draws = 200, 300
    draws = np.empty((n_streams, n_draws))
    for i in range(n_streams):
        random.uniforms(i // 100, i // 10 % 10, i % 10, draws[i])
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    assert stats.kstest(draws.ravel(), "uniform").pvalue > 1e-3
    # Within each stream, across streams draw by draw, from one draw to the next, and between neighbours.
    for part in (draws, draws.T):
        p = [stats.kstest(row, "uniform").pvalue for row in part]
        assert stats.kstest(p, "uniform").pvalue > 1e-3
    z = (draws - 0.5) * np.sqrt(12)
    for a, b in ((z[:, 1:], z[:, :-1]), (z[1:], z[:-1]), (z[10:], z[:-10])):
        assert abs(np.mean(a * b)) * np.sqrt(a.size) < 4


def test_bits_are_even():
    draws = np.empty(40_000)
    random.uniforms(1, 2, 3, draws)
    bits = (draws * 2**53).astype(np.uint64)
    for bit in range(53):
        ones = int(((bits >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - 20_000) < 5 * 100


def test_keys_of_documents_depend_on_what_they_hold():
    indptr = np.array([0, 2, 4, 5, 6, 6], dtype=np.int32)
    words, counts = np.array([1, 4, 1, 4, 1, 4], dtype=np.int32), np.array([2, 1, 2, 1, 2, 2], dtype=np.int32)
    for kernel in both(random.document_keys):
        out = np.zeros(5, dtype=np.uint64)
        kernel(indptr, words, counts, out, 0, 5)
        assert out[0] == out[1]
        assert len(set(out.tolist())) == 4
        expected = oracles.mix(0)
        for number in (1, 2, 4, 1):
            expected = oracles.mix((expected + (number + 1) * 0x9E3779B97F4A7C15) & oracles.MASK)
        assert int(out[0]) == expected


def test_choices():
    first = np.array([0, 30_000, 60_000])
    for kernel in both(random.choices)[:1]:
        out = np.empty(60_000, dtype=np.uint8)
        kernel(first, 5, 0, np.array([0, 1], dtype=np.uint64), 6, out, 0, 2)
        assert stats.chisquare(np.bincount(out, minlength=6)).pvalue > 1e-3
    some = [np.empty(100, dtype=np.uint8) for _ in both(random.choices)]
    for kernel, out in zip(both(random.choices), some, strict=True):
        kernel(np.array([0, 100]), 5, 0, np.array([0], dtype=np.uint64), 6, out, 0, 1)
        np.testing.assert_array_equal(out, (oracles.uniforms(5, 0, 0, 100) * 6).astype(int))
