"""Weights of pairs such as (word, count): statistics that add although they list different pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bursty.kernels import gather, merge
from bursty.storage.schema import Mismatch, floats, integers, storable, whole
from bursty.typing import Array


def _check_levels(levels: Levels, sizes: dict[str, int]) -> None:
    """Raise unless the pairs are sorted and unique, and the items are below their number."""
    allowed = (0, sizes["items"]) if "items" in sizes else (0, 1, sizes["n_words"])
    fits = levels.n_items in allowed and levels.items.max(initial=-1) < levels.n_items
    if not fits or levels.items.dtype != np.int32 or levels.values.dtype != np.int32:
        raise Mismatch(f"levels of {levels.n_items} items do not fit {' or '.join(map(str, allowed))}")
    if np.any(np.diff(levels.keys) <= 0):
        raise Mismatch("levels are not sorted")


@storable(
    "Levels",
    items=integers("levels", low=0),
    values=integers("levels", low=0),
    weights=floats("levels", "K", low=0),
    n_items=whole(high=2**62),
    check=_check_levels,
)
@dataclass(frozen=True)
class Levels:
    """Weights of the pairs (item, value) that occur; levels with different pairs can be added.

    For words, the item is the word and the value its count; for lengths, the item is 0 and the value the length.
    """

    items: Array
    values: Array
    weights: Array
    n_items: int

    def __add__(self, other: Levels) -> Levels:
        if self.items is other.items or (
            np.array_equal(self.items, other.items) and np.array_equal(self.values, other.values)
        ):
            return Levels(self.items, self.values, gather.added(self.weights, other.weights), self.n_items)
        # Weights on a device are copied here.
        left, right = ((levels.items, levels.values, np.asarray(levels.weights)) for levels in (self, other))
        return Levels(*merge.added(left, right), self.n_items)

    def __mul__(self, factor: float) -> Levels:
        return Levels(self.items, self.values, self.weights * factor, self.n_items)

    def renumbered(self, items: Array) -> Levels:
        """The same weights under other items, one per pair, no two alike; pairs are sorted anew."""
        # Values are sorted within an item already, so that it is enough to sort the items.
        heads = self.heads
        sizes = np.diff(np.append(heads, len(items)))
        heads_in_order = np.argsort(items[heads], kind="stable")
        sizes = sizes[heads_in_order]
        order = np.repeat(heads[heads_in_order] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(items))
        return Levels(items[order].astype(np.int32), self.values[order], self.weights[order], self.n_items)

    def pooled(self, items: Array, n_items: int) -> Levels:
        """The weights under other items, one per pair, added where pairs become equal."""
        keys, places = np.unique((items.astype(np.int64) << 32) | self.values, return_inverse=True)
        weights = np.zeros((len(keys), self.weights.shape[1]))
        np.add.at(weights, places, self.weights)
        return Levels((keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32), weights, n_items)

    @property
    def heads(self) -> Array:
        """Index of the first pair of each item that occurs."""
        is_new = np.ones(len(self.items), dtype=bool)
        np.not_equal(self.items[1:], self.items[:-1], out=is_new[1:])
        return np.flatnonzero(is_new)

    @property
    def keys(self) -> Array:
        """One number per pair, in the order of the pairs."""
        return (self.items.astype(np.int64) << 32) | self.values

    @cached_property
    def first(self) -> Array:
        """Index of the first level of each item."""
        return np.searchsorted(self.items, np.arange(self.n_items + 1)).astype(np.int32)
