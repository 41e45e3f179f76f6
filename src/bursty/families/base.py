"""What every family has: three functions over K components at once, a way to sample, and one scikit-learn face.

A `Family` is the mathematics. What it learns from documents are statistics that add; `update` turns them into the
parameters of greatest weighted likelihood. A mixture, a classifier and a stream of chunks use these functions
and nothing else.

A `FamilyEstimator` is the public face: one component, fitted to a whole corpus.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Assignment, Chunk, Levels, Resp
from bursty.estimator import CountEstimator, check_lengths, check_number, generator
from bursty.kernels import threads
from bursty.validation import check_weights, warn_empty

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Statistics:
    """Sums over documents: two of them add field by field, and a factor forgets."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, factor: float) -> Self:
        return type(self)(*(getattr(self, f.name) * factor for f in fields(self)))

    def shrunk(self, amount: float | Array) -> Self:
        """Each component's statistics plus so much (one number, or one for each) of the sum over all components."""
        return type(self)(*(_shrunk(getattr(self, f.name), amount) for f in fields(self)))


def _shrunk(values: Any, amount: float | Array) -> Any:
    if isinstance(values, Levels):
        return replace(values, weights=_shrunk(values.weights, amount))
    return values + amount * values.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Parameters:
    """Parameters of K components: arrays whose last axis is the component."""

    #: What logarithms are kept in (no field: not a parameter).
    log_type = np.float64

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.table.shape[-1])

    @property
    def table(self) -> Array:
        """The parameters of the words: W x K."""
        return getattr(self, fields(self)[0].name)

    @cached_property
    def log_table(self) -> Array:
        """Logarithms of the table, made once for all chunks; minus infinity where a word cannot occur."""
        out = np.empty(self.table.shape, dtype=self.log_type)
        return threads.apply(_log, self.table, out=out)

    @cached_property
    def rounded(self) -> Self:
        """The same with logarithms of seven digits, which take half the time to read: enough for a step of EM."""
        rounded = replace(self)
        rounded.__dict__["log_type"] = np.float32
        return rounded

    def forget(self) -> None:
        """Let go of what can be made again."""
        for name in ("log_table", "rounded"):
            self.__dict__.pop(name, None)

    def component(self, k: int) -> Self:
        """Component k alone."""
        return type(self)(*(getattr(self, f.name)[..., k : k + 1] for f in fields(self)))


def _log(table: Array, out: Array) -> None:
    np.log(table.astype(out.dtype, copy=False), out=out)


S = TypeVar("S", bound=Statistics)
P = TypeVar("P", bound=Parameters)


class Family(ABC, Generic[S, P]):
    """How one component makes a document."""

    #: What users call it.
    name: ClassVar[str]
    #: Whether only whole counts make sense; the others take any non-negative numbers.
    integer: ClassVar[bool] = True

    @abstractmethod
    def summarize(self, chunk: Chunk, resp: Resp) -> S:
        """Statistics of a chunk, weighted by the responsibilities of each component."""

    @abstractmethod
    def update(self, stats: S, *, smoothing: float = 0.0, start: P | None = None) -> P:
        """Parameters of greatest weighted likelihood, then smoothed; ``start`` is a guess that saves time."""

    @abstractmethod
    def log_prob(self, chunk: Chunk, params: P) -> Array:
        """Log-probability of each document under each component, as one sequence of words: D x K."""

    @abstractmethod
    def perturb(self, params: P, n_components: int, scale: float, rng: np.random.Generator) -> P:
        """Copies of the first component, each with its own log-normal noise of this standard deviation."""

    @abstractmethod
    def sample(self, params: P, lengths: Array, rng: np.random.Generator) -> sp.csr_array | Array:
        """Documents of these lengths, from the first component."""


class FamilyEstimator(CountEstimator):
    """One component of a family, fitted to a corpus."""

    _family: ClassVar[Family[Any, Any]]

    def __init__(self, *, smoothing: float = 0.0, engine: str = "local", n_jobs: int | None = None) -> None:
        self.smoothing = smoothing
        self.engine = engine
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit by (weighted) maximum likelihood.

        Parameters
        ----------
        X : documents x words counts (dense, sparse, frame or Corpus)
        y : ignored
        sample_weight : array of shape (n_documents,), optional, by keyword
            How many times each document counts; need not be whole.

        Notes
        -----
        ``sample_weight`` is not spelled out in the signature because scikit-learn's check of it feeds fractions,
        which are not counts; that weights equal repetition is among our own tests.
        """
        check_number("smoothing", self.smoothing)
        documents = self._place(X, reset=True)
        resp = Assignment.single(check_weights(fit_params, documents.n_documents))
        if documents.sum(_weight_of_words, documents.split(resp.weights)) == 0:
            raise ValueError(f"every document is empty: {type(self).__name__} has nothing to learn from")
        warn_empty(documents.n_empty)
        stats = documents.sum(self._family.summarize, documents.split(resp))
        self._set_parameters(documents.here(self._family.update, stats, smoothing=self.smoothing))
        return self

    def log_prob(self, X: Any, *, coefficient: bool = False) -> Array:
        """Log-probability of each document.

        Parameters
        ----------
        X : documents x words counts
        coefficient : bool, default False
            Without it, the probability of one sequence of words; with it, of the counts: all sequences that
            have them, that is the multinomial coefficient n! / prod_w x_w! times as much.
        """
        return self._log_prob(X, self._family.log_prob, coefficient)

    def perplexity(self, X: Any, *, coefficient: bool = False) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)``: the uncertainty about each word, in words. Lower is better."""
        documents = self._place(X)
        return self._perplexity(documents, self.log_prob(documents, coefficient=coefficient))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-probability of a document. Higher is better."""
        return float(np.mean(self.log_prob(X)))

    def sample(self, lengths: Any, random_state: Any = None) -> sp.csr_array | Array:
        """Draw one document of each of these lengths."""
        check_is_fitted(self)
        return self._family.sample(self._parameters, check_lengths(lengths), generator(random_state))

    def _set_parameters(self, params: Parameters) -> None:
        """Keep the parameters and set the public attributes."""
        self._parameters = params

    def _log_prob(self, X: Any, log_prob: Callable[[Chunk, Any], Array], coefficient: bool = False) -> Array:
        documents = self._place(X)
        result = documents.collect(_first_component, log_prob=log_prob, params=self._parameters)
        return result + documents.collect(log_coefficient) if coefficient else result

    def _integer(self, X: Any = None) -> bool:
        return self._family.integer


def log_normal_copies(values: Array, n_copies: int, scale: float, rng: np.random.Generator) -> Array:
    """The first column, so many times, each entry times its own log-normal noise."""
    copies = rng.standard_normal((len(values), n_copies))
    copies *= scale
    np.exp(copies, out=copies)
    copies *= values[:, :1]
    return copies


def log_coefficient(chunk: Chunk) -> Array:
    """Log of the number of word sequences with these counts, ``n! / prod_w x_w!``, for each document."""
    return gammaln(chunk.lengths + 1.0) - chunk.row_sums(gammaln(chunk.values + 1.0))


def _first_component(chunk: Chunk, log_prob: Callable[[Chunk, Any], Array], params: Any) -> Array:
    return np.ascontiguousarray(log_prob(chunk, params)[:, 0])


def _weight_of_words(chunk: Chunk, weights: Array) -> float:
    """Weight of the documents that have words."""
    return float(weights[np.diff(chunk.indptr) > 0].sum())
