"""The Dask engine on real clusters of processes: the same bits as in this process, and what happens when parts die."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from bursty import DCMLDA, LDA, BayesClassifier, Checkpoint, Mixture, datasets, families
from bursty.corpus import shards
from bursty.corpus.shards import write_shards
from bursty.engines import chunks, get_engine, local
from bursty.inference import starts

distributed = pytest.importorskip("distributed")
engine = pytest.importorskip("bursty.engines.dask")

# Python and Dask warn about their own doings when clusters come and go.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*Port .* is already in use"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SIZE = 40


@pytest.fixture(scope="module", autouse=True)
def small():
    """Chunks of forty documents in every process that places them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "cut", lambda table: chunks.cut(table, SIZE))
        patch.setattr(engine, "cut", lambda table: chunks.cut(table, SIZE))
        patch.setattr(engine, "SHARD_SIZE", SIZE)
        patch.setattr(shards, "SHARD_SIZE", SIZE)
        patch.setattr(starts, "KMEANS_RUNS", 2)
        yield


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(150, 50, 3, random_state=0)[0]


def cluster(n_workers, **options):
    """Processes that talk over TCP."""
    options = {"threads_per_worker": 1, "dashboard_address": None, "processes": True, **options}
    return distributed.LocalCluster(n_workers=n_workers, **options)


@pytest.fixture(scope="module")
def client():
    with cluster(2) as workers, distributed.Client(workers) as client:
        yield client


MODELS = {
    "dcm": families.DCM(),
    "mixture": Mixture(3, init="perturb", temperatures=(1,), max_iter=5, tol=1e-3, random_state=0),
    "dcm mixture": Mixture(3, family="dcm", temperatures=(1,), max_iter=2, tol=1e-3, random_state=0),
    "classifier": BayesClassifier(),
    "lda": LDA(3, learn_hyperparameters=True, n_iter=2, n_sweeps=1, burn_in=2, n_samples=2, tol=0, random_state=0),
    "dcmlda": DCMLDA(3, n_iter=2, n_sweeps=2, burn_in=2, n_samples=2, tol=0, random_state=0),
}


def fitted(model, X, labels, **params):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="EM did not converge")
        return clone(model).set_params(**params).fit(X, labels)


def assert_same(one, other):
    compared = 0
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)
            compared += 1
    assert compared >= 1


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_as_in_this_process(name, client, corpus):
    model = MODELS[name]
    here, there = (fitted(model, corpus, corpus.labels, engine=where) for where in ("local", "dask"))
    assert_same(here, there)
    for method in ("predict_proba", "log_prob", "transform", "score_samples"):
        if hasattr(here, method):
            np.testing.assert_array_equal(getattr(there, method)(corpus), getattr(here, method)(corpus))


def test_same_bits_for_any_workers_and_any_placement(corpus):
    names = "mixture", "classifier", "lda", "dcmlda"
    here = {name: fitted(MODELS[name], corpus, corpus.labels) for name in names}
    for n_workers in (1, 4):
        with cluster(n_workers) as workers, distributed.Client(workers) as client:
            for name in names:
                assert_same(here[name], fitted(MODELS[name], corpus, corpus.labels, engine=client))
            documents = get_engine(client).place(corpus.counts)
            documents.homes = documents.homes[::-1]
            resp = np.random.default_rng(0).random((len(corpus), 3))
            local_documents = get_engine("local").place(corpus.counts)
            one, other = (d.sum(chunks.Chunk.sum_by_word, d.split(resp)) for d in (documents, local_documents))
            np.testing.assert_array_equal(one, other)


def test_shards_are_opened_by_the_workers(client, corpus, tmp_path):
    sharded = write_shards(tmp_path / "corpus", corpus)
    assert_same(
        fitted(MODELS["mixture"], corpus, corpus.labels), fitted(MODELS["mixture"], sharded, None, engine="dask")
    )


@pytest.mark.parametrize("rows", [150, 40, 33, 7])
def test_dask_arrays_in_blocks_of_any_size(client, corpus, rows):
    import dask.array as da

    dense = da.from_array(corpus.counts.toarray(), chunks=(rows, 20))
    sparse = dense.rechunk({1: -1}).map_blocks(sp.csr_array)
    plain = families.DCM().fit(corpus.counts)
    for X in (dense, sparse):
        model = families.DCM(engine="dask").fit(X)
        np.testing.assert_array_equal(model.alpha_, plain.alpha_)
        np.testing.assert_array_equal(model.log_prob(X), plain.log_prob(corpus.counts))


def test_dask_arrays_in_a_mixture_a_classifier_and_a_topic_model(client, corpus):
    import dask.array as da

    X = da.from_array(corpus.counts.toarray(), chunks=(33, -1))
    for name in ("mixture", "classifier", "dcmlda"):
        here = fitted(MODELS[name], corpus.counts, corpus.labels)
        assert_same(here, fitted(MODELS[name], X, corpus.labels, engine="dask"))


def test_dask_data_frames_name_the_words(client, corpus):
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary.tolist())
    model = families.EDCM(engine="dask").fit(dd.from_pandas(frame, npartitions=4))
    assert model.feature_names_in_.tolist() == corpus.vocabulary.tolist()
    np.testing.assert_array_equal(model.beta_, families.EDCM().fit(frame).beta_)


def test_dask_bags_of_documents(client, corpus):
    import dask.bag as db

    rows = [corpus.counts[[i]] for i in range(len(corpus))]
    plain = families.EDCM().fit(corpus.counts)
    for documents in (rows, [row.toarray().ravel() for row in rows]):
        model = families.EDCM(engine="dask").fit(db.from_sequence(documents, npartitions=4))
        np.testing.assert_array_equal(model.beta_, plain.beta_)


