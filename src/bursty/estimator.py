"""What every estimator shares: placing documents, scikit-learn's tags, perplexity, and checks of parameters.

An estimator derives from `CountEstimator` and has the parameters ``engine`` and ``n_jobs``. Wherever it takes X it also
takes `Documents` that an engine has placed already, so that a method that needs them twice places them once.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Documents, get_engine
from bursty.validation import check_input, warn_empty

#: Parameters other than 0 lie between these.
SMALLEST, LARGEST = 1e-100, 1e12

Array = np.ndarray[Any, Any]


class CountEstimator(BaseEstimator):
    """An estimator of documents x words counts."""

    engine: Any
    n_jobs: int | None

    def _integer(self, X: Any = None) -> bool:
        """Whether only whole counts are taken (of these documents)."""
        return True

    def _place(self, X: Any, *, reset: bool = False) -> Documents:
        """Check the documents and put them where the engine runs; ``reset`` takes their words for those of the fit."""
        if not reset:
            check_is_fitted(self)
        if not isinstance(X, Documents):
            counts = check_input(self, X, reset=reset, integer=self._integer(X))
            return get_engine(self.engine, self.n_jobs).place(counts)
        if reset:
            self.n_features_in_ = X.n_words
        elif self.n_features_in_ != X.n_words:
            raise ValueError(f"X has {X.n_words} features, but {type(self).__name__} expects {self.n_features_in_}")
        return X

    def _place_to_fit(self, X: Any, otherwise: str) -> Documents:
        """The documents of a fit, of which at least one must have words; the warning is the caller's caller's."""
        documents = self._place(X, reset=True)
        if documents.n_cells == 0:
            raise ValueError(f"every document is empty: {otherwise}")
        warn_empty(documents.n_empty, stacklevel=4)
        return documents

    def fitted_on(self, X: Any) -> bool | None:
        """Whether these are the documents of the last fit; None where that is not known."""
        known: str | None = getattr(self, "_fitted_on", None)
        return None if known is None else self._place(X).fingerprint == known

    def _perplexity(self, documents: Documents, log_prob: Array) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)``."""
        if documents.n_tokens == 0:
            raise ValueError("perplexity is per word, and these documents have none")
        n_impossible = int(np.count_nonzero(np.isneginf(log_prob)))
        if n_impossible:
            warnings.warn(
                f"{n_impossible} of {len(log_prob)} documents have probability 0 (words never seen in fitting); "
                f"fit {type(self).__name__} with smoothing, e.g. smoothing=0.01",
                UserWarning,
                stacklevel=3,
            )
        return float(np.exp(-np.sum(log_prob) / documents.n_tokens))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = self._integer()
        return tags


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        above = "above 0" if least == 1 else f"of {least} or more"
        raise ValueError(f"{name} must be a whole number {above}, not {value!r}")


def check_number(name: str, value: Any, *, positive: bool = False) -> None:
    """Refuse what is not a finite number, zero or more (``positive``: above 0)."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (positive and value == 0):
        bound = " above 0" if positive else ", zero or more"
        raise ValueError(f"{name} must be a finite number{bound}, not {value!r}")
    check_range(name, value)


def check_range(name: str, values: Any) -> None:
    """Refuse numbers other than 0 whose sums and products would leave the range of floating point."""
    numbers = np.abs(np.asarray(values, dtype=np.float64))
    outside = (numbers > 0) & ((numbers < SMALLEST) | (numbers > LARGEST))
    if np.any(outside):
        found = float(np.atleast_1d(numbers)[np.atleast_1d(outside)][0])
        raise ValueError(f"{name} must lie between {SMALLEST:g} and {LARGEST:g}, and {found:g} does not")


def check_lengths(lengths: Any) -> Array:
    """Lengths of the documents to draw."""
    sizes = np.atleast_1d(np.asarray(lengths))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf" or np.any(sizes < 0) or np.any(sizes != np.rint(sizes)):
        raise ValueError("lengths must be whole numbers, zero or more, one a document")
    return sizes.astype(np.int64)


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from None, a seed, a generator or scikit-learn's RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    return np.random.default_rng(random_state)
