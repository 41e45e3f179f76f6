"""How many components: fit each number, compare by what is left out or by an information criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from bursty.validation import check_counts

Array = np.ndarray[Any, Any]

DEFAULT_KS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


@dataclass(frozen=True)
class Selection:
    """Scores of each number of components (larger is better), and the choice."""

    criterion: str
    ks: Array
    scores: Array
    standard_errors: Array
    n_components: int

    def __str__(self) -> str:
        rows = [f"{'k':>4}  {self.criterion:>12}  {'+-':>8}"]
        for k, score, error in zip(self.ks, self.scores, self.standard_errors, strict=True):
            mark = " <- chosen" if k == self.n_components else ""
            rows.append(f"{k:>4}  {score:>12.4f}  {error:>8.4f}{mark}")
        return "\n".join(rows)


def select(mixture: Any, X: Any, ks: Sequence[int], criterion: str = "heldout", cv: int = 3) -> Selection:
    """Compare numbers of components for a mixture (which is not changed)."""
    counts = check_counts(X, integer=False)
    numbers = np.unique(np.asarray(ks, dtype=int))
    if len(numbers) == 0 or numbers[0] < 1 or numbers[-1] > counts.shape[0]:
        raise ValueError(f"ks must be whole numbers from 1 to the number of documents ({counts.shape[0]}), not {ks!r}")
    if criterion == "heldout":
        if not 2 <= cv <= counts.shape[0]:
            raise ValueError(f"cv must be from 2 to the number of documents ({counts.shape[0]}), not {cv!r}")
        table = np.array([_held_out(mixture, counts, k, cv) for k in numbers])
    elif criterion in ("bic", "icl"):
        table = np.array([_information(mixture, counts, k, criterion) for k in numbers])
    else:
        raise ValueError(f'criterion must be "heldout", "bic" or "icl", not {criterion!r}')
    scores, errors = table.T
    return Selection(criterion, numbers, scores, errors, int(numbers[np.argmax(scores)]))


def _held_out(mixture: Any, counts: Any, k: int, cv: int) -> tuple[float, float]:
    """Mean and standard error over folds of the log-likelihood of a document left out."""
    folds = KFold(cv, shuffle=True, random_state=0).split(counts)
    scores = []
    for train, test in folds:
        model = clone(mixture).set_params(n_components=int(min(k, len(train)))).fit(counts[train])
        finite = model.score_samples(counts[test])
        scores.append(np.mean(finite[np.isfinite(finite)]) if np.isfinite(finite).any() else -np.inf)
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(cv))


def _information(mixture: Any, counts: Any, k: int, criterion: str) -> tuple[float, float]:
    """BIC or ICL, as gain a document: log-likelihood less the price of the parameters (and of doubt)."""
    model = clone(mixture).set_params(n_components=int(k)).fit(counts)
    n_documents, n_words = counts.shape
    score = model.lower_bound_ - 0.5 * (k * n_words + k - 1) * np.log(n_documents) / n_documents
    if criterion == "icl":
        resp = model.predict_proba(counts)
        score += float(np.sum(resp * np.log(np.maximum(resp, 1e-300)))) / n_documents
    return score, 0.0
