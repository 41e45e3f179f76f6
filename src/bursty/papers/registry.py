"""All entries, and those that a user names."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable

from bursty.papers.entry import Entry

#: Papers in the order of their appearance, and their modules.
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
    """The entries of these ids; a paper's name stands for all of its, and "all" for all there are."""
    known = entries()
    chosen: dict[str, Entry] = {}
    for name in names:
        matching = [entry for entry in known.values() if name in ("all", entry.paper, entry.id)]
        if not matching:
            near = difflib.get_close_matches(name, [*known, *PAPERS], n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "`bursty papers list` has them all"
            raise ValueError(f"no table or figure is called {name!r}; {hint}")
        chosen |= {entry.id: entry for entry in matching}
    return list(chosen.values())
