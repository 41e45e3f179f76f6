"""Rows of a Parquet file, one batch at a time.

A few hundred bytes of Parquet can expand to gigabytes: pages may be compressed, values run-length or dictionary
encoded, and headers may claim any size. So the headers of all pages are read first and their sizes counted against the
limits (`bursty.storage.limits`); dictionary-encoded values are expanded, and counted, only when their row is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from bursty.corpus.sources import Source
from bursty.storage.limits import Budget

# Maximum number of rows per batch, and of bytes of text in them.
BATCH_ROWS = 1_000
BATCH_BYTES = 2**24
# Maximum size of a page header in bytes, including statistics.
_HEADER = 2**16
_DAMAGE = (
    AttributeError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    MemoryError,
    struct.error,
)


def parquet_records(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows, each with its location; a file inside an archive or compressed as a whole is read at once."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError('reading Parquet needs pyarrow: pip install "bursty[parquet]"') from error
    budget = source.budget()
    with _opened(source) as stream:
        with _damage_named(source.name):
            limits = {f"thrift_{what}_size_limit": max(1024, budget.on_disk) for what in ("string", "container")}
            metadata = parquet.ParquetFile(stream, **limits).metadata
            names = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
            if len({name.split(".")[0] for name in names}) < len(metadata.schema.to_arrow_schema().names):
                raise ValueError("it has two columns of the same name")
        _count_pages(stream, budget)
        with _damage_named(source.name):
            texts = [name for number, name in enumerate(names) if _is_text(metadata.schema.column(number))]
            file = parquet.ParquetFile(stream, metadata=metadata, read_dictionary=texts, **limits)
            batches = file.iter_batches(batch_size=BATCH_ROWS)
        number = 0
        while True:
            with _damage_named(source.name):
                batch = next(batches, None)
            if batch is None:
                return
            rows = _rows_at_a_time(batch, budget)
            for start in range(0, batch.num_rows, rows):
                with _damage_named(source.name):
                    records = batch.slice(start, rows).to_pylist()
                for record in records:
                    yield f"{source.name}, row {number}", record
                    number += 1


@contextmanager
def _opened(source: Source) -> Iterator[IO[bytes]]:
    """The file itself, or its decompressed content in memory."""
    if source.member is None:
        with open(source.path, "rb") as raw:
            if raw.read(4) == b"PAR1":
                yield raw
                return
    import io

    with source.open() as stream:
        yield io.BytesIO(stream.read())


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, *_DAMAGE) as error:
        raise ValueError(f"{name} is not a readable Parquet file: {error or type(error).__name__}") from error


def _is_text(column: Any) -> bool:
    return column.physical_type == "BYTE_ARRAY" and column.logical_type.type in ("STRING", "NONE")


def _count_pages(stream: IO[bytes], budget: Budget) -> None:
    """Spend what the headers of all pages claim: their bytes, and eight for each value.

    The places of pages are read from the file: to ask Arrow for the columns of a damaged one can end the process.
    """
    with _damage_named(budget.name):
        stream.seek(-8, 2)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-8 - length, 2)
        chunks = [chunk[3] for group in _Compact(stream.read(length)).struct()[4] for chunk in group[1]]
        places = [(min(chunk[9], chunk.get(11) or chunk[9]), chunk[7]) for chunk in chunks]
    for position, n_bytes in places:
        budget.spend(_HEADER // 64)
        end = position + n_bytes
        while position < end:
            with _damage_named(budget.name):
                n_unpacked, n_values, length = _page(stream, position)
            budget.spend(n_unpacked + 8 * n_values)
            position += length


def _page(stream: IO[bytes], position: int) -> tuple[int, int, int]:
    """Uncompressed size, number of values, and length in the file of the page at this offset."""
    stream.seek(position)
    header = _Compact(stream.read(_HEADER))
    fields = header.struct()
    n_bytes, n_packed = fields[2], fields[3]
    values = [part[1] for number, part in fields.items() if number in (5, 7, 8) and isinstance(part, dict)]
    if n_bytes < 0 or n_packed < 0 or any(not isinstance(value, int) or value < 0 for value in values):
        raise ValueError("a page has a negative size")
    return n_bytes, sum(values), header.position + n_packed


class _Compact:
    """Parser of Thrift structs in the compact protocol, as far as page headers need it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Values by field number."""
        if depth > 16:
            raise ValueError("the header of a page is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while True:
            byte = self.take(1)[0]
            if byte == 0:
                return fields
            number = number + (byte >> 4) if byte >> 4 else self.zigzag()
            fields[number] = self.value(byte & 15, depth)

    def value(self, kind: int, depth: int, *, in_list: bool = False) -> Any:
        if kind in (1, 2):  # a boolean is its own kind, but takes a byte in a list
            return self.take(1)[0] == 1 if in_list else kind == 1
        if kind == 3:
            return self.take(1)[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 7:
            return struct.unpack("<d", self.take(8))[0]
        if kind == 8:
            return self.take(self.varint())
        if kind in (9, 10):
            byte = self.take(1)[0]
            size = byte >> 4 if byte >> 4 != 15 else self.varint()
            if size > len(self.data):
                raise ValueError("the header of a page is too long")
            return [self.value(byte & 15, depth + 1, in_list=True) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("the header of a page is damaged")

    def varint(self) -> int:
        result = shift = 0
        while True:
            byte = self.take(1)[0]
            result |= (byte & 127) << shift
            if byte < 128:
                return result
            shift += 7
            if shift > 63:
                raise ValueError("the header of a page has an unterminated number")

    def zigzag(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def take(self, n_bytes: int) -> bytes:
        if self.position + n_bytes > len(self.data):
            raise ValueError("the header of a page is truncated")
        self.position += n_bytes
        return self.data[self.position - n_bytes : self.position]


def _rows_at_a_time(batch: Any, budget: Budget) -> int:
    """Number of rows converted to Python values at a time; the memory for all of them is counted."""
    with _damage_named(budget.name):
        total = sum(_expanded(column) for column in batch.columns)
    budget.spend(total)
    budget.hold(total // max(1, batch.num_rows), "a row")
    return max(1, min(batch.num_rows, batch.num_rows * BATCH_BYTES // max(1, total)))


def _expanded(column: Any) -> int:
    """Bytes of a column after its dictionary encoding is expanded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return 8 * len(column) + _expanded(column.flatten())
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return 8 * len(column) + int(pc.sum(lengths).as_py() or 0)
