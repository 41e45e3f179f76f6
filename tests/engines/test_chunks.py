from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bursty.engines import Assignment, Chunk, Levels, cut, total, with_trace
from bursty.kernels import threads

tables = arrays(np.int32, st.tuples(st.integers(1, 7), st.integers(1, 6)), elements=st.integers(0, 4))


@given(tables, st.integers(0, 100))
def test_sums_equal_numpy(table, seed):
    rng = np.random.default_rng(seed)
    chunk = Chunk(sp.csr_array(table))
    n_documents, n_words = table.shape
    resp, by_word = rng.random((n_documents, 3)), rng.normal(size=(n_words, 3))
    present = table > 0
    np.testing.assert_allclose(chunk.words(by_word), present @ by_word, atol=1e-12)
    np.testing.assert_allclose(chunk.tokens(by_word), table @ by_word, atol=1e-12)
    np.testing.assert_allclose(chunk.sum_by_word(resp), present.T @ resp, atol=1e-12)
    np.testing.assert_allclose(chunk.sum_tokens(resp), table.T @ resp, atol=1e-12)
    np.testing.assert_array_equal(chunk.lengths, table.sum(axis=1))
    np.testing.assert_allclose(chunk.norms, np.linalg.norm(table, axis=1))
    np.testing.assert_allclose(chunk.total(resp), resp.sum(axis=0))
    np.testing.assert_array_equal(chunk.without_first.lengths, np.maximum(table - 1, 0).sum(axis=1))
    np.testing.assert_allclose(chunk.without_first.tokens(by_word), np.maximum(table - 1, 0) @ by_word, atol=1e-12)
    levels = chunk.sum_by_level(resp)
    by_level = rng.normal(size=(len(levels.items), 3))
    cells = [(table[:, w] == v) for w, v in zip(levels.items, levels.values, strict=True)]
    expected = np.array([resp[c].sum(axis=0) for c in cells]).reshape(-1, 3)
    np.testing.assert_allclose(levels.weights, expected, atol=1e-12)
    member = np.array(cells, dtype=float).reshape(len(levels.items), n_documents)
    np.testing.assert_allclose(chunk.levels(by_level), member.T @ by_level, atol=1e-12)
    lengths = chunk.sum_by_length(resp)
    np.testing.assert_array_equal(lengths.values, np.unique(table.sum(axis=1)))
    np.testing.assert_allclose(lengths.weights.sum(axis=0), resp.sum(axis=0))


@given(tables, st.integers(0, 100))
def test_an_assignment_is_certain_responsibility(table, seed):
    rng = np.random.default_rng(seed)
    chunk = Chunk(sp.csr_array(table))
    labels = rng.integers(-1, 3, size=len(table)).astype(np.int32)
    hard = Assignment(labels, 3, rng.random(len(table)))
    soft = (labels[:, None] == np.arange(3)) * hard.weights[:, None]
    np.testing.assert_allclose(chunk.sum_by_word(hard), chunk.sum_by_word(soft), atol=1e-12)
    np.testing.assert_allclose(chunk.sum_tokens(hard), chunk.sum_tokens(soft), atol=1e-12)
    np.testing.assert_allclose(chunk.sum_by_level(hard).weights, chunk.sum_by_level(soft).weights, atol=1e-12)
    np.testing.assert_allclose(chunk.sum_by_length(hard).weights, chunk.sum_by_length(soft).weights, atol=1e-12)
    np.testing.assert_allclose(chunk.total(hard), chunk.total(soft), atol=1e-12)


