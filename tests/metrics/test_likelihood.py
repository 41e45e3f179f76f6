"""Perplexity: one definition, whoever gives the log-probabilities."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.families import EDCM
from bursty.metrics import perplexity

COUNTS = np.array([[2, 1, 0], [0, 0, 4], [0, 0, 0]])


class Uniform:
    """Every word of W with the same probability; the method's name is to be chosen."""

    def __init__(self, method):
        setattr(self, method, self._log_prob)

    @staticmethod
    def _log_prob(X, factor=1.0):
        return -factor * np.asarray(X).sum(axis=1) * np.log(3.0)


@pytest.mark.parametrize("method", ["log_prob", "score_samples"])
def test_a_uniform_model_has_perplexity_w(method):
    assert perplexity(Uniform(method), COUNTS) == pytest.approx(3.0)
    assert perplexity(Uniform(method), COUNTS, factor=2.0) == pytest.approx(9.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, lambda x: x.astype(float)])
def test_from_log_probabilities(form):
    log_prob = np.array([-3.5, -10.25, 0.0])
    assert perplexity(log_prob, form(COUNTS)) == pytest.approx(np.exp(13.75 / 7))
    assert perplexity(log_prob.tolist(), form(COUNTS)) == pytest.approx(np.exp(13.75 / 7))


def test_counts_need_not_be_whole():
    assert perplexity([-1.0], [[0.5, 1.5]]) == pytest.approx(np.exp(0.5))


def test_an_impossible_document_makes_it_infinite():
    assert perplexity([-1.0, -np.inf], [[1], [1]]) == np.inf
    assert perplexity([-1e6], [[1]]) == np.inf


def test_a_model_with_its_own_perplexity_has_the_say():
    class Continuous:
        def log_prob(self, X):
            return np.zeros(len(X))

        def perplexity(self, X):
            raise ValueError("a density has no perplexity")

    with pytest.raises(ValueError, match="a density has no perplexity"):
        perplexity(Continuous(), COUNTS)


def test_agrees_with_the_families():
    X = np.random.default_rng(0).poisson(1.0, (20, 8)) ** 2
    model = EDCM().fit(X)
    assert perplexity(model, X) == model.perplexity(X)
    assert perplexity(model, X, normalized=True) == model.perplexity(X, normalized=True)
    assert perplexity(model.log_prob(X), X) == pytest.approx(model.perplexity(X), rel=1e-12)


@pytest.mark.parametrize(
    ("log_prob", "X", "message"),
    [
        ([-1.0], COUNTS, "3 documents need as many log-probabilities"),
        (-1.0, COUNTS, "3 documents need as many log-probabilities"),
        ([-1.0, np.nan, -1.0], COUNTS, "document 1 is NaN"),
        ([0.0], [[0, 0]], "these documents have none"),
        ([0.0], [[-1, 0]], "row 0, column 0"),
    ],
)
def test_errors(log_prob, X, message):
    with pytest.raises(ValueError, match=message):
        perplexity(log_prob, X)


def test_what_is_not_a_model():
    with pytest.raises(TypeError, match="none of perplexity, log_prob and score_samples"):
        perplexity("edcm", COUNTS)
    with pytest.raises(TypeError, match="take no options, but got normalized"):
        perplexity([-1.0, -1.0, 0.0], COUNTS, normalized=True)
