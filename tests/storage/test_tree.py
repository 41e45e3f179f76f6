"""Trees of values: what goes in comes out, and what cannot be kept or trusted gives one clear error."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from bursty.storage import limits, read_tree, replacing, write_tree
from bursty.storage.container import pack_strings, unpack_strings


@dataclasses.dataclass(frozen=True)
class Pair:
    left: Any
    right: Any = 0


class Estimator:
    def __init__(self, size=1):
        self.size = size

    def get_params(self, deep=True):
        return {"size": self.size}

    def fit(self):
        return self


CLASSES = {"Pair": Pair, "Estimator": Estimator}


def there_and_back(tree, tmp_path):
    return read_tree(write_tree(tmp_path / "tree.bursty", "test", tree, CLASSES), "test", CLASSES)


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=8)
    | st.tuples(st.integers(), st.text(max_size=3))
)
trees = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(leaves, inner, max_size=4))


@given(tree=trees)
def test_plain_values_come_back(tree, tmp_path_factory):
    back = there_and_back(tree, tmp_path_factory.mktemp("trees"))
    assert back == tree
    assert repr(back) == repr(tree)  # 1 is not True, and 0.0 is not -0.0


def test_not_a_number_comes_back(tmp_path):
    assert math.isnan(there_and_back([math.nan], tmp_path)[0])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.zeros((0, 3), dtype=np.float32),
        np.array(True),
        np.array(["a", "äöü", ""]),
        np.array([b"raw"]),
        np.array(["2001-02-03"], dtype="M8[D]"),
        np.array([["x", ""], ["y\n", "\ud800"]], dtype=object),
        np.array([1, "two", None, (3, 4.5)], dtype=object),
        np.arange(10)[::3],
        np.arange(24).reshape(2, 3, 4)[:, ::2],
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_arrays_come_back(array, tmp_path):
    back = there_and_back(array, tmp_path)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back, array)


def test_the_order_of_an_array_is_kept_and_its_memory_shared(tmp_path):
    table = np.arange(6.0).reshape(2, 3)
    back = there_and_back({"rows": table, "columns": table.T, "again": table}, tmp_path)
    assert back["columns"].flags.f_contiguous
    assert not back["columns"].flags.c_contiguous
    assert np.shares_memory(back["rows"], back["columns"])
    with zipfile.ZipFile(tmp_path / "tree.bursty") as archive:
        assert len(archive.namelist()) == 2


def test_scalars_keep_their_type(tmp_path):
    for scalar in (np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("ß"), np.datetime64("2001-01-01")):
        back = there_and_back(scalar, tmp_path)
        assert type(back) is type(scalar)
        assert back == scalar


def test_tables_come_back(tmp_path):
    table = sp.csr_array(np.array([[0, 2], [0, 0], [1, 0]], dtype=np.int32))
    back = there_and_back(table, tmp_path)
    assert type(back) is sp.csr_array
    assert back.dtype == np.int32
    assert (back != table).nnz == 0


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, None])
def test_random_numbers_go_on_where_they_were(make, tmp_path):
    rng = np.random.Generator(np.random.MT19937(5)) if make is None else make(5)
    rng.normal(size=3)
    back = there_and_back(rng, tmp_path)
    assert np.array_equal(back.normal(size=50), rng.normal(size=50))


def test_objects_of_listed_classes_come_back(tmp_path):
    fitted = Estimator(size=7)
    fitted.found_ = np.arange(3)
    back = there_and_back({"pair": Pair([1], Pair(None)), "fitted": fitted}, tmp_path)
    assert back["pair"] == Pair([1], Pair(None))
    assert type(back["fitted"]) is Estimator
    assert back["fitted"].size == 7
    assert np.array_equal(back["fitted"].found_, np.arange(3))


def test_what_cannot_be_kept_is_named(tmp_path):
    path = write_tree(tmp_path / "tree.bursty", "test", [1])
    for tree, message in (
        ({"a": [0, {1, 2}]}, r"it\['a'\]\[1\] is of type set"),
        (Pair(range(3)), r"it\.left is of type range"),
        (Estimator(np.zeros(2, dtype="V4")), r"it\.size is an array of"),
        (np.random.Generator(np.random.Philox(1)), "default_rng"),
    ):
        with pytest.raises(TypeError, match=message):
            write_tree(path, "test", tree, CLASSES)
    with pytest.raises(TypeError, match="Pair"):
        write_tree(path, "test", Pair(1))
    with pytest.raises(ValueError, match="store long lists as arrays"):
        write_tree(path, "test", ["x" * 1000] * 20_000)
    assert read_tree(path, "test") == [1]
    assert os.listdir(tmp_path) == ["tree.bursty"]


def rewritten(tmp_path, tree: Any, arrays: dict[str, np.ndarray] | None = None):
    """A file whose manifest has this tree, as nobody of ours would write it."""
    path = tmp_path / "made.bursty"
    arrays = arrays or {}
    manifest = {"format": "bursty", "kind": "test", "version": 1, "arrays": list(arrays), "tree": tree}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array)
            archive.writestr(f"arrays/{name}.npy", buffer.getvalue())
    return path


MT = {"bit_generator": "MT19937", "state": {"dict": [["key", {"array": 0}], ["pos", 10**6]]}}
HOSTILE = {
    "unknown class": {"class": "os.system", "fields": {}, "state": {}},
    "class is a list": {"class": ["Pair"], "fields": {}, "state": {}},
    "unknown field": {"class": "Pair", "fields": {"middle": 1}, "state": {}},
    "no fields": {"class": "Pair"},
    "state of a dataclass": {"class": "Pair", "fields": {"left": 1}, "state": {"right": 2}},
    "a value for a method": {"class": "Estimator", "fields": {}, "state": {"fit": 1}},
    "unknown kind": {"pickle": "..."},
    "empty node": {},
    "missing array": {"array": 9},
    "array of another name": {"array": "../manifest"},
    "float": {"float": "12"},
    "tuple of no list": {"tuple": 3},
    "dict of no pairs": {"dict": [[1, 2, 3]]},
    "unhashable key": {"dict": [[[1], 2]]},
    "key twice": {"dict": [["a", 1], ["a", 2]]},
    "order of an array": {"array": 1, "order": "C"},
    "scalar that is none": {"scalar": 1},
    "shape of strings": {"strings": [0, 1], "shape": [10**9]},
    "strings of numbers": {"strings": [1, 1], "shape": [1]},
    "objects": {"objects": [1, 2], "shape": [-2, -2]},
    "any length": {"objects": [1, 2], "shape": [-5]},
    "half a length": {"objects": [1, 2], "shape": [2.5]},
    "size of a table": {"csr": [{"array": 2}, {"array": 2}, {"array": 2}], "shape": [0.5, 2]},
    "csr outside": {"csr": [{"array": 1}, {"array": 1}, {"array": 1}], "shape": [2, 2]},
    "csr of too few": {"csr": [{"array": 1}], "shape": [2, 2]},
    "csr of values": {"csr": [1, 2, 3], "shape": [2, 2]},
    "generator": {"generator": {"dict": [["bit_generator", "os"]]}},
    "generator outside": {"generator": {"dict": [[key, value] for key, value in MT.items()]}},
    "deep": json.loads("[" * 400 + "]" * 400),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_trees_give_one_error(name, tmp_path):
    node = HOSTILE[name]
    if name == "deep":
        for _ in range(30):
            node = {"tuple": [node] * 1}
        node = {"dict": [[{"objects": 3}, node]]}
    path = rewritten(
        tmp_path, node, {"0": np.zeros(624, dtype=np.uint32), "1": np.array([0, 5, 9]), "2": np.zeros(1, int)}
    )
    with pytest.raises(ValueError, match=r"made\.bursty is not a readable bursty test file"):
        read_tree(path, "test", CLASSES)


def test_a_later_version_is_said_to_be_one(tmp_path):
    path = write_tree(tmp_path / "tree.bursty", "test", 1)
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest | {"version": 99}))
    with pytest.raises(ValueError, match="format version 99, but this bursty reads 1"):
        read_tree(path, "test")


def test_a_file_half_written_is_not_there(tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"before")

    def interrupted():
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["kept"]


def test_errors_of_the_disk_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_tree(tmp_path / "nowhere" / "tree.bursty", "test", 1)
    assert caught.value.filename == str(tmp_path / "nowhere" / "tree.bursty")


def bomb(path, manifest, arrays):
    """A file with this manifest, whatever it says."""
    header = {"format": "bursty", "kind": "test", "version": 1, "arrays": sorted(arrays), **manifest}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(header))
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.save(stream, array)
            archive.writestr(f"arrays/{name}.npy", stream.getvalue())
    return path


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"tree": [{"strings": [0, 1], "shape": [50_000]}] * 10_000}, "more values than it has bytes"),
        (
            {"tree": [{"csr": [{"array": 0}, {"array": 2}, {"array": 3}], "shape": [1, 50_000]}] * 9_000},
            "more values than",
        ),
        ({"tree": None, "arrays": ["1"] * 100_000}, "lists an array twice"),
    ],
)
def test_a_small_file_does_not_unfold_into_much(tmp_path, manifest, message):
    """Parts that are used again and again: a model of 1.7 MB took 2.7 GB and more."""
    arrays = {
        "0": np.zeros(0, np.uint8),
        "1": np.zeros(50_000, np.int64),
        "2": np.arange(50_000, dtype=np.int32),
        "3": np.array([0, 50_000], np.int32),
    }
    if "csr" in str(manifest):
        arrays["0"] = np.zeros(50_000, np.int32)
    path = bomb(tmp_path / "bomb", manifest, arrays)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            read_tree(path, "test")
        assert tracemalloc.get_traced_memory()[1] < 64 * path.stat().st_size + 2**20
    finally:
        tracemalloc.stop()


def test_memory_that_is_not_there(tmp_path, monkeypatch):
    path = write_tree(tmp_path / "tree.bursty", "test", np.zeros(1_000))
    monkeypatch.setattr(limits, "free_memory", lambda: 5_000)
    with pytest.raises(ValueError, match=r"its content needs about .* 5,000 are free"):
        read_tree(path, "test")


def test_strings_whose_ends_do_not_match_their_bytes():
    data, ends = pack_strings(["a", "", "\u00e9"])
    assert (data.tolist(), ends.tolist()) == ([97, 195, 169], [1, 1, 3])
    assert unpack_strings(data, ends) == ["a", "", "\u00e9"]
    for wrong in ([1, 1, 2], [1, 1, 4], [2, 1, 3], [-1, 1, 3]):
        with pytest.raises(ValueError, match="ends of the strings"):
            unpack_strings(data, np.array(wrong))
    for wrong in ((data.astype(np.int8), ends), (data[None], ends), (data, ends.astype(np.int32)), (data, ends[None])):
        with pytest.raises(ValueError, match="arrays of bytes and of ends"):
            unpack_strings(*wrong)
