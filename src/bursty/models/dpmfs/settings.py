"""What the parameters of `DPMFS` mean for a corpus: checks and defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.estimator import check_choice, check_number, check_range, check_whole
from bursty.families import FAMILIES, Family, FamilyEstimator, get_family
from bursty.models.dpmfs.chains import Plan
from bursty.models.dpmfs.constraints import Constraints
from bursty.samplers.dpmfs import DPMFSData
from bursty.storage.limits import check_memory
from bursty.typing import Array
from bursty.wording import counted

SAMPLERS = {"paper": (3000, 2500), "collapsed": (500, 250)}
ESTIMATES = ("frequent", "vi", "binder")
# lambda of a word with the same count in every document: 1 / sigma is not defined.
CONSTANT_LAM = 1.0
#: Parameters of the beta prior of omega, if it is learned: uniform.
OMEGA_PRIOR = (1.0, 1.0)
#: For chains that run until they settle: their number, the sweep of the first check, and the ratio of later ones.
N_CHAINS, FIRST_ROUND, GROWTH = 4, 200, 1.5
#: Smallest Bayes factor of a discriminative word: where "positive evidence" begins [KassRaftery1995].
LEAST_BAYES_FACTOR = 3.0
#: The largest count with DCM components: Stirling numbers up to it take some seconds, and grow with its square.
MAX_TABLES = 32_768
_LEAST = {
    "word_steps": 1,
    "label_steps": 1,
    "split_steps": 0,
    "max_iter": 1,
    "min_cluster_size": 1,
}


@dataclass(frozen=True)
class Settings:
    """Checked parameters that do not depend on the corpus."""

    family: Family[Any, Any]
    plan: Plan
    n_chains: int
    point_estimate: str
    learn_alpha: bool
    lam_prior: str | None
    omega_prior: tuple[float, float] | None


def check_settings(model: Any) -> Settings:
    """Check all parameters that do not depend on the corpus, before any work is done."""
    check_choice("sampler", model.sampler, SAMPLERS)
    family = choose_family(model.family, model.sampler)
    check_choice("lam_prior", model.lam_prior, ("auto", "lognormal", "gamma", "words", None))
    check_choice("point_estimate", model.point_estimate, (None, *ESTIMATES))
    for name, least in _LEAST.items():
        check_whole(name, getattr(model, name), least)
    for name, least in (("max_components", 1), ("patience", 2), ("n_chains", 1)):
        if getattr(model, name) is not None:
            check_whole(name, getattr(model, name), least)
    check_number("alpha", model.alpha, positive=True)
    _fraction("threshold", model.threshold)
    learned = model.omega is None and family.draws == "tables"
    if isinstance(model.omega, str) and model.omega == "learned":
        learned = True
    elif model.omega is not None:
        _fraction("omega", model.omega, ' or "learned"')
    plan = _plan(model)
    estimate = model.point_estimate or ("frequent" if model.sampler == "paper" else "vi")
    learn_alpha = model.sampler == "collapsed" if model.learn_alpha is None else bool(model.learn_alpha)
    lam_prior = model.lam_prior
    if lam_prior == "auto":
        lam_prior = "lognormal" if family.draws == "tables" and model.lam is None else None
    n_chains = model.n_chains or (N_CHAINS if plan.rounds else 1)
    omega_prior = OMEGA_PRIOR if learned else None
    return Settings(family, plan, int(n_chains), estimate, learn_alpha, lam_prior, omega_prior)


def choose_family(family: Any, sampler: str) -> Family[Any, Any]:
    """The family of the components: "auto" is the multinomial for the paper's sampler, otherwise the DCM.

    Components are integrated out, so the family must say which draws its Dirichlet prior is for (`Family.draws`).
    """
    if isinstance(family, str) and family == "auto":
        family = "multinomial" if sampler == "paper" else "dcm"
    known = {name: kind._family for name, kind in FAMILIES.items() if kind._family.draws is not None}
    name = family._family.name if isinstance(family, FamilyEstimator) else family
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"family must be one of 'auto', {', '.join(map(repr, known))}, not {family!r}")
    return get_family(family)


def _plan(model: Any) -> Plan:
    """Run until the chains settle (the default with the collapsed sampler), or for a number of sweeps."""
    default_n, default_burn = SAMPLERS[model.sampler]
    n_iter = model.n_iter
    if n_iter is None:
        n_iter = "auto" if model.sampler == "collapsed" and model.patience is None else default_n
    if isinstance(n_iter, str):
        return _rounds(model, n_iter)
    check_whole("n_iter", n_iter, 1)
    burn_in = int(n_iter * default_burn / default_n) if model.burn_in is None else model.burn_in
    _check_burn_in(burn_in, "n_iter", n_iter)
    return Plan(int(n_iter), int(burn_in), model.patience)


def _rounds(model: Any, n_iter: str) -> Plan:
    if n_iter != "auto":
        raise ValueError(f'n_iter must be a positive integer or "auto", not {n_iter!r}')
    if model.patience is not None:
        raise ValueError('patience stops each chain on its own, n_iter="auto" stops all together: give one of them')
    most, burn_in = int(model.max_iter), model.burn_in
    if burn_in is not None:
        _check_burn_in(burn_in, "max_iter", most)
    rounds, end = [], FIRST_ROUND
    while end < most:
        if burn_in is None or end > burn_in:
            rounds.append(end)
        end = int(end * GROWTH)
    return Plan(most, None if burn_in is None else int(burn_in), rounds=(*rounds, most))


def _check_burn_in(burn_in: Any, name: str, n_iter: int) -> None:
    check_whole("burn_in", burn_in, 0)
    if burn_in >= n_iter:
        raise ValueError(f"burn_in={burn_in} leaves no sweep of {name}={n_iter}: lower it")


def check_links(model: Any, settings: Settings, constraints: Constraints) -> None:
    """Check that sampler and point estimate respect links."""
    if constraints.together is None and constraints.apart is None:
        return
    if model.sampler == "paper":
        raise ValueError('must_link and cannot_link need sampler="collapsed": the paper has no step for them')
    if constraints.apart is not None and settings.point_estimate == "frequent":
        raise ValueError(
            'point_estimate="frequent" labels each document on its own and may join what cannot_link keeps apart: '
            'use "vi"'
        )


def make_problem(
    model: Any, settings: Settings, counts: sp.csr_array, constraints: Constraints, lam: Array | None
) -> DPMFSData:
    """The data of the sampler, for the words that occur."""
    n_documents, n_words = counts.shape
    _check_counts(counts, settings)
    known = constraints.known
    held = np.zeros(n_documents, dtype=np.uint8) if known is None else (known >= 0).astype(np.uint8)
    problem = DPMFSData(
        indptr=counts.indptr.astype(np.int64),
        words=counts.indices.astype(np.int32),
        counts=counts.data.astype(np.int32),
        lam=default_lam(counts) if lam is None else lam,
        omega=_first_omega(model.omega, settings, n_words),
        most=most_components(model, n_documents, 0 if known is None else int(known.max()) + 1),
        held=held,
        bursty=settings.family.draws == "tables",
        alpha_mean=float(model.alpha),
        learn_alpha=settings.learn_alpha,
        lam_prior=settings.lam_prior,
        omega_prior=settings.omega_prior,
        together=constraints.together,
        apart=constraints.apart,
    )
    first = problem.units.separate(np.zeros(n_documents, dtype=np.int32) if known is None else np.maximum(known, 0))
    if constraints.apart is not None and len(np.unique(first)) > problem.limit:
        raise ValueError(
            f"no partition with max_components={model.max_components} was found that satisfies cannot_link: "
            "raise max_components, or remove links"
        )
    return problem


def _check_counts(counts: sp.csr_array, settings: Settings) -> None:
    """Check the sizes of the tables that sweeps use, by tokens of a document, and the trace, by count and tables."""
    largest, longest = int(counts.data.max()), int(counts.sum(axis=1, dtype=np.int64).max())
    if settings.family.draws == "tables" and largest > MAX_TABLES:
        raise ValueError(
            f"X holds a count of {largest:,}, above the maximum of {MAX_TABLES:,} for DPMFS with DCM "
            'components: divide the counts, split long documents, or use family="multinomial"'
        )
    check_memory(32 * longest, f"DPMFS on a document of {longest:,} tokens", "split it, or divide its counts")


def _first_omega(omega: Any, settings: Settings, n_words: int) -> float:
    """The mean of its prior if it is learned, the given value, or that of the paper, which expects 50 such words."""
    if settings.omega_prior is not None:
        return settings.omega_prior[0] / sum(settings.omega_prior)
    return min(50.0 / n_words, 0.5) if omega is None else float(omega)


def most_components(model: Any, n_documents: int, n_classes: int) -> int | None:
    """N: as given; with the paper's sampler a tenth of the number of documents, at least ten; otherwise no bound."""
    if model.max_components is not None:
        if model.max_components < n_classes:
            raise ValueError(
                f"y has {counted(n_classes, 'class', 'classes')} but max_components is {model.max_components}: "
                "each class needs a component"
            )
        return int(model.max_components)
    if model.sampler == "collapsed":
        return None
    return max(n_documents // 10, min(n_documents, 10), n_classes)


def check_lam(lam: Any, n_words: int) -> Array | None:
    """lambda of every column, or None for the default."""
    if lam is None:
        return None
    try:
        values = np.asarray(lam, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"lam must be a positive number or one per word, not {lam!r}") from None
    if values.ndim > 0 and values.shape != (n_words,):
        raise ValueError(f"lam must be a number or have shape ({n_words},), one per word, not {values.shape}")
    if not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError("lam must be finite and above 0")
    check_range("lam", values)
    return np.array(np.broadcast_to(values, (n_words,)))


def default_lam(counts: sp.csr_array) -> Array:
    """1 / sigma of each word, sigma the standard deviation of its counts ([Yu2010] section 6.3.2)."""
    n_documents = counts.shape[0]
    if n_documents < 2:
        return np.full(counts.shape[1], CONSTANT_LAM)
    data = counts.data.astype(np.float64)
    sums = np.bincount(counts.indices, weights=data, minlength=counts.shape[1])
    squares = np.bincount(counts.indices, weights=data * data, minlength=counts.shape[1])
    # Whole numbers: a constant column gives exactly 0.
    variance = (n_documents * squares - sums * sums) / (n_documents * (n_documents - 1.0))
    return np.where(variance > 0, 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0)), CONSTANT_LAM)


def _fraction(name: str, value: Any, more: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise ValueError(f"{name} must be between 0 and 1, both excluded{more}, not {value!r}")


def occurring(counts: sp.csr_array, columns: Array) -> sp.csr_array:
    """The counts without the columns that are empty."""
    place = np.zeros(counts.shape[1], dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    return sp.csr_array((counts.data, place[counts.indices], counts.indptr), shape=(counts.shape[0], len(columns)))