@given(tables, st.integers(0, 100), st.booleans())
def test_a_trace_is_a_little_of_every_document_for_every_component(table, seed, mostly_certain):
    rng = np.random.default_rng(seed)
    resp = rng.dirichlet(np.ones(3), size=len(table))
    certain = rng.random(len(table)) < (0.8 if mostly_certain else 0.2)
    resp[certain] = np.eye(3)[rng.integers(0, 3, size=np.count_nonzero(certain))]
    expected = resp + 0.01
    traced = with_trace(resp.copy(), 0.01)
    assert isinstance(traced, Assignment) == (2 * np.count_nonzero(certain) >= len(table))
    factors = rng.random(len(table))
    scaled = traced * (factors if isinstance(traced, Assignment) else factors[:, None])
    for given_, dense in ((traced, expected), (scaled, expected * factors[:, None]), (traced[:2], expected[:2])):
        part = Chunk(sp.csr_array(table[: len(dense)]))
        np.testing.assert_allclose(part.sum_by_word(given_), part.sum_by_word(dense), atol=1e-12)
        np.testing.assert_allclose(part.sum_tokens(given_), part.sum_tokens(dense), atol=1e-12)
        np.testing.assert_allclose(part.sum_by_level(given_).weights, part.sum_by_level(dense).weights, atol=1e-12)
        np.testing.assert_allclose(part.sum_by_length(given_).weights, part.sum_by_length(dense).weights, atol=1e-12)
        np.testing.assert_allclose(part.total(given_), part.total(dense), atol=1e-12)


@given(tables, st.integers(1, 4))
def test_levels_of_parts_add_up(table, size):
    counts = sp.csr_array(table)
    resp = np.random.default_rng(0).random((len(table), 2))
    whole = Chunk(counts).sum_by_level(resp)
    parts = total(c.sum_by_level(resp[i * size : (i + 1) * size]) for i, c in enumerate(cut(counts, size)))
    np.testing.assert_array_equal(parts.items, whole.items)
    np.testing.assert_array_equal(parts.values, whole.values)
    np.testing.assert_allclose(parts.weights, whole.weights, atol=1e-12)
    np.testing.assert_allclose((parts * 0.5).weights, parts.weights / 2)


def test_first_of_levels():
    levels = Levels(np.array([0, 0, 2]), np.array([1, 5, 1]), np.ones((3, 1)), 4)
    assert levels.heads.tolist() == [0, 2]
    nothing = np.array([], dtype=np.int32)
    assert Levels(nothing, nothing, np.ones((0, 1)), 4).heads.size == 0
    np.testing.assert_array_equal(levels.first, [0, 2, 2, 3, 3])


def test_cut_keeps_every_document_in_order():
    counts = sp.csr_array(np.arange(21).reshape(7, 3))
    chunks = list(cut(counts, 3))
    assert [c.n_documents for c in chunks] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([c.lengths for c in chunks]), counts.sum(axis=1))


def test_threads_share_all_of_the_work(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    for n_threads in (1, 2, 3, 8):
        seen = []
        with threads.using(n_threads):
            threads.run(lambda start, stop, seen=seen: seen.extend(range(start, stop)), np.array([0, 0, 5, 5, 9, 10]))
        assert sorted(seen) == [0, 1, 2, 3, 4]


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)

    def fail(start, stop):
        raise RuntimeError("in a thread")

    with threads.using(2), pytest.raises(RuntimeError, match="in a thread"):
        threads.run(fail, np.arange(5))


def test_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads.joblib, "cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads.resolve(n) for n in (None, -1, -2, 1, 7)] == [4, 4, 3, 1, 7]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads.resolve(None) == 2


def test_apply_equals_the_function(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    monkeypatch.setattr(threads, "BLOCK", 7)
    table = np.random.default_rng(0).random((11, 3))
    with threads.using(3):
        np.testing.assert_array_equal(threads.apply(np.log, table), np.log(table))
        np.testing.assert_array_equal(threads.apply(np.multiply, table, np.arange(3.0)), table * np.arange(3.0))


def test_tokens_in_the_order_of_words():
    chunk = Chunk(sp.csr_array(np.random.default_rng(0).poisson(0.7, size=(9, 6)).astype(np.int32)))
    starts, larger, places, sizes = chunk.tokens_by_word
    words = np.repeat(chunk.indices, chunk.values)
    for word in range(chunk.n_words):
        cells = zip(places[starts[word] : starts[word + 1]], sizes[starts[word] : starts[word + 1]], strict=True)
        tokens = [token for place, size in cells for token in range(place, place + size)]
        assert sorted(tokens) == np.flatnonzero(words == word).tolist()
        assert np.all(sizes[starts[word] : larger[word]] == 1)
        assert np.all(sizes[larger[word] : starts[word + 1]] > 1)
