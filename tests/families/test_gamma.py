"""A gamma prior on the parameters of an urn."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from bursty import datasets
from bursty.engines import Chunk
from bursty.families import GammaPrior, get_family

PRIOR = GammaPrior(0.3, 0.2)


@pytest.fixture(scope="module")
def chunk():
    return Chunk(datasets.make_bursty_mixture(n_documents=40, n_words=8, mean_length=30, random_state=0)[0].counts)


def log_posterior(chunk, resp, log_alpha):
    alpha = np.exp(log_alpha)
    fit = resp @ oracles.dcm_log_prob(chunk.counts.toarray(), alpha)
    return fit + np.sum(PRIOR.shape * log_alpha - PRIOR.rate * alpha)


def fitted(chunk, resp):
    family = get_family("dcm")
    stats = family.summarize(chunk, resp)
    params = PRIOR.update(family, stats)
    for _ in range(300):
        params = PRIOR.update(family, stats, params)
    return stats, params


def test_mode_and_curvature(chunk):
    """Against differences of the log-posterior."""
    resp = np.random.default_rng(0).dirichlet(np.ones(2), size=chunk.n_documents)
    stats, params = fitted(chunk, resp)
    curvatures = PRIOR.log_curvature(stats, params)
    step, size = 1e-4, len(params.alpha)
    for k in range(2):
        centre = np.log(params.alpha[:, k])
        shifts = step * np.eye(size)

        def value(x, k=k):
            return log_posterior(chunk, resp[:, k], x)

        slopes = [(value(centre + shift) - value(centre - shift)) / (2 * step) for shift in shifts]
        np.testing.assert_allclose(slopes, 0.0, atol=1e-3)
        hessian = np.array(
            [
                [
                    value(centre + a + b) - value(centre + a - b) - value(centre - a + b) + value(centre - a - b)
                    for b in shifts
                ]
                for a in shifts
            ]
        ) / (4 * step**2)
        assert curvatures[k] == pytest.approx(np.linalg.slogdet(-hessian)[1], rel=1e-3)


def test_density_integrates_to_one():
    grid = np.linspace(-80.0, 8.0, 400_001)
    density = np.exp([PRIOR.log_density(np.exp(np.array([x]))) for x in grid[::200]])
    assert np.trapezoid(density, grid[::200]) == pytest.approx(1.0, abs=1e-3)


def test_refusals(chunk):
    stats = get_family("multinomial").summarize(chunk, np.ones((chunk.n_documents, 1)))
    with pytest.raises(ValueError, match="a gamma prior is for families of urns"):
        PRIOR.update(get_family("multinomial"), stats)
    for bad in (0, -1, np.inf, "x"):
        with pytest.raises(ValueError, match="rate of a gamma prior must be"):
            GammaPrior(0.1, bad)
