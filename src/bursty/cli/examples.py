"""Two examples per verb, shown at the end of its help and run by the tests.

They use `mails/`, a folder of texts with one folder per class; `news.csv`, a table with the columns `text` and
`label`; and the folder `found`, which is written by earlier examples.
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "bursty": ("bursty cluster mails/ --out found --report", "bursty demo"),
    "import": ("bursty import mails/", "bursty import news.csv --text text --label label --shards"),
    "info": ("bursty info mails/", "bursty info found/model.bursty"),
    "cluster": (
        "bursty cluster mails/ --k 2 --out found --report",
        "bursty cluster news.csv --stop-words english --k auto --json",
    ),
    "discover": ("bursty discover mails/ --iterations 50", "bursty discover news.csv --max-k 20 --out groups"),
    "topics": ("bursty topics mails/ --k 3 --out about", "bursty topics news.csv --k 3 --model lda --iterations 50"),
    "compare": ("bursty compare mails/", "bursty compare news.csv --k 5 --json"),
    "infer": ("bursty infer found/model.bursty news.csv", "bursty infer about mails/ --out new --format jsonl"),
    "evaluate": ("bursty evaluate found/model.bursty", "bursty evaluate found/model.bursty news.csv --json"),
    "report": ("bursty report found/model.bursty", "bursty report about -o topics.html"),
    "demo": ("bursty demo", "bursty demo --out first-look"),
    "papers": ("bursty papers list", "bursty papers run elkan2006.table1 --quick"),
    "classify": ("bursty classify train mails/ --out judge", "bursty classify predict judge news.csv"),
    "classify train": (
        "bursty classify train mails/ --out judge --report",
        "bursty classify train news.csv --label label --method C-DCM --out other",
    ),
    "classify predict": (
        "bursty classify predict judge/model.bursty news.csv",
        "bursty classify predict judge mails/ --json",
    ),
    "classify evaluate": (
        "bursty classify evaluate judge/model.bursty mails/",
        "bursty classify evaluate judge news.csv --label label",
    ),
}


def epilog(verb: str) -> str:
    """The examples as the end of a help text; typer joins lines that have no empty line between them."""
    return "\n\n".join(("Examples:", *EXAMPLES[verb]))
