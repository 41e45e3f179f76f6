"""Parts of the parsers of counts: blocks of lines, sizes in headers, triangles, places in messages."""

from __future__ import annotations

import numpy as np
import pytest

from bursty.corpus import matrices, read_corpus


@pytest.mark.parametrize("size", [1, 4, 5, 11, 1000])
def test_blocks_of_lines_are_the_lines(size):
    lines = [(2, b"ab\n"), (3, b"c\n"), (5, b"defg\n"), (9, b"h")]
    blocks = list(matrices._line_blocks(iter(lines), size))
    assert [line for _, block in blocks for line in block] == [line for _, line in lines]
    first = 0
    for start, block in blocks:
        assert start == lines[first][0]
        assert sum(map(len, block[:-1])) < size
        first += len(block)
    assert len(blocks) == {1: 4, 4: 3, 5: 3, 11: 1, 1000: 1}[size]


@pytest.mark.parametrize(("value", "sound"), [(0.0, True), (7.0, True), (2.0**53, True), (2.0**53 + 2, False)])
def test_sizes_of_a_header(value, sound):
    if sound:
        assert matrices._whole(value, "name") == int(value)
    else:
        with pytest.raises(ValueError, match="not a number of documents"):
            matrices._whole(value, "name")
    for wrong in (-1.0, 0.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not a number of documents"):
            matrices._whole(wrong, "name")


def test_the_line_of_a_mistake_is_named_in_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr(matrices._line_blocks, "__defaults__", (12,))
    path = tmp_path / "docword.a.txt"
    good = ["9", "9", "7", *(f"{i} {i} 1" for i in range(1, 8))]
    path.write_text("\n".join(good) + "\n")
    np.testing.assert_array_equal(read_corpus(path).counts.toarray()[:7, :7], np.eye(7))
    for number, start in ((5, 4), (7, 6), (9, 8), (10, 10)):  # two lines make a block
        wrong = [*good]
        wrong[number - 1] = "1 x 1"
        path.write_text("\n".join(wrong) + "\n")
        with pytest.raises(ValueError, match=rf"docword\.a\.txt, from line {start}: "):
            read_corpus(path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("%%MatrixMarket matrix coordinate integer", "does not start with a MatrixMarket header"),
        ("%%MatrixMarket vector coordinate integer general", "does not start with a MatrixMarket header"),
        ("%%MatrixMarket matrix coordinate complex general", "counts need"),
        ("%%MatrixMarket matrix coordinate integer hermitian", "counts need"),
        ("%%MatrixMarket matrix triangle integer general", "counts need"),
    ],
)
def test_headers_of_matrix_market(tmp_path, header, message):
    (tmp_path / "a.mtx").write_text(f"{header}\n2 2 1\n1 1 1\n")
    with pytest.raises(ValueError, match=message):
        read_corpus(tmp_path / "a.mtx")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coordinate integer general\n% note\n2 3 2\n1 3 4\n2 1 1\n", [[0, 0, 4], [1, 0, 0]]),
        ("coordinate pattern general\n2 2 2\n1 2\n2 1\n", [[0, 1], [1, 0]]),
        ("coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 3\n", [[5, 3], [3, 0]]),
        ("array integer general\n2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
        ("array integer symmetric\n2 2\n1\n2\n3\n", [[1, 2], [2, 3]]),
        ("COORDINATE Integer General\n1 1 1\n1 1 9\n", [[9]]),
    ],
)
def test_tables_of_matrix_market(tmp_path, text, expected):
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix {text}")
    np.testing.assert_array_equal(read_corpus(tmp_path / "a.mtx").counts.toarray(), expected)


def test_a_line_of_the_largest_length_is_refused_and_never_cut(tmp_path):
    """The limit is exact: a line that is one character shorter is read."""
    path = tmp_path / "a.ldac"
    longest = 4_800
    for length in (longest - 1, longest):
        path.write_text("1 0:" + "1".zfill(length - 4))
        if length < longest:
            assert read_corpus(path, max_memory=24 * longest).counts.toarray().tolist() == [[1]]
        else:
            with pytest.raises(ValueError, match="one line"):
                read_corpus(path, max_memory=24 * longest)
