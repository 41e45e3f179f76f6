"""How parameters are kept from being zero: a constant, as in the papers, or a pull towards the corpus.

`Constant` is the papers' rule: each family adds a small number to what it has counted.

`Shrinkage` is the default of the classifier. It asks what a class should look like before its documents are seen,
and the answer is: like the whole corpus. With alpha_k the urn of class k, p_k = alpha_k / s_k its word
probabilities and q those of all documents together,

    alpha'_k = s' (p_k + tau_k q) / (1 + tau_k),     tau_k = tau sqrt(mean_j D_j / D_k),     s' = burst * mean_k s_k

(geometric means). A class of few documents D_k is pulled harder. Two numbers are learned: tau, and ``burst``, which
says how much of the burstiness that the likelihood finds is to be believed when it comes to telling classes apart;
1 is all of it, and towards infinity the DCM is the multinomial. All classes have the same s', so that the length of
a document is no evidence for a class, and words that no class has seen are none either. For the multinomial and the
EDCM only proportions matter and ``burst`` changes nothing.

``power`` is the third: a document of n tokens counts n^-power times in the statistics, 0 being what the likelihood
says and 1/2 keeping long documents from speaking for their class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bursty.families.base import Family, Parameters, Statistics
from bursty.models.classify.layout import Layout, map_columns

Array = np.ndarray[Any, Any]

TAUS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
BURSTS = (1.0, 10.0, 100.0, 1e6)
POWERS = (0.0, 0.5)
TRUSTS = (0.0, 0.5, 1.0)
EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


@dataclass(frozen=True)
class Constant:
    """Add ``epsilon`` in the family's own way."""

    epsilon: float
    power: float = 0.0

    def neighbours(self) -> list[Constant]:
        """The next values of the grid."""
        return [replace(self, epsilon=epsilon) for epsilon in _beside(EPSILONS, self.epsilon)]


@dataclass(frozen=True)
class Shrinkage:
    """Pull towards the corpus by ``tau``, believe a ``burst``-th of the burstiness."""

    tau: float = 1.0
    burst: float | None = 10.0
    power: float = 0.5
    idf: float = 0.0

    def neighbours(self) -> list[Shrinkage]:
        """The next values of each grid."""
        taus = [replace(self, tau=tau) for tau in _beside(TAUS, self.tau)]
        bursts = [replace(self, burst=b) for b in _beside(BURSTS, self.burst)] if self.burst else []
        trusts = [replace(self, idf=idf) for idf in _beside(TRUSTS, self.idf)]
        return taus + bursts + trusts + [replace(self, power=power) for power in _beside(POWERS, self.power)]


Smoothing = Constant | Shrinkage


@dataclass(frozen=True)
class Urns:
    """What `Shrinkage` mixes: word probabilities of the groups and of the corpus, and the mean of s."""

    kind: Callable[[Array], Parameters]
    groups: Array
    corpus: Array
    scale: float
    pulls: Array

    @classmethod
    def learn(cls, family: Family[Any, Any], layout: Layout, stats: Statistics, documents: Array) -> Urns:
        """Maximum likelihood of the groups and of the corpus.

        Parameters
        ----------
        stats : statistics of the classes
        documents : weight of the documents of each class
        """
        both = map_columns(stats, lambda w: np.concatenate([layout.groups(w), layout.everything(w)], axis=-1))
        params = family.update(both)
        table = params.table
        sums = table.sum(axis=0)
        shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0)
        sizes = layout.groups(documents)
        known = (sums[:-1] > 0) & (sizes > 0)
        pulls = np.full(len(sizes), 1e3)
        pulls[known] = np.minimum(np.sqrt(geometric_mean(sizes[known]) / sizes[known]), 1e3)
        return cls(type(params), shares[:, :-1], shares[:, -1:], geometric_mean(sums[:-1][known]), pulls)

    def of_words(self, words: Array) -> Urns:
        """The urns of these words only, and of all others as if they were one (the last) word."""
        groups, corpus = self.groups[words], self.corpus[words]
        rest = np.maximum(0.0, 1.0 - groups.sum(axis=0)), np.maximum(0.0, 1.0 - corpus.sum(axis=0))
        return replace(self, groups=np.vstack([groups, rest[0]]), corpus=np.vstack([corpus, rest[1]]))

    def mix(self, smoothing: Shrinkage) -> Parameters:
        """alpha' for these amounts."""
        tau = smoothing.tau * self.pulls
        scale = self.scale * (smoothing.burst or 1.0) if self.is_urn else 1.0
        return self.kind((self.groups + tau * self.corpus) * (scale / (1.0 + tau)))

    @property
    def is_urn(self) -> bool:
        """Whether the sum of the parameters is free (multinomial parameters sum to one)."""
        return hasattr(self.kind, "s")


def geometric_mean(values: Array) -> float:
    """1 where there are none."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else 1.0


def _beside(grid: tuple[float, ...], value: float) -> list[float]:
    place = int(np.argmin(np.abs(np.asarray(grid) - value)))
    return [grid[i] for i in (place - 1, place + 1) if 0 <= i < len(grid)]
