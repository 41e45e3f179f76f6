"""The pass over the documents that predicting takes: from counts to scores and temperatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.families.base import Parameters
from bursty.models.classify.calibration import Temperature, document_features
from bursty.models.classify.evidence import Evidence
from bursty.models.classify.heldout import drop_words
from bursty.models.classify.layout import Layout
from bursty.models.classify.settings import Settings
from bursty.models.classify.transforms import Transform

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Scorer:
    """A fitted classifier as documents see it."""

    settings: Settings
    layout: Layout
    transform: Transform
    parameters: Parameters
    document_frequency: Array
    idf: Array
    trust: Array | None
    temperature: Temperature | None

    def values(self, counts: sp.csr_array) -> sp.csr_array:
        """The documents as the model sees them: known words only, transformed."""
        return self.transform(drop_words(counts, self.document_frequency > 0))

    def heat(self, values: sp.csr_array) -> Array:
        """The temperature of each document; 1 where nothing is calibrated."""
        if self.temperature is None:
            return np.ones(values.shape[0])
        return self.temperature.of(document_features(values, self.idf))

    def scores(self, chunk: Chunk) -> Array:
        """The score of each class, from documents as the model sees them."""
        if self.settings.normalize_weights or self.trust is None:
            return self.layout.scores(self.settings.log_prob(chunk, self.parameters))
        return self.layout.scores(Evidence(chunk).sums(self.parameters, self.trust))


def score(chunk: Chunk, scorer: Scorer) -> tuple[Array, Array]:
    """Scores of the classes and temperature of each document of a chunk."""
    values = scorer.values(chunk.counts)
    return scorer.scores(Chunk(values)), scorer.heat(values)
