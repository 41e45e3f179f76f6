"""Docstrings of the public interface: examples run as doctests, "See Also" names what exists, equations are there."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest
from matplotlib import pyplot

from bursty import plot
from doc_pages import ROOT
from public_api import public_names, resolve

#: A dictionary has the docstring of all dictionaries.
WITHOUT = {"bursty.families.FAMILIES"}


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


@pytest.mark.parametrize("name", [name for name in public_names() if name != "bursty.families.FAMILIES"])
def test_see_also_names_others_of_the_reference(name):
    section = re.search(r"^See Also\n-+\n(.*?)(?:\n\n|\Z)", inspect.getdoc(resolve(name)), re.DOTALL | re.MULTILINE)
    assert section, f"{name} has no section See Also"
    listed, module = set(public_names()), name.rpartition(".")[0]
    for line in section[1].splitlines():
        for other in line.partition(" : ")[0].split(", "):
            found = other if other.startswith("bursty.") else f"{module}.{other}"
            owner, _, method = found.rpartition(".")
            assert found in listed or (owner in listed and hasattr(resolve(owner), method)), f"{name}: {other}"
            assert found != name


#: What implements a formula says which.
FORMULAS = [
    *(
        f"bursty.families.{name}"
        for name in ("Multinomial", "DCM", "EDCM", "VonMisesFisher", "Dirichlet", "GammaPrior")
    ),
    *(f"bursty.{name}" for name in ("Mixture", "select_components", "BayesClassifier", "DPMFS", "DCMLDA", "LDA")),
    *(f"bursty.families.bursts.{name}" for name in ("burstiness", "repeat_probabilities")),
    *(
        f"bursty.families.uncertainty.{name}"
        for name in ("parameter_errors", "overdispersion_test", "compare_groups", "predictive_check")
    ),
    "bursty.models.hierarchy.Hierarchy",
    "bursty.datasets.make_yu2010",
    "bursty.datasets.make_bursty_mixture",
    "bursty.plot.reliability_bins",
    *(
        name
        for name in public_names()
        if name.startswith("bursty.metrics.") and not name.endswith("CountProbabilities")
    ),
]


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_shown(name):
    assert ".. math::" in resolve(name).__doc__


def test_gallery_shows_every_plot():
    shown = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("plot_*.py"))
    drawn = set(plot.__all__) - {"reliability_bins"}  # the numbers behind a plot
    assert not {name for name in drawn if f"plot.{name}(" not in shown}
