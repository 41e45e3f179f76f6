"""Sparse tables that lie about their positions are refused before scipy or a kernel walks them.

Most of these arrays ended the process, hung or were silently taken for something else before they were checked.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import bursty
from bursty import families
from bursty.corpus import Corpus, ShardedCorpus, write_shards
from bursty.sparse import as_csr, check_csr
from bursty.validation import check_counts, stack_documents

FAR = 10**9
REFUSED = "malformed|holds|contains|tokens|Complex|not a number|inconsistent"


def csr(indices=(0, 1, 1), indptr=(0, 2, 3), data=(1, 1, 1), shape=(2, 2), index=np.int32, kind=sp.csr_array):
    """A table with these arrays, whatever its constructor would say about them."""
    table = kind((2, 2), dtype=int)
    table.data = np.asarray(data)
    table.indices = np.asarray(indices, dtype=index)
    table.indptr = np.asarray(indptr, dtype=index)
    table._shape = shape
    return table


def coo(rows=(0, 0, 1), columns=(0, 1, 1), values=(1, 1, 1), index=np.int32, kind=sp.coo_array):
    table = kind((2, 2), dtype=int)
    table.coords = np.asarray(rows, dtype=index), np.asarray(columns, dtype=index)
    table.data = np.asarray(values)
    return table


def bsr(indices=(0, 1), indptr=(0, 1, 2), data=None, shape=(2, 2)):
    table = sp.bsr_array(np.eye(2, dtype=int), blocksize=(1, 1))
    table.indices, table.indptr = np.asarray(indices, np.int32), np.asarray(indptr, np.int32)
    table.data = np.ones((2, 1, 1), dtype=int) if data is None else data
    table._shape = shape
    return table


def dia(offsets=(0,), data=((1, 1),)):
    table = sp.dia_array((2, 2), dtype=int)
    table.offsets, table.data = np.asarray(offsets, np.int32), np.asarray(data)
    return table


def dok(place=(0, 0), value=1):
    table = sp.dok_array((2, 2), dtype=int)
    table[1, 1] = 1
    table._dict[place] = value
    return table


def lil(row=(0,), values=(1,)):
    table = sp.lil_array((2, 2), dtype=int)
    table[1, 1] = 1
    table.rows[0], table.data[0] = list(row), list(values)
    return table


HOSTILE = {
    "column far outside": csr([0, 1, FAR]),
    "column just outside": csr([0, 1, 2]),
    "negative column": csr([0, 1, -1]),
    "column that wraps to 0 in 32 bits": csr([1, 0, 2**32], index=np.int64),
    "column that wraps to 1 in 32 bits": csr([0, 1, 2**32 + 1], index=np.int64),
    "unsigned column that is -1": csr([0, 1, 2**64 - 1], index=np.uint64),
    "column that is 1 in the other byte order": csr([0, 1, 2**24], index=np.dtype(np.int32).newbyteorder()),
    "fractional columns": csr([0, 1, 1.5], index=np.float64),
    "columns of another length": csr([0, 1]),
    "values of another length": csr(data=[1, 1, 1, 1]),
    "values in two dimensions": csr(data=[[1, 1, 1]]),
    "rows that overlap": csr(indptr=[0, 5, 3]),
    "rows that end beyond the entries": csr(indptr=[0, 2, FAR]),
    "rows that end before the entries": csr(indptr=[0, 1, 2]),
    "rows that start late": csr(indptr=[1, 2, 3]),
    "rows that start before the entries": csr(indptr=[-FAR, 2, 3]),
    "fewer rows than the shape": csr(shape=(1000, 2)),
    "more rows than the shape": csr(shape=(1, 2)),
    "more columns than there are numbers": csr([0, 1, 2**40], shape=(2, 2**41), index=np.int64),
    "fractional counts": csr(data=[1, 1, 1.9]),
    "counts that wrap in 32 bits": csr(data=np.array([1, 1, 2**32 + 1])),
    "unsigned counts that are negative": csr(data=np.array([1, 1, 2**64 - 1], dtype=np.uint64)),
    "complex counts": csr(data=[1, 1, 1j]),
    "text": csr(data=np.array([1, 1, "1"], dtype=object)),
    "a document that wraps": csr(data=np.array([2**31 - 1, 2**31 - 1, 1])),
    "csc, row far outside": csr([0, 1, FAR], kind=sp.csc_array),
    "csc, columns that overlap": csr(indptr=[0, 5, 3], kind=sp.csc_array),
    "old matrix class": csr([0, 1, FAR], kind=sp.csr_matrix),
    "coo, row far outside": coo(rows=[0, 0, FAR]),
    "coo, negative column": coo(columns=[0, 1, -2]),
    "coo, wraps in 32 bits": coo(columns=[0, 1, 2**32], index=np.int64),
    "coo, lengths": coo(rows=[0, 0]),
    "coo, duplicates that wrap": coo([0, 0, 0, 0], [0, 0, 0, 0], [2**62] * 4),
    "coo, old matrix class": coo(rows=[0, 0, FAR], kind=sp.coo_matrix),
    "bsr, block far outside": bsr([0, FAR]),
    "bsr, blocks that do not tile": bsr(shape=(3, 3), data=np.ones((2, 2, 2), dtype=int)),
    "bsr, block rows that overlap": bsr(indptr=[0, 7, 2]),
    "dia, diagonal outside": dia([FAR]),
    "dia, fewer diagonals": dia([0, 1]),
    "dia, one diagonal twice": dia([0, 0], [[1, 1], [1, 1]]),
    "dok, row outside": dok((FAR, 0)),
    "dok, wraps in 64 bits": dok((2**64, 0)),
    "dok, a fraction among integers": dok(value=1.9),
    "lil, column outside": lil([FAR]),
    "lil, fewer values": lil([0, 1], [1]),
    "lil, a fraction among integers": lil([0], [1.9]),
}


class Liar(np.ndarray):
    """An array whose own methods say less than it contains."""

    def max(self, *args, **kwargs):
        return 0

    def view(self, *args, **kwargs):
        return self


def parts_as(change, indices=(0, 1, FAR)):
    """A table whose arrays are of a subclass."""
    table = csr(indices)
    table.data, table.indices = change(table.data), change(table.indices)
    return table


def without(name):
    table = csr()
    delattr(table, name)
    return table


class Unknown(sp.csr_array):
    format = "unknown"


HOSTILE |= {
    "masked columns": parts_as(lambda part: np.ma.masked_array(part, mask=part > 1)),
    "masked values": parts_as(lambda part: np.ma.masked_array(part, mask=[0, 0, 1]), indices=(0, 1, 1)),
    "columns that lie about themselves": parts_as(lambda part: part.view(Liar)),
    "no columns": without("indices"),
    "an unknown format": Unknown((2, 2), dtype=int),
    "a shape of fractions": csr(shape=(2.0, 2.0)),
    "a shape of text": csr(shape=(2, "2")),
}

ESTIMATORS = [
    families.DCM(),
    families.EDCM(),
    families.Multinomial(),
    families.VonMisesFisher(),
    bursty.Mixture(2),
    bursty.DPMFS(n_iter=2, burn_in=1),
    bursty.LDA(2, n_iter=1),
    bursty.DCMLDA(2, n_iter=1),
    bursty.BayesClassifier(),
]
# The two families that take any non-negative number take these too.
NUMBERS = {"fractional counts", "counts that wrap in 32 bits", "unsigned counts that are negative"}
NUMBERS |= {name for name in HOSTILE if "fraction among" in name}
NUMBERS |= {"a document that wraps", "coo, duplicates that wrap"}


@pytest.mark.parametrize("table", HOSTILE.values(), ids=HOSTILE)
def test_every_estimator_refuses_it(table):
    for estimator in ESTIMATORS:
        name = next(name for name, known in HOSTILE.items() if known is table)
        if name in NUMBERS and isinstance(estimator, families.Multinomial | families.VonMisesFisher):
            continue
        with pytest.raises(ValueError, match=REFUSED):
            estimator.fit(table, np.arange(2)) if isinstance(estimator, bursty.BayesClassifier) else estimator.fit(
                table
            )


@pytest.mark.parametrize("table", HOSTILE.values(), ids=HOSTILE)
def test_so_do_corpora_and_new_documents(table):
    with pytest.raises(ValueError, match=REFUSED):
        Corpus(table)
    with pytest.raises(ValueError, match=REFUSED):
        families.DCM().fit(np.eye(2, dtype=int)).log_prob(table)


def test_the_users_words():
    with pytest.raises(ValueError, match=r"entry is in column 1000000000, but there are 2 columns.*Rebuild it"):
        bursty.LDA(2, n_iter=1).fit(HOSTILE["column far outside"])


def test_parts_on_disk(tmp_path):
    table = csr()
    np.save(tmp_path / "indices.npy", table.indices)
    table.indices = np.load(tmp_path / "indices.npy", mmap_mode="r")
    np.testing.assert_array_equal(check_counts(table).toarray(), [[1, 1], [0, 1]])


def test_a_corpus_changed_by_hand():
    corpus = Corpus(np.eye(3, dtype=int))
    corpus.counts.indices[0] = FAR
    with pytest.raises(ValueError, match="column 1000000000"):
        bursty.LDA(2, n_iter=1).fit(corpus)


def test_documents_of_a_bag_one_by_one():
    bad = csr([0, 1, FAR])
    with pytest.raises(ValueError, match="column 1000000000"):
        stack_documents([sp.csr_array(np.eye(2)), bad])


def test_tables_of_labels():
    bad = csr([0, 1, FAR])
    with pytest.raises(ValueError, match="y is a malformed sparse matrix"):
        bursty.BayesClassifier().fit(np.eye(2, dtype=int), bad)
    with pytest.raises(ValueError, match="label_matrix is a malformed sparse matrix"):
        Corpus(np.eye(2, dtype=int), label_matrix=bad)


def test_flags_set_by_hand_are_not_believed():
    table = csr([1, 0, 1], data=[5, 7, 1])
    table.has_sorted_indices = table.has_canonical_format = True
    made = check_counts(table)
    assert made.indices.tolist() == [0, 1, 1]
    assert made.data.tolist() == [7, 5, 1]
    twice = csr([1, 1, 1], data=[5, 7, 1])
    twice.has_sorted_indices = twice.has_canonical_format = True
    np.testing.assert_array_equal(check_counts(twice).toarray(), [[0, 12], [0, 1]])
    assert twice.data.tolist() == [5, 7, 1]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int32, np.float16, np.float32])
def test_duplicates_add_without_wrapping(dtype):
    top = 1 if dtype is bool else 100
    table = sp.csr_array((2, 2))
    table.data, table.indices = np.full(4, top, dtype=dtype), np.zeros(4, np.int32)
    table.indptr = np.array([0, 4, 4], np.int32)
    np.testing.assert_array_equal(check_counts(table).toarray(), [[4 * top, 0], [0, 0]])


@given(st.data())
def test_any_sound_table_of_any_format_stays_itself(data):
    shape = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    cells = data.draw(
        st.lists(st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1), st.integers(1, 9)))
    )
    dense = np.zeros(shape, dtype=np.int64)
    for row, column, value in cells:
        dense[row, column] += value
    rows, columns, values = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    table = sp.coo_array((values, (rows, columns)), shape=shape)
    for kind in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"):
        made = as_csr(table.asformat(kind))
        np.testing.assert_array_equal(made.toarray(), dense)
        assert made.has_canonical_format
        check_csr(made.indices, made.indptr, made.nnz, made.shape)


@given(
    st.lists(st.integers(-2, 4), max_size=5), st.lists(st.integers(-2, 6), min_size=1, max_size=5), st.integers(0, 5)
)
def test_the_check_agrees_with_the_definition(indices, indptr, n_entries):
    shape = 3, 3
    sound = (
        len(indptr) == 4
        and len(indices) == n_entries
        and indptr[0] == 0
        and indptr[-1] == n_entries
        and all(a <= b for a, b in itertools.pairwise(indptr))
        and all(0 <= column < 3 for column in indices)
        and all(
            a < b
            for row in range(3)
            for a, b in zip(
                indices[indptr[row] : indptr[row + 1]], indices[indptr[row] : indptr[row + 1]][1:], strict=False
            )
        )
    )
    try:
        check_csr(np.array(indices, np.int32), np.array(indptr, np.int32), n_entries, shape)
    except ValueError:
        assert not sound
    else:
        assert sound


def rewrite_shard(path, change):
    """Change a shard's arrays and make the checksum right again."""
    import zlib

    from bursty.storage import read_tree, write_tree

    flat = np.load(path / "00000.npy")
    change(flat)
    np.save(path / "00000.npy", flat)
    index = read_tree(path / "index", "shards")
    index["shards"][0][4] = zlib.crc32(flat.data)
    write_tree(path / "index", "shards", index)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (4, FAR, "entry is in column"),
        (4, -1, "entry is in column"),
        (1, FAR, "indptr"),
        (4, 1, "sorted and unique|by word"),
        (8, 7, "by word|tokens"),
        (8, -7, "below 1"),
        (8, 2**31 - 1, "by word|tokens"),
    ],
)
def test_shards_with_a_right_checksum(tmp_path, place, value, message):
    # 3 documents: 4 row starts, 4 columns, 4 counts, 3 column starts, 4 rows, 4 counts
    write_shards(tmp_path / "a.bshards", Corpus([[1, 2], [3, 0], [0, 4]]))

    def change(flat):
        flat[place] = value

    rewrite_shard(tmp_path / "a.bshards", change)
    with pytest.raises(ValueError, match=message):
        families.DCM().fit(ShardedCorpus(tmp_path / "a.bshards"))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_what_is_returned_does_not_follow_later_changes_of_the_table(kind):
    table = kind(np.array([[1, 0, 2], [0, 3, 0]], dtype=np.int32))
    made = as_csr(table)
    assert type(made) is sp.csr_array
    with warnings.catch_warnings(action="ignore"):  # SciPy warns that this is slow
        table[0, 1] = 9
        table.resize((3, 3))
    np.testing.assert_array_equal(made.toarray(), [[1, 0, 2], [0, 3, 0]])


@pytest.mark.parametrize("name", ["indices", "indptr"])
def test_positions_of_two_types_become_positions_of_one(name):
    table = sp.csr_array(np.eye(3, dtype=np.int32))
    setattr(table, name, getattr(table, name).astype(np.int64))
    made = as_csr(table)
    assert made.indices.dtype == made.indptr.dtype
