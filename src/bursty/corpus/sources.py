"""Files opened in place: plain, compressed, or inside an archive. Nothing is unpacked to disk.

Compression is detected from the first bytes of a file, not from its name. Decompressed data and the members of archives
are counted against the limits (`bursty.storage.limits`), so that a small file cannot fill the memory. Names inside
archives only serve to name documents. Companion files that are links out of the folder are not followed.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import posixpath
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from bursty.storage.limits import PER_MEMBER, Budget

_DAMAGE = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    struct.error,
    LookupError,
    TypeError,
    UnicodeError,
    MemoryError,
)
_COMPRESSIONS = (".gz", ".xz", ".bz2")
_BUFFER = 65536


class GuardedReader(io.RawIOBase):
    """A stream that counts its bytes and reports any damage as a `ValueError`."""

    def __init__(self, inner: Any, name: str, budget: Budget | None, *also_close: Any) -> None:
        super().__init__()
        self._inner, self._name, self._budget, self._also = inner, name, budget, also_close

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as the stream goes."""
        with damage_named(self._name):
            block = self._inner.read(len(buffer))
        buffer[: len(block)] = block
        if self._budget is not None:
            self._budget.spend(len(block))
        return len(block)

    def close(self) -> None:
        """Close this stream and those under it."""
        if not self.closed:
            for stream in (self._inner, *self._also):
                stream.close()
        super().close()


class damage_named:
    """Turn the errors of a damaged compressed file into a `ValueError` that names the file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        odd = isinstance(error, OSError) and error.errno in (None, errno.EINVAL)
        if error is not None and (odd or isinstance(error, _DAMAGE)):
            raise ValueError(f"{self._name} is damaged or truncated: {error or type(error).__name__}") from error


@dataclass(frozen=True)
class Source:
    """One file: on disk, or a member of an archive on disk."""

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        """Name for messages."""
        return str(self.path) if self.member is None else f"{self.path}:{self.member}"

    @property
    def filename(self) -> str:
        """The last part of the name, without a compression suffix."""
        last = posixpath.basename(self.member) if self.member else self.path.name
        return strip_compression(last)

    def open(self) -> BinaryIO:
        """The decompressed bytes."""
        return open_binary(self.path) if self.member is None else open_member(self.path, self.member)

    def budget(self) -> Budget:
        """The memory budget for the content."""
        return Budget(self.name, self.path.stat().st_size)

    def head(self, n_bytes: int = 65536) -> bytes:
        """The first decompressed bytes."""
        with self.open() as stream:
            return stream.read(n_bytes)

    def sibling(self, *names: str) -> Source | None:
        """The first of these names that exists beside this file, compressed or not."""
        if self.member is None:
            folder = self.path.parent
            there = {entry.name for entry in folder.iterdir() if entry.is_file() and stays_inside(entry, folder)}
            found = _first_of(names, there)
            return None if found is None else Source(folder / found)
        place = posixpath.dirname(self.member)
        beside = {posixpath.basename(n) for n in member_names(self.path) if posixpath.dirname(n) == place}
        found = _first_of(names, beside)
        return None if found is None else Source(self.path, posixpath.join(place, found))


def stays_inside(path: Path, folder: Path) -> bool:
    """Whether the path is in the folder after all links are resolved."""
    return path.resolve().is_relative_to(folder.resolve())


def strip_compression(name: str) -> str:
    """The name without .gz, .xz or .bz2."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in _COMPRESSIONS else name


def open_binary(path: Path) -> BinaryIO:
    """The decompressed bytes of a file on disk."""
    budget = Budget(str(path), path.stat().st_size)
    raw = open(path, "rb")  # noqa: SIM115 - closed by the returned reader
    return _decompressed(raw, str(path), budget, raw)


def archive_kind(path: Path) -> str | None:
    """'zip', 'tar' or None, from the first bytes."""
    with open(path, "rb") as raw:
        if raw.read(4) in (b"PK\x03\x04", b"PK\x05\x06"):
            return "zip"
    try:
        with open_binary(path) as stream:
            block = stream.read(tarfile.BLOCKSIZE)
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return None
    return "tar"


