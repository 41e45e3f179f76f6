"""Cases of a GPU, run in numba's simulator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def assert_cases_pass(script: Path) -> None:
    """In a process of its own: numba decides when it is imported."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    n_cases = script.read_text().count("\ndef check_")
    assert done.stdout.count("passed") == n_cases
