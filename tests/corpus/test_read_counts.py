"""Tables of counts in their many formats: each comes back as it was, and a header is not believed."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from bursty.corpus import read_corpus

TABLE = np.array([[2, 0, 1], [0, 0, 0], [1, 70_000, 0], [0, 3, 1]])
WORDS = ["ape", "bee", "cat"]

LDAC = "2 0:2 2:1\n0\n2 0:1 1:70000\n2 1:3 2:1\n"
UCI = "4\n3\n6\n1 1 2\n1 3 1\n3 1 1\n3 2 70000\n4 2 3\n4 3 1\n"
CLUTO = "4 3 6\n1 2 3 1\n\n1 1 2 70000\n2 3 3 1\n"
CLUTO_DENSE = "4 3\n2 0 1\n0 0 0\n1 70000 0\n0 3 1\n"
MARKET = "%%MatrixMarket matrix coordinate integer general\n% note\n4 3 6\n" + "\n".join(UCI.split("\n")[3:])
MARKET_DENSE = "%%MatrixMarket matrix array integer general\n4 3\n2\n0\n1\n0\n0\n0\n70000\n3\n1\n0\n0\n1\n"
SVMLIGHT = "1 1:2 3:1\n-1 # nothing\n1 1:1 2:70000\n-1 qid:3 2:3 3:1\n"

FORMATS = {
    "corpus.ldac": LDAC,
    "corpus.dat": LDAC,
    "docword.pets.txt": UCI,
    "uci.txt": UCI,
    "corpus.mat": CLUTO,
    "dense.mat": CLUTO_DENSE,
    "corpus.mtx": MARKET,
    "market.txt": MARKET,
    "dense.mtx": MARKET_DENSE,
    "corpus.svm": SVMLIGHT,
    "corpus.txt": SVMLIGHT,
}


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_table(tmp_path, name, packed):
    content = FORMATS[name].encode()
    path = write(tmp_path, name + ".gz", gzip.compress(content)) if packed else write(tmp_path, name, content)
    corpus = read_corpus(path)
    assert np.array_equal(corpus.counts.toarray(), TABLE)
    assert not corpus.has_words


def test_names_beside_the_file(tmp_path):
    write(tmp_path, "vocab.txt", "\n".join(WORDS))
    write(tmp_path, "vocab.pets.txt", "\r\n".join(WORDS))
    assert list(read_corpus(write(tmp_path, "ap.dat", LDAC)).vocabulary) == WORDS
    write(tmp_path, "of_gensim.ldac.vocab", "\n".join(reversed(WORDS)))
    assert list(read_corpus(write(tmp_path, "of_gensim.ldac", LDAC)).vocabulary) == WORDS[::-1]
    assert list(read_corpus(write(tmp_path, "docword.pets.txt.gz", gzip.compress(UCI.encode()))).vocabulary) == WORDS
    for suffix, names in (("clabel", WORDS), ("rlabel", "abcd"), ("rclass", ["x", "y", "x", "x"])):
        write(tmp_path, f"pets.mat.{suffix}", "\n".join(names) + "\n")
    corpus = read_corpus(write(tmp_path, "pets.mat", CLUTO))
    assert list(corpus.vocabulary) == WORDS
    assert list(corpus.ids) == list("abcd")
    assert [corpus.label_names[label] for label in corpus.labels] == ["x", "y", "x", "x"]


def test_names_that_are_given(tmp_path):
    words = write(tmp_path, "words", "\n".join(WORDS))
    path = write(tmp_path, "corpus.mtx", MARKET)
    corpus = read_corpus(path, vocabulary=words, labels=["p", "q", "p", ""])
    assert list(corpus.vocabulary) == WORDS
    assert corpus.labels.tolist() == [0, 1, 0, -1]
    assert list(read_corpus(path, vocabulary=WORDS, min_df=2).vocabulary) == WORDS
    assert list(read_corpus(path, vocabulary=WORDS, drop_most_common=1).vocabulary) == ["ape", "cat"]
    with pytest.raises(ValueError, match="2 names for 3 words"):
        read_corpus(path, vocabulary=["ape", "bee"])


def test_words_at_the_end_of_the_list_may_occur_nowhere(tmp_path):
    corpus = read_corpus(write(tmp_path, "corpus.ldac", LDAC), vocabulary=[*WORDS, "dodo"])
    assert list(corpus.vocabulary) == [*WORDS, "dodo"]
    assert np.array_equal(corpus.counts.toarray()[:, :3], TABLE)
    assert corpus.counts.shape == (4, 4)


def test_transpose(tmp_path):
    path = write(tmp_path, "corpus.mtx", MARKET)
    assert np.array_equal(read_corpus(path, transpose=True).counts.toarray(), TABLE.T)


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_a_table_and_its_words_in_an_archive(tmp_path, kind):
    files = {"ap/ap.dat": LDAC, "ap/vocab.txt": "\n".join(WORDS), "ap/ap.txt": "long text", "ap/README": "hello"}
    path = tmp_path / f"ap.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
    corpus = read_corpus(path)
    assert np.array_equal(corpus.counts.toarray(), TABLE)
    assert list(corpus.vocabulary) == WORDS


def test_svmlight_labels_and_bases(tmp_path):
    corpus = read_corpus(write(tmp_path, "one.svm", SVMLIGHT))
    assert [corpus.label_names[label] for label in corpus.labels] == ["1", "-1", "1", "-1"]
    several = read_corpus(write(tmp_path, "several.svm", "1,3 1:1\n3 2:1\n"))
    assert several.label_matrix.toarray().tolist() == [[1, 1], [0, 1]]
    assert read_corpus(write(tmp_path, "zero.svm", "0 0:1 2:5\n")).counts.toarray().tolist() == [[1, 0, 5]]
    path = write(tmp_path, "forced.svm", "0 1:1 2:5\n")
    assert read_corpus(path, zero_based=True).counts.toarray().tolist() == [[0, 1, 5]]
    missing = read_corpus(write(tmp_path, "missing.svm", "nan 1:1\n2 2:1\nNaN 1:1\n-nan 2:1\n"))
    assert missing.labels.tolist() == [-1, 0, -1, -1]
    assert missing.label_names.tolist() == ["2"]
    assert read_corpus(write(tmp_path, "both.svm", "1,nan 1:1\n1,2 2:1\n")).label_names.tolist() == ["1", "2"]
    with pytest.raises(ValueError, match="word 0 although"):
        read_corpus(write(tmp_path, "zero.svm", "0 0:1\n"), zero_based=False)


@given(
    st.integers(1, 6).flatmap(
        lambda rows: st.integers(1, 5).flatmap(
            lambda columns: st.lists(
                st.lists(st.sampled_from([0, 0, 1, 2, 100_000]), min_size=columns, max_size=columns),
                min_size=rows,
                max_size=rows,
            )
        )
    )
)
def test_what_other_programs_write_comes_back(tmp_path_factory, rows):
    table = np.array(rows)
    folder = tmp_path_factory.mktemp("tables")
    market, svm, matlab = folder / "t.mtx", folder / "t.svm", folder / "t.mat"
    scipy.io.mmwrite(market, sp.coo_array(table))
    assert np.array_equal(read_corpus(market).counts.toarray(), table)
    scipy.io.mmwrite(market, table)
    assert np.array_equal(read_corpus(market).counts.toarray(), table)
    scipy.io.savemat(matlab, {"counts": sp.csc_array(table).astype(float)}, do_compression=True)
    assert np.array_equal(read_corpus(matlab).counts.toarray(), table)
    if table.any():
        dump_svmlight_file(sp.csr_array(table), np.arange(len(table)), str(svm), zero_based=False)
        used = table[:, : np.flatnonzero(table.any(axis=0)).max() + 1]
        assert np.array_equal(read_corpus(svm, zero_based=False).counts.toarray(), used)


def matlab_file(tmp_path, **variables):
    path = tmp_path / "corpus.mat"
    scipy.io.savemat(path, variables, do_compression=True)
    return path


def cell(*names):
    out = np.empty((len(names), 1), dtype=object)
    out[:, 0] = names
    return out


def test_matlab_variables_are_found_by_what_they_are(tmp_path):
    path = matlab_file(
        tmp_path,
        dtm=sp.csc_array(TABLE).astype(float),
        truelabels=np.array([[2, 1, 2, 2]]),
        classnames=cell("yes", "no"),
        wordlist=cell(*WORDS),
        docnames=cell("a", "b", "c", "d"),
        note="hello",
    )
    corpus = read_corpus(path)
    assert np.array_equal(corpus.counts.toarray(), TABLE)
    assert list(corpus.vocabulary) == WORDS
    assert list(corpus.ids) == list("abcd")
    assert corpus.labels.tolist() == [1, 0, 1, 1]
    assert list(corpus.label_names) == ["yes", "no"]
    assert read_corpus(path, label=False, id=False).labels is None


def test_matlab_variables_by_name(tmp_path):
    path = matlab_file(
        tmp_path,
        one=sp.csc_array(TABLE).astype(float),
        two=sp.csc_array(TABLE.T * 2).astype(float),
        gnd=np.array([[5], [5], [7], [7]]),
        other=np.array([[1], [2], [3], [3]]),
        terms=cell("ape", "ape", "cat"),
    )
    with pytest.raises(ValueError, match=r"2 tables: choose one with variable=\.\.\.; it has gnd, one"):
        read_corpus(path)
    with pytest.raises(ValueError, match=r"no variable 'three'"):
        read_corpus(path, variable="three")
    corpus = read_corpus(path, variable="two", transpose=True, label="other")
    assert np.array_equal(corpus.counts.toarray(), TABLE * 2)
    assert corpus.labels.tolist() == [0, 1, 2, 2]
    assert list(corpus.vocabulary) == ["ape", "ape#2", "cat"]
    assert list(read_corpus(path, variable="one").label_names) == ["5", "7"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89HDF\r\n\x1a\n" + bytes(200), r"version 7\.3 .*-v7"),
        (b"MATLAB 7.3 MAT-file, Platform" + bytes(200), r"version 7\.3 .*-v7"),
        (b"MATLAB 5.0 MAT-file" + bytes(109) + b"\x0f\0\0\0\x10\0\0\0" + b"\xff" * 16, "damaged"),
        (b"MATLAB 5.0 MAT-file" + bytes(105) + b"\0\1IM" + b"\x0e\0\0\0\xff\xff\xff\x0f" + b"\x06" * 40, "damaged"),
        (b"MATLAB 5.0 MAT-file" + bytes(105) + b"\0\x3cIM" + bytes(8), "damaged.*version 0x3c00 instead of 0x0100"),
        (b"MATLAB 5.0 MAT-file", "damaged"),
    ],
)
def test_bad_matlab_files(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path, "bad.mat", content))


def test_matlab_truncated_anywhere(tmp_path):
    whole = matlab_file(tmp_path, dtm=sp.csc_array(TABLE).astype(float), wordlist=cell(*WORDS)).read_bytes()
    path = tmp_path / "cut.mat"
    named = 0
    sizes = range(10, len(whole), 3)
    for size in sizes:
        path.write_bytes(whole[:size])
        try:
            found = read_corpus(path)
        except ValueError as error:
            named += "cut.mat" in str(error)
        else:
            named += 1
            assert np.array_equal(found.counts.toarray(), TABLE)
    assert named == len(sizes)
