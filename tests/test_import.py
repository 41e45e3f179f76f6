"""`import bursty` stays light; names appear when asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bursty


def test_import_is_light():
    code = (
        "import sys, bursty; heavy = {'numba', 'matplotlib', 'dask', 'pandas', 'sklearn', 'scipy'} & set(sys.modules);"
        "print(','.join(sorted(heavy)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""


def test_every_public_name_is_there():
    for name in bursty.__all__:
        assert getattr(bursty, name) is not None
    assert set(bursty.__all__) <= set(dir(bursty))


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = bursty.nonsense
