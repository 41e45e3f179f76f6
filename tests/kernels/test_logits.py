"""Log losses and directions of L-BFGS: NumPy says what they equal, plain Python and compiled agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit, log_softmax, softmax

from bursty.kernels import lbfgs, logits

N_DOCUMENTS, N_CLASSES = 9, 4


def both(kernel):
    """The kernel as compiled and as plain Python (the same thing when the JIT is off)."""
    return [kernel] if not hasattr(kernel, "py_func") else [kernel, kernel.py_func]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("multilabel", [False, True])
def test_tempered_loss(rng, multilabel):
    scores, truth = rng.normal(scale=5.0, size=(N_DOCUMENTS, N_CLASSES)), np.eye(N_CLASSES)[np.arange(9) % 4]
    scores[0], scores[1] = [900.0, 0.0, -900.0, 0.0], -1e6
    features, x = rng.normal(size=(N_DOCUMENTS, 3)), np.array([0.3, -0.2, 0.1, 0.7])
    offset, direction, shares = rng.normal(size=N_CLASSES), rng.normal(size=N_CLASSES), rng.dirichlet(np.ones(9))
    heated = scores * np.exp(-features @ x[:3])[:, None]
    raw = heated + offset + x[3] * direction
    if multilabel:
        proba, loss = expit(raw), -(log_expit(raw) + (truth - 1.0) * raw).sum(axis=1)
        spread = proba * (1.0 - proba)
        second, cross, square = ((spread * h).sum(axis=1) for h in (heated**2, heated * direction, direction**2))
    else:
        proba, loss = softmax(raw, axis=1), -(truth * log_softmax(raw, axis=1)).sum(axis=1)
        mean, tilt = (proba * heated).sum(axis=1), proba @ direction
        second, cross = (
            (proba * heated**2).sum(axis=1) - mean**2,
            (proba * heated * direction).sum(axis=1) - mean * tilt,
        )
        square = proba @ direction**2 - tilt**2
    error = ((proba - truth) * heated).sum(axis=1)
    curvature = np.zeros((4, 4))
    curvature[:3, :3] = features.T @ ((shares * (second + np.maximum(error, 0.0)))[:, None] * features)
    curvature[3, :3] = curvature[:3, 3] = -(shares * cross) @ features
    curvature[3, 3] = shares @ square
    for kernel in both(logits.tempered_loss):
        slope, found = np.zeros(4), np.zeros((4, 4))
        value = kernel(scores, truth, features, offset, direction, shares, x, multilabel, slope, found)
        assert value == pytest.approx(shares @ loss)
        gradient = [*(-(shares * error) @ features), shares @ ((proba - truth) @ direction)]
        np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found, curvature, rtol=1e-9, atol=1e-9)


def test_log_losses(rng):
    scores, ahead = rng.normal(scale=9.0, size=(2, N_DOCUMENTS, N_CLASSES))
    codes, shares = np.arange(N_DOCUMENTS) % N_CLASSES, rng.dirichlet(np.ones(N_DOCUMENTS))
    raw, truth = scores + 0.3 * ahead, np.eye(N_CLASSES)[codes]
    errors = (softmax(raw, axis=1) - truth) * shares[:, None]
    for kernel in both(logits.log_losses):
        found = np.full_like(scores, np.nan)
        value, change = kernel(scores, ahead, 0.3, codes, shares, found)
        assert value == pytest.approx(-shares @ (truth * log_softmax(raw, axis=1)).sum(axis=1))
        assert change == pytest.approx((errors * ahead).sum())
        np.testing.assert_allclose(found, errors, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("n_steps", [0, 1, 3, 4])
@pytest.mark.parametrize("n_rows", [1, 2])
def test_downhill(rng, n_steps, n_rows):
    """Against the inverse Hessian of BFGS, updated from the oldest to the newest step."""
    size, n = 4, 6
    root = rng.normal(size=(n, n))
    metric, hessian = (np.eye(n) if n_rows == 1 else root @ root.T + np.eye(n)), np.diag(np.arange(1.0, n + 1))

    def vector(coordinates):
        return np.stack([coordinates, metric @ coordinates])[:n_rows]

    steps, changes = np.full((2, size, n_rows, n), np.nan)
    curvatures, newest = np.full(size, np.nan), 1
    pairs = [(step, np.linalg.solve(metric, hessian @ step)) for step in rng.normal(size=(n_steps, n))]
    inverse = np.eye(n)
    if pairs:
        step, change = pairs[-1]
        inverse *= (step @ metric @ change) / (change @ metric @ change)
    for age, (step, change) in zip(range(n_steps - 1, -1, -1), pairs, strict=True):
        place, curvature = (newest - age) % size, step @ metric @ change
        steps[place], changes[place], curvatures[place] = vector(step), vector(change), curvature
        left = np.eye(n) - np.outer(step, change @ metric) / curvature
        right = np.eye(n) - np.outer(change, step @ metric) / curvature
        inverse = left @ inverse @ right + np.outer(step, step @ metric) / curvature
    slope = rng.normal(size=n)
    for kernel in both(lbfgs.downhill):
        out = np.full((n_rows, n), np.nan)
        kernel(vector(slope), steps, changes, curvatures, newest, n_steps, out)
        np.testing.assert_allclose(out, vector(-inverse @ slope), rtol=1e-9, atol=1e-9)
