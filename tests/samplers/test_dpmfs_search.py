"""Search during burn-in: it finds what sweeps do not, keeps constraints, and is a function of its arguments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bursty.samplers import dpmfs, dpmfs_collapsed, dpmfs_search
from samplers.test_dpmfs import ALPHA, problem_of


def corpus(n_classes=2, n_documents=24, n_words=40, seed=0):
    """Documents of each class have words of their own."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n_documents) % n_classes
    means = np.where(np.arange(n_words)[None, :] % n_classes == classes[:, None], 0.9, 0.03)
    return rng.poisson(means) + (np.arange(n_words) == 0), classes


def problem_for(x, **options):
    return problem_of(x, None, lam=np.full(x.shape[1], 0.5), bursty=True, **options)


def first_state(problem, labels):
    state = dpmfs.init(problem, 1, np.zeros(problem.n_documents, dtype=np.int32), 1, ALPHA)
    return replace(state, labels=np.asarray(labels, dtype=np.int32), chosen=np.ones_like(state.chosen))


def stepper(problem, held=0):
    steps = dpmfs_collapsed.Steps(splits=0, held=held)
    return lambda state, number: dpmfs_collapsed.sweep(problem, state, steps, 7, number)[0]


def test_it_splits_what_does_not_belong_together_and_merges_what_does():
    x, classes = corpus()
    problem = problem_for(x)
    halves = 2 * classes + (np.arange(len(x)) % 4 > 1)
    for labels in (np.zeros(len(x)), halves):
        # All words stay chosen: among so few documents, one word decides otherwise.
        state, step = first_state(problem, labels), stepper(problem, held=2**62)
        for number in range(4):
            state = dpmfs_search.search(problem, state, step, 7, number)
        found = np.unique(state.labels, return_inverse=True)[1]
        assert len(np.unique(found)) == 2
        assert len(set(zip(found.tolist(), classes.tolist(), strict=True))) == 2


def test_what_is_kept_is_the_most_probable():
    """With sweeps that change nothing, the best of the candidates, by the joint probability."""
    x, _ = corpus(3)
    problem = problem_for(x)
    state = first_state(problem, np.arange(len(x)) % 5)
    seen = []

    def step(state, number):
        seen.append(dpmfs.log_joint(problem, state))
        return state

    found = dpmfs_search.search(problem, state, step, 7, 3)
    assert len(set(seen)) == 1 + dpmfs_search.MERGES + dpmfs_search.SPLITS
    assert dpmfs.log_joint(problem, found) == max(seen)


def test_the_merges_that_are_tried_cost_least():
    x, classes = corpus(2)
    problem = problem_for(x)
    state = first_state(problem, 2 * classes + (np.arange(len(x)) % 4 > 1))
    rng = np.random.default_rng(0)
    tried = list(dpmfs_search._candidates(problem, state, rng))[1 : 1 + dpmfs_search.MERGES]
    every = []
    for a in range(4):
        for b in range(a):
            labels = np.where(state.labels == a, b, state.labels).astype(np.int32)
            every.append(dpmfs.log_joint(problem, replace(state, labels=labels)))
    ours = [dpmfs.log_joint(problem, replace(state, labels=labels)) for labels in tried]
    np.testing.assert_allclose(ours, sorted(every, reverse=True)[: len(ours)])


def test_constraints_and_known_classes_are_kept():
    x, _ = corpus(2, 16)
    together = np.array([0, 0, 1, 1, *range(2, 14)])
    apart = np.array([[0, 1], [5, 6], [6, 7]])
    held = np.zeros(16, dtype=np.uint8)
    held[[9, 10]] = 1
    problem = problem_for(x, together=together, apart=apart, held=held)
    labels = problem.units.separate(np.where(held, [0] * 10 + [1] * 6, 0).astype(np.int32))
    state, step = first_state(problem, labels), stepper(problem)
    for number in range(3):
        for candidate in dpmfs_search._candidates(problem, state, np.random.default_rng(number)):
            units = problem.units.labels(candidate)
            np.testing.assert_array_equal(units[together], candidate)
            assert np.all(units[apart[:, 0]] != units[apart[:, 1]])
            np.testing.assert_array_equal(candidate[[9, 10]], labels[[9, 10]])
        state = dpmfs_search.search(problem, state, step, 7, number)


def test_the_bound_on_the_number_of_clusters_is_kept():
    x, _ = corpus(3)
    problem = replace(problem_for(x), most=3)
    state = first_state(problem, np.arange(len(x)) % 3)
    for labels in dpmfs_search._candidates(problem, state, np.random.default_rng(1)):
        assert len(np.unique(labels)) <= 3
        assert labels.max() < 3


@pytest.mark.parametrize("n_documents", [1, 2, 3])
def test_tiny_corpora(n_documents):
    x, _ = corpus(1, n_documents, 3)
    problem = problem_for(x)
    state = dpmfs_search.search(problem, first_state(problem, np.zeros(n_documents)), stepper(problem), 7, 0)
    assert len(state.labels) == n_documents


def test_same_arguments_same_bits():
    x, _ = corpus(3)
    problem = problem_for(x)
    state = first_state(problem, np.arange(len(x)) % 4)
    found = [dpmfs_search.search(problem, state, stepper(problem), 7, 5) for _ in range(2)]
    for name in ("labels", "chosen", "tables", "burst"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()
