"""The options that verbs share, in groups: what to read, how to fit, where results go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursty.cli.messages import phase, say
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.corpus import Corpus, ShardedCorpus

PathArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PATH", help="Documents: a folder of texts, CSV, JSON, Parquet, a corpus file, ...", readable=False
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Saved model: DIR/model.bursty, or DIR.", readable=False)
]
# Written out, because importing `bursty.families.FAMILIES` takes a second and help should appear at once.
FAMILY_HELP = "dcm, edcm, multinomial, vonmisesfisher or dirichlet."
Family = Annotated[str, typer.Option("--family", metavar="NAME", help=FAMILY_HELP)]


def number_of(k: str | None) -> int | str | None:
    """A number of clusters or topics: an integer, "auto", or None if none was given."""
    if k is None or k == "auto":
        return k
    if not k.isdecimal() or not 1 <= int(k[:19]) < 2**31:
        raise ValueError(f"--k must be a positive integer or auto, not {k!r}")
    return int(k)


def number(text: str) -> float:
    """An int (number of documents) or, with a decimal point, a float (share of the documents)."""
    value = float(text)
    return int(value) if value == int(value) and "." not in text else value


def _of(panel: str) -> Any:
    """Factory of options that the help shows under one title."""

    def option(flag: str, help: str, metavar: str | None = None, **more: Any) -> Any:
        return typer.Option(flag, help=help, metavar=metavar, rich_help_panel=panel, **more)

    return option


_reading, _words, _results = _of("Input"), _of("Words"), _of("Output")


@dataclass(frozen=True)
class Reading:
    """How documents are read: the options of `bursty.read_corpus`, by the same names."""

    input_format: Annotated[
        str | None, _reading("--input-format", "Format of PATH, such as csv or lines; detected by default.", "NAME")
    ] = None
    text: Annotated[list[str] | None, _reading("--text", "Column of the text; repeatable.", "COLUMN")] = None
    label: Annotated[str | None, _reading("--label", "Column of the class.", "COLUMN")] = None
    id: Annotated[str | None, _reading("--id", "Column of the document's name.", "COLUMN")] = None
    metadata: Annotated[list[str] | None, _reading("--metadata", "Another column to keep; repeatable.", "COLUMN")] = (
        None
    )
    label_separator: Annotated[
        str | None, _reading("--label-separator", "Separator of several classes in one field.", "TEXT")
    ] = None
    delimiter: Annotated[
        str | None, _reading("--delimiter", "Delimiter of CSV fields; detected by default.", "TEXT")
    ] = None
    columns: Annotated[
        str | None, _reading("--columns", "Column names of a CSV file without a header: title,text,year.", "A,B,C")
    ] = None
    html: Annotated[
        bool | None, _reading("--html/--no-html", "Whether texts are HTML; .html files are by default.")
    ] = None
    include: Annotated[list[str] | None, _reading("--include", "Read only these files; repeatable.", "'*.txt'")] = None
    exclude: Annotated[list[str] | None, _reading("--exclude", "Skip these files; repeatable.", "'*.min.js'")] = None
    max_documents: Annotated[int | None, _reading("--max-documents", "Stop after N rows.", "N", min=1)] = None
    encoding: Annotated[str | None, _reading("--encoding", "Encoding of texts; UTF-8 by default.", "NAME")] = None
    vocabulary: Annotated[Path | None, _reading("--vocabulary", "Vocabulary, one word per line.", "FILE")] = None
    labels: Annotated[Path | None, _reading("--labels", "Classes of a count table, one per line.", "FILE")] = None
    max_memory: Annotated[str | None, _reading("--max-memory", "Memory limit for reading, such as 8GB.", "SIZE")] = None
    transpose: Annotated[bool, _reading("--transpose", "The count table has one row per word.")] = False
    no_texts: Annotated[bool, _reading("--no-texts", "Do not keep texts for excerpts in reports.")] = False
    units: Annotated[
        str | None, _reading("--units", "Names of document, word and token: sample,taxon,read.", "A,B,C")
    ] = None
    stop_words: Annotated[
        str | None, _words("--stop-words", "'english', or a file of words to leave out.", "WHICH")
    ] = None
    min_df: Annotated[
        float | None, _words("--min-df", "Keep words of at least N documents (0.1: a tenth).", "N", parser=number)
    ] = None
    max_df: Annotated[
        float | None, _words("--max-df", "Keep words of at most N documents (0.5: half).", "N", parser=number)
    ] = None
    drop_most_common: Annotated[
        int | None, _words("--drop-most-common", "Leave out the N most common words.", "N", min=0)
    ] = None
    ngrams: Annotated[int | None, _words("--ngrams", "Count phrases of up to N words.", "N", min=1, max=5)] = None
    keep_case: Annotated[bool, _words("--keep-case", "Do not convert to lower case.")] = False
    token_pattern: Annotated[str | None, _words("--token-pattern", "Regular expression of a word.", "REGEX")] = None

    def given(self) -> dict[str, Any]:
        """The options of `read_corpus` that were given."""
        plain = (
            *("label", "id", "label_separator", "delimiter", "max_documents", "encoding", "vocabulary", "labels"),
            *("html", "min_df", "max_df", "drop_most_common", "token_pattern", "max_memory"),
        )
        options = {name: getattr(self, name) for name in plain if getattr(self, name) is not None}
        options |= {
            name: list(getattr(self, name))
            for name in ("text", "metadata", "include", "exclude")
            if getattr(self, name)
        }
        if self.columns is not None:
            options["columns"] = [name.strip() for name in self.columns.split(",")]
        if self.transpose:
            options["transpose"] = True
        if self.keep_case:
            options["lowercase"] = False
        if self.ngrams is not None:
            options["ngram_range"] = (1, self.ngrams)
        if self.stop_words is not None:
            options["stop_words"] = _stop_words(self.stop_words)
        return options

    def plain(self) -> dict[str, Any]:
        """The same as plain values, which a saved model can store."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in self.given().items()}

    def read(self, path: Path, also: dict[str, Any] | None = None) -> Corpus:
        """The documents at `path`; the options `also` apply unless overridden on the command line."""
        from bursty.corpus import read_corpus
        from bursty.corpus.read import holds_texts
        from bursty.corpus.units import Units
        from bursty.storage import is_container

        if path.is_file() and is_container(path, "model"):
            raise ValueError(f"{path} is a saved model, not documents; 'bursty info {path}' says what is in it")
        if (path / "model.bursty").is_file() and is_container(path / "model.bursty", "model"):
            raise ValueError(f"{path} has the results of a run, not documents; 'bursty info {path}' says what is in it")
        if is_shards(path):
            raise ValueError(
                f"{path} is a folder of shards, which only cluster, discover and topics read: give the original input"
            )
        with self.in_options(), phase(f"reading {path.name or path}"):
            options = {**(also or {}), **self.given()}
            if not self.no_texts and holds_texts(path, self.input_format, options):
                options["keep_texts"] = True
            units = None if self.units is None else Units.of(self.units).names
            corpus = read_corpus(path, self.input_format, **options)
            corpus = corpus if units is None else corpus.with_units(units)
        sizes = {"document": len(corpus), "word": corpus.n_words, "token": int(corpus.counts.sum())}
        size = ", ".join(counted(number, unit) for unit, number in sizes.items())
        say(f"{path}: {corpus.units.say(size)}")
        if not corpus.has_words:
            say("warning: the words have no names; --vocabulary FILE gives them")
        return corpus

    @staticmethod
    @contextmanager
    def in_options() -> Iterator[None]:
        """Reword the library's errors about parameters in terms of command-line options."""
        try:
            yield
        except ValueError as error:
            raise ValueError(_in_options(str(error))) from error

    def open(self, path: Path) -> Corpus | ShardedCorpus:
        """The documents at `path`; shards stay on disk."""
        if not is_shards(path):
            return self.read(path)
        from bursty.corpus import ShardedCorpus

        if self.given() or self.input_format:
            raise ValueError(
                f"{path} is a folder of shards, whose words are already counted: reading options do not apply"
            )
        sharded = ShardedCorpus(path)
        tokens = sum(shard.tokens for shard in sharded.shards)
        sizes = {"document": len(sharded), "word": sharded.n_words, "token": tokens}
        say(f"{path}: {', '.join(counted(size, what) for what, size in sizes.items())}, on disk")
        return sharded


