"""Folders as people have them: binary files, files beside folders, mixed encodings, patterns."""

from __future__ import annotations

import pytest

from bursty.corpus import read_corpus

CLASSES = {"ham/1.txt": "dinner", "ham/2.txt": "eight", "spam/1.txt": "win", "spam/2.txt": "money"}


def folder(path, files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_binary_files_of_a_folder_are_skipped_and_counted(tmp_path):
    (tmp_path / "a.txt").write_text("rain falls")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)))
    with pytest.warns(UserWarning, match=r"1 of 2 files of .* is not text and was skipped, such as photo.jpg"):
        corpus = read_corpus(tmp_path)
    assert corpus.ids.tolist() == ["a.txt"]
    (tmp_path / "a.txt").unlink()
    with pytest.raises(ValueError, match=r"no text files \(1 binary file was skipped\)"):
        read_corpus(tmp_path)


def test_a_binary_file_need_not_have_zeros(tmp_path):
    (tmp_path / "a.txt").write_text("rain\x1b[0m falls\f and\tfalls")
    (tmp_path / "module.pyc").write_bytes(bytes(range(1, 256)) * 3)
    with pytest.warns(UserWarning, match=r"1 of 2 files of .*, such as module.pyc"):
        assert read_corpus(tmp_path).ids.tolist() == ["a.txt"]


def test_a_pile_of_files_with_a_folder_beside_them_is_read_as_a_whole(tmp_path):
    files = {f"{i}.txt": "rain falls" for i in range(5)} | {"more/6.txt": "wind"}
    path = folder(tmp_path, files)
    with pytest.warns(UserWarning, match=r"folders, which are therefore not read as classes; 1 file was read from"):
        corpus = read_corpus(path)
    assert (len(corpus), corpus.labels) == (6, None)
    assert corpus.ids[-1] == "more/6.txt"
    (path / "__pycache__").mkdir()
    (path / "more" / "6.txt").unlink()
    for i in range(9):
        (path / "__pycache__" / f"{i}.pyc").write_bytes(b"\0\1\2")
    with pytest.warns(UserWarning, match=r"9 of 14 files of .* are not text"):
        assert len(read_corpus(path)) == 5


def test_files_beside_class_folders_are_counted_if_they_are_many(tmp_path):
    path = folder(tmp_path, CLASSES | {f"{i}.txt": "x" for i in range(3)})
    with pytest.warns(UserWarning, match=r"3 files beside the class folders were skipped, such as 0.txt"):
        assert len(read_corpus(path)) == 4


def test_as_many_files_beside_class_folders_as_in_them(tmp_path):
    path = folder(tmp_path, CLASSES | {f"{i}.txt": "x" for i in range(4)})
    with pytest.warns(UserWarning, match=r"4 files beside the class folders were skipped"):
        assert read_corpus(path).label_names.tolist() == ["ham", "spam"]


def test_one_file_in_another_encoding_can_be_skipped(tmp_path):
    path = folder(tmp_path, {"a.txt": "rain", "b.txt": "caf\xe9".encode("latin-1")})
    with pytest.raises(ValueError, match=r"b\.txt: byte 3 .*latin-1.*, or skip it: exclude='b\.txt'"):
        read_corpus(path)
    assert len(read_corpus(path, exclude="b.txt")) == 1
    with pytest.raises(ValueError, match=r"no file of .* is left by include= and exclude=, of 2"):
        read_corpus(path, include="*.md")


def test_patterns_choose_the_files(tmp_path):
    for name in ("src/a.py", "src/b.js", "docs/c.md", "docs/d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("rain")
    assert read_corpus(tmp_path, include=["*.py", "*.md"], exclude=["docs/d*"]).ids.tolist() == [
        "docs/c.md",
        "src/a.py",
    ]
    with pytest.raises(ValueError, match="is left by include= and exclude="):
        read_corpus(tmp_path, include=["*.rs"])
