"""Results of a verb: printed to stdout at the end, and written to the folder of ``--out``, all or nothing.

That the folder can be written is checked before any work is done. A new folder is written beside it and replaces it
once complete (`bursty.storage.replacing_folder`): a verb that fails or is interrupted leaves the old one unchanged.
Files of earlier runs that a run does not write are removed (`bursty.cli.written`).
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import bursty
from bursty.cli.messages import as_json, interrupts, phase, printable, say
from bursty.cli.options import Output, Reading
from bursty.cli.tables import Table, check_format, plain, print_facts, print_table, write_table
from bursty.cli.written import MODEL, REPORT, list_files, remove_stale

if TYPE_CHECKING:
    from bursty.corpus import Corpus, ShardedCorpus

#: The command line as typed.
COMMAND: ContextVar[str] = ContextVar("command", default="bursty")
#: Version of the JSON printed by ``--json``.
SCHEMA = 1
_ROWS = 30
# Facts about the run that are shown in a report.
_TOLD = ("command", "data", "parameters", "seed", "versions", "started", "seconds")


class Results:
    """Results of one verb: a context manager around all of its work."""

    def __init__(self, verb: str, options: Output, *, report: bool = False) -> None:
        check_format(options.format)
        if report and options.out is None:
            raise ValueError("--report needs an output directory: add --out DIR")
        self.verb, self.options, self.wants_report = verb, options, report
        self.facts: dict[str, Any] = {}
        self._say: Callable[[str], str] = str
        self.verdict = ""
        self.tables: list[Table] = []
        self.run: dict[str, Any] = {"command": COMMAND.get()}
        self._began = time.perf_counter()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._staging: Path | None = None
        self._made: list[Path] = []
        self._names: list[str] = []
        self._files: list[Path] = []
        self._writing = ExitStack()

    def __enter__(self) -> Self:
        if self.options.out is not None:
            self._stage(self.options.out)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with self._writing:
                if error is not None:
                    raise error
                interrupts.check()
                self._write()
            self._deliver()
        finally:
            self._tidy()

    def describe(
        self, data: Path, corpus: Corpus | ShardedCorpus, reading: Reading, seed: int | None = None, **parameters: Any
    ) -> None:
        """Record the data and the parameters of the run."""
        if hasattr(corpus, "units"):
            self._say = corpus.units.say
        self.run |= {
            "data": str(data),
            "reading": reading.plain(),
            "documents": len(corpus),
            "words": corpus.n_words,
            "parameters": parameters,
            "seed": seed,
            "versions": bursty._versions(),
            "started": self._started,
        }

    def keep(self, model: Any, documents: Corpus | ShardedCorpus | None) -> None:
        """Save a fitted model, and write its report if requested.

        The documents are saved with the model, unless they are shards.
        """
        from bursty.corpus import Corpus

        corpus = documents if isinstance(documents, Corpus) else None
        interrupts.check()
        self.run["seconds"] = round(time.perf_counter() - self._began, 3)
        if self._staging is None:
            say("nothing is saved: --out DIR saves the model and all tables")
            return
        from bursty.persistence import save

        if "verbose" in model.get_params(deep=False):
            model.set_params(verbose=0)
        with phase("writing the model"):
            save(model, self._staging / MODEL, corpus=corpus, run=self.run)
        if self.wants_report:
            write_report(self._staging / REPORT, model, corpus, self.run)

    def _stage(self, out: Path) -> None:
        from bursty.storage import replacing_folder

        if out.exists() and not out.is_dir():
            raise NotADirectoryError(f"--out must be a directory, but {out} is a file")
        self._made = [folder for folder in out.parents if not folder.exists()]
        try:
            self._staging = self._writing.enter_context(replacing_folder(out, keep=True))
        except OSError:
            self._tidy()
            raise

    def _write(self) -> None:
        self.run["seconds"] = round(time.perf_counter() - self._began, 3)
        if self._staging is not None and self.options.out is not None:
            for table in self.tables:
                write_table(table, self._staging, self.options.format)
            self._names = sorted(path.name for path in self._staging.iterdir())
            list_files(self._staging, self.options.out, self._names, COMMAND.get())

    def _deliver(self) -> None:
        if self.options.out is not None:
            remove_stale(self.options.out, self._names)
            self._files = [self.options.out / name for name in self._names]
            say(f"saved in {self.options.out}: {', '.join(self._names)}")
        self._print()
        sys.stdout.flush()

    def _tidy(self) -> None:
        if not self._files:
            with suppress(OSError):
                for folder in self._made:
                    folder.rmdir()

    def _print(self) -> None:
        if self.options.as_json:
            print(as_json(self._document(), indent=2))
            return
        terminal = sys.stdout.isatty()
        shown = [table for table in self.tables if table.shown]
        if self.facts:
            print_facts(self.facts, sys.stdout, terminal, self._say)
        for number, table in enumerate(shown):
            if number or self.facts:
                print()
            limit = _ROWS if terminal else table.most
            print_table(table, sys.stdout, terminal, limit, self._say)
            if limit is not None and len(table) > limit:
                say(f"... and {len(table) - limit:,} more {self._rows_of(table)}")
        if self.verdict:
            width = shutil.get_terminal_size().columns if terminal else 10**6
            print("\n" + textwrap.fill(printable(self.verdict), width))

    def _rows_of(self, table: Table) -> str:
        """What is left out of a printed table, and where it is."""
        if self.options.out is not None:
            return f"rows of {table.name}, in {self.options.out / table.name}.{self.options.format}"
        return f"rows of {table.name}; {'a pipe, ' if table.most is None else ''}--json or --out DIR has all of them"

    def _document(self) -> dict[str, Any]:
        """The output of ``--json``; see docs/cli.md."""
        return {
            "schema": SCHEMA,
            "bursty": bursty.__version__,
            "verb": self.verb,
            "run": plain(self.run),
            "facts": plain(self.facts),
            "verdict": self.verdict or None,
            "tables": {table.name: table.records() for table in self.tables},
            "files": [str(path) for path in self._files],
        }


def write_report(
    path: Path, model: Any, corpus: Corpus | None, run: dict[str, Any] | None, *, texts: bool = True
) -> None:
    """Write the report on a model; the libraries it needs are an optional extra."""
    try:
        from bursty import report

        told = {name: run[name] for name in _TOLD if name in run} if run else None
        with phase("writing the report"):
            report.write(path, model, corpus=corpus, run=told, texts=texts)
    except ImportError as error:
        raise ValueError(f"a report needs optional dependencies ({error}): pip install 'bursty[report]'") from error
