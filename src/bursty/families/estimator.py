"""Estimators of families, and their registry.

A `FamilyEstimator` is the public face of a family: one component, fitted to a whole corpus. Defining one registers its
family under its name (`FAMILIES`), wherever it is defined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Assignment, Chunk, Levels
from bursty.estimator import CountEstimator, check_lengths, check_number, check_per_word, generator
from bursty.families.base import Family, Parameters, Statistics, log_coefficient
from bursty.storage.schema import Mismatch, expect_equal, floats, part, storable
from bursty.typing import Array
from bursty.validation import check_weights, warn_empty

#: The public estimators by the names of their families.
FAMILIES: dict[str, type[FamilyEstimator]] = {}


class FamilyEstimator(CountEstimator):
    """One component of a family, fitted to a corpus.

    See Also
    --------
    Family : What a family has to define.
    FAMILIES : The public classes by name.

    Examples
    --------
    >>> from bursty.families import FAMILIES, FamilyEstimator
    >>> all(issubclass(estimator, FamilyEstimator) for estimator in FAMILIES.values())
    True
    """

    _family: ClassVar[Family[Any, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_family" in vars(cls):
            _register(cls)

    def __init__(self, *, smoothing: Any = 0.0, engine: str = "local", n_jobs: int | None = None) -> None:
        self.smoothing = smoothing
        self.engine = engine
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit by (weighted) maximum likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : ignored
        sample_weight : array-like of shape (n_documents,), optional
            Weights of the documents; a document of weight 2 counts twice.
        """
        by_word = np.ndim(self.smoothing) > 0 and self._family.smooths
        if not by_word:
            check_number("smoothing", self.smoothing)
        documents = self._place(X, reset=True)
        smoothing = check_per_word("smoothing", self.smoothing, documents.n_words) if by_word else self.smoothing
        resp = Assignment.single(check_weights(sample_weight, documents.n_documents))
        if documents.sum(_weight_of_words, documents.split(resp.weights)) == 0:
            raise ValueError(f"every document is empty: {type(self).__name__} has nothing to learn from")
        warn_empty(documents.n_empty)
        family = self._own_family()
        stats = documents.sum(family.summarize, documents.split(resp))
        self._set_parameters(documents.run_locally(family.update, stats, smoothing=smoothing))
        return self

    def log_prob(self, X: Any, *, coefficient: bool = False) -> Array:
        """Log-probability of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        coefficient : bool, default False
            If False, the probability of one sequence of words; if True, that of the counts, which is larger by the
            multinomial coefficient ``n! / prod_w x_w!``, the number of sequences with these counts. Densities, which
            are not of counts, have none.

        Returns
        -------
        log_prob : ndarray of shape (n_documents,)
        """
        return self._log_prob(X, self._own_family().log_prob, coefficient)

    def perplexity(self, X: Any, *, coefficient: bool = False) -> float:
        """Perplexity per word, ``exp(-sum_d log p(x_d) / sum_d n_d)``. Lower is better."""
        check_perplexity(self._family, type(self).__name__)
        documents = self._place(X)
        return self._perplexity(documents, self.log_prob(documents, coefficient=coefficient))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-probability of the documents. Higher is better."""
        return float(np.mean(self.log_prob(X)))

    def sample(self, lengths: Any, random_state: Any = None) -> sp.csr_array | Array:
        """Draw one document of each of these lengths."""
        check_is_fitted(self)
        return self._own_family().sample(self._parameters, check_lengths(lengths), generator(random_state))

    def _own_family(self) -> Family[Any, Any]:
        """The family with the options of this estimator, if it has any."""
        return self._family

    def _set_parameters(self, params: Parameters) -> None:
        """Keep the parameters, and set the public attributes: one for each of them, and ``s_``."""
        self._parameters = params
        for name, value in self._attributes(params).items():
            setattr(self, name, value)

    def _attributes(self, params: Parameters) -> dict[str, Any]:
        """The public attributes of these parameters."""
        names = [field.name for field in fields(params)] + ["s"] * self._family.has_s
        values = {f"{name}_": getattr(params, name)[..., 0] for name in names}
        return {name: value if np.ndim(value) else float(value) for name, value in values.items()}

    def _log_prob(self, X: Any, log_prob: Callable[[Chunk, Any], Array], coefficient: bool = False) -> Array:
        if coefficient:
            check_coefficient(self._family)
        documents = self._place(X)
        result = documents.collect(_first_component, log_prob=log_prob, params=self._parameters)
        return result + documents.collect(log_coefficient) if coefficient else result

    def _integer(self, X: Any = None) -> bool:
        return self._family.integer

    def _signed(self) -> bool:
        return self._family.signed


def _register(estimator: type[FamilyEstimator]) -> None:
    """Register a family under its name; a class that is defined again replaces itself."""
    family, known = estimator._family, FAMILIES.get(estimator._family.name)
    if known is not None and (known.__module__, known.__qualname__) != (estimator.__module__, estimator.__qualname__):
        raise ValueError(f"the family name {family.name!r} is taken by {known.__qualname__}: choose another")
    if not hasattr(family, "parameters_type"):
        raise TypeError(f"{type(family).__name__} must name its classes: Family[its statistics, its parameters]")
    FAMILIES[family.name] = estimator
    rule = part(family.parameters_type, K=1)
    storable(estimator.__name__, _parameters=rule, check=_check_attributes)(estimator)
    storable(family.statistics_type.__name__, check=_check_columns)(family.statistics_type)
    storable(family.parameters_type.__name__, check=_check_columns)(family.parameters_type)


def _check_attributes(model: FamilyEstimator, sizes: dict[str, int]) -> None:
    """What users see is what documents are compared with; as a parameter of another estimator it has neither."""
    if not hasattr(model, "_parameters"):
        return
    for name, value in model._attributes(model._parameters).items():
        if hasattr(model, name):
            expect_equal(getattr(model, name), value, name)


def _check_columns(value: Statistics | Parameters, sizes: dict[str, int]) -> None:
    """Check that the last axis of every field has the size of the number of components."""
    low = value.low if isinstance(value, Parameters) else 0.0
    for field in fields(value):
        item, where = getattr(value, field.name), f"{type(value).__name__}.{field.name}"
        if isinstance(item, np.ndarray):
            rule = floats("n_words", "K", low=low) if item.ndim != 1 else floats("K", low=low)
            rule(item, sizes, where)
        else:
            _agree_on_columns(item, sizes, where)
    if isinstance(value, Parameters) and value.table.ndim != 2:
        raise Mismatch(f"{type(value).__name__}.{value.symbol} is not a table of the words")


def _agree_on_columns(item: Any, sizes: dict[str, int], where: str) -> None:
    """Check the number of columns of levels, or of the sums that a classifier keeps."""
    columns = item.weights.shape[1] if isinstance(item, Levels) else len(item.columns)
    if sizes.setdefault("K", columns) != columns:
        raise Mismatch(f"{where} has {columns} columns where {sizes['K']} belong")


def get_family(family: Any) -> Family[Any, Any]:
    """Return the family of this name, or that of a family estimator such as ``DCM()``.

    See Also
    --------
    FAMILIES, family_of

    Examples
    --------
    >>> from bursty.families import DCM, get_family
    >>> get_family("dcm").title, get_family(DCM()).has_s
    ('DCM', True)
    """
    if isinstance(family, FamilyEstimator):
        return family._own_family()
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]()._own_family()
    raise ValueError(f"family must be one of {', '.join(map(repr, FAMILIES))} or a family estimator, not {family!r}")


def family_of(model: Any) -> Family[Any, Any] | None:
    """Return the family of a model, if it has one: ``family_`` if the fit has chosen it, otherwise ``family``.

    See Also
    --------
    FAMILIES, get_family

    Examples
    --------
    >>> from bursty import BayesClassifier
    >>> from bursty.families import family_of
    >>> family_of(BayesClassifier(family="multinomial")).title
    'multinomial'
    """
    family = getattr(model, "family_", getattr(model, "family", None))
    return None if family is None else get_family(family)


def check_perplexity(family: Family[Any, Any], what: str) -> None:
    """Raise if the family is not a probability of words."""
    if not family.has_perplexity:
        raise ValueError(
            f"{what} has no perplexity: {family.title} is a density, not a probability of words; compare log_prob "
            f"between {family.title} models, or perplexity between other families"
        )


def check_coefficient(family: Family[Any, Any]) -> None:
    """Raise if the family is not a probability of counts, of which there are several sequences."""
    if not family.has_perplexity:
        raise ValueError(
            f"coefficient=True is for probabilities of counts; {family.title} is a density: use coefficient=False"
        )


def _first_component(chunk: Chunk, log_prob: Callable[[Chunk, Any], Array], params: Any) -> Array:
    return np.ascontiguousarray(log_prob(chunk, params)[:, 0])


def _weight_of_words(chunk: Chunk, weights: Array) -> float:
    """Total weight of the documents that are not empty."""
    return float(weights[np.diff(chunk.indptr) > 0].sum())
