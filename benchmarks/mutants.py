"""Change one thing in a module, and see whether its tests notice: ``python -m benchmarks.mutants bursty.metrics``.

One operator, comparison or number is changed at a time, at random places, in a copy of the library; the tests of the
module's folder (or those given with ``--tests``) run against each, and the changes that no test noticed are printed.
Tests of the same name as the changed file go first, then those that call the changed function, the fastest files first,
and the first failure ends the run. It counts only if the same tests, up to the failure, pass without the change; a test
that fails there too is left out. ``--near`` runs only the tests of the same name, where there are any.
``--only 3 17`` repeats the third and seventeenth change of a seed. ``--notes FILE`` keeps what was seen of tests that
have not changed since. Files whose names begin with ``cuda_`` are left out: they need a GPU.
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
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
import pytest

ROOT = Path(__file__).parent.parent
_NO_IMPORT = "the changed file cannot be imported"
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
        self.sound: dict[str, bool] = {}
        self.unsound: set[str] = set()
        self.passed: set[tuple[bool | str, ...]] = set()
        self.watched: dict[str, Any] = {}
        shutil.copytree(ROOT / "src" / "bursty", folder / "bursty")
        python = [str(folder), str(ROOT)]
        os.environ |= {"PYTHONPATH": os.pathsep.join(python), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:0] = python
        importlib.import_module(module)
        self._pytest(["--collect-only", "-q", *map(str, self.tests)])  # imports, once, what the tests import

    def namesakes(self, file: Path) -> list[str]:
        """Files of tests with the name of this file or its folder in theirs, if they pass without any change."""
        names = {name.removesuffix("s") for name in (file.stem, file.parent.name) if name not in self.module.split(".")}
        found = [str(test.relative_to(ROOT)) for test in self.tests if any(name in test.stem for name in names)]
        for test in found:
            if test not in self.sound:
                # Not in this process: a fork of one with threads, which some libraries start, may wait for ever.
                self.sound[test] = self._run([test], 600, code={})
        return [test for test in found if self.sound[test]]

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
                    raise SystemExit(f"{file} fails without any change: {self._log()}")
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
        if self._is_noticed(target, text, first, 600, **own):
            return True
        if first and self.near:
            return False
        if not self.watched:
            self.watch()
        near, rest = self._near(name, lines)
        # What no test calls may have run when the library was imported.
        return any(
            self._is_noticed(target, text, part, 60 + 10 * self._seconds(part), again=not near, **own)
            for part in (near, rest)
        )

    def _near(self, name: str, lines: range) -> tuple[list[str], list[str]]:
        """The tests that call a function on these lines, and others that may notice a change of it."""
        ours = {test: found["calls"].get(name, []) for test, found in self.watched.items()}
        near = [test for test in ours if any(first <= lines[0] and lines[-1] <= last for first, last in ours[test])]
        # Others share what a fixture of their file made. What runs on import is in no test: any may see it.
        files = {_file(test) for test in near}
        rest = [test for test in ours if (not near or _file(test) in files) and test not in set(near)]
        return self._fastest_files_first(near), self._fastest_files_first(rest)

    def _fastest_files_first(self, tests: list[str]) -> list[str]:
        """In the order of each file, without another between: pytest would import a file a second time."""
        seconds: Counter[str] = Counter()
        for test in tests:
            seconds[_file(test)] += self.watched[test]["seconds"]
        return sorted(tests, key=lambda test: seconds[_file(test)])

    def _is_noticed(
        self, target: Path, text: str, tests: list[str], seconds: float, again: bool = False, **extra: str
    ) -> bool:
        """Whether tests fail with this text in the file that pass without it.

        Only the code of functions is replaced where that is enough; with ``again``, the library is imported again.
        """
        source = ROOT / "src" / target.relative_to(self.folder)
        new = None if extra or again else changed_code(target, source.read_text(), text)
        tests = [test for test in tests if test not in self.unsound]
        while tests:
            target.write_text(text)
            try:
                passed = self._run(tests, seconds, target=target, code=new, **extra)
            finally:
                shutil.copy2(source, target)  # with its time, by which numba knows what it has compiled
            if passed:
                return False
            if self._log().endswith(_NO_IMPORT):
                return True
            same = tests[: _failed(self._log(), tests) + 1]
            if (new is None, *same) in self.passed:
                return True
            if self._run(same, seconds, target=target, code=None if new is None else {}):
                self.passed.add((new is None, *same))
                return True
            unsound = same[_failed(self._log(), same)]
            print(f"fails without any change, left out: {unsound}", flush=True)
            self.unsound.add(unsound)
            tests.remove(unsound)
        return False

    def _log(self) -> str:
        return (self.folder / "log").read_text()

    def _seconds(self, tests: list[str]) -> float:
        return sum(self.watched[test]["seconds"] for test in tests)

    def _run(
        self,
        tests: list[str],
        seconds: float,
        options: Sequence[str] = (),
        target: Path | None = None,
        code: dict[FunctionType, CodeType] | None = None,
        **extra: str,
    ) -> bool:
        """Whether these tests pass within so many seconds of the processor, in a fork of this process.

        With ``code`` for some functions, the library stays as it was imported; without, it is imported again.
        """
        listed = self.folder / "tests"  # a command line has a largest length
        listed.write_text("\n".join(tests))
        child = os.fork()
        if not child:
            status = 1
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
                os.environ |= extra
                numba.config.CACHE_DIR = extra.get("NUMBA_CACHE_DIR", numba.config.CACHE_DIR)
                if code is None:
                    forget("bursty")  # to be imported as it is now
                else:
                    put_code(code)
                if target is None or self._imports(target):
                    status = self._pytest(["-x", "-q", *options, f"@{listed}"])
            finally:
                os._exit(status)
        patience = time.monotonic() + 10 * seconds
        while time.monotonic() < patience:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return not status
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False

    def _imports(self, target: Path) -> bool:
        """Whether the changed file can be imported; if not, the log says so."""
        try:
            importlib.import_module(".".join(target.relative_to(self.folder).with_suffix("").parts))
        except Exception:
            (self.folder / "log").write_text(_NO_IMPORT)
            return False
        return True

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


def changed_code(target: Path, before: str, after: str) -> dict[FunctionType, CodeType] | None:
    """New code of the imported functions that another text changes; None if it changes more than functions."""
    new = {}
    names: Counter[str] = Counter()

    def compare(old: CodeType, changed: CodeType, around: CodeType | None = None) -> bool:
        """Whether these differ in what runs with the code around them; functions that differ are noted."""
        inner = [[value for value in code.co_consts if isinstance(value, CodeType)] for code in (old, changed)]
        own = [[value for value in code.co_consts if not isinstance(value, CodeType)] for code in (old, changed)]
        below = [compare(*pair, old) for pair in zip(*inner, strict=True)]
        same = (old.co_code, old.co_names, repr(own[0])) == (changed.co_code, changed.co_names, repr(own[1]))
        differs = any(below) or not same
        names[old.co_qualname] += 1
        if around is None or _is_function(around) or not _is_function(old):
            # The code of a function holds that of those in it; a class or a comprehension runs with the module.
            return differs
        if differs:
            new[old.co_qualname] = changed
        return False

    # Both as `ast` writes them, so that nothing but the change is different.
    more = compare(*(compile(ast.unparse(ast.parse(text)), str(target), "exec") for text in (before, after)))
    if more or any(names[name] > 1 for name in new):
        return None
    found = {}
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__code__.co_filename == str(target):
            code = new.get(value.__code__.co_qualname)
            if code is not None and code.co_freevars == value.__code__.co_freevars:
                found[value] = code
    return found


def _is_function(code: CodeType) -> bool:
    """Whether it runs when it is called: not a module, a class or a comprehension."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.endswith(("comp>", "genexpr>"))


def put_code(new: dict[FunctionType, CodeType]) -> None:
    """Give functions other code."""
    for function, code in new.items():
        function.__code__ = code


def forget(package: str) -> None:
    """Have a package imported again."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def _is_test(module: Any) -> bool:
    return (getattr(module, "__file__", None) or "").startswith(str(ROOT / "tests"))


def _files(place: Path) -> list[Path]:
    return sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _failed(log: str, tests: Sequence[str]) -> int:
    """The place of the test, or of its file, that failed first, by what pytest says; the last if it says nothing."""
    lines = [line.partition(" ")[2] for line in log.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    found = [
        place
        for place, test in enumerate(tests)
        if any(line == test or line.startswith((f"{test} - ", f"{test}::")) for line in lines)
    ]
    return min(found, default=len(tests) - 1)


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
