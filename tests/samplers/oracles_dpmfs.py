"""DPMFS by brute force: the joint probability of eq. 11 written out densely, and all states of tiny cases."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
from scipy.special import betaln, gammaln, logsumexp


def log_dirichlet_multinomial(counts, lam):
    """Of sequences of draws: log B(counts + lam) / B(lam)."""
    if len(lam) == 0:
        return 0.0
    return float(np.sum(gammaln(counts + lam) - gammaln(lam)) + gammaln(lam.sum()) - gammaln(lam.sum() + counts.sum()))


def log_components(tables, gamma, labels, lam):
    on = np.asarray(gamma, dtype=bool)
    labels = np.asarray(labels)
    total = log_dirichlet_multinomial(tables[:, ~on].sum(axis=0), lam[~on])
    for k in np.unique(labels):
        total += log_dirichlet_multinomial(tables[labels == k][:, on].sum(axis=0), lam[on])
    return total


def log_orders(x, gamma):
    """In how many orders the tokens of each side can stand: the factors T_i."""
    on = np.asarray(gamma, dtype=bool)
    return float(
        np.sum(gammaln(x[:, on].sum(axis=1) + 1.0) + gammaln(x[:, ~on].sum(axis=1) + 1.0)) - np.sum(gammaln(x + 1.0))
    )


def log_prior(gamma, omega):
    return float(np.sum(np.where(np.asarray(gamma, dtype=bool), math.log(omega), math.log1p(-omega))))


def learned_log_prior(gamma, a=1.0, b=1.0):
    """omega integrated out."""
    n, w = sum(gamma), len(gamma)
    return float(betaln(a + n, b + w - n) - betaln(a, b))


def log_partition(labels, alpha, most):
    """Seat the documents one by one; the components' numbers do not matter."""
    share, sizes, total = (0.0 if most is None else alpha / most), {}, 0.0
    for i, k in enumerate(labels):
        weight = sizes[k] + share if k in sizes else alpha - len(sizes) * share
        total += math.log(weight / (i + alpha)) if weight > 1e-12 else -math.inf
        sizes[k] = sizes.get(k, 0) + 1
    return total


def partitions(n, most=None):
    """Labels in order of first appearance."""

    def grow(labels):
        if len(labels) == n:
            yield tuple(labels)
            return
        used = max(labels, default=-1) + 1
        for k in range(used + 1):
            if most is None or k < most:
                yield from grow([*labels, k])

    yield from grow([])


def canonical(labels):
    names = {}
    return tuple(names.setdefault(k, len(names)) for k in labels)


@cache
def stirling(x, t):
    """Unsigned Stirling numbers of the first kind, by counting the cycles of permutations."""
    return sum(1 for order in itertools.permutations(range(x)) if cycles(order) == t)


def cycles(order):
    seen, n = set(), 0
    for i in range(len(order)):
        if i not in seen:
            n += 1
            while i not in seen:
                seen.add(i)
                i = order[i]
    return n


def all_tables(x):
    """Every t that x may have, with the sum of log Stirling numbers."""
    cells = [range(1, v + 1) if v else (0,) for v in x.ravel()]
    for values in itertools.product(*cells):
        weight = sum(math.log(stirling(int(v), t)) for v, t in zip(x.ravel(), values, strict=True) if v)
        yield np.array(values).reshape(x.shape), weight


def states(n_documents, n_words, most=None):
    for labels in partitions(n_documents, most):
        for gamma in itertools.product((0, 1), repeat=n_words):
            yield labels, gamma


def multinomial_log_joint(x, labels, gamma, lam, omega, alpha, most):
    return (
        log_prior(gamma, omega)
        + log_partition(labels, alpha, most)
        + log_orders(x, gamma)
        + log_components(x, gamma, labels, lam)
    )


def log_burst(lengths, fresh, s):
    """What s counts for on one side of the documents: a column for each s."""
    lengths = np.asarray(lengths, dtype=float)
    return fresh * np.log(s) + np.sum(gammaln(s)[:, None] - gammaln(s[:, None] + lengths), axis=1)


@cache
def integrated_burst(inside, outside, fresh_inside, fresh_outside):
    """Both sides (1/6 and 5/6 of s), with s integrated out: log s is normal around log 100 with deviation 3."""
    grid = np.linspace(math.log(100.0) - 18, math.log(100.0) + 18, 400)
    prior = -0.5 * ((grid - math.log(100.0)) / 3.0) ** 2
    sides = log_burst(inside, fresh_inside, np.exp(grid) / 6) + log_burst(outside, fresh_outside, np.exp(grid) * 5 / 6)
    return float(logsumexp(prior - logsumexp(prior) + sides))
