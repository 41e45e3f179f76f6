"""The parameters of a classifier: checks, defaults, and which combinations are possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from bursty.estimator import check_range, refuse_array
from bursty.families import get_family
from bursty.families.base import Family
from bursty.families.estimator import FamilyEstimator
from bursty.families.priors import UrnPrior, check_prior
from bursty.models.classify.layout import Layout
from bursty.models.classify.smoothing import POWERS, Constant, Shrinkage, Smoothing


class HiddenParameter:
    """A parameter that is not an attribute: kept in the instance, listed by get_params, invisible to hasattr.

    scikit-learn takes every object with an attribute ``transform`` for a transformer, and here it is a parameter.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise AttributeError(f"{self.name} is a parameter of this classifier, not a method: see get_params()")

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value


@dataclass(frozen=True)
class Settings:
    """The checked parameters of a classifier."""

    family: Family[Any, Any]
    complement: bool
    transform: Literal["log", "tfidf"] | None
    normalize_weights: bool
    smoothing: float | Literal["auto", "shrink"]
    class_prior: Any
    calibrates: bool
    refine: Literal["auto"] | None

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """Check the parameters of a `BayesClassifier`."""
        family = get_family(estimator.family)
        transform = _transform(estimator.get_params(deep=False)["transform"], family)
        normalize = bool(estimator.normalize_weights)
        if normalize and not family.is_linear:
            raise ValueError(
                f"normalize_weights=True is a heuristic for the multinomial, not for {family.title}: use "
                'family="multinomial"'
            )
        smoothing = _smoothing(estimator.smoothing, estimator.family, family, normalize)
        s_prior = check_prior(estimator.prior)
        if smoothing == "shrink":
            family = family.with_prior(s_prior and UrnPrior(between=False))
        calibrates = _calibrates(estimator.calibrate, smoothing)
        prior = _class_prior(estimator.class_prior, calibrates, estimator.calibrate == "auto")
        if estimator.refine not in ("auto", None):
            raise ValueError(f'refine must be "auto" or None, not {estimator.refine!r}')
        complement = bool(estimator.complement)
        return cls(family, complement, transform, normalize, smoothing, prior, calibrates, estimator.refine)

    @property
    def integer(self) -> bool:
        """Whether counts must be integers."""
        return self.family.integer

    @property
    def searches(self) -> bool:
        """Whether the amount of smoothing is learned."""
        return isinstance(self.smoothing, str)

    @property
    def learns(self) -> bool:
        """Whether documents are held out."""
        return self.searches or self.calibrates

    def refines(self, layout: Layout) -> bool:
        """Whether a linear model is combined with the urns: if all else is learned, and each document has one class."""
        learned = self.smoothing == "shrink" and isinstance(self.class_prior, str) and self.class_prior == "learned"
        plain = not self.complement and self.transform is None and not layout.multilabel
        return self.refine == "auto" and learned and plain

    @property
    def powers(self) -> tuple[float, ...]:
        """The discounts of long documents that are compared."""
        return POWERS if self.smoothing == "shrink" else (0.0,)

    @property
    def guess(self) -> Smoothing:
        """Start of the search, and its result if nothing can be learned."""
        if self.smoothing == "shrink":
            return Shrinkage(burst=10.0 if self.family.repeats_weigh else None)
        return Constant(0.01 if isinstance(self.smoothing, str) else float(self.smoothing))

    @staticmethod
    def counts_only(family: Any) -> bool:
        """Whether a family, given in any way, requires integer counts."""
        try:
            return get_family(family).integer
        except ValueError:
            return True


def _transform(transform: Any, family: Family[Any, Any]) -> Literal["log", "tfidf"] | None:
    if transform not in (None, "log", "tfidf"):
        raise ValueError(f'transform must be None, "log" or "tfidf", not {transform!r}')
    if transform is not None and family.integer:
        raise ValueError(
            f'transform="{transform}" gives fractions, and {family.title} models integer counts: use '
            'family="multinomial", or keep the counts'
        )
    return transform


def _smoothing(
    smoothing: Any, given: Any, family: Family[Any, Any], normalize: bool
) -> float | Literal["auto", "shrink"]:
    can_shrink = family.can_shrink and not normalize
    if smoothing is None:
        if isinstance(given, FamilyEstimator):
            smoothing = given.smoothing
        elif not family.smooths:
            smoothing = 0.0
        else:
            smoothing = "shrink" if can_shrink else "auto"
    refuse_array("smoothing", smoothing)
    if smoothing == "shrink" and not can_shrink:
        raise ValueError(
            'smoothing="shrink" mixes the word probabilities of classes: it does not go with '
            f'{"normalize_weights=True" if normalize else family.title}; use a number or smoothing="auto"'
        )
    if isinstance(smoothing, str) and smoothing in ("auto", "shrink"):
        return cast(Literal["auto", "shrink"], smoothing)
    number = isinstance(smoothing, int | float | np.number) and not isinstance(smoothing, bool)
    if not number or not np.isfinite(smoothing) or smoothing < 0:
        raise ValueError(f'smoothing must be a non-negative number, "auto", "shrink" or None, not {smoothing!r}')
    check_range("smoothing", smoothing)
    return float(smoothing)


def _calibrates(calibrate: Any, smoothing: Any) -> bool:
    if calibrate not in ("auto", "temperature", None):
        raise ValueError(f'calibrate must be "auto", "temperature" or None, not {calibrate!r}')
    return calibrate == "temperature" or (calibrate == "auto" and isinstance(smoothing, str))


def _class_prior(prior: Any, calibrates: bool, automatic: bool) -> Any:
    if isinstance(prior, str):
        if prior == "auto" or (prior == "uniform" and automatic):
            return "learned" if calibrates else "uniform"
        if prior in ("uniform", "empirical"):
            return prior
    else:
        try:
            values = np.asarray(prior, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim == 1 and values.size and np.all(np.isfinite(values)) and np.all(values > 0):
            return values
    raise ValueError(
        'class_prior must be "uniform", "empirical", "auto" or one positive number per class (its probability), '
        f"not {prior!r}"
    )


def holds_integers(X: Any) -> bool:
    """Whether the values are integers of at most 32 bits, which need not be converted to floats."""
    dtype = None if hasattr(X, "shards") else getattr(getattr(X, "counts", X), "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and np.can_cast(dtype, np.int32)
