"""Changes to files: bytes at random, tokens of text, and the parts of a container."""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import Any

import numpy as np

TOKENS = (
    b"nan", b"inf", b"-1", b"0", b"1e308", b"1e400", b"2147483648", b"99999999999999999999", b"0.5", b"", b" ", b"\t",
    b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b",", b":", b"{", b"[", b"]}", b"#", b"%", b"'",
    b"\xe2\x80\xae",
    b"1" * 40 + b"x", b"=1+1", b"-", b"+", b"null", b"true", b"1_000", b"0x10", b"\xd9\xa1", b"\xc3(",
)  # fmt: skip
NUMBERS = (
    0,
    1,
    -1,
    2,
    255,
    2**31 - 1,
    2**31,
    -(2**31),
    2**53,
    2**63 - 1,
    1e300,
    -1e300,
    0.5,
    float("nan"),
    float("inf"),
)


def change_bytes(content: bytes, rng: random.Random) -> bytes:
    """One to four changes anywhere."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place, length = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 8, 64))
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place : place + length] = rng.randbytes(length)
        elif kind == 2:
            del data[place : place + length]
        elif kind == 3:
            data[place:place] = data[place : place + length] * rng.choice((1, 2, 50))
        elif kind == 4:
            del data[place:]
        else:
            data[place:place] = rng.choice(TOKENS)
    return bytes(data)


def change_text(content: bytes, rng: random.Random) -> bytes:
    """The lines and words of a text, and bytes now and then."""
    if rng.random() < 0.3:
        return change_bytes(content, rng)
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0 and len(lines) > 1:
            del lines[place]
        elif kind == 1:
            lines[place:place] = lines[place : place + 1] * rng.choice((1, 3, 500))
        elif kind == 2:
            other = rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        else:
            mark = rng.choice((b" ", b",", b":", b"\t"))
            words = lines[place].split(mark)
            spot = rng.randrange(len(words))
            if kind == 3:
                words[spot] = rng.choice(TOKENS)
            elif kind == 4:
                words[spot:spot] = [rng.choice(TOKENS)] * rng.choice((1, 1, 200))
            else:
                words[spot] = repr(rng.choice(NUMBERS)).encode()
            lines[place] = mark.join(words)
    return b"\n".join(lines)


def unpack(content: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Manifest and arrays of a container."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    return manifest, arrays


def pack(manifest: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """A container with right checksums."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(array) if array.ndim else array, allow_pickle=False)
            archive.writestr(f"arrays/{name}.npy", buffer.getvalue())
    return stream.getvalue()


def change_container(content: bytes, rng: random.Random) -> bytes:
    """The parts of a container, whose checksums are right afterwards."""
    manifest, arrays = unpack(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if arrays and rng.random() < 0.6:
            name = rng.choice(sorted(arrays))
            arrays[name] = change_array(arrays[name], rng, list(arrays.values()))
        else:
            manifest = change_node(manifest, rng)
    if rng.random() < 0.03 and arrays:
        del arrays[rng.choice(sorted(arrays))]
    return pack(manifest, arrays)


def change_array(array: np.ndarray, rng: random.Random, others: list[np.ndarray]) -> np.ndarray:
    """One change of values, length, shape or type."""
    kind = rng.randrange(9)
    with np.errstate(all="ignore"):
        if kind <= 3 and array.size:
            changed = array.copy()
            value = rng.choice(NUMBERS) if array.dtype.kind in "iuf" else changed.flat[rng.randrange(array.size)]
            place = rng.randrange(array.size)
            span = slice(place, place + rng.choice((1, 1, 1, array.size)))
            changed.reshape(-1)[span] = np.array([value]).astype(array.dtype)[0]
            return changed
        if kind == 4:
            return array[: rng.randrange(len(array) + 1)] if array.ndim and len(array) else np.zeros(3, array.dtype)
        if kind == 5 and array.ndim:
            return np.concatenate([array, array[: rng.randrange(len(array) + 1)]])
        if kind == 6 and array.dtype.kind in "iuf":
            return array.astype(rng.choice(("i1", "u1", "i4", "i8", "u8", "f4", "f8", "c16", ">i4", ">f8", "?", "S3")))
        if kind == 7:
            return rng.choice((array.T, array[None], array.reshape(-1), array.reshape(-1)[:0], array.reshape(-1)[::-1]))
        return rng.choice(others)


def change_node(node: Any, rng: random.Random) -> Any:
    """One change somewhere in nested values."""
    if isinstance(node, dict) and node and rng.random() < 0.9:
        key = rng.choice(sorted(node))
        if rng.random() < 0.05:
            return {name: value for name, value in node.items() if name != key}
        return {**node, key: change_node(node[key], rng)}
    if isinstance(node, list) and node and rng.random() < 0.9:
        place = rng.randrange(len(node))
        kind = rng.random()
        if kind < 0.05:
            return node[:place] + node[place + 1 :]
        if kind < 0.1:
            return node[:place] + [node[place]] * rng.choice((2, 100)) + node[place + 1 :]
        return [*node[:place], change_node(node[place], rng), *node[place + 1 :]]
    values: list[Any] = [
        None,
        True,
        "",
        "text",
        [],
        {},
        [0],
        {"array": 0},
        {"float": "nan"},
        {"dict": []},
        *NUMBERS[:11],
    ]
    if isinstance(node, int | float) and not isinstance(node, bool):
        values += [node + 1, node - 1, -node, node * 2] * 4
    return rng.choice(values)
