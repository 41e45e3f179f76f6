"""The verbs, each with two examples in its help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

import bursty
from bursty.cli import classify, clusters, compare, corpora, papers, saved, topics
from bursty.cli.examples import epilog
from bursty.cli.groups import Command, Group, verb

app = typer.Typer(
    name="bursty",
    cls=Group,
    help="Clusters, topics and classes of documents, for words that come in bursts.",
    epilog=epilog("bursty"),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"bursty {bursty.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="With any command: show the traceback of an error.")] = False,
) -> None:
    """Clusters, topics and classes of documents, for words that come in bursts."""


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Output directory.")] = Path("report"),
) -> None:
    """See an example: two centuries of presidential speeches, and two reports."""
    from bursty import demo as story

    story.main(out)


_VERBS: dict[str, Callable[..., None]] = {
    "import": corpora.import_,
    "info": corpora.info,
    "cluster": clusters.cluster,
    "discover": clusters.discover,
    "topics": topics.topics,
    "compare": compare.compare,
    "infer": saved.infer,
    "evaluate": saved.evaluate,
    "report": saved.report,
    "demo": demo,
}
for _name, _function in _VERBS.items():
    app.command(_name, cls=Command, epilog=epilog(_name))(verb(_function))
app.add_typer(classify.make_app(), name="classify", epilog=epilog("classify"))
app.add_typer(papers.app, name="papers", epilog=epilog("papers"))
