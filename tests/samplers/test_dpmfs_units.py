"""Constraints in the sampler: visits against all states that fit, and the rows of units against sums of documents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.kernels import dpmfs_labels
from bursty.samplers import dpmfs, dpmfs_collapsed
from bursty.samplers.dpmfs_units import LinkedDocuments
from samplers import oracles_dpmfs as oracles
from samplers.test_dpmfs import ALPHA, LAM, OMEGA, agree, bursty_joint, problem_of, visits

X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 1, 1], [1, 0, 2], [0, 1, 0]])
#: Documents 0, 1 and 4 are one unit, 2 and 3 another one; document 5 is alone.
TOGETHER = np.array([0, 0, 1, 1, 0, 2])


def fits(together, apart, labels):
    """Whether a partition of the documents keeps the constraints."""
    units = {}
    for unit, label in zip(together, labels, strict=True):
        if units.setdefault(unit, label) != label:
            return False
    return all(units[i] != units[j] for i, j in apart)


def exact(x, most, together, apart):
    return {
        (labels, gamma): oracles.multinomial_log_joint(x, labels, gamma, LAM, OMEGA, ALPHA, most)
        for labels, gamma in oracles.states(len(x), x.shape[1], most)
        if fits(together, apart, labels)
    }


CASES = {
    "together": (TOGETHER, []),
    "apart": (np.arange(5), [(0, 1), (1, 2), (3, 0)]),
    "both": (np.array([0, 0, 1, 2, 3]), [(0, 1), (2, 3)]),
}


@pytest.mark.parametrize(
    ("case", "sampler", "most"),
    [(case, "collapsed", most) for case in CASES for most in (None, 4)] + [("both", "no splits", None)],
)
def test_visits_are_those_of_the_states_that_fit(case, sampler, most):
    together, apart = CASES[case]
    x = X[: len(together)]
    links = {"apart": np.array(apart)} if apart else {}
    links |= {"together": together} if len(set(together)) < len(together) else {}
    problem = problem_of(x, most, **links)
    agree(visits(problem, sampler, 8_000, 4), exact(x, most, together, apart))


def test_visits_with_bursts():
    x = np.array([[3, 0, 1], [0, 2, 1], [2, 1, 0], [0, 1, 1]])
    together, apart = np.array([0, 0, 1, 2]), [(0, 2)]
    joint = {key: value for key, value in bursty_joint(x, None).items() if fits(together, apart, key[0])}
    problem = problem_of(x, None, bursty=True, together=together, apart=np.array(apart))
    agree(visits(problem, "collapsed", 9_000, 6), joint)


def test_known_classes_and_links_together():
    """Document 0 has class 0; 1 is apart from it and together with 2."""
    held = np.array([1, 0, 0, 0, 0], dtype=np.uint8)
    together, apart = np.array([0, 1, 1, 2, 3]), [(0, 1)]
    problem = problem_of(X[:5], None, held=held, together=together, apart=np.array(apart))
    state = dpmfs.init(problem, 1, np.zeros(5, dtype=np.int32), 3, ALPHA)
    counts = {}
    for number in range(8_000):
        state, _ = dpmfs_collapsed.sweep(problem, state, dpmfs_collapsed.Steps(2, 2), 5, number)
        assert state.labels[0] == 0
        if number % 4 == 3:
            key = oracles.canonical(state.labels.tolist()), tuple(state.chosen.tolist())
            counts[key] = counts.get(key, 0) + 1
    agree(counts, exact(X[:5], None, together, apart))


def test_rows_of_units_are_sums_of_documents():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.7, size=(12, 9))
    csr = sp.csr_array(dense.astype(np.int32))
    number = np.array([0, 1, 0, 2, 3, 3, 3, 4, 1, 5, 6, 7])
    held = np.zeros(12, dtype=np.uint8)
    held[5] = 1
    units = LinkedDocuments.of(
        csr.indptr.astype(np.int64), csr.indices, held, number, np.array([[6, 0], [0, 2], [0, 6]])
    )
    sums = np.zeros((8, 9), dtype=int)
    np.add.at(sums, number, dense)
    rows = sp.csr_array((units.tables(csr.data), units.words, units.indptr), shape=(8, 9))
    np.testing.assert_array_equal(rows.toarray(), sums)
    np.testing.assert_array_equal(units.mass, np.bincount(number))
    np.testing.assert_array_equal(units.held, [0, 0, 0, 1, 0, 0, 0, 0])
    near = [units.apart[units.apart_indptr[u] : units.apart_indptr[u + 1]].tolist() for u in range(8)]
    assert near == [[2, 6], [], [0], [], [], [], [0], []]
    labels = rng.integers(0, 4, 8)
    np.testing.assert_array_equal(units.labels(units.expand(labels)), labels)
    np.testing.assert_array_equal(units.sizes(labels, 6), np.bincount(labels[number], minlength=6))


@pytest.mark.parametrize("seed", range(5))
def test_the_start_keeps_units_apart(seed):
    rng = np.random.default_rng(seed)
    pairs = np.array([pair for pair in itertools.combinations(range(15), 2) if rng.random() < 0.3])
    held = (rng.random(15) < 0.2).astype(np.uint8)
    indptr, words = np.arange(16), np.zeros(15, dtype=np.int32)
    first = np.where(held, np.arange(15), 0).astype(np.int32)
    labels = LinkedDocuments.of(indptr, words, held, None, pairs).separate(first)
    assert np.all(labels[pairs[:, 0]] != labels[pairs[:, 1]])
    np.testing.assert_array_equal(labels[held == 1], first[held == 1])
    clear = LinkedDocuments.of(indptr, words, held, None, None)
    np.testing.assert_array_equal(clear.separate(first), first)


def test_log_rising():
    for n in range(4):
        ours = [dpmfs_labels.log_rising(1.7, n), dpmfs_labels.log_rising.py_func(1.7, n)]
        np.testing.assert_allclose(ours, np.sum(np.log(1.7 + np.arange(n))))
