"""`bursty papers`: every table and figure of the papers, with published and reproduced values."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bursty.cli.groups import Command, Group
from bursty.cli.messages import say

if TYPE_CHECKING:
    from bursty.papers import Replication

_EXAMPLES = {
    "list": ("bursty papers list", "bursty papers list --json"),
    "run": (
        "bursty papers run elkan2006.table1 --quick",
        "bursty papers run madsen2005.figure5 doyle2009 --runs 5 --jobs 2 --out results",
    ),
}

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Reproduce the tables and figures of the five papers.",
    epilog="\n\n".join(("Examples:", _EXAMPLES["list"][0], _EXAMPLES["run"][0])),
)


@app.command("list", cls=Command, epilog="\n\n".join(("Examples:", *_EXAMPLES["list"])))
def list_entries(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: a list of id, title, runs, where, page.")
    ] = False,
) -> None:
    """List every table and figure."""
    from bursty.papers import entries
    from bursty.papers.comparing import source

    found = entries().values()
    if as_json:
        places = [{name: source(entry)[name] for name in ("where", "page")} for entry in found]
        rows = [
            {"id": entry.id, "title": entry.title, "runs": entry.runs, **place}
            for entry, place in zip(found, places, strict=True)
        ]
        print(json.dumps(rows, indent=2))
        return
    width = max(len(entry.id) for entry in found)
    for entry in found:
        print(f"{entry.id:{width}}  {source(entry)['where']}: {entry.title}")


@app.command("run", cls=Command, epilog="\n\n".join(("Examples:", *_EXAMPLES["run"])))
def run_entries(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="As listed; a paper's name runs all of its entries.")],
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of runs per method; by default as in the paper.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Output directory; finished runs in it are reused.")
    ] = Path("papers-out"),
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Number of parallel runs.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Reduced version, under a minute each.")] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the first run; increases by 1 per run.")] = 0,
) -> None:
    """Reproduce tables and figures, and compare them with the papers.

    Each entry writes a CSV file, a Markdown table and, for figures, a PNG;
    summary.md lists the papers' claims. An interrupted run resumes.
    """
    from bursty.papers import choose, run_entry
    from bursty.papers.writing import write_outcome, write_summary

    chosen = choose(ids)
    if find_spec("matplotlib") is None:
        say('no figures: they need matplotlib (pip install "bursty[report]")')
    outcomes = []
    for entry in chosen:
        outcomes.append(run_entry(entry, out, runs=runs, jobs=jobs, quick=quick, seed=seed, report=_reporter(entry.id)))
        paths = write_outcome(outcomes[-1], out)
        _show(outcomes[-1])
        say(f"{entry.id}: wrote {', '.join(str(path) for path in paths)}")
    say(f"wrote {write_summary(outcomes, out)}")
    if all(outcome.nothing_ran for outcome in outcomes):
        raise typer.Exit(1)


def _show(outcome: Replication) -> None:
    """Print the comparison, one line per value."""
    from bursty.papers.writing import cells

    print(f"{outcome.entry.id}: {outcome.entry.title}")
    for row in outcome.rows:
        what, measure, paper, ours, _, verdict, *_ = cells(row)
        print(f"  {what}, {measure}: paper {paper or '-'}, ours {ours or '-'}: {verdict}")
    for text, verdict in outcome.verdicts:
        print(f"  {verdict}: {text}")


def _reporter(entry: str) -> Callable[[str], None]:
    return lambda message: say(f"{entry}: {message}")
