"""Lists of pairs give what tables give."""

from __future__ import annotations

import numpy as np
import pytest

from bursty.engines import Levels
from bursty.families.dcm import maximise_alpha
from bursty.families.priors import UrnPrior, solve_with_prior
from bursty.families.solve import S_MAX, S_MIN, solve_urns
from bursty.families.sparse_urns import ListedUrns, PairUrns
from bursty.kernels import gibbs_maximise, threads

N_WORDS, K = 30, 5


def corpus(kind):
    """Counts of words in documents and components: documents x words x components."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.2, 2.0, size=(60, N_WORDS, K)))
    counts[:, rng.random((N_WORDS, K)) < 0.5] = 0
    if kind == "limits":
        counts[..., 0] = 0
        counts[..., 1] = np.minimum(counts[..., 1], 1)
        counts[..., 2] = 0
        counts[np.arange(60), rng.integers(0, N_WORDS, 60), 2] = rng.integers(1, 9, 60)
    if kind == "alike":  # pairs without repeats, in one to four documents
        counts[4:, 10:] = 0
        counts[:, 10:] = rng.integers(0, 2, size=counts[:, 10:].shape) * (np.arange(60) < 4)[:, None, None]
    return counts


def tables(counts):
    """As levels (word, value) x components, as levels (pair, value), and the components' lengths."""
    table, pairs = {}, {}
    for (
        _,
        word,
        k,
    ) in np.argwhere(counts > 0):
        pairs.setdefault((word, k), None)
    for word, k in pairs:
        for value, weight in zip(*np.unique(counts[:, word, k], return_counts=True), strict=True):
            if value > 0:
                table.setdefault((word, value), np.zeros(K))[k] = weight
    keys = sorted(table)
    dense = Levels(*np.array(keys, dtype=np.int32).T, np.array([table[key] for key in keys]), N_WORDS)
    entries = sorted((word * K + k, value, table[word, value][k]) for word, value in keys for k in range(K))
    entries = np.array([entry for entry in entries if entry[2] > 0])
    items, values = entries[:, :2].astype(np.int32).T.copy()
    lengths = counts.sum(axis=1)
    known = np.unique(lengths[lengths > 0])
    weights = np.array([(lengths == value).sum(axis=0) for value in known], dtype=float)
    sizes = Levels(np.zeros(len(known), dtype=np.int32), known.astype(np.int32), weights, 1)
    return dense, Levels(items, values, entries[:, 2:], N_WORDS * K), sizes


