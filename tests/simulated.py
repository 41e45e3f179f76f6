"""Documents of classes that differ, for tests of classifiers."""

from __future__ import annotations

import numpy as np


def classes(n_classes=3, per_class=30, n_words=25, seed=0, s=8.0):
    """Documents of classes that differ, every word seen in training."""
    rng = np.random.default_rng(seed)
    bases = rng.dirichlet(np.full(n_words, 1.0), size=n_classes)
    y = np.repeat(np.arange(n_classes), per_class)
    thetas = np.array([rng.dirichlet(s * bases[k]) for k in y])
    X = np.array([rng.multinomial(rng.integers(5, 50), theta) for theta in thetas])
    X[:n_classes] += 1
    order = rng.permutation(len(y))
    return X[order], y[order]
