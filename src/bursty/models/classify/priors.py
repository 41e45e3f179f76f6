"""Prior probabilities of the classes.

If a document has one class, they sum to one. In the multi-label case each class has its own, and log odds are added to
the scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_expit, logit, logsumexp

from bursty.models.classify.layout import Layout
from bursty.typing import Array
from bursty.wording import counted

# Stands for the logarithm of zero: small enough to decide, and finite.
_NEVER = -700.0


def log_prior(kind: Any, documents: Array, layout: Layout) -> Array:
    """Log-probabilities of the classes, from a name or from numbers; classes not seen yet have probability 0.

    ``documents`` is the weight of the documents of each class, followed by that of all in the multi-label case.
    """
    n_classes = len(documents) - layout.multilabel
    seen = documents[:n_classes] > 0
    if isinstance(kind, str) and kind == "uniform":
        return np.where(seen, -np.log(2.0 if layout.multilabel else seen.sum()), -np.inf)
    if isinstance(kind, str):
        with np.errstate(divide="ignore"):
            return np.log(documents[:n_classes] / layout.total(documents))
    if kind.shape != (n_classes,):
        raise ValueError(
            f"class_prior has {counted(kind.size, 'value')} for {counted(n_classes, 'class', 'classes')}: "
            "give one per class"
        )
    if layout.multilabel and kind.max() > 1.0:
        raise ValueError(f"class_prior has a probability of {kind.max():g}: each must be at most 1")
    return np.log(kind)


def to_offset(log_prior: Array, layout: Layout) -> Array:
    """What is added to the scores of the classes."""
    if layout.multilabel:
        return np.clip(logit(np.exp(log_prior)), _NEVER, -_NEVER)
    return np.maximum(log_prior, _NEVER)


def from_offset(offset: Array, layout: Layout) -> Array:
    """The log-probabilities, from what is added to the scores."""
    return log_expit(offset) if layout.multilabel else offset - logsumexp(offset)


def learnable(kind: Any, offset: Array, documents: Array, layout: Layout) -> Array:
    """The direction in which the offset may be learned from held-out documents: none if the prior is given.

    A shared bias for multi-label classes; otherwise the logarithm itself, so that the prior is a power of the shares.
    """
    if not (isinstance(kind, str) and kind == "learned"):
        return np.zeros_like(offset)
    return np.ones_like(offset) if layout.multilabel else np.where(documents > 0, offset, 0.0)