def test_bad_blocks_are_named_before_any_work(client):
    import dask.array as da

    X = da.from_array(np.array([[1, 2], [3, -4]]), chunks=(1, 2))
    with pytest.raises(ValueError, match="Negative values in data passed to DCM"):
        families.DCM(engine="dask").fit(X)
    with pytest.raises(ValueError, match='use engine="dask"'):
        families.DCM().fit(X)
    with pytest.raises(ValueError, match="documents x words"):
        families.DCM(engine="dask").fit(da.ones(3))
    model = families.DCM(engine="dask").fit(da.ones((3, 4), dtype=int, chunks=(2, 4)))
    with pytest.raises(ValueError, match="4 features"):
        model.log_prob(da.ones((3, 5), dtype=int, chunks=(2, 5)))


def test_long_chains_are_cut_without_a_change(client, corpus, monkeypatch):
    here = fitted(MODELS["dcmlda"], corpus, None, n_iter=4)
    monkeypatch.setattr(engine, "GENERATIONS", 2)
    assert_same(here, fitted(MODELS["dcmlda"], corpus, None, n_iter=4, engine="dask"))


@pytest.mark.parametrize("name", ["mixture", "dcmlda", "lda"])
def test_a_worker_killed_in_the_middle(name, corpus):
    many = {"mixture": {"max_iter": 40, "tol": 0.0}, "dcmlda": {"n_iter": 15}, "lda": {"n_iter": 10}}[name]
    here = fitted(MODELS[name], corpus, None, **many)
    with cluster(2) as workers, distributed.Client(workers) as client:
        pids = client.run(os.getpid)
        killer = threading.Timer(0.5, os.kill, (next(iter(pids.values())), signal.SIGKILL))
        killer.start()
        there = fitted(MODELS[name], corpus, None, engine=client, **many)
        assert killer.finished.is_set(), "the fit was over before anybody was killed"
    assert_same(here, there)


def test_a_slow_worker_changes_nothing(corpus):
    here = fitted(MODELS["mixture"], corpus, None)
    with cluster(2) as workers, distributed.Client(workers) as client:
        slow = sorted(client.scheduler_info()["workers"])[0]
        pid = client.run(os.getpid)[slow]
        stop = threading.Event()

        def hold():
            while not stop.wait(0.05):
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.1)
                os.kill(pid, signal.SIGCONT)

        thread = threading.Thread(target=hold)
        thread.start()
        there = fitted(MODELS["mixture"], corpus, None, engine=client)
        stop.set()
        thread.join()
    assert_same(here, there)


def test_a_scheduler_that_goes_away_and_a_fit_that_goes_on_elsewhere(corpus, tmp_path, client):
    """A scheduler in a process of its own, killed; the checkpoint then goes on with another cluster."""
    many = {"n_iter": 20, "tol": 0}
    here = fitted(MODELS["dcmlda"], corpus, None, **many)
    where = Checkpoint(tmp_path / "fit", iterations=1)
    with _separate_processes() as (address, scheduler):
        lost = distributed.Client(address, timeout=10, set_as_default=False)
        lost.wait_for_workers(1)

        def kill_when_it_has_begun():
            while not (tmp_path / "fit").exists():
                time.sleep(0.05)
            scheduler.kill()

        killer = threading.Thread(target=kill_when_it_has_begun)
        killer.start()
        with pytest.raises(engine.EngineLost, match=r"scheduler went away.*checkpoint"):
            fitted(MODELS["dcmlda"], corpus, None, engine=engine.DaskEngine(lost), checkpoint=where, **many)
        killer.join()
        lost.close(timeout=2)
    assert (tmp_path / "fit").exists()
    assert_same(here, fitted(MODELS["dcmlda"], corpus, None, engine=client, checkpoint=where, **many))
    assert not (tmp_path / "fit").exists()


class _separate_processes:
    """A scheduler and a worker started as programs of their own, over TCP."""

    def __enter__(self):
        import subprocess
        import sys

        dask = [sys.executable, "-m", "dask"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.processes = [subprocess.Popen([*dask, "scheduler", *options], **quiet)]
        for line in self.processes[0].stderr:
            if "Scheduler at:" in line:
                address = line.split("Scheduler at:")[1].strip()
                break
        options = [address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        self.processes.append(subprocess.Popen([*dask, "worker", *options], **quiet))
        return address, self.processes[0]

    def __exit__(self, *error):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stderr.close()


def test_no_client_and_a_closed_client(corpus):
    with cluster(1) as workers:
        client = distributed.Client(workers, set_as_default=False)
        placed = engine.DaskEngine(client)
        client.close()
        with pytest.raises(engine.EngineLost, match="closed"):
            fitted(MODELS["mixture"], corpus, None, engine=placed)


def test_without_any_client(corpus, monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr(engine, "get_client", none)
    with pytest.raises(ValueError, match="make one first"):
        fitted(MODELS["mixture"], corpus, None, engine="dask")


def _traffic(client):
    """Bytes that have gone between workers."""
    return sum(client.run(_bytes_of_worker).values())


def _bytes_of_worker(dask_worker):
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)


@pytest.mark.parametrize("name", ["mixture", "dcmlda"])
def test_traffic_between_workers_does_not_grow_with_the_documents(name, client, corpus):
    sent = []
    for times in (1, 8):
        X = sp.csr_array(sp.vstack([corpus.counts] * times))
        before = _traffic(client)
        fitted(MODELS[name], X, None, engine=client)
        sent.append(_traffic(client) - before)
    assert sent[1] < 3.0 * max(sent[0], 50_000)
