"""Which groups of documents a classifier models, and how their log-probabilities make the score of a class.

| | groups | score of class k |
|---|---|---|
| one class per document | the documents of k | log p(x, k) |
| complement | the documents of all other classes, not-k | -log p(x, not-k) |
| any number of classes | the documents of k; those without k | log p(x, k) - log p(x, not-k) |
| any number, complement | all documents; those without k | log p(x, all) - log p(x, not-k) |

Complement modelling [Rennie2003] chooses the class whose complement explains the document worst. By Bayes' rule with
p(x) the mixture of a class and its complement, p(k | x) = 1 - p(x | not-k) p(not-k) / p(x): for a given document and
equally frequent classes, the order of the classes is that of -log p(x | not-k). This holds for any family, and
is the meaning of complement for the DCM and the EDCM here. The last two rows are "one versus all but one" and "all
versus all but one" ([Rennie2003] appendix A, [Madsen2005] section 5.1).

Groups are sums of classes, and statistics add, so that the statistics of every group follow from those of the classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bursty.families.base import Statistics
from bursty.models.classify.sums import Classes, without
from bursty.storage.schema import Mismatch, storable
from bursty.typing import Array


def _check_layout(layout: Layout, sizes: dict[str, int]) -> None:
    if type(layout.complement) is not bool or type(layout.multilabel) is not bool:
        raise Mismatch("a layout is not made of booleans")


@storable("Layout", check=_check_layout)
@dataclass(frozen=True)
class Layout:
    """Works on the classes, followed by "all documents" in the multi-label case."""

    complement: bool
    multilabel: bool

    def groups(self, classes: Classes) -> Iterator[Statistics]:
        """Statistics of each group, one after the other, from those of each class."""
        if not self.multilabel and not self.complement:
            yield from classes
            return
        everything, named = self.everything(classes), range(len(classes) - self.multilabel)
        if self.multilabel and self.complement:
            yield everything
        elif self.multilabel:
            yield from (classes[k] for k in named)
        yield from (without(everything, classes[k]) for k in named)

    def n_groups(self, n_sums: int) -> int:
        """Number of groups for a number of sums (one per class, and one of all in the multi-label case)."""
        if not self.multilabel:
            return n_sums
        return n_sums if self.complement else 2 * (n_sums - 1)

    def everything(self, classes: Classes) -> Statistics:
        """Statistics of all documents."""
        return classes[len(classes) - 1] if self.multilabel else classes.everything()

    def group_sizes(self, documents: Array) -> Array:
        """Weight of the documents of each group, from those of each class."""
        if not self.multilabel:
            return documents.sum() - documents if self.complement else documents
        classes, everything = documents[:-1], documents[-1:]
        return np.concatenate([everything if self.complement else classes, everything - classes])

    def members(self, onehot: Array) -> Array:
        """Documents x groups of 0.0 and 1.0, from documents x classes."""
        if not self.multilabel:
            return 1.0 - onehot if self.complement else onehot
        return np.concatenate([np.ones((len(onehot), 1)) if self.complement else onehot, 1.0 - onehot], axis=1)

    def total(self, documents: Array) -> float:
        """Weight of all documents."""
        return float(documents[-1] if self.multilabel else documents.sum())

    def scores(self, log_prob: Array) -> Array:
        """Scores of the classes (last axis) from the log-probabilities of the groups."""
        if not self.multilabel:
            return -log_prob if self.complement else log_prob
        n_first = 1 if self.complement else log_prob.shape[-1] // 2
        return log_prob[..., :n_first] - log_prob[..., n_first:]
