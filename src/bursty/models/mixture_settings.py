"""The settings of a mixture: checked before any work is done, and chosen from the data if they are "auto"."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from bursty.engines import Assignment, Chunk, Documents
from bursty.estimator import check_choice, check_number, check_whole
from bursty.families.estimator import FAMILIES, FamilyEstimator, get_family
from bursty.inference.checkpoint import Checkpoint
from bursty.inference.em import Schedule
from bursty.inference.starts import STARTS
from bursty.inference.stopping import ChangePerDocument, Moved, RelativeChange, Rule
from bursty.typing import Array

#: Settings of papers by name, for `Mixture.from_paper`.
PAPERS: dict[str, dict[str, Any]] = {
    # Elkan (2006): EDCM components from a perturbed one-component fit, annealed, plain maximum likelihood.
    "elkan2006": {
        "family": "edcm",
        "init": "perturb",
        "temperatures": (25, 5, 1),
        "tempering": None,
        "prior": None,
        "smoothing": 0.0,
        "stopping": "relative",
        "max_iter": 200,
        "restart": False,
    }
}

#: Default tolerance of each stopping rule.
TOLERANCES = {"moved": 0.002, "likelihood": 1e-6, "relative": 1e-5}
#: Tables with a larger share of filled cells are not text.
DENSE = 0.15
#: The EDCM is taken where all it leaves out of the DCM's log-likelihood is less than this, in nats per document over
#: the root of its number of distinct words (which is how EM weighs them).
LITTLE = 0.5


def check(mixture: Any) -> None:
    """Raise if a parameter is not valid."""
    if not isinstance(mixture.family, FamilyEstimator):
        check_choice("family", mixture.family, ("auto", *FAMILIES), "a family estimator")
    Checkpoint.of(mixture.checkpoint)
    check_number("smoothing", mixture.smoothing)
    check_number("shrinkage", mixture.shrinkage)
    check_number("perturbation", mixture.perturbation, positive=True)
    if isinstance(mixture.n_components, str) and mixture.n_components != "auto":
        raise ValueError(f'n_components must be a positive integer or "auto", not {mixture.n_components!r}')
    for name in ("n_init", "max_iter", *([] if mixture.n_components == "auto" else ["n_components"])):
        check_whole(name, getattr(mixture, name))
    if isinstance(mixture.init, str):
        check_choice("init", mixture.init, ("auto", *STARTS), "an array")
    check_choice("tempering", mixture.tempering, ("auto", "distinct", None))
    check_choice("stopping", mixture.stopping, ("auto", *TOLERANCES))
    if not hasattr(mixture.prior, "update"):
        check_choice("prior", mixture.prior, ("auto", "shared", None), "a prior such as bursty.families.GammaPrior()")
    if not isinstance(mixture.restart, bool | np.bool_):
        raise ValueError(f"restart must be True or False, not {mixture.restart!r}")
    schedule(mixture, True)


def schedule(mixture: Any, tempered: bool) -> Schedule:
    """Temperatures and stopping rule."""
    values = np.atleast_1d(np.asarray(mixture.temperatures, dtype=np.float64))
    if values.ndim != 1 or len(values) == 0 or not np.all(values > 0):
        raise ValueError(f"temperatures must be positive numbers, such as (25, 5, 1), not {mixture.temperatures!r}")
    return Schedule(tuple(values.tolist()), int(mixture.max_iter), _rule(mixture, tempered), bool(mixture.restart))


def _rule(mixture: Any, tempered: bool) -> Rule:
    name = mixture.stopping
    if name == "auto":
        name = "moved" if tempered or _models_directions(mixture.family) else "likelihood"
    tol = TOLERANCES[name] if mixture.tol is None else mixture.tol
    if mixture.tol is None and name == "relative" and isinstance(mixture.init, str) and mixture.init == "perturb":
        tol = 1e-6  # the first steps away from the one-component fit are small
    if not isinstance(tol, int | float | np.number) or isinstance(tol, bool) or not tol >= 0:
        raise ValueError(f"tol must be a non-negative number or None, not {tol!r}")
    rules: dict[str, Any] = {"moved": Moved, "likelihood": ChangePerDocument, "relative": RelativeChange}
    return rules[name](float(tol))


def _models_directions(family: Any) -> bool:
    """Whether components are densities of real vectors.

    Where there are fewer groups than components, the likelihood of thousands of vectors creeps up for thousands of
    steps in which hardly any vector moves.
    """
    return not is_auto(family) and get_family(family).signed


def is_auto(value: Any) -> bool:
    """Whether a setting depends on the data."""
    return isinstance(value, str) and value == "auto"


def is_dense(documents: Documents) -> bool:
    """Whether more cells are filled than in a table of texts."""
    return documents.n_cells > DENSE * documents.n_documents * documents.n_words


def choose(value: Any, documents: Documents, text: Any, dense: Any) -> Any:
    """The setting, or what "auto" means for these documents."""
    if not is_auto(value):
        return value
    return dense if is_dense(documents) else text


def choose_start(init: Any, documents: Documents) -> Any:
    """What ``init="auto"`` means for these documents."""
    if not is_auto(init):
        return init
    if is_dense(documents) and any(documents.map(_has_negative)):
        return "directions"
    return "hellinger" if is_dense(documents) else "lsa"


def _has_negative(chunk: Chunk) -> bool:
    return bool(np.any(chunk.values < 0))


def choose_family(family: Any, documents: Documents) -> Any:
    """What ``family="auto"`` means for these documents: the EDCM where it loses little, else the DCM.

    The EDCM neglects that the probability of a repeat depends on the word. One DCM for all documents shows how much
    likelihood that costs; if most columns are filled, it is nearly all of it.
    """
    if not is_auto(family):
        return family
    if is_dense(documents):
        return "dcm"
    dcm = get_family("dcm")
    stats = documents.sum(dcm.summarize, documents.split(everyone(documents)))
    alpha = documents.run_locally(dcm.update, stats).alpha[:, 0]
    repeats = stats.repeats
    start = alpha[repeats.items] + 1.0
    lost = gammaln(start + repeats.values) - gammaln(start) - gammaln(repeats.values + 1.0)
    heat = np.sqrt(documents.n_cells / documents.n_documents)
    return "edcm" if float(lost @ repeats.weights[:, 0]) / documents.n_documents / heat < LITTLE else "dcm"


def check_responsibilities(init: Any, shape: tuple[int, int]) -> Array:
    """Check responsibilities that were given as a start, and scale rows to sum 1."""
    resp = np.asarray(init, dtype=np.float64)
    if resp.shape != shape or not np.all(np.isfinite(resp)) or np.any(resp < 0) or np.any(resp.sum(axis=1) <= 0):
        raise ValueError(
            f"init must be responsibilities of shape {shape}: finite, non-negative, and not all zero in any row; "
            f"it has shape {resp.shape}"
        )
    return resp / resp.sum(axis=1, keepdims=True)


def everyone(documents: Documents) -> Assignment:
    """All documents in one component."""
    return Assignment.single(np.ones(documents.n_documents))
