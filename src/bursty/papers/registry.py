"""All entries, and their lookup by name."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable

from bursty.papers.entry import Entry

#: Papers in order of publication, and their modules.
PAPERS = {
    "madsen2005": "madsen2005",
    "madsen-edcm": "madsen_edcm",
    "elkan2006": "elkan2006",
    "doyle2009": "doyle2009",
    "yu2010": "yu2010",
}


def entries() -> dict[str, Entry]:
    """Every table and figure, by its id."""
    found: dict[str, Entry] = {}
    for module in PAPERS.values():
        for entry in importlib.import_module(f"bursty.papers.{module}").ENTRIES:
            found[entry.id] = entry
    return found


def choose(names: Iterable[str]) -> list[Entry]:
    """The entries of these ids; the name of a paper selects all of its entries, and "all" selects every entry."""
    known = entries()
    chosen: dict[str, Entry] = {}
    for name in names:
        matching = [entry for entry in known.values() if name in ("all", entry.paper, entry.id)]
        if not matching:
            near = difflib.get_close_matches(name, [*known, *PAPERS], n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "`bursty papers list` lists them"
            raise ValueError(f"there is no table or figure {name!r}; {hint}")
        chosen |= {entry.id: entry for entry in matching}
    return list(chosen.values())
