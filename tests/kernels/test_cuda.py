"""The kernels of a card, in numba's simulator, and what is said where there is no card."""

from __future__ import annotations

import operator
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bursty import DCMLDA
from bursty.engines.cuda import open_card
from bursty.engines.documents import has_versions, version_for
from bursty.inference.topics import lda
from cuda_simulator import assert_cases_pass


def test_in_the_simulator():
    assert_cases_pass(Path(__file__).parent / "cuda_cases.py")


def test_without_a_card(monkeypatch):
    from numba import cuda

    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="found no NVIDIA GPU"):
        DCMLDA(2, engine="cuda").fit(np.ones((4, 3), dtype=int))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(ImportError, match=r"bursty\[gpu\]"):
        DCMLDA(2, engine="cuda").fit(np.ones((4, 3), dtype=int))


def test_with_a_numpy_that_is_too_new(monkeypatch):
    from numba import cuda

    def without_row_stack(name):
        raise AttributeError("module 'numpy' has no attribute 'row_stack'")

    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr("importlib.import_module", without_row_stack)
    with pytest.raises(RuntimeError, match=r"does not work with NumPy .*row_stack.*bursty\[gpu\]"):
        open_card()


def test_versions_are_found_by_name(monkeypatch):
    class Owner:
        @has_versions
        def add(self, other):
            raise AssertionError

    def plain():
        """Has no version."""

    package, _, name = __name__.rpartition(".")
    beside(monkeypatch, f"{package}.cuda_{name}".lstrip("."), add=operator.add, plain=operator.add)
    assert version_for("cuda", plain) is None
    assert version_for("other", Owner().add) is None
    assert version_for("cuda", Owner.add)(2, 3) == 5
    with pytest.raises(TypeError):
        version_for("cuda", Owner().add)(3)


def test_a_new_device_changes_no_model(monkeypatch):
    beside(monkeypatch, "bursty.inference.topics.tpu_lda", sweep=lambda *args: "on the device")
    assert version_for("tpu", lda.sweep)() == "on the device"
    assert version_for("tpu", lda.new_phi) is None
    assert version_for("abacus", lda.sweep) is None


def beside(monkeypatch, name, **members):
    """A module of this name with these members."""
    module = ModuleType(name)
    module.__dict__.update(members)
    module.__spec__ = ModuleSpec(name, None)
    monkeypatch.setitem(sys.modules, name, module)
