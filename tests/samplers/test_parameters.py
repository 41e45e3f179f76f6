"""Parameters of the samplers: other orders, merged topics, starts, types, and the shares that a sweep reports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.samplers import dcmlda, dpmfs, dpmfs_draws, dpmfs_paper, lda
from bursty.samplers.tokens import count_type, topic_type
from bursty.storage.schema import Mismatch, check

ALPHA = np.array([0.5, 1.5, 1.0])
BETA = np.array([[0.2, 1.0, 0.1], [0.7, 0.3, 0.4], [0.1, 0.2, 3.0]])


def test_topics_in_another_order():
    order = np.array([2, 0, 1])
    bursty, plain = dcmlda.Hyperparameters(ALPHA, BETA).reordered(order), lda.Hyperparameters(ALPHA, BETA[:, 0])
    np.testing.assert_array_equal(bursty.alpha, ALPHA[order])
    np.testing.assert_array_equal(bursty.beta, BETA[:, order])
    np.testing.assert_array_equal(plain.reordered(order).alpha, ALPHA[order])
    assert plain.n_topics == bursty.n_topics == 3


def test_merged_topics_have_the_mean_of_their_parts():
    """The expected number of tokens of a word is the same for the merged topic as for its parts."""
    into = np.array([1, 0, 1])
    merged = dcmlda.Hyperparameters(ALPHA, BETA).merged(into)
    np.testing.assert_allclose(merged.alpha, [1.5, 1.5])
    np.testing.assert_allclose(merged.beta[:, 0], BETA[:, 1])
    np.testing.assert_allclose(merged.alpha[1] * merged.beta[:, 1], 0.5 * BETA[:, 0] + 1.0 * BETA[:, 2])
    np.testing.assert_allclose(lda.Hyperparameters(ALPHA, BETA[:, 0]).merged(into).alpha, [1.5, 1.5])


def test_mean_of_drawn_probabilities():
    """`mean_phi` is what `draw_phi` draws in the mean, of more words than one block has."""
    rng = np.random.default_rng(0)
    tokens, beta = rng.poisson(2.0, size=(130, 2)), rng.gamma(1.0, size=130) + 0.1
    expected = lda.mean_phi(tokens, beta)
    np.testing.assert_allclose(expected, (tokens + beta[:, None]) / (tokens + beta[:, None]).sum(axis=0))
    drawn = np.array([lda.draw_phi(tokens, beta, 3, number) for number in range(2000)])
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    error = drawn.std(axis=0) / np.sqrt(2000)
    assert np.all(np.abs(drawn.mean(axis=0) - expected) < 5 * error)
    single = lda.draw_phi(tokens, beta, 3, 0, single=True)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, drawn[0], atol=2e-6)


def test_log_words_is_the_dcm_of_the_topics():
    from scipy.special import gammaln

    tokens, beta = np.array([[3, 0], [0, 2], [1, 1]]), np.array([0.5, 0.2, 1.1])
    s, n = beta.sum(), tokens.sum(axis=0)
    expected = (gammaln(tokens + beta[:, None]) - gammaln(beta)[:, None]).sum() + np.sum(gammaln(s) - gammaln(s + n))
    assert lda.log_words(tokens, beta) == pytest.approx(expected)


def test_types_hold_the_largest_number():
    assert (topic_type(256), topic_type(257)) == (np.uint8, np.uint16)
    assert (count_type(2**31 - 1), count_type(2**31)) == (np.int32, np.int64)


def problem(x, **options):
    csr = sp.csr_array(np.asarray(x, dtype=np.int32))
    options = {"lam": np.ones(csr.shape[1]), "omega": 0.3, "most": 4, "held": np.zeros(len(x), np.uint8), **options}
    return dpmfs.DPMFSData(csr.indptr.astype(np.int64), csr.indices, csr.data, **options)


def test_a_chain_of_clusters_starts_anywhere():
    """Every label and word alike; a DCM starts with one fresh token per cell and the prior mean of s."""
    x = np.random.default_rng(0).poisson(1.0, size=(50, 7))
    labels, words = np.zeros(4), np.zeros(7)
    for seed in range(100):
        state = dpmfs.init(problem(x), 4, np.zeros(50, dtype=np.int32), seed, 2.5)
        labels += np.bincount(state.labels, minlength=4) / 5000
        words += state.chosen / 100
        assert state.chosen.sum() == 1
        assert (state.alpha, state.scale, state.omega) == (2.5, 1.0, 0.3)
    np.testing.assert_allclose(labels, 0.25, atol=0.03)
    assert np.all(words > 0.03)
    plain, bursty = problem(x), problem(x, bursty=True)
    states = [dpmfs.init(one, 4, np.zeros(50, dtype=np.int32), 0, 1.0) for one in (plain, bursty)]
    np.testing.assert_array_equal(states[0].tables, plain.counts)
    np.testing.assert_array_equal(states[1].tables, 1)
    np.testing.assert_allclose(states[1].burst, [100 / 6, 500 / 6])


def test_what_a_stored_chain_may_be():
    """Compiled code walks these arrays: each has its length, its type, and values in range."""
    x = np.random.default_rng(0).poisson(1.0, size=(50, 7))
    one = problem(x, bursty=True, lam_prior="words")
    state = dpmfs.init(one, 4, np.zeros(50, dtype=np.int32), 0, 1.0)
    sizes = {"n_words": 7, "documents": 50, "labels": 4, "cells": len(one.counts)}
    check(state, sizes)
    check(replace(state, own=None), sizes)
    for wrong in (
        {"labels": state.labels[1:]},
        {"labels": np.full(50, 4, dtype=np.int32)},
        {"labels": np.full(50, -1, dtype=np.int32)},
        {"labels": state.labels.astype(np.int64)},
        {"chosen": state.chosen + np.uint8(1)},
        {"chosen": state.chosen[1:]},
        {"tables": state.tables[1:]},
        {"tables": -state.tables},
        {"burst": np.array([1.0, 2.0, 3.0])},
        {"burst": np.array([1.0])},
        {"burst": np.array([1.0, 0.0])},
        {"alpha": 0.0},
        {"scale": 0.0},
        {"omega": 0.0},
        {"omega": 1.5},
        {"own": np.ones(6)},
        {"own": np.zeros(7)},
    ):
        with pytest.raises(Mismatch, match=next(iter(wrong))):
            check(replace(state, **wrong), sizes)


def test_facts_of_a_problem():
    x = np.array([[2, 0, 3], [0, 0, 0], [1, 4, 0]])
    one = problem(x)
    np.testing.assert_array_equal(one.lengths, [5, 0, 5])
    assert (one.n_documents, one.n_words, one.limit, problem(x, most=2).limit, problem(x, most=None).limit) == (
        3,
        3,
        3,
        2,
        3,
    )
    np.testing.assert_allclose(np.exp(one.log_factorial), [1, 1, 2, 6, 24, 120])
    np.testing.assert_array_equal(one.counts_by_word, [2, 1, 4, 3])
    state = dpmfs.init(one, 2, np.zeros(3, dtype=np.int32), 0, 3.0)
    assert state.share(one) == 0.75
    assert state.share(problem(x, most=None)) == 0.0


def test_a_sweep_reports_shares():
    """Of the proposals for words that were accepted, and of those for documents that are not held."""
    x = np.random.default_rng(0).poisson(1.0, size=(12, 6))
    held = (np.arange(12) < 4).astype(np.uint8)
    one = problem(x, held=held)
    state = dpmfs.init(one, 4, np.zeros(12, dtype=np.int32), 0, 1.0)
    seen = []
    for number in range(200):
        after, info = dpmfs_paper.sweep(one, state, dpmfs_paper.Steps(1, 1), 0, number)
        assert info.words == np.count_nonzero(after.chosen != state.chosen)  # one proposal
        assert info.labels <= 1.0
        assert info.labels * 8 == pytest.approx(round(info.labels * 8))
        assert np.count_nonzero(after.labels != state.labels) <= round(info.labels * 8)
        seen.append(info.labels)
        state = after
    assert 0.02 < np.mean(seen) < 1.0


def test_priors_of_the_factor_of_lambda():
    """Densities of its logarithm: normal with spread 1, or of a gamma variate of shape 1."""
    for scale in (0.1, 1.0, 7.0):
        assert dpmfs_draws.log_scale_prior(scale, "lognormal") == pytest.approx(-0.5 * np.log(scale) ** 2)
        assert dpmfs_draws.log_scale_prior(scale, "gamma") == pytest.approx(np.log(scale) - scale)


def test_streams_of_a_sweep_differ():
    draws = {
        dpmfs_draws.generator(seed, number, purpose).random()
        for seed in (0, 1)
        for number in (0, 1)
        for purpose in ("burst", "alpha", "scale", "omega")
    }
    assert len(draws) == 16


def test_metropolis_on_a_logarithm():
    """Draws of a normal density of the logarithm, with any number and width of steps."""
    rng, value, draws = np.random.default_rng(0), 1.0, []
    for _ in range(4000):
        value = dpmfs_draws.metropolis_log(value, lambda v: -0.5 * ((np.log(v) - 1.0) / 0.5) ** 2, rng, 6, 0.8)
        draws.append(np.log(value))
    assert np.mean(draws) == pytest.approx(1.0, abs=0.05)
    assert np.std(draws) == pytest.approx(0.5, abs=0.04)
