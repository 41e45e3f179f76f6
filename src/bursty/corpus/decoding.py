"""Decode bytes; errors name the file and the offset."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from bursty.storage.limits import PER_CHARACTER, Budget

_CHUNK = 2**18
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


# Bytes that texts do not have in any encoding of one byte or more per character, but for a rare slip, and letters that
# are not ASCII: packed data has many of both, a text at most one of the two.
_CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r\b\x1a\x1b"})
_LARGE = bytes(range(128, 256))
_SLIPS, _FOREIGN = 0.02, 0.1


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are not text: zeros, or many control and other characters beyond ASCII.

    A byte-order mark says that it is text.
    """
    if head.startswith(tuple(mark for mark, _ in _BOMS)):
        return False
    n_control, n_large = (len(head) - len(head.translate(None, kind)) for kind in (_CONTROL, _LARGE))
    return b"\0" in head or (n_control > _SLIPS * len(head) and n_large > _FOREIGN * len(head))


def read_text(stream: BinaryIO, name: str, encoding: str | None = None, budget: Budget | None = None) -> str:
    """The whole stream as the text of one document, within the memory budget."""
    parts, length = [], 0
    for chunk in iter_text(stream, name, encoding):
        parts.append(chunk)
        length += len(chunk)
        if budget is not None:
            budget.hold(PER_CHARACTER * length, "one document")
    return "".join(parts)


def iter_lines(stream: BinaryIO, name: str, encoding: str | None = None, budget: Budget | None = None) -> Iterator[str]:
    """Lines without their ends (LF or CRLF)."""
    parts: list[str] = []
    length = 0
    for chunk in iter_text(stream, name, encoding):
        first, *rest = chunk.split("\n")
        parts.append(first)
        length += len(first)
        if budget is not None:
            budget.hold(PER_CHARACTER * length, "one line")
        length = len(rest[-1]) if rest else length
        if rest:
            yield "".join(parts).removesuffix("\r")
            for line in rest[:-1]:
                yield line.removesuffix("\r")
            parts = [rest[-1]]
    last = "".join(parts).removesuffix("\r")
    if last:
        yield last


def iter_text(stream: BinaryIO, name: str, encoding: str | None = None) -> Iterator[str]:
    """Decode a stream in chunks.

    The encoding is the given one, the one of the byte-order mark, or UTF-8. A byte-order mark is not part of the
    text. Invalid bytes raise a `ValueError` with their offset in the (decompressed) file.
    """
    head = stream.read(_CHUNK)
    encoding, skip = _choose(head, name, encoding)
    decoder = codecs.getincrementaldecoder(encoding)()
    chunk, offset = head[skip:] or stream.read(_CHUNK), skip
    while chunk:
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise _undecodable(error, offset + len(chunk), name, encoding) from error
        if text:
            yield text
        offset += len(chunk)
        chunk = stream.read(_CHUNK)
    try:
        text = decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _undecodable(error, offset, name, encoding) from error
    if text:
        yield text


def _choose(head: bytes, name: str, encoding: str | None) -> tuple[str, int]:
    """The encoding to use and the length of the byte-order mark to skip."""
    if encoding is not None:
        try:
            codec = codecs.lookup(encoding)
        except (LookupError, ValueError) as error:
            raise ValueError(f"encoding={encoding!r} is unknown; examples: utf-8, latin-1, cp1252") from error
        if not codec._is_text_encoding:
            raise ValueError(f"encoding={encoding!r} is not a text encoding; examples: utf-8, latin-1, cp1252")
        if codec.name in ("utf-8", "utf-8-sig"):
            return "utf-8", 3 if head.startswith(codecs.BOM_UTF8) else 0
        return codec.name, 0
    for mark, marked in _BOMS:
        if head.startswith(mark):
            return marked, len(mark)
    return "utf-8", 0


def _undecodable(error: UnicodeDecodeError, end: int, name: str, encoding: str) -> ValueError:
    """The error for invalid bytes; `end` is the offset in the file of the end of the decoder's bytes."""
    offset = end - len(error.object) + error.start
    byte = error.object[error.start : error.start + 1].hex()
    return ValueError(
        f"{name}: byte {offset} (0x{byte}) is not {encoding}. Specify the encoding of the file, for example "
        'encoding="latin-1"'
    )
