"""The original texts, stored in compressed blocks, and on disk if there are many.

Reports show excerpts of a few documents, so texts are read rarely and a few at a time. `TextWriter` stores them one by
one while they are counted; `Texts` returns them by number.
"""

from __future__ import annotations

import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from bursty.typing import Array

#: Documents per block: reading one decompresses this many.
BLOCK = 32
#: Compressed bytes kept in memory before they are moved to a temporary file.
_IN_MEMORY = 16 * 2**20
#: Maximum number of bytes kept per text; nobody reads more than this.
LONGEST = 2**20


class _Blocks:
    """Compressed bytes in memory, or in a temporary file that is deleted with this object."""

    def __init__(self) -> None:
        file: Any = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by the finalizer
        self._file, self._lock = file, threading.Lock()
        weakref.finalize(self, file.close)

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def read(self, start: int, end: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            return bytes(self._file.read(end - start))


class Texts(Sequence[str]):
    """Texts by number, decompressed on demand.

    Created by `TextWriter`, or from strings by `Texts.of`.
    """

    def __init__(self, blocks: _Blocks, ends: Array, lengths: Array, rows: Array | None = None) -> None:
        self._blocks, self._ends, self._lengths, self._rows = blocks, ends, lengths, rows

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Store these texts."""
        writer = TextWriter()
        for text in texts:
            writer.append(text)
        return writer.finish()

    def __len__(self) -> int:
        return len(self._lengths) if self._rows is None else len(self._rows)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> Texts: ...
    def __getitem__(self, number: int | slice) -> str | Texts:
        if isinstance(number, slice):
            return self.select(np.arange(len(self))[number])
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no text {number}: there are {len(self)}")
        row = int(number) % len(self)
        row = row if self._rows is None else int(self._rows[row])
        first = row // BLOCK * BLOCK
        lengths = self._lengths[first : first + BLOCK]
        start = int(lengths[: row - first].sum())
        block = self._block(row // BLOCK, int(lengths.sum()))
        return block[start : start + int(lengths[row - first])].decode("utf-8", "replace")

    def select(self, rows: Array) -> Texts:
        """The texts of these rows, without copying."""
        rows = np.asarray(rows, dtype=np.int64)
        return Texts(self._blocks, self._ends, self._lengths, rows if self._rows is None else self._rows[rows])

    def pack(self) -> dict[str, Array]:
        """All texts as arrays, for a file."""
        texts = self if self._rows is None else Texts.of(self)
        data = np.frombuffer(texts._blocks.read(0, int(texts._ends[-1])), dtype=np.uint8)
        return {"data": data, "ends": texts._ends, "lengths": texts._lengths}

    def __reduce__(self) -> tuple[Any, ...]:
        return Texts.unpack, tuple(self.pack().values())

    @classmethod
    def unpack(cls, data: Array, ends: Array, lengths: Array) -> Texts:
        """Texts from the result of `pack`, after checks; blocks are decompressed on demand, up to their stated size."""
        whole = all(array.ndim == 1 and array.dtype == np.int64 for array in (ends, lengths))
        if data.ndim != 1 or data.dtype != np.uint8 or not whole or len(ends) != -(-len(lengths) // BLOCK) + 1:
            raise ValueError("the stored texts are invalid")
        inside = ends[0] == 0 and ends[-1] == len(data) and np.all(np.diff(ends) >= 0)
        if not inside or (len(lengths) and (lengths.min() < 0 or lengths.max() > LONGEST)):
            raise ValueError("the positions of the texts are outside their block")
        blocks = _Blocks()
        blocks.write(data.tobytes())
        return cls(blocks, ends, lengths)

    def _block(self, number: int, size: int) -> bytes:
        packed = self._blocks.read(int(self._ends[number]), int(self._ends[number + 1]))
        try:
            block = zlib.decompressobj().decompress(packed, size + 1)
        except zlib.error as error:
            raise ValueError(f"the stored texts are damaged: {error}") from error
        if len(block) != size:
            raise ValueError("the stored texts are damaged: a block has the wrong length")
        return block


class TextWriter:
    """Stores texts one by one; `finish` returns them as `Texts`."""

    def __init__(self) -> None:
        self._blocks = _Blocks()
        self._waiting: list[bytes] = []
        self._ends, self._lengths = [0], list[int]()

    def append(self, text: str) -> None:
        """Add a text."""
        encoded = text.encode("utf-8", "replace")[:LONGEST]
        self._waiting.append(encoded)
        self._lengths.append(len(encoded))
        if len(self._waiting) == BLOCK:
            self._flush()

    def finish(self) -> Texts:
        """The texts added so far."""
        if self._waiting:
            self._flush()
        return Texts(self._blocks, np.array(self._ends, dtype=np.int64), np.array(self._lengths, dtype=np.int64))

    def _flush(self) -> None:
        packed = zlib.compress(b"".join(self._waiting), 6)
        self._blocks.write(packed)
        self._ends.append(self._ends[-1] + len(packed))
        self._waiting = []
