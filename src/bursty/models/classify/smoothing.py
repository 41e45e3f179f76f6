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

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.families.base import Family, Parameters, Statistics
from bursty.kernels import gather, threads
from bursty.models.classify.layout import Layout
from bursty.models.classify.sums import Classes, side_by_side, word_table
from bursty.storage.schema import maybe, number, storable
from bursty.typing import Array

TAUS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
BURSTS = (1.0, 10.0, 100.0, 1e6)
POWERS = (0.0, 0.5)
TRUSTS = (0.0, 0.5, 1.0)
EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
#: Size of a table of urns that are solved together.
CELLS = 100_000


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
        tables: Iterator[Array],
        sizes: Array,
        words: Array | None = None,
        totals: Array | None = None,
    ) -> list[ShrinkageParts]:
        """Maximum likelihood of the groups and of the corpus, except for s if the family has a prior.

        One result per discount (column of the statistics).

        Parameters
        ----------
        tables : weights of the urns of the corpus, then of the groups, in tables with a column per discount (`solve`)
        sizes : weight of the documents of each group, one row per discount
        words : array, optional
            Keep only these words, without zeros.
        totals : array, optional
            s of the groups, if it is not that of maximum likelihood (`group_totals`).
        """
        n_discounts, n_groups = sizes.shape
        sums, start = np.empty((n_discounts, 1 + n_groups)), 0
        sparse: list[list[sp.csc_array]] = [[] for _ in range(n_discounts)]
        for urns in tables:
            found = urns.sum(axis=0)
            rows = urns if words is None else urns[words]
            rows /= np.where(found > 0, found, 1.0)
            if start == 0:
                corpus, rows = rows[:, :n_discounts].copy(), rows[:, n_discounts:]
                full = [np.empty((len(rows) if words is None else 0, n_groups)) for _ in range(n_discounts)]
            stop = start + len(found) // n_discounts
            sums[:, start:stop] = found.reshape(-1, n_discounts).T
            for i in range(n_discounts):
                if words is None:
                    full[i][:, max(0, start - 1) : stop - 1] = rows[:, i::n_discounts]
                else:
                    sparse[i].append(sp.csc_array(rows[:, i::n_discounts]))
            start = stop
        sums = sums[:, 1:]
        if totals is not None:
            sums[:] = totals
        result = []
        for i, weights in enumerate(sizes):
            known = (sums[i] > 0) & (weights > 0)
            pulls = np.full(n_groups, 1e3)
            pulls[known] = np.minimum(np.sqrt(geometric_mean(weights[known]) / weights[known]), 1e3)
            groups = full[i] if words is None else sp.hstack(sparse[i], format="csc").tocsr()
            result.append(cls(family, groups, corpus[:, i : i + 1], geometric_mean(sums[i][known]), pulls))
        return result

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
    return np.array([family.totals(stats)[0] for stats in layout.groups(replace(classes, columns=(0,)))])


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


def corpus_and_groups(layout: Layout, classes: Classes) -> Iterator[Statistics]:
    """Statistics of all documents, then of each group; none is kept."""
    yield layout.everything(classes)
    yield from layout.groups(classes)


def solve(family: Family[Any, Any], groups: Iterator[Statistics]) -> Iterator[Array]:
    """Parameters of the groups, a column for each column of their statistics.

    As many groups at a time as fit into `CELLS`: urns that are solved together cost little more than one.
    """
    family = family.with_prior(None)
    while (first := next(groups, None)) is not None:
        rest = islice(groups, max(0, CELLS // word_table(first).size - 1))
        yield family.update(side_by_side([first, *rest])).table


def geometric_mean(values: Array) -> float:
    """Geometric mean; 1 if there are no values."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else 1.0


def _beside(grid: tuple[float, ...], value: float) -> list[float]:
    place = int(np.argmin(np.abs(np.asarray(grid) - value)))
    return [grid[i] for i in (place - 1, place + 1) if 0 <= i < len(grid)]
