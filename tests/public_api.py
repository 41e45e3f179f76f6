"""The public interface as text: every name of the API reference with its parameters, its methods and theirs.

``python tests/public_api.py`` writes ``tests/public_api.txt``; the difference shows in the review of the change.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LISTED = Path(__file__).with_suffix(".txt")
REFERENCE = ROOT / "docs" / "api" / "index.md"


def public_names() -> list[str]:
    """Every name of the API reference, with its module."""
    text = REFERENCE.read_text(encoding="utf-8")
    found = []
    for module, entries in re.findall(r"currentmodule:: (\S+)\n(.*?)```", text, re.DOTALL):
        found += [f"{module}.{name}" for name in re.findall(r"^   (\w+)$", entries, re.MULTILINE)]
    return found


def resolve(name: str) -> Any:
    """The object of this name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def parameters(function: Any) -> str:
    """Names, kinds and defaults; annotations are left to the documentation."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # an exception without an __init__ of its own
        return "(...)"
    kept = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_Shown.of(parameter.default))
        for parameter in signature.parameters.values()
        if parameter.name not in {"self", "cls"}
    ]
    return str(inspect.Signature(kept))


class _Shown:
    """A default value as it is written, without the address of an object."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    @classmethod
    def of(cls, value: Any) -> Any:
        if value is inspect.Parameter.empty:
            return value
        text = getattr(value, "__name__", None) if callable(value) else None
        return cls(re.sub(r" at 0x[0-9a-f]+", "", text or repr(value)))


def _members(kind: type) -> list[str]:
    """Public methods and properties that bursty defines, in alphabetical order."""
    found = []
    for name in sorted(dir(kind)):
        if name.startswith("_") or name == "get_metadata_routing" or re.fullmatch(r"set_\w+_request", name):
            continue
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if owner is None or not owner.__module__.startswith("bursty"):
            continue
        raw = vars(owner)[name]
        if isinstance(raw, classmethod | staticmethod) or callable(getattr(kind, name, None)):
            found.append(f"{name}{parameters(getattr(kind, name))}")
        elif isinstance(raw, property):
            found.append(f"{name}: property")
        else:
            found.append(name)
    return found


def describe(name: str) -> list[str]:
    """The lines of one name."""
    value = resolve(name)
    if not callable(value):
        return [name]
    lines = [f"{name}{parameters(value)}"]
    if isinstance(value, type):
        lines += [f"    {member}" for member in _members(value)]
    return lines


def listing() -> str:
    """The whole interface."""
    return "".join(f"{line}\n" for name in sorted(public_names()) for line in describe(name))


if __name__ == "__main__":
    LISTED.write_text(listing(), encoding="utf-8")
    print(f"wrote {LISTED.name}", file=sys.stderr)
