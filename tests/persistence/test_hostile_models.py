"""Files that lie: damage anywhere and sizes that do not fit give one error, no memory and no code."""

from __future__ import annotations

import copy
import io
import json
import pickle
import random
import tracemalloc
import zipfile

import numpy as np
import pytest

import bursty
from bursty.storage import read_tree, write_tree
from fixtures import make_models

ERROR = r"\.bursty is not a readable bursty model file"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a small saved model."""
    model = make_models.MODELS["multinomial"]()
    return bursty.save(model, tmp_path_factory.mktemp("small") / "small.bursty").read_bytes()


def test_truncation_at_every_byte(small, tmp_path):
    path = tmp_path / "cut.bursty"
    for length in range(len(small)):
        path.write_bytes(small[:length])
        with pytest.raises(ValueError, match=ERROR):
            bursty.load(path)


def test_flipped_bytes_never_change_the_model_unseen(small, tmp_path):
    """A flipped byte gives the one error, or lies where nothing is kept (times, padding) and the model is the same."""
    path = tmp_path / "flipped.bursty"
    path.write_bytes(small)
    expected = bursty.load(path).theta_
    refused = 0
    for place in range(0, len(small), 3):
        path.write_bytes(small[:place] + bytes([small[place] ^ 0x55]) + small[place + 1 :])
        try:
            found = bursty.load(path).theta_
        except ValueError as error:
            assert "is not a readable bursty model file" in str(error)  # noqa: PT017 - most flips give one
            refused += 1
        else:
            assert np.array_equal(found, expected)
    assert refused > len(small) / 3 * 0.7


def npy(array, **options) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def rewrite(path, small, change):
    """The file with its members changed by `change(name, bytes)`, with right checksums; None leaves one out."""
    with zipfile.ZipFile(io.BytesIO(small)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return path


def is_table(data: bytes) -> bool:
    return data[:6] == b"\x93NUMPY" and np.lib.format.read_array(io.BytesIO(data)).shape == (12, 1)


CHANGES = {
    "a word too few": lambda name, data: npy(np.ones((11, 1))) if is_table(data) else data,
    "whole numbers": lambda name, data: npy(np.ones((12, 1), dtype=int)) if is_table(data) else data,
    "one dimension": lambda name, data: npy(np.ones(12)) if is_table(data) else data,
    "pickled": lambda name, data: (
        npy(np.array([{}], dtype=object), allow_pickle=True) if name.startswith("arrays") else data
    ),
    "a pickle": lambda name, data: pickle.dumps(np.ones((12, 1))) if name.startswith("arrays") else data,
    "no arrays": lambda name, data: None if name.startswith("arrays") else data,
    "other words": lambda name, data: data.replace(b"word1", b"word!"),
    "no model": lambda name, data: data.replace(b'"Multinomial"', b'"Levels"'),
    "a part is missing": lambda name, data: data.replace(b'"vocabulary"', b'"vocabulory"'),
    "path outside": lambda name, data: data.replace(b'"array": ', b'"array": "../../x", "was": '),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_members_that_lie(change, small, tmp_path):
    path = rewrite(tmp_path / "lies.bursty", small, change)
    assert path.read_bytes() != small
    with pytest.raises(ValueError, match=ERROR):
        bursty.load(path)


@pytest.mark.parametrize("name", ["mixture-dcm", "mixture-vonmisesfisher", "classifier", "dcmlda", "lda"])
def test_sizes_that_do_not_fit(name, tmp_path):
    """Every array of the model in turn gets a row more: what compiled loops rely on is refused, nothing crashes."""
    from bursty.storage.schema import stored_classes

    model = make_models.MODELS[name]()
    path = bursty.save(model, tmp_path / "kept.bursty")
    tree = read_tree(path, "model", stored_classes())
    private = {"mixture-dcm": "_state", "classifier": "parameters_", "dcmlda": "_params", "lda": "_params"}
    part = vars(tree["model"])[private.get(name, "_state")]
    part = getattr(part, "params", part)
    field = next(iter(vars(part)))
    vars(part)[field] = np.vstack([vars(part)[field]] * 2)
    write_tree(path, "model", tree, stored_classes())
    with pytest.raises(ValueError, match=r"instead of|dimensions"):
        bursty.load(path)


@pytest.mark.parametrize("field", ["items", "values", "weights", "n_items"])
def test_places_outside_the_words(field, tmp_path):
    from bursty.storage.schema import stored_classes

    path = bursty.save(make_models.MODELS["mixture-dcm"](), tmp_path / "kept.bursty")
    tree = read_tree(path, "model", stored_classes())
    levels = tree["model"]._running.stats.repeats
    wrong = {
        "items": np.full_like(levels.items, 10**6),
        "values": np.full_like(levels.values, -1),
        "weights": levels.weights[:1],
        "n_items": 10**9,
    }
    vars(levels)[field] = wrong[field]
    write_tree(path, "model", tree, stored_classes())
    with pytest.raises(ValueError, match=r"levels|values"):
        bursty.load(path)


@pytest.mark.parametrize("count", [255, 2**31 - 1])
def test_a_sample_of_documents_that_were_not_counted(count, tmp_path):
    corpus, _ = bursty.datasets.make_bursty_mixture(60, 40, n_components=2, random_state=0)
    model = bursty.BayesClassifier(refine=None).fit(corpus, corpus.labels)
    model._seen.sample.counts.data[0] = count
    loaded = bursty.load(bursty.save(model, tmp_path / "sample.bursty"))
    np.testing.assert_array_equal(loaded.predict(corpus), model.predict(corpus))
    with pytest.raises(ValueError, match="are not among those it has counted"):
        loaded.partial_fit(corpus.counts, corpus.labels)


def test_topics_outside_the_model(tmp_path):
    from bursty.storage.schema import stored_classes

    path = bursty.save(make_models.MODELS["lda"](), tmp_path / "kept.bursty")
    tree = read_tree(path, "model", stored_classes())
    right = tree["model"]._topics
    tree["model"]._topics = right + 5
    write_tree(path, "model", tree, stored_classes())
    with pytest.raises(ValueError, match="_topics has values above"):
        bursty.load(path)
    tree["model"]._topics = right
    tree["model"]._stream["mean"]["words"]["items"] += 1_000
    write_tree(path, "model", tree, stored_classes())
    with pytest.raises(ValueError, match=r"levels|values"):
        bursty.load(path)


def bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(60 * 2**20))


def long_manifest(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", b" " * (17 * 2**20))


def large_claim(path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2)})
    manifest = {"format": "bursty", "kind": "model", "version": 1, "arrays": ["0"], "tree": {"array": 0}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("arrays/0.npy", header.getvalue())


def paths_outside(path):
    manifest = {"format": "bursty", "kind": "model", "version": 1, "arrays": ["../../../etc/passwd"], "tree": 1}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("../../../etc/passwd", b"root")


@pytest.mark.parametrize("make", [bomb, long_manifest, large_claim, paths_outside])
def test_files_that_take_no_memory(make, tmp_path):
    path = tmp_path / "made.bursty"
    make(path)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=ERROR):
            bursty.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()
    assert [entry.name for entry in tmp_path.iterdir()] == ["made.bursty"]


def test_no_pickle_is_ever_run(small, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    trap = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    path = rewrite(tmp_path / "trap.bursty", small, lambda name, data: trap if name.startswith("arrays") else data)
    with pytest.raises(ValueError, match="pickled objects"):
        bursty.load(path)
    assert not (tmp_path / "sprung").exists()


ODD = [None, True, -1, 10**30, 1.5, "x", "Mixture", [], {}, {"array": 0}, {"array": 5}, {"dict": []}, {"scalar": 1}]


def places(node, parent=None, key=None):
    """Every place of a manifest's tree where a value stands."""
    if parent is not None:
        yield parent, key
    for inner in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from places(node[inner], node, inner)


@pytest.mark.parametrize("name", make_models.MODELS)
def test_values_in_other_places(name, tmp_path):
    """Manifests with right checksums and one or two wrong values: the one error, or a model; never another error."""
    original = (make_models.FOLDER / f"{name}.bursty").read_bytes()
    rng, refused = random.Random(name), 0
    for _ in range(60):
        with zipfile.ZipFile(io.BytesIO(original)) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        for _ in range(rng.choice([1, 2])):
            found = list(places(manifest["tree"]))
            (parent, key), (other, place) = rng.choice(found), rng.choice(found)
            parent[key] = copy.deepcopy(rng.choice([*ODD, other[place]]))
        changed = {"manifest.json": json.dumps(manifest).encode()}
        path = rewrite(tmp_path / "odd.bursty", original, changed.get)
        try:
            bursty.load(path)
        except ValueError:
            refused += 1
    assert refused > 10
