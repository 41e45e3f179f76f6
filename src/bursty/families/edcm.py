"""The exponential-family approximation of the DCM (EDCM), in which only the first occurrence of a word has a parameter.

If the parameters of the DCM are small, ``Gamma(x + a) / Gamma(a)`` is close to ``a Gamma(x)``, which gives
[Elkan2006] eq. 3 and 4. For one sequence of words

    log q(x) = log Gamma(s) - log Gamma(s + n) + sum_{w: x_w >= 1} (log beta_w + log Gamma(x_w)),   s = sum_w beta_w

The sum of q over all documents of length n is not 1 but Z_n(beta) < 1, which the papers leave out;
`bursty.families.normaliser` computes it exactly.

| symbol | name | shape |
|---|---|---|
| beta | weight of a word's first occurrence | W x K |
| s | sum of beta; the smaller, the burstier | K |
| T | weight of the documents that have the word (statistics) | W x K |
| L | weight of the documents of each length (statistics) | lengths x K |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk, Levels, Resp
from bursty.families import normaliser
from bursty.families.base import Statistics, weighted_logs
from bursty.families.priors import Solution, UrnPrior, solve_first_draws
from bursty.families.solve import solve_total
from bursty.families.urn import UrnEstimator, UrnFamily, UrnParameters
from bursty.kernels import gather, threads
from bursty.typing import Array


@dataclass(frozen=True)
class EDCMStatistics(Statistics):
    """Weights of the documents that have each word (W x K), and of each length."""

    types: Array
    lengths: Levels


@dataclass(frozen=True)
class EDCMParameters(UrnParameters):
    """Weights of the words' first occurrences: W x K."""

    beta: Array


class EDCMFamily(UrnFamily[EDCMStatistics, EDCMParameters]):
    """The presence of words and the length of documents are sufficient statistics."""

    name = "edcm"
    title = "EDCM"
    citation = (
        "C. Elkan. Clustering documents with an exponential-family approximation of the Dirichlet compound multinomial "
        "distribution. Proceedings of the 23rd International Conference on Machine Learning (ICML), pages 289-296, "
        "2006. doi:10.1145/1143844.1143881"
    )
    is_normalised = False
    uses_sums = True

    def summarize(self, chunk: Chunk, resp: Resp) -> EDCMStatistics:
        """Count the documents that have each word, and those of each length."""
        return EDCMStatistics(chunk.sum_by_word(resp), chunk.sum_by_length(resp))

    def maximise(self, stats: EDCMStatistics, start: EDCMParameters | None) -> Array:
        """One equation for s, then beta in proportion to the statistics: [Elkan2006] eq. 5 and 6."""
        totals = gather.column_sums(stats.types)
        s = solve_total(totals, stats.lengths, None if start is None else start.s)
        scale = np.divide(s, totals, out=np.zeros_like(s), where=totals > 0)
        return threads.apply(np.multiply, stats.types, scale)

    def solve(self, stats: EDCMStatistics, prior: UrnPrior, start: Array | None = None) -> Solution:
        """Weights given this prior, and the standard error of log s."""
        return solve_first_draws(stats.types, stats.lengths, prior, None if start is None else start.sum(axis=0))

    def effective_counts(self, stats: EDCMStatistics, params: EDCMParameters) -> Array:
        """First occurrences; repeats have the same probability for all words."""
        return stats.types

    def log_prob(self, chunk: Chunk, params: EDCMParameters) -> Array:
        """log q(x), which is not normalised: the sum of q over all documents of a length is below 1."""
        table = chunk.words(params.log_table)
        self.add_length_term(chunk, params, table, self.constants(chunk))
        return table

    def word_evidence(self, chunk: Chunk, table: Array, trust: Array | None = None) -> Array:
        """Sum of log beta over the distinct words."""
        return chunk.words(weighted_logs(table, trust))

    def constants(self, chunk: Chunk) -> Array:
        """Sum of log Gamma(x)."""
        return chunk.repeats

    def normalised(self) -> NormalisedEDCMFamily:
        """The family with probabilities that sum to one, and a slower `log_prob`."""
        return NormalisedEDCMFamily()

    def log_normaliser(self, chunk: Chunk, params: EDCMParameters) -> Array:
        """log Z_n(beta) of each document's length and each component: D x K."""
        values = chunk.length_values
        table = np.empty((len(values), params.n_components))
        for k in range(params.n_components):
            table[:, k] = normaliser.log_normaliser(params.beta[:, k], values)
        return chunk.lengths_of(table)

    def sample(self, params: EDCMParameters, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        """Exact draws from the normalised distribution."""
        return normaliser.sample(params.beta[:, 0], lengths, rng)


class NormalisedEDCMFamily(EDCMFamily):
    """EDCM divided by its sum over all documents of a length; `update` remains that of the EDCM."""

    uses_sums = False

    def log_prob(self, chunk: Chunk, params: EDCMParameters) -> Array:
        """Log-probabilities that sum to one over all documents of a length."""
        return super().log_prob(chunk, params) - self.log_normaliser(chunk, params)


class EDCM(UrnEstimator):
    r"""Exponential-family approximation of the Dirichlet compound multinomial.

    Parameters
    ----------
    smoothing : float or array of shape (n_words,), default 0
        Multiple of the smallest non-zero parameter that is added to every parameter (0.01 in Madsen et al. 2005). With
        0, a document with a word that was not seen in fitting has probability 0.
    prior : {None, "auto"}, default None
        None is maximum likelihood, as in the papers. "auto" keeps ``s_`` away from its limits and gives unseen words a
        share.
    engine : {"local", "dask"}, Dask client or Engine, default "local"
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores. The result does not depend on it.

    Attributes
    ----------
    beta_ : ndarray of shape (n_words,)
        Weight of each word's first occurrence.
    s_ : float
        Sum of ``beta_``; the smaller, the burstier. It is 1e10 if no document repeats a word, and 1e-10 if every
        document is one word repeated.

    See Also
    --------
    DCM : The exact model.
    Multinomial : A model without bursts.

    Notes
    -----
    One sequence of words of length n has the value ([Elkan2006] eq. 3 and 4)

    .. math::

       q(x) = \frac{\Gamma(s)}{\Gamma(s + n)} \prod_{w : x_w \ge 1} \beta_w \Gamma(x_w), \qquad
       s = \sum_w \beta_w

    Examples
    --------
    >>> from bursty.families import EDCM
    >>> X = [[3, 0, 1], [0, 4, 0], [1, 1, 2]]
    >>> model = EDCM().fit(X)
    >>> model.beta_.round(3), round(model.s_, 3)
    (array([0.293, 0.293, 0.293]), 0.879)
    >>> round(model.perplexity(X, normalized=True), 3)
    2.786
    """

    _family = EDCMFamily()
    beta_: Array

    def log_prob(self, X: Any, *, coefficient: bool = False, normalized: bool = False) -> Array:
        """Log-probability of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        coefficient : bool, default False
            If True, the probability of the counts rather than of one sequence of words.
        normalized : bool, default False
            Divide by Z_n(beta), so that the probabilities of all documents of a length sum to one. The papers leave it
            out, so that their EDCM perplexities are too high.
        """
        family = self._family.normalised() if normalized else self._family
        return self._log_prob(X, family.log_prob, coefficient)

    def perplexity(self, X: Any, *, coefficient: bool = False, normalized: bool = False) -> float:
        """Perplexity per word, ``exp(-sum_d log p(x_d) / sum_d n_d)``. Lower is better."""
        documents = self._place(X)
        log_prob = self.log_prob(documents, coefficient=coefficient, normalized=normalized)
        return self._perplexity(documents, log_prob)
