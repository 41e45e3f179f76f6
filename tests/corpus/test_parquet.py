"""The parser of page headers against an encoder of our own, and pages against what Arrow says of them."""

from __future__ import annotations

import io
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bursty.corpus import parquet
from bursty.storage.limits import Budget


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(128 | number & 127)
        number >>= 7
    return bytes([*out, number])


def zigzag(number):
    return varint(2 * number if number >= 0 else -2 * number - 1)


def encoded(value):
    """Kind and bytes of a value in Thrift's compact protocol."""
    if isinstance(value, bool):
        return (1 if value else 2), b""
    if isinstance(value, int):
        return 6, zigzag(value)
    if isinstance(value, float):
        return 7, struct.pack("<d", value)
    if isinstance(value, bytes):
        return 8, varint(len(value)) + value
    if isinstance(value, list):
        kind = encoded(value[0])[0] if value else 6
        head = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind]) + varint(len(value))
        return 9, head + b"".join(encoded(item)[1] for item in value)
    return 12, struct_of(value)


def struct_of(fields):
    out, last = b"", 0
    for number, value in sorted(fields.items()):
        kind, data = encoded(value)
        step = number - last
        out += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + zigzag(number)
        out += data
        last = number
    return out + b"\0"


numbers = st.integers(-(2**62), 2**62)
leaves = st.booleans() | numbers | st.floats(allow_nan=False) | st.binary(max_size=20) | st.lists(numbers, max_size=40)
structs = st.recursive(
    st.dictionaries(st.integers(1, 200), leaves, max_size=4),
    lambda inner: st.dictionaries(st.integers(1, 200), leaves | inner | st.lists(inner, max_size=3), max_size=4),
    max_leaves=6,
)


@given(fields=structs)
def test_what_is_encoded_is_parsed(fields):
    data = struct_of(fields)
    parser = parquet._Compact(data + b"rest")
    assert parser.struct() == fields
    assert parser.position == len(data)


@given(fields=structs.filter(bool), cut=st.integers(1, 10))
def test_a_header_that_is_cut_is_refused(fields, cut):
    data = struct_of(fields)
    with pytest.raises(ValueError, match=r"truncated|too long"):
        parquet._Compact(data[: max(0, len(data) - cut)]).struct()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x1c" * 17 + b"\0" * 18, "nested too deeply"),
        (b"\x19" + b"\x1c" * 40 + b"\0" * 40, "nested too deeply"),
        (b"\x16" + b"\xff" * 10 + b"\x01\0", "unterminated number"),
        (b"\x19\xf6" + varint(10**6), "too long"),
        (b"\x1b\0", "damaged"),
    ],
)
def test_headers_that_lie(data, message):
    with pytest.raises(ValueError, match=message):
        parquet._Compact(data).struct()


def test_sixteen_structs_may_be_nested():
    assert parquet._Compact(b"\x1c" * 16 + b"\0" * 17).struct()


@pytest.mark.parametrize("compression", ["NONE", "GZIP"])
def test_pages_claim_what_arrow_says(compression, monkeypatch):
    """Bytes and values of all pages together: those of the columns' own statistics, without their headers."""
    table = pa.table({"text": [f"word{i % 50} other" for i in range(3000)], "n": list(range(3000))})
    file = io.BytesIO()
    pq.write_table(table, file, compression=compression, use_dictionary=False, data_page_size=2000)
    spent = []
    monkeypatch.setattr(Budget, "spend", lambda self, n_bytes: spent.append(n_bytes))
    parquet._count_pages(file, Budget("name", file.tell()))
    group = pq.ParquetFile(file).metadata.row_group(0)
    claimed = sum(group.column(i).total_uncompressed_size for i in range(2))
    headers = parquet._HEADER // 64 * 2
    n_pages = len(spent) - 2
    assert n_pages > 2
    assert claimed - 200 * n_pages < sum(spent) - headers - 8 * 6000 <= claimed
