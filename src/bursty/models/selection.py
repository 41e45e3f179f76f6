"""How many components: fit each number, compare by what is left out or by an information criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from bursty.engines import Documents
from bursty.storage.schema import integers, items, storable, whole

Array = np.ndarray[Any, Any]

DEFAULT_KS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)
#: Amounts of smoothing that held-out documents choose from.
SMOOTHINGS = (0.01, 0.1, 0.5, 2.0)


@storable(
    "Selection",
    ks=integers("tried", low=1),
    scores=items("tried"),
    standard_errors=items("tried"),
    n_components=whole(low=1),
)
@dataclass(frozen=True)
class Selection:
    """Scores of each number of components (larger is better), and the choice.

    For held-out likelihood ``standard_errors`` are those of the difference from the best, document by document.
    """

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


def select(
    mixture: Any,
    documents: Documents,
    ks: Sequence[int],
    criterion: str = "heldout",
    cv: int = 3,
    sample_weight: Array | None = None,
) -> Selection:
    """Compare numbers of components for a mixture (which is not changed) of documents, wherever these are."""
    n_documents, numbers = documents.n_documents, np.unique(np.asarray(ks, dtype=int))
    if len(numbers) == 0 or numbers[0] < 1 or numbers[-1] > n_documents:
        raise ValueError(f"ks must be whole numbers from 1 to the number of documents ({n_documents}), not {ks!r}")
    weights = np.ones(n_documents) if sample_weight is None else sample_weight
    if criterion == "heldout":
        if not 2 <= cv <= n_documents:
            raise ValueError(f"cv must be from 2 to the number of documents ({n_documents}), not {cv!r}")
        table = np.array([_held_out(mixture, documents, weights, k, cv) for k in numbers])
        return _fewest(numbers, table[:, weights > 0])
    if criterion not in ("bic", "icl"):
        raise ValueError(f'criterion must be "heldout", "bic" or "icl", not {criterion!r}')
    scores = np.array([_information(mixture, documents, k, criterion) for k in numbers])
    return Selection(criterion, numbers, scores, np.zeros(len(scores)), int(numbers[np.argmax(scores)]))


def _fewest(numbers: Array, table: Array) -> Selection:
    """The number from which on more components bring little.

    ``table`` has the log-likelihood of every document (columns) under each number (rows). The smallest number that is
    not worse than the best, to one standard error of the difference, is the last to be considered; documents differ far
    more than models do, so the error is that of the differences, document by document. Real collections have clusters
    inside clusters, and the likelihood goes on growing slowly: of the numbers up to there, the one is chosen whose
    score stands highest above the line from the first to the last, against the logarithm of the number.
    """
    scores = table.mean(axis=1)
    differences = table - table[np.argmax(scores)]
    errors = differences.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    last = int(np.flatnonzero(differences.mean(axis=1) + errors >= 0)[0])
    if last > 1:
        steps = np.log(numbers[1 : last + 1] / numbers[0]) / np.log(numbers[last] / numbers[0])
        above = scores[1 : last + 1] - (scores[0] + (scores[last] - scores[0]) * steps)
        above[-1] = 1e-9 * abs(scores[last])  # the last, where none stands clearly above the line
        last = 1 + int(np.argmax(above))
    return Selection("heldout", numbers, scores, errors, int(numbers[last]))


def _held_out(mixture: Any, documents: Documents, weights: Array, k: int, cv: int) -> Array:
    """Log-likelihood of each document under the mixture of the other folds, with the smoothing that is best for all.

    How much components have to take in from the corpus depends on how few documents they have. With one amount for
    all numbers, the best number would be the one it suits.
    """
    scores = np.full((len(SMOOTHINGS), documents.n_documents), -np.inf)
    for train, test in KFold(cv, shuffle=True, random_state=0).split(weights):
        learned, held = (documents.select(np.isin(np.arange(len(weights)), rows)) for rows in (train, test))
        own = None if np.all(weights == 1.0) else weights[train]
        model = clone(mixture).set_params(n_components=int(min(k, len(train)))).fit(learned, sample_weight=own)
        for row, smoothing in zip(scores, SMOOTHINGS, strict=True):
            model._smooth(smoothing)
            row[test] = model.score_samples(held)
    impossible = ~np.isfinite(scores)
    scores[impossible] = np.min(scores[~impossible], initial=0.0)
    return scores[np.argmax(np.average(scores, axis=1, weights=weights))]


def _information(mixture: Any, documents: Documents, k: int, criterion: str) -> float:
    """BIC or ICL, as gain a document: log-likelihood less the price of the parameters (and of doubt)."""
    model = clone(mixture).set_params(n_components=int(k)).fit(documents)
    n_documents, n_words = documents.n_documents, documents.n_words
    score = model.lower_bound_ - 0.5 * (k * n_words + k - 1) * np.log(n_documents) / n_documents
    if criterion == "icl":
        resp = model.predict_proba(documents)
        score += float(np.sum(resp * np.log(np.maximum(resp, 1e-300)))) / n_documents
    return score
