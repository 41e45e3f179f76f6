"""Files that lie, burst or break: one clear error each, and no memory for a claim."""

from __future__ import annotations

import errno
import gc
import gzip
import lzma
import os
import sys
import tarfile
import tracemalloc
import zipfile

import pytest

import bursty
from bursty.corpus import read_corpus
from bursty.storage import limits

HUGE = 10**12


def refused(path, message):
    """The file is refused with this message, and before Python and numpy have taken 40 MB of memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            read_corpus(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.mtx", f"%%MatrixMarket matrix coordinate integer general\n{HUGE} 2 1\n1 1 1\n", "claims"),
        ("a.mtx", f"%%MatrixMarket matrix coordinate integer general\n2 {HUGE} 1\n1 1 1\n", "claims"),
        ("a.mtx", f"%%MatrixMarket matrix coordinate integer general\n2 2 {HUGE}\n1 1 1\n", "header says"),
        ("a.mtx", f"%%MatrixMarket matrix array integer general\n{HUGE} {HUGE}\n1\n", "header says"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer hermitian\n2 2 1\n1 1 1\n", "general"),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n", "general"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n3 1 1\n", "document 3 is above the 2"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 0 1\n", "not a position"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1.5 1\n", "not a position"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 nan 1\n", "not a position"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1\n", "3 numbers"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 x\n", "line 3"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5\n", "not an integer"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 -1\n", "Negative"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1e18\n", "largest count"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n", "line 1 should have 3"),
        ("a.mtx", "hello\n", "MatrixMarket header"),
        ("docword.a.txt", f"{HUGE}\n3\n1\n1 1 1\n", "claims"),
        ("docword.a.txt", f"3\n{HUGE}\n1\n1 1 1\n", "claims"),
        ("docword.a.txt", f"3\n3\n{HUGE}\n1 1 1\n", "truncated"),
        ("docword.a.txt", "3\n3\n-1\n", "not a number of"),
        ("docword.a.txt", "3\n3\n1e400\n", "not a number of"),
        ("docword.a.txt", "3\n3\n1\n1 4 1\n", "word 4 is above the 3"),
        ("docword.a.txt", "0\n0\n0\n", "no documents or no words"),
        ("a.ldac", "1 2000000000:1\n", "claims 2,000,000,001 words"),
        ("a.ldac", f"1 {HUGE}:1\n", "not a position"),
        ("a.ldac", "1 -1:1\n", "not a position"),
        ("a.ldac", "3 0:1\n", "line 1 should be the number of words"),
        ("a.ldac", "1 0:1:2\n", "line 1"),
        ("a.ldac", "2 0 1 1 2\n", "word:count pairs"),
        ("a.ldac", "2 0: 1:2 3\n", "word:count pairs"),
        ("a.ldac", ":\n", "word:count pairs"),
        ("docword.a.txt", "2\n2\n2\n1 1\n1 1 2 2\n", "a line should have 3 numbers"),
        ("docword.a.txt", "2\n2\n1\n1 1 1_0\n", "could not convert string '1_0'"),
        ("docword.a.txt", "2\n2\n1\n1 1\u00a02\n", "control characters"),
        ("a.csv", "sample,one,two,three\na,1_0,2,3\nb,1,2,3\n", "text="),
        ("a.csv", "sample,one,two,three\n" + 60 * "a,1,2,3\n" + "b,1_0,2,3\n", "'1_0' is not a count"),
        ("a.csv", "sample,one,two,three\n" + 60 * "a,1,2,3\n" + "b,\u0661,2,3\n", "is not a count"),
        ("a.mat", f"{HUGE} 3 1\n1 1\n", "documents but its header says"),
        ("a.mat", f"1 {HUGE} 1\n1 1\n", "claims"),
        ("a.mat", f"1 3 {HUGE}\n1 1\n", "counts but its header says"),
        ("a.mat", f"1 {HUGE}\n1 1\n", "2 numbers for"),
        ("a.mat", "1 3 1\n4 1\n", "word 4 is above the 3"),
        ("a.mat", "1 3 1\n1 1 2\n", "pairs"),
        ("a.mat", "1 3 1\n1 1\n1 1\n", "more rows"),
        ("a.svm", "1 2000000000:1\n", "claims"),
        ("a.svm", "1 1:2:3\n", "label and word:count"),
        ("a.svm", "x 1:2\n", "not a label"),
        ("a.svm", "1:2 1:2\n", "label and word:count"),
    ],
)
def test_headers_and_entries_that_lie(tmp_path, name, content, message):
    refused(write(tmp_path, name, content), message)


def test_telling_the_format_takes_linear_time(tmp_path):
    """Nested repetitions took 187 s for 22 digits; any of these lines would never end."""
    for line in ("1" * 40 + "x", "1" * 60_000 + "x", "1." * 30_000 + "x", "1 " * 30_000 + "x", "1,1:1 " * 10_000 + "x"):
        refused(write(tmp_path, "unknown", line + "\n"), "cannot detect the format")


@pytest.fixture
def small_floor(monkeypatch):
    """Bombs of a few megabytes instead of hundreds, for the sake of time."""
    monkeypatch.setattr(limits, "FLOOR", 2**20)


@pytest.mark.usefixtures("small_floor")
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_compressed_bomb(tmp_path, pack):
    path = write(tmp_path, "bomb.csv", pack(b"text\n" + b"a b\n" * (4 * 2**20)))
    refused(path, r"bomb\.csv takes .* bytes on disk(, and counting its words needs| and expands to more than)")


@pytest.mark.usefixtures("small_floor")
def test_a_zip_bomb_of_many_members(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"class/{number}.txt", b"a " * 2**19)
    refused(path, "expands to more than|one document needs")


@pytest.mark.usefixtures("small_floor")
def test_a_tar_bomb(tmp_path):
    inner = tmp_path / "long.txt"
    inner.write_bytes(b"a " * (8 * 2**20))
    path = tmp_path / "bomb.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        archive.add(inner, "class/long.txt")
    refused(path, "expands to more than")


@pytest.mark.usefixtures("small_floor")
def test_a_matlab_bomb(tmp_path):
    import struct
    import zlib

    content = zlib.compress(bytes(16 * 2**20))
    element = struct.pack("<II", 15, len(content)) + content
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    refused(write(tmp_path, "bomb.mat", header + element), "expands to more than")


def test_a_genuine_file_may_shrink_well(tmp_path):
    path = write(tmp_path, "dull.csv.gz", gzip.compress(b"text\n" + b"word word word\n" * 200_000))
    assert read_corpus(path).counts.sum() == 600_000


@pytest.mark.parametrize("kind", ["csv.gz", "csv.xz", "csv.bz2", "tar.gz", "zip"])
def test_cut_and_garbled_archives(tmp_path, kind):
    import bz2

    rows = b"text\n" + b"".join(b"word%d other\n" % number for number in range(2_000))
    path = tmp_path / f"whole.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("rows.csv", rows)
    elif kind == "tar.gz":
        (tmp_path / "rows.csv").write_bytes(rows)
        with tarfile.open(path, "w:gz") as archive:
            archive.add(tmp_path / "rows.csv", "rows.csv")
    else:
        path.write_bytes({"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}[kind[4:]](rows))
    whole = path.read_bytes()
    assert len(read_corpus(path)) == 2_000
    for cut in (len(whole) // 2, len(whole) - 40):
        with pytest.raises(ValueError, match=r"broken"):
            read_corpus(write(tmp_path, f"broken.{kind}", whole[:cut]))
    garbled = bytearray(whole)
    garbled[len(whole) // 2 : len(whole) // 2 + 20] = b"\xaa" * 20
    with pytest.raises(ValueError, match=r"broken"):
        read_corpus(write(tmp_path, f"broken.{kind}", bytes(garbled)))


def test_an_empty_or_encrypted_archive(tmp_path):
    path = tmp_path / "void.zip"
    zipfile.ZipFile(path, "w").close()
    with pytest.raises(ValueError, match="empty archive"):
        read_corpus(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.csv", "text\nword\n")
    locked = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.find(signature) + offset] |= 1
    with pytest.raises(ValueError, match="encrypted"):
        read_corpus(write(tmp_path, "locked.zip", bytes(locked)))


def test_a_sparse_tar_member_does_not_run_on(tmp_path):
    info = tarfile.TarInfo("class/huge.txt")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    # One hole: no data, and a real size of ten gigabytes.
    header[386:398], header[398:410], header[483:495] = b"%011o\0" % 0, b"%011o\0" % 0, b"%011o\0" % (10 * 2**30 // 2)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    good = tarfile.TarInfo("class/good.txt")
    good.size = 4
    content = bytes(header) + good.tobuf(tarfile.GNU_FORMAT) + b"word".ljust(512, b"\0") + bytes(1024)
    corpus = read_corpus(write(tmp_path, "sparse.tar", content), format="folder")
    assert list(corpus.ids) == ["class/good.txt"]


def parquet(tmp_path, columns, **options):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.usefixtures("small_floor")
@pytest.mark.parametrize("compression", ["NONE", "ZSTD"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_a_parquet_bomb(tmp_path, compression, dictionary):
    """A few kilobytes of one long text, repeated, or of nothing at all, repeated: 673 bytes became 2.2 GB."""
    texts = ["word " * 20_000] * 5_000
    if compression == "ZSTD" or dictionary:
        path = parquet(tmp_path, {"text": texts}, compression=compression, use_dictionary=dictionary)
        assert path.stat().st_size < 300_000
        refused(path, "expands to more than")
    path = parquet(tmp_path, {"text": [None] * 10**6}, compression=compression, use_dictionary=dictionary)
    assert path.stat().st_size < 5_000
    refused(path, "expands to more than")


def test_a_page_of_parquet_that_lies(tmp_path):
    """The header of a page says two gigabytes; what the file's index says is never looked at."""
    path = parquet(tmp_path, {"text": ["a word"] * 50}, compression="GZIP", use_dictionary=False)
    content = bytearray(path.read_bytes())
    where = content.index(b"\x15", 4)  # the page's type, then its size
    assert content[where : where + 3] == b"\x15\x00\x15"
    packed = bytes(content[where + 3 :])
    claim = bytes([0xFE, 0xFF, 0xFF, 0xFF, 0x0F])  # 2**31 - 1
    refused(
        write(tmp_path, "lie.parquet", bytes(content[: where + 3]) + claim + packed[2:]),
        "expands to more than|not a readable",
    )


