"""Expectation-maximization for mixtures of any family, with deterministic annealing.

    E step   r_dk in proportion to mu_k p(x_d | k)^(1/T)           [Elkan2006] eq. 7
    M step   mu_k = sum_d r_dk / D,   parameters = update(sum_d statistics of d, weighted by r_dk)

A phase runs EM at one temperature T until its stopping rule is satisfied; the next phase starts where it ended.
`bursty.inference.posteriors` has the responsibilities.

An annealed run that ends with empty components is restarted at the next lower temperature; the better of the two is
kept.

Every component also gets a trace (`FLOOR`) of every document, so that a word absent from a component keeps a tiny
parameter and no document is stranded.

| symbol | name | shape |
|---|---|---|
| r | responsibilities, ``resp`` | D x K, one chunk at a time |
| mu | mixing weights | K |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bursty.engines import Chunk, Column, Documents, Resp, has_versions, weighted, with_trace
from bursty.families.base import Family, Parameters, Statistics
from bursty.inference.posteriors import MixtureState, responsibilities
from bursty.inference.runs import Trace
from bursty.inference.stopping import Rule
from bursty.kernels import threads
from bursty.kernels.posterior import find_places
from bursty.storage.schema import floats, items, maybe, number, part, storable, whole
from bursty.typing import Array

FLOOR = 1e-6


@storable("Expectation", resp=floats("K", low=0), stats=part(Statistics, K="K"), log_evidence=number())
@dataclass(frozen=True)
class Expectation(Statistics):
    """Result of an E step: statistics, total responsibility of each component, sum of the log-evidence."""

    stats: Statistics
    resp: Array
    log_evidence: float


@dataclass(frozen=True)
class Step(Statistics):
    """Result of an E step with its progress: change of responsibilities, and number of documents of each component."""

    expectation: Expectation
    moved: float
    sizes: Array


class Prior(Protocol):
    """What replaces maximum likelihood in the M step."""

    def update(self, family: Any, stats: Any, start: Any = None, smoothing: float = 0.0) -> Any:
        """Parameters of all components."""


@dataclass(frozen=True)
class Schedule:
    """Temperatures, and the stopping rule of each phase."""

    temperatures: Sequence[float]
    max_iter: int
    rule: Rule
    #: Whether a run that lost components is restarted at a lower temperature.
    restart: bool = False


@has_versions
def expect(
    chunk: Chunk,
    labels: Array | None,
    sample_weight: Array | None,
    last: Array | None,
    family: Family[Any, Any],
    state: MixtureState,
    temperature: float,
    tempering: bool,
) -> tuple[Array, Step]:
    """E step on a chunk: the positions of its documents (compared with ``last``), and statistics for the M step."""
    state = replace(state, params=state.params.rounded)
    resp, log_evidence = responsibilities(chunk, labels, family, state, temperature, tempering)
    finite = np.where(np.isfinite(log_evidence), log_evidence, 0.0)
    weights, places = chunk.total(weighted(resp, sample_weight)), _places(resp)
    moved = np.ones(len(resp)) if last is None else _moved(resp, last)
    sizes = np.bincount(places[:, 0].astype(np.intp), minlength=resp.shape[1])
    stats = family.summarize(chunk, weighted(with_trace(resp, FLOOR), sample_weight))
    expectation = Expectation(stats, weights, float(weighted(finite, sample_weight).sum()))
    return places, Step(expectation, float(weighted(moved, sample_weight).sum()), sizes)


def _places(resp: Array) -> Array:
    """The component of each document and its responsibility: D x 2, in single precision, to be kept between steps."""
    places = np.empty((len(resp), 2), dtype=np.float32)
    threads.run(find_places, np.arange(len(resp) + 1) * np.int64(resp.shape[1]), resp, places)
    return places


def _moved(resp: Array, last: Array) -> Array:
    """Change of the responsibility of each document's last component."""
    now = resp[np.arange(len(last)), last[:, 0].astype(np.intp)]
    return np.abs(now - last[:, 1])


@has_versions
def maximise(
    family: Family[Any, Any], expectation: Expectation, start: Parameters | None = None, prior: Prior | None = None
) -> MixtureState:
    """M step."""
    weights = expectation.resp / expectation.resp.sum()
    return MixtureState(updated(family, expectation.stats, start, prior), weights)


def updated(family: Family[Any, Any], stats: Any, start: Parameters | None, prior: Prior | None) -> Any:
    """Parameters of maximum likelihood, or those that a prior gives."""
    return family.update(stats, start=start) if prior is None else prior.update(family, stats, start)


def smoothed(
    family: Family[Any, Any],
    expectation: Expectation,
    state: MixtureState,
    smoothing: float,
    prior: Prior | None = None,
) -> MixtureState:
    """Smooth the components, by the prior or by a share of their weight from all documents."""
    if prior is not None:
        return MixtureState(prior.update(family, expectation.stats, state.params, smoothing), state.weights)
    stats = expectation.stats.shrunk(smoothing * state.weights)
    return MixtureState(family.update(stats, smoothing=smoothing), state.weights)


