"""The code of the documentation runs as it stands, page by page, in order, and prints what the page says."""

from __future__ import annotations

import csv
import random
import re
import shlex
import tomllib

import pytest

from bursty.cli import run as run_command
from doc_pages import ROOT, blocks, copy_data, pages, run, tidy

PAGES = [page for page in pages() if "```python\n" in page.read_text(encoding="utf-8")]
WITH_DATA = [page for page in pages() if "```py\n" in page.read_text(encoding="utf-8")]
CONSOLES = [page for page in [*pages(), ROOT / "CONTRIBUTING.md"] if "```console\n" in page.read_text(encoding="utf-8")]
#: Directives of Sphinx, such as includes and tables of contents.
FENCED = re.compile(r"^```\{.*?^```$", re.DOTALL | re.MULTILINE)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def name(page):
    return str(page.relative_to(ROOT).with_suffix(""))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in run(page):
        assert printed == tidy(block.shown or ""), f"python tests/doc_pages.py {name(page)}.md writes what is printed"


@pytest.mark.corpus
@pytest.mark.parametrize("page", WITH_DATA, ids=name)
def test_blocks_with_data_print_what_the_page_says(page, data_dir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy_data(data_dir)
    for block, printed in run(page, ("python", "py")):
        if block.kind == "py":
            assert printed == tidy(block.shown or ""), f"python tests/doc_pages.py {name(page)}.md writes it"


def test_every_block_is_of_a_kind_that_is_run():
    """Or is what such a block prints; Sphinx runs what is in braces."""
    for page in pages():
        shown = 0
        for block in blocks(page.read_text(encoding="utf-8")):
            assert block.kind in ("python", "py", "console"), f"{name(page)}: {block.code}"
            shown += block.shown is not None
        fences = re.findall(r"^ *```(?!\{)[^`\n]*$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
        assert len(fences) == 2 * (len(blocks(page.read_text(encoding="utf-8"))) + shown), name(page)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A folder of what a reader of the documentation has."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)

    def text(subject):
        own = [f"{subject}{letter}" for letter in "abcdefgh"]
        return " ".join(rng.choices(own, k=20) + rng.choices(["the", "of", "and"], k=9))

    for folder in ("mails", "new-mails", "new"):
        for number in range(24):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{number}.txt").write_text(text("xyz"[number % 3]))
    for table in ("papers.csv", "texts.csv", "more-texts.csv"):
        with open(tmp_path / table, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "year"])
            writer.writerows([text("uvwxyz"[number % 6]), 2000 + number % 20] for number in range(120))
    return tmp_path


@pytest.mark.parametrize("page", CONSOLES, ids=name)
def test_commands_work(page, reader, capfd):
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "console":
            for entry in re.split(r"^(?:\$ |(?=make |pip ))", block.code, flags=re.MULTILINE)[1:]:
                line, _, shown = entry.partition("\n")
                capfd.readouterr()
                check_command(line)
                assert not shown.strip() or capfd.readouterr().out == shown


def check_command(line):
    """Run a command of bursty; look up what others refer to."""
    words = shlex.split(line.partition(" | ")[0], comments=True)
    if words[:2] == ["pip", "install"]:
        extras = re.fullmatch(r"bursty(?:\[(.*)\])?", words[2])[1]
        assert not extras or set(extras.split(",")) <= set(EXTRAS)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), line
    elif words[:3] == ["bursty", "papers", "run"]:  # minutes to hours: tests/papers runs small ones
        assert run_command(["papers", "run", "--help"]) == 0
        assert words[3].partition(".")[0] in {page.stem for page in (ROOT / "docs" / "papers").glob("*.md")}
    else:
        assert words[0] == "bursty", f"not a command that this test knows: {line}"
        assert run_command(words[1:]) == 0, line
