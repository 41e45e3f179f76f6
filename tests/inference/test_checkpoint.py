"""A fit that is killed and started again ends with the bits of one that never was."""

from __future__ import annotations

import os
import signal
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from bursty import DCMLDA, DPMFS, LDA, Checkpoint, Mixture, datasets
from bursty.inference import checkpoint as module
from bursty.models.dpmfs import settings
from bursty.storage import read_tree, write_tree
from bursty.storage.schema import stored_classes


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(150, 60, 3, random_state=0)[0]


MODELS = {
    "mixture": Mixture.from_paper("elkan2006", 3, n_init=3, max_iter=15, tol=0, n_jobs=1, random_state=1),
    "restarted": Mixture(6, init="perturb", temperatures=(90, 1), tempering=None, max_iter=8, n_jobs=1, random_state=1),
    "default": Mixture(3, n_init=4, max_iter=15, stopping="relative", tol=0, n_jobs=1, random_state=1),
    "vmf": Mixture.from_paper("elkan2006", 3, family="vonmisesfisher", max_iter=15, tol=0, n_jobs=1, random_state=1),
    "lda": LDA(3, learn_hyperparameters=True, n_iter=20, tol=0, n_jobs=1, random_state=1),
    "dcmlda": DCMLDA(3, n_iter=20, tol=0, n_jobs=1, random_state=1),
    "drawn": DCMLDA(3, n_drawn=9, n_iter=20, tol=0, n_jobs=1, random_state=1),
    "dpmfs": DPMFS(n_iter=60, n_chains=2, n_jobs=1, random_state=1),
    "dpmfs auto": DPMFS(n_iter="auto", max_iter=24, n_chains=2, n_jobs=1, random_state=1),
    "dpmfs paper": DPMFS(10, sampler="paper", n_iter=60, burn_in=30, n_jobs=1, random_state=1),
}


def fitted(model, corpus, **params):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="EM did not converge")
        return clone(model).set_params(**params).fit(corpus)


def assert_same(one, other):
    compared = 0
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)
            compared += 1
    assert compared > 4
    name = "log_joint" if "log_joint" in one.trace_ else "log_likelihood"
    np.testing.assert_array_equal(one.trace_[name], other.trace_[name])


class Stop(Exception):
    pass


@pytest.fixture(autouse=True)
def early_rounds(monkeypatch):
    """Chains that run until they settle are judged after 8, 12, 18 and 24 sweeps."""
    monkeypatch.setattr(settings, "FIRST_ROUND", 8)


# Chains that are judged together are also stopped at the end of the first round, and within the second.
STOPS = [(name, after) for name in MODELS for after in (1, 2, 7)] + [("dpmfs auto", 16), ("dpmfs auto", 21)]


@pytest.mark.parametrize(("name", "after"), STOPS)
def test_stopped_after_some_writes(name, after, corpus, tmp_path, monkeypatch):
    path = tmp_path / "fit.checkpoint"
    whole = fitted(MODELS[name], corpus)
    written = []

    def write(*args):
        write_tree(*args)
        written.append(1)
        if len(written) == after:
            raise Stop

    write_tree = module.write_tree
    monkeypatch.setattr(module, "write_tree", write)
    where = Checkpoint(path, iterations=1)
    with pytest.raises(Stop):
        fitted(MODELS[name], corpus, checkpoint=where)
    assert path.exists()
    monkeypatch.setattr(module, "write_tree", write_tree)
    assert_same(whole, fitted(MODELS[name], corpus, checkpoint=where))
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_killed_at_fifty_random_moments(corpus, tmp_path):
    """Eight kills for each of eight models, at any moment of the fit, the writing of the checkpoint included."""
    rng, resumed = np.random.default_rng(0), 0
    for name, model in MODELS.items():
        path = tmp_path / name
        where = Checkpoint(path, iterations=1)
        whole = fitted(model, corpus)
        began = time.perf_counter()
        fitted(model, corpus, checkpoint=Checkpoint(tmp_path / "timed", iterations=1))
        duration = time.perf_counter() - began
        for _ in range(8):
            _killed_after(rng.random() * 0.9 * duration, model, corpus, where)
            resumed += path.exists()
        assert_same(whole, fitted(model, corpus, checkpoint=where))
        assert list(tmp_path.iterdir()) == []  # what the killed writers left is gone too
    assert resumed > 0


