"""Learning what the likelihood cannot say, from documents held out: smoothing and temperature.

Statistics add, so they also subtract: the model without some documents costs one `update`, not one more pass over
the corpus. A sample of the documents is kept, as many as it takes and no more; it is cut into folds of at most a
fifth of the corpus, and each fold is scored by the model of all other documents. One set of scores serves to compare
amounts of smoothing and, for the best, to fit the temperature.

Which documents are kept depends on their place in the stream alone, so that learning batch by batch keeps the same
ones as learning from the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk, cut, total
from bursty.families.base import Family, Parameters, Statistics
from bursty.kernels import select
from bursty.models.classify.calibration import Fitted, document_features, fit_temperature
from bursty.models.classify.evidence import Evidence
from bursty.models.classify.labels import Targets
from bursty.models.classify.layout import Layout, map_columns, subtract
from bursty.models.classify.smoothing import Shrinkage, Smoothing, Urns

Array = np.ndarray[Any, Any]

#: Documents kept to learn from. Three numbers are learned: more documents would not change them much.
SAMPLE_SIZE = 2_000
#: Largest part of the documents that is held out at once.
LARGEST_FOLD = 0.2
#: Documents below which nothing is learned.
LEAST_HELD_OUT = 5


@dataclass(frozen=True)
class Sample:
    """Documents kept: their counts, classes, weights, and the keys they were chosen by."""

    counts: sp.csr_array
    targets: Targets
    weights: Array
    keys: Array

    @classmethod
    def of(cls, counts: sp.csr_array, targets: Targets, weights: Array, first: int) -> Sample:
        """The documents of the smallest keys, where the first document is number ``first`` of the stream."""
        keys = scrambled(np.arange(first, first + counts.shape[0], dtype=np.uint64))
        keep = np.sort(np.argsort(keys, kind="stable")[:SAMPLE_SIZE])
        return cls(sp.csr_array(counts[keep]), targets[keep], weights[keep], keys[keep])

    def __add__(self, other: Sample) -> Sample:
        keys = np.concatenate([self.keys, other.keys])
        keep = np.sort(np.argsort(keys, kind="stable")[:SAMPLE_SIZE])
        return Sample(
            sp.csr_array(sp.vstack([self.counts, other.counts], format="csr"))[keep],
            self.targets.stack(other.targets)[keep],
            np.concatenate([self.weights, other.weights])[keep],
            keys[keep],
        )

    def folds(self, n_documents: float) -> Iterator[Array]:
        """Rows of each fold."""
        n_kept = len(self.keys)
        n_folds = min(n_kept, max(1, int(np.ceil(n_kept / (LARGEST_FOLD * n_documents)))))
        place = np.argsort(self.keys, kind="stable")
        for fold in range(n_folds):
            yield np.sort(place[fold::n_folds])


def scrambled(numbers: Array) -> Array:
    """Pseudo-random keys of whole numbers (the output function of splitmix64)."""
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Problem:
    """What does not change in the search: the model, all statistics (one set per power), priors and idf weights."""

    family: Family[Any, Any]
    layout: Layout
    stats: Mapping[float, Statistics]
    documents: Mapping[float, Array]
    offset: Array
    direction: Array
    idf: Array
    log_prob: Callable[[Chunk, Parameters], Array]


class HeldOut:
    """The scores of held-out documents, for any smoothing."""

    def __init__(self, problem: Problem, sample: Sample, n_documents: float, powers: Any) -> None:
        self.problem = problem
        rows = [_with_class(problem, sample, fold, powers) for fold in sample.folds(n_documents)]
        self.folds = [_Fold(problem, sample, fold) for fold in rows if len(fold)]
        order = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        kept = sample.counts[order]
        self.n_documents = len(order)
        self.truth = sample.targets[order].onehot()
        self.weights = sample.weights[order]
        self.features = document_features(kept, problem.idf)

    def evaluate(self, smoothing: Smoothing, start: Fitted | None = None) -> Fitted:
        """The best temperature for this smoothing, and the log loss of the two together."""
        log_prob = np.concatenate([fold.log_prob(smoothing) for fold in self.folds])
        scores = np.nan_to_num(self.problem.layout.scores(log_prob), nan=0.0, posinf=1e6, neginf=-1e6)
        return fit_temperature(
            scores,
            self.truth,
            self.features,
            self.problem.offset,
            self.problem.direction,
            self.weights,
            multilabel=self.problem.layout.multilabel,
            start=start,
        )

    def climb(self, start: Smoothing) -> tuple[Smoothing, Fitted]:
        """From ``start`` to its best neighbour, and so on, until no neighbour has a smaller log loss."""
        seen = {start: self.evaluate(start)}
        best = start
        while True:
            for candidate in best.neighbours():
                if candidate not in seen:
                    seen[candidate] = self.evaluate(candidate, seen[best])
            winner = min(seen, key=lambda candidate: seen[candidate].loss)
            if winner == best:
                return best, seen[best]
            best = winner


class _Fold:
    """Documents held out, and the models of all others."""

    def __init__(self, problem: Problem, sample: Sample, rows: Array) -> None:
        self.problem = problem
        self.counts, self.targets, self.weights = sample.counts[rows], sample.targets[rows], sample.weights[rows]
        self._groups: dict[float, Statistics] = {}
        self._urns: dict[float, Urns] = {}
        self._condensed: tuple[Array, Evidence] | None = None

    def log_prob(self, smoothing: Smoothing) -> Array:
        """Log-probabilities of the held-out documents in each group."""
        power, problem = smoothing.power, self.problem
        if isinstance(smoothing, Shrinkage):
            if power not in self._urns:
                whole = Urns.learn(problem.family, problem.layout, *self._without(power))
                words, _ = self._condense(whole)
                self._urns[power] = whole.of_words(words)
            words, evidence = self._condense(self._urns[power])
            trust = np.append(problem.idf[words], 0.0) ** smoothing.idf if smoothing.idf else None
            return evidence.sums(self._urns[power].mix(smoothing), trust)
        if power not in self._groups:
            self._groups[power] = map_columns(self._without(power)[0], problem.layout.groups)
        params = problem.family.update(self._groups[power], smoothing=smoothing.epsilon)
        return problem.log_prob(Chunk(self.counts), params)

    def _without(self, power: float) -> tuple[Statistics, Array]:
        """Statistics, and weights of the documents, of all that is not held out."""
        weights = discount(self.counts, self.weights, power)
        held_out = summarize(self.problem.family, self.counts, self.targets, weights)
        documents = self.problem.documents[power] - document_weights(self.targets, weights)
        return subtract(self.problem.stats[power], held_out), documents

    def _condense(self, urns: Urns) -> tuple[Array, Evidence]:
        """The words that occur here and are known elsewhere, and the documents as counts of these and one other."""
        if self._condensed is None:
            known = drop_words(self.counts, urns.corpus[:, 0] > 0)
            words, columns = np.unique(known.indices, return_inverse=True)
            shape = (known.shape[0], len(words) + 1)
            counts = sp.csr_array((known.data, columns.astype(np.int32), known.indptr), shape=shape)
            self._condensed = words, Evidence(Chunk(counts))
        return self._condensed


def summarize(family: Family[Any, Any], counts: sp.csr_array, targets: Targets, weights: Array) -> Statistics:
    """Statistics of the classes, in this process."""
    return total(family.summarize(chunk, targets.resp(weights)) for chunk in cut(counts, max(1, counts.shape[0])))


def document_weights(targets: Targets, weights: Array) -> Array:
    """Weight of the documents of each class (and of all, where documents may have several)."""
    if targets.table is not None:
        return np.append(targets.table.T @ weights, weights.sum())
    return np.bincount(targets.codes, weights=weights, minlength=len(targets.classes))  # type: ignore[arg-type]  # not None here


def discount(counts: sp.csr_array, weights: Array, power: float) -> Array:
    """Weights of the documents where one of n tokens counts n^-power times."""
    if power == 0.0:
        return weights
    lengths = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1.0)
    return weights * lengths**-power


def drop_words(counts: sp.csr_array, known: Array) -> sp.csr_array:
    """The documents without the words that are not known; the counts themselves where all are."""
    indptr, indices, values = (np.empty(len(a) + 1, a.dtype) for a in (counts.indptr[1:], counts.indices, counts.data))
    kept = select.keep_known(counts.indptr, counts.indices, counts.data, known, indptr, indices, values)
    if kept == counts.nnz:
        return counts
    return sp.csr_array((values[:kept], indices[:kept], indptr), shape=counts.shape)


def _with_class(problem: Problem, sample: Sample, rows: Array, powers: Any) -> Array:
    """The rows of a fold whose every class keeps some document when the fold is held out."""
    power = next(iter(powers))
    targets, weights = sample.targets[rows], discount(sample.counts[rows], sample.weights[rows], power)
    left = problem.documents[power] - document_weights(targets, weights)
    lost = left[: len(targets.classes)] <= 1e-9 * problem.documents[power][: len(targets.classes)]
    return rows[~((targets.onehot() > 0) & lost).any(axis=1)]
