"""One file of named arrays: a zip of `manifest.json` and `.npy` members, written and read without pickle.

The members are stored, not compressed. So no member can be larger than the file itself, and a file that claims more is
rejected before anything is allocated: decompression bombs are impossible in this format.
Every member carries the checksum of the zip format, the manifest lists every array, and a file that is
truncated, foreign or hostile gives one `ValueError` that names it.

    my.bcorpus
        manifest.json         {"format": "bursty", "kind": "corpus", "version": 1, "arrays": [...], ...}
        arrays/counts.npy     numpy's own format, version 1 or 2, no objects
"""

from __future__ import annotations

import json
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from bursty.storage.limits import Budget
from bursty.storage.replacing import replacing
from bursty.typing import Array

VERSION = 1
MAX_MANIFEST = 16 * 2**20
_EPOCH = (1980, 1, 1, 0, 0, 0)
DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
)


def write_arrays(path: str | Path, kind: str, manifest: Mapping[str, Any], arrays: Mapping[str, Array]) -> Path:
    """Write the manifest and the arrays to `path`, all or nothing.

    The file is written under a temporary name in the same folder and then renamed, so that a reader sees the old
    file or the new one, and a killed writer leaves the old one. The same content gives the same bytes.
    """
    path = Path(path)
    header = {**manifest, "format": "bursty", "kind": kind, "version": VERSION, "arrays": sorted(arrays)}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"array {name!r} has Python objects, which cannot be stored")
    text = json.dumps(header, indent=1, sort_keys=True, allow_nan=False)
    if len(text) > MAX_MANIFEST:
        raise ValueError(f"{path} would have {len(text):,} characters beside its arrays: store long lists as arrays")
    with replacing(path) as file:
        _write_zip(file, text, arrays)
    return path


def read_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """The manifest and the arrays of a file written by `write_arrays`; `ValueError` for any other file."""
    path = Path(path)
    size = _file_size(path)
    Budget(str(path), size).hold(size, "its content")
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                _check_members(archive, size)
                manifest = _read_manifest(archive, kind)
                arrays = {name: _read_array(archive, f"arrays/{name}.npy") for name in manifest["arrays"]}
        except DAMAGE as error:
            raise unreadable(path, kind, error) from error
    return manifest, arrays


def is_container(path: str | Path, kind: str) -> bool:
    """Whether the manifest of the file declares this kind and a version that this bursty reads."""
    size = _file_size(Path(path))
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                _check_members(archive, size)
                _read_manifest(archive, kind)
        except DAMAGE:
            return False
    return True


def pack_strings(values: Iterable[str]) -> tuple[Array, Array]:
    """Strings as one array of UTF-8 bytes and one of their ends."""
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    ends = np.cumsum([len(value) for value in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def unpack_strings(data: Array, ends: Array) -> list[str]:
    """The strings from the arrays of `pack_strings`; `ValueError` if these do not match."""
    if data.dtype != np.uint8 or data.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
        raise ValueError("strings must be stored as arrays of bytes and of ends")
    edges = np.concatenate([[0], ends])
    if np.any(np.diff(edges) < 0) or edges[-1] != len(data):
        raise ValueError("the ends of the strings do not match their bytes")
    text = data.tobytes()
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [text[start:end].decode("utf-8", "surrogatepass") for start, end in spans]


def _file_size(path: Path) -> int:
    """The size of a file; of a pipe, which one would wait for, and of a device, which may have no end, it is none."""
    found = path.stat()
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise ValueError(f"{path} is a pipe or a device, not a file: write its content to a file first")
    return found.st_size


def _write_zip(file: IO[bytes], manifest: str, arrays: Mapping[str, Array]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json", _EPOCH), manifest)
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"arrays/{name}.npy", _EPOCH)
            with archive.open(info, "w", force_zip64=array.nbytes > 2**30) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)


def _check_members(archive: zipfile.ZipFile, file_size: int) -> None:
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("it has compressed members, which this format does not allow")
    if sum(member.file_size for member in members) > file_size:
        raise ValueError("its members claim to be larger than the file")
    if len({member.filename for member in members}) < len(members):
        raise ValueError("it has two members of the same name")


def _read_manifest(archive: zipfile.ZipFile, kind: str) -> dict[str, Any]:
    member = archive.getinfo("manifest.json")
    if member.file_size > MAX_MANIFEST:
        raise ValueError("its manifest is too large")
    try:
        manifest = json.loads(archive.read(member), object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError("its manifest is nested too deeply") from error
    if not isinstance(manifest, dict) or manifest.get("format") != "bursty":
        raise ValueError("its manifest is not a bursty manifest")
    if manifest.get("kind") != kind:
        raise ValueError(f"it is a file of kind {manifest.get('kind')!r}")
    if manifest.get("version") != VERSION or type(manifest["version"]) is not int:
        raise ValueError(f"it has format version {manifest.get('version')!r}, but this bursty reads {VERSION}")
    names = manifest.get("arrays")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("its manifest lists no arrays")
    if len(set(names)) < len(names):
        raise ValueError("its manifest lists an array twice")
    return manifest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The values by name; of two values of one name, readers would take one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its manifest has two values of the same name")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"its manifest contains {name}, which is not JSON")


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """One array; its shape is checked against the size of the member before memory is allocated."""
    member = archive.getinfo(name)
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"{name} has numpy format version {version}")
        if dtype.hasobject:
            raise ValueError(f"{name} contains pickled objects, which are never read")
        if dtype.itemsize == 0:
            raise ValueError(f"{name} has elements without a size")
        size = dtype.itemsize
        for length in shape:
            size *= length
        if fortran or min(shape, default=0) < 0 or size != member.file_size - file.tell():
            raise ValueError(f"{name} does not have the length given in its header")
        array = np.empty(shape, dtype=dtype)
        _fill(file, array, name)
    # Compiled loops take the byte order of this machine.
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _fill(file: IO[bytes], array: Array, name: str) -> None:
    """Read the data of an array, to the end of the member so that its checksum is verified."""
    view = memoryview(array.reshape(-1).view(np.uint8).data) if array.size else memoryview(bytearray())
    done = 0
    while done < len(view):
        block = file.read(min(len(view) - done, 2**22))
        if not block:
            raise ValueError(f"{name} ends early")
        view[done : done + len(block)] = block
        done += len(block)
    if file.read(1):
        raise ValueError(f"{name} has trailing bytes")


def unreadable(path: str | Path, kind: str, error: BaseException) -> ValueError:
    """The error for a file that cannot be read, for any reason."""
    if isinstance(error, KeyError):
        reason = f"a part is missing ({error.args[0] if error.args else 'unknown'})"
    else:
        reason = str(error).rstrip(".") or type(error).__name__
    return ValueError(
        f"{path} is not a readable bursty {kind} file: {reason}. "
        "It may be truncated, damaged or of another kind; write it again"
    )
