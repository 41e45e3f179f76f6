"""Change one thing in a module, and see whether its tests notice: ``python -m benchmarks.mutants bursty.metrics``.

One operator, comparison or number is changed at a time, at random places, in a copy of the library; the tests of the
module's folder (or those given with ``--tests``) run against each, and the changes that no test noticed are printed.
Tests of the same name as the changed file go first, then those that call the changed function, the fastest of them
first, and the first failure ends the run. ``--near`` runs only the former, where there are any. ``--only 3 17`` repeats
the third and seventeenth change of a seed. ``--notes FILE`` keeps what was seen of tests that have not changed since.
Files whose names begin with ``cuda_`` are left out: they need a GPU.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import importlib
import inspect
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
import pytest

ROOT = Path(__file__).parent.parent
_IMPORTED = ("scipy.optimize", "scipy.sparse.linalg", "scipy.stats", "sklearn.base")  # once, before the tests fork
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


def changed(source: str, number: int) -> tuple[str, str, range]:
    """The source with the change of this number, what it is, and the lines it is on."""
    tree = ast.parse(source)
    node: Any = list(places(tree))[number]
    before = ast.unparse(node)
    if isinstance(node, ast.Constant):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 2 + 0.5
    elif isinstance(node, ast.Compare):
        node.ops[0] = _OPERATORS[type(node.ops[0])]()
    else:
        node.op = _OPERATORS[type(node.op)]()
    lines = range(node.lineno, node.end_lineno + 1)
    return ast.unparse(tree), f"line {node.lineno}: {before}  ->  {ast.unparse(node)}", lines


class Library:
    """A copy of the library, with its compiled kernels, and the tests that run against it."""

    def __init__(self, folder: Path, module: str, tests: list[str], notes: Path, near: bool) -> None:
        self.folder = folder
        self.near = near
        self.module = module
        self.tests = sorted({file for test in tests for file in _files(ROOT / test)})
        self.notes = notes
        self.sound: dict[Path, bool] = {}
        self.watched: dict[str, Any] = {}
        shutil.copytree(ROOT / "src" / "bursty", folder / "bursty")
        python = [str(folder), str(ROOT)]
        os.environ |= {"PYTHONPATH": os.pathsep.join(python), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:0] = python
        for name in (*_IMPORTED, module):
            importlib.import_module(name)

    def namesakes(self, file: Path) -> list[str]:
        """Files of tests with the name of this file or its folder in theirs, if they pass without any change."""
        names = {name.removesuffix("s") for name in (file.stem, file.parent.name) if name not in self.module.split(".")}
        found = [test for test in self.tests if any(name in test.stem for name in names)]
        for test in found:
            if test not in self.sound:
                # In this process, so that later ones have its kernels.
                self.sound[test] = not self._pytest(["-q", str(test)])
        return [str(test) for test in found if self.sound[test]]

    def watch(self) -> None:
        """Note which functions of the module each test calls.

        Notes of earlier runs are used again for the files of tests that have not changed since, if the library has not.
        """
        library = _digest(*sorted((ROOT / "src" / "bursty").rglob("*.py")))
        known = json.loads(self.notes.read_text()) if self.notes.exists() else {}
        for file in self.tests:
            key = f"{self.module} {file.relative_to(ROOT)} {_digest(file)} {library}"
            if key not in known:
                found = self.folder / "watched.json"
                plugin = ["-p", "benchmarks.watched"]
                if not self._run([str(file)], 3_600, plugin, WATCHED=f"{self.module}:{found}"):
                    raise SystemExit(f"{file} fails without any change: {(self.folder / 'log').read_text()}")
                known[key] = json.loads(found.read_text())
                self.notes.write_text(json.dumps(known))
            self.watched |= known[key]

    def notices(self, file: Path, text: str, lines: range) -> bool:
        """Whether the tests fail, or do not end, with this text in the place of the file."""
        name = str(file.relative_to(ROOT / "src"))
        target = self.folder / name
        # A compiled kernel has those that it calls in it: all are compiled again.
        own = {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=self.folder)} if "kernels" in target.parts else {}
        first = self.namesakes(file)
        if first and not self._run_changed(target, text, first, 600, **own):
            return True
        if first and self.near:
            return False
        if not self.watched:
            self.watch()
        parts = self._near(name, lines)
        return any(
            not self._run_changed(target, text, part, 60 + 10 * self._seconds(part), **own) for part in parts if part
        )

    def _near(self, name: str, lines: range) -> tuple[list[str], list[str]]:
        """The tests that call a function on these lines, and others that may notice a change of it."""
        ours = {test: found["calls"].get(name, []) for test, found in self.watched.items()}
        near = [test for test in ours if any(first <= lines[0] and lines[-1] <= last for first, last in ours[test])]
        # Others share what a fixture of their file made. What runs on import is in no test: any may see it.
        files = {test.partition("::")[0] for test in near}
        rest = {test for test in ours if not near or test.partition("::")[0] in files} - set(near)
        fastest_first = [sorted(part, key=lambda test: self.watched[test]["seconds"]) for part in (near, rest)]
        return fastest_first[0], fastest_first[1]

    def _run_changed(self, target: Path, text: str, tests: list[str], seconds: float, **extra: str) -> bool:
        """Whether the tests pass with this text in the file."""
        source = ROOT / "src" / target.relative_to(self.folder)
        target.write_text(text)
        try:
            return self._run(tests, seconds, change=(target, source.read_text(), text), **extra)
        finally:
            shutil.copy2(source, target)  # with its time, by which numba knows what it has compiled

    def _seconds(self, tests: list[str]) -> float:
        return sum(self.watched[test]["seconds"] for test in tests)

    def _run(
        self,
        tests: list[str],
        seconds: float,
        options: Sequence[str] = (),
        change: tuple[Path, str, str] | None = None,
        **extra: str,
    ) -> bool:
        """Whether these tests pass within so many seconds of the processor, in a fork of this process."""
        listed = self.folder / "tests"  # a command line has a largest length
        listed.write_text("\n".join(tests))
        child = os.fork()
        if not child:
            code = 1
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
                os.environ |= extra
                numba.config.CACHE_DIR = extra.get("NUMBA_CACHE_DIR", numba.config.CACHE_DIR)
                if change is None or extra or not put_code(*change):
                    forget("bursty")  # to be imported as it is now
                code = self._pytest(["-x", "-q", *options, f"@{listed}"])
            finally:
                os._exit(code)
        patience = time.monotonic() + 10 * seconds
        while time.monotonic() < patience:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return not status
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False

    def _pytest(self, arguments: list[str]) -> int:
        """Run pytest in this process; what it says goes to the log."""
        kept = [os.dup(stream) for stream in (1, 2)]
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(log, stream)
        try:
            os.chdir(ROOT)
            for name in [name for name, module in sys.modules.items() if _is_test(module)]:
                del sys.modules[name]
            return int(pytest.main(["-p", "no:cacheprovider", *arguments]))
        finally:
            sys.stdout.flush()
            for stream, before in zip((1, 2), kept, strict=True):
                os.dup2(before, stream)
                os.close(before)
            os.close(log)


def put_code(target: Path, before: str, after: str) -> bool:
    """Give the functions of an imported file the code of a changed one; False if more than functions changed."""
    new = {}

    def compare(old: CodeType, changed: CodeType) -> bool:
        """Whether these differ; functions that do are noted."""
        inner = [[value for value in code.co_consts if isinstance(value, CodeType)] for code in (old, changed)]
        own = [[value for value in code.co_consts if not isinstance(value, CodeType)] for code in (old, changed)]
        below = sum(compare(*pair) for pair in zip(*inner, strict=True)) > 0
        same = (old.co_code, old.co_names, repr(own[0])) == (changed.co_code, changed.co_names, repr(own[1]))
        if old.co_flags & inspect.CO_OPTIMIZED:
            if below or not same:
                new[old.co_qualname] = changed
            return below or not same
        return not same

    # Both as `ast` writes them, so that nothing but the change is different.
    if compare(*(compile(ast.unparse(ast.parse(text)), str(target), "exec") for text in (before, after))):
        return False
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__code__.co_filename == str(target):
            code = new.get(value.__code__.co_qualname)
            if code is not None and code.co_freevars == value.__code__.co_freevars:
                value.__code__ = code
    return True


def forget(package: str) -> None:
    """Have a package imported again."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def _is_test(module: Any) -> bool:
    return (getattr(module, "__file__", None) or "").startswith(str(ROOT / "tests"))


