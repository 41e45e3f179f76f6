"""Modified Bessel functions of the first kind, of any order that a vocabulary gives, in logarithms.

For order nu from 10 on, the uniform expansion in 1/nu (Abramowitz & Stegun 9.7.7, which [Elkan2006] cuts after its
first term):

    log I_nu(z) ~ nu eta - log(2 pi nu)/2 - log(1 + (z/nu)^2)/4 + log(1 + sum_k u_k(t) / nu^k)

Below that, scipy's scaled function, or the power series where that underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import gammaln, ive

Array = np.ndarray[Any, Any]

_SMALL_ORDER = 10.0
_N_TERMS = 12


def _debye_polynomials(n_terms: int) -> list[Polynomial]:
    """u_1, u_2, ... by ``u_{k+1} = t^2 (1 - t^2) u_k' / 2 + (1/8) int_0^t (1 - 5 r^2) u_k(r) dr``."""
    polynomials = [Polynomial([1.0])]
    for _ in range(n_terms):
        u = polynomials[-1]
        polynomials.append(Polynomial([0, 0, 0.5, 0, -0.5]) * u.deriv() + (Polynomial([0.125, 0, -0.625]) * u).integ())
    return polynomials[1:]


_DEBYE = _debye_polynomials(_N_TERMS)


def log_iv(order: float, z: Array) -> Array:
    """``log I_order(z)`` for order >= 0 and z >= 0."""
    z = np.asarray(z, dtype=np.float64)
    result = np.full(z.shape, 0.0 if order == 0 else -np.inf)
    positive = z > 0
    x = z[positive]
    result[positive] = _uniform(order, x) if order >= _SMALL_ORDER else _small_order(order, x)
    return result


def _uniform(order: float, z: Array) -> Array:
    ratio = z / order
    root = np.hypot(1.0, ratio)
    eta = root + np.log(ratio) - np.log1p(root)
    t = 1.0 / root
    correction = sum(u(t) / order**k for k, u in enumerate(_DEBYE, start=1))
    return order * eta - 0.5 * np.log(2 * np.pi * order) - 0.5 * np.log(root) + np.log1p(correction)


def _small_order(order: float, z: Array) -> Array:
    scaled = ive(order, z)
    with np.errstate(divide="ignore"):
        plain = np.log(scaled) + z
    series = order * np.log(z / 2) - gammaln(order + 1) + np.log1p((z / 2) ** 2 / (order + 1))
    return np.where(scaled > 1e-290, plain, series)


def bessel_ratio(order: float, z: Array) -> Array:
    """``I_{order + 1}(z) / I_order(z)``, by Gauss's continued fraction (Lentz's method)."""
    z = np.asarray(z, dtype=np.float64)
    x = np.maximum(z, 1e-300)
    tiny = 1e-30
    value, c, d = np.full(x.shape, tiny), np.full(x.shape, tiny), np.zeros(x.shape)
    for m in range(1, 100_000):
        b = 2.0 * (order + m) / x
        d = 1.0 / (b + d)
        c = b + 1.0 / c
        change = c * d
        value = value * change
        if np.all(np.abs(change - 1.0) < 1e-15):
            break
    return np.where(z > 0, value, 0.0)
