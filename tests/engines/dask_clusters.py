"""Clusters and models that the tests of the Dask engine share."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from bursty import DCMLDA, LDA, BayesClassifier, Mixture, families

# Tests that import this module are skipped without Dask.
distributed = pytest.importorskip("distributed")
engine = importlib.import_module("bursty.engines.dask")
tasks = importlib.import_module("bursty.engines.dask_tasks")

#: Number of documents per chunk.
SIZE = 40

# Python and Dask warn about their own doings when clusters come and go.
MARKS = [
    pytest.mark.usefixtures("small_chunks"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*Port .* is already in use"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

MODELS = {
    "dcm": families.DCM(),
    "mixture": Mixture(3, init="perturb", temperatures=(1,), max_iter=5, tol=1e-3, random_state=0),
    "dcm mixture": Mixture(3, family="dcm", temperatures=(1,), max_iter=2, tol=1e-3, random_state=0),
    "classifier": BayesClassifier(),
    "lda": LDA(3, learn_hyperparameters=True, n_iter=2, n_sweeps=1, burn_in=2, n_samples=2, tol=0, random_state=0),
    "dcmlda": DCMLDA(3, n_iter=2, n_sweeps=2, burn_in=2, n_samples=2, tol=0, random_state=0),
}


def start_cluster(n_workers, **options):
    """Processes that talk over TCP."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": True, **options}
    return distributed.LocalCluster(n_workers=n_workers, **options)


def fitted(model, X, labels, **params):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="EM did not converge")
        return clone(model).set_params(**params).fit(X, labels)


def assert_same(one, other):
    compared = 0
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)
            compared += 1
    assert compared >= 1
