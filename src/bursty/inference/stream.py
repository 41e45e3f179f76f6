"""Statistics of an endless stream of documents: a running mean in which old chunks fade.

    mean <- (1 - step_t) mean + step_t (statistics of chunk t, per document),     step_t = (t + 2)^-0.6

These are the steps of online EM, small enough to converge and large enough to forget the start. What has faded below
`FORGOTTEN` is dropped, so that the mean does not outgrow what recent documents contain.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Levels
from bursty.families.base import Statistics
from bursty.storage.schema import Mismatch, part, whole
from bursty.typing import Array

# Weights per document below this are taken to be zero.
FORGOTTEN = 1e-9


@dataclass(frozen=True)
class Stream:
    """Mean statistics per document, number of documents so far, and number of chunks since the first."""

    mean: Any
    n_documents: int
    n_chunks: int = 0

    @classmethod
    def begin(cls, stats: Statistics, n_documents: int) -> Stream:
        """Start from the statistics of the first documents."""
        return cls(stats * (1.0 / n_documents), n_documents)

    def mix(self, stats: Statistics, n_documents: float) -> Stream:
        """Add the statistics of one more chunk, whose documents have this total weight."""
        step = (self.n_chunks + 3.0) ** -0.6
        mean = self.mean * (1.0 - step) + stats * (step / n_documents)
        return Stream(mean, self.n_documents + int(n_documents), self.n_chunks + 1)

    def pack(self) -> dict[str, Any]:
        """Convert to plain values and sparse matrices, without what is forgotten."""
        parts = {field.name: _packed(getattr(self.mean, field.name)) for field in fields(self.mean)}
        return {"n_documents": self.n_documents, "n_chunks": self.n_chunks, "mean": parts}

    @classmethod
    def unpack(cls, kind: type[Statistics], packed: dict[str, Any]) -> Stream:
        """Restore a packed stream; ``kind`` is the class of its statistics."""
        parts = {field.name: _unpacked(packed["mean"][field.name]) for field in fields(kind)}
        return cls(kind(**parts), packed["n_documents"], packed["n_chunks"])

    @classmethod
    def check(cls, kind: type[Statistics], packed: dict[str, Any], sizes: dict[str, int]) -> None:
        """Raise if `unpack` cannot read this; nothing is allocated before it is checked."""
        for value in packed["mean"].values():
            table = value["weights"] if isinstance(value, dict) else value
            if sp.issparse(table) and table.shape not in ((table.shape[0], 1), (sizes["n_words"], sizes["K"])):
                raise Mismatch(f"the stream has a table of shape {table.shape}")
        for name in ("n_documents", "n_chunks"):
            whole()(packed[name], sizes, name)
        part(kind, K="K")(cls.unpack(kind, packed).mean, sizes, "stream")


def _packed(value: Any) -> Any:
    if isinstance(value, Levels):
        weights = _sparse(value.weights)
        kept = np.diff(weights.indptr) > 0
        levels = {"items": value.items[kept], "values": value.values[kept], "weights": weights[kept]}
        return {**levels, "n_items": value.n_items}
    return _sparse(value) if isinstance(value, np.ndarray) else float(value)


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        return Levels(value["items"], value["values"], value["weights"].toarray(), value["n_items"])
    return value.toarray() if sp.issparse(value) else value


def _sparse(table: Array) -> sp.csr_array:
    return sp.csr_array(np.where(table > FORGOTTEN, table, 0.0))