def test_damaged_parquet_is_named(tmp_path):
    whole = parquet(tmp_path, {"text": [f"word{n} other" for n in range(500)], "label": ["a"] * 500}).read_bytes()
    assert len(read_corpus(tmp_path / "rows.parquet")) == 500
    for cut in (4, 12, len(whole) // 2, len(whole) - 3):
        refused(write(tmp_path, "broken.parquet", whole[:cut]), "broken.parquet")


@pytest.mark.usefixtures("small_floor")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("one.csv.gz", b'text\n"' + b"a b\n" * 2**16 + b'"\n'),
        ("one.csv.gz", b"text\n" + b"a," * 2**17 + b"\n"),
        ("one.jsonl.gz", b'{"text": [' + b"[]," * 2**17 + b"[]]}\n"),
        ("one.ldac.gz", b"1 " * 2**18),
        ("one.svm.gz", b"1 " * 2**18),
    ],
)
def test_one_row_that_takes_all_memory(tmp_path, name, content):
    refused(write(tmp_path, name, gzip.compress(content)), "one (line|row) needs about .* raise the limit: max_memory")


@pytest.mark.usefixtures("small_floor")
def test_more_words_and_documents_than_memory(tmp_path):
    words = b"text\n" + b"".join(b"w%x\n" % number for number in range(10_000))
    path = write(tmp_path, "words.csv.xz", lzma.compress(words))
    refused(path, "counting its words needs about")
    assert read_corpus(path, max_memory="1GB").n_words == 10_000


