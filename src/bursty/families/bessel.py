"""Modified Bessel functions of the first kind, of any order that a vocabulary gives, in logarithms.

For order nu from 10 on, the uniform expansion in 1/nu (Abramowitz & Stegun 9.7.7, which [Elkan2006] cuts after its
first term):

    log I_nu(z) ~ nu eta - log(2 pi nu)/2 - log(1 + (z/nu)^2)/4 + log(1 + sum_k u_k(t) / nu^k)

Below that, scipy's scaled function, or the power series where that underflows.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyval
from scipy.special import gammaln, ive

from bursty.typing import Array

_SMALL_ORDER = 10.0
_N_TERMS = 12


def _debye_coefficients(n_terms: int) -> tuple[Array, Array]:
    """Coefficients of u_1, u_2, ... and v_1, v_2, ..., one column per polynomial (Abramowitz & Stegun 9.3.9 to 9.3.14).

    ``u_{k+1} = t^2 (1 - t^2) u_k' / 2 + (1/8) int_0^t (1 - 5 r^2) u_k(r) dr`` and
    ``v_{k+1} = u_{k+1} + t (t^2 - 1) (u_k / 2 + t u_k')``.
    """
    last, values, slopes = Polynomial([1.0]), [], []
    for _ in range(n_terms):
        slope = last.deriv()
        u = Polynomial([0, 0, 0.5, 0, -0.5]) * slope + (Polynomial([0.125, 0, -0.625]) * last).integ()
        v = u + Polynomial([0, -1, 0, 1]) * (0.5 * last + Polynomial([0, 1]) * slope)
        values.append(u.coef)
        slopes.append(v.coef)
        last = u
    size = max(len(coefficients) for coefficients in values + slopes)
    padded = [[np.pad(c, (0, size - len(c))) for c in each] for each in (values, slopes)]
    return np.stack(padded[0], axis=1), np.stack(padded[1], axis=1)


_DEBYE, _DEBYE_SLOPES = _debye_coefficients(_N_TERMS)


def _expansion(coefficients: Array, order: float, t: Array) -> Array:
    """``sum_k p_k(t) / order^k`` of the polynomials p_1, p_2, ... with these coefficients: one polynomial in t."""
    return polyval(t, coefficients @ order ** -np.arange(1.0, _N_TERMS + 1))


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
    correction = np.log1p(_expansion(_DEBYE, order, t))
    return order * eta - 0.5 * np.log(2 * np.pi * order) - 0.5 * np.log(root) + correction


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
    value, slope = (1.0 + _expansion(each, order, t) for each in (_DEBYE, _DEBYE_SLOPES))
    return (root * slope / value - 1.0) / ratio
