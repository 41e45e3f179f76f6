"""Bytes to text: the same as Python's own decoding, however the stream is cut."""

from __future__ import annotations

import codecs
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bursty.corpus import decoding
from bursty.storage.limits import PER_CHARACTER, Budget

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text("a\r\nü𝄞", max_size=30)


def in_pieces(monkeypatch, size):
    monkeypatch.setattr(decoding, "_CHUNK", size)


@pytest.mark.parametrize("size", [3, 4, 7, 1000])
@given(text=TEXTS)
def test_lines_are_those_of_a_file_in_text_mode(text, size):
    """LF and CRLF end a line, a lone CR does not; the last line needs no end."""
    with pytest.MonkeyPatch.context() as patch:
        in_pieces(patch, size)
        stream = io.BytesIO(text.encode())
        found = list(decoding.iter_lines(stream, "name"))
        whole = decoding.read_text(io.BytesIO(text.encode()), "name")
    marked = text.removeprefix("\ufeff")
    expected = [line.removesuffix("\r") for line in marked.split("\n")]
    expected = expected if expected[-1] else expected[:-1]
    assert found == expected
    assert whole == marked


@pytest.mark.parametrize(
    ("mark", "codec"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_marks_name_the_encoding_and_are_no_text(mark, codec, monkeypatch):
    in_pieces(monkeypatch, 3)
    content = mark + "Füße 𝄞".encode(codec)
    assert decoding.read_text(io.BytesIO(content), "name") == "Füße 𝄞"
    assert not decoding.is_binary(content)
    assert decoding.is_binary(content[len(mark) :]) is (codec != "utf-8")


def test_a_given_encoding_wins():
    content = "Füße".encode("latin-1")
    assert decoding.read_text(io.BytesIO(content), "name", "latin-1") == "Füße"
    for name in ("utf-8", "UTF8", "utf-8-sig"):
        assert decoding.read_text(io.BytesIO(codecs.BOM_UTF8 + b"a"), "name", name) == "a"
        assert decoding.read_text(io.BytesIO(b"abc"), "name", name) == "abc"
    for name in ("klingon", "a\0b"):
        with pytest.raises(ValueError, match=r"encoding=.* is unknown"):
            decoding.read_text(io.BytesIO(content), "name", name)
    with pytest.raises(ValueError, match="is not a text encoding"):
        decoding.read_text(io.BytesIO(content), "name", "hex")


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(
    ("content", "offset", "byte"),
    [(b"abcdef\xffgh", 6, "ff"), ("aü".encode() + b"\xe2\x82", 3, "e2"), (codecs.BOM_UTF8 + b"ab\xc3(", 5, "c3")],
)
def test_invalid_bytes_are_named_where_they_are(content, offset, byte, size, monkeypatch):
    in_pieces(monkeypatch, size)
    with pytest.raises(ValueError, match=rf"name: byte {offset} \(0x{byte}\) is not utf-8"):
        decoding.read_text(io.BytesIO(content), "name")


def test_memory_is_counted_per_document_and_line(monkeypatch):
    """One document as a whole, and the longest line, whatever pieces they come in."""
    in_pieces(monkeypatch, 10)
    held = []
    monkeypatch.setattr(Budget, "hold", lambda self, n_bytes, what: held.append((n_bytes // PER_CHARACTER, what)))
    budget = Budget("name", 100)
    decoding.read_text(io.BytesIO(b"x" * 25), "name", None, budget)
    assert held == [(10, "one document"), (20, "one document"), (25, "one document")]
    held.clear()
    list(decoding.iter_lines(io.BytesIO(b"a" * 25 + b"\n" + b"b" * 13 + b"\nc"), "name", None, budget))
    assert held == [(10, "one line"), (20, "one line"), (25, "one line"), (13, "one line"), (1, "one line")]


def test_a_message_with_many_control_characters_is_text():
    """As some mail has them; packed data has many letters beyond ASCII besides."""
    assert not decoding.is_binary(b"a line of a message\n" + 5 * b"\x02\x02\x02 and another\n")
    assert not decoding.is_binary("несколько слов".encode("cp1251"))
    assert decoding.is_binary(bytes(range(1, 256)))
    assert decoding.is_binary(b"some words\0")
