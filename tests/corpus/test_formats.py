"""Formats told from names and first bytes."""

from __future__ import annotations

import gzip
import zipfile

import pytest

import bursty
from bursty.corpus import formats
from bursty.families import DCM


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"PAR1\x15", "parquet"),
        (b"MATLAB 5.0 MAT-file", "matlab"),
        (b"\x89HDF\r\n", "matlab"),
        (b"%%MatrixMarket matrix coordinate\n", "matrixmarket"),
        (b"%%matrixMARKET x\n", "matrixmarket"),
        (b'{"text": "a"}\n{"text"', "jsonl"),
        (b'  {"text": "a"}\n', "jsonl"),
        (b"{not json}\n", None),
        (b'["a"]\n', None),
        (b'{"text": "' + b"a" * 60_000, "jsonl"),  # longer than what is read
        (b'{"text": "' + b"a" * 50_000, None),
        (b"3\n5\n2\n1 1 2\n3 5 1\n", "uci"),
        (b"3\r\n5\r\n2\r\n1 1 2\r\n3 5 1\r\n", "uci"),
        (b"3\n5\n2\n1 1 2\n3 5\n4 4 4\n", None),
        (b"3 5 2\n1 2.5\n\n2 1e3\n", "cluto"),
        (b"3 5\n1 0 2 0 1\n0 0 0 0 1\n", "cluto"),
        (b"1 2 3 4\n", None),
        (b"2 0:1 3:2\n1 4:7\n", "ldac"),
        (b"2 0:1 3:2\n2 4:7\n", "svmlight"),
        (b"1,2 3:1 # note\n-1 qid:3 4:2.5\n", "svmlight"),
        (b"word another\n", None),
        (b"\n\n", None),
        (b"", None),
        (b"2 0:1 3:2\n1 4:", "ldac"),  # the last line may be cut
    ],
)
def test_first_bytes(head, name):
    assert formats.sniff(head) == name


def test_only_the_first_fifty_lines_are_looked_at():
    assert formats.sniff(b"1 2:1\n" * 50 + b"words\n") == "ldac"
    assert formats.sniff(b"1 2:1\n" * 49 + b"words\n" * 2) is None


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"text\nhello\n", "csv"),
        ("a.csv", b"id,a,b,c\nx,1,0,2\ny,0,3,1\n", "wide"),
        ("a.TSV", b"text\tlabel\nhello\tb\n", "tsv"),
        ("a.ndjson", b"", "jsonl"),
        ("docword.kos.txt", b"1\n1\n1\n1 1 1\n", "uci"),
        ("a.txt", b"one document\nanother\n", "lines"),
        ("a.txt", b"2 0:1 3:2\n1 4:7\n", "ldac"),
        ("a.log", b"one document\n", "lines"),
        ("a.csv.gz", gzip.compress(b"text\nhello\n", mtime=0), "csv"),
        ("a.unknown", b"2 0:1 3:2\n", "ldac"),
    ],
)
def test_files(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    found, source = formats.locate(tmp_path / name, None)
    assert found == expected
    assert source.path == tmp_path / name
    assert formats.locate(tmp_path / name, "lines")[0] == "lines"


def test_what_cannot_be_told_or_does_not_fit(tmp_path):
    (tmp_path / "odd.bin").write_bytes(b"words\n")
    with pytest.raises(ValueError, match="cannot detect the format"):
        formats.locate(tmp_path / "odd.bin", None)
    with pytest.raises(ValueError, match="format='magic' is unknown"):
        formats.locate(tmp_path / "odd.bin", "magic")
    assert formats.locate(tmp_path, None)[0] == formats.locate(tmp_path, "folder")[0] == "folder"
    with pytest.raises(ValueError, match="is a folder, but"):
        formats.locate(tmp_path, "csv")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.csv", "notes/readme"], ("csv", "a.csv")),
        (["data"], "cannot detect"),
        (["x/a.txt", "y/b.txt"], ("folder", None)),
        (["a.csv", "b.csv"], "contains 2 data files"),
        (["a.csv", "b.csv", "c.txt"], ("folder", None)),
        (["docword.kos.txt", "vocab.kos.txt"], ("uci", "docword.kos.txt")),
        ([], "is an empty archive"),
    ],
)
def test_archives(tmp_path, names, expected):
    """One data file with others beside it, or a folder of texts."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "text\nhello\n")
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            formats.locate(path, None)
    else:
        found, source = formats.locate(path, None)
        assert (found, source.member) == expected


def test_a_saved_model_is_not_read_as_documents(tmp_path):
    path = bursty.save(DCM().fit([[3, 0, 1], [0, 4, 0]]), tmp_path / "model.bursty")
    with pytest.raises(ValueError, match=r"is a saved model, not documents: bursty\.load reads it"):
        bursty.read_corpus(path)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("paper.pdf", "extract its text first"),
        ("letter.docx", "save it as text"),
        ("sheet.XLSX", "save it as CSV"),
        ("otus.biom", "biom convert"),
    ],
)
def test_files_that_hold_texts_but_cannot_be_read(tmp_path, name, advice):
    (tmp_path / name).write_text("whatever is in it\n")
    with pytest.raises(ValueError, match=f"which cannot be read: .*{advice}"):
        formats.locate(tmp_path / name, None)
    assert formats.locate(tmp_path / name, "lines")[0] == "lines"
