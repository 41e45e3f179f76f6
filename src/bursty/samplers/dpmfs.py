"""DPMFS: an unknown number of clusters of documents, and the few words that discriminate between them.

A binary gamma_j chooses the discriminative words. In each document, the tokens of the chosen words come from the
distribution of its cluster, and all others from a distribution that the whole corpus shares ([Yu2010] section 4.3):

    gamma_j ~ Bernoulli(omega)     p ~ Dirichlet(alpha/N, ..., alpha/N)     z_i ~ p
    eta_k ~ Dirichlet(lambda_j: gamma_j = 1)     chosen words of document i ~ Multinomial(eta_{z_i})
    eta_0 ~ Dirichlet(lambda_j: gamma_j = 0)     all other words            ~ Multinomial(eta_0)

There are N components, or an unbounded number (a Dirichlet process). With eta and p integrated out, the joint
probability of documents, gamma and z is [Yu2010] eq. 11 times the priors; `log_joint` computes it. The division of a
document's tokens into chosen and other words is uniform, which is the factor T_i of eq. 11.

The bursty variant replaces each multinomial by a DCM, with one concentration s that the two sides share;
`bursty.kernels.dpmfs_bursts` explains how the same formulas apply to t instead of x.

The caller leaves out words that no document has: all sizes here refer to words that occur.

| symbol | name | shape |
|---|---|---|
| x | `DPMFSData.counts`, cells in the order of documents | cells |
| z | `State.labels` | D |
| gamma | `State.chosen` | W |
| t | `State.tables`: x itself, except in the bursty variant | cells |
| lambda | `DPMFSData.lam` times `State.scale`, and times `State.own` where each word has a factor of its own | W |
| omega | `State.omega` | |
| s | `State.burst`: its shares for the chosen words and for the others | 2 |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from bursty.kernels import dpmfs_bursts, dpmfs_labels, dpmfs_words, order, random, select, streams
from bursty.samplers.dpmfs_units import LinkedDocuments
from bursty.storage.schema import floats, index, integers, maybe, number, storable
from bursty.typing import Array

# A DCM over all words splits into one DCM per side, whose concentration is the share of s of that side. The shares are
# fixed at what chosen words usually have: if both were learned, words would be chosen by how bursty they are.
BURST_SHARES = np.array([1.0, 5.0]) / 6.0
# Prior mean of log s; the prior is wide enough for any corpus.
LOG_BURST = math.log(100.0)


@dataclass(frozen=True)
class DPMFSData:
    """What a chain is given and never changes.

    ``most`` is N, or None if the number of components is unbounded. ``held`` marks documents whose label is known.
    ``omega`` is where chains start, and stays there unless ``omega_prior`` has the parameters of a beta prior.
    ``together`` has the number of each document's unit, if some share one, and ``apart`` pairs of units that share no
    cluster.
    """

    indptr: Array
    words: Array
    counts: Array
    lam: Array
    omega: float
    most: int | None
    held: Array
    bursty: bool = False
    alpha_mean: float = 1.0
    learn_alpha: bool = False
    lam_prior: str | None = None
    omega_prior: tuple[float, float] | None = None
    together: Array | None = None
    apart: Array | None = None

    @property
    def n_documents(self) -> int:
        """D."""
        return len(self.indptr) - 1

    @property
    def n_words(self) -> int:
        """W."""
        return len(self.lam)

    @property
    def limit(self) -> int:
        """Upper bound on the number of occupied components."""
        return self.n_documents if self.most is None else min(self.most, self.n_documents)

    @cached_property
    def lengths(self) -> Array:
        """Number of tokens of each document."""
        sums = np.append(0, np.cumsum(self.counts, dtype=np.int64))
        return sums[self.indptr[1:]] - sums[self.indptr[:-1]]

    @cached_property
    def units(self) -> LinkedDocuments:
        """What moves between clusters: documents, or several as one."""
        return LinkedDocuments.of(self.indptr, self.words, self.held, self.together, self.apart)

    @cached_property
    def columns(self) -> tuple[Array, Array, Array]:
        """The cells in the order of words: index of the first cell of each word, documents, positions in ``counts``."""
        numbers = np.arange(len(self.words), dtype=np.int32)
        return order.transpose(self.indptr, self.words, numbers, self.n_words)

    @cached_property
    def counts_by_word(self) -> Array:
        """``counts`` in the order of words."""
        return self.counts[self.columns[2]]

    @cached_property
    def log_factorial(self) -> Array:
        """log n! up to the longest document."""
        return gammaln(np.arange(int(self.lengths.max()) + 1) + 1.0)

    @cached_property
    def log_orders(self) -> float:
        """Sum of log x! over the cells."""
        return float(gammaln(self.counts + 1.0).sum())

    @cached_property
    def stirling(self) -> tuple[Array, Array, Array]:
        """log |S1(x, t)| for the counts that occur: the counts, the index of the first value of each, the values."""
        values = np.unique(self.counts).astype(np.int64)
        first = np.append(0, np.cumsum(values))
        out = np.empty(first[-1])
        dpmfs_bursts.log_stirling(values, first, out)
        return values, first, out


@storable(
    "DPMFSState",
    labels=index("labels", "documents", dtype="int32"),
    chosen=integers("n_words", low=0, high=2, dtype="uint8"),
    tables=integers("cells", low=0, dtype="int32"),
    burst=floats(2, above=0),
    alpha=number(above=0),
    scale=number(above=0),
    omega=number(above=0, high=1),
    own=maybe(floats("n_words", above=0)),
)
@dataclass(frozen=True)
class State:
    """State of a chain: everything that the next sweep depends on."""

    labels: Array
    chosen: Array
    tables: Array
    burst: Array
    alpha: float
    scale: float
    omega: float
    own: Array | None = None

    @property
    def sizes(self) -> Array:
        """Number of documents of each label."""
        return np.bincount(self.labels)

    def share(self, problem: DPMFSData) -> float:
        """alpha / N; 0 if the number of components is unbounded."""
        return 0.0 if problem.most is None else self.alpha / problem.most

    def prior(self, problem: DPMFSData, lam: Array) -> dpmfs_labels.LabelPrior:
        """Prior of labels and of components over words with these lambda."""
        return dpmfs_labels.LabelPrior(self.alpha, self.share(problem), problem.limit, lam, float(lam.sum()))

    def lam(self, problem: DPMFSData) -> Array:
        """lambda of each word."""
        return problem.lam * self.scale if self.own is None else problem.lam * self.scale * self.own


@dataclass(frozen=True)
class Info:
    """Diagnostics of a sweep: shares of proposals or documents that changed.

    ``log_odds`` are those with which each word was drawn, None where not all words are.
    """

    words: float
    labels: float
    splits: float = 0.0
    log_odds: Array | None = None


@dataclass
class Sums:
    """Sums that a sweep keeps up to date; all follow from the state."""

    inside: Array
    outside: Array
    totals: Array
    sums: Array
    sizes: Array
    word_totals: Array
    tables_by_word: Array

    @classmethod
    def of(cls, problem: DPMFSData, state: State, n_components: int) -> Sums:
        """Compute the sums, in time proportional to the number of cells."""
        starts, documents, cells = problem.columns
        inside = np.empty(problem.n_documents, dtype=np.int64)
        dpmfs_words.lengths_inside(starts, documents, problem.counts_by_word, state.chosen, inside)
        by_word = state.tables[cells] if problem.bursty else problem.counts_by_word
        per_document = inside
        if problem.bursty:
            per_document = np.empty_like(inside)
            dpmfs_words.lengths_inside(starts, documents, by_word, state.chosen, per_document)
        cumulated = np.append(0, np.cumsum(by_word, dtype=np.int64))
        word_totals = cumulated[starts[1:]] - cumulated[starts[:-1]]
        lam, chosen = state.lam(problem), state.chosen.astype(bool)
        sums = np.array([lam[chosen].sum(), lam[~chosen].sum(), word_totals[~chosen].sum()])
        totals = np.bincount(state.labels, weights=per_document, minlength=n_components)
        sizes = np.bincount(state.labels, minlength=n_components)
        return cls(inside, problem.lengths - inside, totals, sums, sizes, word_totals, by_word)

    def cells(self, problem: DPMFSData) -> dpmfs_words.Cells:
        """The documents word by word."""
        starts, documents, _ = problem.columns
        return dpmfs_words.Cells(starts, documents, problem.counts_by_word, self.tables_by_word, self.word_totals)


def init(problem: DPMFSData, n_components: int, known: Array, seed: int, alpha: float) -> State:
    """Assign every document to a random component, and choose one random word ([Yu2010] section 5).

    ``known`` has the labels of the documents in ``held``.
    """
    draws = np.empty(problem.n_documents + 1)
    random.uniforms(seed, streams.BEGINNING, 0, draws)
    labels = (draws[:-1] * n_components).astype(np.int32)
    chosen = np.zeros(problem.n_words, dtype=np.uint8)
    chosen[int(draws[-1] * problem.n_words)] = 1
    tables = np.ones_like(problem.counts) if problem.bursty else problem.counts
    labels = problem.units.separate(np.where(problem.held.astype(bool), known, labels).astype(np.int32))
    own = np.ones(problem.n_words) if problem.lam_prior == "words" else None
    return State(labels, chosen, tables, math.exp(LOG_BURST) * BURST_SHARES, alpha, 1.0, problem.omega, own)


def flip_words(
    problem: DPMFSData, state: State, sums: Sums, words: Array, draws: Array, *, gibbs: bool
) -> tuple[Array, Array]:
    """Flip the indicators of these words; returns the new gamma and, with ``gibbs``, the log-odds it was drawn with.

    ``sums`` are kept up to date.
    """
    chosen, log_odds = state.chosen.copy(), np.zeros(problem.n_words)
    fresh_odds = math.log(state.burst[0] / state.burst[1]) if problem.bursty else 0.0
    prior = dpmfs_words.WordPrior(state.lam(problem), math.log(state.omega) - math.log1p(-state.omega), fresh_odds)
    lengths = dpmfs_words.Lengths(sums.inside, sums.outside, *length_terms(problem, state.burst))
    clusters = dpmfs_words.ClusterSums(state.labels, sums.sizes, sums.totals, np.zeros(len(sums.sizes)))
    cells = sums.cells(problem)
    dpmfs_words.flip(words, draws, gibbs, cells, prior, lengths, clusters, chosen, sums.sums, log_odds)
    return chosen, log_odds


def length_terms(problem: DPMFSData, burst: Array) -> tuple[Array, Array]:
    """Log factor of n chosen tokens, and of n others: log n!, plus log Gamma(s) / Gamma(s + n) for a DCM."""
    if not problem.bursty:
        return problem.log_factorial, problem.log_factorial
    n = np.arange(len(problem.log_factorial))
    inside, outside = (problem.log_factorial + gammaln(s) - gammaln(s + n) for s in burst)
    return inside, outside


@dataclass(frozen=True)
class Chosen:
    """The units restricted to the chosen words: cells of ``slots`` (index of the chosen word) and ``tables``."""

    indptr: Array
    slots: Array
    tables: Array
    slot: Array
    lam: Array

    @classmethod
    def of(cls, problem: DPMFSData, state: State) -> Chosen:
        """Drop the other words."""
        words = np.flatnonzero(state.chosen)
        slot = np.full(problem.n_words, -1, dtype=np.int32)
        slot[words] = np.arange(len(words), dtype=np.int32)
        rows = problem.units
        indptr, indices = np.empty_like(rows.indptr), np.empty(len(rows.words) + 1, dtype=np.int32)
        tables = np.empty(len(rows.words) + 1, dtype=np.int32)
        summed = rows.tables(state.tables)
        kept = select.keep_known(rows.indptr, rows.words, summed, state.chosen, indptr, indices, tables)
        return cls(indptr, slot[indices[:kept]], tables[:kept], slot, state.lam(problem)[words])

    def documents(self, problem: DPMFSData) -> dpmfs_labels.UnitArrays:
        """The units as kernels receive them."""
        rows = problem.units
        links = rows.mass, rows.held, rows.apart_indptr, rows.apart
        return dpmfs_labels.UnitArrays(self.indptr, self.slots, self.tables, *links)


def log_partition(sizes: Array, alpha: float, most: int | None) -> float:
    """Log-probability of a partition into clusters of these sizes, whatever the numbers of the components."""
    share = 0.0 if most is None else alpha / most
    news = alpha - share * np.arange(len(sizes))
    value = np.sum(np.log(news)) + np.sum(gammaln(sizes + share)) - len(sizes) * gammaln(1.0 + share)
    return float(value + gammaln(alpha) - gammaln(alpha + sizes.sum()))


def log_likelihood(problem: DPMFSData, state: State) -> float:
    """Log-probability of the documents (and t) given gamma and z: [Yu2010] eq. 11."""
    sums = Sums.of(problem, state, int(state.labels.max()) + 1)
    inside_term, outside_term = length_terms(problem, state.burst)
    total = inside_term[sums.inside].sum() + outside_term[sums.outside].sum()
    total -= problem.log_orders
    if problem.bursty:
        values, first, log_stirling = problem.stirling
        where = first[np.searchsorted(values, problem.counts)] + state.tables - 1
        total += log_stirling[where].sum()
        total += sums.totals.sum() * math.log(state.burst[0]) + sums.sums[2] * math.log(state.burst[1])
    return float(total) + log_components(problem, state, sums)


def log_components(problem: DPMFSData, state: State, sums: Sums) -> float:
    """The part of `log_likelihood` that depends on lambda."""
    n_inside = int(np.count_nonzero(state.chosen))
    total = dpmfs_words.log_share(sums.sums[1], sums.sums[2], problem.n_words - n_inside)
    for k in np.flatnonzero(sums.sizes):
        total += dpmfs_words.log_share(sums.sums[0], sums.totals[k], n_inside)
    cells, tally = sums.cells(problem), np.zeros(len(sums.sizes))
    return total + dpmfs_words.log_words(state.chosen, cells, state.labels, state.lam(problem), tally)


def log_joint(problem: DPMFSData, state: State) -> float:
    """Log-probability of documents, gamma and the partition (and t) given omega, alpha, s and the factor of lambda."""
    n_inside = int(np.count_nonzero(state.chosen))
    prior = n_inside * math.log(state.omega) + (problem.n_words - n_inside) * math.log1p(-state.omega)
    sizes = state.sizes[state.sizes > 0]
    return prior + log_partition(sizes, state.alpha, problem.most) + log_likelihood(problem, state)
