"""Names of ours that the documentation mentions exist: modules, classes, functions, files."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection
from pathlib import Path

import pytest

from code_index import CodeIndex
from doc_pages import pages

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bursty"
PAGES = [*pages(), *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY"))]
#: These pages speak of the code itself, so that every word of it in backticks must be in the code.
INSIDE = ("architecture", "CONTRIBUTING")
INDEX = CodeIndex(SOURCE)

#: Names of other libraries and of the system, files that users have, and what stands for any name.
OTHERS = {
    "CUDA_VISIBLE_DEVICES",
    "ComplementNB",
    "CountVectorizer",
    "HashingVectorizer",
    "KMeans",
    "LocalCUDACluster",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MultinomialNB",
    "NO_COLOR",
    "NUMBA_DISABLE_JIT",
    "PYTHON",
    "Pipeline",
    "RLIMIT_DATA",
    "TfidfVectorizer",
    "csr_array",
    "documents.csv",
    "mails/",
    "manifest.json",
    "model.bursty",
    "pre-commit",
    "report.html",
    "runs.jsonl",
    "scipy.io.loadmat",
    "scipy.sparse",
    "summary.md",
    "texts.csv",
    "twins.csv",
    "vocab.txt",
}
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
ASSIGNED = re.compile(r"^(\w+)(?=(?:, \w+)* = )", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
FILE = re.compile(r"[\w./<>*-]*\.(?:py|md|toml|cff)|[\w./<>*-]+/[\w<>*-]+\.txt|[\w./<>*-]+/[\w<>*-]+\.json|[\w/<>-]+/")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=$|\(|\[)")
PROGRAM = re.compile(r"(?:python -m |(?=benchmarks\.))([\w.]+)")


def spans(page: Path) -> list[str]:
    """What stands in backticks in the text of a page, without its blocks of code."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    if page.stem == "migration":  # the first column has the code of others
        text = re.sub(r"^\| .*? \| ", "", text, flags=re.MULTILINE)
    return [" ".join(span.split()) for span in SPAN.findall(text)]


def file_exists(name: str) -> bool:
    """Whether there is such a file or folder; ``<name>`` stands for any."""
    pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
    return any(next(folder.glob(pattern), None) for folder in (ROOT, SOURCE, ROOT / "docs"))


def variables(page: Path) -> set[str]:
    """Names that the blocks of code of a page assign: each stands for an object of some class."""
    return {name for block in FENCE.findall(page.read_text(encoding="utf-8")) for name in ASSIGNED.findall(block)}


def missing(span: str, *, inside: bool = False, assigned: Collection[str] = ()) -> str | None:
    """The name of ours in this span that does not exist, or None."""
    if FILE.fullmatch(span) and span not in OTHERS:
        found = file_exists(span) or any((ROOT / "tests").rglob(span))
        return None if found else span
    if re.fullmatch(r"\w+\.(?:table|figure)\d", span):  # an entry of a paper
        return None if file_exists(f"papers/results/{span}.csv") else span
    if program := PROGRAM.match(span):
        path = program[1].replace(".", "/")
        known = any((folder / f"{path}{end}").exists() for folder in (ROOT, ROOT / "src") for end in (".py", ""))
        return None if known or program[1] == "pytest" else program[1]
    if (match := NAME.match(span)) is None or match[0] in OTHERS or len(match[0]) == 1:
        return None
    name = match[0]
    first, _, rest = name.partition(".")
    if rest and first in assigned:
        name = f"model.{rest}"
    is_ours = "." in name or re.fullmatch(r"[A-Z]\w*", name) or (inside and re.fullmatch(r"[a-z]\w*_\w+", name))
    if not is_ours or hasattr(builtins, name) or INDEX.has(name) or (inside and name in INDEX.names):
        return None
    if name.startswith("BURSTY_"):
        texts = (
            path.read_text(encoding="utf-8") for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")
        )
        return None if any(name in text for text in texts) else name
    return name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_exist(page):
    names = variables(page)
    found = [missing(span, inside=page.stem in INSIDE, assigned=names) for span in spans(page)]
    assert [name for name in found if name is not None] == []


@pytest.mark.parametrize(
    "span",
    [
        "bursty.inference.em.Runn",
        "em.Rum",
        "Mixture.fitt",
        "Mixtures",
        "families/dcmm.py",
        "famillies/<name>.py",
        "python -m benchmarks.nothing",
        "benchmarks.nothing",
        "corpus.nothing",
        "model.nothing_of_ours",
        "BURSTY_NOTHING_" + "AT_ALL",
    ],
)
def test_names_that_do_not_exist_are_found(span):
    assert missing(span) is not None


@pytest.mark.parametrize(
    "span",
    [
        "bursty.Mixture",
        "bursty.Mixture.fit",
        "em.Run",
        "inference.em.Run",
        "Mixture.labels_",
        "LDA.top_words",
        "bursty.datasets.load(name)",
        "families/<name>.py",
        "estimator.py",
        "samplers/",
        "corpus.counts",
        "model.labels_",
        "ValueError",
    ],
)
def test_names_that_exist_are_not(span):
    assert missing(span) is None


def test_every_change_names_at_most_three_files():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("## Where does X go?")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| a ")]
    assert len(rows) == 12
    for change, files in rows:
        assert 1 <= len(SPAN.findall(files)) <= 3, change


def test_classes_of_one_name_play_one_role():
    shared = {name for name, kinds in INDEX.classes.items() if len(kinds) > 1}
    assert shared == {"Run", "Schedule", "Method", "Hyperparameters", "Topics", "State", "Steps", "Settings"}
