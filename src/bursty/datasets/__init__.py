"""Named corpora, and synthetic corpora.

`load` finds a collection in the folder given by the environment variable ``BURSTY_DATA``, or downloads it if it is
publicly available; `names` lists them. `make_yu2010` and `make_bursty_mixture` generate documents from known truth.

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
