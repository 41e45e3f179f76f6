"""The one loop of every fit that takes many steps: several starts, checkpoints, Ctrl-C.

EM, Monte Carlo EM and the chains of DPMFS each have a `Run`: something that takes steps until it is done. A `Runner`
drives as many runs as a fit has, one after the other (`best_of`, which keeps the best) or side by side
(`side_by_side`, which keeps all), writes checkpoints on the way and goes on from them, and ends with what was reached
where it is interrupted.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from bursty.inference.checkpoint import Keeper
from bursty.storage.schema import Mismatch

Array = np.ndarray[Any, Any]


@dataclass
class Trace:
    """What happened in a run: lists by name, with one entry per step."""

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
        """The trace of a checkpoint: lists of numbers, or of arrays of them, all of one length."""
        if not isinstance(entries, dict) or not all(isinstance(values, list) for values in entries.values()):
            raise Mismatch("the trace is not made of lists")
        if len({len(values) for values in entries.values()}) > 1:
            raise Mismatch("the lists of the trace are not of one length")
        if not all(np.asarray(values).dtype.kind in "biuf" for values in entries.values()):
            raise Mismatch("the trace holds something other than numbers")
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
    """An algorithm on its way from one start to its end."""

    trace: Trace

    @property
    def done(self) -> bool:
        """Whether it has come to its end."""

    @property
    def score(self) -> float:
        """What the best of several runs has most of."""

    def step(self) -> None:
        """Take one step; where that is interrupted, the run stands as it did before."""

    def standing(self) -> dict[str, Any]:
        """All that going on needs, for a checkpoint: later steps must not change it."""


R = TypeVar("R", bound=Run)


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """The runs that are kept, and whether Ctrl-C ended them."""

    runs: list[R]
    interrupted: bool

    @property
    def best(self) -> R:
        """The run of greatest score, the first of equals."""
        return max(self.runs, key=lambda run: run.score)


@dataclass(frozen=True)
class Runner(Generic[R]):
    """How runs of one fit begin, and what is done after each step of any.

    Parameters
    ----------
    start : function of a generator
        Begin a run.
    resume : function of what `Run.standing` gave
        The run that stood so.
    keeper : Keeper
        Where checkpoints go.
    on_step : function of a run
        Called after each step, from any thread.
    """

    start: Callable[[np.random.Generator], R]
    resume: Callable[[Any], R]
    keeper: Keeper
    on_step: Callable[[R], None]

    def best_of(self, n_runs: int, rng: np.random.Generator) -> Outcome[R]:
        """One run after the other; the one of greatest score is kept."""
        begun, best, run = 0, None, None
        kept = self.keeper.resume()
        if kept is not None:
            with self.keeper.reading():
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
            self.keeper.keep(standing)

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
                    self.keeper.write(standing())
            if run is not None and len(run.trace) and (best is None or run.score > best.score):
                best = run
            run = None
        assert best is not None
        return Outcome([best], interrupted)

    def side_by_side(self, n_runs: int, rng: np.random.Generator, n_threads: int) -> Outcome[R]:
        """All runs, some at a time; each is the same whatever the others do."""
        kept = self.keeper.resume()
        if kept is None:
            runs = [self.start(rng) for _ in range(n_runs)]
        else:
            with self.keeper.reading():
                runs = [self.resume(one) for one in kept["runs"]]
                if len(runs) != n_runs:
                    raise ValueError(f"it has {len(runs)} runs where there are {n_runs}")
        # What is written is how each of them stood after its last step.
        standing = [run.standing() if self.keeper.active else {} for run in runs]
        stopped, lock = threading.Event(), threading.Lock()

        def go_on(number: int) -> None:
            def after(run: R) -> None:
                self.on_step(run)
                if self.keeper.active:
                    with lock:
                        standing[number] = run.standing()
                        self.keeper.keep(lambda: {"runs": standing})

            advance(runs[number], after, stopped)

        interrupted = False
        try:
            _do_all(go_on, n_runs, n_threads, stopped)
        except KeyboardInterrupt:
            interrupted = True
            if self.keeper.active:
                self.keeper.write({"runs": standing})
            runs = [run for run in runs if len(run.trace)]
            if not runs:
                raise
        return Outcome(runs, interrupted)


def advance(run: R, on_step: Callable[[R], None] = lambda run: None, stopped: threading.Event | None = None) -> R:
    """Take steps until the run is done, or stopped from elsewhere."""
    while not run.done and not (stopped is not None and stopped.is_set()):
        run.step()
        on_step(run)
    return run


def _do_all(task: Callable[[int], None], n_tasks: int, n_threads: int, stopped: threading.Event) -> None:
    """Tasks by number; where one fails, or Ctrl-C comes, the others are told to stop."""
    if n_threads == 1 or n_tasks == 1:
        for number in range(n_tasks):
            task(number)
        return
    with ThreadPoolExecutor(min(n_threads, n_tasks)) as pool:
        try:
            for future in [pool.submit(task, number) for number in range(n_tasks)]:
                future.result()
        finally:
            stopped.set()


def warn_interrupted(n_steps: int, how_to_go_on: str) -> None:
    """Say that a fit was stopped and kept what it had; called by ``fit``."""
    warnings.warn(
        f"interrupted after {n_steps} iterations; what was reached is kept. {how_to_go_on}", UserWarning, stacklevel=3
    )
