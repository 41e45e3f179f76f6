"""Summaries of the draws of a sampler: a representative partition, and convergence diagnostics.

The labels of clusters may be permuted from one draw to the next; everything here depends on the partitions only.

    VI(a, b) = H(a) + H(b) - 2 I(a, b)        Binder(a, b) = fraction of pairs joined by only one of them
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.typing import Array

# Maximum number of draws that are compared with each other.
_MOST_DRAWS = 200


def posterior_similarity(samples: Any) -> Array:
    r"""Posterior probability that each pair of documents is in the same cluster.

    Parameters
    ----------
    samples : array-like of shape (n_samples, n_documents)
        Cluster labels, one row per draw.

    Returns
    -------
    ndarray of shape (n_documents, n_documents)

    See Also
    --------
    best_partition
    bursty.plot.similarity : A picture of it.

    Notes
    -----
    With the labels z of T draws,

    .. math:: S_{ij} = \frac{1}{T} \sum_t [z^t_i = z^t_j]

    Examples
    --------
    >>> from bursty.metrics import posterior_similarity
    >>> posterior_similarity([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    draws = _check_samples(samples)
    together = np.zeros((draws.shape[1], draws.shape[1]))
    for labels, weight in zip(*_distinct(draws), strict=True):
        together += weight * (labels[:, None] == labels)
    return together / len(draws)


def variation_of_information(labels_a: Any, labels_b: Any) -> float:
    r"""Variation of information between two partitions, in nats (Meila 2007).

    Parameters
    ----------
    labels_a, labels_b : array-like of shape (n_documents,)
        One label per document.

    Returns
    -------
    float
        0 if the partitions are the same.

    See Also
    --------
    best_partition, normalized_mutual_information

    Notes
    -----
    .. math:: H + H' - 2 I

    Examples
    --------
    >>> from bursty.metrics import variation_of_information
    >>> round(variation_of_information([0, 0, 1, 1], [0, 0, 0, 0]), 4)
    0.6931
    """
    a, b = (_canonical(labels) for labels in _check_samples([labels_a, labels_b]))
    return _distance(a, b, "vi")


def best_partition(samples: Any, loss: str = "vi") -> Array:
    r"""The draw with the smallest mean distance to all draws.

    Parameters
    ----------
    samples : array-like of shape (n_samples, n_documents)
        Labels of each draw. If more than 200 are distinct, 200 of them, evenly spaced, are compared.
    loss : {"vi", "binder"}
        Distance between partitions. Variation of information is less prone than Binder's loss to clusters of a single
        document (Wade and Ghahramani 2018).

    Returns
    -------
    ndarray of shape (n_documents,)
        Labels from 0, numbered by first appearance.

    See Also
    --------
    posterior_similarity, variation_of_information
    bursty.DPMFS : Uses it.

    Notes
    -----
    Over the draws z,

    .. math:: \arg\min_z \sum_t \mathrm{VI}(z, z^t)

    Examples
    --------
    >>> from bursty.metrics import best_partition
    >>> best_partition([[0, 0, 1], [0, 0, 1], [0, 1, 2]])
    array([0, 0, 1], dtype=int32)
    """
    if loss not in ("vi", "binder"):
        raise ValueError(f'loss must be "vi" or "binder", not {loss!r}')
    partitions, weights = _distinct(_check_samples(samples))
    if len(partitions) > _MOST_DRAWS:
        spread = np.linspace(0, len(partitions) - 1, _MOST_DRAWS).astype(int)
        partitions, weights = partitions[spread], weights[spread]
    n = len(partitions)
    distances = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            distances[i, j] = distances[j, i] = _distance(partitions[i], partitions[j], loss)
    return partitions[int(np.argmin(distances @ weights))].copy()


def r_hat(chains: Any) -> float:
    r"""Potential scale reduction of split chains (Gelman and Rubin): near 1 if the chains agree.

    Parameters
    ----------
    chains : array-like of shape (n_chains, n_draws)
        One number per draw. The halves of a single chain are compared with each other.

    Returns
    -------
    float
        1 if nothing ever changes, infinite if the halves are constant but different.

    See Also
    --------
    effective_sample_size, bursty.plot.trace

    Notes
    -----
    With the variance W within and B between the halves of all chains, n draws each,

    .. math:: \hat R = \sqrt{\frac{\frac{n - 1}{n} W + \frac{1}{n} B}{W}}

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.metrics import r_hat
    >>> rng = np.random.default_rng(0)
    >>> bool(r_hat(rng.normal(size=(4, 1000))) < 1.01)
    True
    """
    halves = _halves(chains)
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    n = halves.shape[1]
    return float(np.sqrt((n - 1) / n + between / within))


def effective_sample_size(chains: Any) -> float:
    r"""Effective sample size of split chains (Geyer's initial monotone sequence).

    Parameters
    ----------
    chains : array-like of shape (n_chains, n_draws)

    Returns
    -------
    float
        At most the number of draws, which is returned if nothing ever changes.

    See Also
    --------
    r_hat

    Notes
    -----
    With the autocorrelations of N draws,

    .. math:: \frac{N}{1 + 2 \sum_{t \ge 1} \rho_t}

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.metrics import effective_sample_size
    >>> rng = np.random.default_rng(0)
    >>> walk = np.cumsum(rng.normal(size=(4, 1000)), axis=1)
    >>> bool(effective_sample_size(walk) < 100)
    True
    """
    halves = _halves(chains)
    m, n = halves.shape
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return float(m * n) if between == 0.0 else 1.0
    total = within * (n - 1) / n + between
    covariance = np.mean([_autocovariance(half) for half in halves], axis=0)
    correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: ends[0]] if len(ends) else pairs)
    time = max(-1.0 + 2.0 * float(pairs.sum()), 1.0)
    return m * n / time


