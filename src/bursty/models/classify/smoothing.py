"""Smoothing, so that no parameter is zero: a constant, as in the papers, or shrinkage towards the corpus.

`Constant` is the rule of the papers: each family adds a small number to its counts or parameters.

`Shrinkage` is the default of the classifier. A priori, a class resembles the whole corpus. With alpha_k the urn of
class k, p_k = alpha_k / s_k its word probabilities and q those of all documents together,

    alpha'_k = s' (p_k + tau_k q) / (1 + tau_k),     tau_k = tau sqrt(mean_j D_j / D_k),     s' = burst * mean_k s_k

(geometric means). A class with few documents D_k is shrunk more. Two numbers are learned: tau, and ``burst``, which
scales the s found by maximum likelihood to the one that discriminates best between classes; 1 keeps it, and as it grows
to infinity the DCM becomes the multinomial. All classes have the same s', so that neither the length of a document nor
words that no class has seen are evidence for a class. For the multinomial and the EDCM only proportions matter and
``burst`` has no effect.

``power`` is the third: a document of n tokens has weight n^-power in the statistics. 0 is maximum likelihood, and 1/2
keeps long documents from dominating their class.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.families.base import Family, Parameters
from bursty.kernels import gather, threads
from bursty.models.classify.layout import Layout
from bursty.models.classify.sums import Classes
from bursty.storage.schema import maybe, number, storable
from bursty.typing import Array

TAUS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
BURSTS = (1.0, 10.0, 100.0, 1e6)
POWERS = (0.0, 0.5)
TRUSTS = (0.0, 0.5, 1.0)
EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


@storable("Constant", epsilon=number(low=0), power=number())
@dataclass(frozen=True)
class Constant:
    """Add ``epsilon`` in the family's own way."""

    epsilon: float
    power: float = 0.0

    def neighbours(self) -> list[Constant]:
        """The next values of the grid."""
        return [replace(self, epsilon=epsilon) for epsilon in _beside(EPSILONS, self.epsilon)]


@storable("Shrinkage", tau=number(low=0), burst=maybe(number(low=0)), power=number(), idf=number())
@dataclass(frozen=True)
class Shrinkage:
    """Shrink towards the corpus by ``tau``, and scale the mean of s by ``burst``."""

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
class ShrinkageParts:
    """What `Shrinkage` mixes: word probabilities of the groups and of the corpus, and the mean of s."""

    family: Family[Any, Any]
    groups: Array | sp.csr_array
    corpus: Array
    scale: float
    pulls: Array

    @classmethod
    def learn(
        cls,
        family: Family[Any, Any],
        layout: Layout,
        classes: Classes,
        documents: Array,
        words: Array | None = None,
        totals: Array | None = None,
    ) -> ShrinkageParts:
        """Maximum likelihood of the groups and of the corpus, except for s if the family has a prior.

        Parameters
        ----------
        classes : statistics of the classes
        documents : weight of the documents of each class
        words : array, optional
            Keep only these words, without zeros.
        totals : array, optional
            s of the groups, if it is known (`group_totals`).
        """
        plain = family.with_prior(None)
        corpus, _ = _shares(plain.update(layout.everything(classes)))
        n_groups = layout.n_groups(len(classes))
        sums, sizes = np.empty(n_groups), layout.group_sizes(documents)
        table = np.empty((len(corpus) if words is None else 0, n_groups))
        columns = []
        for g, stats in enumerate(layout.groups(classes)):
            shares, sums[g] = _shares(plain.update(stats))
            if words is None:
                table[:, g] = shares[:, 0]
            else:
                columns.append(sp.csc_array(shares[words]))
        if family.prior is not None:
            sums = group_totals(family, layout, classes) if totals is None else totals
        known = (sums > 0) & (sizes > 0)
        pulls = np.full(n_groups, 1e3)
        pulls[known] = np.minimum(np.sqrt(geometric_mean(sizes[known]) / sizes[known]), 1e3)
        scale = geometric_mean(sums[known])
        if words is None:
            return cls(family, table, corpus, scale, pulls)
        side_by_side = sp.hstack(columns, format="csc")
        del columns
        return cls(family, side_by_side.tocsr(), corpus[words], scale, pulls)

    def mix(self, smoothing: Shrinkage, words: Any) -> Array:
        """alpha' of these words for these amounts."""
        tau = smoothing.tau * self.pulls
        scale = self.scale * (smoothing.burst or 1.0) if self.family.has_s else 1.0  # theta sums to one
        factors = scale / (1.0 + tau)
        if isinstance(self.groups, np.ndarray):
            return (self.groups[words] + tau * self.corpus[words]) * factors
        mixed = np.empty((len(words), len(tau)))
        cost = np.arange(len(words) + 1) * np.int64(len(tau))
        rows = self.groups.indptr, self.groups.indices, self.groups.data
        threads.run(gather.mix_rows, cost, *rows, words, self.corpus[:, 0], tau, factors, mixed)
        return mixed

    def parameters(self, smoothing: Shrinkage) -> Parameters:
        """alpha' of all words, in place of the probabilities of the groups."""
        table: Array = self.groups
        n_rows = max(1, threads.BLOCK // table.shape[1])
        for start in range(0, len(table), n_rows):
            rows = slice(start, start + n_rows)
            table[rows] = self.mix(smoothing, rows)
        return self.family.parameters_type(table)  # type: ignore[call-arg]  # those that shrink have the table alone


def group_totals(family: Family[Any, Any], layout: Layout, classes: Classes) -> Array:
    """s of each group under the prior, from statistics in which long documents are not discounted."""
    return np.array([family.totals(stats)[0] for stats in layout.groups(replace(classes, column=0))])


def fit_groups(family: Family[Any, Any], layout: Layout, classes: Classes, smoothing: float = 0.0) -> Parameters:
    """Parameters of all groups, computed one after the other into one table."""
    tables: dict[str, Array] = {}
    for g, stats in enumerate(layout.groups(classes)):
        params = family.update(stats, smoothing=smoothing)
        for field in fields(params):
            column = getattr(params, field.name)
            if g == 0:
                tables[field.name] = np.empty((*column.shape[:-1], layout.n_groups(len(classes))))
            tables[field.name][..., g] = column[..., 0]
    return type(params)(**tables)


def _shares(urn: Parameters) -> tuple[Array, float]:
    """Word probabilities of one group (zeros if it is empty), and the sum of its parameters."""
    total = float(urn.table.sum())
    return urn.table / (total or 1.0), total


def geometric_mean(values: Array) -> float:
    """Geometric mean; 1 if there are no values."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else 1.0


def _beside(grid: tuple[float, ...], value: float) -> list[float]:
    place = int(np.argmin(np.abs(np.asarray(grid) - value)))
    return [grid[i] for i in (place - 1, place + 1) if 0 <= i < len(grid)]
