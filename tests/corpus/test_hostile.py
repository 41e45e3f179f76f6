"""Files that lie, burst or break: one clear error each, and no memory for a claim."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import tracemalloc
import zipfile

import pytest

from bursty.corpus import read_corpus, sources

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
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5\n", "not a whole number"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 -1\n", "Negative"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1e18\n", "largest count"),
        ("a.mtx", "%%MatrixMarket matrix coordinate integer general\n", "line 1 should have 3"),
        ("a.mtx", "hello\n", "MatrixMarket header"),
        ("docword.a.txt", f"{HUGE}\n3\n1\n1 1 1\n", "claims"),
        ("docword.a.txt", f"3\n{HUGE}\n1\n1 1 1\n", "claims"),
        ("docword.a.txt", f"3\n3\n{HUGE}\n1 1 1\n", "cut short"),
        ("docword.a.txt", "3\n3\n-1\n", "not a number of"),
        ("docword.a.txt", "3\n3\n1e400\n", "not a number of"),
        ("docword.a.txt", "3\n3\n1\n1 4 1\n", "word 4 is above the 3"),
        ("docword.a.txt", "0\n0\n0\n", "no documents or no words"),
        ("a.ldac", "1 2000000000:1\n", "claims 2,000,000,001 words"),
        ("a.ldac", f"1 {HUGE}:1\n", "not a position"),
        ("a.ldac", "1 -1:1\n", "not a position"),
        ("a.ldac", "3 0:1\n", "line 1 should be a number of words"),
        ("a.ldac", "1 0:1:2\n", "line 1"),
        ("a.mat", f"{HUGE} 3 1\n1 1\n", "documents where its header says"),
        ("a.mat", f"1 {HUGE} 1\n1 1\n", "claims"),
        ("a.mat", f"1 3 {HUGE}\n1 1\n", "counts where its header says"),
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
        refused(write(tmp_path, "unknown", line + "\n"), "cannot tell the format")


@pytest.fixture
def small_floor(monkeypatch):
    """Bombs of a few megabytes instead of hundreds, for the sake of time."""
    monkeypatch.setattr(sources, "EXPANSION_FLOOR", 2**20)


@pytest.mark.usefixtures("small_floor")
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_compressed_bomb(tmp_path, pack):
    path = write(tmp_path, "bomb.csv", pack(b"text\n" + b"a " * (8 * 2**20)))
    refused(path, r"bomb\.csv takes .* bytes on disk and grows past")


@pytest.mark.usefixtures("small_floor")
def test_a_zip_bomb_of_many_members(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"class/{number}.txt", b"a " * 2**19)
    refused(path, "grows past")


@pytest.mark.usefixtures("small_floor")
def test_a_tar_bomb(tmp_path):
    inner = tmp_path / "long.txt"
    inner.write_bytes(b"a " * (8 * 2**20))
    path = tmp_path / "bomb.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        archive.add(inner, "class/long.txt")
    refused(path, "grows past")


@pytest.mark.usefixtures("small_floor")
def test_a_matlab_bomb(tmp_path):
    import struct
    import zlib

    content = zlib.compress(bytes(16 * 2**20))
    element = struct.pack("<II", 15, len(content)) + content
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    refused(write(tmp_path, "bomb.mat", header + element), "grows past")


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
    with pytest.raises(ValueError, match="archive without files"):
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
