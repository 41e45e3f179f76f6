"""A prior for urns, with which the estimate of s can be trusted even with few documents.

Maximum likelihood fits the proportions p of alpha = s p to the counts and then treats them as known, so that the counts
look less overdispersed than they are (Neyman and Scott): s is overestimated, and with few documents it goes to infinity
even if words do come in bursts. There are four remedies; each changes a term of the equation of `families.solve`.

1. **The proportions are averaged over** instead of being maximised. Given s, the posterior of a word's alpha is close
   to a gamma distribution whose shape is the number of independent draws behind its counts; averaging takes B of
   `kernels.tables` from the draws of a word that is repeated. To first order this is the adjusted profile likelihood
   [CoxReid1987] that edgeR uses for counts of RNA [McCarthy2012]; unlike it, B is exact in the multinomial limit.
2. **Unseen words get a share.** The next draw is a new word with probability V1 / t, where V1 of the t draws are the
   only ones of their word (Good and Turing). Every seen word gives up the same part of a draw (absolute discounting;
   [Teh2006] for the urns behind it), which all words share. Otherwise a word that occurs in a single document would
   be treated as known.
3. **s has a proper prior**, uniform in 1 / (1 + s), the probability that the second draw of a document copies the
   first. As a density of log s it vanishes at both ends, so that no estimate reaches a limit ([Chung2013]).
4. **Components borrow strength**: with two or more of them, log s_k ~ N(location, scale^2) replaces 3. Location and
   scale are estimated by empirical Bayes from the likelihoods of the components, approximated as quadratic in
   log s_k.

| symbol | name | shape |
|---|---|---|
| K - B | draws of each word, averaged over what is known of alpha | as the statistics |
| d | discount | components |
| l, i | log s and the information about it | components |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bursty.engines import Levels
from bursty.families.solve import LengthUrn, Pull, Urns, information, solve_total, solve_urns
from bursty.kernels import gather
from bursty.typing import Array

# Maximum number of rounds, each with the terms of the last solution, and the change of log s that ends them.
_MAX_ROUNDS, _NEAR = 50, 1e-4
# Steps towards the solution in each round: the terms of the next one are different.
_STEPS = 3
# Smallest share of its own draws that a word keeps.
_LEFT = 0.02
# Prior guess of the scale of log s between components, with the weight of one component.
_USUAL_SCALE = 1.0


@dataclass(frozen=True)
class UrnPrior:
    """What `update` assumes about the urns of the components.

    Parameters
    ----------
    between : bool, default True
        Shrink log s towards a location that the components share.
    """

    between: bool = True


def check_prior(prior: Any) -> UrnPrior | None:
    """Convert the parameter ``prior`` of an estimator: "auto" is all of the above, None is maximum likelihood."""
    if prior is None or isinstance(prior, UrnPrior):
        return prior
    if isinstance(prior, str) and prior == "auto":
        return UrnPrior()
    raise ValueError(f'prior must be "auto" or None (maximum likelihood), not {prior!r}')


@dataclass(frozen=True)
class Solution:
    """alpha (W x K, or a list: `sparse_urns.ListedUrns`), s and the standard error of log s (K), and the prior between.

    That is the location and scale of log s between components.
    """

    alpha: Array
    s: Array
    error: Array
    between: tuple[float, float] | None


@dataclass(frozen=True)
class Weak:
    """Uniform in 1 / (1 + s), with less mass at the lower end for components of less than one document."""

    documents: Array

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """Minus the derivative of the log-density in log s, and its derivative."""
        low = 0.99 * np.minimum(self.documents, 1.0)
        return (s - low) / (1.0 + s), s * (1.0 + low) / (1.0 + s) ** 2


@dataclass(frozen=True)
class Between:
    """log s ~ N(location, scale^2)."""

    location: float
    scale: float

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """Minus the derivative of the log-density in log s, and its derivative."""
        return (np.log(s) - self.location) / self.scale**2, np.full(len(s), self.scale**-2)


@dataclass(frozen=True)
class Averaged:
    """The sum of B on top of a prior: ``bias`` and its derivative at log s = ``at``."""

    bias: Array
    change: Array
    at: Array
    prior: Pull

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """B plus the term of the prior, and the derivative with respect to log s."""
        force, change = self.prior(s)
        way = np.log(s) - self.at
        reach = 1.0 / (1.0 + np.abs(way))  # the linear approximation holds near ``at`` only
        return force + self.bias + self.change * way * reach, change + self.change * reach**2


def learn_between(log_s: Array, score: Array, info: Array) -> Between:
    """Location and scale that maximise the marginal likelihood, with quadratic log-likelihoods of the components.

    At log_s, the log-likelihood of a component has slope ``score`` and curvature ``-info``, like that of an observation
    ``log_s + score / info`` with variance ``1 / info``. The location itself has the prior `Weak`.
    """
    info = np.maximum(info, 1e-6)
    observed = log_s + np.clip(score / info, -3.0, 3.0)
    centre, variance = float(np.mean(log_s)), _USUAL_SCALE**2
    for _ in range(200):
        weights = info / (1.0 + info * variance)
        # The location has the prior of a single component; the quadratic approximation holds for one step.
        location = float((np.sum(weights * observed) - 1.0 / (1.0 + np.exp(-centre))) / np.sum(weights))
        location = min(max(location, centre - 1.0), centre + 1.0)
        # EM: expected mean square of the deviations of the components.
        gain = info * variance / (1.0 + info * variance)
        squares = (gain * (observed - location)) ** 2 + variance * (1.0 - gain)
        last, variance = variance, float((squares.sum() + _USUAL_SCALE**2) / (len(info) + 1.0))
        if abs(variance - last) < 1e-6 * last:
            break
    return Between(location, float(np.sqrt(variance)))


def solve_with_prior(urns: Urns, lengths: Levels, prior: UrnPrior, start: Array | None = None) -> Solution:
    """alpha with averaged proportions and shrunken s: W x K, or as the urns have it.

    Without ``start``, rounds continue until s has settled; with a ``start`` there is one round of one step, as in
    `solve_urns`.
    """
    documents = (lengths.values > 0) @ lengths.weights
    pull: Pull = Weak(documents)
    alpha = solve_urns(urns, lengths, pull=pull, n_steps=_STEPS) if start is None else start
    known = urns.totals > 0
    own: Array | float = 0.0
    s = urns.sums(alpha)
    for _ in range(_MAX_ROUNDS if start is None else 1):
        tables, bias, change = urns.tables(alpha, own)
        own, unseen = _prior_draws(urns, tables - bias)
        urns.set_first(urns.types + own, unseen)
        urns.start(np.ones_like(s), alpha)
        at = np.log(np.where(known, s, 1.0))
        averaged = Averaged(urns.by_component(bias), urns.by_component(change), at, _none)
        score, info = information(urns, lengths, s, urns.by_component(tables + own) + unseen, averaged)
        if prior.between and known.sum() > 1:
            pull = learn_between(np.log(s[known]), score[known], info[known])
        pulls, n_steps = replace(averaged, prior=pull), _STEPS if start is None else 1
        alpha = solve_urns(urns, lengths, alpha, pull=pulls, n_steps=n_steps)
        last, s = s, urns.sums(alpha)
        if np.all(np.abs(np.log(s[known] / last[known])) < _NEAR):
            break
    return _solution(alpha, s, info, pull)


class Draws:
    """Draws of words in components, W x K."""

    def __init__(self, types: Array) -> None:
        self.types = types

    def by_component(self, values: Array) -> Array:
        """Sum over the words, K."""
        return gather.column_sums(values)

    def spread(self, values: Array) -> Array:
        """Values of the components, which broadcast with tables W x K."""
        return values

    def shares(self, pool: Array) -> tuple[Array, Array]:
        """The pool of each component divided evenly by all words; there are no others."""
        return np.broadcast_to(pool / len(self.types), self.types.shape), np.zeros_like(pool)


def solve_first_draws(types: Array, lengths: Levels, prior: UrnPrior, start: Array | None = None) -> Solution:
    """The same for the EDCM, whose draws are the first occurrences: only their number depends on s.

    There is nothing to average over, and the share of a word does not depend on s.
    """
    draws, urn = Draws(types), LengthUrn(lengths)
    totals = gather.column_sums(types)
    pull: Pull = Weak((lengths.values > 0) @ lengths.weights)
    known = totals > 0
    s = solve_total(totals, lengths, start, pull)
    for _ in range(_MAX_ROUNDS if prior.between and known.sum() > 1 else 1):
        safe = np.where(known, s, 1.0)
        h, curvature = urn(safe)
        info = safe * h - safe**2 * curvature
        if prior.between and known.sum() > 1:
            pull = learn_between(np.log(safe[known]), (totals - safe * h)[known], info[known])
        last, s = safe, solve_total(totals, lengths, safe, pull)
        if np.all(np.abs(np.log(s[known] / last[known])) < _NEAR):
            break
    own, _ = _prior_draws(draws, types)
    beta = (types + own) * np.divide(s, totals, out=np.zeros_like(s), where=known)
    return _solution(beta, s, info, pull)


def _solution(alpha: Array, s: Array, info: Array, pull: Pull) -> Solution:
    between = (pull.location, pull.scale) if isinstance(pull, Between) else None
    total = np.maximum(info, 0.0) + pull(np.where(s > 0, s, 1.0))[1]
    return Solution(alpha, s, 1.0 / np.sqrt(np.maximum(total, 1e-12)), between)


def _prior_draws(urns: Urns | Draws, expected: Array) -> tuple[Array, Array]:
    """Draws that come from the prior: what each word gets minus what it gives, and what all other words get (K)."""
    once = urns.by_component(np.minimum(expected, np.maximum(2.0 - expected, 0.0)))
    seen = urns.by_component(np.minimum(expected, 1.0))
    discount = np.divide(once, seen, out=np.zeros_like(once), where=seen > 0)
    given = np.minimum(urns.spread(discount) * np.minimum(expected, 1.0), (1.0 - _LEFT) * urns.types)
    share, unseen = urns.shares(urns.by_component(given))
    return share - given, unseen


def _none(s: Array) -> tuple[Array, Array]:
    """No prior."""
    return np.zeros_like(s), np.zeros_like(s)
