"""`DPMFS`: clusters of unknown number, and discriminative words.

| file | what it has |
|---|---|
| `estimator` | the public class, which fits |
| `reading` | prediction, words and merging of clusters |
| `settings` | what its parameters mean for a corpus: checks and defaults |
| `constraints` | documents that must, or must not, share a cluster |
| `chains` | running chains, traces, when to stop |
| `estimate` | one partition from many draws; components of that partition |
"""

from __future__ import annotations

from bursty.models.dpmfs.estimator import DPMFS

__all__ = ["DPMFS"]
