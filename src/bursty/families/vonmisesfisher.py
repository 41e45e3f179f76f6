"""The von Mises-Fisher distribution: documents as directions on the unit sphere, around a mean direction.

    log f(x) = log c(kappa) + kappa mu . x / |x|,
    log c(kappa) = nu log kappa - (W/2) log(2 pi) - log I_nu(kappa),        nu = W/2 - 1

This is a density on directions, not a probability of counts: it has no perplexity, and log-densities can only be
compared with each other. An empty document has no direction: its term ``mu . x`` is 0 and in fitting it weighs nothing.

| symbol | name | shape |
|---|---|---|
| mu | mean direction, of length 1 | W x K |
| kappa | concentration | K |
| R | weighted sum of the documents' directions (statistics) | W x K |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bursty.engines import Chunk, Resp
from bursty.families.base import Family, Parameters, Statistics, log_normal_copies
from bursty.families.bessel import bessel_ratio, log_iv
from bursty.families.estimator import FamilyEstimator
from bursty.typing import Array

#: If all documents have the same direction, kappa has no finite maximum and stops here.
KAPPA_MAX = 1e10


@dataclass(frozen=True)
class VMFStatistics(Statistics):
    """Sum of directions (W x K) and weight of the documents that have one (K)."""

    resultant: Array
    weight: Array


@dataclass(frozen=True)
class VMFParameters(Parameters):
    """Mean directions (W x K) and concentrations (K)."""

    mu: Array
    kappa: Array


class VonMisesFisherFamily(Family[VMFStatistics, VMFParameters]):
    """Accepts any real numbers; only the direction of a document matters."""

    name = "vonmisesfisher"
    title = "von Mises-Fisher"
    citation = (
        "A. Banerjee, I. S. Dhillon, J. Ghosh and S. Sra. Clustering on the unit hypersphere using von Mises-Fisher "
        "distributions. Journal of Machine Learning Research 6, pages 1345-1382, 2005."
    )
    integer = False
    signed = True
    uses_sums = True
    has_perplexity = False
    smooths = False

    def summarize(self, chunk: Chunk, resp: Resp) -> VMFStatistics:
        """Add up the directions."""
        return VMFStatistics(*chunk.sum_directions(resp))

    def update(
        self, stats: VMFStatistics, *, smoothing: float = 0.0, start: VMFParameters | None = None
    ) -> VMFParameters:
        """Mean direction, and kappa from the length of the mean; ``smoothing`` is not used."""
        norms = np.sqrt((stats.resultant**2).sum(axis=0))
        mu = np.divide(stats.resultant, norms, out=np.zeros_like(stats.resultant), where=norms > 0)
        mean_length = np.divide(norms, stats.weight, out=np.zeros_like(norms), where=stats.weight > 0)
        return VMFParameters(mu, concentration(np.minimum(mean_length, 1.0), len(mu)))

    def effective_counts(self, stats: VMFStatistics, params: VMFParameters) -> Array:
        """Sums of directions, which add like counts."""
        return stats.resultant

    def with_draws(self, draws: Array, stats: VMFStatistics, corpus: VMFParameters) -> VMFParameters:
        """Directions of the draws, and one kappa for all components."""
        norms = np.sqrt((draws**2).sum(axis=0))
        mu = np.divide(draws, norms, out=np.zeros_like(draws), where=norms > 0)
        length = float(np.sum(mu * stats.resultant)) / max(float(stats.weight.sum()), 1e-300)
        kappa = concentration(np.array([min(max(length, 0.0), 1.0)]), len(mu))
        return VMFParameters(mu, np.repeat(kappa, draws.shape[1]))

    def log_prob(self, chunk: Chunk, params: VMFParameters) -> Array:
        """Log-density of each document's direction under each component."""
        return chunk.directions(params.mu * params.kappa, log_constant(params.kappa, chunk.n_words))

    def perturb(
        self, params: VMFParameters, n_components: int, scale: float, rng: np.random.Generator
    ) -> VMFParameters:
        """Copies of the first component with noise on every word."""
        mu = log_normal_copies(params.mu, n_components, scale, rng)
        return VMFParameters(mu / np.linalg.norm(mu, axis=0), np.repeat(params.kappa[:1], n_components))

    def sample(self, params: VMFParameters, lengths: Array, rng: np.random.Generator) -> Array:
        """Directions times the lengths: dense rows, whose entries may be negative (they are not counts).

        Wood (1994): the component along mu by rejection, the rest uniformly around it. The method of SciPy builds a
        square matrix of the words, and is a thousand times slower with 4,000 words.
        """
        mu, kappa, n_words = params.mu[:, 0], float(params.kappa[0]), len(params.mu)
        noise = rng.standard_normal((len(lengths), n_words))
        if n_words == 1:
            return mu[None, :] * lengths[:, None]
        noise -= (noise @ mu)[:, None] * mu
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        along = np.array([_wood(kappa, n_words, rng) for _ in range(len(lengths))]).reshape(-1, 1)
        return (along * mu + np.sqrt(1.0 - along**2) * noise) * lengths[:, None]


