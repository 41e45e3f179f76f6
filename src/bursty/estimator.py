"""Base class of all estimators: placing documents, scikit-learn's tags, perplexity, and checks of parameters.

An estimator derives from `CountEstimator` and has the parameters ``engine`` and ``n_jobs``. Wherever it accepts X, it
also accepts `Documents` that an engine has already placed, so that a method that needs them twice places them once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bursty.corpus import TextOptions
from bursty.corpus.units import Units, units_of
from bursty.engines import Documents, get_engine
from bursty.typing import Array
from bursty.validation import LARGEST, SMALLEST, check_input, check_names, warn_empty
from bursty.wording import counted

#: What is said where words would be shown.
NAMELESS = (
    "words are numbers of columns, because the model was fitted on a table without names. model.set_words(words) names "
    "them; in a Pipeline, where a model sees only the counts, it is pipeline[-1].set_words(pipeline)"
)


class CountEstimator(BaseEstimator):
    """Base class for estimators that are fitted to counts of words in documents.

    Attributes
    ----------
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_words,)
        The words, if the documents of the fit had them.
    text_options_ : TextOptions
        How texts became counts, if the corpus of the fit was made of texts.
    """

    engine: Any
    n_jobs: int | None
    n_features_in_: int
    feature_names_in_: Array
    text_options_: TextOptions
    #: What documents, words and tokens of the fit are called, if not so.
    _units: list[str] | None = None

    @property
    def units(self) -> Units:
        """What the documents, words and tokens of the fit are called: as in its corpus."""
        return Units.of(self._units)

    def _integer(self, X: Any = None) -> bool:
        """Whether counts (of these documents) must be integers."""
        return True

    def _signed(self) -> bool:
        """Whether negative numbers are taken, and dense tables stay dense."""
        return False

    def _place(self, X: Any, *, reset: bool = False) -> Documents:
        """Check the documents and place them on the engine; ``reset`` makes their words those of the fit."""
        if not reset:
            check_is_fitted(self)
        if reset:
            units = units_of(X)
            self._units = None if units.are_default else units.names
        if not isinstance(X, Documents):
            counts = check_input(self, X, reset=reset, integer=self._integer(X), signed=self._signed())
            return get_engine(self.engine, self.n_jobs).place(counts)
        if reset:
            self.n_features_in_ = X.n_words
        elif self.n_features_in_ != X.n_words:
            raise ValueError(f"X has {X.n_words} features, but {type(self).__name__} expects {self.n_features_in_}")
        return X

    def _place_to_fit(self, X: Any, otherwise: str) -> Documents:
        """Place the documents of a fit, at least one of which must have words; warnings point to ``fit``."""
        documents = self._place(X, reset=True)
        if documents.n_cells == 0:
            raise ValueError(f"every document is empty: {otherwise}")
        warn_empty(documents.n_empty, stacklevel=4)
        return documents

    def set_words(self, words: Any) -> Self:
        """Name the words of a model that was fitted on a table without names, as in a Pipeline.

        Parameters
        ----------
        words : sequence of str, fitted vectorizer or Pipeline
            One name per column, or what has ``get_feature_names_out``. Of a Pipeline that ends in this model, the
            steps before it.

        Returns
        -------
        self
            `feature_names_in_` has the names from now on, and so have `top_words`, `summary` and reports.

        Examples
        --------
        >>> from bursty import Mixture
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from sklearn.pipeline import make_pipeline
        >>> texts = ["rain and wind", "wind and rain", "goal and team", "team and goal"]
        >>> pipeline = make_pipeline(CountVectorizer(), Mixture(2, random_state=0)).fit(texts)
        >>> model = pipeline[-1].set_words(pipeline)
        >>> sorted(sorted(words) for words in model.top_words(2))
        [['goal', 'team'], ['rain', 'wind']]
        """
        check_is_fitted(self)
        if isinstance(words, Pipeline) and words[-1] is self:
            words = words[:-1]
        if isinstance(words, BaseEstimator) or hasattr(words, "get_feature_names_out"):
            try:
                words = words.get_feature_names_out()
            except AttributeError as error:
                kind = type(words).__name__
                raise ValueError(
                    f"{kind} has no names of columns; hashing, for one, does not keep the words"
                ) from error
        self.feature_names_in_ = check_names(words, self.n_features_in_)
        return self

    def _repr_html_inner(self) -> str:
        """For notebooks: scikit-learn's diagram and the results."""
        shown: str = super()._repr_html_inner()
        return shown + self._summary_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._summary_html()
        return bundle

    def _summary_html(self) -> str:
        """What notebooks show of the fit."""
        return ""

    def fitted_on(self, X: Any) -> bool | None:
        """Whether these are the documents of the last fit; None if that is not known."""
        known: str | None = getattr(self, "_fitted_on", None)
        return None if known is None else self._place(X).fingerprint == known

    def _perplexity(self, documents: Documents, log_prob: Array) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)``."""
        if documents.n_tokens == 0:
            raise ValueError("perplexity is per word, and these documents have no words")
        n_impossible = int(np.count_nonzero(np.isneginf(log_prob)))
        if n_impossible:
            verb = "has" if n_impossible == 1 else "have"
            warnings.warn(
                f"{n_impossible:,} of {counted(len(log_prob), 'document')} {verb} probability 0 (words not seen during "
                f"fitting); fit {type(self).__name__} with smoothing, e.g. smoothing=0.01",
                UserWarning,
                stacklevel=3,
            )
        return float(np.exp(-np.sum(log_prob) / documents.n_tokens))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._signed()
        tags.input_tags.categorical = self._integer()
        return tags


def check_choice(name: str, value: Any, choices: Iterable[Any], otherwise: str = "") -> None:
    """Raise unless ``value`` is one of the choices, names or None; ``otherwise`` says what else is allowed."""
    choices = tuple(choices)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(map(repr, choices)) + (f" or {otherwise}" if otherwise else "")
        raise ValueError(f"{name} must be one of {listed}, not {value!r}")


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise unless ``value`` is an integer of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        kind = {0: "a non-negative integer", 1: "a positive integer"}.get(least, f"an integer of at least {least}")
        raise ValueError(f"{name} must be {kind}, not {value!r}")


def check_number(name: str, value: Any, *, positive: bool = False) -> None:
    """Raise unless ``value`` is a finite, non-negative (or positive) number."""
    refuse_array(name, value)
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (positive and value == 0):
        raise ValueError(f"{name} must be a finite {'positive' if positive else 'non-negative'} number, not {value!r}")
    check_range(name, value)


def refuse_array(name: str, value: Any) -> None:
    """Raise if there is a value for each word where one number is needed."""
    if isinstance(value, np.ndarray | list | tuple) and np.ndim(value):
        who = "" if name != "smoothing" else "; families.Multinomial, DCM and EDCM take one number per word"
        raise ValueError(f"{name} must be one number, not an array of shape {np.shape(value)}{who}")


def check_per_word(name: str, value: Any, n_words: int) -> Array:
    """One finite, non-negative number per word, as a column."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or numbers.shape != (n_words,):
        raise ValueError(
            f"{name} must be a number, or one number for each of the {counted(n_words, 'word')}, not an array of "
            f"{numbers.dtype} and shape {numbers.shape}"
        )
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if np.any(bad):
        raise ValueError(
            f"{name} must be finite and non-negative, but that of word {np.argmax(bad)} is {numbers[bad][0]}"
        )
    check_range(name, numbers)
    return numbers.astype(np.float64)[:, None]


def check_range(name: str, values: Any) -> None:
    """Raise if a non-zero number is so small or large that sums and products leave the floating-point range."""
    numbers = np.abs(np.asarray(values, dtype=np.float64))
    outside = (numbers > 0) & ((numbers < SMALLEST) | (numbers > LARGEST))
    if np.any(outside):
        found = float(np.atleast_1d(numbers)[np.atleast_1d(outside)][0])
        raise ValueError(f"{name} must be between {SMALLEST:g} and {LARGEST:g}, not {found:g}")


def check_lengths(lengths: Any) -> Array:
    """Check the lengths of documents to draw, and return them as an array."""
    sizes = np.atleast_1d(np.asarray(lengths))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf" or np.any(sizes < 0) or np.any(sizes != np.rint(sizes)):
        raise ValueError("lengths must be non-negative integers, one per document")
    return sizes.astype(np.int64)


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from None, a seed, a generator or scikit-learn's RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    return np.random.default_rng(random_state)
