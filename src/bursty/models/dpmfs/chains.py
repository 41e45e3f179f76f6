"""A chain: sweep after sweep, with a trace, and a stop when the partition stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bursty.inference.runs import Trace
from bursty.inference.stopping import Rule, SamePartition
from bursty.metrics import effective_sample_size, r_hat
from bursty.samplers import dpmfs, dpmfs_collapsed, dpmfs_paper
from bursty.samplers.dpmfs import DPMFSData, Info, State
from bursty.storage.schema import Mismatch, floats, index, number, part, whole

Array = np.ndarray[Any, Any]
Sweep = Callable[[State, int], tuple[State, Info]]

MOST_SAMPLES = 500


@dataclass(frozen=True)
class Plan:
    """How long a chain runs, and which part of it counts.

    With ``patience`` the last window of this number of sweeps counts, and the chain stops where the rule finds the
    partition of a window settled.
    """

    n_iter: int
    burn_in: int
    patience: int | None = None
    rule: Rule = field(default_factory=SamePartition)

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
    """A chain as far as it has run."""

    problem: DPMFSData
    plan: Plan
    sweep: Sweep
    seed: int
    state: State
    trace: Trace = field(default_factory=Trace)
    window: Window = field(default_factory=Window)
    partitions: Trace = field(default_factory=Trace)
    stable: bool = False

    @property
    def number(self) -> int:
        """Sweeps that were made."""
        return len(self.trace)

    @property
    def done(self) -> bool:
        """Whether all sweeps were made, or the partition has been the same for two windows."""
        return self.stable or self.number >= self.plan.n_iter

    @property
    def score(self) -> float:
        """Mean log joint probability of as many sweeps as labels are kept of."""
        return float(np.mean(self.trace["log_joint"][-len(self.samples) :]))

    @property
    def samples(self) -> list[Array]:
        """Labels of the sweeps that count."""
        return self.window.samples or [self.state.labels]

    @property
    def inclusion(self) -> Array:
        """How often each word was chosen in them."""
        return self.window.inclusion / self.window.n_sweeps if self.window.n_sweeps else self.state.chosen * 1.0

    def step(self) -> None:
        """One sweep; at the end of a window, see whether its partition is the last window's."""
        patience = self.plan.patience
        state, info = self.sweep(self.state, self.number)
        row = self._row(state, info)
        if patience is not None and self.number % patience == 0:
            self.window = Window()
        self.state = state
        self.trace.add(**row)
        if patience is not None or self.number > self.plan.burn_in:
            self.window.add(self.state, self.plan.thin)
        if patience is not None and self.number % patience == 0:
            self.partitions.add(partition=most_frequent(self.samples))
            self.partitions = self.partitions.since(-2)
            self.stable = self.plan.rule.settled(self.partitions)

    def _row(self, state: State, info: Info) -> dict[str, float]:
        """What the trace has of a sweep."""
        row: dict[str, Any] = {
            "n_clusters": np.count_nonzero(state.sizes),
            "n_words": np.count_nonzero(state.chosen),
            "log_joint": dpmfs.log_joint(self.problem, state),
            "alpha": state.alpha,
            "scale": state.scale,
            "word_changes": info.words,
            "label_changes": info.labels,
            "split_changes": info.splits,
        }
        return {name: float(value) for name, value in row.items()}

    def standing(self) -> dict[str, Any]:
        """The chain as it is now, whatever it does later."""
        window, own = self.window, {"seed": self.seed, "state": self.state, "stable": self.stable}
        traces = {"trace": self.trace.since(0).entries, "partitions": self.partitions.since(0).entries}
        return {**own, **traces, "window": [list(window.samples), window.inclusion, window.n_sweeps]}

    @classmethod
    def resumed(cls, model: Any, problem: DPMFSData, plan: Plan, standing: Mapping[str, Any]) -> Chain:
        """The chain that stood so."""
        n_labels = max(problem.n_documents, problem.most or 0)
        sizes = {"n_words": problem.n_words, "documents": problem.n_documents, "labels": n_labels}
        sizes["cells"] = len(problem.words)
        part(State, labels="labels", documents="documents", cells="cells")(standing["state"], sizes, "state")
        if np.any(standing["state"].tables > problem.counts):
            raise Mismatch("a word has more tables than tokens")
        whole()(standing["seed"], sizes, "seed")
        samples, inclusion, n_sweeps = standing["window"]
        for sample in [*samples, *standing["partitions"].get("partition", [])]:
            index("labels", "documents")(sample, sizes, "labels of a sweep")
        whole()(n_sweeps, sizes, "sweeps of the window")
        if n_sweeps:
            floats("n_words", low=0)(inclusion, sizes, "how often words were chosen")
        else:
            number(low=0, high=0)(inclusion, sizes, "how often words were chosen")
        traces = {name: Trace.checked(standing[name]) for name in ("trace", "partitions")}
        own = {**standing, **traces, "window": Window(samples, inclusion, n_sweeps)}
        return cls(problem, plan, make_sweep(model, problem, standing["seed"]), **own)


def make_sweep(model: Any, problem: DPMFSData, seed: int) -> Sweep:
    """The sweep of the model's sampler."""
    if model.sampler == "paper":
        steps = dpmfs_paper.Steps(int(model.word_steps), int(model.label_steps))
        return lambda state, number: dpmfs_paper.sweep(problem, state, steps, seed, number)
    splits = dpmfs_collapsed.Steps(splits=int(model.split_steps))
    return lambda state, number: dpmfs_collapsed.sweep(problem, state, splits, seed, number)


def start(model: Any, problem: DPMFSData, plan: Plan, known: Array | None, rng: np.random.Generator) -> Chain:
    """The paper's start: labels at random among N; for the collapsed sampler all in one cluster. One word chosen."""
    seed = int(rng.integers(2**62))
    n_components = problem.most if model.sampler == "paper" and problem.most is not None else 1
    labels = np.zeros(problem.n_documents, dtype=np.int32) if known is None else known
    state = dpmfs.init(problem, n_components, labels, seed, float(model.alpha))
    return Chain(problem, plan, make_sweep(model, problem, seed), seed, state)


def most_frequent(samples: list[Array]) -> Array:
    """The label that each document had most often ([Yu2010] step 6a); the smaller number of two as frequent."""
    names, codes = np.unique(np.stack(samples), return_inverse=True)
    codes = codes.reshape(len(samples), -1)
    counts = np.zeros((codes.shape[1], len(names)), dtype=np.int32)
    for labels in codes:
        counts[np.arange(len(labels)), labels] += 1
    return names[counts.argmax(axis=1)]


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
