"""A chain: sweep after sweep, with a trace; and when chains stop, each by itself or all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit

from bursty.inference.runs import Trace
from bursty.inference.stopping import ChainsAgree, Rule, SamePartition
from bursty.samplers import dpmfs, dpmfs_collapsed, dpmfs_paper, dpmfs_search
from bursty.samplers.dpmfs import DPMFSData, Info, State
from bursty.storage.schema import Mismatch, floats, index, part, whole
from bursty.typing import Array
from bursty.wording import counted

Sweep = Callable[[State, int], tuple[State, Info]]
#: A range of sweeps: after the first number, up to the second.
Span = tuple[int, int]

MOST_SAMPLES = 500
#: With DCM components, all words are selected in this number of initial sweeps, while the first clusters form.
HELD = 30
#: During burn-in, chains with DCM components search for better clusters: for the first time this number of sweeps after
#: `HELD`, then at intervals of some sweeps, up to a number of times.
SEARCH_AFTER, SEARCH_EVERY, MOST_SEARCHES = 5, 8, 9
#: Number of random labels from which every other chain with DCM components starts.
MANY = 20
#: Columns of the trace by which chains are judged, if they are learned.
JUDGED = ("log_joint", "n_clusters", "n_words", "scale", "omega")


@dataclass(frozen=True)
class Plan:
    """How long a chain runs, and which of its sweeps are used.

    A chain makes ``n_iter`` sweeps, and those after ``burn_in`` are used. With ``rounds`` the chains stop at the first
    of these numbers of sweeps at which they agree, and the second half is used, unless ``burn_in`` is given. With
    ``patience`` the last window of this number of sweeps is used, and the chain stops as soon as ``rule`` finds the
    partition of a window settled.
    """

    n_iter: int
    burn_in: int | None
    patience: int | None = None
    rounds: tuple[int, ...] = ()
    rule: Rule = field(default_factory=SamePartition)
    agree: ChainsAgree = field(default_factory=ChainsAgree)

    def begin(self, end: int) -> int:
        """Number of sweeps to discard, of ``end``."""
        return end // 2 if self.burn_in is None else self.burn_in

    @property
    def held(self) -> int:
        """Number of initial sweeps with all words selected: `HELD`, or less in short chains."""
        first = self.begin((self.rounds or (self.n_iter,))[0]) if self.patience is None else self.patience
        return min(HELD, first // 2)

    @property
    def searches(self) -> range:
        """Before which sweeps a chain searches for better clusters: none of them counts in any round."""
        first = self.begin((self.rounds or (self.n_iter,))[0]) if self.patience is None else self.patience
        return range(self.held + SEARCH_AFTER, first, SEARCH_EVERY)[:MOST_SEARCHES]

    def spans(self, number: int) -> list[Span]:
        """The windows that a sweep, counted from 1, belongs to; the first one ends first."""
        if self.patience is not None:
            begin = (number - 1) // self.patience * self.patience
            return [(begin, begin + self.patience)]
        ends = self.rounds or (self.n_iter,)
        return [(self.begin(end), end) for end in ends if self.begin(end) < number <= end]


@dataclass
class Window:
    """Sums over a range of sweeps: how often each word was selected and with which odds, and labels of some of them.

    ``inside`` and ``outside`` are the sums of the probabilities of selecting a word, and of not selecting it.
    """

    samples: list[Array] = field(default_factory=list)
    inclusion: Any = 0.0
    inside: Any = 0.0
    outside: Any = 0.0
    n_sweeps: int = 0

    def add(self, state: State, info: Info, thin: int) -> None:
        """Add a sweep."""
        self.inclusion = self.inclusion + state.chosen
        if info.log_odds is None:
            self.inside, self.outside = self.inside + state.chosen, self.outside + (1 - state.chosen)
        else:
            self.inside, self.outside = self.inside + expit(info.log_odds), self.outside + expit(-info.log_odds)
        self.n_sweeps += 1
        if self.n_sweeps % thin == 0:
            self.samples.append(state.labels)


@dataclass
class Chain:
    """A chain in progress; ``goal`` is the number of sweeps at the end of the current round."""

    problem: DPMFSData
    plan: Plan
    sweep: Sweep
    seed: int
    state: State
    trace: Trace = field(default_factory=Trace)
    windows: dict[Span, Window] = field(default_factory=dict)
    partitions: Trace = field(default_factory=Trace)
    stable: bool = False
    goal: int | None = None

    @property
    def number(self) -> int:
        """Number of sweeps so far."""
        return len(self.trace)

    @property
    def done(self) -> bool:
        """Whether all sweeps were made, or the partition has been the same for two windows."""
        return self.stable or self.number >= (self.plan.n_iter if self.goal is None else self.goal)

    @property
    def score(self) -> float:
        """Mean log joint probability of the last sweeps, as many as there are samples."""
        return float(np.mean(self.trace["log_joint"][-len(self.samples) :]))

    @property
    def window(self) -> Window:
        """The window that is used: of those that are open, the one that ends first."""
        return next(iter(self.windows.values()), Window())

    @property
    def samples(self) -> list[Array]:
        """Labels of the sweeps of the window."""
        return self.window.samples or [self.state.labels]

    @property
    def inclusion(self) -> Array:
        """Share of these sweeps in which each word was selected."""
        return self.window.inclusion / self.window.n_sweeps if self.window.n_sweeps else self.state.chosen * 1.0

    def mean(self, name: str) -> float:
        """Mean of a column of the trace over these sweeps."""
        return float(np.mean(self.trace[name][-max(1, self.window.n_sweeps) :]))

    def step(self) -> None:
        """One sweep; at the end of a window of ``patience``, see whether its partition is the last window's."""
        patience = self.plan.patience
        state, info = self.sweep(self.state, self.number)
        row = self._row(state, info)
        self.state = state
        self.trace.add(**row)
        self.windows = {span: self.windows.get(span, Window()) for span in self.plan.spans(self.number)}
        for (begin, end), window in self.windows.items():
            window.add(self.state, info, max(1, (end - begin) // MOST_SAMPLES))
        if patience is not None and self.number % patience == 0:
            self.partitions.add(partition=most_frequent(self.samples))
            self.partitions = self.partitions.since(-2)
            self.stable = self.plan.rule.settled(self.partitions)

    def _row(self, state: State, info: Info) -> dict[str, float]:
        """The row of a sweep in the trace."""
        row: dict[str, Any] = {
            "n_clusters": np.count_nonzero(state.sizes),
            "n_words": np.count_nonzero(state.chosen),
            "log_joint": dpmfs.log_joint(self.problem, state),
            "alpha": state.alpha,
            "scale": state.scale,
            "omega": state.omega,
            "s": state.burst.sum(),
            "word_changes": info.words,
            "label_changes": info.labels,
            "split_changes": info.splits,
        }
        return {name: float(value) for name, value in row.items() if name != "s" or self.problem.bursty}

    def standing(self) -> dict[str, Any]:
        """A snapshot of the chain, for checkpoints."""
        own = {"seed": self.seed, "state": self.state, "stable": self.stable}
        traces = {"trace": self.trace.since(0).entries, "partitions": self.partitions.since(0).entries}
        windows = [
            [*span, list(window.samples), window.inclusion, window.inside, window.outside, window.n_sweeps]
            for span, window in self.windows.items()
        ]
        return {**own, **traces, "windows": windows}

    @classmethod
    def resumed(cls, model: Any, problem: DPMFSData, plan: Plan, standing: Mapping[str, Any]) -> Chain:
        """The chain of a snapshot."""
        n_labels = max(problem.n_documents, problem.most or 0)
        sizes = {"n_words": problem.n_words, "documents": problem.n_documents, "labels": n_labels}
        sizes["cells"] = len(problem.words)
        part(State, labels="labels", documents="documents", cells="cells")(standing["state"], sizes, "state")
        if np.any(standing["state"].tables > problem.counts):
            raise Mismatch("a word has more tables than tokens")
        whole()(standing["seed"], sizes, "seed")
        windows = {}
        for begin, end, samples, inclusion, inside, outside, n_sweeps in standing["windows"]:
            for count in (begin, end, n_sweeps):
                whole()(count, sizes, "sweeps of a window")
            for sample in samples:
                index("labels", "documents")(sample, sizes, "labels of a sweep")
            for values in (inclusion, inside, outside):
                floats("n_words", low=0)(values, sizes, "how often words were chosen")
            windows[begin, end] = Window(samples, inclusion, inside, outside, n_sweeps)
        for sample in standing["partitions"].get("partition", []):
            index("labels", "documents")(sample, sizes, "labels of a window")
        traces = {name: Trace.checked(standing[name]) for name in ("trace", "partitions")}
        own = {**standing, **traces, "windows": windows}
        return cls(problem, plan, make_sweep(model, problem, plan, standing["seed"]), **own)


def make_sweep(model: Any, problem: DPMFSData, plan: Plan, seed: int) -> Sweep:
    """The sweep of the model's sampler."""
    if model.sampler == "paper":
        proposals = dpmfs_paper.Steps(int(model.word_steps), int(model.label_steps))
        return lambda state, number: dpmfs_paper.sweep(problem, state, proposals, seed, number)
    steps = dpmfs_collapsed.Steps(splits=int(model.split_steps), held=plan.held if problem.bursty else 0)
    searches = plan.searches if problem.bursty else range(0)

    def step(state: State, number: int) -> State:
        return dpmfs_collapsed.sweep(problem, state, replace(steps, splits=0), seed, number)[0]

    def sweep(state: State, number: int) -> tuple[State, Info]:
        if number in searches:
            state = dpmfs_search.search(problem, state, step, seed, number)
        return dpmfs_collapsed.sweep(problem, state, steps, seed, number)

    return sweep


def start(
    model: Any, problem: DPMFSData, plan: Plan, known: Array | None, number: int, rng: np.random.Generator
) -> Chain:
    """Start a chain: as in the paper, with random labels among N and one word selected, or, for the collapsed sampler,
    with all documents in one cluster.

    With DCM components all words are selected, and chains with odd ``number`` start from random labels: chains that
    start alike may agree for that reason alone.
    """
    seed = int(rng.integers(2**62))
    n_components = problem.most if model.sampler == "paper" and problem.most is not None else 1
    if model.sampler == "collapsed" and problem.bursty and number % 2:
        n_components = min(MANY, problem.limit)
    labels = np.zeros(problem.n_documents, dtype=np.int32) if known is None else known
    state = dpmfs.init(problem, n_components, labels, seed, float(model.alpha))
    if model.sampler == "collapsed" and problem.bursty:
        state = replace(state, chosen=np.ones_like(state.chosen))
    return Chain(problem, plan, make_sweep(model, problem, plan, seed), seed, state)


def most_frequent(samples: list[Array]) -> Array:
    """The most frequent label of each document ([Yu2010] step 6a); the smallest in case of a tie."""
    names, codes = np.unique(np.stack(samples), return_inverse=True)
    codes = codes.reshape(len(samples), -1)
    counts = np.zeros((codes.shape[1], len(names)), dtype=np.int32)
    for labels in codes:
        counts[np.arange(len(labels)), labels] += 1
    return names[counts.argmax(axis=1)]


def next_round(plan: Plan, chains: list[Chain]) -> bool:
    """Set the goals of the chains for the next round; False if they are done. See `Runner.side_by_side`.

    Chains are judged when all have made the same number of sweeps, one of those of the plan. If a chain has made more,
    they have been judged at that number, and did not agree.
    """
    if not plan.rounds:
        return not all(chain.done for chain in chains)
    longest = max(chain.number for chain in chains)
    if longest in plan.rounds and all(chain.number == longest for chain in chains):
        if longest >= plan.rounds[-1] or plan.agree.settled(diagnose(chains, plan)):
            return False
        longest += 1
    for chain in chains:
        chain.goal = min(end for end in plan.rounds if end >= longest)
    return True


def diagnose(chains: list[Chain], plan: Plan) -> dict[str, dict[str, float]]:
    """R-hat and effective sample size of the columns of `JUDGED` that are learned, after burn-in."""
    length = min(chain.number for chain in chains)
    begin = min(plan.begin(length), length // 2)
    problem = chains[0].problem
    learned = {"scale": problem.lam_prior is not None, "omega": problem.omega_prior is not None}
    values = {
        name: np.array([chain.trace[name][begin:length] for chain in chains])
        for name in JUDGED
        if learned.get(name, True)
    }
    return plan.agree.diagnose(values)


def not_settled(plan: Plan, n_iter: int, diagnostics: Mapping[str, Mapping[str, float]], overlap: Array) -> str:
    """The text of a warning: how the chains disagree, and which parameters to change."""
    n_chains = len(overlap)
    why = "; ".join(plan.agree.complaints(diagnostics)) or "there are too few to tell"
    longer = "max_iter" if plan.rounds else "n_iter"
    chains, more = ("chain has", "n_chains, ") if n_chains == 1 else ("chains have", "")
    if n_chains > 1:
        why += f"; any two agree on {overlap.min():.0%} or more of the pairs of documents that either puts together"
    return (
        f"the {chains} not settled after {counted(n_iter, 'sweep')} ({why}): raise {longer}, {more}or split_steps, or "
        "accept that a longer run may find other clusters and words"
    )


def traces(chains: list[Chain]) -> dict[str, Array]:
    """The traces of all chains, padded with NaN to the length of the longest."""
    length = max(chain.number for chain in chains)
    result = {}
    for name in chains[0].trace.entries:
        table = np.full((len(chains), length), np.nan)
        for row, chain in zip(table, chains, strict=True):
            row[: chain.number] = chain.trace[name]
        result[name] = table[0] if len(chains) == 1 else table
    return result
