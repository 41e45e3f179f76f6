"""Monte Carlo EM for topic models: alternate Gibbs sweeps with maximum likelihood of the hyperparameters.

    E step   a few sweeps; the topics after the last one are the sample    [Doyle2009] algorithm 2, one sample
    M step   alpha and beta that maximise the complete likelihood p(w, z | alpha, beta)

Both steps belong to the model (`Method`; `inference.topics` has one per model). A `Run` continues until its rule finds
that the complete log-likelihood no longer grows, or for ``n_iter`` iterations; `finish` takes the last M step from the
mean statistics of several sweeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from bursty.engines import Chunk, Column, Documents, has_versions
from bursty.engines.documents import TreeSum
from bursty.inference.runs import Trace
from bursty.inference.stopping import MeanGain, Rule
from bursty.samplers.tokens import Tokens, random_topics
from bursty.storage.schema import index, part, whole
from bursty.typing import Array

# Number of iterations over which starts are compared.
_WINDOW = 10


@dataclass(frozen=True)
class Schedule:
    """How long to run.

    ``burn_in`` sweeps precede the first M step, and ``n_sweeps`` each of the others. ``n_samples`` sweeps at the end
    give the last M step and the mixtures. In the first ``n_drawn`` iterations, ``draw`` takes the place of the M step:
    new parameters, given statistics, the last parameters, the seed and the number of the next sweep.
    """

    n_iter: int = 400
    n_sweeps: int = 5
    burn_in: int = 20
    rule: Rule = field(default_factory=lambda: MeanGain(1e-3))
    n_samples: int = 10
    n_drawn: int = 0
    draw: Callable[[Any, Any, int, int], Any] | None = None


@dataclass
class Chains:
    """The documents, the topics of their tokens and the number of the next sweep: what is needed to resume a run.

    ``counted`` holds topics and what a method has counted of them, so that it need not count again.
    """

    documents: Documents
    n_topics: int
    seed: int
    topics: Column
    number: int = 0
    counted: tuple[Column, Any] | None = None

    @classmethod
    def start(cls, documents: Documents, n_topics: int, seed: int, number: int = 0) -> Chains:
        """Assign every token to a random topic."""
        topics = documents.keep(_begin, documents.offsets, n_topics=n_topics, seed=seed)
        return cls(documents, n_topics, seed, topics, number)

    @classmethod
    def at(cls, documents: Documents, n_topics: int, seed: int, topics: Array, number: int) -> Chains:
        """Assign every token to its given topic."""
        sizes = list(documents.map(_n_tokens))
        if sum(sizes) != len(topics):
            raise ValueError(f"there are {len(topics)} topics for {sum(sizes)} tokens")
        parts = np.split(topics, np.cumsum(sizes)[:-1])
        return cls(documents, n_topics, seed, documents.put(parts), number)

    @property
    def columns(self) -> tuple[Column, Column]:
        """Columns for a function over the chunks: the index of the first document, and the topics of the tokens."""
        return self.documents.offsets, self.topics

    def sum(self, function: Callable[..., Any], **shared: Any) -> Any:
        """Sum of ``function(chunk, offset, topics, **shared)`` over the chunks."""
        return self.documents.sum(function, *self.columns, **shared)

    def move(self, function: Callable[..., Any], n_sweeps: int, **shared: Any) -> Any:
        """Sweep: the function returns new topics, which are kept, and a summand; return the sum."""
        self.counted = None
        moved, added = self.documents.keep_and_sum(function, *self.columns, seed=self.seed, **shared)
        self.topics, self.number = moved, self.number + n_sweeps
        return added

    def gather(self) -> Array:
        """Copy the topics of all tokens to this process."""
        return self.documents.gather(self.topics)


def _n_tokens(chunk: Chunk) -> int:
    return int(chunk.lengths.sum())


def _begin(chunk: Chunk, offset: int, n_topics: int, seed: int) -> Array:
    return random_topics(Tokens.numbered(chunk, offset), n_topics, seed)


P = TypeVar("P")


class Method(Protocol[P]):
    """A topic model as Monte Carlo EM sees it."""

    def sweeps(self, chains: Chains, params: P, n_sweeps: int) -> Any:
        """Run this many sweeps and return the statistics of the last one."""

    def update(self, stats: Any, params: P) -> P:
        """Hyperparameters for these statistics; ``params`` itself if nothing is learned."""

    def conclude(self, stats: Any, params: P) -> P:
        """The last `update`, whose result is kept."""

    def of_stream(self, mean: Any, n_documents: int) -> Any:
        """Statistics for `update`, from the mean statistics per document after this many documents."""


@dataclass
class Run(Generic[P]):
    """A run of Monte Carlo EM: its current state and its history."""

    chains: Chains
    params: P
    method: Method[P]
    schedule: Schedule
    trace: Trace = field(default_factory=Trace)

    @property
    def converged(self) -> bool:
        """Whether the log-likelihood has stopped growing."""
        return self.schedule.rule.settled(self.trace)

    @property
    def done(self) -> bool:
        """Whether the run has converged or completed all iterations."""
        return len(self.trace) >= self.schedule.n_iter or self.converged

    @property
    def score(self) -> float:
        """Mean log-likelihood of words and topics per word over the last iterations: that of one is noisy."""
        values = self.trace["log_likelihood"]
        return float(np.mean(values[-min(_WINDOW, len(values) // 2 + 1) :]))

    def step(self) -> None:
        """Sweeps and an M step; if this is interrupted, the topics are those of the last complete iteration."""
        chains, n_tokens = self.chains, max(self.chains.documents.n_tokens, 1)
        n_sweeps = self.schedule.n_sweeps if len(self.trace) else max(1, self.schedule.burn_in)
        whole = chains.topics, chains.number
        began = time.perf_counter()
        try:
            stats = self.method.sweeps(chains, self.params, n_sweeps)
            params = self._new_params(stats)
            # Read last: a device may still be at work, and has all of the iteration to do by now.
            log_likelihood = stats.log_joint / n_tokens
        except KeyboardInterrupt:
            (chains.topics, chains.number), chains.counted = whole, None
            raise
        self.params, seconds = params, max(time.perf_counter() - began, 1e-9)
        entry, speed = {"iteration": len(self.trace), "sweep": chains.number}, n_tokens * n_sweeps / seconds
        self.trace.add(**entry, log_likelihood=log_likelihood, tokens_per_second=speed)

    def _new_params(self, stats: Any) -> P:
        """By the M step, or drawn at the beginning."""
        chains, draw, run = self.chains, self.schedule.draw, self.chains.documents.run_locally
        if draw is None or len(self.trace) >= self.schedule.n_drawn:
            params: P = run(self.method.update, stats, self.params)
            return params
        drawn: P = run(draw, stats, self.params, chains.seed, chains.number)
        return drawn

    def standing(self) -> dict[str, Any]:
        """Everything needed to resume, as plain values for a checkpoint."""
        own = {"topics": self.chains.gather(), "number": self.chains.number, "seed": self.chains.seed}
        return {**own, "params": self.chains.documents.fetch(self.params), "trace": self.trace.entries}

    @classmethod
    def resumed(
        cls, documents: Documents, n_topics: int, method: Method[P], schedule: Schedule, standing: Mapping[str, Any]
    ) -> Run[P]:
        """Restore a run from a checkpoint."""
        sizes = {"n_words": documents.n_words, "K": n_topics}
        index("K")(standing["topics"], sizes, "topics")
        part(K="K")(standing["params"], sizes, "params")
        for name in ("seed", "number"):
            whole()(standing[name], sizes, name)
        chains = Chains.at(documents, n_topics, standing["seed"], standing["topics"], standing["number"])
        return cls(chains, standing["params"], method, schedule, Trace.checked(standing["trace"]))


@dataclass(frozen=True)
class Result(Generic[P]):
    """Result of a run: hyperparameters and topic mixtures, and the mean statistics from which both are computed."""

    params: P
    stats: Any
    doc_topic: Array
    interrupted: bool

    def reordered(self, order: Array) -> Result[P]:
        """The same with the topics in this order."""
        params, stats = self.params.reordered(order), self.stats.reordered(order)  # type: ignore[attr-defined]  # all parameters have it
        return replace(self, params=params, stats=stats, doc_topic=np.take(self.doc_topic, order, axis=1))


def finish(run: Run[P], interrupted: bool) -> Result[P]:
    """The last M step and the topic mixtures, from the mean of several sweeps, or of one if interrupted."""
    chains, method = run.chains, run.method
    try:
        stats, doc_topic = average(chains, method, run.params, 1 if interrupted else run.schedule.n_samples)
    except KeyboardInterrupt:
        interrupted = True
        stats, doc_topic = average(chains, method, run.params, 1)
    return Result(chains.documents.run_locally(method.conclude, stats, run.params), stats, doc_topic, interrupted)


def average(chains: Chains, method: Method[Any], params: Any, n_samples: int) -> tuple[Any, Array]:
    """Mean statistics and mean topic mixtures of several sweeps."""
    samples, documents = TreeSum(), chains.documents
    counts = documents.split(None)
    for _ in range(n_samples):
        samples.add(method.sweeps(chains, params, 1) * (1.0 / n_samples))
        counts = documents.keep(add_topics, *chains.columns, counts, n_topics=chains.n_topics)
    mixtures = documents.collect(_mean_mixture, counts, n_samples=n_samples, alpha=params.alpha)
    return documents.fetch(samples.value), mixtures


@has_versions
def add_topics(chunk: Chunk, offset: int, topics: Array, counts: Array | None, n_topics: int) -> Array:
    """Tokens of each document and topic, added to those of other sweeps: D x K."""
    these = Tokens.numbered(chunk, offset).document_topics(topics, n_topics)
    return these if counts is None else counts + these


def _mean_mixture(chunk: Chunk, counts: Array, n_samples: int, alpha: Array) -> Array:
    mixture = counts / n_samples + alpha
    return mixture / mixture.sum(axis=1, keepdims=True)
