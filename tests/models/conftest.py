"""Data of several files of tests."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from simulated import classes


@pytest.fixture(scope="module")
def classed():
    X, y = classes()
    return sp.csr_array(X.astype(np.int32)), y


@pytest.fixture(scope="module")
def multi():
    X, y = classes(n_classes=3, per_class=40, seed=5)
    X = X + np.roll(X, 1, axis=0)
    Y = np.zeros((len(y), 3), dtype=int)
    Y[np.arange(len(y)), y] = 1
    Y[np.arange(len(y)), np.roll(y, 1)] = 1
    return sp.csr_array(X.astype(np.int32)), Y
