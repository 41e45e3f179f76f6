"""Which groups of documents a classifier models, and how their log-probabilities make the score of a class.

| | groups | score of class k |
|---|---|---|
| one class a document | the documents of k | log p(x, k) |
| complement | the documents of all other classes, not-k | -log p(x, not-k) |
| any number of classes | the documents of k; those without k | log p(x, k) - log p(x, not-k) |
| any number, complement | all documents; those without k | log p(x, all) - log p(x, not-k) |

The complement of [Rennie2003] chooses the class whose complement explains the document worst. By Bayes' rule with
p(x) the mixture of a class and its complement, p(k | x) = 1 - p(x | not-k) p(not-k) / p(x): for a given document the
order of the classes is that of -log p(x | not-k) where the classes are equally common. This holds for any family, and
is what complement means for the DCM and the EDCM here. The last two rows are "one versus all but one" and "all
versus all but one" ([Rennie2003] appendix A, [Madsen2005] section 5.1).

Groups are sums of classes, and statistics add, so that every group's statistics come from those of the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from bursty.engines import Levels
from bursty.families.base import Statistics

Array = np.ndarray[Any, Any]
S = TypeVar("S", bound=Statistics)

# What is left of a difference of sums by rounding, relative to the larger one.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Layout:
    """Works on arrays whose last axis is the class, followed by "all documents" in the multi-label case."""

    complement: bool
    multilabel: bool

    def groups(self, weights: Array) -> Array:
        """Sums over the documents of each group, from those of each class."""
        if not self.multilabel:
            return difference(weights.sum(axis=-1, keepdims=True), weights) if self.complement else weights
        classes, everything = weights[..., :-1], weights[..., -1:]
        first = everything if self.complement else classes
        return np.concatenate([first, difference(everything, classes)], axis=-1)

    def everything(self, weights: Array) -> Array:
        """Sums over all documents: one column."""
        return weights[..., -1:] if self.multilabel else weights.sum(axis=-1, keepdims=True)

    def scores(self, log_prob: Array) -> Array:
        """Scores of the classes (last axis) from the log-probabilities of the groups."""
        if not self.multilabel:
            return -log_prob if self.complement else log_prob
        n_first = 1 if self.complement else log_prob.shape[-1] // 2
        return log_prob[..., :n_first] - log_prob[..., n_first:]


def difference(whole: Array, part: Array) -> Array:
    """``whole - part`` of sums of non-negative numbers, where rounding leaves zero."""
    rest = whole - part
    return np.where(rest > _ROUNDING * whole, rest, 0.0)


def map_columns(stats: S, function: Callable[[Array], Array]) -> S:
    """Statistics of other groups: the function is applied to every sum."""
    return type(stats)(*(_map(getattr(stats, field.name), function) for field in fields(stats)))


def subtract(stats: S, part: S) -> S:
    """Statistics of the documents that are not in the part."""
    rest = stats + part * -1.0
    return map_columns(rest, lambda weights: np.where(weights > _ROUNDING, weights, 0.0))


def _map(sums: Any, function: Callable[[Array], Array]) -> Any:
    if isinstance(sums, Levels):
        return Levels(sums.items, sums.values, np.ascontiguousarray(function(sums.weights)), sums.n_items)
    return np.ascontiguousarray(function(sums))
