"""Components that share s and are shrunk towards the corpus: the default of clustering, instead of maximum likelihood.

    alpha_k = s p_k,    p_k ~ Dirichlet(1 + m q),    p_k = (t_k + m q) / (sum_w t_kw + m)

where s and q are those of one component fitted to the whole corpus, and t_k are the independent draws behind the counts
of component k (`Family.effective_counts`): the tokens for the multinomial, the first occurrences for the EDCM, and for
the DCM ``t_kw = sum_j T_kwj alpha_kw / (alpha_kw + j)``, which is in between. At a fixed point p_k is the mode of
its posterior. The strength m is given as a number of average documents.

| symbol | name | shape |
|---|---|---|
| m q | draws from the corpus that are added to every component, ``counts`` | W |
| s | shared by all components | |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bursty.families.base import Family, Parameters, Statistics
from bursty.families.urn import add_smoothing
from bursty.typing import Array

# Number of steps in which the draws of a DCM settle without a start.
_STEPS = 10


@dataclass(frozen=True)
class Shared:
    """What components share: draws from the corpus (W), and its parameters as one component."""

    counts: Array
    corpus: Parameters

    @classmethod
    def of(cls, family: Family[Any, Any], stats: Statistics, n_documents: float, shrinkage: float) -> Shared:
        """From statistics of all documents; ``shrinkage`` is a number of average documents."""
        together = stats.pooled()
        corpus = family.update(together)
        counts = family.effective_counts(together, corpus)[:, 0]
        return cls(counts * (shrinkage / n_documents), corpus)

    def update(
        self, family: Family[Any, Any], stats: Statistics, start: Parameters | None = None, smoothing: float = 0.0
    ) -> Parameters:
        """Parameters of all components: one step from ``start``, or until they settle."""
        params = self.corpus if start is None else start
        for _ in range(_STEPS if start is None else 1):
            draws = family.effective_counts(stats, params) + self.counts[:, None]
            params = family.with_draws(draws, stats, self.corpus)
        if smoothing > 0 and family.smooths:
            params = family.with_draws(add_smoothing(draws, smoothing), stats, self.corpus)
        return params
