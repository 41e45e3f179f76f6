"""Folders, CSV, TSV, JSON lines and Parquet; compressed, in archives, and in any encoding."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest

from bursty.corpus import read_corpus
from bursty.corpus.times import as_times

FILES = {"ham/2.txt": "dinner at eight", "ham/1.txt": "eight eight", "spam/x/1.txt": "win win money", "spam/0": ""}


def as_dict(corpus):
    """Counts by document id and word."""
    table = corpus.counts.toarray()
    return {
        name: {word: int(n) for word, n in zip(corpus.vocabulary, row, strict=True) if n}
        for name, row in zip(corpus.ids, table, strict=True)
    }


def folder(tmp_path, files=FILES, name="mail"):
    for path, text in files.items():
        target = tmp_path / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / name


def tarred(path, files=FILES, root="mail/", mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, text in files.items():
            content = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(root + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path, files=FILES, root="mail/"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(root + name, text)
    return path


def test_a_folder_for_each_class(tmp_path):
    corpus = read_corpus(folder(tmp_path))
    assert list(corpus.ids) == ["ham/1.txt", "ham/2.txt", "spam/0", "spam/x/1.txt"]
    assert [corpus.label_names[label] for label in corpus.labels] == ["ham", "ham", "spam", "spam"]
    assert as_dict(corpus)["spam/x/1.txt"] == {"win": 2, "money": 1}
    assert as_dict(corpus)["spam/0"] == {}


@pytest.mark.parametrize("root", ["mail/", "", "deep/er/", "./"])
@pytest.mark.parametrize("suffix", ["zip", "tar", "tar.gz", "tar.xz", "tar.bz2"])
def test_an_archive_reads_as_its_folder(tmp_path, suffix, root):
    path = tmp_path / f"mail.{suffix}"
    if suffix == "zip":
        zipped(path, root=root)
    else:
        tarred(path, root=root, mode="w:" + suffix[4:])
    plain, packed = read_corpus(folder(tmp_path)), read_corpus(path)
    assert as_dict(packed) == as_dict(plain)
    assert packed.labels.tolist() == plain.labels.tolist()
    assert list(packed.vocabulary) == list(plain.vocabulary)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["mail", f"mail.{suffix}"]


def test_files_beside_class_folders_and_hidden_files_are_not_documents(tmp_path):
    extra = {"README": "read me", ".git/config": "x", "ham/.hidden": "x", "__MACOSX/ham/1.txt": "x"}
    path = folder(tmp_path, FILES | extra)
    assert len(read_corpus(path)) == 4
    assert len(read_corpus(tarred(tmp_path / "mail.tar.gz", FILES | extra))) == 4


def test_a_folder_without_classes(tmp_path):
    corpus = read_corpus(folder(tmp_path, {"a.txt": "one two", "b.txt.gz": gzip.compress(b"two")}))
    assert corpus.labels is None
    assert as_dict(corpus) == {"a.txt": {"one": 1, "two": 1}, "b.txt.gz": {"two": 1}}
    with pytest.raises(ValueError, match="no text files"):
        read_corpus(folder(tmp_path, {".x": "y"}, "void"))


def test_archive_names_are_only_names(tmp_path):
    tricks = {"../../up.txt": "up up", "/etc/passwd": "root", "ham/ok.txt": "fine"}
    corpus = read_corpus(tarred(tmp_path / "tricks.tar", tricks, root="", mode="w"), format="folder")
    assert sorted(word for words in as_dict(corpus).values() for word in words) == ["fine", "root"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["tricks.tar"]


def test_links_in_a_tar_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path = tarred(tmp_path / "links.tar", {"a/1": "word"}, root="", mode="w")
    with tarfile.open(path, "a") as archive:
        for kind, name in ((tarfile.SYMTYPE, "a/2"), (tarfile.LNKTYPE, "a/3")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, str(secret)
            archive.addfile(link)
    assert list(read_corpus(path, format="folder").vocabulary) == ["word"]


CSV = 'id,text,label\nd1,"cat, the ""big"" cat",pet\nd2,"two\nlines",\n\nd3,,pet\n'


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
)
def test_csv_with_usual_names(tmp_path, suffix, pack):
    path = tmp_path / f"table.csv{suffix}"
    path.write_bytes(pack(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode()))
    corpus = read_corpus(path)
    assert as_dict(corpus) == {"d1": {"cat": 2, "the": 1, "big": 1}, "d2": {"two": 1, "lines": 1}, "d3": {}}
    assert corpus.labels.tolist() == [0, -1, 0]
    assert list(corpus.label_names) == ["pet"]


def test_compression_is_seen_in_the_content_not_the_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(gzip.compress(CSV.encode()))
    assert len(read_corpus(path)) == 3


def test_one_table_in_an_archive(tmp_path):
    path = zipped(tmp_path / "table.zip", {"table.csv": CSV, "README.txt": "hello"})
    assert len(read_corpus(path)) == 3
    with pytest.raises(ValueError, match="2 data files"):
        read_corpus(zipped(tmp_path / "two.zip", {"a.csv": CSV, "b.csv": CSV}))


def test_columns_by_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("key;title;body;topic;year\n7;Big cat;sleeps;a|b;1990\n8;Dog;barks;b;1991\n")
    corpus = read_corpus(
        path, delimiter=";", text=["title", "body"], id="key", label="topic", label_separator="|", metadata=["year"]
    )
    assert as_dict(corpus) == {"7": {"big": 1, "cat": 1, "sleeps": 1}, "8": {"dog": 1, "barks": 1}}
    assert corpus.is_multilabel
    assert corpus.label_matrix.toarray().tolist() == [[1, 1], [0, 1]]
    assert list(corpus.metadata["year"]) == ["1990", "1991"]
    with pytest.raises(ValueError, match=r"no column 'tpic'; the columns are 'key', 'title', 'body', 'topic', 'year'"):
        read_corpus(path, delimiter=";", text="title", label="tpic")
    with pytest.raises(ValueError, match=r"give the column of the text, text=\.\.\.; the columns are 'key'"):
        read_corpus(tsv(tmp_path, "key\tvalue\n1\t2\n"))


def tsv(tmp_path, content):
    path = tmp_path / "table.tsv"
    path.write_text(content)
    return path


def test_tsv_takes_quotes_as_they_are_and_may_lack_a_header(tmp_path):
    path = tsv(tmp_path, 'd1\t5" disk\nd2\t"quoted\n')
    corpus = read_corpus(path, columns=["id", "text"])
    assert as_dict(corpus) == {"d1": {"disk": 1}, "d2": {"quoted": 1}}
    assert read_corpus(path, columns=["id", "text"], id=False, max_documents=1).ids.tolist() == ["0"]


def test_tsv_with_quotes_as_data_frames_write_it(tmp_path):
    texts = ["rain\nand\tmore rain", 'a 5" disk', *(f"line {i}\nand more" for i in range(200))]
    path = tmp_path / "frame.tsv"
    pd.DataFrame({"id": range(len(texts)), "text": texts}).to_csv(path, sep="\t", index=False)
    corpus = read_corpus(path)
    assert len(corpus) == len(texts)
    assert as_dict(corpus)["0"] == {"rain": 2, "and": 1, "more": 1}
    assert read_corpus(tsv(tmp_path, '"id"\t"text"\n"1"\t"rain"\n')).ids.tolist() == ["1"]


def test_a_row_of_the_wrong_length(tmp_path):
    with pytest.raises(ValueError, match=r"table\.tsv, line 3: 3 fields for 2 columns \('id', 'text'\)"):
        read_corpus(tsv(tmp_path, "id\ttext\n1\ta b\n2\tc\td\n"))


def test_long_fields_and_unclosed_quotes(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("text\n" + "word " * 100_000 + "\n")
    assert read_corpus(path).counts.sum() == 100_000
    path.write_text('text\n"never closed\n')
    with pytest.raises(ValueError, match=r"long\.csv, line 2"):
        read_corpus(path)


def jsonl(tmp_path, *records, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records))
    return path


def test_json_lines(tmp_path):
    path = jsonl(
        tmp_path,
        {"text": "one two", "class": 10, "id": 1},
        "",
        {"text": None, "class": 9, "id": 2},
        {"text": ["two", "two"], "id": 3},
    )
    corpus = read_corpus(path)
    assert as_dict(corpus) == {"1": {"one": 1, "two": 1}, "2": {}, "3": {"two": 2}}
    assert list(corpus.label_names) == ["9", "10"]
    assert corpus.labels.tolist() == [1, 0, -1]


def test_the_first_object_may_lack_columns(tmp_path):
    """Its columns were once those of the whole file, which then had no years and no classes."""
    rows = {"text": "one two"}, {"text": "two", "year": 1999, "label": "x"}, {"label": "y", "text": "one", "year": 2001}
    corpus = read_corpus(jsonl(tmp_path, *rows))
    assert corpus.metadata["year"].tolist() == ["", "1999", "2001"]
    assert corpus.labels.tolist() == [-1, 0, 1]
    assert as_dict(read_corpus(jsonl(tmp_path, {"body": "one"}, {"body": "two", "text": "three"}))) == {
        "0": {"one": 1},
        "1": {"two": 1},
    }
    with pytest.raises(ValueError, match="line 1 has no 'text'"):
        read_corpus(jsonl(tmp_path, {"year": 1999}, *rows))


def test_json_lines_by_content_and_with_lists_of_classes(tmp_path):
    path = jsonl(tmp_path, {"text": "aa", "label": ["x", "y"]}, {"text": "bb", "label": []}, name="rows")
    corpus = read_corpus(path)
    assert corpus.label_matrix.toarray().tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{broken", "line 2 is not JSON"),
        ("[1, 2]", "line 2 is not a JSON object but list"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"other": 1}', "line 2 has no 'text'; it has 'other'"),
        ('{"text": 5}', "contains int, not text"),
        ('{"text": "a", "n": 1, "text": "b"}', "line 2: the key 'text' occurs twice"),
        ('{"text": "a", "more": {"x": 1, "x": 2}}', "line 2: the key 'x' occurs twice"),
    ],
)
def test_bad_json_lines(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(jsonl(tmp_path, {"text": "fine"}, row))


def test_a_key_twice_in_an_array(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('[{"text": "a"}, {"text": "b", "text": "c"}]')
    with pytest.raises(ValueError, match=r"rows.json: the key 'text' occurs twice"):
        read_corpus(path)


@pytest.mark.parametrize("where", ["plain", "zip", "gz"])
def test_parquet(tmp_path, where):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    table = pyarrow.table({"text": ["one two", None, "two"], "label": ["a", "b", None], "n": [1, 2, 3]})
    path = tmp_path / "rows.parquet"
    parquet.write_table(table, path)
    if where == "zip":
        path = zipped(tmp_path / "rows.zip", {"rows.parquet": path.read_bytes()})
    elif where == "gz":
        (tmp_path / "rows.parquet.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "rows.parquet.gz"
    corpus = read_corpus(path, metadata=["n"])
    assert as_dict(corpus) == {"0": {"one": 1, "two": 1}, "1": {}, "2": {"two": 1}}
    assert corpus.labels.tolist() == [0, 1, -1]
    assert corpus.metadata["n"].tolist() == [1, 2, 3]


def test_damaged_parquet(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1" + b"\0" * 50)
    with pytest.raises(ValueError, match=r"rows\.parquet is not a readable Parquet file"):
        read_corpus(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ImportError, match=r"bursty\[parquet\]"):
        read_corpus(path)


def test_undecodable_bytes_are_named_with_their_place(tmp_path):
    head = "é".encode() * 300_000
    path = folder(tmp_path, {"a/1.txt": head + b"caf\xe9 noir", "a/2.txt": "fine"})
    with pytest.raises(ValueError, match=rf"1\.txt: byte {len(head) + 3} \(0xe9\) is not utf-8.*encoding=\"latin-1\""):
        read_corpus(path)
    assert "café" in read_corpus(path, encoding="latin-1").vocabulary


def test_a_cut_character_at_the_end(tmp_path):
    with pytest.raises(ValueError, match=r"1\.txt: byte 4 \(0xc3\)"):
        read_corpus(folder(tmp_path, {"a/1.txt": b"caf \xc3"}))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path, encoding):
    corpus = read_corpus(folder(tmp_path, {"a/1.txt": "café noir".encode(encoding)}))
    assert list(corpus.vocabulary) == ["café", "noir"]


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "base64"])
def test_unknown_encodings(tmp_path, encoding):
    with pytest.raises(ValueError, match=r"examples: utf-8, latin-1"):
        read_corpus(folder(tmp_path), encoding=encoding)


def test_text_options_reach_the_words(tmp_path):
    path = folder(tmp_path)
    assert list(read_corpus(path, min_df=2).vocabulary) == ["eight"]
    assert list(read_corpus(path, drop_most_common=1, stop_words="english").vocabulary) == ["dinner", "money"]
    words = tmp_path / "words.txt"
    words.write_text("money\nwin\n")
    corpus = read_corpus(path, vocabulary=words)
    assert list(corpus.vocabulary) == ["money", "win"]
    assert np.diff(corpus.counts.indptr).tolist() == [0, 0, 0, 2]
    assert list(read_corpus(path, clean=lambda text: text.replace("eight", "nine")).vocabulary)[2] == "money"


def test_paths_and_options_that_cannot_be(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file or directory"):
        read_corpus(tmp_path / "absent.csv")
    path = folder(tmp_path)
    with pytest.raises(ValueError, match=r"label= does not apply to format 'folder'"):
        read_corpus(path, label="class")
    with pytest.raises(TypeError, match=r"no option 'lable'"):
        read_corpus(path, lable="class")
    with pytest.raises(ValueError, match=r"format='xls' is unknown; the formats are folder, lines, csv"):
        read_corpus(path, format="xls")
    with pytest.raises(ValueError, match="is a folder"):
        read_corpus(path, format="csv")
    odd = tmp_path / "odd.bin"
    odd.write_bytes(os.urandom(3) + b"\0what is this")
    with pytest.raises(ValueError, match=r'cannot detect the format of .*odd\.bin: set format="lines" if .* csv,'):
        read_corpus(odd)


def test_a_column_that_names_a_time_is_kept_unasked(tmp_path):
    path = tmp_path / "papers.csv"
    path.write_text("text,Year,note\nrain falls,1999,a\nwind,,b\n")
    corpus = read_corpus(path)
    assert corpus.metadata["Year"].tolist() == ["1999", ""]
    assert "note" not in corpus.metadata


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("date", "17.05.2021", "2021-05-17"),
        ("created", "5/17/2021", "2021-05-17"),
        ("published", "May 17, 2021", "2021-05-17"),
        ("timestamp", "1621240200", "2021-05-17T08:30:00"),
        ("publicationYear", "2021", "2021"),
    ],
)
def test_times_are_kept_and_recognised_however_they_are_written(tmp_path, column, value, expected):
    path = tmp_path / "papers.csv"
    path.write_text(f'text,views,{column}\nrain falls,7,"{value}"\nwind,8,\n')
    corpus = read_corpus(path)
    assert list(corpus.metadata) == [column]
    assert [str(time) for time in as_times(corpus.metadata[column], epochs=True)] == [expected, "NaT"]


def test_a_column_whose_name_only_contains_that_of_a_time_is_kept_if_it_has_times(tmp_path):
    path = tmp_path / "papers.csv"
    path.write_text("text,date_format\nrain falls,iso\nwind,iso\n")
    assert read_corpus(path).metadata == {}


def test_a_time_that_cannot_be_read_is_said(tmp_path):
    path = tmp_path / "papers.csv"
    path.write_text("text,date\nrain falls,once upon\nwind,a time\n")
    with pytest.warns(UserWarning, match="column 'date' looks like a time, but 'once upon' cannot be parsed"):
        read_corpus(path)
