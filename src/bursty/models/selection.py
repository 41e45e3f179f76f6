"""The number of components: fit each, and compare them by held-out documents, evidence or an information criterion.

| criterion | score (per document, the larger the better) |
|---|---|
| heldout | log-likelihood of held-out documents, by cross-validation |
| laplace | evidence of the mixture under a gamma prior, by Laplace's method, for families that have one |
| aic, bic, icl | log-likelihood minus a penalty for the parameters (ICL: also for uncertain assignments) |
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from bursty import markup
from bursty.engines import Documents
from bursty.estimator import check_choice
from bursty.families.estimator import FAMILIES, get_family
from bursty.families.gamma import GammaPrior
from bursty.metrics import normalized_mutual_information
from bursty.models.mixture_settings import choose_family, is_dense
from bursty.storage.schema import integers, items, storable, whole
from bursty.typing import Array

DEFAULT_KS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)
DEFAULT_CV = 5
CRITERIA = ("heldout", "laplace", "aic", "bic", "icl")
#: Rules that turn held-out likelihoods into a number; the first is the default.
RULES = ("elbow", "one_standard_error", "stability")
#: Amounts of smoothing that held-out documents choose from.
SMOOTHINGS = (0.01, 0.1, 0.5, 2.0)
#: Starts of each fit where likelihoods are compared as such.
STARTS = 3


@storable(
    "Selection",
    ks=integers("tried", low=1),
    scores=items("tried"),
    standard_errors=items("tried"),
    n_components=whole(low=1),
)
@dataclass(frozen=True)
class Selection:
    """Scores of each number of components (larger is better), and the choice.

    Attributes
    ----------
    criterion : str
        The criterion that made the choice.
    ks, scores : ndarray
        The numbers that were compared, and their scores.
    standard_errors : ndarray
        Of held-out likelihoods: those of the difference from the best, document by document. Otherwise zero.
    n_components : int
        The choice.
    columns : dict of arrays
        Other measures of each number, such as AIC and BIC beside the evidence.
    choices : dict of int
        What each rule or criterion would choose.
    """

    criterion: str
    ks: Array
    scores: Array
    standard_errors: Array
    n_components: int
    columns: dict[str, Array] = field(default_factory=dict)
    choices: dict[str, int] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        chosen = ["chosen" if k == self.n_components else "" for k in self.ks]
        columns = {"k": self.ks, self.criterion: self.scores, "standard error": self.standard_errors, **self.columns}
        return markup.table({**columns, "": chosen})

    def __str__(self) -> str:
        rows = [f"{'k':>4}  {self.criterion:>12}  {'+-':>8}" + "".join(f"  {name:>12}" for name in self.columns)]
        for i, (k, score, error) in enumerate(zip(self.ks, self.scores, self.standard_errors, strict=True)):
            mark = " <- chosen" if k == self.n_components else ""
            others = "".join(f"  {values[i]:>12.4f}" for values in self.columns.values())
            rows.append(f"{k:>4}  {score:>12.4f}  {error:>8.4f}{others}{mark}")
        if self.choices:
            rows.append("choices: " + ", ".join(f"{name} {number}" for name, number in self.choices.items()))
        return "\n".join(rows)


def select(
    mixture: Any,
    documents: Documents,
    ks: Sequence[int] | None = None,
    criterion: str = "auto",
    cv: int | None = None,
    sample_weight: Array | None = None,
) -> Selection:
    """Compare numbers of components of a mixture, which is not changed, for documents on any engine."""
    n_documents = documents.n_documents
    numbers = _numbers(ks, n_documents)
    if criterion == "auto":  # evidence for tables with few columns, many of them filled; documents left out for text
        family = get_family(choose_family(mixture.family, documents))
        criterion = "laplace" if is_dense(documents) and family.has_evidence else "heldout"
    check_choice("criterion", criterion, ("auto", *CRITERIA))
    if criterion != "heldout":
        return _by_information(mixture, documents, sample_weight, numbers, criterion)
    folds = min(DEFAULT_CV, n_documents) if cv is None else cv
    if not isinstance(folds, int | np.integer) or not 2 <= folds <= n_documents:
        raise ValueError(f"cv must be from 2 to the number of documents ({n_documents}), not {cv!r}")
    weights = np.ones(n_documents) if sample_weight is None else sample_weight
    return _by_held_out(mixture, documents, weights, numbers, int(folds))


def _numbers(ks: Sequence[int] | None, n_documents: int) -> Array:
    if ks is None:
        return np.array([k for k in DEFAULT_KS if k <= max(1, n_documents // 2)])
    numbers = np.unique(np.asarray(ks))
    if len(numbers) == 0 or numbers.dtype.kind not in "iu" or numbers[0] < 1 or numbers[-1] > n_documents:
        raise ValueError(f"ks must be integers from 1 to the number of documents ({n_documents}), not {ks!r}")
    return numbers


# Documents left out -------------------------------------------------------------------------------------------


def _by_held_out(mixture: Any, documents: Documents, weights: Array, numbers: Array, cv: int) -> Selection:
    # The start of the curve must not depend on ``ks``: one component is always compared.
    every = numbers if numbers[0] == 1 else np.append(1, numbers)
    results = [_held_out(mixture, documents, weights, int(k), cv) for k in every]
    table, stability = np.array([result[0] for result in results]), np.array([result[1] for result in results])
    scores, errors = _paired(table[:, weights > 0])
    choices = {rule: _choose(rule, every, scores, errors, stability) for rule in RULES}
    if numbers[0] != 1:
        choices = {rule: max(int(number), int(numbers[0])) for rule, number in choices.items()}
        scores, errors, stability = scores[1:], errors[1:], stability[1:]
    return Selection("heldout", numbers, scores, errors, choices[RULES[0]], {"stability": stability}, choices)


def _held_out(mixture: Any, documents: Documents, weights: Array, k: int, cv: int) -> tuple[Array, float]:
    """Log-likelihood of each document under the mixture of the other folds, and how far the folds' mixtures agree.

    Components are fitted by maximum likelihood and smoothed by the amount that is best for held-out documents: the
    fewer documents a component has, the more smoothing it needs, and a fixed amount would favour the number it suits.
    """
    scores = np.full((len(SMOOTHINGS), len(weights)), -np.inf)
    labels = []
    for train, test in KFold(cv, shuffle=True, random_state=0).split(weights):
        learned, held = (documents.select(np.isin(np.arange(len(weights)), rows)) for rows in (train, test))
        own = None if np.all(weights == 1.0) else weights[train]
        model = _quietly(clone(mixture).set_params(n_components=min(k, len(train))), learned, own)
        labels.append(model.predict(documents))
        for row, smoothing in zip(scores, SMOOTHINGS, strict=True):
            model._smooth(smoothing)
            row[test] = model.score_samples(held)
    impossible = ~np.isfinite(scores)
    scores[impossible] = np.min(scores[~impossible], initial=0.0)
    agreement = [normalized_mutual_information(a, b) for a, b in combinations(labels, 2)]
    best = np.argmax(np.average(scores, axis=1, weights=weights))
    return scores[best], float(np.mean(agreement)) if k > 1 else 1.0


def _paired(table: Array) -> tuple[Array, Array]:
    """Mean of each row (number) over documents, and the standard error of its difference from the best row.

    Documents differ far more than models do, so that the error is computed from the differences within documents.
    """
    scores = table.mean(axis=1)
    differences = table - table[np.argmax(scores)]
    return scores, differences.std(axis=1, ddof=1) / np.sqrt(table.shape[1])


def _choose(rule: str, numbers: Array, scores: Array, errors: Array, stability: Array) -> int:
    """The number of components by one of the `RULES`.

    - one_standard_error: the smallest number that is not worse than the best, to one standard error.
    - elbow: of the numbers up to that one, the one whose score stands highest above the line from the first to the
      last, against the logarithm of the number. Real collections have clusters inside clusters, and the likelihood goes
      on growing slowly.
    - stability: the number (above 1) for which mixtures of different folds agree best.
    """
    last = int(np.flatnonzero(scores + errors >= scores.max())[0])
    if rule == "one_standard_error":
        return int(numbers[last])
    if rule == "stability":
        several = np.flatnonzero(numbers > 1)
        return int(numbers[several[np.argmax(stability[several])]]) if len(several) else 1
    if last > 1:
        steps = np.log(numbers[1 : last + 1] / numbers[0]) / np.log(numbers[last] / numbers[0])
        above = scores[1 : last + 1] - (scores[0] + (scores[last] - scores[0]) * steps)
        above[-1] = 1e-9 * abs(scores[last])  # the last, where none stands clearly above the line
        last = 1 + int(np.argmax(above))
    return int(numbers[last])


# Evidence and information criteria ----------------------------------------------------------------------------


def _by_information(
    mixture: Any, documents: Documents, weights: Array | None, numbers: Array, criterion: str
) -> Selection:
    """All criteria, of mixtures of maximum likelihood; the evidence, of mixtures under a gamma prior."""
    table = {name: np.full(len(numbers), np.nan) for name in CRITERIA[1:]}
    for i, k in enumerate(numbers):
        model = _maximum(mixture, documents, weights, int(k))
        for name, value in _information(model, documents).items():
            table[name][i] = value
        if model._family.has_evidence:
            prior = mixture.prior if isinstance(mixture.prior, GammaPrior) else GammaPrior()
            mode = clone(model).set_params(init=model.predict_proba(documents), n_init=1, prior=prior)
            table["laplace"][i] = log_evidence(_quietly(mode, documents, weights), documents)
        elif criterion == "laplace":
            able = " or ".join(repr(name) for name in FAMILIES if get_family(name).has_evidence)
            raise ValueError(
                f'criterion="laplace" is for components of family {able}, not {model._family.title}: choose such a '
                'family, or criterion="bic"'
            )
    columns = {name: values for name, values in table.items() if name != criterion and not np.isnan(values).all()}
    choices = {name: int(numbers[np.argmax(table[name])]) for name in (criterion, *columns)}
    errors = np.zeros(len(numbers))
    return Selection(criterion, numbers, table[criterion], errors, choices[criterion], columns, choices)


def _maximum(mixture: Any, documents: Documents, weights: Array | None, k: int) -> Any:
    """A mixture of maximum likelihood: no tempering, no annealing, several starts."""
    plain = {"prior": None, "tempering": None, "temperatures": (1,), "smoothing": 0.0, "stopping": "likelihood"}
    n_init = max(int(mixture.n_init), 1 if k == 1 else STARTS)
    model = clone(mixture).set_params(n_components=k, n_init=n_init, tol=1e-5, **plain)
    return _quietly(model, documents, weights)


def _quietly(model: Any, documents: Documents, weights: Array | None) -> Any:
    """Fit without warnings about empty clusters, which are to be expected with too many components."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*no words.*")
        return model.fit(documents, sample_weight=weights)


