"""Components that share s and lean towards the corpus: what clustering puts in the place of maximum likelihood.

    alpha_k = s p_k,    p_k ~ Dirichlet(1 + m q),    p_k = (t_k + m q) / (sum_w t_kw + m)

with s and q those of one component for the whole corpus. The t_k are the draws behind the counts of component k
(`Family.effective_counts`): tokens for the multinomial, first occurrences for the EDCM, and for the DCM what its urns
drew anew, ``t_kw = sum_j T_kwj alpha_kw / (alpha_kw + j)``, which is in between. At a fixed point p_k is the mode of
its posterior. The strength m is given in documents: the number of draws in that many average documents.

| symbol | name | shape |
|---|---|---|
| m q | draws that every component gets from the corpus, ``counts`` | W |
| s | shared by all components | |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bursty.families.base import Family, Parameters, Statistics
from bursty.families.urn import add_smoothing

Array = np.ndarray[Any, Any]

# Without parameters to start from, the draws of a DCM settle within this number of steps.
_STEPS = 10


@dataclass(frozen=True)
class Shared:
    """What all components have in common: draws from the corpus (W), and the parameters of its one component."""

    counts: Array
    corpus: Parameters

    @classmethod
    def of(cls, family: Family[Any, Any], stats: Statistics, n_documents: float, shrinkage: float) -> Shared:
        """From statistics of the documents, of any components; ``shrinkage`` in average documents."""
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
