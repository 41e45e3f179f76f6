"""The file of arrays: what goes in comes out, and anything else gives one ValueError that names the file."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bursty.corpus import Corpus, read_corpus
from bursty.storage import is_container, pack_strings, read_arrays, unpack_strings, write_arrays


def tiny() -> Corpus:
    return Corpus(
        np.array([[2, 0, 300], [0, 0, 0], [1, 70_000, 0]]),
        ["ape", "bée", "c\nat"],
        ids=["a", "", "Ω"],
        labels=[0, -1, 1],
        label_names=["yes", "no"],
        metadata={"year": [1.5, 2.5, 3.5], "by": ["x", "", "ü"], "on": np.array(["2001-01-01"] * 3, "M8[D]")},
        info={"name": "tiny", "note": "made up"},
    )


def mini() -> Corpus:
    return Corpus(np.array([[2, 0], [0, 0], [1, 3]]), ["ape", "bee"], labels=[0, -1, 1])


def same(one: Corpus, other: Corpus) -> bool:
    """Equal in everything that a file keeps."""
    assert (one.counts != other.counts).nnz == 0
    assert one.counts.shape == other.counts.shape
    assert other.counts.dtype == np.int32
    assert list(one.vocabulary) == list(other.vocabulary)
    assert one.has_words == other.has_words
    assert list(one.ids) == list(other.ids)
    assert one.is_multilabel == other.is_multilabel
    if one.label_names is None:
        assert other.label_names is None
    else:
        assert list(one.label_names) == list(other.label_names)
        assert (one.label_matrix != other.label_matrix).nnz == 0
    assert list(one.metadata) == list(other.metadata)
    assert all(np.array_equal(one.metadata[name], other.metadata[name]) for name in one.metadata)
    assert dict(one.info) == dict(other.info)
    return True


@pytest.mark.parametrize(
    "corpus",
    [
        tiny(),
        Corpus(np.eye(2, dtype=int)),
        Corpus(np.zeros((2, 1), dtype=int), ["word"]),
        Corpus(np.eye(3, dtype=int), label_matrix=np.array([[1, 1], [0, 0], [0, 1]]), label_names=["a", "b"]),
    ],
    ids=["all", "bare", "empty", "multilabel"],
)
def test_a_saved_corpus_comes_back(corpus, tmp_path):
    path = corpus.save(tmp_path / "kept")
    assert path.name == "kept.bcorpus"
    assert same(corpus, read_corpus(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.bcorpus"]


def test_a_saved_corpus_is_known_by_its_content(tmp_path):
    path = tiny().save(tmp_path / "kept.zip")
    assert is_container(path, "corpus")
    assert not is_container(path, "model")
    assert same(tiny(), read_corpus(path))
    assert list(read_corpus(path, max_df=1).vocabulary) == ["bée", "c\nat"]


def test_same_content_same_bytes(tmp_path):
    one, two = tiny().save(tmp_path / "one.bcorpus"), tiny().save(tmp_path / "two.bcorpus")
    assert one.read_bytes() == two.read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tiny().save(tmp_path / "kept.bcorpus")
    before = path.read_bytes()
    with pytest.raises(TypeError, match="Python objects"):
        write_arrays(path, "corpus", {}, {"x": np.array([object()])})
    with pytest.raises(TypeError, match="JSON"):
        write_arrays(path, "corpus", {"bad": object()}, {})
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@given(st.lists(st.text(st.characters(codec=None), max_size=8), max_size=20))
def test_strings_come_back(values):
    assert unpack_strings(*pack_strings(values)) == values


@pytest.mark.parametrize("ends", [[5], [3, 2, 4], [-1, 4], []])
def test_strings_that_do_not_fit(ends):
    data = np.frombuffer(b"abcd", dtype=np.uint8)
    with pytest.raises(ValueError, match="do not match"):
        unpack_strings(data, np.array(ends, dtype=np.int64))


def test_truncated_at_every_byte(tmp_path):
    whole = mini().save(tmp_path / "kept.bcorpus").read_bytes()
    path = tmp_path / "cut.bcorpus"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"cut\.bcorpus"):
            read_corpus(path)


def test_flipped_bytes_are_seen_or_harmless(tmp_path):
    whole = mini().save(tmp_path / "kept.bcorpus").read_bytes()
    path = tmp_path / "flipped.bcorpus"
    noticed = 0
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            found = read_corpus(path)
        except ValueError as error:
            noticed += "flipped.bcorpus" in str(error)
        else:
            assert same(mini(), found)
    # Dates and other idle fields of the zip headers may change unseen; contents may not.
    assert noticed > 0.75 * len(whole)


@given(st.binary(max_size=400))
def test_any_bytes_give_one_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "any.bcorpus"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a readable bursty corpus file"):
        read_corpus(path)


def rewritten(path, tmp_path, change):
    """A copy of the file whose members went through `change(name, content)`; None leaves one out."""
    out = tmp_path / "changed.bcorpus"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return out


def npy(array, **options) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def manifest_with(**changes):
    return lambda name, old: json.dumps(json.loads(old) | changes).encode() if name == "manifest.json" else old


def manifest_without(array_name):
    def change(name, old):
        if name != "manifest.json":
            return old
        manifest = json.loads(old)
        return json.dumps(
            manifest | {"arrays": [array for array in manifest["arrays"] if array != array_name]}
        ).encode()

    return change


def array_with(array_name, content):
    return lambda name, old: content if name == f"arrays/{array_name}.npy" else old


@pytest.mark.parametrize(
    "change",
    [
        manifest_with(version=2),
        manifest_with(format="other"),
        manifest_with(kind="model"),
        manifest_with(documents=10**12),
        manifest_with(words=10**12),
        manifest_with(words=2),
        manifest_with(documents="many"),
        manifest_with(arrays=None),
        manifest_with(arrays=["../../etc/passwd"]),
        manifest_with(label_names=5),
        manifest_with(metadata=["year"] * 9),
        manifest_with(info=7),
        manifest_with(version=True),
        manifest_with(documents=3.0),
        manifest_with(label_names=[1, 2]),
        manifest_with(metadata=[0]),
        array_with("metadata.0", npy(np.array([b"1", b"2", b"3"]))),
        manifest_with(metadata=[]),  # its array would be dropped
        lambda name, old: None if name == "arrays/labels.npy" else manifest_without("labels")(name, old),
        array_with("labels", npy(np.array([0.0, 1.0, 0.0]))),
        array_with("data", npy(np.ones(4))),
        lambda name, old: b"[" * 100_000 if name == "manifest.json" else old,
        lambda name, old: old.replace(b'"kind"', b'"kind": "model", "kind"') if name == "manifest.json" else old,
        lambda name, old: old.replace(b'"info": {', b'"info": {"a": NaN, ') if name == "manifest.json" else old,
        lambda name, old: None if name == "manifest.json" else old,
        lambda name, old: None if name == "arrays/ids.ends.npy" else old,
        array_with("indices", npy(np.array([0, 2, 0, 7], dtype=np.int32))),
        array_with("indices", npy(np.array([0, -1, 0, 1], dtype=np.int32))),
        array_with("indices", npy(np.array([0.0, 2.0, 0.0, 1.0]))),
        array_with("indptr", npy(np.array([0, 9, 2, 4], dtype=np.int32))),
        array_with("indptr", npy(np.array([0, 2, 4], dtype=np.int32))),
        array_with("data", npy(np.array([[1, 2, 3, 4]], dtype=np.int32))),
        array_with("data", npy(np.array([1, 2, 3, -4], dtype=np.int32))),
        array_with("data", npy(np.array(["a", "b", "c", "d"]))),
        array_with("ids.bytes", npy(np.array([255, 254, 253], dtype=np.uint8))),
        array_with("data", b"not an array"),
        array_with("data", npy(np.array([1, None, {}, "x"], dtype=object), allow_pickle=True)),
        array_with("data", pickle.dumps(np.arange(4))),
    ],
)
def test_hostile_members_give_one_error(change, tmp_path):
    path = rewritten(tiny().save(tmp_path / "kept.bcorpus"), tmp_path, change)
    with pytest.raises(ValueError, match=r"changed\.bcorpus is not a readable bursty corpus file"):
        read_corpus(path)


def test_no_pickle_is_ever_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    trap = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    path = rewritten(tiny().save(tmp_path / "kept.bcorpus"), tmp_path, array_with("data", trap))
    with pytest.raises(ValueError, match="pickled objects"):
        read_corpus(path)
    assert not (tmp_path / "sprung").exists()


def test_a_claimed_size_takes_no_memory(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i4", "fortran_order": False, "shape": (2**40,)})
    path = rewritten(tiny().save(tmp_path / "kept.bcorpus"), tmp_path, array_with("data", header.getvalue()))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="the length given in its header"):
            read_corpus(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def test_a_bomb_takes_no_memory(tmp_path):
    path = tmp_path / "bomb.bcorpus"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(50 * 2**20))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="compressed members"):
            read_arrays(path, "corpus")
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def test_two_members_of_one_name(tmp_path):
    path = tmp_path / "twice.bcorpus"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("manifest.json", "{}")
    with pytest.raises(ValueError, match="two members"):
        read_arrays(path, "corpus")


@pytest.mark.parametrize("top", [1, 255, 256, 65_535, 65_536, 2**31 - 1])
def test_the_largest_count_of_every_width_comes_back(tmp_path, top):
    Corpus(np.array([[top, 0], [0, 1]]), ["ape", "bee"]).save(tmp_path / "c.bcorpus")
    np.testing.assert_array_equal(read_corpus(tmp_path / "c.bcorpus").counts.toarray(), [[top, 0], [0, 1]])
