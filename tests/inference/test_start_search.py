"""Starts of maximum likelihood: short runs from the best state, with some rows in random components."""

from __future__ import annotations

import numpy as np
import pytest

from bursty import Mixture
from bursty.inference import starts


@pytest.fixture(scope="module")
def table():
    """Two groups of ten rows with large counts."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(6), size=2)[np.repeat([0, 1], 10)]
    return np.array([rng.multinomial(500, rng.dirichlet(30 * share)) for share in shares])


@pytest.fixture(scope="module")
def problem(table):
    model = Mixture(2, family="dcm", prior=None, tempering=None)
    model.family_ = "dcm"
    return model._problem(model._place_to_fit(table, ""), None, None, 2)


@pytest.fixture(scope="module")
def groups(problem):
    """The state of the two groups."""
    return starts.from_responsibilities(problem, np.eye(2)[np.repeat([0, 1], 10)])


def test_nothing_moved_is_a_step_of_em(problem, groups, monkeypatch):
    monkeypatch.setattr(starts, "SHAKEN", 0.0)
    shaken = starts._shaken(problem, groups, np.random.default_rng(0))
    after = problem.maximise(problem.expectation(groups), groups.params)
    np.testing.assert_allclose(shaken.params.alpha, after.params.alpha, rtol=1e-3)
    np.testing.assert_allclose(shaken.weights, after.weights, rtol=1e-12)


def test_all_moved_forgets_the_state(problem, groups, monkeypatch):
    monkeypatch.setattr(starts, "SHAKEN", 1.0)
    labels = np.random.default_rng(3)
    labels.random(20)  # which rows move
    expected = starts.from_responsibilities(problem, np.eye(2)[labels.integers(2, size=20)])
    shaken = starts._shaken(problem, groups, np.random.default_rng(3))
    np.testing.assert_allclose(shaken.params.alpha, expected.params.alpha, rtol=1e-9)


def test_a_component_of_one_row_comes_last(problem, groups):
    alone = starts.from_responsibilities(problem, one_row())
    assert starts._short_run(problem, groups)[0][0]
    assert not starts._short_run(problem, alone)[0][0]
    assert starts._short_run(problem, groups)[0] > starts._short_run(problem, alone)[0]


def one_row():
    """Responsibilities that give the last row a component of its own."""
    return np.eye(2)[(np.arange(20) == 19).astype(int)]


def test_one_start_searches_only_where_likelihood_counts(table, monkeypatch):
    searched = []
    search = starts._search
    monkeypatch.setattr(starts, "_search", lambda *args: searched.append(args[1]) or search(*args))
    Mixture(2, random_state=0).fit(table)
    assert searched == ["hellinger"]
    Mixture(2, random_state=0, prior="shared", shrinkage=0.1).fit(table)
    assert searched == ["hellinger"]
    Mixture(2, random_state=0, n_init=2).fit(table)
    assert searched == ["hellinger"] * 3
