"""How many topics: fit each number to most of the documents, and complete the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from bursty.engines import Documents
from bursty.models.selection import Selection
from bursty.typing import Array

#: Numbers of topics that are tried, from the first on.
NUMBERS = (5, 10, 20, 35, 50, 75, 100, 150, 200, 300)
# One document in this number is held out, but at most the second number.
_ONE_IN, _MOST = 10, 2_000
# The search ends after this number of values in a row that did not improve on the best.
_PATIENCE = 2


def select_topics(model: Any, documents: Documents, seed: int) -> Selection:
    """Compare numbers of topics for a model (which is not changed) by document completion.

    A tenth of the documents is held out. The score of a number is the log-probability per token of one half of these
    given the other, with the topics of the other documents; the best is chosen. Numbers are tried in order until two in
    a row have not been better. ``standard_errors`` are those of the difference from the best, document by document.
    """
    rng = np.random.default_rng(seed)
    n_held = min(max(1, documents.n_documents // _ONE_IN), _MOST)
    held = np.isin(np.arange(documents.n_documents), rng.permutation(documents.n_documents)[:n_held])
    train, test = documents.select(~held), documents.select(held)
    numbers, rows, sizes = [], [], np.ones(n_held)
    settings = {"checkpoint": None, "warm_start": False, "n_init": 1, "random_state": seed}
    for number in _possible(documents):
        fitted = clone(model).set_params(n_components=number, **settings).fit(train)
        log_prob, sizes = fitted.log_predictive(test, random_state=seed)
        numbers.append(number)
        rows.append(log_prob)
        totals = [row.sum() for row in rows]
        if len(rows) - 1 - int(np.argmax(totals)) >= _PATIENCE:
            break
    return _best(np.array(numbers), np.array(rows), sizes)


def _possible(documents: Documents) -> list[int]:
    """The numbers that there are words and documents for."""
    most = min(documents.n_words, max(1, documents.n_documents // 2))
    return [number for number in NUMBERS if number <= most] or [max(1, min(NUMBERS[0], most))]


def _best(numbers: Array, table: Array, sizes: Array) -> Selection:
    n_tokens = max(float(sizes.sum()), 1.0)
    scores = table.sum(axis=1) / n_tokens
    differences = table - table[np.argmax(scores)]
    residuals = differences - np.outer(differences.sum(axis=1) / n_tokens, sizes)
    errors = np.sqrt(np.sum(residuals**2, axis=1) * len(sizes) / max(len(sizes) - 1, 1)) / n_tokens
    return Selection("completion", numbers, scores, errors, int(numbers[np.argmax(scores)]))
