"""A change of a public name or signature is a decision: it shows in ``tests/public_api.txt``."""

from __future__ import annotations

import difflib
import importlib
from inspect import ismodule

import pytest

from public_api import LISTED, listing, public_names, resolve

#: Modules every name of which is public.
MODULES = ["bursty", *(f"bursty.{name}" for name in ("corpus", "datasets", "families", "metrics", "plot", "report"))]


def test_interface_is_as_listed():
    listed, present = LISTED.read_text(encoding="utf-8").splitlines(), listing().splitlines()
    changed = "\n".join(difflib.unified_diff(listed, present, "listed", "present", lineterm="", n=0))
    assert not changed, f"the public interface changed; if that is meant, run `python tests/public_api.py`\n{changed}"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module):
    listed = {id(resolve(name)) for name in public_names()}
    contents = importlib.import_module(module)
    values = {name: getattr(contents, name) for name in contents.__all__}
    assert [name for name, value in values.items() if id(value) not in listed and not ismodule(value)] == []
