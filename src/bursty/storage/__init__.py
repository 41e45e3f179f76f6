"""Files that keep arrays, and trees of them: written all or nothing, read without pickle and without trust.

`container` is the file, a zip of a manifest and arrays; `tree` keeps nested Python values, and objects of classes
that the reader names, in it. Corpora, models and checkpoints are all kept this way.

This folder imports `sparse` and nothing else of the package.
"""

from __future__ import annotations

from bursty.storage.container import (
    is_container,
    pack_strings,
    read_arrays,
    replacing,
    unpack_strings,
    write_arrays,
)
from bursty.storage.tree import read_tree, write_tree

__all__ = [
    "is_container",
    "pack_strings",
    "read_arrays",
    "read_tree",
    "replacing",
    "unpack_strings",
    "write_arrays",
    "write_tree",
]
