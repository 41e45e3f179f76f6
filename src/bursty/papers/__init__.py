"""Reproduction of every table and figure of five papers: published values, ours, and whether they agree.

There is one module per paper, split in two if it would be long (``madsen2005_figures``, ``elkan2006_table3``,
``yu2010_synthetic``). An `Entry` is a table or a figure: its measurements, published values, claims and plot. Finished
runs are stored, one line each, so that an interrupted study can be resumed.

This folder calls the public interface only: `bursty` itself, `bursty.families`, `bursty.datasets`, `bursty.metrics`
and `bursty.plot`.
"""

from __future__ import annotations

from bursty.papers.entry import Case, Claim, Entry, Measurements, Trial
from bursty.papers.registry import choose, entries
from bursty.papers.study import Replication, run_entry

__all__ = ["Case", "Claim", "Entry", "Measurements", "Replication", "Trial", "choose", "entries", "run_entry"]
