"""Every table and figure of five papers: the published value, ours, and whether they agree.

One module a paper, and a second one where it would be long (``madsen2005_figures``, ``elkan2006_table3``,
``yu2010_synthetic``). An `Entry` is a table or a figure: what to measure, what was published, what the paper
claims, what to draw. Runs are kept, one line each, so that a study that was stopped goes on where it ended.

This folder calls the public interface only: `bursty` itself, `bursty.families`, `bursty.datasets`, `bursty.metrics`
and `bursty.plot`.
"""

from __future__ import annotations

from bursty.papers.entry import Case, Claim, Entry, Results, Run
from bursty.papers.registry import choose, entries
from bursty.papers.study import Outcome, run_entry

__all__ = ["Case", "Claim", "Entry", "Outcome", "Results", "Run", "choose", "entries", "run_entry"]
