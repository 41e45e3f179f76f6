"""Expectation-maximization for mixtures of any family, with deterministic annealing.

    E step   r_dk in proportion to mu_k p(x_d | k)^(1/T)           [Elkan2006] eq. 7
    M step   mu_k = sum_d r_dk / D,   parameters = update(sum_d statistics of d, weighted by r_dk)

The temperature T divides the log-likelihood only, not the mixing weights. A phase runs EM at one temperature until the
mean log-evidence changes by less than ``tol`` in relative terms; the next phase starts where it ended.

Every component also gets a trace (`FLOOR`) of every document, so that a word absent from a component keeps a tiny
parameter and no document is stranded.

| symbol | name | shape |
|---|---|---|
| r | responsibilities, ``resp`` | D x K, one chunk at a time |
| mu | mixing weights | K |
| T | temperature | |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bursty.engines import Chunk, Column, Documents, Resp, weighted, with_trace
from bursty.families.base import Family, Parameters, Statistics
from bursty.inference.runs import Trace
from bursty.inference.stopping import RelativeChange, Rule
from bursty.kernels.posterior import posterior
from bursty.storage.schema import floats, number, part, storable, whole

Array = np.ndarray[Any, Any]

FLOOR = 1e-6


@storable("Expectation", resp=floats("K", low=0), stats=part(Statistics, K="K"), log_evidence=number())
@dataclass(frozen=True)
class Expectation(Statistics):
    """What an E step gives: statistics, responsibility of each component, sum of the log-evidence."""

    stats: Statistics
    resp: Array
    log_evidence: float


@storable("State", weights=floats("K", low=0, sums=0), params=part(Parameters, K="K"))
@dataclass(frozen=True)
class State:
    """Where EM stands: all that the next step needs."""

    params: Parameters
    weights: Array


@dataclass(frozen=True)
class Schedule:
    """Temperatures, and when to stop at each."""

    temperatures: Sequence[float]
    max_iter: int
    rule: Rule

    @classmethod
    def checked(cls, temperatures: Any, max_iter: int, tol: Any) -> Schedule:
        """From what a user gave, refused where it makes no sense."""
        values = np.atleast_1d(np.asarray(temperatures, dtype=np.float64))
        if values.ndim != 1 or len(values) == 0 or not np.all(values > 0):
            raise ValueError(f"temperatures must be positive numbers, such as (25, 5, 1), not {temperatures!r}")
        if not isinstance(tol, int | float | np.number) or not tol >= 0:
            raise ValueError(f"tol must be a number, zero or more, or None, not {tol!r}")
        return cls(tuple(values.tolist()), int(max_iter), RelativeChange(float(tol)))


def responsibilities(
    chunk: Chunk, labels: Array | None, family: Family[Any, Any], state: State, temperature: float = 1.0
) -> tuple[Array, Array]:
    """Posterior of each component (D x K) and log-evidence of each document.

    A document with a label (0 or more) belongs to that component for certain; its evidence is that component's.
    """
    with np.errstate(divide="ignore"):
        log_weights = np.log(state.weights)
    log_prob = family.log_prob(chunk, state.params)
    return _share_out(log_prob, labels, log_weights, temperature)


def _share_out(log_prob: Array, labels: Array | None, log_weights: Array, temperature: float) -> tuple[Array, Array]:
    """Bayes' rule; ``log_prob`` becomes the posterior."""
    if labels is None or not np.any(labels >= 0):
        return posterior(log_prob, log_weights, temperature)
    known = np.flatnonzero(labels >= 0)
    own = log_prob[known, labels[known]] / temperature + log_weights[labels[known]]
    resp, log_evidence = posterior(log_prob, log_weights, temperature)
    resp[known] = 0.0
    resp[known, labels[known]] = 1.0
    log_evidence[known] = own
    return resp, log_evidence


def expect(
    chunk: Chunk,
    labels: Array | None,
    sample_weight: Array | None,
    family: Family[Any, Any],
    state: State,
    temperature: float,
) -> Expectation:
    """E step on a chunk, and the statistics that the M step needs of it."""
    state = replace(state, params=state.params.rounded)
    resp, log_evidence = responsibilities(chunk, labels, family, state, temperature)
    finite = np.where(np.isfinite(log_evidence), log_evidence, 0.0)
    weights = chunk.total(weighted(resp, sample_weight))
    stats = family.summarize(chunk, weighted(with_trace(resp, FLOOR), sample_weight))
    return Expectation(stats, weights, float(weighted(finite, sample_weight).sum()))


