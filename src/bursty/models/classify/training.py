"""The pass over the documents in training: statistics, and a sample of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from bursty.engines import Chunk
from bursty.families.base import Statistics
from bursty.models.classify.heldout import Sample, discounts
from bursty.models.classify.labels import Targets
from bursty.models.classify.settings import Settings
from bursty.models.classify.sums import of_tables, summarize
from bursty.models.classify.transforms import Transform
from bursty.storage.schema import floats, integers, maybe, part, parts, storable, whole
from bursty.typing import Array

_CELLS = 2**17


@storable(
    "Seen",
    n_documents=whole(),
    document_frequency=integers("n_words", low=0),
    documents=floats("powers", "sums", low=0),
    stats=parts("sums", Statistics, K="powers"),
    sample=maybe(part(Sample, C="C")),
)
@dataclass(frozen=True)
class TrainingSummary:
    """What is kept of the training documents; the summaries of two batches add.

    Attributes
    ----------
    stats : list of Statistics
        Sparse statistics of each class (and, in the multi-label case, of all documents), one column per discount of
        long documents (`Settings.powers`).
    documents : array of shape (discounts, classes)
        Weight of the documents of each class.
    sample : Sample or None
        Some of the documents, if something is learned from held-out documents.
    """

    n_documents: int
    document_frequency: Array
    stats: list[Statistics]
    documents: Array
    sample: Sample | None

    def __post_init__(self) -> None:
        """Convert statistics of older files, which have one table per discount for all classes."""
        if isinstance(self.stats, dict):
            object.__setattr__(self, "stats", of_tables(list(self.stats.values())))
            object.__setattr__(self, "documents", np.stack(list(self.documents.values())))

    def __add__(self, other: TrainingSummary) -> Self:
        return type(self)(
            self.n_documents + other.n_documents,
            self.document_frequency + other.document_frequency,
            [mine + theirs for mine, theirs in zip(self.stats, other.stats, strict=True)],
            self.documents + other.documents,
            None if self.sample is None or other.sample is None else self.sample + other.sample,
        )

    @property
    def idf(self) -> Array:
        """log(D / df) of each word, with one additional document that has all words."""
        return np.log((1.0 + self.n_documents) / (1.0 + self.document_frequency))


def summarize_training(
    chunk: Chunk, offset: int, targets: Targets, weights: Array, settings: Settings, transform: Transform, first: int
) -> TrainingSummary:
    """Summarise a chunk whose first document is number ``first + offset`` of the stream."""
    sample = Sample.of(chunk.counts, targets, weights, first + offset) if settings.learns else None
    values = transform(chunk.counts)
    discounted = discounts(values, weights, settings.powers)
    stats = summarize(settings.family, values, targets, discounted)
    return TrainingSummary(chunk.n_documents, _document_frequency(chunk), stats, targets.weights_of(discounted), sample)


def _document_frequency(chunk: Chunk) -> Array:
    """Number of documents of each word, counted in parts, because `numpy.bincount` copies to wider integers."""
    frequency = np.zeros(chunk.n_words, dtype=np.int64)
    for start in range(0, len(chunk.indices), _CELLS):
        frequency += np.bincount(chunk.indices[start : start + _CELLS], minlength=chunk.n_words)
    return frequency
