"""What every family has: four functions over K components at once, what others need to know of it, a scikit-learn face.

A `Family` is the mathematics. What it learns from documents are statistics that add; `update` turns them into the
parameters of greatest weighted likelihood. A mixture, a classifier and a stream of chunks use these functions and what
the family declares, and never ask for its name.

A `FamilyEstimator` is the public face: one component, fitted to a whole corpus. Defining one registers its family under
its name (`FAMILIES`), wherever it is defined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, get_args, get_origin

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Assignment, Chunk, Levels, Resp
from bursty.estimator import CountEstimator, check_lengths, check_number, generator
from bursty.kernels import gather, threads
from bursty.storage.schema import Mismatch, floats, part, storable
from bursty.validation import check_weights, warn_empty

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Statistics:
    """Sums over documents: two of them add field by field, and a factor forgets."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, factor: float) -> Self:
        return type(self)(*(getattr(self, f.name) * factor for f in fields(self)))

    def reordered(self, order: Array) -> Self:
        """The same with the components in this order."""
        return type(self)(*(_reordered(getattr(self, f.name), order) for f in fields(self)))

    def shrunk(self, amount: float | Array) -> Self:
        """Each component's statistics plus so much (one number, or one for each) of the sum over all components."""
        return type(self)(*(_shrunk(getattr(self, f.name), amount) for f in fields(self)))


def _reordered(values: Any, order: Array) -> Any:
    if isinstance(values, Statistics):
        return values.reordered(order)
    if isinstance(values, Levels):
        return replace(values, weights=values.weights[:, order])
    return values[..., order] if isinstance(values, np.ndarray) else values


def _shrunk(values: Any, amount: float | Array) -> Any:
    if isinstance(values, Levels):
        return replace(values, weights=_shrunk(values.weights, amount))
    return values + amount * values.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Parameters:
    """Parameters of K components: arrays whose last axis is the component."""

    #: What logarithms are kept in (no field: not a parameter).
    log_type = np.float64
    #: The least that a parameter may be.
    low: ClassVar[float | None] = 0.0

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.table.shape[-1])

    @property
    def symbol(self) -> str:
        """What the parameters of the words are called."""
        return fields(self)[0].name

    @property
    def table(self) -> Array:
        """The parameters of the words: W x K."""
        return getattr(self, self.symbol)

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

    def reordered(self, order: Array) -> Self:
        """The same with the components in this order."""
        return type(self)(*(np.ascontiguousarray(getattr(self, f.name)[..., order]) for f in fields(self)))

    def component(self, k: int) -> Self:
        """Component k alone."""
        return type(self)(*(getattr(self, f.name)[..., k : k + 1] for f in fields(self)))


def _log(table: Array, out: Array) -> None:
    np.log(table.astype(out.dtype, copy=False), out=out)


S = TypeVar("S", bound=Statistics)
P = TypeVar("P", bound=Parameters)


