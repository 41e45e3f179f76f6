"""The Dirichlet on scaled documents: a document is its proportions of words, which vary from document to document.

Proportions must not be zero, so that counts are smoothed before they are scaled. ([Madsen2005] section 4 explains why
that is no good for classification: smoothing decides about the words that a document does not have.)

    p_w = (x_w + epsilon) / (n + W epsilon)
    log f(p) = log Gamma(s) - sum_w log Gamma(alpha_w) + sum_w (alpha_w - 1) log p_w,        s = sum_w alpha_w

This is a density on the simplex, not a probability of words: it has no perplexity, and log-densities can only be
compared with each other, for the same epsilon. The log-proportion of an absent word is ``-log(W + n / epsilon)``, that
of a word present is greater by ``log(1 + x_w / epsilon)``: sums over all words are sums over the words present and a
term of the length. An empty document has no proportions: its log-density is 0 in every component and in fitting it
weighs nothing.

| symbol | name | shape |
|---|---|---|
| alpha | exponents of the proportions, plus 1 | W x K |
| s | sum of alpha; the larger, the more similar the documents | K |
| G | weighted sum of log(1 + x / epsilon) (statistics) | W x K |
| N | weighted sum of log(W + n / epsilon) (statistics) | K |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln, psi, zeta

from bursty.engines import Assignment, Chunk, Resp
from bursty.families.base import Family, Parameters, Statistics
from bursty.families.estimator import FamilyEstimator
from bursty.kernels import gather
from bursty.typing import Array

#: If all documents have the same proportions, s has no finite maximum and stops here.
S_MAX = 1e10
_MAX_STEPS = 100
# The iteration ends with a step of psi(s) below this.
_NEAR = 1e-13


@dataclass(frozen=True)
class DirichletStatistics(Statistics):
    """Sums of log(1 + x / epsilon) (W x K), of log(W + n / epsilon) (K), and the weight of the documents (K)."""

    logs: Array
    lengths: Array
    weight: Array


@dataclass(frozen=True)
class DirichletParameters(Parameters):
    """Exponents of the proportions, plus 1: W x K."""

    alpha: Array

    @cached_property
    def total(self) -> Array:
        """Sum of alpha: K."""
        return gather.column_sums(self.alpha)


@dataclass(frozen=True)
class DirichletFamily(Family[DirichletStatistics, DirichletParameters]):
    """Accepts any non-negative numbers; ``epsilon`` is added to each before the document is scaled."""

    epsilon: float = 1.0

    name = "dirichlet"
    title = "Dirichlet"
    citation = (
        "R. E. Madsen, D. Kauchak and C. Elkan. Modeling word burstiness using the Dirichlet distribution. Proceedings "
        "of the 22nd International Conference on Machine Learning (ICML), pages 545-552, 2005. "
        "doi:10.1145/1102351.1102420"
    )
    integer = False
    has_perplexity = False
    smooths = False

    def summarize(self, chunk: Chunk, resp: Resp) -> DirichletStatistics:
        """Add up the logarithms; those of absent words are the same for all absent words of a document."""
        present = (chunk.lengths > 0).astype(np.float64)
        lengths = present * self._log_scale(chunk)
        if not isinstance(resp, Assignment):
            present, lengths = present[:, None], lengths[:, None]
        logs = self._logs(chunk).sum_tokens(resp)
        return DirichletStatistics(logs, chunk.total(resp * lengths), chunk.total(resp * present))

    def update(
        self, stats: DirichletStatistics, *, smoothing: float = 0.0, start: DirichletParameters | None = None
    ) -> DirichletParameters:
        """The maximum. No parameter is ever zero: ``smoothing`` is not used."""
        alpha = np.zeros_like(stats.logs)
        for k in np.flatnonzero(stats.weight > 0):
            values, places, sizes = np.unique(stats.logs[:, k], return_inverse=True, return_counts=True)
            means = (values - stats.lengths[k]) / stats.weight[k]
            alpha[:, k] = maximise_alpha(means, sizes, None if start is None else float(start.total[k]))[places]
        return DirichletParameters(alpha)

    def log_prob(self, chunk: Chunk, params: DirichletParameters) -> Array:
        """Log-density of each document's proportions under each component."""
        log_prob = self.word_evidence(chunk, params.alpha.copy())
        self.add_length_term(chunk, params, log_prob)
        return log_prob

    def word_evidence(self, chunk: Chunk, table: Array, trust: Array | None = None) -> Array:
        """Contribution of the words present, compared with a document of that length without them."""
        table -= 1.0
        if trust is not None:
            table *= trust[:, None]
        return self._logs(chunk).tokens(table)

    def add_length_term(
        self, chunk: Chunk, params: DirichletParameters, log_prob: Array, constants: Array | None = None
    ) -> None:
        """Add the constant of the density, and the term of absent words."""
        n_words, total = params.alpha.shape[0], params.total
        constant = gammaln(total) - gammaln(params.alpha).sum(axis=0)
        absent = np.log(n_words + chunk.lengths / self.epsilon)[:, None] * (total - n_words)
        log_prob += np.where(chunk.lengths[:, None] > 0, constant - absent, 0.0)

    def sample(self, params: DirichletParameters, lengths: Array, rng: np.random.Generator) -> Array:
        """Proportions times the lengths: dense rows, which are not integers."""
        return rng.dirichlet(params.alpha[:, 0], size=len(lengths)) * lengths[:, None]

    def _logs(self, chunk: Chunk) -> Chunk:
        """The chunk with values log(1 + x / epsilon)."""
        return chunk.with_values(np.log1p(chunk.values / self.epsilon))

    def _log_scale(self, chunk: Chunk) -> Array:
        """log(W + n / epsilon) of each document."""
        return np.log(chunk.n_words + chunk.lengths / self.epsilon)


