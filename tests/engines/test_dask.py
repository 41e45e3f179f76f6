"""The Dask engine on real clusters of processes: the same bits as in this process, and what happens when parts die."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

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
engine = importlib.import_module("bursty.engines.dask")
tasks = importlib.import_module("bursty.engines.dask_tasks")
dask_collections = importlib.import_module("bursty.engines.dask_collections")

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
        patch.setattr(dask_collections, "SHARD_SIZE", SIZE)
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
            pairs = zip(documents.shares, documents.shares[::-1], strict=True)
            documents.shares = [replace(share, home=other.home) for share, other in pairs]
            resp = np.random.default_rng(0).random((len(corpus), 3))
            local_documents = get_engine("local").place(corpus.counts)
            one, other = (d.sum(chunks.Chunk.sum_by_word, d.split(resp)) for d in (documents, local_documents))
            np.testing.assert_array_equal(one, other)


def test_shards_are_opened_by_the_workers(client, corpus, tmp_path):
    sharded = write_shards(tmp_path / "corpus", corpus)
    assert_same(
        fitted(MODELS["mixture"], corpus, corpus.labels), fitted(MODELS["mixture"], sharded, None, engine="dask")
    )


def test_shards_travel_as_names(corpus, tmp_path):
    sharded = write_shards(tmp_path / "corpus", corpus)
    opened = tasks.OpenShards(str(sharded.path), 1, 3)
    sent = pickle.dumps(opened)
    assert len(sent) < 1_000
    assert tasks.sizeof(opened) < 1_000
    arrived = pickle.loads(sent)
    assert len(arrived) == 2
    for chunk, other in zip(opened, arrived, strict=True):
        np.testing.assert_array_equal(chunk.counts.toarray(), other.counts.toarray())


def test_dask_knows_how_large_our_things_are(corpus):
    counts = corpus.counts
    assert tasks.sizeof([chunks.Chunk(counts)]) >= counts.data.nbytes + counts.indices.nbytes
    added = tasks.TreeSum()
    added.add(chunks.Levels(np.arange(5), np.arange(5), np.ones((5, 1_000)), 5))
    assert tasks.sizeof(added) >= 40_000
    assert tasks.bytes_of({"params": replace(added._branches[0][1], n_items=6)}) >= 40_000


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
        slow = sorted(client.nthreads())[0]
        pid = client.run(os.getpid)[slow]
        stop = threading.Event()

        def hold():
            while not stop.wait(0.05):
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.1)
                os.kill(pid, signal.SIGCONT)

        thread = threading.Thread(target=hold)
        thread.start()
        try:
            there = fitted(MODELS["mixture"], corpus, None, engine=client)
        finally:
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

        killer = threading.Thread(target=kill_when_it_has_begun, daemon=True)  # a fit that fails never begins
        killer.start()
        with pytest.raises(engine.EngineLost, match=r"connection to the Dask scheduler is lost.*checkpoint"):
            fitted(MODELS["dcmlda"], corpus, None, engine=engine.DaskEngine(lost), checkpoint=where, **many)
        killer.join()
        lost.close(timeout=2)
    assert (tmp_path / "fit").exists()
    assert_same(here, fitted(MODELS["dcmlda"], corpus, None, engine=client, checkpoint=where, **many))
    assert not (tmp_path / "fit").exists()


class _separate_processes:
    """A scheduler and workers started as programs of their own, over TCP; each worker's command may have a prefix."""

    def __init__(self, host="127.0.0.1", prefixes=((),)):
        self.host, self.prefixes = host, prefixes

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "scheduler"
        dask, options = [sys.executable, "-m", "dask"], ["--no-dashboard", "--scheduler-file", str(file)]
        workers = [[*prefix, *dask, "worker", "--nthreads", "1", "--no-nanny", *options] for prefix in self.prefixes]
        scheduler = [*dask, "scheduler", "--host", self.host, "--port", "0", *options]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes = [subprocess.Popen(command, **quiet) for command in (scheduler, *workers)]
        for _ in range(600):
            if file.exists() and file.read_text().endswith("}"):
                return json.loads(file.read_text())["address"], self.processes[0]
            time.sleep(0.1)
        self.__exit__()
        raise TimeoutError("the scheduler did not start")

    def __exit__(self, *error):
        for process in self.processes:
            process.kill()
            process.wait()
        self.folder.cleanup()


