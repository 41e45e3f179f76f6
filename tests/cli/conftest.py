"""A folder of documents as the examples of the help speak of it, and the command run inside it."""

from __future__ import annotations

import csv
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from bursty.cli import run

WORDS = {
    "money": ["bank", "market", "share", "price", "profit", "loan", "trader", "bond", "inflation", "dollar"],
    "sport": ["match", "goal", "team", "player", "coach", "season", "league", "referee", "stadium", "striker"],
}
COMMON = ["the", "of", "and", "said", "today", "people", "year", "new", "last", "time"]


def text(rng: random.Random, kind: str) -> str:
    """A text about few things, each of them often."""
    own = rng.sample(WORDS[kind], 3)
    return " ".join(rng.choices(COMMON, k=10) + rng.choices(own, k=14) + rng.choices(WORDS[kind], k=6))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Path:
    """`mails/`, `news.csv`, and the models `found`, `about` and `judge`, made once."""
    folder, rng = tmp_path_factory.mktemp("prepared"), random.Random(1)
    for kind in WORDS:
        (folder / "mails" / kind).mkdir(parents=True)
        for number in range(20):
            (folder / "mails" / kind / f"{number:02}.txt").write_text(text(rng, kind))
    with open(folder / "news.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "text", "label"])
        for number in range(24):
            kind = ("money", "sport")[number % 2]
            writer.writerow([f"n{number}", f"{text(rng, kind)} zebra", kind])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["cluster", "mails", "--k", "2", "--out", "found"]) == 0
        assert run(["topics", "mails", "--k", "2", "--iterations", "30", "--out", "about"]) == 0
        assert run(["classify", "train", "mails", "--out", "judge"]) == 0
    return folder


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


class Bench:
    """Runs commands in a folder of its own."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capfd = capfd

    def __call__(self, *arguments: str) -> Outcome:
        self._capfd.readouterr()
        code = run(list(arguments))
        captured = self._capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    def names(self) -> list[str]:
        """All files there are, hidden ones too."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))


@pytest.fixture
def bench(prepared, tmp_path, monkeypatch, capfd) -> Bench:
    """The prepared folder, to oneself, 80 columns wide."""
    folder = tmp_path / "bench"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    return Bench(folder, capfd)
