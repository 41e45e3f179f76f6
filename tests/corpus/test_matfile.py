"""MATLAB files: the same as scipy reads from sound ones, and one clear error for any damage."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from bursty.corpus import matfile, read_corpus
from bursty.corpus.matfile import Damaged, read_variables

TABLE = np.array([[2, 0, 1, 0], [0, 3, 0, 0], [1, 1, 0, 5]])
HEADER = b"MATLAB 5.0 MAT-file".ljust(124)


def words(*names):
    cells = np.empty((len(names), 1), dtype=object)
    cells[:, 0] = names
    return cells


SOUND = {
    "sparse": {"dtm": sp.csc_array(TABLE).astype(float)},
    "dense": {"dtm": TABLE},
    "small": {"dtm": TABLE.astype(np.uint8), "note": "hello"},
    "all": {
        "dtm": sp.csc_array(TABLE).astype(float),
        "classid": np.array([[1, 2, 1]]),
        "wordlist": words("ape", "bee", "", "déjà"),
        "other": {"a": 1},
        "imaginary": np.array([[1j]]),
        "mixed": words("a", 3),
    },
}


def written(variables, compressed):
    file = io.BytesIO()
    scipy.io.savemat(file, variables, do_compression=compressed)
    return file.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("variables", SOUND.values(), ids=SOUND)
def test_the_same_as_scipy(variables, compressed):
    content = written(variables, compressed)
    found = read_variables(content, "it")
    assert found.keys() == variables.keys() - {"other", "imaginary", "mixed"}
    for name, value in found.items():
        if isinstance(value, list):
            assert value == ([variables[name]] if isinstance(variables[name], str) else variables[name][:, 0].tolist())
        else:
            dense = [each.toarray() if sp.issparse(each) else each for each in (value, variables[name])]
            np.testing.assert_array_equal(*dense)


def test_cells_of_usual_layout_and_all_others_are_read_alike(monkeypatch):
    """Every byte of cells of text is changed; the short way must find what reading element by element finds."""

    def read(content):
        try:
            return read_variables(content, "it")
        except Damaged as error:
            return str(error)

    sound = written({"wordlist": words("ape", "déjà", "mulberry")}, False)
    contents = [sound[:cut] for cut in range(128, len(sound))]
    for place in range(128, len(sound)):
        for value in {sound[place] ^ 1, sound[place] ^ 0x80, 0, 2, 4, 8, 17} - {sound[place]}:
            contents.append(sound[:place] + bytes([value]) + sound[place + 1 :])
    found = [read(content) for content in contents]
    monkeypatch.setattr(matfile, "_next_plain_text", lambda parts: None)
    assert found == [read(content) for content in contents]


def test_the_other_byte_order():
    def element(kind, data):
        return struct.pack(">II", kind, len(data)) + data + bytes(-len(data) % 8)

    parts = element(6, struct.pack(">II", 6, 0)) + element(5, struct.pack(">ii", 2, 2)) + element(1, b"x")
    matrix = element(14, parts + element(9, struct.pack(">4d", 1, 2, 3, 4)))
    found = read_variables(HEADER + b"\x01\x00MI" + matrix, "it")
    np.testing.assert_array_equal(found["x"], [[1, 3], [2, 4]])


def mutants(content, n_mutants, rng):
    """The file with one to three of its bytes or words changed to something likely to hurt."""
    nasty = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 10**9, 15, 14, 5]
    for _ in range(n_mutants):
        damaged = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(0, len(content) - 4))
            if rng.random() < 0.5:
                damaged[place] = rng.integers(256)
            else:
                damaged[place & ~3 : (place & ~3) + 4] = struct.pack("<I", nasty[rng.integers(len(nasty))])
        yield bytes(damaged)


def read_or_refuse(path, content):
    """What comes back is a sound table of counts, or one error."""
    path.write_bytes(content)
    try:
        corpus = read_corpus(path, format="matlab")
    except ValueError:
        return 0
    assert corpus.counts.data.min(initial=1) > 0
    assert corpus.counts.indices.max(initial=0) < corpus.n_words
    return 1


@pytest.mark.parametrize("name", ["sparse", "all"])
def test_damaged_files(tmp_path, name):
    content = written(SOUND[name], compressed=False)
    rng = np.random.default_rng(0)
    read = sum(read_or_refuse(tmp_path / "x.mat", damaged) for damaged in mutants(content, 600, rng))
    assert 0 < read < 600  # a changed count is still a count


def test_damage_inside_a_compressed_variable(tmp_path):
    content = written(SOUND["sparse"], compressed=True)
    inner = zlib.decompress(content[136:])
    for damaged in mutants(inner, 300, np.random.default_rng(1)):
        packed = zlib.compress(damaged)
        read_or_refuse(tmp_path / "x.mat", content[:128] + struct.pack("<II", 15, len(packed)) + packed)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("rows", 10**9, "but there are 3 rows"),
        ("rows", -1, "but there are 3 rows"),
        ("starts", 10**9, "fewer rows, columns or values"),
        ("starts", -5, "fewer rows, columns or values"),
        ("shape", 10**9, "fewer rows, columns or values"),
    ],
)
def test_a_sparse_table_that_lies(tmp_path, place, value, message):
    content = bytearray(written(SOUND["sparse"], compressed=False))
    table = sp.csc_array(TABLE)
    known = {"rows": table.indices, "starts": table.indptr, "shape": np.array(table.shape)}[place].astype("<i4")
    at = bytes(content).index(known.tobytes())
    content[at + known.nbytes - 4 : at + known.nbytes] = struct.pack("<i", value)
    (tmp_path / "x.mat").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_corpus(tmp_path / "x.mat", format="matlab")


def test_two_variables_of_one_name():
    content = written({"dtm": TABLE}, compressed=False)
    with pytest.raises(Damaged, match="two variables named 'dtm'"):
        read_variables(content + content[128:], "it")
