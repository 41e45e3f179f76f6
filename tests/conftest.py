"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Deterministic examples, and no deadline: a first call may compile.
settings.register_profile("bursty", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("bursty")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real corpora; its absence is a skip for a newcomer and a failure in CI."""
    path = os.environ.get("BURSTY_DATA")
    if path and Path(path).is_dir():
        return Path(path)
    message = "set BURSTY_DATA to the folder of corpora to run this test"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
