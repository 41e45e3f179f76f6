"""The examples in the docstrings of the public interface run as doctests."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
from matplotlib import pyplot

API = Path(__file__).parents[2] / "docs" / "api" / "index.md"
#: Names that need no example.
WITHOUT = {"bursty.datasets.DatasetUnavailable"}
#: Modules all of whose names have an example.
COMPLETE = {"bursty.corpus", "bursty.datasets", "bursty.plot", "bursty.report"}


def _names() -> list[str]:
    """Every name of the API reference."""
    found = []
    for module, entries in re.findall(r"currentmodule:: (\S+)\n(.*?)```", API.read_text(encoding="utf-8"), re.DOTALL):
        found += [f"{module}.{name}" for name in re.findall(r"^   (\w+)$", entries, re.MULTILINE)]
    return found


@pytest.mark.parametrize("name", _names())
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(module), attribute)
    if module in COMPLETE and name not in WITHOUT:
        assert "Examples\n" in value.__doc__, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    problems: list[str] = []
    for test in doctest.DocTestFinder(recurse=True).find(value, name, globs={}):
        runner.run(test, out=problems.append)
    pyplot.close("all")
    assert not runner.failures, "".join(problems)
