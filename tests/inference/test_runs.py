"""The loop of every long fit: which run is kept, what Ctrl-C leaves, when rules say stop."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from bursty import DPMFS, Mixture, datasets
from bursty.inference import em
from bursty.inference.checkpoint import CheckpointWriter
from bursty.inference.runs import Runner, Trace
from bursty.models.dpmfs import chains


class Walk:
    """A run of so many steps that adds random numbers."""

    def __init__(self, seed, n_steps=4):
        self.rng, self.n_steps, self.trace = np.random.default_rng(seed), n_steps, Trace()

    @property
    def done(self):
        return len(self.trace) == self.n_steps

    @property
    def score(self):
        return sum(self.trace["value"])

    def step(self):
        self.trace.add(value=float(self.rng.normal()))

    def standing(self):
        return {"trace": self.trace.entries}


def runner(on_step=lambda run: None):
    return Runner(lambda rng: Walk(int(rng.integers(100))), lambda standing: standing, CheckpointWriter(None), on_step)


def test_the_best_run_is_kept_and_all_runs_where_asked_for():
    all_runs = runner().side_by_side(5, np.random.default_rng(0), 1)
    threaded = runner().side_by_side(5, np.random.default_rng(0), 3)
    scores = [run.score for run in all_runs.runs]
    assert scores == [run.score for run in threaded.runs]
    best = runner().best_of(5, np.random.default_rng(0))
    assert (best.best.score, best.interrupted) == (max(scores), False)
    assert all_runs.best.score == max(scores)


class Resumed(CheckpointWriter):
    """A checkpoint in which this is found."""

    def __init__(self, found):
        super().__init__(None)
        self.found = found

    def resume(self):
        return self.found


def test_a_checkpoint_of_no_run_yet_begins_with_the_first():
    def best(begun):
        rng = np.random.default_rng(0)
        found = {"begun": begun, "best": None, "run": None, "rng": rng}
        begin = Runner(lambda rng: Walk(int(rng.integers(100))), Walk, Resumed(found), lambda run: None)
        return begin.best_of(5, np.random.default_rng(1)).best.score

    assert best(0) == runner().best_of(5, np.random.default_rng(0)).best.score
    for begun in (-1, 1, 6, True):
        with pytest.raises(ValueError, match="run"):
            best(begun)


def interrupt_after(n_steps):
    steps = []

    def on_step(run):
        steps.append(run)
        if len(steps) == n_steps:
            raise KeyboardInterrupt

    return on_step


def test_ctrl_c_keeps_what_was_reached():
    outcome = runner(interrupt_after(6)).best_of(3, np.random.default_rng(0))
    assert outcome.interrupted
    assert len(outcome.best.trace) in (2, 4)
    outcome = runner(interrupt_after(6)).side_by_side(3, np.random.default_rng(0), 1)
    assert outcome.interrupted
    assert [len(run.trace) for run in outcome.runs] == [4, 2]


def test_ctrl_c_before_the_first_step_is_ctrl_c():
    def start(rng):
        raise KeyboardInterrupt

    for way in ("best_of", "side_by_side"):
        more = () if way == "best_of" else (2,)
        with pytest.raises(KeyboardInterrupt):
            getattr(Runner(start, None, CheckpointWriter(None), None), way)(3, np.random.default_rng(0), *more)


def test_where_one_thread_fails_the_others_stop():
    def on_step(run):
        if threading.current_thread() is not threading.main_thread() and len(run.trace) == 3:
            raise RuntimeError("full")

    endless = Runner(lambda rng: Walk(0, n_steps=10**9), None, CheckpointWriter(None), on_step)
    with pytest.raises(RuntimeError, match="full"):
        endless.side_by_side(2, np.random.default_rng(0), 2)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_rounds_end_when_every_run_is_done(n_threads):
    """Between rounds nothing moves, and what is decided there sees all runs at the same step."""
    seen = []

    def next_round(runs):
        seen.append([len(run.trace) for run in runs])
        for run in runs:
            run.n_steps = 2 * len(seen)
        return len(seen) < 4

    outcome = runner().side_by_side(3, np.random.default_rng(0), n_threads, next_round)
    assert seen == [[0] * 3, [2] * 3, [4] * 3, [6] * 3]
    assert not outcome.interrupted


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(90, 40, 3, random_state=0)[0]


def interrupt_call(monkeypatch, owner, name, number):
    """Ctrl-C in the middle of a call."""
    function, calls = getattr(owner, name), []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, interrupted)


def test_an_interrupted_mixture_keeps_its_state_and_goes_on(corpus, tmp_path, monkeypatch):
    model = Mixture(3, init="perturb", n_init=2, max_iter=20, random_state=0, checkpoint=str(tmp_path / "fit"))
    whole = Mixture(**model.get_params() | {"checkpoint": None}).fit(corpus)
    with monkeypatch.context() as patch:
        interrupt_call(patch, em, "maximise", 7)
        with pytest.warns(UserWarning, match=r"interrupted after 6 iterations.*warm_start=True"):
            model.fit(corpus)
    assert model.n_iter_ == 6
    assert not model.converged_
    assert model.predict(corpus).shape == (90,)
    assert model.fit(corpus).components_.tobytes() == whole.components_.tobytes()
    assert not (tmp_path / "fit").exists()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_sampler_keeps_its_state_and_goes_on(n_jobs, corpus, tmp_path, monkeypatch):
    model = DPMFS(n_iter=30, n_chains=2, random_state=0, n_jobs=n_jobs, checkpoint=str(tmp_path / "fit"))
    whole = DPMFS(**model.get_params() | {"checkpoint": None}).fit(corpus)
    with monkeypatch.context() as patch:
        interrupt_call(patch, chains.dpmfs, "log_joint", 9)
        with pytest.warns(UserWarning, match=r"interrupted after \d+ iterations; the current solution is kept"):
            model.fit(corpus)
    assert model.predict(corpus).shape == (90,)
    np.testing.assert_array_equal(model.fit(corpus).samples_, whole.samples_)
    assert not (tmp_path / "fit").exists()
