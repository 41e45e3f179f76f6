"""Change one thing in a module, and see whether its tests notice: ``python -m benchmarks.mutants bursty.metrics``.

One operator, comparison or number is changed at a time, at random places, in a copy of the library; the tests of the
module's folder (or those given with ``--tests``) run against each, and the changes that no test noticed are printed.
Before, each test runs once, to see which functions it calls and how long it takes. Those that call the changed function
go first, then the others of their files, the fastest first. A failure counts only if that test, run alone, fails again
with the change and passes without it. A test that does not end (ten times its processor time and 20 seconds; or an
hour) does not count: such changes are printed apart. ``--longest`` leaves out tests that take more processor time.
``--only 3 17`` repeats the third and seventeenth change of a seed. ``--notes FILE`` keeps what was seen of tests that
have not changed since. Files whose names begin with ``cuda_`` are left out: they need a GPU, and so are tests of
collections.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
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
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
import pytest

ROOT = Path(__file__).parent.parent
_NO_IMPORT = "the changed file cannot be imported"
_UNENDED = "does not end:"
LONGEST = 600.0
MEMORY = 8 << 30
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


class Guard:
    """A plugin of pytest: tests run in the given order; the one that runs is noted, and ended if it does not end."""

    def __init__(self, tests: Sequence[str], seconds: dict[str, float], noted: Path) -> None:
        self.order = {test: place for place, test in enumerate(tests)}
        self.seconds = seconds
        self.noted = noted

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Called by pytest, as are the others."""
        items.sort(key=lambda item: self.order.get(item.nodeid, 0))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported; the session, which has no name, fails after it."""
        if report.failed and report.nodeid:
            self.noted.write_text(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Note a test, and give it its time."""
        self.noted.write_text(item.nodeid)
        allow(20 + 10 * self.seconds.get(item.nodeid, LONGEST))