class _hosts:
    """Network namespaces as hosts, each with a cable to one switch, whose address is that of this process."""

    def __init__(self, n_hosts):
        self.tag = f"b{os.getpid() % 100_000}"
        self.names = [f"{self.tag}h{i}" for i in range(n_hosts)]
        self.subnet = f"10.231.{os.getpid() % 250}"

    def __enter__(self):
        try:
            self._ip(f"link add {self.tag} type bridge")
            self._ip(f"addr add {self.subnet}.1/24 dev {self.tag}")
            self._ip(f"link set {self.tag} up")
            for i, name in enumerate(self.names):
                self._ip(f"netns add {name}")
                self._ip(f"link add {name}a type veth peer name {name}b")
                self._ip(f"link set {name}a master {self.tag} up")
                self._ip(f"link set {name}b netns {name}")
                self._ip(f"-n {name} addr add {self.subnet}.{i + 2}/24 dev {name}b")
                self._ip(f"-n {name} link set {name}b up")
                self._ip(f"-n {name} link set lo up")
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            pytest.skip(f"no network namespaces can be made here: {getattr(error, 'stderr', None) or error}")
        return f"{self.subnet}.1", [["ip", "netns", "exec", name] for name in self.names]

    def __exit__(self, *error):
        for command in (*(f"link del {name}a" for name in self.names), *(f"netns del {name}" for name in self.names)):
            self._ip(command, check=False)
        self._ip(f"link del {self.tag}", check=False)

    @staticmethod
    def _ip(command, check=True):
        subprocess.run(["ip", *command.split()], check=check, capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("ip") is None, reason="hosts are made with the program ip")
