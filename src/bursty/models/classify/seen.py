"""The pass over the documents that learning takes: sums, and a sample of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bursty.engines import Chunk
from bursty.families.base import Statistics
from bursty.models.classify.heldout import Sample, discount, document_weights
from bursty.models.classify.labels import Targets
from bursty.models.classify.settings import Settings
from bursty.models.classify.transforms import Transform

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Seen:
    """What is kept of the documents that were learned from; of two batches it adds.

    Statistics of the classes and weights of their documents are there once for each discount of long documents
    (`Settings.powers`).
    """

    n_documents: int
    document_frequency: Array
    stats: dict[float, Statistics]
    documents: dict[float, Array]
    sample: Sample | None

    def __add__(self, other: Seen) -> Self:
        return type(self)(
            self.n_documents + other.n_documents,
            self.document_frequency + other.document_frequency,
            {power: self.stats[power] + other.stats[power] for power in self.stats},
            {power: self.documents[power] + other.documents[power] for power in self.documents},
            None if self.sample is None or other.sample is None else self.sample + other.sample,
        )


def see(
    chunk: Chunk, offset: int, targets: Targets, weights: Array, settings: Settings, transform: Transform, first: int
) -> Seen:
    """Learn from a chunk, whose first document is number ``first + offset`` of the stream."""
    sample = Sample.of(chunk.counts, targets, weights, first + offset) if settings.learns else None
    values = transform(chunk.counts)
    transformed = chunk if transform.kind is None else Chunk(values)
    stats, documents = {}, {}
    for power in settings.powers:
        discounted = discount(values, weights, power)
        stats[power] = settings.family.summarize(transformed, targets.resp(discounted))
        documents[power] = document_weights(targets, discounted)
    return Seen(chunk.n_documents, chunk.document_frequency(), stats, documents, sample)
