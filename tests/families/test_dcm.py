from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import dirichlet_multinomial

import oracles
from bursty import datasets
from bursty.engines import Chunk
from bursty.families import DCM, Multinomial
from bursty.families.dcm import maximise_alpha
from bursty.families.solve import S_MAX, S_MIN


def bursty_counts(seed, n_documents=60, n_words=12, s=3.0, mean_length=25):
    rng = np.random.default_rng(seed)
    alpha = rng.dirichlet(np.full(n_words, 0.7)) * s
    return np.array([rng.multinomial(rng.poisson(mean_length) + 1, rng.dirichlet(alpha)) for _ in range(n_documents)])


@pytest.mark.parametrize("seed", range(5))
def test_gradient_vanishes(seed):
    X = bursty_counts(seed)
    X = X[:, X.sum(axis=0) > 0]
    weights = np.random.default_rng(seed).random(len(X))
    model = DCM().fit(X, sample_weight=weights)
    slope, size = oracles.dcm_gradient(X, model.alpha_, weights)
    assert np.max(np.abs(slope)) / size < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_same_maximum_as_minka_and_lbfgs(seed):
    X = bursty_counts(seed, n_documents=40, n_words=8)
    ours = DCM().fit(X).alpha_
    best = oracles.dcm_log_prob(X, ours).sum()
    np.testing.assert_allclose(ours, oracles.dcm_fixed_point(X), rtol=1e-6, atol=1e-10)
    present = X.sum(axis=0) > 0
    assert best >= oracles.dcm_log_prob(X[:, present], oracles.dcm_lbfgs(X[:, present])).sum() - 1e-7


@given(
    arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=st.integers(0, 40)),
    st.data(),
)
def test_log_prob_equals_scipy(X, data):
    alpha = np.array(data.draw(st.lists(st.floats(1e-3, 50), min_size=X.shape[1], max_size=X.shape[1])))
    model = DCM().fit(np.ones((1, X.shape[1]), dtype=int))
    model._set_parameters(type(model._parameters)(alpha[:, None]))
    expected = np.array([dirichlet_multinomial.logpmf(x, alpha, x.sum()) for x in X])
    np.testing.assert_allclose(model.log_prob(X, coefficient=True), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.log_prob(X), oracles.dcm_log_prob(X, alpha), rtol=1e-10, atol=1e-10)


def test_probabilities_sum_to_one():
    model = DCM().fit(bursty_counts(0, n_words=4))
    every = np.array(list(oracles.compositions(6, 4)))
    assert np.exp(model.log_prob(every, coefficient=True)).sum() == pytest.approx(1.0, abs=1e-12)


def test_no_repeats_is_the_multinomial_limit():
    X = np.eye(6, dtype=int)[[0, 1, 1, 2, 3, 4, 5]] + np.eye(6, dtype=int)[[1, 2, 3, 3, 4, 5, 0]]
    X = np.minimum(X, 1)
    model = DCM().fit(X)
    assert model.s_ == pytest.approx(S_MAX)
    np.testing.assert_allclose(model.log_prob(X), Multinomial().fit(X).log_prob(X), rtol=1e-8)


def test_less_repeats_than_chance_is_the_multinomial_limit():
    """Every document the same counts: less varied than a multinomial would make them."""
    X = np.tile([4, 4, 4], (30, 1))
    model = DCM().fit(X)
    assert model.s_ == pytest.approx(S_MAX)
    np.testing.assert_allclose(model.alpha_ / model.s_, 1 / 3)


def test_one_word_a_document_is_the_other_limit():
    X = np.diag([5, 3, 7]) + 0
    model = DCM().fit(X)
    assert model.s_ == pytest.approx(S_MIN)
    np.testing.assert_allclose(model.alpha_ / model.s_, 1 / 3)


@pytest.mark.parametrize("X", [[[3]], [[1]], [[0, 5]], [[1, 0], [1, 0]]])
def test_one_document_one_word(X):
    model = DCM().fit(X)
    assert np.isfinite(model.alpha_).all()
    np.testing.assert_allclose(model.log_prob(X), 0.0, atol=1e-8)


def test_lengths_of_one_say_nothing_about_bursts():
    model = DCM().fit(np.eye(3, dtype=int)[[0, 0, 1, 2]])
    assert model.s_ == pytest.approx(S_MAX)
    np.testing.assert_allclose(model.alpha_ / model.s_, [0.5, 0.25, 0.25])


def test_a_cell_of_ten_thousand():
    X = bursty_counts(1)
    X[0, 0] = 10_000
    model = DCM().fit(X)
    slope, size = oracles.dcm_gradient(X, model.alpha_)
    assert np.max(np.abs(slope)) / size < 1e-8
    np.testing.assert_allclose(model.log_prob(X), oracles.dcm_log_prob(X, model.alpha_), rtol=1e-10)


def test_recovers_the_truth_as_documents_grow():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(10)) * 4.0
    model = DCM().fit(np.ones((1, 10), dtype=int))
    model._set_parameters(type(model._parameters)(truth[:, None]))
    errors = []
    for n in (100, 1000, 10_000):
        found = DCM().fit(model.sample(np.full(n, 40), random_state=n)).alpha_
        errors.append(np.abs(found - truth).sum() / truth.sum())
    assert errors[2] < 0.02
    assert errors[2] < errors[0] / 4


def test_sample_is_the_distribution():
    """Chi-square of all count vectors of a small case."""
    alpha = np.array([0.3, 1.0, 0.5])
    model = DCM().fit(np.ones((1, 3), dtype=int))
    model._set_parameters(type(model._parameters)(alpha[:, None]))
    every = np.array(list(oracles.compositions(4, 3)))
    drawn = model.sample(np.full(20_000, 4), random_state=0).toarray()
    seen = np.array([(drawn == x).all(axis=1).sum() for x in every])
    expected = 20_000 * np.exp(model.log_prob(every, coefficient=True))
    assert ((seen - expected) ** 2 / expected).sum() < 40.0  # 14 degrees of freedom: 1 in 4,000 by chance


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["classic400", "nips391"])
def test_gradient_vanishes_on_real_documents(data_dir, name):
    X = datasets.load(name).counts
    model = DCM().fit(X)
    slope, size = oracles.dcm_gradient(X.toarray(), model.alpha_)
    assert np.max(np.abs(slope)) / size < 1e-8


def test_levels_of_counts_have_the_same_maximum():
    """`maximise_alpha` takes levels (word, count) as they come, from 1 on."""
    X = sp.csr_array(bursty_counts(3).astype(np.int32))
    chunk = Chunk(X)
    resp = np.random.default_rng(0).random((X.shape[0], 2))
    family = DCM._family
    expected = family.update(family.summarize(chunk, resp)).alpha
    np.testing.assert_allclose(maximise_alpha(chunk.sum_by_level(resp), chunk.sum_by_length(resp)), expected, rtol=1e-9)


def test_memory_of_a_fit_is_that_of_some_tables():
    n_words = 20_000
    counts = sp.csr_array(np.random.default_rng(0).poisson(0.01, size=(50, n_words)))
    DCM().fit(counts)
    tracemalloc.start()
    DCM().fit(counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 8 * n_words
