"""The blocks of code of README and documentation, and what they print.

A ``python`` block that prints is followed by a ``text`` block with its output; ``py`` marks code that needs a real
corpus, and is run where there is one. ``python tests/doc_pages.py [PAGE ...]`` runs the pages and writes the outputs
again; with ``BURSTY_DATA``, those of ``py`` blocks too.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Folders of pages that a command makes.
GENERATED = ("_build", "auto_examples", "generated", "results")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """README and every page that is written by hand."""
    docs = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not set(page.parts) & set(GENERATED)]
    return [ROOT / "README.md", *(page for page in docs if page.name not in ("peers.md", "scaling.md"))]


@dataclass
class Block:
    """A block of code, and where its output stands or would stand."""

    kind: str
    code: str
    end: int
    shown: str | None
    shown_end: int


def blocks(text: str) -> list[Block]:
    """The blocks of a page; a ``text`` block directly after another one is its output."""
    found: list[Block] = []
    for match in BLOCK.finditer(text):
        if match[1] == "text" and found and not text[found[-1].end : match.start()].strip():
            found[-1].shown, found[-1].shown_end = match[2], match.end()
        else:
            found.append(Block(match[1], match[2], match.end(), None, match.end()))
    return found


def tidy(text: str) -> str:
    """Without spaces at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def run(page: Path, kinds: Collection[str] = ("python",)) -> Iterator[tuple[Block, str]]:
    """The blocks of these kinds of a page in order, in the current folder, with what each prints."""
    names: dict[str, object] = {}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind in kinds:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, str(page), "exec"), names)
            yield block, tidy(printed.getvalue())


def copy_data(source: Path) -> None:
    """Put the files that ``py`` blocks read into the current folder."""
    shutil.copy(source / "twins.csv", "twins.csv")


def rewrite(page: Path) -> None:
    """Put what each block prints behind it."""
    data = os.environ.get("BURSTY_DATA")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if data:
            copy_data(Path(data))
        outputs = list(run(page, ("python", "py") if data else ("python",)))
    text = page.read_text(encoding="utf-8")
    for block, printed in reversed(outputs):
        if printed or block.shown is not None:
            output = f"\n```text\n{printed}```\n" if printed else ""
            text = text[: block.end] + output + text[block.shown_end :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        if "```python\n" in page.read_text(encoding="utf-8"):
            print(page.relative_to(ROOT), file=sys.stderr)
            rewrite(page)
