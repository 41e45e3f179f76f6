"""How long `import bursty` takes beyond importing scikit-learn, and a first fit with and without compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.timing import side_by_side, table

FIT = "from bursty.families import DCM, EDCM; [F().fit([[2, 1], [1, 3]]) for F in (DCM, EDCM)]"


def run(code: str, **env: str) -> float:
    """Seconds that a new Python process takes for this code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env={**os.environ, **env})
    return time.perf_counter() - start


def main() -> None:
    imports = ("import sklearn", "import sklearn, bursty", "import sklearn, bursty.families")
    times = side_by_side({code: (lambda code=code: run(code)) for code in imports}, rounds=5)
    with tempfile.TemporaryDirectory() as cache:
        times["first DCM and EDCM fit, compiling"] = run(FIT, NUMBA_CACHE_DIR=cache)
        times["first DCM and EDCM fit, cached"] = min(run(FIT, NUMBA_CACHE_DIR=cache) for _ in range(3))
    goals = {"import sklearn, bursty": "<= 0.4 s", "first DCM and EDCM fit, compiling": "once per installation"}
    base = times["import sklearn"]
    rows = [(name, seconds, seconds - base, goals.get(name, "")) for name, seconds in times.items()]
    table("Start", rows, ("what", "seconds", "beyond sklearn", "goal"))


if __name__ == "__main__":
    main()