def allow(seconds: float) -> None:
    """End this process after so many seconds of its processor time, or after an hour."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 3_600)


class Library:
    """A copy of the library, with its compiled kernels, and the tests that run against it."""

    def __init__(self, folder: Path, module: str, tests: list[str], notes: Path, longest: float) -> None:
        self.folder = folder
        self.module = module
        self.files = sorted({file for test in tests for file in _files(ROOT / test)})
        self.sound: set[tuple[str, bool]] = set()
        shutil.copytree(ROOT / "src" / "bursty", folder / "bursty")
        python = [str(folder), str(ROOT)]
        os.environ |= {"PYTHONPATH": os.pathsep.join(python), "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("BURSTY_DATA", "CI"):
            os.environ.pop(name, None)
        sys.dont_write_bytecode = True
        sys.path[:0] = python
        importlib.import_module(module)
        self._pytest(["--collect-only", "-q", *map(str, self.files)])  # imports, once, what the tests import
        watched = self._watch(notes)
        self.seconds = {test: found["seconds"] for test, found in watched.items() if found["seconds"] <= longest}
        self.calls = {test: watched[test]["calls"] for test in self.seconds}

    def _watch(self, notes: Path) -> dict[str, Any]:
        """Which functions of the module each test calls, and how long it takes; not those that fail without any change.

        Notes of earlier runs are used again for the files of tests that have not changed since, if the library has not.
        """
        library = _digest(*sorted((ROOT / "src" / "bursty").rglob("*.py")))
        known = json.loads(notes.read_text()) if notes.exists() else {}
        watched = {}
        for file in self.files:
            key = f"{self.module} {file.relative_to(ROOT)} {_digest(file)} {library}"
            if key not in known:
                seen = self.folder / "watched.json"
                seen.unlink(missing_ok=True)
                self._run([str(file)], ["-p", "benchmarks.watched"], WATCHED=f"{self.module}:{seen}")
                if not seen.exists():
                    raise SystemExit(f"the tests of {file} do not run: {(self.folder / 'log').read_text()}")
                known[key] = json.loads(seen.read_text())
                notes.write_text(json.dumps(known))
            if not known[key]:
                print(f"no test of this file runs: {file}", flush=True)
            for test, found in known[key].items():
                if found["failed"]:
                    print(f"fails without any change, left out: {test}", flush=True)
                else:
                    watched[test] = found
        return watched

    def notices(self, file: Path, text: str, lines: range) -> str | None:
        """What notices this text in the place of the file; None if nothing does."""
        target = self.folder / file.relative_to(ROOT / "src")
        near, rest = self._near(str(file.relative_to(ROOT / "src")), lines)
        # A compiled kernel has those that it calls in it: all are compiled again.
        own = {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=self.folder)} if "kernels" in target.parts else {}
        # What no test calls may have run when the library was imported.
        code = changed_code(target, file.read_text(), text) if near and not own else None

        def fails(tests: list[str], changed: bool = True) -> tuple[str | None, bool]:
            """The test that fails first, and whether it ends; with or without the change."""
            if changed:
                target.write_text(text)
            try:
                given = code if changed or code is None else {}
                return self._run(tests, ["-x"], target if code is None else None, given, **own)
            finally:
                shutil.copy2(file, target)  # with its time, by which numba knows what it has compiled

        tests = near + rest
        while tests:
            failed, ended = fails(tests)
            if failed is None:
                return None
            if failed == _NO_IMPORT:
                return failed
            place = next(n for n, test in enumerate(tests) if test == failed or test.startswith(f"{failed}::"))
            test = tests[place]
            if not ended:
                return f"{_UNENDED} {test}"
            if fails([test])[0] is not None:
                if (test, code is None) not in self.sound and fails([test], changed=False)[0] is None:
                    self.sound.add((test, code is None))
                if (test, code is None) in self.sound:
                    return test
            print(f"fails, but not by the change alone, left out: {test}", flush=True)
            tests = tests[place + 1 :]
        return None

    def _near(self, name: str, lines: range) -> tuple[list[str], list[str]]:
        """The tests that call a function on these lines, and others that may notice it; the fastest first."""
        ours = {test: found.get(name, []) for test, found in self.calls.items()}
        near = {test for test in ours if any(first <= lines[0] and lines[-1] <= last for first, last in ours[test])}
        # Others share what a fixture of their file made. What runs on import is in no test: any may see it.
        files = {_file(test) for test in near}
        rest = [test for test in ours if (not near or _file(test) in files) and test not in near]
        return sorted(near, key=self._time), sorted(rest, key=self._time)

    def _time(self, test: str) -> tuple[float, str]:
        return self.seconds[test], test

    def _run(
        self,
        tests: list[str],
        options: Sequence[str] = (),
        target: Path | None = None,
        code: dict[FunctionType, CodeType] | None = None,
        **extra: str,
    ) -> tuple[str | None, bool]:
        """The test that fails, in a fork of this process; None if all pass. Also, whether it ends.

        With ``code`` for some functions, the library stays as it was imported; without, it is imported again.
        """
        listed = self.folder / "tests"  # a command line has a largest length
        listed.write_text("\n".join(tests))
        noted = self.folder / "noted"
        noted.write_text(_file(tests[0]))
        child = os.fork()
        if not child:
            status = 1
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
                allow(LONGEST)
                os.environ |= extra
                numba.config.CACHE_DIR = extra.get("NUMBA_CACHE_DIR", numba.config.CACHE_DIR)
                if code is None:
                    forget("bursty")  # to be imported as it is now
                else:
                    put_code(code)
                if target is None or self._imports(target, noted):
                    guard = Guard(tests, getattr(self, "seconds", {}), noted)
                    status = self._pytest(["-q", *options, f"@{listed}"], guard)
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what it started, if it was ended
        return noted.read_text() if status else None, -status not in (signal.SIGPROF, signal.SIGALRM)

    def _imports(self, target: Path, noted: Path) -> bool:
        """Whether the changed file can be imported; if not, that is noted."""
        try:
            importlib.import_module(".".join(target.relative_to(self.folder).with_suffix("").parts))
        except Exception:
            noted.write_text(_NO_IMPORT)
            return False
        return True

    def _pytest(self, arguments: list[str], *plugins: Any) -> int:
        """Run pytest in this process; what it says goes to the log."""
        kept = [os.dup(stream) for stream in (1, 2)]
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(log, stream)
        try:
            os.chdir(ROOT)
            for name in [name for name, module in sys.modules.items() if _is_test(module)]:
                del sys.modules[name]
            return int(pytest.main(["-p", "no:cacheprovider", *arguments], plugins))
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
    parser.add_argument(
        "--longest", type=float, default=LONGEST, help="leave out tests that take more seconds of processor time"
    )
    parser.add_argument("--verbose", action="store_true", help="print those that were noticed, too, and by which test")
    options = parser.parse_args()
    place = ROOT / "src" / Path(*options.module.split("."))
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    files = [file for file in files if not file.name.startswith("cuda_")]
    tests = options.tests or [f"tests/{options.module.split('.')[1]}"]
    choices = [(file, n) for file in files for n in range(len(list(places(ast.parse(file.read_text())))))]
    random.Random(options.seed).shuffle(choices)
    chosen = list(enumerate(choices[: options.number], start=1))
    chosen = [choice for choice in chosen if not options.only or choice[0] in options.only]
    noticed = unended = 0
    with tempfile.TemporaryDirectory() as folder:
        notes = options.notes or Path(folder, "notes.json")
        library = Library(Path(folder), options.module, tests, notes, options.longest)
        for place, (file, number) in chosen:
            text, change, lines = changed(file.read_text(), number)
            found = library.notices(file, text, lines)
            told = "" if found is None else found if found.startswith(_UNENDED) else f"noticed by {found}"
            unended += told.startswith(_UNENDED)
            noticed += told.startswith("noticed")
            if not told.startswith("noticed") or options.verbose:
                print(f"{place}: {file.relative_to(ROOT)} {change}" + f"  ({told})" * bool(told), flush=True)
    print(f"{noticed} of {len(chosen)} changes noticed; with {unended} others, a test does not end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
