"""Where compiled kernels are cached when the usual places cannot be written to."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bursty
from bursty.kernels import compile as module

FIT = "from bursty.families import Multinomial; print(Multinomial().fit([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).theta_[0])"


def obey_permissions() -> None:
    """The superuser of a test machine is let through everywhere; without these capabilities it is not."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.parametrize("temporary", ["writable", "closed"])
def test_an_installation_and_a_home_that_cannot_be_written_to(tmp_path, temporary):
    """Every fit failed with "cannot cache function"."""
    library, home, scratch = (tmp_path / name for name in ("library", "home", "scratch"))
    shutil.copytree(Path(bursty.__file__).parent, library / "bursty", ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    scratch.mkdir()
    for folder in (home, *(folder for folder, _, _ in os.walk(library)), *([scratch] if temporary == "closed" else [])):
        Path(folder).chmod(0o500)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(library), "HOME": str(home), "TMPDIR": str(scratch)}
    # A folder that is not there ends the search for another temporary one.
    done = subprocess.run(
        [sys.executable, "-c", f"import tempfile; tempfile.tempdir = {str(scratch)!r}; {FIT}"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=home,
        preexec_fn=obey_permissions,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0.333")
    said = "are cached in" if temporary == "writable" else "are compiled again by every process"
    assert done.stderr.count("compiled kernels") == done.stderr.count(said) == 1
    if temporary == "writable":
        (folder,) = scratch.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        assert list(folder.rglob("*.nbi"))
    for folder, _, _ in os.walk(library):
        Path(folder).chmod(0o700)


def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = module.private_folder()
    assert folder is not None
    assert module.private_folder() == folder
    folder.chmod(0o777)
    assert module.private_folder() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert module.private_folder() is None


GROUPED = """
from typing import NamedTuple
import numpy as np
from bursty.kernels.compile import kernel


class {name}(NamedTuple):
    numbers: np.ndarray


@kernel
def total(group):
    return group.numbers.sum()


print(total({name}(np.arange(4.0))))
"""


def test_a_cache_that_names_a_class_of_another_version_is_written_anew(tmp_path):
    """An upgrade that moved a class ended the first call with an AttributeError."""
    found = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    for name in ("Before", "After!", "After!"):
        # The same length and line: the cache of one version has the name of that of the other.
        (tmp_path / "grouped.py").write_text(GROUPED.format(name=name.replace("!", "_")), encoding="utf-8")
        command = [sys.executable, "-c", "import grouped"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.strip())
    assert found == ["6.0"] * 3
    assert len(list((tmp_path / "__pycache__").glob("grouped.total-*.nbi"))) == 1