def walk_archive(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """Name and bytes of every regular file, in order; each must be read before the next."""
    walk = _walk_zip if archive_kind(path) == "zip" else _walk_tar
    yield from walk(path)


def member_names(path: Path) -> list[str]:
    """The names of the regular files in an archive, without hidden ones."""
    if archive_kind(path) == "zip":
        with damage_named(str(path)), zipfile.ZipFile(path) as archive:
            Budget(str(path), path.stat().st_size).spend(PER_MEMBER * len(archive.infolist()))
            return [info.filename for info in archive.infolist() if _wanted_zip(info)]
    return [name for name, _ in _walk_tar(path)]


def open_member(path: Path, member: str) -> BinaryIO:
    """The decompressed bytes of one file of an archive."""
    walk = walk_archive(path)
    for name, stream in walk:
        if name == member:
            # The walk must stay open as long as the stream, and be closed with it.
            return cast(BinaryIO, io.BufferedReader(GuardedReader(stream, f"{path}:{name}", None, walk)))
    raise FileNotFoundError(f"{path} has no file {member!r}")


def hidden(name: str) -> bool:
    """Whether a part of the path starts with a dot, or is metadata added by an archiver."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def _walk_zip(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    budget = Budget(str(path), path.stat().st_size)
    with damage_named(str(path)):
        archive = zipfile.ZipFile(path)
    with archive:
        for info in archive.infolist():
            if not _wanted_zip(info):
                continue
            name = f"{path}:{info.filename}"
            with damage_named(name):
                member = archive.open(info)
            with _decompressed(member, name, budget, member) as stream:
                yield info.filename, stream


def _walk_tar(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    budget = Budget(str(path), path.stat().st_size)
    with open_binary(path) as stream:
        with damage_named(str(path)):
            archive = tarfile.open(fileobj=stream, mode="r|")  # noqa: SIM115 - closed below, where reading ends
        with archive:
            while True:
                with damage_named(str(path)):
                    info = archive.next()
                if info is None:
                    return
                budget.spend(PER_MEMBER)
                # A TarFile remembers its members for random access; in a stream that list would only grow.
                cast(Any, archive).members = []
                if info.size < 0:
                    raise ValueError(f"{path} is damaged: {_clean(info.name)!r} has a size of {info.size:,} bytes")
                if not info.isreg() or info.issparse() or hidden(_clean(info.name)):
                    continue
                member = archive.extractfile(info)
                if member is None:
                    continue
                with _decompressed(member, f"{path}:{info.name}", budget, member) as inner:
                    yield _clean(info.name), inner


def _wanted_zip(info: zipfile.ZipInfo) -> bool:
    return not info.is_dir() and not hidden(_clean(info.filename))


def _clean(name: str) -> str:
    return name.removeprefix("./")


def _decompressed(raw: IO[bytes], name: str, budget: Budget, *also_close: Any) -> BinaryIO:
    """A guarded view of `raw`, decompressed if its first bytes indicate compression."""
    buffered = io.BufferedReader(GuardedReader(raw, name, None), _BUFFER)
    head = buffered.peek(6)[:6]
    inner: Any = buffered
    if head.startswith(b"\x1f\x8b"):
        inner = gzip.GzipFile(fileobj=buffered)
    elif head.startswith(b"\xfd7zXZ\x00"):
        inner = lzma.LZMAFile(buffered)  # noqa: SIM115 - closed with the reader
    elif head.startswith(b"BZh"):
        inner = bz2.BZ2File(buffered)
    counted = budget if inner is not buffered or isinstance(raw, zipfile.ZipExtFile) else None
    return cast(BinaryIO, io.BufferedReader(GuardedReader(inner, name, counted, buffered, *also_close), _BUFFER))


def _first_of(names: tuple[str, ...], there: set[str]) -> str | None:
    for name in names:
        for candidate in (name, *(name + suffix for suffix in _COMPRESSIONS)):
            if candidate in there:
                return candidate
    return None
