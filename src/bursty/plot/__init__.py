"""Plots of data, fits and their results, with matplotlib.

There is one file per subject: `counts`, `comparison`, `traces`, `clusters`, `topics`, `hierarchy`, `selection`,
`calibration`, `checks`; `style` defines their common appearance. Every function takes data or fitted models and an
optional ``ax``, and returns the axes. matplotlib is imported by the first plot.

This folder may import `bursty.families`, `bursty.engines`, `bursty.corpus` and `bursty.metrics`.
"""

from __future__ import annotations

from bursty.plot.calibration import reliability, reliability_bins
from bursty.plot.checks import predictive_check
from bursty.plot.clusters import cluster_sizes, cluster_words, confusion, similarity
from bursty.plot.comparison import parameters, probabilities, runs
from bursty.plot.counts import count_probabilities, simplex
from bursty.plot.hierarchy import hierarchy
from bursty.plot.selection import likelihoods
from bursty.plot.topics import topic_words, topics_over
from bursty.plot.traces import trace

__all__ = [
    "cluster_sizes",
    "cluster_words",
    "confusion",
    "count_probabilities",
    "hierarchy",
    "likelihoods",
    "parameters",
    "predictive_check",
    "probabilities",
    "reliability",
    "reliability_bins",
    "runs",
    "similarity",
    "simplex",
    "topic_words",
    "topics_over",
    "trace",
]
