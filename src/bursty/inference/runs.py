"""The loop of every iterative fit: restarts, checkpoints, Ctrl-C.

EM, Monte Carlo EM and the chains of DPMFS each have a `Run`, which takes steps until it is done. A `Runner` drives the
runs of a fit, one after the other (`best_of`, which keeps the best) or side by side (`side_by_side`, which keeps all).
It writes checkpoints on the way, resumes from them, and returns the current state when it is interrupted.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from bursty.inference.checkpoint import CheckpointWriter
from bursty.storage.schema import Mismatch
from bursty.typing import Array
from bursty.wording import counted


@dataclass
class Trace:
    """History of a run: lists by name, with one entry per step."""

    entries: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return max(map(len, self.entries.values()), default=0)

    def __getitem__(self, name: str) -> list[Any]:
        return self.entries.get(name, [])

    def add(self, **values: Any) -> None:
        """Record a step."""
        for name, value in values.items():
            self.entries.setdefault(name, []).append(value)

    @classmethod
    def checked(cls, entries: Any) -> Trace:
        """Check the trace of a checkpoint: lists of numbers or arrays, all of the same length."""
        if not isinstance(entries, dict) or not all(isinstance(values, list) for values in entries.values()):
            raise Mismatch("the trace is not made of lists")
        if len({len(values) for values in entries.values()}) > 1:
            raise Mismatch("the lists of the trace have different lengths")
        if not all(np.asarray(values).dtype.kind in "biuf" for values in entries.values()):
            raise Mismatch("the trace contains something other than numbers")
        return cls(entries)

    def since(self, step: int) -> Trace:
        """Without the steps before this one."""
        return Trace({name: values[step:] for name, values in self.entries.items()})

    def until(self, step: int) -> Trace:
        """Without this step and those after it."""
        return Trace({name: values[:step] for name, values in self.entries.items()})

    def arrays(self) -> dict[str, Array]:
        """The same as arrays."""
        return {name: np.asarray(values) for name, values in self.entries.items()}


class Run(Protocol):
    """One run of an algorithm, from its start to its end."""

    trace: Trace

    @property
    def done(self) -> bool:
        """Whether the run has ended."""

    @property
    def score(self) -> float:
        """The best of several runs has the largest score."""

    def step(self) -> None:
        """Take one step; if it is interrupted, the run is as it was before the step."""

    def standing(self) -> dict[str, Any]:
        """Everything needed to resume, for a checkpoint; later steps must not change it."""


R = TypeVar("R", bound=Run)


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """The runs that are kept, and whether Ctrl-C stopped them."""

    runs: list[R]
    interrupted: bool

    @property
    def best(self) -> R:
        """The run with the largest score, the first one of ties."""
        return max(self.runs, key=lambda run: run.score)


@dataclass(frozen=True)
class Runner(Generic[R]):
    """How the runs of a fit start, and what happens after each step.

    Parameters
    ----------
    start : callable
        Takes a generator and starts a run.
    resume : callable
        Takes what `Run.standing` returned and restores the run.
    writer : CheckpointWriter
        Writes the checkpoints.
    on_step : callable
        Called with the run after each step, from any thread.
    """

    start: Callable[[np.random.Generator], R]
    resume: Callable[[Any], R]
    writer: CheckpointWriter
    on_step: Callable[[R], None]

    def best_of(self, n_runs: int, rng: np.random.Generator) -> Outcome[R]:
        """One run after the other; the one with the largest score is kept."""
        begun, best, run = 0, None, None
        kept = self.writer.resume()
        if kept is not None:
            with self.writer.reading():
                begun, rng = kept["begun"], kept["rng"]
                best, run = (None if kept[name] is None else self.resume(kept[name]) for name in ("best", "run"))
                if type(begun) is not int or not 0 <= begun <= n_runs or not isinstance(rng, np.random.Generator):
                    raise ValueError("it does not say how many runs have begun, or where the random numbers stand")
                if best is None and run is None and begun:
                    raise ValueError("runs have begun, and none is there")

        def standing() -> dict[str, Any]:
            runs = {"best": best and best.standing(), "run": run and run.standing()}
            return {"begun": begun, **runs, "rng": rng}

        def after(run: R) -> None:
            self.on_step(run)
            self.writer.keep(standing)

        interrupted = False
        while (run is not None or begun < n_runs) and not interrupted:
            try:
                if run is None:
                    run, begun = self.start(rng), begun + 1
                advance(run, after)
            except KeyboardInterrupt:
                if best is None and (run is None or not len(run.trace)):
                    raise
                interrupted = True
                if run is not None:
                    self.writer.write(standing())
            if run is not None and len(run.trace) and (best is None or run.score > best.score):
                best = run
            run = None
        assert best is not None
        return Outcome([best], interrupted)

    def side_by_side(
        self,
        n_runs: int,
        rng: np.random.Generator,
        n_threads: int,
        next_round: Callable[[list[R]], bool] | None = None,
    ) -> Outcome[R]:
        """All runs, several at a time, in rounds that end when every run is done.

        ``next_round`` is called before each round, while no run moves. It tells the runs how far they go, or that they
        have gone far enough (False). If it looks at nothing but the runs, results do not depend on the number of
        threads, nor on interruptions. By default there is one round.
        """
        kept = self.writer.resume()
        if kept is None:
            runs = [self.start(rng) for _ in range(n_runs)]
        else:
            with self.writer.reading():
                runs = [self.resume(one) for one in kept["runs"]]
                if len(runs) != n_runs:
                    raise ValueError(f"it has {counted(len(runs), 'run')} where there are {n_runs}")
        # Checkpoints contain each run as it was after its last step.
        standing = [run.standing() if self.writer.active else {} for run in runs]
        stopped, lock = threading.Event(), threading.Lock()

        def go_on(number: int) -> None:
            def after(run: R) -> None:
                self.on_step(run)
                if self.writer.active:
                    with lock:
                        standing[number] = run.standing()
                        self.writer.keep(lambda: {"runs": standing})

            advance(runs[number], after, stopped)

        interrupted = False
        try:
            if next_round is None:
                _do_all(go_on, n_runs, n_threads, stopped)
            while next_round is not None and next_round(runs):
                _do_all(go_on, n_runs, n_threads, stopped)
        except KeyboardInterrupt:
            interrupted = True
            if self.writer.active:
                self.writer.write({"runs": standing})
            runs = [run for run in runs if len(run.trace)]
            if not runs:
                raise
        return Outcome(runs, interrupted)


def advance(run: R, on_step: Callable[[R], None] = lambda run: None, stopped: threading.Event | None = None) -> R:
    """Take steps until the run is done, or until it is stopped from another thread."""
    while not run.done and not (stopped is not None and stopped.is_set()):
        run.step()
        on_step(run)
    return run


def _do_all(task: Callable[[int], None], n_tasks: int, n_threads: int, stopped: threading.Event) -> None:
    """Run the tasks 0, 1, ... to their ends; if one fails, or on Ctrl-C, the others are told to stop."""
    if n_threads == 1 or n_tasks == 1:
        for number in range(n_tasks):
            task(number)
        return
    with ThreadPoolExecutor(min(n_threads, n_tasks)) as pool:
        try:
            for future in [pool.submit(task, number) for number in range(n_tasks)]:
                future.result()
        except BaseException:
            stopped.set()
            raise


def warn_interrupted(n_steps: int, how_to_go_on: str) -> None:
    """Warn that a fit was interrupted and kept its current state; called by ``fit``."""
    warnings.warn(
        f"interrupted after {counted(n_steps, 'iteration')}; the current solution is kept. {how_to_go_on}",
        UserWarning,
        stacklevel=3,
    )
