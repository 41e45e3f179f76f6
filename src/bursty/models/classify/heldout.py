"""Learning from held-out documents what the likelihood cannot determine: smoothing and temperature.

Statistics add, so they also subtract: the model without some documents costs one `update`, not another pass over the
corpus. A sample of the documents is kept and cut into folds of at most a fifth of the corpus; each fold is scored by
the model of all other documents. The same scores are used to compare amounts of smoothing and, for the best one, to
fit the temperature.

Which documents are kept depends only on their position in the stream, so that learning in batches keeps the same
documents as learning from all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.families.base import Family, Parameters, Statistics
from bursty.kernels import random
from bursty.models.classify.calibration import Fitted, document_features, fit_temperature
from bursty.models.classify.evidence import compact_chunks
from bursty.models.classify.labels import Targets
from bursty.models.classify.layout import Layout
from bursty.models.classify.scoring import Model
from bursty.models.classify.settings import Settings
from bursty.models.classify.smoothing import (
    Constant,
    Shrinkage,
    ShrinkageParts,
    Smoothing,
    corpus_and_groups,
    fit_groups,
    group_totals,
    solve,
)
from bursty.models.classify.sums import Classes, side_by_side, summarize, without, word_table
from bursty.storage.schema import Mismatch, floats, integers, part, storable
from bursty.typing import Array
from bursty.validation import check_counts

#: Number of documents that are kept. Only three numbers are learned, which more documents would hardly change.
SAMPLE_SIZE = 2_000
#: Largest share of the documents that is held out at once.
LARGEST_FOLD = 0.2
#: Smallest number of documents from which something is learned.
LEAST_HELD_OUT = 5
#: Size of the table of the corpus and all groups up to which the urns of a fold are solved in one go.
TOGETHER = 400_000


def _check_counts(sample: Sample, sizes: dict[str, int]) -> None:
    shape = sizes["documents"], sizes["n_words"]
    if not isinstance(sample.counts, sp.csr_array) or sample.counts.shape != shape or len(sample.targets) != shape[0]:
        raise Mismatch("the sample does not have a row and a class for each of its documents")
    check_counts(sample.counts, integer=False, n_words=shape[1])


@storable(
    "Sample",
    weights=floats("documents", low=0),
    keys=integers("documents", dtype="uint64"),
    targets=part(Targets, C="C"),
    check=_check_counts,
)
@dataclass(frozen=True)
class Sample:
    """The documents that are kept: their counts, classes, weights, and the keys by which they were chosen."""

    counts: sp.csr_array
    targets: Targets
    weights: Array
    keys: Array
    #: The largest number of documents.
    most: ClassVar[int] = SAMPLE_SIZE

    @classmethod
    def of(cls, counts: sp.csr_array, targets: Targets, weights: Array, first: int) -> Self:
        """The documents with the smallest keys; the first document is number ``first`` of the stream."""
        keys = scrambled(np.arange(first, first + counts.shape[0], dtype=np.uint64))
        keep = np.sort(np.argsort(keys, kind="stable")[: cls.most])
        return cls(sp.csr_array(counts[keep]), targets[keep], weights[keep], keys[keep])

    def __add__(self, other: Sample) -> Self:
        keys = np.concatenate([self.keys, other.keys])
        keep = np.sort(np.argsort(keys, kind="stable")[: self.most])
        return type(self)(
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
    """Pseudo-random keys of integers (`bursty.kernels.random`)."""
    out = np.empty(len(numbers), dtype=np.uint64)
    random.keys(numbers, out)
    return out


@dataclass(frozen=True)
class SearchSetup:
    """What does not change during the search: the model, the statistics of the documents, and priors."""

    settings: Settings
    layout: Layout
    stats: Sequence[Statistics]
    documents: Array
    offset: Array
    direction: Array
    idf: Array

    @property
    def family(self) -> Family[Any, Any]:
        """Of the model."""
        return self.settings.family

    @cached_property
    def together(self) -> Statistics | None:
        """Statistics of the corpus and of all groups, side by side; None if they are too large."""
        classes = Classes(self.stats, range(len(self.settings.powers)))
        n_cells = (1 + self.layout.n_groups(len(classes))) * len(classes.columns) * classes.n_words
        if self.family.prior is not None or n_cells > TOGETHER:
            return None
        return side_by_side(list(corpus_and_groups(self.layout, classes)))

    def without(self, counts: sp.csr_array, targets: Targets, weights: Array) -> Statistics:
        """`together` of all other documents."""
        assert self.together is not None
        members = np.concatenate([np.ones((len(targets), 1)), self.layout.members(targets.onehot())], axis=1)
        resp = (members[:, :, None] * weights[:, None, :]).reshape(len(targets), -1)
        return without(self.together, self.family.summarize(Chunk(counts), resp))


class HeldOut:
    """The scores of held-out documents, for any smoothing."""

    def __init__(self, problem: SearchSetup, sample: Sample, n_documents: float) -> None:
        self.problem = problem
        rows = [_with_class(problem, sample, fold) for fold in sample.folds(n_documents)]
        kind = _PulledFold if problem.settings.smoothing == "shrink" else _Fold
        self.folds = [kind(problem, sample, fold) for fold in rows if len(fold)]
        #: Keys of the documents of each fold.
        self.keys = [sample.keys[fold] for fold in rows if len(fold)]
        order = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        self.n_documents = len(order)
        self.truth = sample.targets[order].onehot()
        self.weights = sample.weights[order]
        parts = compact_chunks(sample.counts, np.ones(len(problem.idf), dtype=bool))
        features = [document_features(chunk, problem.idf[words]) for words, chunk in parts]
        self.features = np.concatenate(features)[order]

    def evaluate(self, smoothing: Smoothing, start: Fitted | None = None) -> Fitted:
        """The best temperature for this smoothing, and the log loss of both."""
        return fit_temperature(
            self._scores(smoothing),
            self.truth,
            self.features,
            self.problem.offset,
            self.problem.direction,
            self.weights,
            multilabel=self.problem.layout.multilabel,
            start=start,
        )

    def logits(self, smoothing: Smoothing, fitted: Fitted) -> Array:
        """Calibrated scores of the held-out documents, fold after fold."""
        heat = fitted.temperature.of(self.features)
        offset = self.problem.offset + fitted.tilt * self.problem.direction
        return self._scores(smoothing) / heat[:, None] + offset

    def _scores(self, smoothing: Smoothing) -> Array:
        log_prob = np.concatenate([fold.log_prob(smoothing) for fold in self.folds])
        return np.nan_to_num(self.problem.layout.scores(log_prob), nan=0.0, posinf=1e6, neginf=-1e6)

    def climb(self, start: Smoothing) -> tuple[Smoothing, Fitted]:
        """Move from ``start`` to the best neighbour until no neighbour has a smaller log loss."""
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


def parameters(
    settings: Settings, layout: Layout, stats: Sequence[Statistics], documents: Array, smoothing: Smoothing
) -> Parameters:
    """The parameters of the groups, from the statistics of all documents."""
    column = settings.powers.index(smoothing.power)
    classes = Classes(stats, (column,))
    if isinstance(smoothing, Shrinkage):
        family, sizes = settings.family, layout.group_sizes(documents[column])[None]
        totals = None if family.prior is None else group_totals(family, layout, classes)
        (urns,) = ShrinkageParts.learn(family, solve(family, corpus_and_groups(layout, classes)), sizes, totals=totals)
        return urns.parameters(smoothing)
    return fit_groups(settings.family, layout, classes, smoothing.epsilon)


class _Fold:
    """Held-out documents, and the models of all others."""

    def __init__(self, problem: SearchSetup, sample: Sample, rows: Array) -> None:
        self.problem = problem
        self.counts, targets = sample.counts[rows], sample.targets[rows]
        weights = discounts(self.counts, sample.weights[rows], problem.settings.powers)
        self.documents = problem.documents - targets.weights_of(weights)
        self._learn(targets, weights)

    def _learn(self, targets: Targets, weights: Array) -> None:
        self.held_out = summarize(self.problem.family, self.counts, targets, weights)

    def log_prob(self, smoothing: Smoothing) -> Array:
        """Log-probabilities of the held-out documents in each group."""
        assert isinstance(smoothing, Constant)
        problem = self.problem
        params = fit_groups(problem.family, problem.layout, self._classes([smoothing.power]), smoothing.epsilon)
        return Model(problem.settings, params).log_prob(self.counts, np.ones(len(problem.idf), dtype=bool))

    def _classes(self, powers: Sequence[float]) -> Classes:
        """Statistics of all documents that are not held out, one column per power."""
        columns = [self.problem.settings.powers.index(power) for power in powers]
        return Classes(self.problem.stats, columns, self.held_out)


class _PulledFold(_Fold):
    """The same for `Shrinkage`: urns are learned once for each power and then mixed; statistics are not kept."""

    def _learn(self, targets: Targets, weights: Array) -> None:
        problem, family, layout = self.problem, self.problem.family, self.problem.layout
        powers, sizes = problem.settings.powers, np.stack([layout.group_sizes(row) for row in self.documents])
        if problem.together is not None:
            stats = problem.without(self.counts, targets, weights)
            words = self._keep(word_table(stats)[:, 0] > 0)
            learned = ShrinkageParts.learn(family, solve(family, iter([stats])), sizes, words)
        else:
            super()._learn(targets, weights)
            first, learned = self._classes(powers[:1]), []
            words = self._keep(word_table(layout.everything(first))[:, 0] > 0)
            totals = None if family.prior is None else group_totals(family, layout, first)
            for i, power in enumerate(powers):
                tables = solve(family, corpus_and_groups(layout, self._classes([power])))
                learned += ShrinkageParts.learn(family, tables, sizes[i : i + 1], words, totals)
            del self.held_out
        self.urns = dict(zip(powers, learned, strict=True))

    def _keep(self, known: Array) -> Array:
        """Keep the counts of known words, in pieces; returns the words."""
        parts = list(compact_chunks(self.counts, known))
        words = np.unique(np.concatenate([here for here, _ in parts]))
        self.idf = self.problem.idf[words]
        self.parts = [(np.searchsorted(words, here), chunk) for here, chunk in parts]
        del self.counts
        return words

    def log_prob(self, smoothing: Smoothing) -> Array:
        """The evidence of the words; everything else is the same for urns of equal s."""
        assert isinstance(smoothing, Shrinkage)
        urns, sums = self.urns[smoothing.power], []
        for words, chunk in self.parts:
            trust = self.idf[words] ** smoothing.idf if smoothing.idf else None
            sums.append(urns.family.word_evidence(chunk, urns.mix(smoothing, words), trust))
        return np.concatenate(sums)


def discounts(counts: sp.csr_array, weights: Array, powers: Sequence[float]) -> Array:
    """Weights of the documents, n^-power for n tokens: one column per power."""
    lengths = np.maximum(Chunk(counts).lengths, 1.0)
    return np.stack([weights * lengths**-power for power in powers], axis=1)


def _with_class(problem: SearchSetup, sample: Sample, rows: Array) -> Array:
    """The rows of a fold whose classes all keep some document when the fold is held out."""
    targets = sample.targets[rows]
    n_classes, weights = len(targets.classes), sample.weights[rows]
    seen = problem.documents[0, :n_classes]
    first = discounts(sample.counts[rows], weights, problem.settings.powers[:1])
    lost = seen - targets.weights_of(first)[0, :n_classes] <= 1e-9 * seen
    return rows[~((targets.onehot() > 0) & lost).any(axis=1)]
