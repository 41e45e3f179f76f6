"""The names of the package, read from its source: nothing is imported, so that optional dependencies are not needed."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


@dataclass
class _Class:
    bases: list[str]
    members: set[str]


@dataclass
class CodeIndex:
    """Modules, classes and their members under one folder, which is a package."""

    root: Path
    modules: dict[str, set[str]] = field(default_factory=dict)
    classes: dict[str, list[_Class]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in sorted(self.root.rglob("*.py")):
            parts = [self.root.name, *path.relative_to(self.root).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.modules[name] = self._read(ast.parse(path.read_text(encoding="utf-8")))
        for name in self.modules:
            package, _, last = name.rpartition(".")
            if package:
                self.modules[package].add(last)

    def _read(self, tree: ast.Module) -> set[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = [_last_name(base) for base in node.bases]
                self.classes.setdefault(node.name, []).append(_Class(bases, _class_members(node)))
        return _names(tree.body)

    @cached_property
    def names(self) -> set[str]:
        """Everything that a module or a class defines or imports."""
        members = (kind.members for kinds in self.classes.values() for kind in kinds)
        return set().union(*self.modules.values(), *members)

    def has(self, dotted: str) -> bool:
        """Whether ``module.name``, ``Class.member`` or any longer or shorter such chain exists.

        A module may be named from any of its packages on (``em``, ``inference.em``, ``bursty.inference.em``). A
        lower-case word may stand for an object of the class (``corpus.counts`` for ``Corpus.counts``), and ``model``
        for one of any.
        """
        parts = dotted.split(".")
        if parts[0] == "model" and len(parts) == 2:
            return any(parts[1] in kind.members for kinds in self.classes.values() for kind in kinds)
        if parts[0] in self.classes and self._class_has(parts[0], parts[1:]):
            return True
        for length in range(len(parts), 0, -1):
            prefix = ".".join(parts[:length])
            found = [name for name in self.modules if name == prefix or name.endswith(f".{prefix}")]
            if any(self._module_has(name, parts[length:]) for name in found):
                return True
        return len(parts) > 1 and self._class_has(parts[0].capitalize(), parts[1:])

    def _module_has(self, module: str, rest: list[str]) -> bool:
        if not rest:
            return True
        return rest[0] in self.modules[module] and (len(rest) == 1 or self._class_has(rest[0], rest[1:]))

    def _class_has(self, name: str, rest: list[str]) -> bool:
        if len(rest) > 1:
            return False
        kinds = self.classes.get(name, [])
        if not rest:
            return bool(kinds)
        return any(
            rest[0] in kind.members or any(self._class_has(base, rest) for base in kind.bases if base != name)
            for kind in kinds
        )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _names(body: list[ast.stmt]) -> set[str]:
    """Names that statements define or import, those under ``if`` and ``try`` included."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)}
        elif isinstance(node, ast.If | ast.Try):
            found |= _names(node.body)
    return found


def _class_members(node: ast.ClassDef) -> set[str]:
    """Names in the body of a class, and attributes that its methods set on ``self``."""
    own = {
        leaf.attr
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.Attribute) and isinstance(leaf.ctx, ast.Store) and _last_name(leaf.value) == "self"
    }
    return own | _names(node.body)
