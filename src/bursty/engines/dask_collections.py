"""Dask arrays, data frames and bags as chunks: blocks of any size become chunks of the usual size, on the workers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Client

from bursty.corpus.shards import SHARD_SIZE
from bursty.engines.chunks import Chunk
from bursty.engines.documents import Size
from bursty.sparse import as_csr
from bursty.typing import Array
from bursty.validation import Collection, check_counts, stack_documents

#: A function and its arguments.
Task = tuple[Any, ...]


def cut_collection(client: Client, counts: Collection) -> tuple[list[Task], list[Size]]:
    """Tasks that make chunks of the usual size from the blocks of a collection, which may have any size."""
    blocks = client.compute(_blocks(counts.values))
    counts = replace(counts, values=None)  # the rest travels with the blocks
    checked = [client.submit(_checked, block, counts, pure=False) for block in blocks]
    facts = client.gather([client.submit(_block_facts, block, pure=False) for block in checked])
    ends = np.cumsum([len(cells) for cells in facts])
    cells = np.concatenate(facts)
    if not len(cells):
        raise ValueError(f"X has no documents, but {counts.owner} needs at least one")
    tasks: list[Task] = []
    sizes = []
    for start in range(0, len(cells), SHARD_SIZE):
        stop = min(start + SHARD_SIZE, len(cells))
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        before = int(ends[first - 1]) if first else 0
        tasks.append((_stacked, start - before, stop - start, *checked[first : last + 1]))
        mine = cells[start:stop]
        sizes.append(Size(stop - start, int(mine.sum()), int(np.count_nonzero(mine == 0))))
    return tasks, sizes


def _blocks(values: Any) -> list[Any]:
    """The blocks of an array, a data frame or a bag."""
    if not hasattr(values, "rechunk"):
        return list(values.to_delayed())
    if values.numblocks[1] > 1:
        # Dask is about to join the columns, and joining sparse blocks does not check their positions.
        values = values.map_blocks(_sound, dtype=values.dtype, meta=values._meta)
    return list(values.rechunk({1: -1}).to_delayed().ravel())


def _sound(block: Any) -> Any:
    return as_csr(block) if sp.issparse(block) else block


def _checked(block: Any, counts: Collection) -> sp.csr_array:
    """Convert a block to canonical counts; a block of a bag is a list of documents."""
    table = stack_documents(block) if isinstance(block, list) else block
    if not table.shape[0]:
        return sp.csr_array((0, counts.n_words), dtype=np.int32 if counts.integer else np.float64)
    return check_counts(table, integer=counts.integer, owner=counts.owner, n_words=counts.n_words)


def _block_facts(block: sp.csr_array) -> Array:
    """Number of distinct words of each document."""
    return np.diff(block.indptr)


def _stacked(start: int, n_documents: int, *blocks: sp.csr_array) -> Chunk:
    """A chunk of ``n_documents`` documents of these blocks, beginning at ``start``."""
    whole = blocks[0] if len(blocks) == 1 else sp.vstack(blocks, format="csr")
    rows = whole if whole.shape[0] == n_documents else whole[start : start + n_documents]
    return Chunk(sp.csr_array(rows))