@pytest.mark.parametrize("kind", ["plain", "limits"])
@pytest.mark.parametrize("given", [False, True])
def test_lists_and_tables_have_the_same_maximum(kind, given):
    dense, sparse, sizes = tables(corpus(kind))
    start = np.random.default_rng(1).gamma(1.0, size=(N_WORDS, K)) if given else None
    expected = maximise_alpha(dense, sizes, start)
    got = solve_urns(PairUrns(sparse, K), sizes, start)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-300)
    if kind == "limits":
        np.testing.assert_allclose(got.sum(axis=0)[:3], [0.0, S_MAX, S_MIN])


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    _, sparse, sizes = tables(corpus("plain"))
    results = []
    for n_threads in (1, 2, 5):
        with threads.using(n_threads):
            results.append(solve_urns(PairUrns(sparse, K), sizes).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("kind", ["plain", "limits", "alike"])
def test_solutions_as_lists_are_those_of_tables(kind):
    _, sparse, sizes = tables(corpus(kind))
    urns = PairUrns(sparse, K)
    listed = ListedUrns(urns)
    assert kind != "alike" or len(listed.types) < 0.7 * len(urns.types)
    table, found = solve_urns(urns, sizes), solve_urns(listed, sizes)
    np.testing.assert_allclose(found[:-K], table[urns.words, urns.components][listed.pairs], rtol=1e-12)
    np.testing.assert_array_equal(found[-K:], 0.0)
    np.testing.assert_allclose(listed.sums(found), table.sum(axis=0), rtol=1e-12)
    both = [solve_with_prior(own, sizes, UrnPrior()) for own in (urns, listed)]
    np.testing.assert_allclose(both[1].s, both[0].s, rtol=1e-9)
    np.testing.assert_allclose(both[1].error, both[0].error, rtol=1e-9)
    others = np.ones((N_WORDS, K), dtype=bool)
    others[urns.words, urns.components] = False
    np.testing.assert_allclose(both[1].alpha[-K:], (both[0].alpha * others).sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("n_places", [65_536, 7])
@pytest.mark.parametrize("kernel", ["find_alike", "py_func"])
def test_pairs_without_repeats_and_of_as_many_documents_are_alike(n_places, kernel):
    """In a table that is too small, some stand for themselves."""
    _, sparse, _ = tables(corpus("alike"))
    urns = PairUrns(sparse, K)
    found, function = np.empty(len(urns.types), dtype=np.int32), gibbs_maximise.find_alike
    function = getattr(function, "py_func", function) if kernel == "py_func" else function
    places = np.full(n_places, -1, dtype=np.int32)
    function(urns.first, urns.values, urns.components, urns.types, places, found)
    known, expected = {}, np.arange(len(found))
    for pair in range(len(found)):
        if urns.values[urns.first[pair + 1] - 1] == 1:
            expected[pair] = known.setdefault((urns.components[pair], urns.types[pair]), pair)
    own = found == np.arange(len(found))
    if n_places > len(found):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found[~own], expected[~own])
    assert own.sum() < len(own)


def test_components_at_their_maximum_stay_there():
    """A step may leave its bracket by a rounding error, which is no reason to go back to the middle of it."""
    _, sparse, sizes = tables(corpus("plain"))
    urns = PairUrns(sparse, K)
    alpha = solve_urns(urns, sizes)
    for factors in np.exp(2.0 * np.random.default_rng(0).normal(size=(10, K))):
        found = solve_urns(urns, sizes, alpha * factors, n_steps=12)
        np.testing.assert_allclose(found, alpha, rtol=1e-9)


def test_plain_python_agrees():
    _, sparse, _ = tables(corpus("plain"))
    urns = PairUrns(sparse, K)
    tails = np.empty_like(urns.tails)
    plain = getattr(gibbs_maximise.tail_sums, "py_func", gibbs_maximise.tail_sums)
    plain(urns.first, sparse.weights[:, 0], tails, 0, len(urns.words))
    np.testing.assert_array_equal(tails, urns.tails)
    for number, pair in enumerate(urns.types[:20]):
        own = slice(urns.first[number], urns.first[number + 1])
        assert pair == sparse.weights[own].sum()
    args = urns.first, urns.values, urns.tails, urns.extra, urns.components, np.array([3.0, 9.0, 0.0, 2.0, 5.0]), 100
    results = []
    for kernel in (gibbs_maximise.solve, getattr(gibbs_maximise.solve, "py_func", gibbs_maximise.solve)):
        alpha, slope = np.ones(len(urns.words)), np.zeros(len(urns.words))
        kernel(*args, alpha, slope, 0, len(urns.words))
        results.append((alpha, slope))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)
    alpha = results[0][0]
    assert np.all(alpha[urns.components == 2] == 1.0)
    for number in np.flatnonzero(urns.components != 2):
        own = slice(urns.first[number], urns.first[number + 1])
        slope = sum(
            w * (1.0 / (alpha[number] + np.arange(v))).sum()
            for v, w in zip(urns.values[own], sparse.weights[own, 0], strict=True)
        )
        np.testing.assert_allclose(slope, args[5][urns.components[number]], rtol=1e-9)


def test_nothing_at_all():
    none = Levels(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, 1)), N_WORDS * K)
    sizes = Levels(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, K)), 1)
    np.testing.assert_array_equal(solve_urns(PairUrns(none, K), sizes), np.zeros((N_WORDS, K)))


def test_pairs_without_weight_change_nothing():
    """As of a component that has lost its documents."""
    _, sparse, sizes = tables(corpus("limits"))
    items = np.insert(sparse.items, 0, 0).astype(np.int32)  # word 0 in component 0, which has no tokens
    more = Levels(items, np.insert(sparse.values, 0, 1), np.insert(sparse.weights, 0, 0.0, axis=0), N_WORDS * K)
    assert sparse.items[0] > 0
    found, expected = (solve_urns(PairUrns(levels, K), sizes) for levels in (more, sparse))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
