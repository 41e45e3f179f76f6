"""Documents as counts: the `Corpus`, the readers that create one, and its file format.

Reading takes three steps. `read_corpus` detects the format of a file and opens it in place (`sources`, `formats`); the
reader of the format (`readers`) takes texts or counts from `folders`, `tables`, `matrices` or `matlab`, one block at a
time; `text` turns texts into counts. The result is a `Corpus`, which `storage` saves to one file without pickle.

This folder may import `bursty.storage`, `bursty.validation` and nothing else of the package.
"""

from __future__ import annotations

from bursty.corpus.core import Corpus
from bursty.corpus.description import Description
from bursty.corpus.read import read_corpus, read_parts
from bursty.corpus.shards import ShardedCorpus, write_shards
from bursty.corpus.text import TextOptions, count_texts

__all__ = [
    "Corpus",
    "Description",
    "ShardedCorpus",
    "TextOptions",
    "count_texts",
    "read_corpus",
    "read_parts",
    "write_shards",
]
