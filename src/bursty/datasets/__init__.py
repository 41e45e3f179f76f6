"""Corpora by name, and corpora made to order.

`load` finds a collection under the folder that the environment variable ``BURSTY_DATA`` names, or downloads
it from its public home where it has one; `names` lists them. `make_yu2010` and `make_bursty_mixture` draw
documents whose truth is known.

This folder may import `bursty.corpus` and `bursty.validation`.
"""

from __future__ import annotations

from bursty.datasets.fetch import DatasetUnavailable
from bursty.datasets.generators import MixtureTruth, Yu2010Truth, make_bursty_mixture, make_yu2010
from bursty.datasets.loading import load, names

__all__ = [
    "DatasetUnavailable",
    "MixtureTruth",
    "Yu2010Truth",
    "load",
    "make_bursty_mixture",
    "make_yu2010",
    "names",
]
