"""Base classes of families: the mathematics of K components at once.

What a `Family` learns from documents are statistics that add; `update` turns them into the parameters that maximise the
weighted likelihood. Mixtures, classifiers and streams use these functions and what the family declares, and never ask
for its name. The public estimators are in `bursty.families.estimator`.
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

from bursty.engines import Chunk, Levels, Resp
from bursty.kernels import gather, threads
from bursty.typing import Array


@dataclass(frozen=True)
class Statistics:
    """Sums over documents, which can be added and multiplied by a number, field by field.

    See Also
    --------
    Family, Parameters

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from bursty.engines import Assignment, Chunk
    >>> from bursty.families import get_family
    >>> chunk = Chunk(sp.csr_array([[3, 0, 1], [0, 4, 0]]))
    >>> stats = get_family("multinomial").summarize(chunk, Assignment.single(np.ones(2)))
    >>> (stats + stats * 0.5).tokens.ravel()
    array([4.5, 6. , 1.5])
    """

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, Statistics):
            return NotImplemented  # statistics on a device know how
        return type(self)(*(gather.added(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))

    def __mul__(self, factor: float) -> Self:
        return type(self)(*(getattr(self, f.name) * factor for f in fields(self)))

    def map_tables(self, function: Callable[[Array], Array]) -> Self:
        """Apply a function to every array; its last axis is the component."""
        return type(self)(*(_map_tables(getattr(self, f.name), function) for f in fields(self)))

    def reordered(self, order: Array) -> Self:
        """The same statistics with the components in this order."""
        return self.map_tables(lambda table: table[..., order])

    def merged(self, into: Array) -> Self:
        """The statistics of fewer components: component k becomes part of component ``into[k]``."""
        return self.map_tables(lambda table: add_columns(table, into))

    def shrunk(self, amount: float | Array) -> Self:
        """Add to each component this multiple (one for all, or one each) of the sum over all components."""
        return self.map_tables(lambda table: table + amount * table.sum(axis=-1, keepdims=True))

    def pooled(self) -> Self:
        """The statistics of all components together, as those of one."""
        return self.map_tables(lambda table: table.sum(axis=-1, keepdims=True))


def _map_tables(values: Any, function: Callable[[Array], Array]) -> Any:
    if isinstance(values, Statistics):
        return values.map_tables(function)
    if isinstance(values, Levels):
        return replace(values, weights=function(values.weights))
    return function(values) if isinstance(values, np.ndarray) else values


def add_columns(table: Array, into: Array) -> Array:
    """Sums of columns (the last axis): column k becomes part of column ``into[k]``."""
    out = np.zeros((*table.shape[:-1], int(into.max()) + 1), dtype=table.dtype)
    for k, column in enumerate(into):
        out[..., column] += table[..., k]
    return out


@dataclass(frozen=True)
class Parameters:
    """Parameters of K components: arrays whose last axis is the component.

    See Also
    --------
    Family, Statistics

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families import get_family
    >>> params = get_family("dcm").from_weights(np.array([[0.5, 1.0], [0.25, 2.0]]))
    >>> params.n_components, params.s
    (2, array([0.75, 3.  ]))
    """

    #: Data type of `log_table` (not annotated, so that it is no field).
    log_type = np.float64
    #: Lower bound of the parameters.
    low: ClassVar[float | None] = 0.0

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.table.shape[-1])

    @property
    def symbol(self) -> str:
        """Name of the parameters of the words."""
        return fields(self)[0].name

    @property
    def table(self) -> Array:
        """The parameters of the words: W x K."""
        return getattr(self, self.symbol)

    @cached_property
    def log_table(self) -> Array:
        """Logarithms of the table, computed once for all chunks; minus infinity where a word cannot occur."""
        out = np.empty(self.table.shape, dtype=self.log_type)
        return threads.apply(_log, self.table, out=out)

    @cached_property
    def rounded(self) -> Self:
        """The same parameters with logarithms in single precision, which is enough for a step of EM and faster."""
        rounded = replace(self)
        rounded.__dict__["log_type"] = np.float32
        return rounded

    def forget(self) -> None:
        """Free the memory of what can be computed again."""
        for name in ("log_table", "rounded"):
            self.__dict__.pop(name, None)

    def reordered(self, order: Array) -> Self:
        """The same parameters with the components in this order."""
        return type(self)(*(np.ascontiguousarray(getattr(self, f.name)[..., order]) for f in fields(self)))

    def component(self, k: int) -> Self:
        """Component k alone."""
        return type(self)(*(getattr(self, f.name)[..., k : k + 1] for f in fields(self)))


def _log(table: Array, out: Array) -> None:
    np.log(table.astype(out.dtype, copy=False), out=out)


S = TypeVar("S", bound=Statistics)
P = TypeVar("P", bound=Parameters)


class Family(ABC, Generic[S, P]):
    """How a component generates a document.

    A subclass names its statistics and parameters in its bases: ``class MyFamily(Family[MyStatistics, MyParameters])``.
    The four abstract methods are the mathematics; everything else declares what other code needs to know.

    See Also
    --------
    FamilyEstimator : The public class of a family.
    Statistics : What a family learns from.
    Parameters : What it learns.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from bursty.engines import Chunk
    >>> from bursty.families import get_family
    >>> family = get_family("multinomial")
    >>> params = family.from_weights(np.array([[3.0, 1.0], [1.0, 1.0]]))
    >>> family.log_prob(Chunk(sp.csr_array([[2, 0]])), params).round(3)
    array([[-0.575, -1.386]])
    """

    #: Its name in parameters, such as ``family="dcm"``.
    name: ClassVar[str]
    #: Its name in text.
    title: ClassVar[str]
    #: The paper to cite.
    citation: ClassVar[str | None] = None
    #: Whether the evidence of its mixtures under a gamma prior can be approximated (`bursty.families.gamma`).
    has_evidence: ClassVar[bool] = False
    #: Whether counts must be integers; otherwise any non-negative numbers are accepted.
    integer: ClassVar[bool] = True
    #: Whether negative numbers are accepted too, as in embeddings.
    signed: ClassVar[bool] = False
    #: Whether it gives probabilities of words; a density has no perplexity.
    has_perplexity: ClassVar[bool] = True
    #: Whether probabilities sum to one; otherwise `normalised` returns the family whose probabilities do.
    is_normalised: ClassVar[bool] = True
    #: Whether `update` uses ``smoothing``.
    smooths: ClassVar[bool] = True
    #: Whether the parameters are one table, whose columns divided by their sums are word probabilities.
    can_shrink: ClassVar[bool] = False
    #: Whether an iteration of EM can run where the sums of a chunk are computed: `log_prob` and `summarize` only add
    #: these up, and `update` without a prior and `with_draws` use nothing but the arithmetic of tables.
    uses_sums: ClassVar[bool] = False
    #: Whether the log-probability is linear in the counts, with the log-parameters as coefficients.
    is_linear: ClassVar[bool] = False
    #: Whether the evidence of repeated words depends on s, too, and not on their proportions alone.
    repeats_weigh: ClassVar[bool] = False
    #: What is drawn from a distribution with a Dirichlet prior: every token, or every table of a Chinese restaurant
    #: process; None if there is no such distribution.
    draws: ClassVar[Literal["tokens", "tables"] | None] = None

    #: Prior that `update` assumes for s; None is maximum likelihood. See `with_prior`.
    prior: Any = None

    statistics_type: ClassVar[type[Statistics]]
    parameters_type: ClassVar[type[Parameters]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in vars(cls).get("__orig_bases__", ()):
            origin, types = get_origin(base), get_args(base)
            if isinstance(origin, type) and issubclass(origin, Family) and all(isinstance(t, type) for t in types):
                cls.statistics_type, cls.parameters_type = types

    @property
    def has_s(self) -> bool:
        """Whether components have an s, which measures how bursty they are."""
        return hasattr(self.parameters_type, "s")

    @property
    def is_per_word(self) -> bool:
        """Whether the log-probability is a sum over the words present plus a term that depends on the length."""
        return type(self).word_evidence is not Family.word_evidence

    @abstractmethod
    def summarize(self, chunk: Chunk, resp: Resp) -> S:
        """Statistics of a chunk, weighted by the responsibilities of the components."""

    @abstractmethod
    def update(self, stats: S, *, smoothing: float = 0.0, start: P | None = None) -> P:
        """Parameters that maximise the weighted likelihood, then smoothed; ``start`` is an initial guess."""

    @abstractmethod
    def log_prob(self, chunk: Chunk, params: P) -> Array:
        """Log-probability of each document, as a sequence of words, under each component: D x K."""

    @abstractmethod
    def sample(self, params: P, lengths: Array, rng: np.random.Generator) -> sp.csr_array | Array:
        """Draw documents of these lengths from the first component."""

    def from_weights(self, weights: Array) -> P:
        """Parameters whose table is this, W x K."""
        if len(fields(self.parameters_type)) > 1:
            raise ValueError(f"{self.title} has other parameters besides those of the words")
        return self.parameters_type(weights)  # type: ignore[call-arg, return-value]  # the table is its one field

    # For components that share what they cannot learn well alone: see `bursty.families.shared`.

    @property
    def can_share(self) -> bool:
        """Whether there are `effective_counts`, so that components can be shrunk towards the corpus."""
        return type(self).effective_counts is not Family.effective_counts

    def effective_counts(self, stats: S, params: P) -> Array:
        """Expected number of independent draws of each word given ``params``: W x K."""
        raise NotImplementedError(f"{self.title} does not count independent draws")

    def with_draws(self, draws: Array, stats: S, corpus: P) -> P:
        """Parameters of components with these effective counts, and otherwise those of the corpus as one component."""
        sums = draws.sum(axis=0)
        scale = np.divide(corpus.table.sum(axis=0), sums, out=np.zeros_like(sums), where=sums > 0)
        return self.from_weights(draws * scale)

    def with_prior(self, prior: Any) -> Family[S, P]:
        """The family whose `update` assumes this prior for s (see `bursty.families.priors`), if there is an s."""
        return self

    def totals(self, stats: S) -> Array:
        """Sum of the parameters over the words, per component: s, if there is one."""
        return gather.column_sums(self.update(stats).table)

    def perturb(self, params: P, n_components: int, scale: float, rng: np.random.Generator) -> P:
        """Copies of the first component, each multiplied by log-normal noise of this standard deviation."""
        return self.from_weights(log_normal_copies(params.table, n_components, scale, rng))

    def normalised(self) -> Family[S, P]:
        """The family whose probabilities sum to one."""
        return self

    # For log-probabilities that are sums over words, which classifiers weight and explain.

    def word_evidence(self, chunk: Chunk, table: Array, trust: Array | None = None) -> Array:
        """Sum over the words of each document, without the length term: documents x components.

        ``table`` has the parameters of the words of the chunk, and may be overwritten; ``trust`` is a weight per word,
        1 if None.
        """
        raise NotImplementedError(f"the log-probability of {self.title} is not a sum over words")

    def add_length_term(self, chunk: Chunk, params: P, log_prob: Array, constants: Array | None = None) -> None:
        """Add to `word_evidence` the terms that depend on the lengths of documents, and a constant per document."""

    def constants(self, chunk: Chunk) -> Array:
        """The term of each document that is the same for all components."""
        return np.zeros(chunk.n_documents)


def weighted_logs(table: Array, trust: Array | None) -> Array:
    """Replace the table by its logarithms, weighted by the trust in each word.

    A word of weight 0 contributes 0, even if it cannot occur.
    """
    threads.apply(np.log, table, out=table)
    if trust is not None:
        with np.errstate(invalid="ignore"):
            table *= trust[:, None]
        table[trust == 0.0] = 0.0
    return table


def log_normal_copies(values: Array, n_copies: int, scale: float, rng: np.random.Generator) -> Array:
    """Copies of the first column, with log-normal noise on every entry."""
    copies = rng.standard_normal((len(values), n_copies))
    copies *= scale
    np.exp(copies, out=copies)
    copies *= values[:, :1]
    return copies


def log_coefficient(chunk: Chunk) -> Array:
    """Log of the number of word sequences with the same counts, ``n! / prod_w x_w!``, for each document."""
    return gammaln(chunk.lengths + 1.0) - chunk.row_sums(gammaln(chunk.values + 1.0))