def _files(place: Path) -> list[Path]:
    return sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="such as bursty.metrics.partitions, or a folder such as bursty.metrics")
    parser.add_argument("--tests", nargs="*", help="the tests to run; by default those of the module's folder")
    parser.add_argument("--number", type=int, default=30, help="number of changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="only these of the changes, counted from 1")
    parser.add_argument("--notes", type=Path, help="file of what the tests were seen to run")
    parser.add_argument("--near", action="store_true", help="only tests of the same name as the file, if there are any")
    parser.add_argument("--verbose", action="store_true", help="print those that were noticed, too")
    options = parser.parse_args()
    place = ROOT / "src" / Path(*options.module.split("."))
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    files = [file for file in files if not file.name.startswith("cuda_")]
    tests = options.tests or [f"tests/{options.module.split('.')[1]}"]
    choices = [(file, n) for file in files for n in range(len(list(places(ast.parse(file.read_text())))))]
    random.Random(options.seed).shuffle(choices)
    chosen = list(enumerate(choices[: options.number], start=1))
    chosen = [choice for choice in chosen if not options.only or choice[0] in options.only]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        library = Library(
            Path(folder), options.module, tests, options.notes or Path(folder, "notes.json"), options.near
        )
        for place, (file, number) in chosen:
            text, change, lines = changed(file.read_text(), number)
            found = library.notices(file, text, lines)
            survivors += not found
            if not found or options.verbose:
                told = "noticed: " if found else ""
                print(f"{place}: {told}{file.relative_to(ROOT)} {change}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} changes noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
