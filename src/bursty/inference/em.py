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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bursty.engines import Chunk, Column, Documents, Resp, with_trace
from bursty.families.base import Family, Parameters, Statistics
from bursty.inference.checkpoint import Keeper
from bursty.kernels.posterior import posterior

Array = np.ndarray[Any, Any]

FLOOR = 1e-6


@dataclass(frozen=True)
class Expectation(Statistics):
    """What an E step gives: statistics, responsibility of each component, sum of the log-evidence."""

    stats: Statistics
    resp: Array
    log_evidence: float


@dataclass(frozen=True)
class State:
    """Where EM stands: all that the next step needs."""

    params: Parameters
    weights: Array


@dataclass
class Trace:
    """What happened, one entry an iteration."""

    phase: list[int] = field(default_factory=list)
    temperature: list[float] = field(default_factory=list)
    iteration: list[int] = field(default_factory=list)
    log_likelihood: list[float] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)

    def add(self, phase: int, temperature: float, iteration: int, log_likelihood: float, weights: Array) -> None:
        """Record an iteration."""
        self.phase.append(phase)
        self.temperature.append(temperature)
        self.iteration.append(iteration)
        self.log_likelihood.append(log_likelihood)
        self.weights.append(weights)

    def arrays(self) -> dict[str, Array]:
        """The same as arrays."""
        return {name: np.asarray(values) for name, values in vars(self).items()}


@dataclass(frozen=True)
class Schedule:
    """Temperatures, and when to stop at each."""

    temperatures: Sequence[float] = (25.0, 5.0, 1.0)
    max_iter: int = 100
    tol: float = 1e-5

    @classmethod
    def checked(cls, temperatures: Any, max_iter: int, tol: Any) -> Schedule:
        """From what a user gave, refused where it makes no sense."""
        values = np.atleast_1d(np.asarray(temperatures, dtype=np.float64))
        if values.ndim != 1 or len(values) == 0 or not np.all(values > 0):
            raise ValueError(f"temperatures must be positive numbers, such as (25, 5, 1), not {temperatures!r}")
        if not isinstance(tol, int | float | np.number) or not tol >= 0:
            raise ValueError(f"tol must be a number, zero or more, or None, not {tol!r}")
        return cls(tuple(values.tolist()), int(max_iter), float(tol))


def responsibilities(
    chunk: Chunk, labels: Array | None, family: Family[Any, Any], state: State, temperature: float = 1.0
) -> tuple[Array, Array]:
    """Posterior of each component (D x K) and log-evidence of each document.

    A document with a label (0 or more) belongs to that component for certain; its evidence is that component's.
    """
    with np.errstate(divide="ignore"):
        log_weights = np.log(state.weights)
    log_prob = family.log_prob(chunk, state.params)
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
    chunk: Chunk, labels: Array | None, family: Family[Any, Any], state: State, temperature: float
) -> Expectation:
    """E step on a chunk, and the statistics that the M step needs of it."""
    state = replace(state, params=state.params.rounded)
    resp, log_evidence = responsibilities(chunk, labels, family, state, temperature)
    finite = np.where(np.isfinite(log_evidence), log_evidence, 0.0)
    weights = chunk.total(resp)
    return Expectation(family.summarize(chunk, with_trace(resp, FLOOR)), weights, float(finite.sum()))


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

    def statistics(self, resp: Resp) -> Any:
        """Statistics of all documents under given responsibilities."""
        return self.documents.sum(self.family.summarize, self.documents.split(resp))

    def expectation(self, state: State, temperature: float = 1.0) -> Expectation:
        """E step over all chunks."""
        return self.documents.sum(expect, self.labels, family=self.family, state=state, temperature=temperature)


@dataclass
class Run:
    """A run of EM: where it stands and how it came there. It can be stopped after any step and go on later."""

    state: State
    trace: Trace = field(default_factory=Trace)
    phase: int = 0
    iteration: int = 0
    previous: float = -np.inf
    converged: bool = True

    def step(self, problem: Problem, schedule: Schedule) -> None:
        """One iteration, and on to the next temperature where this one is done."""
        temperature = schedule.temperatures[self.phase]
        expectation = problem.expectation(self.state, temperature)
        log_likelihood = expectation.log_evidence / float(expectation.resp.sum())
        self.trace.add(self.phase, temperature, self.iteration, log_likelihood, self.state.weights)
        self.state.params.forget()  # its logarithms are as large as the parameters
        self.state = problem.documents.here(maximise, problem.family, expectation, self.state.params)
        settled = abs(log_likelihood - self.previous) <= schedule.tol * abs(log_likelihood)
        self.previous, self.iteration = log_likelihood, self.iteration + 1
        if settled or self.iteration == schedule.max_iter:
            self.converged &= bool(settled)
            self.phase, self.iteration, self.previous = self.phase + 1, 0, -np.inf


def anneal(
    problem: Problem, run: Run, schedule: Schedule, on_iteration: Callable[[Run], None] = lambda run: None
) -> Run:
    """Run EM through the temperatures, from where the run stands to the end."""
    while run.phase < len(schedule.temperatures):
        run.step(problem, schedule)
        on_iteration(run)
    return run


def best_of(
    problem: Problem,
    start: Callable[[np.random.Generator], State],
    n_runs: int,
    rng: np.random.Generator,
    schedule: Schedule,
    on_iteration: Callable[[Run], None],
    keeper: Keeper,
) -> Run:
    """The run of greatest likelihood among so many starts, or what is left of them after an interruption."""
    kept = keeper.resume() or {"begun": 0, "best": None, "run": None, "rng": rng}
    begun, best, run, rng = kept["begun"], kept["best"], kept["run"], kept["rng"]

    def after(run: Run) -> None:
        on_iteration(run)
        keeper.keep(lambda: {"begun": begun, "best": best, "run": run, "rng": rng})

    while run is not None or begun < n_runs:
        if run is None:
            begun, run = begun + 1, Run(start(rng))
        run = anneal(problem, run, schedule, after)
        if best is None or run.trace.log_likelihood[-1] > best.trace.log_likelihood[-1]:
            best = run
        run = None
    keeper.done()
    assert best is not None
    return best
