"""Files of arrays and of trees of them: written atomically, read without pickle, and safe for untrusted input.

`replacing` writes files and folders atomically; `container` is one file, a zip of a manifest and arrays; `tree` stores
nested Python values in it, and objects of registered classes. Corpora, models and checkpoints are all stored this way.

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
