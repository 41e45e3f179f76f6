"""Running chains: sweep after sweep, with a trace, and a stop when the partition stays."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from bursty.metrics import effective_sample_size, normalized_mutual_information, r_hat
from bursty.samplers import dpmfs, dpmfs_collapsed, dpmfs_paper
from bursty.samplers.dpmfs import Info, Problem, State

Array = np.ndarray[Any, Any]
Sweep = Callable[[State, int], tuple[State, Info]]

TRACED = ("n_clusters", "n_words", "log_joint", "alpha", "scale", "word_changes", "label_changes", "split_changes")
MOST_SAMPLES = 500
# Partitions of two windows that agree to this degree are the same.
_SAME = 0.999


@dataclass(frozen=True)
class Plan:
    """How long a chain runs, and which part of it counts."""

    n_iter: int
    burn_in: int
    patience: int | None = None

    @property
    def thin(self) -> int:
        """Every how many sweeps labels are kept."""
        length = self.n_iter - self.burn_in if self.patience is None else self.patience
        return max(1, length // MOST_SAMPLES)


@dataclass
class Window:
    """Sweeps that count together: labels of some of them, and how often each word was chosen."""

    samples: list[Array] = field(default_factory=list)
    inclusion: Any = 0.0
    n_sweeps: int = 0

    def add(self, state: State, thin: int) -> None:
        """Take a sweep in."""
        self.inclusion = self.inclusion + state.chosen
        self.n_sweeps += 1
        if self.n_sweeps % thin == 0:
            self.samples.append(state.labels)


@dataclass
class Chain:
    """A chain as far as it has run: all that going on needs."""

    seed: int
    state: State
    number: int = 0
    trace: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in TRACED})
    window: Window = field(default_factory=Window)
    before: Array | None = None
    stable: bool = False

    @property
    def samples(self) -> list[Array]:
        """Labels of the sweeps that count."""
        return self.window.samples or [self.state.labels]

    @property
    def inclusion(self) -> Array:
        """How often each word was chosen in them."""
        return self.window.inclusion / self.window.n_sweeps if self.window.n_sweeps else self.state.chosen * 1.0

    def snapshot(self) -> Chain:
        """The chain as it is now, whatever it does later."""
        window = replace(self.window, samples=list(self.window.samples))
        return replace(self, trace={name: list(values) for name, values in self.trace.items()}, window=window)

    def record(self, problem: Problem, info: Info) -> None:
        """Add a row to the trace."""
        state = self.state
        row: tuple[Any, ...] = (
            np.count_nonzero(state.sizes),
            np.count_nonzero(state.chosen),
            dpmfs.log_joint(problem, state),
            state.alpha,
            state.scale,
            info.words,
            info.labels,
            info.splits,
        )
        for name, value in zip(TRACED, row, strict=True):
            self.trace[name].append(float(value))

    def settle(self) -> None:
        """At the end of a window: stable if its partition is the last window's, otherwise begin another."""
        partition = most_frequent(self.samples)
        self.stable = self.before is not None and _same(partition, self.before)
        self.before = partition


def make_sweep(model: Any, problem: Problem, seed: int) -> Sweep:
    """The sweep of the model's sampler."""
    if model.sampler == "paper":
        steps = dpmfs_paper.Steps(int(model.word_steps), int(model.label_steps))
        return lambda state, number: dpmfs_paper.sweep(problem, state, steps, seed, number)
    splits = dpmfs_collapsed.Steps(splits=int(model.split_steps))
    return lambda state, number: dpmfs_collapsed.sweep(problem, state, splits, seed, number)


def start(model: Any, problem: Problem, known: Array | None, seed: int) -> Chain:
    """The paper's start: labels at random among N; for the collapsed sampler all in one cluster. One word chosen."""
    n_components = problem.most if model.sampler == "paper" and problem.most is not None else 1
    labels = np.zeros(problem.n_documents, dtype=np.int32) if known is None else known
    return Chain(seed, dpmfs.init(problem, n_components, labels, seed, float(model.alpha)))


def run(chain: Chain, problem: Problem, sweep: Sweep, plan: Plan, on_sweep: Callable[[Chain], None]) -> Chain:
    """Sweeps up to the plan's end, or until the partition has been the same for two windows of ``patience`` sweeps."""
    while chain.number < plan.n_iter and not chain.stable:
        if plan.patience is not None and chain.number % plan.patience == 0:
            chain.window = Window()
        chain.state, info = sweep(chain.state, chain.number)
        chain.number += 1
        chain.record(problem, info)
        if plan.patience is not None or chain.number > plan.burn_in:
            chain.window.add(chain.state, plan.thin)
        if plan.patience is not None and chain.number % plan.patience == 0:
            chain.settle()
        on_sweep(chain)
    return chain


def _same(a: Array, b: Array) -> bool:
    n_clusters = len(np.unique(a))
    if n_clusters != len(np.unique(b)):
        return False
    return n_clusters == 1 or normalized_mutual_information(a, b) >= _SAME


def most_frequent(samples: list[Array]) -> Array:
    """The label that each document had most often ([Yu2010] step 6a); the smaller number of two as frequent."""
    names, codes = np.unique(np.stack(samples), return_inverse=True)
    codes = codes.reshape(len(samples), -1)
    counts = np.zeros((codes.shape[1], len(names)), dtype=np.int32)
    for labels in codes:
        counts[np.arange(len(labels)), labels] += 1
    return names[counts.argmax(axis=1)]


def run_all(jobs: list[Callable[[], Chain]], n_threads: int) -> list[Chain]:
    """Every chain, some at a time; each is the same whatever the others do."""
    if n_threads == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(min(n_threads, len(jobs))) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


def diagnose(chains: list[Chain], burn_in: int) -> dict[str, dict[str, float]]:
    """R-hat and effective sample size of what the traces have after burn-in."""
    length = min(chain.number for chain in chains)
    begin = min(burn_in, length // 2)
    if length - begin < 4:
        return {}
    result = {}
    for name in ("log_joint", "n_clusters", "n_words"):
        values = np.array([chain.trace[name][begin:length] for chain in chains])
        result[name] = {"r_hat": r_hat(values), "ess": effective_sample_size(values)}
    return result


def job(model: Any, problem: Problem, chain: Chain, plan: Plan, on_sweep: Any) -> Callable[[], Chain]:
    """One chain, ready to run, or to go on."""
    return partial(run, chain, problem, make_sweep(model, problem, chain.seed), plan, on_sweep)
