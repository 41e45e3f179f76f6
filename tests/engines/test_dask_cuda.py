"""GPUs of Dask workers, in numba's simulator, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bursty import DCMLDA, LDA, Mixture
from cuda_simulator import assert_cases_pass
from engines.dask_clusters import MARKS, distributed, engine

pytestmark = MARKS


def test_in_the_simulator():
    assert_cases_pass(Path(__file__).parent / "dask_cuda_cases.py")


@pytest.mark.parametrize("model", [DCMLDA(2), LDA(2), Mixture(2, family="edcm")])
def test_workers_without_a_card(monkeypatch, model):
    from numba import cuda

    monkeypatch.setattr(cuda, "is_available", lambda: False)
    threads = {"processes": False, "dashboard_address": ":0", "n_workers": 2, "threads_per_worker": 1}
    with distributed.Client(**threads) as client, pytest.raises(RuntimeError, match="found no NVIDIA GPU"):
        model.set_params(engine=engine.DaskEngine(client, device="cuda")).fit(np.ones((4, 3), dtype=int))


def test_an_unknown_device(client):
    with pytest.raises(ValueError, match='must be "cpu" or "cuda", not \'gpu\''):
        engine.DaskEngine(client, device="gpu")