def test_workers_on_hosts_of_their_own(corpus):
    """Three hosts: the scheduler and this process on one, a worker on each of the others."""
    with (
        _hosts(2) as (address, prefixes),
        _separate_processes(address, prefixes) as (scheduler, _),
        distributed.Client(scheduler, timeout=30, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        addresses = [scheduler, *client.nthreads()]
        assert len({address.rsplit(":", 1)[0] for address in addresses}) == 3
        for name in ("mixture", "dcmlda"):
            here, there = (fitted(MODELS[name], corpus, None, engine=where) for where in ("local", client))
            assert_same(here, there)


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


def test_work_is_shared_evenly(client, corpus):
    """Eight chunks of about equal size are four for each of two workers, wherever the exact middle falls."""
    for start in range(5):
        shuffled = corpus.counts[np.random.default_rng(start).permutation(len(corpus))]
        placed = get_engine(client).place(sp.csr_array(sp.vstack([shuffled] * 3)[: 8 * SIZE]))
        assert [(share.start, share.stop) for share in placed.shares] == [(0, 4), (4, 8)]
        assert len({share.home for share in placed.shares}) == 2


def test_every_thread_of_a_worker_has_a_share(corpus):
    with cluster(1, threads_per_worker=2) as workers, distributed.Client(workers, set_as_default=False) as client:
        placed = get_engine(client).place(corpus.counts)
        assert [(share.start, share.stop) for share in placed.shares] == [(0, 2), (2, 4)]
        assert placed.n_tokens == corpus.counts.sum()


@pytest.mark.parametrize("times", [1, 10])
def test_an_iteration_has_as_many_tasks_as_threads(times, client, corpus, monkeypatch):
    """Whatever the number of chunks: what is common to all, two shares, and one to add."""
    placed = get_engine(client).place(sp.csr_array(sp.vstack([corpus.counts] * times)))
    submit, tasks = engine._run, []
    monkeypatch.setattr(engine, "_run", lambda *args: tasks.append(args) or submit(*args))
    assert placed.sum(chunks.Chunk.document_frequency).sum() == times * corpus.counts.nnz
    assert len(tasks) == 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's settings")
def test_workers_keep_the_memory_of_a_chunk_for_the_next(client, corpus):
    """Dask's setting would have every large array given back and cleared anew, page by page."""
    get_engine(client).place(corpus.counts).sum(chunks.Chunk.document_frequency)

    def faults():
        import resource

        def touch():
            np.ones(2**18)
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

        first, *_, last = (touch() for _ in range(11))
        return last - first

    # Given back, the array would be cleared ten times. Other threads of the worker touch a few pages, too.
    assert client.submit(faults, pure=False).result() < 10 * (2**18 * 8 // 4096) / 2


def _bytes_between_workers(client):
    return sum(client.run(lambda dask_worker: sum(t["total"] for t in dask_worker.transfer_incoming_log)).values())


@pytest.mark.parametrize("name", ["mixture", "dcmlda"])
def test_traffic_between_workers_does_not_grow_with_the_documents(name, client, corpus):
    sent = []
    for times in (1, 8):
        X = sp.csr_array(sp.vstack([corpus.counts] * times))
        before = _bytes_between_workers(client)
        fitted(MODELS[name], X, None, engine=client)
        sent.append(_bytes_between_workers(client) - before)
    assert sent[1] < 3.0 * sent[0]


def test_workers_without_memory_do_not_stand_still(corpus, monkeypatch):
    """A worker above its limit is paused, and a fit waited for it for ever."""
    import dask

    monkeypatch.setattr(engine, "POLL", 0.2)
    monkeypatch.setattr(engine, "PATIENCE", 1.0)
    settings = {"distributed.worker.memory.pause": 0.5, "distributed.worker.memory.spill": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, memory_limit="20MB", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        deadline = time.monotonic() + 30
        while not engine._workers(client)[0].paused and time.monotonic() < deadline:
            time.sleep(0.1)
        with pytest.raises(
            engine.EngineLost,
            match=r"paused, because they ran out of memory \(.* in use\); the limit is 20,000,000 b",
        ):
            families.DCM(engine="dask").fit(corpus)


def killed_by_its_nanny(**settings):
    """A cluster of one process, which the nanny restarts whenever it has imported bursty."""
    import dask

    settings = {"distributed.worker.memory.pause": False, "distributed.worker.memory.spill": False, **settings}
    with dask.config.set({"distributed.worker.memory.terminate": 0.9, **settings}):
        return distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="140MB", dashboard_address=None, silence_logs=50
        )


@pytest.mark.parametrize("allowed_failures", [1, 10**6])
def test_workers_killed_by_their_nannies_do_not_stand_still(corpus, monkeypatch, allowed_failures):
    """Dask left their tasks waiting for ever for a worker at the address of the killed one."""
    monkeypatch.setattr(engine, "POLL", 0.2)
    monkeypatch.setattr(engine, "LOSSES", 3)
    with (
        killed_by_its_nanny(**{"distributed.scheduler.allowed-failures": allowed_failures}) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(
            engine.EngineLost, match=r"(lost 3 times|workers died).*ran out of memory.*the limit is 140,000,000 bytes"
        ),
    ):
        families.DCM(engine=client).fit(corpus)


def test_workers_that_are_gone_are_not_waited_for(corpus, monkeypatch):
    monkeypatch.setattr(engine, "POLL", 0.2)
    monkeypatch.setattr(engine, "ABSENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        documents = engine.DaskEngine(client).place(corpus.counts)
        cluster.scale(0)
        with pytest.raises(engine.EngineLost, match="no workers any more"):
            documents.sum(_n_documents)


def _n_documents(chunk):
    return len(chunk)