def is_shards(path: Path) -> bool:
    """Whether `path` is a folder written by ``bursty import --shards``."""
    from bursty.storage import recover

    if path.suffix == ".bshards":
        recover(path)
    return path.suffix == ".bshards" and path.is_dir()


def _in_options(message: str) -> str:
    """A message of the library with parameters (``min_df=2``, ``min_df``) replaced by options (``--min-df 2``)."""
    flags = {field.name: field.name.replace("_", "-") for field in fields(Reading)} | {"format": "input-format"}
    if taken := re.search(r", which takes (.+)$", message):
        options = flags | {"lowercase": "keep-case", "ngram_range": "ngrams", "keep_texts": "no-texts"}
        listed = sorted(f"--{options[name]}" for name in taken[1].split(", ") if name in options)
        message = f"{message[: taken.start()]}, which takes {', '.join(listed)}"
    # Without "=", only what has an underscore cannot be a word of the message.
    unmistakable = [name for name in flags if "_" in name]
    named = re.compile(rf"\b(?:({'|'.join(flags)})=|({'|'.join(unmistakable)})\b)")
    message = message.replace(", quoted=", "")  # quotes are detected, and have no option
    message = named.sub(lambda match: f"--{flags[match[1] or match[2]]} ", message)
    return re.sub(r" (?=[,.;:)])(?!\.\.\.)", "", " ".join(message.split()))


def _stop_words(which: str) -> Any:
    if which == "english":
        return which
    path = Path(which)
    if not path.is_file():
        raise ValueError(f"--stop-words must be 'english' or a file with one word per line; no such file: {which}")
    return path.read_text(encoding="utf-8").split()


@dataclass(frozen=True)
class Fitting:
    """How a model is fitted."""

    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Random seed.")] = 0
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, metavar="N", help="Number of threads; all cores by default.")
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return {"random_state": self.seed, "n_jobs": self.jobs, "verbose": 1}


@dataclass(frozen=True)
class Checkpointing:
    """Whether an interrupted fit can be resumed."""

    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="Saved during the fit; the same command resumes from it."),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return {} if self.checkpoint is None else {"checkpoint": str(self.checkpoint)}


@dataclass(frozen=True)
class Output:
    """Where results go."""

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Output directory.", rich_help_panel="Output"),
    ] = None
    format: Annotated[str, _results("--format", "Format of tables: csv, jsonl or parquet.", "NAME")] = "csv"
    as_json: Annotated[bool, _results("--json", "Print one JSON document.")] = False


@dataclass(frozen=True)
class Report:
    """Whether a report is written."""

    report: Annotated[bool, _results("--report", "Also write DIR/report.html.")] = False
