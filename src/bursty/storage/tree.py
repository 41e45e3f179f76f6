"""Nested values in one file: small values in the manifest as JSON, arrays beside it.

| value | in the manifest |
|---|---|
| None, bool, int, str, finite float | itself |
| other float | `{"float": "nan"}`, or `"inf"`, `"-inf"` |
| list | a list |
| tuple | `{"tuple": [...]}` |
| dict | `{"dict": [[key, value], ...]}` |
| array | `{"array": n}`, with `"order": "F"` where it lies by columns |
| array of strings, of objects | `{"strings": [bytes, ends], "shape": [...]}`, `{"objects": [...], "shape": [...]}` |
| NumPy scalar | `{"scalar": n}` |
| `csr_array` | `{"csr": [data, indices, indptr], "shape": [rows, columns]}` |
| random generator | `{"generator": state}`, `{"random_state": state}` |
| object | `{"class": name, "fields": {...}, "state": {...}}` |

An array that occurs twice, or once more transposed, is stored once. Objects are created only if the reader lists their
class: a dataclass from its fields, an estimator from its parameters (``get_params``) and then its other attributes.
Nothing is imported by name.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.sparse import check_csr
from bursty.storage import generators
from bursty.storage.container import DAMAGE, pack_strings, read_arrays, unpack_strings, unreadable, write_arrays
from bursty.typing import Array

Classes = Mapping[str, type]

_PLAIN = "biufcUSmM"


def write_tree(path: str | Path, kind: str, tree: Any, classes: Classes | None = None) -> Path:
    """Write a tree to one file, atomically.

    Parameters
    ----------
    path : str or path
    kind : str
        Kind of the file, such as "model", which is checked on reading.
    tree : nested dict, list, tuple, None, bool, int, float, str, array, csr_array, random generator, listed object
    classes : mapping of name to class, optional
        The classes of the objects in the tree.

    Raises
    ------
    TypeError
        The tree has a value that cannot be stored; the message says where.
    """
    writer = _Writer(classes or {})
    node = writer.encode(tree, "it")
    return write_arrays(path, kind, {"tree": node}, writer.arrays)


def read_tree(path: str | Path, kind: str, classes: Classes | None = None) -> Any:
    """Read a tree written by `write_tree`; `ValueError` for a truncated, foreign or hostile file."""
    manifest, arrays = read_arrays(path, kind)
    try:
        return _Reader(arrays, classes or {}, Path(path).stat().st_size).decode(manifest["tree"])
    except (*DAMAGE, AttributeError, RecursionError) as error:
        raise unreadable(path, kind, error) from error


class _Writer:
    """Converts values to nodes; the arrays they refer to are collected in `arrays`."""

    def __init__(self, classes: Classes) -> None:
        self.names = {kind: name for name, kind in classes.items()}
        self.arrays: dict[str, Array] = {}
        self._numbers: dict[Any, int] = {}

    def encode(self, value: Any, where: str) -> Any:
        if value is None or type(value) in (str, bool, int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) in (list, tuple):
            nodes = [self.encode(item, f"{where}[{number}]") for number, item in enumerate(value)]
            return nodes if type(value) is list else {"tuple": nodes}
        if type(value) is dict:
            pairs = ((self.encode(key, where), self.encode(item, f"{where}[{key!r}]")) for key, item in value.items())
            return {"dict": [list(pair) for pair in pairs]}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return {"scalar": self._keep(np.asarray(value), where)}
        if isinstance(value, sp.csr_array):
            parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
            return {"csr": parts, "shape": [int(length) for length in value.shape]}
        if isinstance(value, np.random.Generator):
            return {"generator": self.encode(generators.take(value), where)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(generators.take(value), where)}
        return self._object(value, where)

    def _array(self, array: Array, where: str) -> Any:
        if array.dtype.kind == "O":
            shape, items = list(array.shape), array.ravel().tolist()
            if all(type(item) is str for item in items):
                return {"strings": [self._keep(part, where) for part in pack_strings(items)], "shape": shape}
            return {"objects": [self.encode(item, where) for item in items], "shape": shape}
        if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
            return {"array": self._keep(array.T, where), "order": "F"}
        return {"array": self._keep(array, where)}

    def _keep(self, array: Array, where: str) -> int:
        """The number of the array; arrays that share memory share a number."""
        if array.dtype.kind not in _PLAIN:
            raise TypeError(f"{where} is an array of {array.dtype}, which cannot be stored")
        key = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
        if key not in self._numbers or not array.size:
            self._numbers[key] = len(self.arrays)
            self.arrays[str(len(self.arrays))] = array
        return self._numbers[key]

    def _object(self, value: Any, where: str) -> Any:
        name = self.names.get(type(value))
        if name is None:
            kind = type(value).__name__
            raise TypeError(f"{where} is of type {kind}, which cannot be stored: use plain values or arrays")
        fields, state = _take_apart(value)
        encoded = ({key: self.encode(item, f"{where}.{key}") for key, item in part.items()} for part in (fields, state))
        return {"class": name, **dict(zip(("fields", "state"), encoded, strict=True))}


def _take_apart(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the constructor, and the other attributes."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}, {}
    fields = value.get_params(deep=False) if hasattr(value, "get_params") else {}
    return fields, {name: item for name, item in vars(value).items() if name not in fields}


class _Reader:
    """Converts nodes to values."""

    def __init__(self, arrays: Mapping[str, Array], classes: Classes, n_bytes: int) -> None:
        self.arrays = arrays
        # Every value takes at least one byte of the file, unless an array is used repeatedly.
        self._n_values_left = n_bytes
        self.classes = classes
        self._readers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "float": lambda node: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["float"]],
            "tuple": lambda node: tuple(self._list(node["tuple"])),
            "dict": self._dict,
            "array": self._array,
            "strings": self._strings,
            "objects": self._objects,
            "scalar": self._scalar,
            "csr": self._csr,
            "generator": lambda node: generators.make_generator(self.decode(node["generator"])),
            "random_state": lambda node: generators.make_random_state(self.decode(node["random_state"])),
            "class": self._object,
        }

    def decode(self, node: Any) -> Any:
        self._count(1)
        if isinstance(node, list):
            return self._list(node)
        if not isinstance(node, dict):
            return node
        for kind, read in self._readers.items():
            if kind in node:
                return read(node)
        raise ValueError(f"it has a part of unknown kind ({', '.join(node) or 'empty'})")

    def _list(self, nodes: Any) -> list[Any]:
        if not isinstance(nodes, list):
            raise ValueError("a list is expected where there is none")
        return [self.decode(node) for node in nodes]

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        pairs = [(self.decode(key), self.decode(item)) for key, item in node["dict"]]
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("it has two values of the same name")
        return found

    def _kept(self, number: Any) -> Array:
        return self.arrays[str(number)]

    def _array(self, node: dict[str, Any]) -> Array:
        if node.get("order", "F") != "F":
            raise ValueError(f"it has an array in the order {node['order']!r}")
        array = self._kept(node["array"])
        return array.T if "order" in node else array

    def _scalar(self, node: dict[str, Any]) -> Any:
        array = self._kept(node["scalar"])
        if array.ndim:
            raise ValueError("it has an array where a number is expected")
        return array[()]

    def _count(self, n_values: int) -> None:
        """Raise an error for a file that expands to more values than its size by repeating its parts."""
        self._n_values_left -= n_values
        if self._n_values_left < 0:
            raise ValueError("it expands to more values than it has bytes")

    def _strings(self, node: dict[str, Any]) -> Array:
        data, ends = map(self._kept, node["strings"])
        self._count(data.size + ends.size)
        return _shaped(unpack_strings(data, ends), node["shape"])

    def _objects(self, node: dict[str, Any]) -> Array:
        return _shaped(self._list(node["objects"]), node["shape"])

    def _csr(self, node: dict[str, Any]) -> sp.csr_array:
        data, indices, indptr = self._list(node["csr"])
        self._count(data.size + indices.size + indptr.size)
        rows, columns = node["shape"]
        if type(rows) is not int or type(columns) is not int:
            raise ValueError("the size of a table is not made of integers")
        if data.ndim != 1:
            raise ValueError("the entries of a table are not one-dimensional")
        check_csr(indices, indptr, len(data), (rows, columns))
        return sp.csr_array((data, indices, indptr), shape=(rows, columns))

    def _object(self, node: dict[str, Any]) -> Any:
        kind = self.classes.get(node["class"])
        if kind is None:
            raise ValueError(f"it contains a {node['class']!r}, which is unknown to this version of bursty")
        fields = {name: self.decode(item) for name, item in node["fields"].items()}
        try:
            value = kind(**fields)
        except TypeError as error:
            raise ValueError(f"{node['class']} cannot be created from the file: {error}") from error
        state = {name: self.decode(item) for name, item in node["state"].items()}
        if state and dataclasses.is_dataclass(kind):
            raise ValueError(f"{node['class']} has attributes that are not fields")
        if any(callable(getattr(kind, name, None)) for name in state):
            raise ValueError(f"{node['class']} has a method in place of a value")
        vars(value).update(state)
        return value


def _shaped(items: list[Any], shape: Any) -> Array:
    if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"it has an array of shape {shape!r}")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)
