"""Help: it is quick, fits a terminal of 80 columns, and its examples work."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

import bursty
from bursty.cli.examples import EXAMPLES
from bursty.cli.options import FAMILY_HELP
from bursty.families import FAMILIES

VERBS = [verb for verb in EXAMPLES if verb != "bursty"]


@pytest.mark.parametrize("verb", EXAMPLES)
def test_help_fits_and_ends_with_two_examples(verb, bench):
    outcome = bench(*([] if verb == "bursty" else verb.split()), "--help")
    assert outcome.code == 0
    lines = [line.strip() for line in outcome.out.splitlines() if line.strip()]
    assert max(len(line) for line in outcome.out.splitlines()) <= 80
    assert lines[-3:] == ["Examples:", *EXAMPLES[verb]]
    assert "Usage: bursty" in lines[0]


@pytest.mark.parametrize("verb", [*EXAMPLES, "papers list", "papers run"])
def test_help_has_no_types_of_python(verb, bench):
    assert not re.search(r"<[a-z][^>]*>", bench(*([] if verb == "bursty" else verb.split()), "--help").out)


def test_verbs_are_in_the_order_of_use(bench):
    verbs = ["demo", "import", "info", "cluster", "discover", "topics"]
    verbs += ["classify", "compare", "infer", "evaluate", "report", "papers"]
    assert [name for line in bench("--help").out.splitlines() for name in re.findall(r"^│ (\w+)  ", line)] == verbs


def test_every_verb_of_the_help_has_examples(bench):
    text = bench("--help").out
    names = "import info cluster discover topics compare infer evaluate report demo classify papers"
    for verb in names.split(" "):
        assert f" {verb} " in text
        assert verb in EXAMPLES


def test_help_lists_the_families():
    names = [name for name, kind in FAMILIES.items() if kind.__module__.startswith("bursty.")]
    assert sorted(re.findall(r"\w+", FAMILY_HELP.replace(" or ", " "))) == sorted(names)


def test_the_examples_work(bench):
    """In the order of the list, as somebody would who tries them all; demo and papers have tests of their own."""
    lines = [line for verb in VERBS for line in EXAMPLES[verb] if verb not in ("demo", "papers")]
    for line in lines:
        outcome = bench(*shlex.split(line)[1:])
        assert outcome.code == 0, (line, outcome.err)
        assert outcome.out, line
    assert (bench.folder / "found" / "report.html").stat().st_size > 10_000
    assert (bench.folder / "new" / "documents.jsonl").is_file()


def test_the_demo_is_the_library_s(bench, monkeypatch):
    import bursty.demo

    monkeypatch.setattr(bursty.demo, "main", lambda folder: print(f"a story in {folder}"))
    assert bench("demo").out == "a story in report\n"
    assert bench("demo", "--out", "first-look").out == "a story in first-look\n"


def test_version(bench):
    outcome = bench("--version")
    assert (outcome.code, outcome.out) == (0, f"bursty {bursty.__version__}\n")


def test_no_arguments_show_the_help(bench):
    outcome = bench()
    assert outcome.code == 0
    assert outcome.out == bench("--help").out


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from bursty.cli import run; run(['--help']);"
        "print(','.join(sorted({'numba', 'numpy', 'sklearn', 'scipy', 'matplotlib', 'jinja2'} & set(sys.modules))))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    """The script of a shell, and what it is told when it asks about a half-typed line."""
    code = "from bursty.cli import main; import sys; sys.argv[0] = 'bursty'; main()"
    environment = {"PATH": "", "_BURSTY_COMPLETE": f"source_{shell}"}
    script = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "_BURSTY_COMPLETE" in script.stdout
    environment = {
        "_BURSTY_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "bursty cl",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "bursty cl",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "cluster" in answer.stdout
    assert "topics" not in answer.stdout
