"""Slow, plain answers to compare with. Imports nothing of bursty."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln


def compositions(total, parts):
    """All tuples of so many non-negative whole numbers with this sum."""
    for bars in itertools.combinations(range(total + parts - 1), parts - 1):
        edges = (-1, *bars, total + parts - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def log_coefficient(x):
    """log n! / prod x!."""
    return math.lgamma(sum(x) + 1) - sum(math.lgamma(v + 1) for v in x)


def dcm_log_prob(X, alpha):
    """Log-probability of one word sequence per row, straight from the gamma functions."""
    X, alpha = np.asarray(X, float), np.asarray(alpha, float)
    s = alpha.sum()
    words = np.where(X > 0, gammaln(X + alpha) - gammaln(np.where(alpha > 0, alpha, 1.0)), 0.0)
    words = np.where((X > 0) & (alpha == 0), -np.inf, words)
    return gammaln(s) - gammaln(s + X.sum(1)) + words.sum(1)


def edcm_log_prob(X, beta):
    """Log of the unnormalised EDCM of one word sequence per row."""
    X, beta = np.asarray(X, float), np.asarray(beta, float)
    s = beta.sum()
    with np.errstate(divide="ignore"):
        words = np.where(X > 0, np.log(beta) + gammaln(np.maximum(X, 1)), 0.0)
    return gammaln(s) - gammaln(s + X.sum(1)) + words.sum(1)


def edcm_normaliser(beta, n):
    """Z_n by adding up all count vectors of length n."""
    total = 0.0
    for x in compositions(n, len(beta)):
        total += math.exp(log_coefficient(x) + edcm_log_prob([x], beta)[0])
    return total


def edcm_normaliser_stirling(beta, n):
    """Z_n by Stirling numbers and elementary symmetric polynomials."""
    e = np.array([1.0])
    for b in beta:
        e = np.append(e, 0.0) + np.append(0.0, b * e)
    stirling = [1.0]
    for i in range(n):
        stirling = [
            (i * stirling[j] if j < len(stirling) else 0.0) + (stirling[j - 1] if j > 0 else 0.0) for j in range(i + 2)
        ]
    s = sum(beta)
    terms = [math.factorial(j) * e[j] * stirling[j] for j in range(min(n, len(beta)) + 1)]
    return sum(terms) * math.exp(math.lgamma(s) - math.lgamma(s + n))


def dcm_fixed_point(X, weights=None, n_iter=20_000, tol=1e-14):
    """Minka's fixed point for the DCM."""
    X = np.asarray(X, float)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    n = X.sum(1)
    alpha = np.maximum((weights @ X) / (weights @ n) * np.mean(n), 1e-12)
    alpha[weights @ X == 0] = 0.0
    for _ in range(n_iter):
        s = alpha.sum()
        top = weights @ (digamma(X + np.where(alpha > 0, alpha, 1)) - digamma(np.where(alpha > 0, alpha, 1)))
        new = alpha * top / (weights @ (digamma(n + s) - digamma(s)))
        done = np.max(np.abs(new - alpha)) < tol * s
        alpha = new
        if done:
            break
    return alpha


def dcm_lbfgs(X, weights=None):
    """The DCM's maximum by L-BFGS in log alpha."""
    X = np.asarray(X, float)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    n = X.sum(1)

    def loss(u):
        a = np.exp(u)
        s = a.sum()
        value = weights @ dcm_log_prob(X, a)
        slope = weights @ (digamma(X + a) - digamma(a)) - weights @ (digamma(n + s) - digamma(s))
        return -value, -slope * a

    start = np.log(np.maximum((weights @ X) / (weights @ n), 1e-6) * 10)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10})
    return np.exp(found.x)


def dcm_gradient(X, alpha, weights=None):
    """Slopes of the log-likelihood, and the size of the two parts that cancel."""
    X, alpha = np.asarray(X, float)[:, alpha > 0], alpha[alpha > 0]
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    n, s = X.sum(1), alpha.sum()
    words = weights @ (digamma(X + alpha) - digamma(alpha))
    lengths = weights @ (digamma(n + s) - digamma(s))
    return words - lengths, lengths


def soft_max(table):
    """Rows of exp(table) scaled to sum one."""
    table = np.exp(table - table.max(axis=1, keepdims=True))
    return table / table.sum(axis=1, keepdims=True)


def hellinger(p, q):
    """Hellinger distance of two distributions: ``sqrt(sum (sqrt p - sqrt q)^2 / 2)``."""
    return math.sqrt(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in zip(p, q, strict=True)) / 2)


def urn_tables(a, tails, c=0.0):
    """Draws K, shape R and removed draws B of a word whose documents have it more than j times with weight tails[j]."""
    j = np.arange(len(tails))
    share = a / (a + j)
    shape = (tails * share**2).sum() + c
    d = share**2 / shape
    with np.errstate(divide="ignore", invalid="ignore"):
        term = np.where(d < 1, (1 - share) * d / (1 - d), np.inf)
    return (tails * share).sum(), shape, (tails * np.minimum(share, term))[1:].sum()


def dcm_integrated_score(X, s, p, n_draws, rng):
    """Slope in log s of the log of the likelihood integrated over the proportions with prior prod 1/p, by importance.

    The proposal is a Dirichlet distribution around p whose shape are the draws of each word.
    """
    tails = [(x[:, None] > np.arange(x.max())).sum(axis=0) for x in X.T]
    shape = np.array([urn_tables(s * share, tail)[0] for share, tail in zip(p, tails, strict=True)])
    draws = rng.dirichlet(shape, n_draws)
    alpha = s * draws
    values = [digamma(x + alpha) - digamma(alpha) for x in X]
    log_weight = sum((gammaln(x + alpha) - gammaln(alpha)).sum(axis=1) for x in X) - (shape * np.log(draws)).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    slope = sum((alpha * value).sum(axis=1) for value in values)
    n = X.sum(axis=1)
    return (weight @ slope) / weight.sum() - s * (digamma(s + n) - digamma(s)).sum()
