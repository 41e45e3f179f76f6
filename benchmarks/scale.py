"""Beyond memory and beyond one process: cost against size, streaming, a Dask cluster, memory.

python -m benchmarks.scale                  all but the largest
python -m benchmarks.scale growth --large   10^4 to 10^7 documents
python -m benchmarks.scale streaming        shards against memory
python -m benchmarks.scale dask             two workers against two threads; what travels
python -m benchmarks.scale memory           a corpus ten times larger than the memory allowed
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.simulated import joined, parts
from benchmarks.timing import side_by_side, table
from bursty import DCMLDA, Mixture
from bursty.corpus import write_shards
from bursty.engines import LocalEngine
from bursty.families import get_family
from bursty.inference import em
from bursty.inference.runs import advance
from bursty.inference.starts import perturb
from bursty.inference.stopping import RelativeChange

K = 20


class Iterations:
    """EM iterations on documents that are somewhere."""

    def __init__(self, engine, counts, k=K):
        documents = engine.place(counts)
        self.problem = em.Problem(documents, get_family("edcm"), documents.split(None), k, 0.05)
        self.state = perturb(self.problem, np.random.default_rng(0))
        self()

    def __call__(self, n=1):
        """So many."""
        advance(em.Run(self.problem, em.Schedule((1.0,), n, RelativeChange(-1.0)), self.state))


def growth(folder, large):
    """Time against documents: from shards, one iteration of EM, one sweep of DCMLDA."""
    rows = []
    for n in (10_000, 100_000, 1_000_000, *((10_000_000,) if large else ())):
        sharded = write_shards(folder / f"growth{n}", parts(n, length=30 if n > 2_000_000 else 60))
        tokens = sum(shard.tokens for shard in sharded.shards)
        step = Iterations(LocalEngine(), sharded)
        seconds = min(_seconds(step) for _ in range(3 if n <= 1_000_000 else 1))
        sweep = _sweep_seconds(sharded) if n <= 100_000 else float("nan")
        rows.append((n, tokens, seconds, 1e9 * seconds / tokens, sweep, 1e9 * sweep / tokens))
    header = "documents", "tokens", "EM s", "ns a token", "sweep s", "ns a token "
    table(f"Time against documents, from shards, K = {K}", rows, header)


def _seconds(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def _sweep_seconds(corpus):
    """A sweep with its share of learning, from the difference of two fits."""
    fits = [DCMLDA(K, n_iter=n, burn_in=1, n_sweeps=1, n_samples=1, tol=0, random_state=0) for n in (1, 9)]
    few, many = (min(_seconds(lambda fit=fit: fit.fit(corpus)) for _ in range(2)) for fit in fits)
    return (many - few) / 8


def streaming(folder, n=200_000):
    """An iteration from shards against one from memory."""
    sharded, counts = write_shards(folder / "stream", parts(n)), joined(n)
    rows = []
    for k in (2, 20, 100):
        memory, disk = Iterations(LocalEngine(), counts, k), Iterations(LocalEngine(), sharded, k)
        times = side_by_side({"memory": memory, "disk": disk}, rounds=5)
        rows.append((k, times["memory"], times["disk"], times["memory"] / times["disk"], ">= 0.7"))
    table(f"EDCM EM on {n:,} documents", rows, ("K", "memory s", "shards s", "speed of shards", "goal"))


def dask():
    """Two workers against two threads, an iteration that computes nothing, and the bytes that travel."""
    from distributed import Client, LocalCluster

    from bursty.engines.dask import DaskEngine

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        rows = []
        for n, k in ((262_144, 20), (262_144, 100), (786_432, 5), (786_432, 20)):
            counts = joined(n)
            here, there = Iterations(LocalEngine(2), counts, k), Iterations(DaskEngine(client), counts, k)
            times = side_by_side({"here": lambda here=here: here(3), "there": lambda there=there: there(3)}, rounds=5)
            rows.append((n, k, times["here"] / 3, times["there"] / 3, times["here"] / times["there"], ">= 0.7"))
        table("EDCM EM", rows, ("documents", "K", "2 threads s", "2 workers s", "speed of workers", "goal"))
        rows = []
        for n_documents in (65_536, 131_072, 262_144):
            step = Iterations(DaskEngine(client), counts[:n_documents])
            before = _loopback()
            step(5)
            sent = (_loopback() - before) / 5 / 1e6
            empty = side_by_side({"empty": lambda step=step: step.problem.documents.sum(_nothing, state=step.state)})
            rows.append((n_documents, sent, 1e3 * empty["empty"]))
        header = "documents", "MB an iteration", "ms an iteration that computes nothing"
        table(f"What travels, everything together, K = {K}", rows, header)


def _nothing(chunk, state):
    return 0.0


def _loopback():
    """Bytes over the loopback device since the machine started (Linux)."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.strip().startswith("lo:")))


LIMITED = """
import resource, sys, time, warnings
import numpy as np
from bursty import Mixture
from bursty.corpus import ShardedCorpus
from benchmarks.scale import model

warnings.simplefilter("ignore")
limit = int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
began = time.perf_counter()
fitted = model().fit(ShardedCorpus(sys.argv[1]))
np.savez(sys.argv[3], components=fitted.components_, labels=fitted.labels_)
print(time.perf_counter() - began)
"""


def model():
    return Mixture(5, init="perturb", temperatures=(1,), max_iter=3, n_jobs=1, random_state=0)


def memory(folder, limit=450 * 2**20):
    """A fit in a process that may take a tenth of the corpus's size, Python and the compiler included."""
    sharded = write_shards(folder / "memory", parts(6_000_000, length=55))
    size = sum(path.stat().st_size for path in sharded.path.glob("*.npy"))
    out = folder / "limited.npz"
    args = [sys.executable, "-c", LIMITED, str(sharded.path), str(limit), str(out)]
    run = subprocess.run(args, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"the fit in {limit / 1e6:.0f} MB failed: {run.stderr[-500:]}")
    counts = joined(6_000_000, length=55)
    began = time.perf_counter()
    whole = model().fit(counts)
    seconds = time.perf_counter() - began
    limited = np.load(out)
    same = np.array_equal(limited["components"], whole.components_) and np.array_equal(limited["labels"], whole.labels_)
    rows = [(f"{size / 1e9:.2f} GB", f"{limit / 1e6:.0f} MB", float(run.stdout), seconds, "yes" if same else "NO")]
    table("A fit in little memory", rows, ("corpus", "memory allowed", "s", "s in memory", "same bits"))


def main():
    wanted = [arg for arg in sys.argv[1:] if not arg.startswith("-")] or ["growth", "streaming", "dask", "memory"]
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            if name == "growth":
                growth(Path(folder), "--large" in sys.argv)
            elif name == "dask":
                dask()
            else:
                {"streaming": streaming, "memory": memory}[name](Path(folder))


if __name__ == "__main__":
    main()
