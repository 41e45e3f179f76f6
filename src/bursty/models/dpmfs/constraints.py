"""Constraints on clusters: must-link, cannot-link and known classes, checked against each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from bursty.typing import Array


@dataclass(frozen=True)
class Constraints:
    """The unit of each document, pairs of units that share no cluster, and classes (-1: unknown); None for none.

    A document that must share a cluster with one of a known class has that class.
    """

    together: Array | None
    apart: Array | None
    known: Array | None

    @classmethod
    def of(cls, must_link: Any, cannot_link: Any, known: Array | None, n_documents: int) -> Constraints:
        """Check the groups of documents, and that they contradict neither each other nor the classes."""
        musts, cannots = _pairs("must_link", must_link, n_documents), _pairs("cannot_link", cannot_link, n_documents)
        if not len(musts) and not len(cannots):
            return cls(None, None, known)
        links = sp.csr_array((np.ones(len(musts)), (musts[:, 0], musts[:, 1])), shape=(n_documents, n_documents))
        units = connected_components(links, directed=False)[1].astype(np.int64)
        apart = units[cannots]
        for i, j in cannots[apart[:, 0] == apart[:, 1]][:1]:
            raise ValueError(
                f"cannot_link keeps documents {i} and {j} apart, but must_link puts them together, directly or through "
                "others: remove one of the links"
            )
        if known is not None:
            known = _spread(known, units)
            for i, j in cannots[(known[cannots[:, 0]] >= 0) & (known[cannots[:, 0]] == known[cannots[:, 1]])][:1]:
                raise ValueError(
                    f"cannot_link keeps documents {i} and {j} apart, but y (with must_link) has both in one class: "
                    "remove the link, or set one label to -1"
                )
        return cls(units if len(musts) else None, apart if len(cannots) else None, known)


def _spread(known: Array, units: Array) -> Array:
    """The class of each unit, for all of its documents."""
    classes = np.full(int(units.max()) + 1, -1, dtype=known.dtype)
    labelled = np.flatnonzero(known >= 0)
    classes[units[labelled]] = known[labelled]
    for j in labelled[classes[units[labelled]] != known[labelled]][:1]:
        i = next(i for i in labelled if units[i] == units[j] and known[i] != known[j])
        raise ValueError(
            f"must_link puts documents {min(i, j)} and {max(i, j)} together, directly or through others, but y has "
            "them in two classes: remove the link, or set one label to -1"
        )
    return classes[units]


def _pairs(name: str, groups: Any, n_documents: int) -> Array:
    """Pairs of documents: consecutive ones of each must-link group, all of each cannot-link group."""
    pairs: list[tuple[int, int]] = []
    for group in _groups(name, groups):
        for number in group:
            if not 0 <= number < n_documents:
                raise ValueError(
                    f"{name} names document {number}, but the {n_documents} documents have the numbers 0 to "
                    f"{n_documents - 1}"
                )
        if len(set(group)) < max(2, len(group)):
            raise ValueError(f"a group of {name} needs two or more different documents, not {group}")
        if name == "must_link":
            pairs += pairwise(group)
        else:
            pairs += [(i, j) for place, i in enumerate(group) for j in group[:place]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _groups(name: str, groups: Any) -> list[list[int]]:
    """The groups as lists of numbers."""
    if groups is None:
        return []
    found = []
    for group in groups if isinstance(groups, Iterable) and not isinstance(groups, str | bytes) else [groups]:
        values = np.asarray(group) if not isinstance(group, str | bytes) else np.empty(0)
        if values.ndim != 1 or values.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must have groups of document numbers, such as [(0, 5), (2, 7, 9)]; {group!r} is not one"
            )
        found.append([int(value) for value in values])
    return found
