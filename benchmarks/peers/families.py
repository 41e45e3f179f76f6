"""Fits of one distribution: the exact DCM beside general optimisers, von Mises-Fisher beside SciPy's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import digamma, gammaln
from scipy.stats import vonmises_fisher

from benchmarks.peers.harness import Case, Column, Contender, clock
from bursty import datasets
from bursty.families import DCM, VonMisesFisher


def load(short: bool) -> Any:
    """Counts of the words of at least two documents."""
    corpus = datasets.load("classic400").filter_words(min_df=2)
    return corpus.select(slice(0, 100)).filter_words(min_df=2).counts if short else corpus.counts


def log_likelihood(counts: Any, alpha: Any) -> float:
    """Of a DCM, by its definition."""
    lengths, s = np.asarray(counts.sum(axis=1)).ravel(), alpha.sum()
    tokens = gammaln(counts.data + alpha[counts.indices]) - gammaln(alpha[counts.indices])
    return float(tokens.sum() + (gammaln(s) - gammaln(s + lengths)).sum())


def ours(counts: Any, seed: int) -> Mapping[str, float]:
    began = clock()
    alpha = DCM().fit(counts).alpha_
    return {"seconds": clock() - began, "likelihood": log_likelihood(counts, alpha) / counts.shape[0]}


def minka(counts: Any, seed: int, *, tolerance: float = 1e-6) -> Mapping[str, float]:
    """Minka's fixed point, until a step changes no parameter by more than a millionth."""
    began = clock()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    alpha = np.asarray(counts.sum(axis=0)).ravel() / counts.sum() * 10.0
    for _ in range(5_000):
        own = alpha[counts.indices]
        gains = np.bincount(counts.indices, digamma(counts.data + own) - digamma(own), counts.shape[1])
        new = alpha * gains / (digamma(lengths + alpha.sum()) - digamma(alpha.sum())).sum()
        settled = np.abs(new / alpha - 1.0).max() < tolerance
        alpha = new
        if settled:
            break
    return {"seconds": clock() - began, "likelihood": log_likelihood(counts, alpha) / counts.shape[0]}


def with_scipy(counts: Any, seed: int) -> Mapping[str, float]:
    """L-BFGS on the logarithms of the parameters, with the exact gradient."""
    began = clock()
    lengths = np.asarray(counts.sum(axis=1)).ravel()

    def loss(log_alpha: Any) -> tuple[float, Any]:
        alpha = np.exp(log_alpha)
        own, s = alpha[counts.indices], alpha.sum()
        gains = np.bincount(counts.indices, digamma(counts.data + own) - digamma(own), counts.shape[1])
        gradient = gains + (digamma(s) - digamma(s + lengths)).sum()
        return -log_likelihood(counts, alpha), -gradient * alpha

    start = np.log(np.asarray(counts.sum(axis=0)).ravel() / counts.sum() * 10.0)
    alpha = np.exp(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 5_000, "maxfun": 10_000}).x)
    return {"seconds": clock() - began, "likelihood": log_likelihood(counts, alpha) / counts.shape[0]}


def directions(short: bool) -> Any:
    """Draws around one direction in 20 dimensions."""
    mean = np.eye(20)[0]
    return vonmises_fisher(mean, 50).rvs(200 if short else 5_000, random_state=np.random.default_rng(0))


def our_vmf(rows: Any, seed: int) -> Mapping[str, float]:
    began = clock()
    model = VonMisesFisher().fit(rows)
    return {"seconds": clock() - began, "kappa": float(model.kappa_)}


def scipy_vmf(rows: Any, seed: int) -> Mapping[str, float]:
    began = clock()
    _, kappa = vonmises_fisher.fit(rows)
    return {"seconds": clock() - began, "kappa": float(kappa)}


SECONDS = Column("seconds", "fit, s", "low", is_time=True)
CASES = [
    Case(
        name="dcm",
        title="Fit of a DCM, classic400",
        work="Maximum likelihood of one DCM.",
        data="classic400: 400 documents, words of at least two of them",
        load=lambda short: sp.csr_array(load(short)),
        contenders={
            "DCM().fit": Contender(ours, "bursty"),
            "L-BFGS": Contender(with_scipy, "scipy"),
            "Minka's fixed point": Contender(minka, "scipy"),
        },
        columns=(SECONDS, Column("likelihood", "log-likelihood per document", None)),
        rounds=(5, 1),
    ),
    Case(
        name="vonmisesfisher",
        title="Fit of a von Mises-Fisher distribution",
        work="Maximum likelihood of one distribution; the true kappa is 50.",
        data="5,000 draws in 20 dimensions",
        load=partial(directions),
        contenders={
            "VonMisesFisher().fit": Contender(our_vmf, "bursty"),
            "vonmises_fisher.fit": Contender(scipy_vmf, "scipy"),
        },
        columns=(SECONDS, Column("kappa", "kappa", None)),
        rounds=(5, 1),
    ),
]
