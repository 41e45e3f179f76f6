"""The Dask engine where parts of a cluster are slow, die, run out of memory or are on other hosts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from bursty import Checkpoint, datasets, families
from engines.dask_clusters import MARKS, MODELS, assert_same, distributed, engine, fitted, start_cluster

pytestmark = MARKS


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(150, 50, 3, random_state=0)[0]


@pytest.mark.parametrize("name", ["mixture", "dcmlda", "lda"])
def test_a_worker_killed_in_the_middle(name, corpus):
    many = {"mixture": {"max_iter": 40, "tol": 0.0}, "dcmlda": {"n_iter": 15}, "lda": {"n_iter": 10}}[name]
    here = fitted(MODELS[name], corpus, None, **many)
    with start_cluster(2) as workers, distributed.Client(workers) as client:
        pids = client.run(os.getpid)
        killer = threading.Timer(0.5, os.kill, (next(iter(pids.values())), signal.SIGKILL))
        killer.start()
        there = fitted(MODELS[name], corpus, None, engine=client, **many)
        assert killer.finished.is_set(), "the fit was over before anybody was killed"
    assert_same(here, there)


def test_a_slow_worker_changes_nothing(corpus):
    here = fitted(MODELS["mixture"], corpus, None)
    with start_cluster(2) as workers, distributed.Client(workers) as client:
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
    with start_cluster(1) as workers:
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


def test_workers_without_memory_do_not_stand_still(corpus, monkeypatch):
    """A worker above its limit is paused, and a fit waited for it for ever."""
    import dask

    monkeypatch.setattr(engine, "POLL", 0.2)
    monkeypatch.setattr(engine, "PATIENCE", 1.0)
    settings = {"distributed.worker.memory.pause": 0.5, "distributed.worker.memory.spill": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, memory_limit="20MB", dashboard_address=":0"
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
            n_workers=1, threads_per_worker=1, memory_limit="140MB", dashboard_address=":0", silence_logs=50
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
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        documents = engine.DaskEngine(client).place(corpus.counts)
        cluster.scale(0)
        with pytest.raises(engine.EngineLost, match="no workers any more"):
            documents.sum(_n_documents)


def _n_documents(chunk):
    return len(chunk)