@dataclass(frozen=True)
class Problem:
    """The documents to cluster, the known labels (as a column), the family and its settings."""

    documents: Documents
    family: Family[Any, Any]
    labels: Column
    n_components: int
    perturbation: float
    sample_weight: Array | None = None
    prior: Prior | None = None
    tempering: bool = False
    #: Number of starts, and cache of the spaces that they search.
    n_starts: int = 1
    spaces: dict[Any, Column] = field(default_factory=dict)

    @cached_property
    def weights(self) -> Column:
        """Weights of the documents as a column; None for each chunk if all are 1."""
        return self.documents.split(self.sample_weight)

    @property
    def maximises_likelihood(self) -> bool:
        """Whether the run with the largest likelihood is the best one."""
        return self.prior is None and not self.tempering

    def statistics(self, resp: Resp) -> Any:
        """Statistics of all documents under given responsibilities."""
        return self.documents.sum(self.family.summarize, self.documents.split(weighted(resp, self.sample_weight)))

    def step(self, state: MixtureState, temperature: float, last: Column | None) -> tuple[Column, Step]:
        """E step over all chunks: the positions of the documents, and the sums."""
        columns = self.labels, self.weights, self.documents.split(None) if last is None else last
        shared = {"family": self.family, "state": state, "temperature": temperature, "tempering": self.tempering}
        return self.documents.keep_and_sum(expect, *columns, **shared)

    def expectation(self, state: MixtureState) -> Expectation:
        """E step over all chunks, for its statistics alone, in this process."""
        expectation: Expectation = self.documents.fetch(self.step(state, 1.0, None)[1].expectation)
        return expectation

    def maximise(self, expectation: Expectation, start: Parameters | None) -> MixtureState:
        """M step."""
        return self.documents.run_locally(maximise, self.family, expectation, start, self.prior)


# The result of a run that was restarted.
_ATTEMPT = ("state", "converged", "end", "score")


@dataclass
class Run:
    """A run of EM through the temperatures: its current state and its history."""

    problem: Problem
    schedule: Schedule
    state: MixtureState
    trace: Trace = field(default_factory=Trace)
    phase: int = 0
    phase_start: int = 0
    converged: bool = True
    #: Positions of the documents in the last step.
    places: Column | None = None
    #: Start of the run, and its result from higher temperatures, if it may be restarted.
    begin: MixtureState | None = None
    attempts: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.begin is None and self.schedule.restart and len(self.schedule.temperatures) > 1:
            self.begin = self.state

    @property
    def done(self) -> bool:
        """Whether all temperatures are done."""
        return self.phase == len(self.schedule.temperatures)

    @property
    def result(self) -> MixtureState:
        """The current state, in this process."""
        state: MixtureState = self.problem.documents.fetch(self.state)
        return state

    @property
    def score(self) -> float:
        """Mean log-likelihood of the documents at the last step."""
        return float(self.trace["log_likelihood"][-1])

    def step(self) -> None:
        """One iteration; continue with the next temperature if this one is done."""
        problem, temperature = self.problem, self.schedule.temperatures[self.phase]
        places, result = problem.step(self.state, temperature, self.places)
        n_documents = float(result.expectation.resp.sum())
        self.state.params.forget()  # its logarithms are as large as the parameters
        state = problem.maximise(result.expectation, self.state.params)
        place = {"phase": self.phase, "temperature": temperature, "iteration": len(self.trace) - self.phase_start}
        measures = {
            "log_likelihood": result.expectation.log_evidence / n_documents,
            "moved": result.moved / n_documents,
        }
        self.trace.add(**place, **measures, weights=self.state.weights)
        self.state, self.places = state, places
        phase = self.trace.since(self.phase_start)
        settled = self.schedule.rule.settled(phase)
        if settled or len(phase) == self.schedule.max_iter:
            self.converged &= settled
            self.phase, self.phase_start = self.phase + 1, len(self.trace)
            if self.done and self.begin is not None:
                self._start_again(n_lost=int(np.count_nonzero(result.sizes == 0)))

    def _start_again(self, n_lost: int) -> None:
        """Restart at a lower temperature if components were lost; if none is left, take the best result."""
        first = len(self.attempts) + 1
        result = {"state": self.state, "converged": self.converged, "end": len(self.trace), "score": self.score}
        self.attempts.append(result)
        if n_lost > 0 and first < len(self.schedule.temperatures):
            assert self.begin is not None
            self.state, self.places, self.converged, self.phase = self.begin, None, True, first
            return
        best = max(self.attempts, key=lambda attempt: attempt["score"])
        self.state, self.converged = best["state"], best["converged"]
        self.trace = self.trace.until(best["end"])

    def standing(self) -> dict[str, Any]:
        """Everything needed to resume, as plain values for a checkpoint."""
        documents, names = self.problem.documents, ("state", "phase", "phase_start", "converged", "begin")
        places = None if self.places is None else documents.gather(self.places)
        kept = {name: documents.fetch(getattr(self, name)) for name in names}
        attempts = [[documents.fetch(attempt[name]) for name in _ATTEMPT] for attempt in self.attempts]
        return {"trace": self.trace.since(0).entries, "places": places, **kept, "attempts": attempts}

    @classmethod
    def resumed(cls, problem: Problem, schedule: Schedule, standing: Mapping[str, Any]) -> Run:
        """Restore a run from a checkpoint."""
        documents, places = problem.documents, standing["places"]
        sizes = {"n_words": documents.n_words, "K": problem.n_components, "documents": documents.n_documents}
        state = part(MixtureState, K="K")
        state(standing["state"], sizes, "state")
        maybe(state)(standing["begin"], sizes, "begin")
        maybe(items("documents", 2))(places, sizes, "places")
        trace = Trace.checked(standing["trace"])
        whole(high=len(schedule.temperatures))(standing["phase"], sizes, "phase")
        whole(high=len(trace))(standing["phase_start"], sizes, "phase_start")
        attempts = [dict(zip(_ATTEMPT, attempt, strict=True)) for attempt in standing["attempts"]]
        for attempt in attempts:
            state(attempt["state"], sizes, "attempts")
            number()(attempt["score"], sizes, "attempts")
        column = None if places is None else documents.put(documents.split(places))
        kept = {"trace": trace, "places": column, "attempts": attempts}
        return cls(problem, schedule, **{**standing, **kept})
