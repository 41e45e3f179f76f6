from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.corpus import Corpus
from bursty.corpus.shards import write_shards
from bursty.engines import Chunk, LocalEngine, chunks, get_engine, local, total
from bursty.engines.documents import TreeSum
from bursty.engines.local import StoredDocuments
from bursty.kernels import threads


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    return sp.csr_array(rng.poisson(0.3, (23, 6)).astype(np.int32))


@pytest.fixture(params=["memory", "disk"])
def documents(request, counts, monkeypatch, tmp_path):
    """The same documents in chunks of five, in memory and in shards."""
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 5))
    monkeypatch.setattr("bursty.corpus.shards.SHARD_SIZE", 5)
    engine = LocalEngine(3)
    if request.param == "memory":
        return engine.place(counts)
    return engine.place(write_shards(tmp_path / "corpus", Corpus(counts)))


def lengths(chunk: Chunk, shift: int = 0):
    return chunk.lengths + shift


def test_size(documents, counts):
    assert (documents.n_documents, documents.n_words, documents.n_cells) == (23, 6, counts.nnz)
    assert documents.n_empty == np.count_nonzero(np.diff(counts.indptr) == 0)
    assert documents.offsets == [0, 5, 10, 15, 20]
    assert documents.n_tokens == counts.sum()


def test_four_ways(documents, counts):
    truth = counts.sum(axis=1)
    parts = list(documents.map(lengths, shift=1))
    assert [len(part) for part in parts] == [5, 5, 5, 5, 3]
    np.testing.assert_array_equal(np.concatenate(parts), truth + 1)
    np.testing.assert_array_equal(documents.collect(lengths), truth)
    assert documents.sum(lambda chunk: chunk.lengths.sum()) == truth.sum()
    kept = documents.keep(lengths)
    np.testing.assert_array_equal(documents.gather(kept), truth)
    np.testing.assert_array_equal(documents.collect(lambda chunk, values: 2 * values, kept), 2 * truth)
    doubled, added = documents.keep_and_sum(lambda chunk, values: (2 * values, values.sum()), kept)
    assert added == truth.sum()
    np.testing.assert_array_equal(documents.gather(doubled), 2 * truth)
    assert documents.at(1, lambda chunk, values: values[0], kept) == truth[5]


def test_pairs_are_collected_apart(documents, counts):
    first, second = documents.collect(lambda chunk: (chunk.lengths, np.diff(chunk.indptr)))
    np.testing.assert_array_equal(first, counts.sum(axis=1))
    np.testing.assert_array_equal(second, np.diff(counts.indptr))


def test_rows_are_cut_as_the_documents_are(documents):
    assert [part.tolist() for part in documents.split(np.arange(23))][-1] == [20, 21, 22]
    assert documents.split(None) == [None] * 5


def test_sums_over_documents_from_disk_and_memory_are_the_same_bits(counts, monkeypatch, tmp_path):
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 5))
    monkeypatch.setattr("bursty.corpus.shards.SHARD_SIZE", 5)
    resp = np.random.default_rng(1).random((23, 4))
    engine = LocalEngine(1)
    placed = [engine.place(counts), engine.place(write_shards(tmp_path / "corpus", Corpus(counts)))]
    for name in ("sum_by_word", "sum_tokens"):
        memory, disk = (d.sum(getattr(Chunk, name), d.split(resp)) for d in placed)
        np.testing.assert_array_equal(memory, disk)


def test_threads_are_set_while_a_chunk_is_worked_on(documents):
    assert list(documents.map(lambda chunk: threads._n_threads.get())) == [3] * 5
    assert threads._n_threads.get() == 1


def test_what_is_kept_on_disk_goes_when_nobody_needs_it(counts, tmp_path):
    documents = LocalEngine(1).place(write_shards(tmp_path / "corpus", Corpus(counts)))
    assert isinstance(documents, StoredDocuments)
    kept = documents.keep(lengths)
    path = kept[0].path
    assert path.exists()
    del kept
    assert not path.exists()
    folder = path.parent
    del documents
    assert not folder.exists()


def test_what_is_found_out_of_the_documents_of_a_shard_is_kept(counts, tmp_path):
    documents = LocalEngine(1).place(write_shards(tmp_path / "corpus", Corpus(counts)))
    names = "lengths", "repeats", "_by_length"
    for n_known in range(4):  # one more is asked for in each pass
        (opened,) = (stored.open() for stored in documents.chunks)
        assert set(opened.facts()) == set(names[:n_known])
        documents.sum(lambda chunk, n_known=n_known: [getattr(chunk, name) for name in names[: n_known + 1]] and 0)
    fresh = Chunk(counts)
    (opened,) = (stored.open() for stored in documents.chunks)
    assert "repeats" in vars(opened)
    np.testing.assert_array_equal(opened.lengths, fresh.lengths)
    np.testing.assert_array_equal(opened.repeats, fresh.repeats)
    for known, made in zip(opened._by_length, fresh._by_length, strict=True):
        np.testing.assert_array_equal(known, made)
        assert known.dtype == made.dtype
    assert len(list(documents._scratch.path.iterdir())) == 1


def test_large_results_from_disk_stay_there(counts, monkeypatch, tmp_path):
    documents = LocalEngine(1).place(write_shards(tmp_path / "corpus", Corpus(counts)))
    monkeypatch.setattr(local, "_LARGE", 1)
    result = documents.collect(lambda chunk: np.ones((chunk.n_documents, 3)) * chunk.lengths[:, None])
    assert isinstance(result.base, np.memmap)
    np.testing.assert_array_equal(result[:, 2], counts.sum(axis=1))


@pytest.mark.parametrize("n", range(1, 20))
def test_the_shape_of_a_sum_depends_on_the_number_of_its_parts_alone(n):
    """As neighbours are added, then neighbours of these: what the workers of a cluster do."""
    parts = [f"{i}" for i in range(n)]

    class Sum(str):
        def __add__(self, other):
            return Sum(f"({self}{other})")

    level = [Sum(part) for part in parts]
    while len(level) > 1:
        pairs = [level[i] + level[i + 1] for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    assert total(Sum(part) for part in parts) == level[0]


@pytest.mark.parametrize("n", [1, 2, 3, 6, 11, 16, 23])
def test_stretches_of_a_sum_can_be_made_apart_and_joined_in_any_order(n):
    """As strings that show what was added to what."""

    class Sum(str):
        def __add__(self, other):
            return Sum(f"({self}{other})")

    whole = total(Sum(f"{i}.") for i in range(n))
    rng = np.random.default_rng(n)
    for _ in range(20):
        edges = [0, *np.sort(rng.choice(np.arange(1, n), rng.integers(0, n), replace=False)).tolist(), n]
        stretches = []
        for start, stop in pairwise(edges):
            stretches.append(TreeSum(start, n))
            for i in range(start, stop):
                stretches[-1].add(Sum(f"{i}."))
        while len(stretches) > 1:
            i = int(rng.integers(len(stretches) - 1))
            stretches[i].join(stretches.pop(i + 1))
        assert stretches[0].value == whole


def test_a_stretch_that_ends_with_the_corpus_is_one_branch():
    added = TreeSum(16, 30)
    for i in range(16, 30):
        added.add(i)
    assert len(added._branches) == 1


def test_nothing_cannot_be_added():
    with pytest.raises(ValueError, match="nothing to add"):
        total([])


def test_engines_by_name():
    engine = get_engine("local", 2)
    assert isinstance(engine, LocalEngine)
    assert get_engine(engine) is engine
    with pytest.raises(ValueError, match="engine must be"):
        get_engine("cloud")