def log_constant(kappa: Array, n_words: int) -> Array:
    """log c(kappa); at kappa = 0 minus the log-area of the sphere."""
    order = n_words / 2.0 - 1.0
    safe = np.where(kappa > 0, kappa, 1.0)
    if order < 0:  # one word: the sphere is two points, I_{-1/2}(z) = sqrt(2 / (pi z)) cosh z
        value = -np.logaddexp(safe, -safe)
    else:
        value = order * np.log(safe) - n_words / 2.0 * np.log(2 * np.pi) - log_iv(order, safe)
    return np.where(kappa > 0, value, log_uniform(n_words))


def log_uniform(n_words: int) -> float:
    """Minus the log-area of the unit sphere in this number of dimensions."""
    from scipy.special import gammaln

    return float(gammaln(n_words / 2.0) - np.log(2.0) - n_words / 2.0 * np.log(np.pi))


def concentration(mean_length: Array, n_words: int) -> Array:
    """The kappa that maximises the likelihood: ``I_{W/2}(kappa) / I_{W/2-1}(kappa) = mean length`` of the directions.

    Banerjee's approximation ``r (W - r^2) / (1 - r^2)``, refined by Newton's method, kept inside [0, KAPPA_MAX].
    """
    if n_words == 1:
        return np.where(mean_length < 1, np.arctanh(np.minimum(mean_length, 1 - 1e-16)), KAPPA_MAX)
    r = np.minimum(mean_length, 1.0 - 1e-15)
    kappa = np.minimum(r * (n_words - r**2) / (1.0 - r**2), KAPPA_MAX)
    for _ in range(50):
        moving = (kappa > 0) & (kappa < KAPPA_MAX)
        if not moving.any():
            break
        safe = np.where(moving, kappa, 1.0)
        ratio = bessel_ratio(n_words / 2.0 - 1.0, safe)
        slope = 1.0 - ratio**2 - (n_words - 1) / safe * ratio
        step = np.clip(safe - (ratio - r) / slope, safe / 4, safe * 4)
        change = np.where(moving, np.abs(step - safe) / safe, 0.0)
        kappa = np.where(moving, np.minimum(step, KAPPA_MAX), kappa)
        if change.max() < 1e-13:
            break
    return kappa


def _wood(kappa: float, n_words: int, rng: np.random.Generator) -> float:
    """The cosine with the mean direction."""
    m = n_words - 1
    b = m / (2.0 * kappa + np.sqrt(4.0 * kappa**2 + m**2))
    x0 = (1.0 - b) / (1.0 + b)
    c = kappa * x0 + m * np.log1p(-(x0**2))
    while True:
        z = rng.beta(m / 2.0, m / 2.0)
        w = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z)
        if kappa * w + m * np.log1p(-x0 * w) - c >= np.log(rng.random()):
            return float(w)


class VonMisesFisher(FamilyEstimator):
    r"""Von Mises-Fisher distribution of the directions of documents.

    Parameters
    ----------
    engine : {"local", "dask"}, Dask client or Engine, default "local"
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores. The result does not depend on it.

    Attributes
    ----------
    mu_ : ndarray of shape (n_words,)
        Mean direction.
    kappa_ : float
        Concentration; 1e10 if all documents have the same direction.

    See Also
    --------
    DCM : For counts rather than directions.
    bursty.Mixture : Clusters of embeddings (``family="vonmisesfisher"``).

    Notes
    -----
    The density of the direction of a document, with W words and the Bessel function I, is

    .. math::

       f(x) = \frac{\kappa^{W/2 - 1}}{(2 \pi)^{W/2} I_{W/2 - 1}(\kappa)}
       \exp\Bigl(\kappa \, \mu^\top \frac{x}{\|x\|}\Bigr)

    Examples
    --------
    >>> from bursty.families import VonMisesFisher
    >>> model = VonMisesFisher().fit([[3, 0, 4], [4, 0, 3], [1, 1, 1]])
    >>> model.mu_.round(3), round(model.kappa_, 2)
    (array([0.693, 0.202, 0.693]), 20.74)
    """

    _family = VonMisesFisherFamily()
    mu_: Array
    kappa_: float

    def __init__(self, *, engine: str = "local", n_jobs: int | None = None) -> None:
        super().__init__(engine=engine, n_jobs=n_jobs)