def maximise_alpha(means: Array, sizes: Array, start: float | None = None) -> Array:
    """The alpha that maximises the likelihood, given mean logarithms of proportions that ``sizes`` words have each.

    At the maximum ``psi(alpha_w) = psi(s) + mean_w`` for all words ([Minka2000] section 1): ``c = psi(s)`` is the one
    unknown. Given it, every alpha_w is an inverse digamma, and Newton's method on ``psi(sum_w alpha_w(c)) - c``, which
    falls from plus to minus, finds it inside a bracket. Minka's fixed point is the same without the slope, and takes
    hundreds of steps.
    """
    low, high = -np.inf, float(psi(S_MAX))
    shares = np.exp(means - means.max())
    limit = S_MAX * shares / (sizes @ shares)
    # By Jensen's inequality, the geometric means sum to less than one unless all documents are the same.
    if np.log(sizes @ shares) + means.max() >= 0 or psi(sizes @ inverse_psi(high + means)) >= high:
        return limit
    c = float(np.clip(psi(start) if start else psi(sizes.sum() / 2.0), -1e3, high - 1.0))
    alpha = limit
    for _ in range(_MAX_STEPS):
        alpha = inverse_psi(c + means)
        total = float(sizes @ alpha)
        value = float(psi(total)) - c
        slope = float(zeta(2, total) * (sizes @ (1.0 / zeta(2, alpha)))) - 1.0
        low, high = (c, high) if value > 0 else (low, c)
        step = c - value / slope if slope < 0 else (high if value > 0 else low)
        if not low < step < high:
            step = (low + high) / 2 if np.isfinite(low) else c - 1.0 - abs(c)
        moved, c = abs(step - c), step
        if moved <= _NEAR * max(1.0, abs(c)):
            break
    return inverse_psi(c + means)


def inverse_psi(values: Array) -> Array:
    """x with psi(x) = value: five steps of Newton's method from Minka's start give fourteen digits."""
    x = np.where(values >= -2.22, np.exp(np.minimum(values, 700.0)) + 0.5, -1.0 / (values - psi(1.0)))
    for _ in range(5):
        x = x - (psi(x) - values) / zeta(2, x)
    return x


class Dirichlet(FamilyEstimator):
    r"""Dirichlet distribution of the proportions of words in documents.

    Parameters
    ----------
    smoothing : float, default 1
        Added to each count before the document is scaled to proportions; must be positive.
    engine : {"local", "dask"}, Dask client or Engine, default "local"
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores. The result does not depend on it.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_words,)
        Parameters of the Dirichlet distribution. Their sum is 1e10 if all documents have the same proportions.

    See Also
    --------
    DCM : For the counts themselves: no smoothing of documents is needed.

    Notes
    -----
    The density of the smoothed proportions of a document is

    .. math::

       f(p) = \frac{\Gamma(s)}{\prod_w \Gamma(\alpha_w)} \prod_w p_w^{\alpha_w - 1}, \qquad
       p_w = \frac{x_w + \epsilon}{n + W \epsilon}

    Madsen et al. (2005) describe this model in section 4 and reject it for classification, since smoothing makes all
    rare words equal. In the `DCM`, the words of a document are drawn from such proportions instead.

    Examples
    --------
    >>> from bursty.families import Dirichlet
    >>> model = Dirichlet(smoothing=0.5).fit([[3, 0, 1], [0, 4, 0], [1, 1, 2]])
    >>> model.alpha_.round(3)
    array([1.334, 1.413, 1.236])
    """

    _family = DirichletFamily()
    alpha_: Array

    def __init__(self, *, smoothing: float = 1.0, engine: str = "local", n_jobs: int | None = None) -> None:
        super().__init__(smoothing=smoothing, engine=engine, n_jobs=n_jobs)

    def _own_family(self) -> DirichletFamily:
        if not isinstance(self.smoothing, int | float | np.number) or not 0 < self.smoothing < np.inf:
            raise ValueError(f"smoothing of a Dirichlet must be a positive finite number, not {self.smoothing!r}")
        return DirichletFamily(float(self.smoothing))
