"""Change one thing in a module, and see whether its tests notice: ``python -m benchmarks.mutants bursty.metrics``.

One operator, comparison or number is changed at a time, at random places, in a copy of the library; the tests of the
module's folder (or those given with ``--tests``) run against each, and the changes that no test noticed are printed.
The test file of the changed file's name runs first, and the first failure ends the run. ``--only 3 17`` repeats the
third and seventeenth change of a seed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def places(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that can be changed, in code that runs: not in annotations, and not in messages of errors."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        hidden = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.Raise | ast.Assert):
            hidden.append(node)
        silent |= {id(inner) for part in hidden if part is not None for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if (
            (isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _OPERATORS)
            or (isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS)
            or (isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float))
        ):
            yield node


def changed(source: str, number: int) -> tuple[str, str]:
    """The source with the change of this number, and what it is."""
    tree = ast.parse(source)
    node = list(places(tree))[number]
    before = ast.unparse(node)
    if isinstance(node, ast.Constant):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 2 + 0.5
    elif isinstance(node, ast.Compare):
        node.ops[0] = _OPERATORS[type(node.ops[0])]()
    else:
        node.op = _OPERATORS[type(node.op)]()  # type: ignore[attr-defined]  # the others have one
    return ast.unparse(tree), f"line {node.lineno}: {before}  ->  {ast.unparse(node)}"  # type: ignore[attr-defined]  # nodes of code have


def noticed(library: Path, tests: list[str], seconds: float) -> bool:
    """Whether the tests fail, or do not end."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(library), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def in_order(file: Path, tests: list[str]) -> list[str]:
    """The test files, those first whose names have a word of the name of the changed file."""
    paths = [path for test in tests for path in (sorted((ROOT / test).rglob("test_*.py")) or [ROOT / test])]
    words = file.stem.split("_")
    paths.sort(key=lambda path: -sum(word in path.stem for word in words))
    return [str(path.relative_to(ROOT)) for path in paths]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="such as bursty.metrics.partitions, or a folder such as bursty.metrics")
    parser.add_argument("--tests", nargs="*", help="the tests to run; by default those of the module's folder")
    parser.add_argument("--number", type=int, default=30, help="number of changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="only these of the changes, counted from 1")
    parser.add_argument("--seconds", type=float, default=300.0, help="tests that take longer have noticed")
    parser.add_argument("--verbose", action="store_true", help="print those that were noticed, too")
    options = parser.parse_args()
    place = ROOT / "src" / Path(*options.module.split("."))
    files = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    tests = options.tests or [f"tests/{options.module.split('.')[1]}"]
    choices = [(file, n) for file in files for n in range(len(list(places(ast.parse(file.read_text())))))]
    random.Random(options.seed).shuffle(choices)
    chosen = list(enumerate(choices[: options.number], start=1))
    chosen = [choice for choice in chosen if not options.only or choice[0] in options.only]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder)
        shutil.copytree(ROOT / "src" / "bursty", library / "bursty")
        if noticed(library, tests, options.seconds):
            print(f"{' '.join(tests)} fail, or take too long, without any change", file=sys.stderr)
            return 2
        for place, (file, number) in chosen:
            target = library / file.relative_to(ROOT / "src")
            text, change = changed(file.read_text(), number)
            target.write_text(text)
            if not noticed(library, in_order(file, tests), options.seconds):
                survivors.append(f"{place}: {file.relative_to(ROOT)} {change}")
                print(survivors[-1], flush=True)
            elif options.verbose:
                print(f"{place}: noticed: {file.relative_to(ROOT)} {change}", flush=True)
            target.write_text(file.read_text())
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} changes noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
