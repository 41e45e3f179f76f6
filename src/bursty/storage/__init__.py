"""Files that keep arrays, and trees of them: written all or nothing, read without pickle and without trust.

`replacing` writes files and folders so that they are there whole or not at all; `container` is one file, a zip of a
manifest and arrays; `tree` keeps nested Python values, and objects of classes that the reader names, in it. Corpora,
models and checkpoints are all kept this way.

This folder imports `sparse` and nothing else of the package.
"""

from __future__ import annotations

from bursty.storage.container import (
    is_container,
    pack_strings,
    read_arrays,
    unpack_strings,
    write_arrays,
)
from bursty.storage.replacing import discard, recover, replacing, replacing_folder
from bursty.storage.tree import read_tree, write_tree

__all__ = [
    "discard",
    "is_container",
    "pack_strings",
    "read_arrays",
    "read_tree",
    "recover",
    "replacing",
    "replacing_folder",
    "unpack_strings",
    "write_arrays",
    "write_tree",
]
