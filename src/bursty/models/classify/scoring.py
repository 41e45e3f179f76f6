"""The pass over the documents in prediction: from counts to scores and temperatures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.families.base import Parameters
from bursty.kernels import gather, threads
from bursty.models.classify.calibration import Temperature, document_features
from bursty.models.classify.evidence import TOGETHER, compact_chunks, drop_words, pieces
from bursty.models.classify.layout import Layout
from bursty.models.classify.settings import Settings
from bursty.models.classify.transforms import Transform
from bursty.typing import Array


@dataclass(frozen=True)
class Model:
    """Log-probabilities of documents in each group (or their replacements by normalize_weights)."""

    settings: Settings
    parameters: Parameters
    trust: Array | None = None

    def log_prob(self, counts: sp.csr_array, known: Array) -> Array:
        """Documents x groups, from their known words; with weights of words, only the evidence of the words."""
        family, params = self.settings.family, self.parameters
        if not family.is_per_word:
            return family.log_prob(Chunk(drop_words(counts, known)), params)
        n_documents = counts.shape[0]
        result, constants = np.empty((n_documents, params.n_components)), np.empty(n_documents)
        lengths, bounds = np.empty(n_documents, dtype=counts.dtype), pieces(counts, TOGETHER)

        def work(first: int, last: int) -> None:
            places = bounds[first : last + 1]
            for rows, (words, chunk) in zip(pairwise(places), compact_chunks(counts, known, places), strict=True):
                result[slice(*rows)] = self._word_sums(words, chunk)
                lengths[slice(*rows)] = chunk.lengths
                constants[slice(*rows)] = family.constants(chunk)

        # A thread processes whole pieces, which are too small to be split.
        threads.run(work, counts.indptr[bounds] * np.int64(params.n_components))
        if self.trust is None:
            family.add_length_term(_of_lengths(lengths), params, result, constants)
        return result

    def _word_sums(self, words: Array, chunk: Chunk) -> Array:
        table = gather.rows_of(self.parameters.table, words)
        if self.settings.normalize_weights:
            with np.errstate(divide="ignore", invalid="ignore"):
                return chunk.tokens(np.log(table) / self._norms)
        return self.settings.family.word_evidence(chunk, table, None if self.trust is None else self.trust[words])

    @cached_property
    def _norms(self) -> Array:
        """``sum_w |log theta_w|`` of each group: log-parameters are divided by it ([Madsen2005] section 5.1)."""
        table, rows = self.parameters.table, threads.BLOCK
        with np.errstate(divide="ignore"):
            return sum(np.abs(np.log(table[i : i + rows])).sum(axis=0) for i in range(0, len(table), rows))


@dataclass(frozen=True)
class Scorer:
    """A fitted classifier, as it is applied to chunks of documents."""

    model: Model
    layout: Layout
    transform: Transform
    known: Array
    idf: Array | None
    temperature: Temperature | None

    def __call__(self, counts: sp.csr_array) -> tuple[Array, Array]:
        """Scores of the classes, and the temperature (1 without calibration) of each document."""
        values = self.transform(counts)
        scores = self.layout.scores(self.model.log_prob(values, self.known))
        if self.temperature is None or self.idf is None:
            return scores, np.ones(len(scores))
        parts = compact_chunks(values, self.known)
        features = [document_features(chunk, self.idf[words]) for words, chunk in parts]
        return scores, self.temperature.of(np.concatenate(features))


def score(chunk: Chunk, scorer: Scorer) -> tuple[Array, Array]:
    """Scores of the classes and temperature of each document of a chunk."""
    return scorer(chunk.counts)


def _of_lengths(lengths: Array) -> Chunk:
    """Documents of these lengths, whatever their words."""
    n_documents = len(lengths)
    places = np.arange(n_documents + 1, dtype=np.int32)
    return Chunk.from_parts(places, np.zeros(n_documents, dtype=np.int32), lengths, n_words=1)
