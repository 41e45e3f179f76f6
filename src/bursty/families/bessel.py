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
    """``I_{order + 1}(z) / I_order(z)`` for order >= 0 and z >= 0.

    Gauss's continued fraction where it is short (z below the order), else the uniform expansion of I'/I or, for small
    orders, scipy's scaled functions.
    """
    z = np.asarray(z, dtype=np.float64)
    result = np.zeros(z.shape)
    near = (z > 0) & (z <= max(order, _SMALL_ORDER))
    result[near] = _continued_fraction(order, z[near])
    far = z > max(order, _SMALL_ORDER)
    x = z[far]
    result[far] = _uniform_ratio(order, x) if order >= _SMALL_ORDER else ive(order + 1, x) / ive(order, x)
    return result


def _continued_fraction(order: float, z: Array) -> Array:
    """Lentz's method."""
    value, c, d = np.full(z.shape, 1e-30), np.full(z.shape, 1e-30), np.zeros(z.shape)
    for m in range(1, 10_000):
        b = 2.0 * (order + m) / z
        d = 1.0 / (b + d)
        c = b + 1.0 / c
        value = value * (c * d)
        if np.all(np.abs(c * d - 1.0) < 1e-15):
            break
    return value


def _uniform_ratio(order: float, z: Array) -> Array:
    """``I'/I - order / z``, with I' expanded as I is (Abramowitz & Stegun 9.7.9)."""
    ratio = z / order
    root = np.hypot(1.0, ratio)
    t = 1.0 / root
    value, slope = 1.0 + np.zeros_like(t), 1.0 + np.zeros_like(t)
    before = Polynomial([1.0])
    for k, u in enumerate(_DEBYE, start=1):
        v = u(t) + t * (t**2 - 1.0) * (0.5 * before(t) + t * before.deriv()(t))
        value += u(t) / order**k
        slope += v / order**k
        before = u
    return (root * slope / value - 1.0) / ratio
