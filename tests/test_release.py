"""What a release says about itself in several places is the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import bursty

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def cited(key: str) -> str | None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(rf'^{key}: "?([^"\n]+)"?$', text, re.MULTILINE)
    return found[1] if found else None


def test_citation_has_the_version_and_a_date():
    assert cited("version") == bursty.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", cited("date-released"))


def test_citation_and_package_name_the_same_source():
    assert cited("repository-code") == PROJECT.get("urls", {}).get("Source")


def test_changelog_has_the_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert bursty.__version__ in headings[:2]


def test_pythons_are_those_of_the_workflow():
    named = [name.rsplit(" ", 1)[1] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    tested = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", workflow)[1])
    assert tested[: len(named)] == named  # a newer one may be tried before it is promised
    assert PROJECT["requires-python"] == f">={named[0]}"