def label(chunk: Chunk, labels: Array | None, family: Family[Any, Any], state: State) -> tuple[Array, ...]:
    """The component of each document, its posterior, the log-evidence, and how far it is ahead of the next best.

    The last is in log-likelihood, without the mixing weights.
    """
    with np.errstate(divide="ignore"):
        log_weights = np.log(state.weights)
    log_prob = family.log_prob(chunk, state.params)
    resp, log_evidence = _share_out(log_prob.copy(), labels, log_weights, 1.0)
    found = resp.argmax(axis=1)
    return found, resp.max(axis=1), log_evidence, lead(log_prob, found)


def lead(log_prob: Array, labels: Array) -> Array:
    """Log-probability of each document under its component less that under the best other (0 where there is none)."""
    rows = np.arange(len(labels))
    own = log_prob[rows, labels]
    if log_prob.shape[1] == 1:
        return own
    others = log_prob.copy()
    others[rows, labels] = -np.inf
    with np.errstate(invalid="ignore"):  # impossible under all components
        return np.nan_to_num(own - others.max(axis=1), nan=0.0, posinf=np.inf, neginf=-np.inf)


def maximise(family: Family[Any, Any], expectation: Expectation, start: Parameters | None = None) -> State:
    """M step."""
    weights = expectation.resp / expectation.resp.sum()
    return State(family.update(expectation.stats, start=start), weights)


def smoothed(family: Family[Any, Any], expectation: Expectation, state: State, smoothing: float) -> State:
    """Components that have taken in this share of their weight from the whole corpus."""
    stats = expectation.stats.shrunk(smoothing * state.weights)
    return State(family.update(stats, smoothing=smoothing), state.weights)


@dataclass(frozen=True)
class Problem:
    """What is to be clustered, the labels that are known (one column of them), and by what."""

    documents: Documents
    family: Family[Any, Any]
    labels: Column
    n_components: int
    perturbation: float
    sample_weight: Array | None = None

    @cached_property
    def weights(self) -> Column:
        """How often each document counts, as a column; None for each chunk where all count once."""
        return self.documents.split(self.sample_weight)

    def statistics(self, resp: Resp) -> Any:
        """Statistics of all documents under given responsibilities."""
        return self.documents.sum(self.family.summarize, self.documents.split(weighted(resp, self.sample_weight)))

    def expectation(self, state: State, temperature: float = 1.0) -> Expectation:
        """E step over all chunks."""
        shared = {"family": self.family, "state": state, "temperature": temperature}
        return self.documents.sum(expect, self.labels, self.weights, **shared)


@dataclass
class Run:
    """A run of EM through the temperatures: where it stands and how it came there."""

    problem: Problem
    schedule: Schedule
    state: State
    trace: Trace = field(default_factory=Trace)
    phase: int = 0
    phase_start: int = 0
    converged: bool = True

    @property
    def done(self) -> bool:
        """Whether it has been through all temperatures."""
        return self.phase == len(self.schedule.temperatures)

    @property
    def score(self) -> float:
        """Mean log-likelihood of a document at the last step."""
        return float(self.trace["log_likelihood"][-1])

    def step(self) -> None:
        """One iteration, and on to the next temperature where this one is done."""
        problem, temperature = self.problem, self.schedule.temperatures[self.phase]
        expectation = problem.expectation(self.state, temperature)
        log_likelihood = expectation.log_evidence / float(expectation.resp.sum())
        self.state.params.forget()  # its logarithms are as large as the parameters
        state = problem.documents.here(maximise, problem.family, expectation, self.state.params)
        place = {"phase": self.phase, "temperature": temperature, "iteration": len(self.trace) - self.phase_start}
        self.trace.add(**place, log_likelihood=log_likelihood, weights=self.state.weights)
        self.state = state
        phase = self.trace.since(self.phase_start)
        settled = self.schedule.rule.settled(phase)
        if settled or len(phase) == self.schedule.max_iter:
            self.converged &= settled
            self.phase, self.phase_start = self.phase + 1, len(self.trace)

    def standing(self) -> dict[str, Any]:
        """All that going on needs."""
        names = "state", "phase", "phase_start", "converged"
        return {"trace": self.trace.since(0).entries, **{name: getattr(self, name) for name in names}}

    @classmethod
    def resumed(cls, problem: Problem, schedule: Schedule, standing: Mapping[str, Any]) -> Run:
        """The run that stood so."""
        sizes = {"n_words": problem.documents.n_words, "K": problem.n_components}
        part(State, K="K")(standing["state"], sizes, "state")
        trace = Trace.checked(standing["trace"])
        whole(high=len(schedule.temperatures))(standing["phase"], sizes, "phase")
        whole(high=len(trace))(standing["phase_start"], sizes, "phase_start")
        return cls(problem, schedule, **{**standing, "trace": trace})