class Family(ABC, Generic[S, P]):
    """How one component makes a document.

    A subclass names its statistics and parameters in its bases: ``class DCMFamily(Family[DCMStatistics,
    DCMParameters])``. The four abstract functions are the mathematics; the rest is what others ask.
    """

    #: What users call it in parameters, such as ``family="dcm"``.
    name: ClassVar[str]
    #: What readers call it.
    title: ClassVar[str]
    #: The paper to cite.
    citation: ClassVar[str | None] = None
    #: Whether the Laplace evidence of its mixtures under a gamma prior is known (`bursty.families.gamma`).
    has_evidence: ClassVar[bool] = False
    #: Whether only whole counts make sense; the others take any non-negative numbers.
    integer: ClassVar[bool] = True
    #: Whether negative numbers make sense too, as in embeddings.
    signed: ClassVar[bool] = False
    #: Whether it is a probability of words; a density has no perplexity.
    has_perplexity: ClassVar[bool] = True
    #: Whether probabilities sum to one; otherwise `normalised` gives the family that does.
    is_normalised: ClassVar[bool] = True
    #: Whether `update` does anything with ``smoothing``.
    smooths: ClassVar[bool] = True
    #: Whether parameters are one table, whose shares are word probabilities that can be mixed with another's.
    can_shrink: ClassVar[bool] = False
    #: Whether the log-probability is linear in the counts, so that log-parameters are weights of the words.
    is_linear: ClassVar[bool] = False
    #: Whether the evidence of repeats depends on s, not on the shares of the words alone.
    repeats_weigh: ClassVar[bool] = False
    #: What of a word's count is a draw from a distribution with a Dirichlet prior: each token, or each table of a
    #: Chinese restaurant; None where there is no such distribution.
    draws: ClassVar[Literal["tokens", "tables"] | None] = None

    #: What `update` assumes of s beforehand; None is maximum likelihood. See `with_prior`.
    prior: Any = None

    statistics_type: ClassVar[type[Statistics]]
    parameters_type: ClassVar[type[Parameters]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in vars(cls).get("__orig_bases__", ()):
            if get_origin(base) is Family:
                cls.statistics_type, cls.parameters_type = get_args(base)

    @property
    def has_s(self) -> bool:
        """Whether there is an s that tells how bursty a component is."""
        return hasattr(self.parameters_type, "s")

    @property
    def is_per_word(self) -> bool:
        """Whether the log-probability is a sum over the words present and a term of the length: see `word_evidence`."""
        return type(self).word_evidence is not Family.word_evidence

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
    def sample(self, params: P, lengths: Array, rng: np.random.Generator) -> sp.csr_array | Array:
        """Documents of these lengths, from the first component."""

    def from_weights(self, weights: Array) -> P:
        """Parameters whose words have these weights, W x K."""
        if len(fields(self.parameters_type)) > 1:
            raise ValueError(f"{self.title} has other parameters besides the weights of the words")
        return self.parameters_type(weights)  # type: ignore[call-arg, return-value]  # the table is its one field

    # Where components share what they cannot learn well alone: see `bursty.families.shared`.

    @property
    def can_share(self) -> bool:
        """Whether `effective_counts` says what components have drawn, so that they can lean towards the corpus."""
        return type(self).effective_counts is not Family.effective_counts

    def effective_counts(self, stats: S, params: P) -> Array:
        """How often the words were drawn independently, as far as ``params`` tell: W x K."""
        raise NotImplementedError(f"{self.title} has no independent draws to count")

    def with_draws(self, draws: Array, stats: S, corpus: P) -> P:
        """Parameters of components with these effective counts; all else is that of the corpus's one component."""
        sums = draws.sum(axis=0)
        scale = np.divide(corpus.table.sum(axis=0), sums, out=np.zeros_like(sums), where=sums > 0)
        return self.from_weights(draws * scale)

    def with_prior(self, prior: Any) -> Family[S, P]:
        """The family whose `update` assumes this prior of s (see `bursty.families.priors`); without s, itself."""
        return self

    def totals(self, stats: S) -> Array:
        """What the parameters of the words sum to in each component: s, where there is one."""
        return gather.column_sums(self.update(stats).table)

    def perturb(self, params: P, n_components: int, scale: float, rng: np.random.Generator) -> P:
        """Copies of the first component, each with its own log-normal noise of this standard deviation."""
        return self.from_weights(log_normal_copies(params.table, n_components, scale, rng))

    def normalised(self) -> Family[S, P]:
        """The family whose probabilities sum to one."""
        return self

    # Where the log-probability is a sum over words: what classifiers weigh, and explain.

    def word_evidence(self, chunk: Chunk, table: Array, trust: Array | None = None) -> Array:
        """The sum over the words of each document, without the term of its length: documents x components.

        ``table`` holds the parameters of the words of the chunk, and may be used up; ``trust`` is how much each word is
        believed, 1 if None.
        """
        raise NotImplementedError(f"the log-probability of {self.title} is not a sum over words")

    def add_length_term(self, chunk: Chunk, params: P, log_prob: Array, constants: Array | None = None) -> None:
        """Add to `word_evidence` what depends on the lengths of the documents, and a number of each document's own."""

    def constants(self, chunk: Chunk) -> Array:
        """What all components add to the log-probability of each document."""
        return np.zeros(chunk.n_documents)


#: The public classes by the names of their families.
FAMILIES: dict[str, type[FamilyEstimator]] = {}


class FamilyEstimator(CountEstimator):
    """One component of a family, fitted to a corpus."""

    _family: ClassVar[Family[Any, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_family" in vars(cls):
            _register(cls)

    def __init__(self, *, smoothing: float = 0.0, engine: str = "local", n_jobs: int | None = None) -> None:
        self.smoothing = smoothing
        self.engine = engine
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit by (weighted) maximum likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : ignored
        sample_weight : array-like of shape (n_documents,), optional
            Number of times each document counts; need not be whole.
        """
        check_number("smoothing", self.smoothing)
        documents = self._place(X, reset=True)
        resp = Assignment.single(check_weights(sample_weight, documents.n_documents))
        if documents.sum(_weight_of_words, documents.split(resp.weights)) == 0:
            raise ValueError(f"every document is empty: {type(self).__name__} has nothing to learn from")
        warn_empty(documents.n_empty)
        family = self._own_family()
        stats = documents.sum(family.summarize, documents.split(resp))
        self._set_parameters(documents.run_locally(family.update, stats, smoothing=self.smoothing))
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
        return self._log_prob(X, self._own_family().log_prob, coefficient)

    def perplexity(self, X: Any, *, coefficient: bool = False) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)``: the uncertainty about each word, in words. Lower is better."""
        check_perplexity(self._family, type(self).__name__)
        documents = self._place(X)
        return self._perplexity(documents, self.log_prob(documents, coefficient=coefficient))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-probability of a document. Higher is better."""
        return float(np.mean(self.log_prob(X)))

    def sample(self, lengths: Any, random_state: Any = None) -> sp.csr_array | Array:
        """Draw one document of each of these lengths."""
        check_is_fitted(self)
        return self._own_family().sample(self._parameters, check_lengths(lengths), generator(random_state))

    def _own_family(self) -> Family[Any, Any]:
        """The family with the options of this estimator, where it has any."""
        return self._family

    def _set_parameters(self, params: Parameters) -> None:
        """Keep the parameters and set the public attributes: each of them with an underscore, and ``s_``."""
        self._parameters = params
        for name in [field.name for field in fields(params)] + ["s"] * self._family.has_s:
            values = getattr(params, name)[..., 0]
            setattr(self, f"{name}_", values if np.ndim(values) else float(values))

    def _log_prob(self, X: Any, log_prob: Callable[[Chunk, Any], Array], coefficient: bool = False) -> Array:
        documents = self._place(X)
        result = documents.collect(_first_component, log_prob=log_prob, params=self._parameters)
        return result + documents.collect(log_coefficient) if coefficient else result

    def _integer(self, X: Any = None) -> bool:
        return self._family.integer

    def _signed(self) -> bool:
        return self._family.signed


def _register(estimator: type[FamilyEstimator]) -> None:
    """Make a family known by its name; a class that is defined again replaces itself."""
    family, known = estimator._family, FAMILIES.get(estimator._family.name)
    if known is not None and (known.__module__, known.__qualname__) != (estimator.__module__, estimator.__qualname__):
        raise ValueError(f"the family name {family.name!r} is that of {known.__qualname__}: choose another")
    if not hasattr(family, "parameters_type"):
        raise TypeError(f"{type(family).__name__} must name its classes: Family[its statistics, its parameters]")
    FAMILIES[family.name] = estimator
    storable(estimator.__name__, _parameters=part(family.parameters_type, K=1))(estimator)
    storable(family.statistics_type.__name__, check=_check_columns)(family.statistics_type)
    storable(family.parameters_type.__name__, check=_check_columns)(family.parameters_type)


def _check_columns(value: Statistics | Parameters, sizes: dict[str, int]) -> None:
    """The component is the last axis of every field: of tables of the words, of levels, of one number each."""
    low = value.low if isinstance(value, Parameters) else 0.0
    for field in fields(value):
        item, where = getattr(value, field.name), f"{type(value).__name__}.{field.name}"
        if isinstance(item, np.ndarray):
            rule = floats("n_words", "K", low=low) if item.ndim != 1 else floats("K", low=low)
            rule(item, sizes, where)
        else:
            _agree_on_columns(item, sizes, where)
    if isinstance(value, Parameters) and value.table.ndim != 2:
        raise Mismatch(f"{type(value).__name__}.{value.symbol} is not a table of the words")


def _agree_on_columns(item: Any, sizes: dict[str, int], where: str) -> None:
    """Levels, or sums as a classifier keeps them, which have as many columns as the rest."""
    columns = item.weights.shape[1] if isinstance(item, Levels) else len(item.columns)
    if sizes.setdefault("K", columns) != columns:
        raise Mismatch(f"{where} has {columns} columns where {sizes['K']} belong")


def get_family(family: Any) -> Family[Any, Any]:
    """The family of that name, or of a family estimator such as ``DCM()``."""
    if isinstance(family, FamilyEstimator):
        return family._own_family()
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]()._own_family()
    raise ValueError(f"family must be one of {', '.join(map(repr, FAMILIES))} or a family estimator, not {family!r}")


def family_of(model: Any) -> Family[Any, Any] | None:
    """The family of a model that has one: ``family_``, what it settled on, where ``family`` left that open."""
    family = getattr(model, "family_", getattr(model, "family", None))
    return None if family is None else get_family(family)


def check_perplexity(family: Family[Any, Any], what: str) -> None:
    """Refuse what is not a probability of words."""
    if not family.has_perplexity:
        raise ValueError(
            f"{what} has no perplexity: {family.title} is a density, not a probability of words; compare log_prob "
            f"between {family.title} models, or perplexity between other families"
        )


def weighted_logs(table: Array, trust: Array | None) -> Array:
    """Logarithms in the place of the table, times the trust in each word.

    A word that is not trusted at all says nothing, even where it cannot occur.
    """
    threads.apply(np.log, table, out=table)
    if trust is not None:
        with np.errstate(invalid="ignore"):
            table *= trust[:, None]
        table[trust == 0.0] = 0.0
    return table


def log_normal_copies(values: Array, n_copies: int, scale: float, rng: np.random.Generator) -> Array:
    """Copies of the first column, each entry times its own log-normal noise."""
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
