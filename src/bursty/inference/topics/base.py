"""What topic models have in common when their parameters are learned: `TopicStatistics`, and alpha from them.

A word that a topic has lost would have parameter 0 there and could never come back, and a new document would be
surprised by every word the topic has not had. So a share of every topic's parameters, `FLOOR` at least, goes to words
that it has not had: in LDA evenly, in DCMLDA as `topics.dcmlda.learn_beta` says. A topic's alpha is at least `FLOOR` of
the mean alpha; and a topic without any token keeps its last beta.
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

Array = np.ndarray[Any, Any]

# Least share of a topic's parameters that is spread over all words, so that an absent one may return.
FLOOR = 1e-3
#: Levels of nothing, where nothing is learned from them.
NO_LEVELS = Levels(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, 1)), 0)


#: How the statistics of every topic model are checked.
STORED: dict[str, Any] = {
    "mixtures": part(Levels, items="K", K=1),
    "lengths": part(Levels, items=1, K=1),
    "log_joint": number(),
}


@dataclass(frozen=True)
class TopicStatistics(Statistics):
    """What alpha is learned from: documents by (topic, tokens it has there), documents by length, log-likelihood."""

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
    """What a DCM over the columns sees of these rows: rows by (column, value), rows by sum."""
    return item_levels(counts), length_levels(counts.sum(axis=1, keepdims=True))


def learn_alpha(stats: TopicStatistics) -> Array:
    """One weight a topic, of greatest likelihood, none below `FLOOR` of their mean."""
    alpha = maximise_alpha(stats.mixtures, stats.lengths)[:, 0]
    return np.maximum(alpha, FLOOR * alpha.mean())


def symmetric(levels: Levels, lengths: Levels, start: Array) -> Array:
    """The one weight a that all items share at greatest likelihood, as an array of the items' number m.

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
