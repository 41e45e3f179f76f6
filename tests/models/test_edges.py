"""Every estimator at the edge of what data can be: results are finite, and no warnings of other libraries leak.

`python -m benchmarks.long_documents` fits topic models and DPMFS to six documents of a million tokens.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import DCMLDA, DPMFS, LDA, BayesClassifier, Mixture
from bursty.families import FAMILIES

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*clusters ha(s|ve) no documents:UserWarning"),
    pytest.mark.filterwarnings("ignore:EM did not converge"),
    pytest.mark.filterwarnings("ignore:the log-likelihood was still"),
]

rng = np.random.default_rng(0)
LONG = np.vstack([rng.multinomial(1_000_000, np.full(60, 1 / 60)), rng.poisson(2, (5, 60))])
MANY = sp.csr_array(rng.poisson(0.02, (600, 520)) + np.eye(600, 520, dtype=int))
EDGES = {
    "one word": np.array([[3], [1], [7], [2], [1], [4]]),
    "one document": np.array([[3, 0, 1, 2, 5]]),
    "one token": np.array([[0, 1, 0]]),
    "identical documents": np.tile([3, 0, 1, 2, 5], (6, 1)),
    "four columns": rng.negative_binomial(2, [0.01, 0.02, 0.05, 0.1], (40, 4)),
    "a million tokens": LONG,
}


def estimators(n_components: int = 2):
    """Few iterations: what is looked at is whether they can be done at all."""
    yield from ((name, kind()) for name, kind in FAMILIES.items() if kind.__module__.startswith("bursty."))
    for name, kind in FAMILIES.items():
        if kind.__module__.startswith("bursty."):
            yield f"mixture of {name}", Mixture(n_components, family=name, max_iter=3, random_state=0)
            yield f"classifier by {name}", BayesClassifier(name)
    yield "LDA", LDA(n_components, n_iter=2, tol=0, random_state=0)
    yield "DCMLDA", DCMLDA(n_components, n_iter=2, tol=0, random_state=0)
    yield "DPMFS", DPMFS(n_components, n_iter=4, family="multinomial", random_state=0)
    yield "DPMFS of DCMs", DPMFS(n_iter=4, random_state=0)


def check(model, X):
    fitted = model.fit(X, np.arange(X.shape[0]) % 2) if isinstance(model, BayesClassifier) else model.fit(X)
    if isinstance(model, LDA | DCMLDA):  # `transform` and `score_samples` take many sweeps
        np.testing.assert_allclose(fitted.doc_topic_.sum(axis=1), 1.0)
        assert np.isfinite(fitted.components_).all()
        assert np.isfinite(fitted.left_to_right(X, n_particles=1, n_moves=1)).all()
        return
    for method in ("predict_proba", "transform"):
        if hasattr(fitted, method):
            shares = getattr(fitted, method)(X)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-6, err_msg=method)
            assert shares.min() >= 0
    for method in ("log_prob", "score_samples"):
        if hasattr(fitted, method):
            assert np.isfinite(getattr(fitted, method)(X)).all(), method


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("name", "model"), [pytest.param(*pair, id=pair[0]) for pair in estimators()])
def test_edges(name, model, edge):
    X = EDGES[edge]
    if len(X) == 1 and isinstance(model, BayesClassifier):
        with pytest.raises(ValueError, match="at least two classes"):
            model.fit(X, [0])
        return
    if len(X) == 1 and isinstance(model, Mixture):
        model.set_params(n_components=1)
    if X.shape[1] == 1 and isinstance(model, LDA | DCMLDA):
        with pytest.raises(ValueError, match="1 word cannot make 2 topics"):
            model.fit(X)
        model.set_params(n_components=1)
    check(model, X)


@pytest.mark.parametrize(
    ("name", "model"), [pytest.param(*pair, id=pair[0]) for pair in estimators(500) if hasattr(pair[1], "n_components")]
)
def test_500_components_for_600_documents(name, model):
    check(model, MANY)
