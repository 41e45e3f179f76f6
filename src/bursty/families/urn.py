"""What the DCM and the EDCM share: urns that start with total weight s, which a prior may keep from its limits."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from bursty.engines import Chunk
from bursty.families.base import Family, Parameters, S
from bursty.families.estimator import FamilyEstimator
from bursty.families.priors import Solution, UrnPrior, check_prior
from bursty.kernels import gather, polya
from bursty.typing import Array


@dataclass(frozen=True)
class UrnParameters(Parameters):
    """Weights of the words at the start: W x K."""

    @cached_property
    def s(self) -> Array:
        """Sum of the weights: K."""
        return gather.column_sums(self.table)

    @cached_property
    def rounded(self) -> Self:
        """The same parameters with logarithms in single precision, and the same s."""
        rounded = super().rounded
        rounded.__dict__["s"] = self.s
        return rounded


U = TypeVar("U", bound=UrnParameters)


class UrnFamily(Family[S, U]):
    """A family of urns, whose `update` is maximum likelihood or assumes a prior (`bursty.families.priors`)."""

    can_shrink = True

    def __init__(self, prior: UrnPrior | None = None) -> None:
        self.prior = prior

    def with_prior(self, prior: UrnPrior | None) -> Self:
        """The same family with this prior; None is maximum likelihood."""
        return type(self)(prior)

    @abstractmethod
    def maximise(self, stats: S, start: U | None) -> Array:
        """Weights of maximum likelihood: W x K."""

    @abstractmethod
    def solve(self, stats: S, prior: UrnPrior, start: Array | None = None) -> Solution:
        """Weights given this prior, and the standard error of log s."""

    def update(self, stats: S, *, smoothing: float = 0.0, start: U | None = None) -> U:
        """Weights by `maximise`, or by `solve` if there is a prior, then smoothed."""
        if self.prior is None:
            weights = self.maximise(stats, start)
        else:
            weights = self.solve(stats, self.prior, None if start is None else start.table).alpha
        return self.from_weights(add_smoothing(weights, smoothing))

    def add_length_term(self, chunk: Chunk, params: U, log_prob: Array, constants: Array | None = None) -> None:
        """Add ``log Gamma(s) - log Gamma(s + n)``, the cost of drawing n words from an urn of total weight s."""
        first = np.array([0, len(chunk.length_values)], dtype=np.int32)
        # A component that holds nothing (s = 0) gives its documents probability 0 through their words.
        s = np.where(params.s > 0, params.s, 1.0)
        table = polya.log_rising_table(first, chunk.length_values, s[None, :])
        chunk.add_by_document(log_prob, -table, constants)


def add_smoothing(weights: Array, amount: float | Array) -> Array:
    """Add ``amount`` times the smallest non-zero parameter of each component to all of it ([Madsen2005] 5.1).

    A column of amounts has one for each word.
    """
    if not np.any(amount):
        return weights
    smallest = np.min(np.where(weights > 0, weights, np.inf), axis=0)
    return weights + amount * np.where(np.isfinite(smallest), smallest, 1.0)


class UrnEstimator(FamilyEstimator):
    """One urn, fitted to a corpus."""

    _family: ClassVar[UrnFamily[Any, Any]]
    s_: float

    def __init__(
        self, *, smoothing: float = 0.0, prior: str | None = None, engine: str = "local", n_jobs: int | None = None
    ) -> None:
        super().__init__(smoothing=smoothing, engine=engine, n_jobs=n_jobs)
        self.prior = prior

    def _own_family(self) -> UrnFamily[Any, Any]:
        return self._family.with_prior(check_prior(self.prior))
