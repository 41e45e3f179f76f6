"""Where `bursty topics` runs."""

from __future__ import annotations

import pytest

from bursty.cli.topics import check_engine


def test_without_a_card(monkeypatch):
    from numba import cuda

    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"--engine cuda found no NVIDIA GPU .* or use --engine local"):
        check_engine("cuda")


def test_of_another_name():
    check_engine("local")
    with pytest.raises(ValueError, match="--engine must be local or cuda, not 'tpu'"):
        check_engine("tpu")
