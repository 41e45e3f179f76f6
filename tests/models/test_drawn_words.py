"""DCMLDA with word proportions that are drawn at the beginning of a fit (``n_drawn``)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from bursty import datasets
from bursty.engines import Chunk
from bursty.families.solve import solve_urns
from bursty.families.sparse_urns import PairUrns
from bursty.inference.topics import dcmlda as methods
from bursty.kernels import threads, variates
from bursty.models.dcmlda import DCMLDA
from bursty.samplers.dcmlda import Hyperparameters
from bursty.samplers.tokens import State, Tokens

N_DOCUMENTS, N_WORDS = 30, 40


@pytest.fixture(scope="module")
def given():
    """Counts of documents x words x topics, statistics, and beta of maximum likelihood; the third topic is empty."""
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.1, size=(N_DOCUMENTS, N_WORDS)) * rng.integers(1, 4, size=N_WORDS))
    tokens = Tokens.numbered(Chunk(counts.astype(np.int32)), 0)
    words = np.repeat(tokens.chunk.indices, tokens.chunk.values)
    topics = (rng.random(len(words)) < 0.5 - 0.4 * (words < 12)).astype(np.uint8)
    table = np.zeros((N_DOCUMENTS, N_WORDS, 3))
    np.add.at(table, (np.repeat(np.arange(N_DOCUMENTS), counts.sum(axis=1)), words, topics), 1)
    found = methods.statistics(State(tokens, topics), 3)
    bare = solve_urns(PairUrns(found.words, 3), found.sizes(), None)
    return table, found, Hyperparameters(np.ones(3), np.where(bare.sum(axis=0) > 0, bare, 0.3))


def test_shares_of_the_words_are_a_dirichlet(given):
    table, found, params = given
    bare = params.beta[:, :2]
    draws = np.zeros((N_WORDS, 2))
    for document, word, k in np.argwhere(table > 0):
        a = bare[word, k]
        draws[word, k] += sum(a / (a + i) for i in range(int(table[document, word, k])))
    once, twice = np.sum(np.rint(draws) == 1), np.sum(np.rint(draws) == 2)
    tables = np.maximum(draws - once / (once + 2 * twice), 0.0)
    total, s = draws.sum(axis=0), bare.sum(axis=0)
    many = np.array([methods.draw_params(found, params, 3, number).beta[:, :2] for number in range(1500)])
    np.testing.assert_allclose(many.sum(axis=1), np.broadcast_to(s, (1500, 2)))
    beta, background = methods.learn_beta(found, params.beta)
    np.testing.assert_allclose(many.mean(axis=0) / beta[:, :2], 1.0, atol=0.15)
    absent = np.argmin(draws, axis=0)
    assert np.all(draws[absent, [0, 1]] == 0.0)
    for k in range(2):
        new = many[:, absent[k], k] / background[absent[k]]
        pool = total[k] - tables[:, k].sum()
        assert stats.kstest(new * N_WORDS / s[k], stats.beta(pool, total[k] - pool).cdf).pvalue > 1e-3
        own = (many[:, :, k] - new[:, None] * background) / s[k]
        for word in np.flatnonzero(tables[:, k] > 0.05)[:8]:
            law = stats.beta(tables[word, k], total[k] - tables[word, k])
            assert stats.kstest(own[:, word], law.cdf).pvalue > 1e-4


def test_a_topic_without_tokens_keeps_its_words(given):
    _, found, params = given
    drawn = methods.draw_params(found, params, 0, 0)
    np.testing.assert_array_equal(drawn.beta[:, 2], params.beta[:, 2])
    assert np.all(drawn.beta > 0)
    np.testing.assert_array_equal(drawn.alpha, methods.Method().update(found, params).alpha)


def test_same_bits_for_any_number_of_threads(given, monkeypatch):
    _, found, params = given
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    results = []
    for n in (1, 3):
        with threads.using(n):
            results.append(methods.draw_params(found, params, 5, 7).beta.tobytes())
    assert results[0] == results[1]
    assert results[0] != methods.draw_params(found, params, 5, 8).beta.tobytes()


@pytest.mark.parametrize("shape", [0.1, 1.0, 6.5])
def test_variates_of_named_streams(shape):
    names, out = np.arange(5000, dtype=np.uint64), np.empty(5000)
    shapes = np.where(names == 17, 0.0, shape)
    variates.gammas(shapes, names, 1, 2, out, 0, 5000)
    assert out[17] == 0.0
    assert stats.kstest(np.delete(out, 17), stats.gamma(shape).cdf).pvalue > 1e-3
    plain = np.empty(30)
    getattr(variates.gammas, "py_func", variates.gammas)(shapes, names, 1, 2, plain, 0, 30)
    np.testing.assert_allclose(plain, out[:30], rtol=1e-9)


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(60, 50, 3, random_state=0)[0]


def test_a_fit_draws_first_and_is_judged_afterwards(corpus):
    options = {"random_state": 0, "n_samples": 2}
    model = DCMLDA(3, n_drawn=4, tol=10.0, **options).fit(corpus)
    assert model.n_iter_ == 4 + 2 * 10
    assert model.converged_
    plain = DCMLDA(3, n_drawn=0, tol=10.0, **options).fit(corpus)
    assert plain.n_iter_ == 2 * 10
    # The first sweeps come before the first draw.
    drawn, estimated = model.trace_["log_likelihood"], plain.trace_["log_likelihood"]
    assert drawn[0] == estimated[0]
    assert drawn[1] != estimated[1]


def test_a_warm_start_draws_nothing(corpus):
    models = [DCMLDA(3, n_drawn=3, n_iter=4, tol=0, warm_start=True, random_state=0).fit(corpus) for _ in range(2)]
    np.testing.assert_array_equal(models[0].beta_, models[1].beta_)
    again = [model.set_params(n_drawn=n).fit(corpus).beta_ for model, n in zip(models, (3, 0), strict=True)]
    np.testing.assert_array_equal(*again)


def test_at_most_a_third_of_the_iterations_are_drawn(corpus):
    fits = [DCMLDA(3, n_drawn=n, n_iter=8, tol=0, n_samples=2, random_state=0).fit(corpus) for n in (60, 2, 1)]
    np.testing.assert_array_equal(fits[0].beta_, fits[1].beta_)
    assert not np.array_equal(fits[0].beta_, fits[2].beta_)


@pytest.mark.parametrize("n_drawn", [-1, 2.5, "some"])
def test_the_number_is_checked(corpus, n_drawn):
    with pytest.raises((ValueError, TypeError), match="n_drawn"):
        DCMLDA(3, n_drawn=n_drawn).fit(corpus)
