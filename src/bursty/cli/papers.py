"""`bursty papers`: every table and figure of the papers, the published value beside ours."""

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
    from bursty.papers import Outcome

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
    help="Tables and figures of the five papers: their values, and ours.",
    epilog="\n\n".join(("Examples:", _EXAMPLES["list"][0], _EXAMPLES["run"][0])),
)


@app.command("list", cls=Command, epilog="\n\n".join(("Examples:", *_EXAMPLES["list"])))
def list_entries(
    as_json: Annotated[
        bool, typer.Option("--json", help="For machines: a list of id, title, runs, where, page.")
    ] = False,
) -> None:
    """Name every table and figure."""
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
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As listed; a paper's name stands for all of its.")],
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of each method; the paper's number by default.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results; runs that are in it are kept.")] = Path("papers-out"),
    jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="A reduced version, under a minute each.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the first run; the next run has the next.")] = 0,
) -> None:
    """Run tables and figures, and compare with what was published.

    Each gives a CSV, a Markdown table and, where there is a picture, a PNG;
    summary.md has the papers' claims. Stopped and started again, it goes on.
    """
    from bursty.papers import choose, run_entry
    from bursty.papers.writing import write_outcome, write_summary

    chosen = choose(ids)
    if find_spec("matplotlib") is None:
        say('no pictures: they need matplotlib (pip install "bursty[report]")')
    outcomes = []
    for entry in chosen:
        outcomes.append(run_entry(entry, out, runs=runs, jobs=jobs, quick=quick, seed=seed, report=_reporter(entry.id)))
        paths = write_outcome(outcomes[-1], out)
        _show(outcomes[-1])
        say(f"{entry.id}: wrote {', '.join(str(path) for path in paths)}")
    say(f"wrote {write_summary(outcomes, out)}")
    if all(outcome.nothing_ran for outcome in outcomes):
        raise typer.Exit(1)


def _show(outcome: Outcome) -> None:
    """The comparison, one line a value."""
    from bursty.papers.writing import cells

    print(f"{outcome.entry.id}: {outcome.entry.title}")
    for row in outcome.rows:
        what, measure, paper, ours, _, verdict, *_ = cells(row)
        print(f"  {what}, {measure}: paper {paper or '-'}, ours {ours or '-'}: {verdict}")
    for text, verdict in outcome.verdicts:
        print(f"  {verdict}: {text}")


def _reporter(entry: str) -> Callable[[str], None]:
    return lambda message: say(f"{entry}: {message}")
