"""The examples in the docstrings of the public interface run as doctests."""

from __future__ import annotations

import doctest

import pytest
from matplotlib import pyplot

from public_api import public_names, resolve

#: Names that need no example: exceptions, results of generators, and a dictionary.
WITHOUT = {f"bursty.datasets.{name}" for name in ("DatasetUnavailable", "MixtureTruth", "Yu2010Truth")}
WITHOUT |= {"bursty.families.FAMILIES"}


@pytest.mark.parametrize("name", public_names())
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = resolve(name)
    if name not in WITHOUT:
        assert "Examples\n" in value.__doc__, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    problems: list[str] = []
    for test in doctest.DocTestFinder(recurse=True).find(value, name, globs={}):
        runner.run(test, out=problems.append)
    pyplot.close("all")
    assert not runner.failures, "".join(problems)