def _killed_after(seconds, model, corpus, where):
    child = os.fork()
    if child == 0:
        try:
            fitted(model, corpus, checkpoint=where)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.fixture
def unfinished(corpus, tmp_path, monkeypatch):
    """The checkpoint of a fit that was stopped."""
    path = tmp_path / "fit.checkpoint"

    def write(*args):
        write_tree(*args)
        raise Stop

    write_tree = module.write_tree
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_tree", write)
        with pytest.raises(Stop):
            fitted(MODELS["mixture"], corpus, checkpoint=Checkpoint(path, iterations=2))
    return path


def test_another_fit_is_refused_with_the_reason(corpus, unfinished):
    before = unfinished.read_bytes()
    with pytest.raises(ValueError, match="max_iter 15, and this fit has 16"):
        fitted(MODELS["mixture"], corpus, max_iter=16, checkpoint=unfinished)
    with pytest.raises(ValueError, match="belongs to a fit with other documents"):
        fitted(MODELS["mixture"], corpus.select(slice(1, None)), checkpoint=unfinished)
    with pytest.raises(ValueError, match=r"belongs to a fit with .*family"):
        fitted(MODELS["mixture"], corpus, family="dcm", checkpoint=unfinished)
    with pytest.raises(ValueError, match="labels None, and this fit has array"):
        MODELS["mixture"].set_params(checkpoint=str(unfinished)).fit(corpus, np.r_[0, 1, np.full(148, -1)])
    MODELS["mixture"].set_params(checkpoint=None)
    with pytest.raises(ValueError, match=r"DCMLDA|not a readable"):
        fitted(MODELS["dcmlda"], corpus, checkpoint=unfinished)
    assert unfinished.read_bytes() == before


def test_threads_and_engine_may_change(corpus, unfinished):
    whole = fitted(MODELS["mixture"], corpus)
    assert_same(whole, fitted(MODELS["mixture"], corpus, n_jobs=2, verbose=1, checkpoint=str(unfinished)))


def test_a_damaged_checkpoint_is_named(corpus, unfinished):
    unfinished.write_bytes(unfinished.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"fit.checkpoint is not a readable bursty checkpoint"):
        fitted(MODELS["mixture"], corpus, checkpoint=unfinished)


def test_a_full_disk_loses_nothing(corpus, unfinished, monkeypatch):
    before = unfinished.read_bytes()
    whole = fitted(MODELS["mixture"], corpus)

    def full(*args):
        raise OSError(28, "No space left on device")

    kept = []
    monkeypatch.setattr(module, "write_tree", full)
    monkeypatch.setattr(module.CheckpointWriter, "done", lambda self: kept.append(unfinished.read_bytes()))
    with pytest.warns(UserWarning, match="could not be written .*No space left.*the fit continues"):
        assert_same(whole, fitted(MODELS["mixture"], corpus, checkpoint=Checkpoint(unfinished, iterations=5)))
    assert kept == [before]


