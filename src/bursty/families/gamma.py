"""A gamma prior on the parameters of an urn, as in Holmes, Harris and Quince (2012) for communities of microbes.

    alpha_kw ~ Gamma(shape a, rate b),  density in log alpha:  a log alpha - b alpha + a log b - log Gamma(a)

At the mode of the posterior (in log alpha), ``g_w(alpha) + a / alpha = h(s) + b`` for every word: there are a more
draws of each word, and the slope of the length term is larger by b. With the expected draws ``t_w = alpha_w
g_w(alpha_w)``, this is the fixed point of ``alpha_w = (t_w + a) / (h(s) + b)`` (Minka 2000); every step increases the
posterior.

The evidence of a mixture is then approximated by Laplace's method (see `log_evidence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bursty.families.base import Family, Parameters, Statistics
from bursty.families.dcm import DCMParameters, DCMStatistics
from bursty.families.solve import LengthUrn, tails
from bursty.kernels import polya
from bursty.storage.schema import number, storable
from bursty.typing import Array

_STEPS, _FIRST_STEPS = 5, 200


@storable("GammaPrior", shape=number(low=0), rate=number(low=0))
@dataclass(frozen=True)
class GammaPrior:
    r"""Gamma prior on the parameters of a DCM or EDCM, for ``Mixture(prior=GammaPrior())``.

    Parameters
    ----------
    shape : float, default 0.1
        Shape of the gamma distribution.
    rate : float, default 0.1
        Rate of the gamma distribution. The defaults are those of Holmes, Harris and Quince (2012).

    See Also
    --------
    bursty.Mixture : Takes it as ``prior``.
    bursty.select_components : Uses it for tables with few columns.

    Notes
    -----
    Every parameter has the density (Holmes, Harris and Quince 2012)

    .. math:: p(\alpha_w) = \frac{b^a}{\Gamma(a)} \alpha_w^{a - 1} e^{-b \alpha_w}

    Examples
    --------
    >>> from bursty import Mixture, datasets
    >>> from bursty.families import GammaPrior
    >>> corpus, _ = datasets.make_bursty_mixture(100, 20, 2, random_state=0)
    >>> model = Mixture(2, family="dcm", prior=GammaPrior(0.1, 0.1), random_state=0)
    >>> model.fit(corpus).weights_.round(2)
    array([0.53, 0.47])
    """

    shape: float = 0.1
    rate: float = 0.1

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not np.isfinite(value) or value <= 0:
                raise ValueError(f"{name} of a gamma prior must be a positive finite number, not {value!r}")

    def update(
        self, family: Family[Any, Any], stats: Statistics, start: Parameters | None = None, smoothing: float = 0.0
    ) -> Parameters:
        """Mode of the posterior, by a few steps from ``start`` or by many without; ``smoothing`` is not used."""
        if not (family.has_s and family.can_share):
            raise ValueError(f"a gamma prior is for families of urns (dcm, edcm), not for {family.title}")
        params: Any = family.update(stats) if start is None else start
        urn = LengthUrn(stats.lengths)  # type: ignore[attr-defined]  # statistics of urns have it
        for _ in range(_FIRST_STEPS if start is None else _STEPS):
            slopes = urn(np.maximum(params.s, 1e-10))[0]
            params = family.from_weights((family.effective_counts(stats, params) + self.shape) / (slopes + self.rate))
        return params

    def log_density(self, alpha: Array) -> float:
        """Log-density of the logarithms of the parameters."""
        a, b = self.shape, self.rate
        return float(np.sum(a * np.log(alpha) - b * alpha)) + alpha.size * (a * np.log(b) - float(gammaln(a)))

    def log_curvature(self, stats: DCMStatistics, params: DCMParameters) -> Array:
        """Log-determinant of the negative Hessian in log alpha at the mode, for each component.

        The Hessian is ``diag(alpha^2 q + a) - c alpha alpha'`` with ``q_w = sum_j T_wj / (alpha_w + j)^2`` and
        ``c = sum_j L_j / (s + j)^2``: a diagonal and one outer product.
        """
        alpha = params.alpha
        second = stats.types / alpha**2
        repeats = stats.repeats
        polya.add_second_sums(repeats.first, repeats.values, tails(repeats), alpha, second)
        diagonal = alpha**2 * second + self.shape
        curvature = LengthUrn(stats.lengths)(params.s)[1]
        rest = 1.0 - curvature * (alpha**2 / diagonal).sum(axis=0)
        return np.log(diagonal).sum(axis=0) + np.log(np.maximum(rest, 1e-300))
