"""Documents as counts: the `Corpus`, the readers that make one, and the file that keeps it.

A document goes through three doors. `read_corpus` finds out what kind of file it has been given and opens it
in place (`sources`, `formats`); a reader (`folders`, `tables`, `matrices`, `matlab`) hands over texts or
counts, a block at a time; `text` turns texts into counts. What comes out is a `Corpus`, which `storage` can
keep in one file without pickle.

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