def test_by_the_clock(corpus, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(module, "write_tree", lambda *args: written.append(1))
    fitted(MODELS["lda"], corpus, checkpoint=Checkpoint(tmp_path / "never", minutes=1000))
    assert not written
    fitted(MODELS["lda"], corpus, checkpoint=Checkpoint(tmp_path / "always", minutes=0))
    assert len(written) == 20


@pytest.mark.parametrize(
    ("checkpoint", "message"),
    [
        (3, "checkpoint must be a path"),
        ("nowhere/at/all", "no such directory"),
        (Checkpoint("x", iterations=0), "positive integer"),
        (Checkpoint("x", minutes=-1.0), "non-negative number"),
    ],
)
def test_bad_checkpoints(checkpoint, message, corpus):
    for name in ("mixture", "lda", "dcmlda", "dpmfs"):
        with pytest.raises(ValueError, match=message):
            fitted(MODELS[name], corpus, checkpoint=checkpoint)


ONES, TEXT = np.ones(60), np.array([b"1"] * 60)
LIES = {
    "topics": ("lda", ("run", "topics"), lambda topics: np.full_like(topics, 255)),
    "fewer topics": ("dcmlda", ("run", "topics"), lambda topics: topics[:-1]),
    "alpha": ("lda", ("run", "params", "alpha"), lambda alpha: np.append(alpha, 1.0)),
    "beta": ("dcmlda", ("run", "params", "beta"), lambda beta: beta[:-1].copy()),
    "no beta": ("dcmlda", ("run", "params", "beta"), lambda beta: beta * np.nan),
    "weights": ("mixture", ("run", "state", "weights"), lambda weights: weights[:1] / weights[0]),
    "parameters": ("mixture", ("run", "state", "params", "beta"), lambda beta: np.hstack([beta, beta])),
    "phase": ("mixture", ("run", "phase"), lambda phase: 99),
    "trace": ("mixture", ("run", "trace", "log_likelihood"), lambda values: values[:-1]),
    "labels": ("dpmfs", ("runs", 0, "state", "labels"), lambda labels: labels + 1000),
    "chosen": ("dpmfs", ("runs", 0, "state", "chosen"), lambda chosen: chosen[:-1]),
    "tables": ("dpmfs", ("runs", 0, "state", "tables"), lambda tables: tables + 1),
    # Found by the fuzzer: errors of other libraries, and results that are no numbers.
    "type of labels": ("dpmfs paper", ("runs", 0, "state", "labels"), lambda labels: labels.astype(np.uint64)),
    "type of chosen": ("dpmfs", ("runs", 0, "state", "chosen"), lambda chosen: chosen.astype(np.int64)),
    "how often chosen": ("dpmfs", ("runs", 0, "windows"), lambda windows: [[0, 5, [], np.array([b"a"] * 60), 0, 0, 1]]),
    "numbers as text": ("dpmfs", ("runs", 0, "windows"), lambda windows: [[0, 5, [], TEXT, ONES, ONES, 1]]),
    "burst": ("dpmfs", ("runs", 0, "state", "burst"), lambda burst: burst * 0),
    "no state": ("dpmfs", ("runs", 0, "state"), lambda state: None),
}


@pytest.mark.parametrize(("name", "path", "change"), LIES.values(), ids=LIES)
def test_a_checkpoint_that_lies(corpus, tmp_path, monkeypatch, name, path, change):
    """Its checksums are right; what kernels would index is checked all the same."""
    place = tmp_path / "fit"

    def write(*args):
        write_tree(*args)
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_tree", write)
        with pytest.raises(Stop):
            fitted(MODELS[name], corpus, checkpoint=Checkpoint(place, iterations=2))
    tree = read_tree(place, "checkpoint", stored_classes())
    value, names = tree["state"], path
    for key in names[:-1]:
        value = value[key] if isinstance(value, dict | list) else getattr(value, key)
    old = value[names[-1]] if isinstance(value, dict | list) else getattr(value, names[-1])
    if isinstance(value, dict | list):
        value[names[-1]] = change(old)
    else:
        object.__setattr__(value, names[-1], change(old))
    write_tree(place, "checkpoint", tree, stored_classes())
    with pytest.raises(ValueError, match=r"fit is not a checkpoint that this fit can resume from"):
        fitted(MODELS[name], corpus, checkpoint=place)
