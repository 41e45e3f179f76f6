"""Numbers at the end of their range: refused with the name of the parameter, or every result is finite."""

from __future__ import annotations

import numpy as np
import pytest

from bursty import DCMLDA, DPMFS, LDA, BayesClassifier, Mixture
from bursty.families import DCM, EDCM, Dirichlet, Multinomial

X = np.random.default_rng(0).poisson(0.7, (20, 8))
Y = np.arange(20) % 2
CASES = [
    *((family, {}, "smoothing") for family in (Multinomial, DCM, EDCM, Dirichlet)),
    (BayesClassifier, {}, "smoothing"),
    (Mixture, {"n_components": 2, "random_state": 0, "tol": 1.0}, "smoothing"),
    *((LDA, {"n_components": 2, "n_iter": 3, "tol": 0, "random_state": 0}, name) for name in ("alpha", "beta")),
    *((DCMLDA, {"n_components": 2, "n_iter": 3, "tol": 0, "random_state": 0}, name) for name in ("alpha", "beta")),
    *((DPMFS, {"n_iter": 5, "random_state": 0}, name) for name in ("alpha", "lam")),
]


@pytest.mark.parametrize("value", [1e300, 1e308, 5e-324, 1e-300])
@pytest.mark.parametrize(("kind", "options", "name"), CASES)
def test_numbers_out_of_range_are_refused(kind, options, name, value):
    with pytest.raises(ValueError, match=f"{name} must be between 1e-100 and 1e\\+12, not "):
        kind(**options, **{name: value}).fit(X, Y)


# So much smoothing makes all clusters alike, and then one of them has every document.
@pytest.mark.filterwarnings("ignore:.*clusters ha(s|ve) no documents")
@pytest.mark.parametrize("value", [1e12, 1e-100])
@pytest.mark.parametrize(("kind", "options", "name"), CASES)
def test_numbers_at_the_end_of_the_range_are_finite(kind, options, name, value):
    model = kind(**options, **{name: value}).fit(X, Y)
    for method in ("predict_proba", "transform", "log_prob", "score_samples"):
        if hasattr(model, method):
            assert np.isfinite(np.asarray(getattr(model, method)(X))).all(), method
