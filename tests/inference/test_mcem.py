"""Monte Carlo EM with a method that only counts: sweeps, statistics, the trace, and the mean of the last sweeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.engines import LocalEngine, chunks, local
from bursty.families.base import Statistics
from bursty.inference import mcem
from bursty.inference.runs import Trace
from bursty.inference.stopping import MeanGain
from bursty.samplers.dcmlda import Hyperparameters

X = np.array([[2, 0, 1], [0, 3, 0], [0, 0, 0], [1, 1, 2]])


@dataclass(frozen=True)
class Seen(Statistics):
    log_joint: float
    tokens: np.ndarray

    def reordered(self, order):
        return Seen(self.log_joint, self.tokens[order])


def shift(chunk, offset, topics, seed, by):
    """Every token moves to the next topic but by - 1."""
    moved = ((topics + by) % 3).astype(topics.dtype)
    return moved, Seen(-float(len(topics)) * by, np.bincount(moved, minlength=3).astype(float))


class Shift:
    """A method whose sweeps are known; the parameters count its M steps."""

    def __init__(self):
        self.calls = []

    def sweeps(self, chains, params, n_sweeps):
        self.calls.append(n_sweeps)
        return chains.move(shift, n_sweeps, by=n_sweeps)

    def update(self, stats, params):
        return Hyperparameters(params.alpha + 1, params.beta)

    def conclude(self, stats, params):
        return Hyperparameters(params.alpha + 100, params.beta)


@pytest.fixture
def documents(monkeypatch):
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 2))
    return LocalEngine(1).place(sp.csr_array(X.astype(np.int32)))


def run(documents, method=None, topics=None, **schedule):
    topics = np.array([0, 1, 2, 0, 1, 1, 2, 2, 0, 1], dtype=np.uint8) if topics is None else topics
    chains = mcem.Chains.at(documents, 3, 7, topics, 0)
    params = Hyperparameters(np.array([0.5, 1.0, 1.5]), np.ones((3, 3)))
    return mcem.Run(chains, params, method or Shift(), mcem.Schedule(**{"n_iter": 4, "burn_in": 5, **schedule}))


def test_a_start_is_random_topics(documents):
    found = [mcem.Chains.start(documents, 3, seed).gather() for seed in range(200)]
    assert {len(topics) for topics in found} == {10}
    np.testing.assert_allclose(np.bincount(np.concatenate(found), minlength=3) / 2000, 1 / 3, atol=0.04)
    assert mcem.Chains.start(documents, 3, 0).number == 0
    same = mcem.Chains.start(LocalEngine(1).place(sp.csr_array(X.astype(np.int32))), 3, 0).gather()
    np.testing.assert_array_equal(found[0], same)


def test_topics_are_given_to_their_tokens(documents):
    topics = np.arange(10, dtype=np.uint8) % 3
    chains = mcem.Chains.at(documents, 3, 7, topics, 12)
    np.testing.assert_array_equal(chains.gather(), topics)
    assert [len(part) for part in chains.topics] == [6, 4]
    assert chains.number == 12
    with pytest.raises(ValueError, match="there are 9 topics for 10 tokens"):
        mcem.Chains.at(documents, 3, 7, topics[:-1], 0)


def test_iterations_and_their_trace(documents):
    method = Shift()
    one = run(documents, method, n_sweeps=2)
    while not one.done:
        one.step()
    assert method.calls == [5, 2, 2, 2]  # the first iteration burns in
    assert one.trace["iteration"] == [0, 1, 2, 3]
    assert one.trace["sweep"] == [5, 7, 9, 11]
    np.testing.assert_allclose(one.trace["log_likelihood"], [-5.0, -2.0, -2.0, -2.0])
    np.testing.assert_array_equal(one.params.alpha, [4.5, 5.0, 5.5])
    np.testing.assert_array_equal(one.chains.gather(), (np.array([0, 1, 2, 0, 1, 1, 2, 2, 0, 1]) + 11) % 3)
    unburnt = run(documents, Shift(), burn_in=0)
    unburnt.step()
    assert unburnt.method.calls == [1]  # at least one sweep


def test_speed_is_tokens_of_all_sweeps_per_second(documents, monkeypatch):
    clock = iter([10.0, 14.0])
    monkeypatch.setattr(mcem.time, "perf_counter", lambda: next(clock))
    one = run(documents)
    one.step()
    assert one.trace["tokens_per_second"] == [10 * 5 / 4.0]


def test_a_run_ends_when_its_rule_says_so(documents):
    one = run(documents, n_iter=50, n_sweeps=2, rule=MeanGain(0.1, 2))
    while not one.done:
        one.step()
    assert one.converged
    assert len(one.trace) == 5  # -5 in the first iteration, then -2 four times
    short = run(documents, n_iter=3, n_sweeps=2, rule=MeanGain(0.1, 2))
    while not short.done:
        short.step()
    assert not short.converged


@pytest.mark.parametrize(("n", "window"), [(1, 1), (2, 2), (3, 2), (9, 5), (18, 10), (40, 10)])
def test_the_score_is_the_mean_of_the_later_half_or_of_ten(documents, n, window):
    values = list(np.random.default_rng(0).normal(size=n))
    one = run(documents)
    one.trace = Trace({"log_likelihood": values})
    assert one.score == pytest.approx(np.mean(values[-window:]))


def test_an_interrupted_iteration_leaves_the_last_whole_one(documents):
    class Interrupted(Shift):
        def update(self, stats, params):
            if len(self.calls) == 2:
                raise KeyboardInterrupt
            return super().update(stats, params)

    one = run(documents, Interrupted())
    one.step()
    before, number = one.chains.gather().copy(), one.chains.number
    one.chains.counted = (one.chains.topics, "known")
    with pytest.raises(KeyboardInterrupt):
        one.step()
    np.testing.assert_array_equal(one.chains.gather(), before)
    assert (one.chains.number, one.chains.counted, len(one.trace)) == (number, None, 1)


def test_a_run_is_resumed_where_it_stood(documents):
    whole, stopped = run(documents), run(documents)
    stopped.step()
    again = mcem.Run.resumed(documents, 3, Shift(), whole.schedule, stopped.standing())
    while not again.done:
        again.step()
    while not whole.done:
        whole.step()
    np.testing.assert_array_equal(whole.chains.gather(), again.chains.gather())
    assert whole.trace["log_likelihood"] == again.trace["log_likelihood"]
    assert whole.trace["sweep"] == again.trace["sweep"]
    for name, value in {"topics": np.full(10, 3, dtype=np.uint8), "number": -1, "seed": 1.5, "params": 3}.items():
        with pytest.raises(ValueError, match=name):
            mcem.Run.resumed(documents, 3, Shift(), whole.schedule, {**stopped.standing(), name: value})


@pytest.mark.parametrize("n_samples", [1, 3])
def test_the_result_is_the_mean_of_the_last_sweeps(documents, n_samples):
    one = run(documents, n_samples=n_samples)
    result = mcem.finish(one, interrupted=False)
    topics = np.array([0, 1, 2, 0, 1, 1, 2, 2, 0, 1])
    rows = np.repeat(np.arange(4), X.sum(axis=1))
    counts, tokens = np.zeros((4, 3)), np.zeros(3)
    for number in range(1, n_samples + 1):
        np.add.at(counts, (rows, (topics + number) % 3), 1.0 / n_samples)
        tokens += np.bincount((topics + number) % 3, minlength=3) / n_samples
    mixtures = counts + np.array([0.5, 1.0, 1.5])
    np.testing.assert_allclose(result.doc_topic, mixtures / mixtures.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(result.stats.tokens, tokens)
    assert result.stats.log_joint == pytest.approx(-10.0)
    np.testing.assert_array_equal(result.params.alpha, [100.5, 101.0, 101.5])
    order = np.array([2, 0, 1])
    other = result.reordered(order)
    np.testing.assert_array_equal(other.doc_topic, result.doc_topic[:, order])
    np.testing.assert_array_equal(other.params.alpha, result.params.alpha[order])
    np.testing.assert_array_equal(other.stats.tokens, result.stats.tokens[order])


def test_ctrl_c_at_the_end_gives_the_result_of_one_sweep(documents):
    class Interrupted(Shift):
        def sweeps(self, chains, params, n_sweeps):
            if len(self.calls) == 2:
                self.calls.append("interrupted")
                raise KeyboardInterrupt
            return super().sweeps(chains, params, n_sweeps)

    method = Interrupted()
    result = mcem.finish(run(documents, method, n_samples=10), interrupted=False)
    assert result.interrupted
    assert method.calls == [1, 1, "interrupted", 1]
    again = Shift()
    assert mcem.finish(run(documents, again, n_samples=10), interrupted=True).interrupted
    assert again.calls == [1]
