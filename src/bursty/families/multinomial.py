"""The multinomial: every token of a document is drawn independently of the others.

    log p(x) = sum_w x_w log theta_w

| symbol | name | shape |
|---|---|---|
| theta | probability of a word | W x K |
| c | weighted counts of the words (statistics) | W x K |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk, Resp
from bursty.families.base import Family, Parameters, Statistics, weighted_logs
from bursty.families.estimator import FamilyEstimator
from bursty.typing import Array


@dataclass(frozen=True)
class MultinomialStatistics(Statistics):
    """Weighted counts of the words: W x K."""

    tokens: Array


@dataclass(frozen=True)
class MultinomialParameters(Parameters):
    """Probabilities of the words: W x K, each column sums to one."""

    theta: Array


class MultinomialFamily(Family[MultinomialStatistics, MultinomialParameters]):
    """Accepts any non-negative numbers, such as transformed counts."""

    name = "multinomial"
    title = "multinomial"
    citation = (
        "J. D. M. Rennie, L. Shih, J. Teevan and D. R. Karger. Tackling the poor assumptions of naive Bayes text "
        "classifiers. Proceedings of the 20th International Conference on Machine Learning (ICML), pages 616-623, 2003."
    )
    integer = False
    can_shrink = True
    is_linear = True
    uses_sums = True
    draws = "tokens"

    def summarize(self, chunk: Chunk, resp: Resp) -> MultinomialStatistics:
        """Add up the tokens of each word."""
        return MultinomialStatistics(chunk.sum_tokens(resp))

    def update(
        self,
        stats: MultinomialStatistics,
        *,
        smoothing: float = 0.0,
        start: MultinomialParameters | None = None,
    ) -> MultinomialParameters:
        """Relative frequencies, with ``smoothing`` added to the count of every word."""
        theta = stats.tokens + smoothing
        sums = theta.sum(axis=0)
        return MultinomialParameters(theta / np.where(sums > 0, sums, 1.0))

    def effective_counts(self, stats: MultinomialStatistics, params: MultinomialParameters) -> Array:
        """Every token is a draw."""
        return stats.tokens

    def log_prob(self, chunk: Chunk, params: MultinomialParameters) -> Array:
        """Sum of log theta over the tokens."""
        return chunk.tokens(params.log_table)

    def word_evidence(self, chunk: Chunk, table: Array, trust: Array | None = None) -> Array:
        """Sum of x log theta over the words."""
        return chunk.tokens(weighted_logs(table, trust))

    def from_weights(self, weights: Array) -> MultinomialParameters:
        """The weights divided by their sum."""
        return MultinomialParameters(weights / weights.sum(axis=0))

    def sample(self, params: MultinomialParameters, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        """Draw the tokens one by one from theta."""
        words = rng.choice(len(params.theta), size=int(lengths.sum()), p=params.theta[:, 0])
        return documents_of_tokens(words, lengths, len(params.theta))


def documents_of_tokens(words: Array, lengths: Array, n_words: int) -> sp.csr_array:
    """Counts of documents given as their tokens, one document after the other."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    ones = np.ones(len(words), dtype=np.int32)
    counts = sp.coo_array((ones, (rows, words)), shape=(len(lengths), n_words)).tocsr()
    counts.sum_duplicates()
    return counts


class Multinomial(FamilyEstimator):
    r"""Multinomial distribution of word counts.

    Parameters
    ----------
    smoothing : float or array of shape (n_words,), default 0
        Added to the count of every word (1 is Laplace's rule). With 0, a document with a word that was not seen in
        fitting has probability 0.
    engine : {"local", "dask"}, Dask client or Engine, default "local"
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores. The result does not depend on it.

    Attributes
    ----------
    theta_ : ndarray of shape (n_words,)
        Probability of each word.

    See Also
    --------
    DCM : The same urn with bursts.
    bursty.Mixture : Clusters with a multinomial each (``family="multinomial"``).

    Notes
    -----
    One sequence of words has the probability

    .. math:: p(x) = \prod_w \theta_w^{x_w}

    Examples
    --------
    >>> from bursty.families import Multinomial
    >>> X = [[3, 0, 1], [0, 4, 0]]
    >>> model = Multinomial(smoothing=1).fit(X)
    >>> model.theta_.round(3)
    array([0.364, 0.455, 0.182])
    >>> round(model.perplexity(X), 3)
    2.682
    """

    _family = MultinomialFamily()
    theta_: Array