def test_a_folder_deep_in_an_archive(tmp_path):
    """Shared folders were looked for one at a time, over all names each time."""
    path = tmp_path / "deep.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(200):
            archive.writestr("a/" * 30_000 + f"{number % 2}/{number}.txt", "some words")
    corpus = read_corpus(path, format="folder")
    assert (len(corpus), corpus.label_names.tolist()) == (200, ["0", "1"])


def test_an_archive_of_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FLOOR", 2**16)
    monkeypatch.setattr(limits, "RATIO", 1)
    for name in ("many.zip", "many.tar.gz"):
        path = tmp_path / name
        if name.endswith("zip"):
            with zipfile.ZipFile(path, "w") as archive:
                for number in range(1_000):
                    archive.writestr(f"c/{number}", "")
        else:
            with tarfile.open(path, "w:gz") as archive:
                for number in range(1_000):
                    archive.addfile(tarfile.TarInfo(f"c/{number}"))
        refused(path, "expands to more than")


def test_links_that_lead_out_of_a_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret words")
    folder = tmp_path / "mails"
    (folder / "spam").mkdir(parents=True)
    (folder / "ham").mkdir()
    (folder / "spam" / "one.txt").write_text("cheap words")
    (folder / "ham" / "two.txt").write_text("kind words")
    (folder / "ham" / "again.txt").symlink_to(folder / "ham" / "two.txt")
    (folder / "ham" / "out.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.warns(UserWarning, match=r"1 link was skipped for leading out of the folder, such as ham/out\.txt"):
        corpus = read_corpus(folder)
    assert corpus.ids.tolist() == ["ham/again.txt", "ham/two.txt", "spam/one.txt"]
    assert "secret" not in corpus.vocabulary


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.ldac", "a.bcorpus", "a"])
def test_pipes_and_devices_are_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for path in (tmp_path / name, tmp_path / "zeros"):
        for read in (read_corpus, bursty.load):
            with pytest.raises(ValueError, match=f"{path} is a pipe or a device, not a file: write its content"):
                read(path)


def test_an_empty_path_is_not_the_current_directory(tmp_path, monkeypatch):
    write(tmp_path, "one.txt", "some words")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="the path is empty"):
        read_corpus("")
    assert len(read_corpus(".")) == 1


