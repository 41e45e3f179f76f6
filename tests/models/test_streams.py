"""Endless streams: bounded memory, words that are not known in advance."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from bursty import DCMLDA, LDA, BayesClassifier, Mixture

HASHING = HashingVectorizer(n_features=256, alternate_sign=False, norm=None)


def batches(n, size=40):
    """New words all the time, beside those that tell two subjects apart."""
    rng = np.random.default_rng(0)
    for batch in range(n):
        subjects = rng.integers(0, 2, size)
        words = [["ball goal team", "bank bond share"][subject].split() for subject in subjects]
        texts = [" ".join([*rng.choice(own, 8), f"new{batch}", f"new{rng.integers(10**9)}"]) for own in words]
        yield HASHING.transform(texts), subjects


@pytest.mark.parametrize(
    "model",
    [
        Mixture(2, random_state=0),
        BayesClassifier(smoothing=0.01),
        LDA(2, n_iter=5, tol=0, random_state=0),
        DCMLDA(2, n_iter=5, tol=0, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_memory_does_not_grow_with_the_stream(model, recwarn):
    sizes = []
    for X, y in batches(30):
        if isinstance(model, BayesClassifier):
            model.partial_fit(X, y, classes=[0, 1])
        else:
            model.partial_fit(X)
        sizes.append(len(pickle.dumps(model)))
    assert sizes[-1] < 1.2 * sizes[15]
    X, y = next(iter(batches(1)))
    found = model.transform(X).argmax(axis=1) if hasattr(model, "doc_topic_") else model.predict(X)
    assert max(np.mean(found == y), np.mean(found != y)) > 0.95
