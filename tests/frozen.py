"""Which classes of a package can be changed. Threads share the others, and states and statistics stay as they are."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil


def changeable(package: str) -> set[str]:
    """Names of the dataclasses that are not frozen; modules of a device that is not here are left out."""
    root = importlib.import_module(package)
    names = [found.name for found in pkgutil.walk_packages(root.__path__, f"{package}.")]
    modules = [importlib.import_module(name) for name in names if ".cuda_" not in name]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    own = [value for value in values if dataclasses.is_dataclass(value) and value.__module__.startswith(package)]
    return {value.__qualname__ for value in own if not value.__dataclass_params__.frozen}