def test_a_limit_that_is_no_size_leaves_no_file_open(tmp_path, monkeypatch):
    path = write(tmp_path, "a.csv", "text\nsome words\n")
    monkeypatch.setenv("BURSTY_MAX_MEMORY", "much")
    with pytest.raises(ValueError, match="not a number of bytes"):
        read_corpus(path)
    gc.collect()  # a file that is still open is a warning, which is an error here


def test_folders_nested_too_deeply(tmp_path, monkeypatch):
    (tmp_path / "one.txt").write_text("some words")
    monkeypatch.chdir(tmp_path)
    depth = sys.getrecursionlimit()
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    try:
        with pytest.raises(ValueError, match="nested too deeply"):
            read_corpus(tmp_path)
    finally:  # pytest could not remove them
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")


def test_a_folder_that_cannot_be_read_is_not_passed_over(tmp_path, monkeypatch):
    for name in ("spam", "ham", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.txt").write_text("some words")
    scandir, closed = os.scandir, "ham"

    def closing(path):
        if os.path.basename(path) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closing)  # the superuser may read any folder
    with pytest.raises(PermissionError, match="ham"):
        read_corpus(tmp_path)
    closed = ".hidden"
    assert len(read_corpus(tmp_path)) == 2


def test_a_table_of_many_columns_does_not_fill_the_message(tmp_path):
    header = ",".join(["text", *(f"c{number}" for number in range(5_000))])
    refused(write(tmp_path, "a.csv", f"{header}\na b\n"), r"1 field for 5,001 columns \('text', .* and 4,981 more\)")
    refused(write(tmp_path, "a.csv", f"{header},text\na b\n"), r"two columns of the same name: .* and 4,982 more$")


def test_a_file_of_an_archive_with_a_size_below_zero(tmp_path):
    header = bytearray(tarfile.TarInfo("d/a.txt").tobuf())
    header[124:136] = b"\xff" * 12  # -1
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 8 * 32)
    refused(write(tmp_path, "a.tar", bytes(header) + bytes(1024)), "has a size of -1 bytes")


def test_a_list_of_words_that_is_a_link(tmp_path):
    (tmp_path / "words").write_text("secret\nwords\n")
    folder = tmp_path / "table"
    folder.mkdir()
    (folder / "a.ldac").write_text("2 0:1 1:2\n")
    (folder / "a.vocab").symlink_to(tmp_path / "words")
    assert not read_corpus(folder / "a.ldac").has_words


def test_symmetric_tables_are_square(tmp_path):
    head = "%%MatrixMarket matrix coordinate integer symmetric\n"
    refused(write(tmp_path, "a.mtx", head + "2 3 1\n2 1 1\n"), "symmetric but has 2 rows and 3 columns")
    assert read_corpus(write(tmp_path, "b.mtx", head + "2 2 1\n2 1 1\n")).counts.sum() == 2


@pytest.mark.parametrize("text", ["", "much", "-1", "0", "1e400", "8 GB of it", "nan"])
def test_sizes_that_are_none(text, tmp_path):
    with pytest.raises(ValueError, match="is not a number of bytes"):
        read_corpus(write(tmp_path, "a.csv", "text\nword\n"), max_memory=text)


def test_memory_that_is_not_free(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "free_memory", lambda: 1_000)
    path = write(tmp_path, "a.csv", "text\n" + "some words\n" * 100)
    refused(path, "bytes of memory, but 1,000 are free")
    monkeypatch.setenv(limits.VARIABLE, "1 MiB")
    assert len(read_corpus(path)) == 100
    assert limits.free_memory() == 1_000
