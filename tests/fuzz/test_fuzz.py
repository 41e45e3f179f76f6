"""A fixed number of mutations of every format, in child processes; ``python -m benchmarks.fuzz`` tries thousands.

CI runs this once more with ``NUMBA_BOUNDSCHECK=1``, under which compiled code that reads outside an array raises.
"""

from __future__ import annotations

import os
import time

import pytest
from benchmarks.fuzz import run, targets

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:the log-likelihood was still"),
]


@pytest.fixture(scope="module")
def known():
    return {target.name: target for target in targets.targets()}


@pytest.mark.parametrize("name", ["model", "corpus", "shards", "checkpoint", "text"])
def test_mutations(known, name, tmp_path):
    chosen = [known[name]] if name in known else [target for target in known.values() if not target.container]
    for target in chosen:
        place = tmp_path / target.name
        place.mkdir()
        targets.warm_up(target, place)  # the valid files are accepted
        outcome = run.Outcome()
        run.fuzz(target, 0, 40, time.monotonic() + 600, outcome)
        assert outcome.faults == []
        assert outcome.n_tried == 40
        assert outcome.counts["refused"] > 0