def _information(model: Any, documents: Documents) -> dict[str, float]:
    """AIC, BIC and ICL per document: log-likelihood minus penalties for parameters and uncertain assignments."""
    n_documents, n_words = documents.n_documents, documents.n_words
    n_parameters = len(model.weights_) * (n_words + 1) - 1
    aic = model.lower_bound_ - n_parameters / n_documents
    bic = model.lower_bound_ - 0.5 * n_parameters * np.log(n_documents) / n_documents
    resp = model.predict_proba(documents)
    doubt = -float(np.sum(resp * np.log(np.maximum(resp, 1e-300)))) / n_documents
    return {"aic": aic, "bic": bic, "icl": bic - doubt}


def log_evidence(model: Any, documents: Documents) -> float:
    """Evidence of a mixture fitted with a `GammaPrior`, per document, by Laplace's method at the mode.

    In log alpha and the weights (uniform on their simplex), with the curvature of the complete data, as Holmes, Harris
    and Quince (2012) do; the possible numberings of the components count as well.
    """
    n_documents, n_words = documents.n_documents, documents.n_words
    prior, weights, params, stats = model.prior, model.weights_, model._state.params, model._running.stats
    k = len(weights)
    log_posterior = model.score_samples(documents, coefficient=True).sum() + prior.log_density(params.alpha)
    curvature = prior.log_curvature(stats, params).sum()
    curvature += (k - 1) * np.log(n_documents) - np.log(np.maximum(weights, 1e-300)).sum()
    size = 0.5 * (k * (n_words + 1) - 1) * np.log(2.0 * np.pi)
    return float(log_posterior + gammaln(k) + size - 0.5 * curvature + gammaln(k + 1)) / n_documents
