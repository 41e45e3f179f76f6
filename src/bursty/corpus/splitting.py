"""Random splits of a corpus, optionally stratified by class.

Documents are put in a random order, class by class if the split is stratified, and each part takes documents at regular
intervals from a random start (systematic sampling). Sizes are exact, and each part gets its share of every class to
within one document.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bursty.typing import Array
from bursty.wording import counted


def split_rows(
    n_documents: int,
    test_size: float | None,
    fractions: Sequence[float] | None,
    groups: Array | None,
    random_state: Any,
) -> list[Array]:
    """Sorted row numbers of each part."""
    if test_size is not None and fractions is not None:
        raise ValueError("give test_size (two parts) or fractions (one number per part), not both")
    sizes = _fraction_sizes(n_documents, fractions) if fractions is not None else _two(n_documents, test_size)
    rng = as_generator(random_state)
    order = rng.permutation(n_documents)
    if groups is not None:
        if groups.shape != (n_documents,):
            raise ValueError(f"stratify of shape {groups.shape} does not match {counted(n_documents, 'document')}")
        order = order[np.argsort(np.unique(groups, return_inverse=True)[1][order], kind="stable")]
    parts = []
    for size in reversed(sizes[1:]):
        picked = (np.arange(size) * len(order) + rng.integers(len(order))) // size
        parts.append(np.sort(order[picked]))
        order = np.delete(order, picked)
    return [np.sort(order), *reversed(parts)]


def _two(n_documents: int, test_size: float | None) -> list[int]:
    test_size = 0.25 if test_size is None else test_size
    if isinstance(test_size, int | np.integer) and not isinstance(test_size, bool):
        n_test = int(test_size)
    elif isinstance(test_size, float | np.floating) and 0.0 < test_size < 1.0:
        n_test = max(1, round(n_documents * float(test_size)))
    else:
        raise ValueError(f"test_size={test_size!r} must be a share between 0 and 1 or a number of documents")
    if not 0 < n_test < n_documents:
        raise ValueError(f"test_size={test_size} leaves one part of {counted(n_documents, 'document')} empty")
    return [n_documents - n_test, n_test]


def _fraction_sizes(n_documents: int, fractions: Sequence[float]) -> list[int]:
    """Integers nearest to the fractions that sum to the number of documents."""
    shares = [float(share) for share in fractions]
    if len(shares) < 2 or min(shares) <= 0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
        raise ValueError(f"fractions={list(fractions)} must be two or more positive numbers that sum to 1")
    ends = np.rint(np.cumsum(shares) * n_documents).astype(int)
    ends[-1] = n_documents
    sizes = np.diff(ends, prepend=0)
    if sizes.min() < 1:
        raise ValueError(f"fractions={list(fractions)} leave a part of {counted(n_documents, 'document')} empty")
    return [int(size) for size in sizes]


def as_generator(random_state: Any) -> np.random.Generator:
    """A NumPy Generator from a seed, a legacy RandomState (which advances by one draw) or a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
