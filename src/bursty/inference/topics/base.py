"""Learning the parameters of topic models: `TopicStatistics`, and alpha.

A word that a topic has lost would have parameter 0 and could never return, and no new document could use it. Therefore
at least a share `FLOOR` of the parameters of every topic goes to words that are new to it: evenly in LDA, by
`topics.dcmlda.learn_beta` in DCMLDA. The alpha of a topic is at least `FLOOR` times the mean alpha, and a topic without
tokens keeps its last beta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq

from bursty.engines import Levels
from bursty.families.base import Statistics
from bursty.families.dcm import maximise_alpha
from bursty.families.solve import S_MAX, S_MIN, LengthUrn
from bursty.samplers.tokens import item_levels, length_levels
from bursty.storage.schema import number, part
from bursty.typing import Array

# Smallest share of a topic's parameters that is spread over all words, so that an absent word may return.
FLOOR = 1e-3
#: Empty levels, for methods that learn nothing from them.
NO_LEVELS = Levels(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, 1)), 0)


#: How the statistics of every topic model are checked.
STORED: dict[str, Any] = {
    "mixtures": part(Levels, items="K", K=1),
    "lengths": part(Levels, items=1, K=1),
    "log_joint": number(),
}


@dataclass(frozen=True)
class TopicStatistics(Statistics):
    """Statistics for alpha: documents by (topic, number of its tokens), documents by length, and log-likelihood."""

    mixtures: Levels
    lengths: Levels
    log_joint: float

    def reordered(self, order: Array) -> Self:
        """The same with the topics in this order."""
        rank = np.argsort(order)
        return replace(self, mixtures=self.mixtures.renumbered(rank[self.mixtures.items]))

    def merged(self, into: Array) -> Self:
        """The same with topics added: topic k becomes part of topic ``into[k]``.

        What a document has of two topics that are merged counts as two documents. Differs from one document with the
        tokens of both, which these sums do not know.
        """
        mixtures = self.mixtures
        if mixtures.n_items == 0:
            return self
        return replace(self, mixtures=mixtures.pooled(into[mixtures.items], int(into.max()) + 1))


def mixture_levels(counts: Array) -> tuple[Levels, Levels]:
    """Statistics of a DCM over the columns: rows by (column, value), and rows by sum."""
    return item_levels(counts), length_levels(counts.sum(axis=1, keepdims=True))


def learn_alpha(stats: TopicStatistics) -> Array:
    """Weights of the topics that maximise the likelihood, none below `FLOOR` times their mean."""
    alpha = maximise_alpha(stats.mixtures, stats.lengths)[:, 0]
    return np.maximum(alpha, FLOOR * alpha.mean())


def symmetric(levels: Levels, lengths: Levels, start: Array) -> Array:
    """The weight a that maximises the likelihood if all m items share it, repeated m times.

    The root of ``g(a) = m h(m a)``, the slopes of the items and of the lengths; with its sum m a between `S_MIN` and
    `S_MAX`, as for any DCM.
    """
    n_items = levels.n_items
    order = np.argsort(levels.values, kind="stable")
    values, places = np.unique(levels.values[order], return_inverse=True)
    pooled = np.zeros((len(values), 1))
    np.add.at(pooled, places, levels.weights[order])
    items, documents = LengthUrn(Levels(np.zeros_like(values), values, pooled, 1)), LengthUrn(lengths)

    def slope(log_s: float) -> float:
        s = np.array([np.exp(log_s)])
        return float(np.log(items(s / n_items)[0][0]) - np.log(n_items * documents(s)[0][0]))

    if len(values) == 0:
        return start
    low, high = np.log(S_MIN), np.log(S_MAX)
    if slope(high) >= 0:
        log_s = high
    elif slope(low) <= 0:
        log_s = low
    else:
        log_s = brentq(slope, low, high, xtol=1e-10)
    return np.full(n_items, np.exp(log_s) / n_items)
