"""A corpus ten times larger than the memory that the process may take."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import Corpus
from bursty.corpus import shards

ALLOWED = 24 * 2**20

SCRIPT = """
import resource, sys, warnings
import numpy as np
from bursty import Mixture, datasets
from bursty.corpus import ShardedCorpus

warnings.simplefilter("ignore")
model = Mixture(3, init="perturb", temperatures=(1,), max_iter=2, n_jobs=1, random_state=0)
path, allowed, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
# Compile and import all that is needed, on a corpus that has two shards only.
model.fit(ShardedCorpus(sys.argv[4]))
taken = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (taken + allowed, taken + allowed))
try:
    hoard = np.ones(allowed // 8 + 2**20)
except MemoryError:
    pass
else:
    raise SystemExit("the limit does not hold")
model.fit(ShardedCorpus(path))
np.save(out, model.components_)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit on private memory is Linux's")
def test_memory_is_that_of_a_few_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD_SIZE", 2_000)
    rng = np.random.default_rng(0)

    def part(number):
        words = rng.integers(0, 3_000, 2_000 * 70)
        rows = np.repeat(np.arange(2_000), 70)
        table = sp.csr_array((np.ones(len(rows), dtype=np.int32), (rows, words)), shape=(2_000, 3_000))
        return Corpus(table, [f"w{i}" for i in range(3_000)])

    two = shards.write_shards(tmp_path / "two", (part(i) for i in range(2)))
    many = shards.write_shards(tmp_path / "many", (part(i) for i in range(120)))
    size = sum(path.stat().st_size for path in many.path.glob("*.npy"))
    assert size > 10 * ALLOWED
    args = [str(many.path), str(ALLOWED), str(tmp_path / "out.npy"), str(two.path)]
    run = subprocess.run([sys.executable, "-c", SCRIPT, *args], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    assert np.load(tmp_path / "out.npy").shape == (3, 3_000)