def _autocovariance(values: Array) -> Array:
    """At lags 0 .. n - 1, by the Fourier transform."""
    centred = values - values.mean()
    n = len(values)
    spectrum = np.fft.rfft(centred, 2 * n)
    return np.fft.irfft(spectrum * spectrum.conj(), 2 * n)[:n] / n


def _halves(chains: Any) -> Array:
    values = np.atleast_2d(np.asarray(chains, dtype=np.float64))
    if values.ndim != 2 or values.shape[1] < 4 or not np.all(np.isfinite(values)):
        raise ValueError(f"chains must be finite numbers, chains x draws, with 4 draws or more, not {values.shape}")
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, -half:]])


def _check_samples(samples: Any) -> Array:
    draws = np.asarray(samples)
    if draws.ndim != 2 or draws.size == 0:
        raise ValueError(f"samples must be draws x documents, not an array of shape {draws.shape}")
    return draws


def _distinct(draws: Array) -> tuple[Array, Array]:
    """The distinct partitions, labelled by first appearance, and how often each was drawn."""
    canonical = np.stack([_canonical(labels) for labels in draws])
    partitions, first, weights = np.unique(canonical, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return partitions[order], weights[order]


def _canonical(labels: Array) -> Array:
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int32)


def _distance(a: Array, b: Array, loss: str) -> float:
    """Distance of two labellings by 0, 1, 2, ...; cells that do not occur contribute zero."""
    joint = np.bincount(a * (int(b.max()) + 1) + b).astype(np.float64)
    sums = [np.bincount(a).astype(np.float64), np.bincount(b).astype(np.float64), joint]
    n = len(a)
    if loss == "binder":
        first, second, both = (float(np.sum(counts**2)) for counts in sums)
        return (first + second - 2.0 * both) / n**2
    first, second, both = (float(np.sum(counts[counts > 0] * np.log(counts[counts > 0] / n))) / n for counts in sums)
    return max(0.0, first + second - 2.0 * both)
