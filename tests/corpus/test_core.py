"""The corpus: rows never come apart, words leave by the rules, and what does not fit is refused with a reason."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from bursty.corpus import Corpus


def small(**changes):
    given = {
        "counts": np.array([[2, 0, 1], [0, 0, 0], [1, 1, 0], [0, 3, 1]]),
        "vocabulary": ["ape", "bee", "cat"],
        "ids": ["a", "b", "c", "d"],
        "labels": [0, 1, 1, -1],
        "label_names": ["yes", "no"],
        "metadata": {"year": [1990, 1991, 1992, 1993], "by": ["x", "y", "x", "z"]},
    }
    return Corpus(**(given | changes))


def aligned(corpus: Corpus, key: np.ndarray) -> None:
    """Every row of `corpus` carries the number of its first word count in all its columns."""
    first = corpus.counts[:, [0]].toarray().ravel()
    assert list(corpus.ids) == [f"d{value}" for value in first]
    assert list(corpus.metadata["number"]) == list(first)
    assert list(corpus.metadata["text"]) == [f"t{value}" for value in first]
    assert np.array_equal(key[first], corpus.labels)


@st.composite
def numbered(draw):
    """A corpus whose first word has the row number (plus one) as its count, with every column derived from it."""
    n_documents = draw(st.integers(2, 30))
    n_words = draw(st.integers(1, 5))
    rest = draw(st.lists(st.integers(0, 3), min_size=n_documents * n_words, max_size=n_documents * n_words))
    number = np.arange(1, n_documents + 1)
    counts = np.column_stack([number, np.reshape(rest, (n_documents, n_words))])
    key = np.array([-1, *draw(st.lists(st.integers(-1, 2), min_size=n_documents, max_size=n_documents))])
    corpus = Corpus(
        counts,
        [f"w{word}" for word in range(n_words + 1)],
        ids=[f"d{value}" for value in number],
        labels=key[number],
        label_names=["a", "b", "c"],
        metadata={"number": number, "text": [f"t{value}" for value in number]},
    )
    return corpus, key


@given(numbered(), st.data())
def test_rows_stay_aligned_under_select_and_split(made, data):
    corpus, key = made
    rows = data.draw(st.lists(st.integers(-len(corpus), len(corpus) - 1), min_size=1, max_size=40))
    picked = corpus.select(rows)
    aligned(picked, key)
    assert list(picked.ids) == [corpus.ids[row] for row in rows]
    parts = corpus.split(
        test_size=data.draw(st.integers(1, len(corpus) - 1)),
        stratify=data.draw(st.booleans()),
        random_state=data.draw(st.integers(0, 5)),
    )
    for part in parts:
        aligned(part, key)
    assert sorted(row for part in parts for row in part.ids) == sorted(corpus.ids)


@given(numbered(), st.integers(0, 3), st.integers(0, 2))
def test_filter_words_keeps_every_row(made, min_df, drop):
    corpus, _ = made
    df = (corpus.counts.toarray() > 0).sum(axis=0)
    expected = [word for word, number in zip(corpus.vocabulary, df, strict=True) if number >= min_df]
    if len(expected) <= drop:
        with pytest.raises(ValueError, match="no word is left"):
            corpus.filter_words(min_df=min_df, drop_most_common=drop)
        return
    left = corpus.filter_words(min_df=min_df, drop_most_common=drop)
    assert list(left.ids) == list(corpus.ids)
    assert set(left.vocabulary) <= set(expected)
    assert left.n_words == len(expected) - drop
    column = {word: index for index, word in enumerate(corpus.vocabulary)}
    wanted = corpus.counts.toarray()[:, [column[word] for word in left.vocabulary]]
    assert np.array_equal(left.counts.toarray(), wanted)
    gone = set(expected) - set(left.vocabulary)
    tokens = dict(zip(corpus.vocabulary, corpus.counts.sum(axis=0), strict=True))
    assert all(tokens[word] >= tokens[other] for word in gone for other in left.vocabulary)


def test_fractions_mean_shares_of_documents():
    corpus = Corpus(np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]]), ["all", "half", "one"])
    assert list(corpus.filter_words(max_df=0.5).vocabulary) == ["half", "one"]
    assert list(corpus.filter_words(max_df=2).vocabulary) == ["half", "one"]
    assert list(corpus.filter_words(min_df=0.5).vocabulary) == ["all", "half"]
    assert list(corpus.filter_words(min_df=1, max_df=1.0).vocabulary) == ["all", "half", "one"]
    with pytest.raises(ValueError, match="above max_df"):
        corpus.filter_words(min_df=3, max_df=0.5)
    with pytest.raises(ValueError, match="write 2 for a number"):
        corpus.filter_words(min_df=2.5)


def test_counts_are_canonical_and_the_given_ones_untouched():
    given = sp.csr_array((np.array([1.0, 0.0, 2.0, 4.0]), np.array([2, 1, 0, 2]), np.array([0, 3, 4])), shape=(2, 3))
    before = given.copy()
    corpus = Corpus(given)
    assert corpus.counts.dtype == np.int32
    assert corpus.counts.indices.dtype == np.int32
    assert corpus.counts.has_canonical_format
    assert corpus.counts.nnz == 3
    assert np.array_equal(given.indices, before.indices)
    assert np.array_equal(given.data, before.data)


def test_placeholder_words_are_marked_and_stay_marked():
    corpus = Corpus(np.eye(3, dtype=int))
    assert not corpus.has_words
    assert list(corpus.vocabulary) == ["w0000", "w0001", "w0002"]
    assert not corpus.select([0, 1]).filter_words().has_words
    assert small().select([0]).has_words
    assert "no names" in repr(corpus)


def test_ids_are_row_numbers_and_survive_selection():
    corpus = Corpus(np.eye(4, dtype=int))
    assert list(corpus.ids) == ["0", "1", "2", "3"]
    assert list(corpus.select(slice(None, None, -2)).ids) == ["3", "1"]
    assert list(corpus.select(np.array([False, True, True, False])).ids) == ["1", "2"]


def test_string_labels_are_sorted_into_classes():
    corpus = small(labels=["b", "a", "", "b"], label_names=None)
    assert list(corpus.label_names) == ["a", "b"]
    assert corpus.labels.tolist() == [1, 0, -1, 1]
    assert small(labels=["10", "9", "9", None], label_names=None).labels.tolist() == [1, 0, 0, -1]
    assert corpus.label_matrix.toarray().tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]


def test_multilabel_has_a_matrix_and_no_labels():
    matrix = np.array([[1, 1], [0, 0], [0, 1], [1, 0]])
    corpus = small(labels=None, label_matrix=matrix)
    assert corpus.is_multilabel
    assert corpus.labels is None
    assert np.array_equal(corpus.label_matrix.toarray(), matrix)
    part = corpus.select([2, 0])
    assert np.array_equal(part.label_matrix.toarray(), matrix[[2, 0]])
    assert list(part.label_names) == ["yes", "no"]
    with pytest.raises(ValueError, match="several"):
        corpus.split(0.5, stratify=True)


def test_drop_empty():
    assert list(small().drop_empty().ids) == ["a", "c", "d"]
    one_word = Corpus([[0, 3], [0, 0], [1, 2]])
    assert list(one_word.drop_empty().ids) == ["0", "2"]


def test_describe():
    found = small().describe()
    assert (found.documents, found.words, found.tokens, found.empty_documents, found.classes) == (4, 3, 9, 1, 2)
    assert found.mean_length == 9 / 4
    assert found.burstiness == 9 / 6
    assert found.sparsity == 1 - 6 / 12
    assert found.as_dict()["tokens"] == 9
    assert "empty documents  1" in str(found)
    assert np.isnan(Corpus(np.zeros((2, 2), dtype=int)).describe().burstiness)


def test_metadata_may_be_a_frame():
    columns = {"year": [1990, 1991], "by": ["x", "y"]}
    for frame in (pd.DataFrame(columns, index=[5, 3]), pl.DataFrame(columns)):
        for corpus in (Corpus.from_texts(["rain", "sun"], metadata=frame), Corpus([[1], [2]], metadata=frame)):
            assert {name: column.tolist() for name, column in corpus.metadata.items()} == columns


def test_with_labels_and_info_change_nothing_else():
    corpus = small().with_labels(["p", "q", "p", ""]).with_info(name="tiny")
    assert list(corpus.label_names) == ["p", "q"]
    assert corpus.info["name"] == "tiny"
    assert list(corpus.ids) == ["a", "b", "c", "d"]
    assert repr(corpus) == "<Corpus tiny: 4 documents x 3 words, 9 tokens, 2 classes>"
    assert small().with_labels(None).label_matrix is None


def test_pickles_and_cannot_be_changed():
    corpus = pickle.loads(pickle.dumps(small(info={"name": "tiny"})))
    assert corpus.info["name"] == "tiny"
    assert list(corpus.metadata["by"]) == ["x", "y", "x", "z"]
    assert np.array_equal(corpus.counts.toarray(), small().counts.toarray())
    with pytest.raises(AttributeError):
        corpus.counts = None
    with pytest.raises(TypeError):
        corpus.metadata["by"] = None


@pytest.mark.parametrize("stratify", [False, True])
def test_split_sizes_and_shares(stratify):
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    corpus = Corpus(np.ones((100, 2), dtype=int), labels=labels)
    train, valid, test = corpus.split(fractions=(0.5, 0.3, 0.2), stratify=stratify, random_state=3)
    assert [len(train), len(valid), len(test)] == [50, 30, 20]
    assert list(test.ids) == sorted(test.ids, key=int)
    again = corpus.split(fractions=(0.5, 0.3, 0.2), stratify=stratify, random_state=3)
    assert list(again[2].ids) == list(test.ids)
    other = corpus.split(fractions=(0.5, 0.3, 0.2), stratify=stratify, random_state=4)
    assert list(other[2].ids) != list(test.ids)
    if stratify:
        for part, share in ((train, 0.5), (valid, 0.3), (test, 0.2)):
            assert np.all(np.abs(np.bincount(part.labels) - share * np.array([60, 30, 10])) <= 1)


def test_every_document_is_as_likely_to_be_in_the_test_part():
    corpus = Corpus(np.ones((20, 1), dtype=int), labels=np.arange(20) % 2)
    times = np.zeros(20)
    for seed in range(400):
        times[corpus.split(0.25, stratify=True, random_state=seed)[1].ids.astype(int)] += 1
    # Binomial(400, 1/4) has standard deviation 8.7.
    assert np.all(np.abs(times - 100) < 45)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": ["ape", "bee"]}, "2 names for 3 words"),
        ({"vocabulary": ["ape", "bee", "ape"]}, "'ape' 2 times"),
        ({"ids": ["a"]}, "1 name for 4 documents"),
        ({"labels": [0, 1]}, "do not match 4 documents"),
        ({"labels": [0, 1, 2, 0]}, "label 2 has no name"),
        ({"labels": [0, -2, 0, 0]}, "below -1"),
        ({"labels": [0, 0.5, 0, 0]}, "must be integers"),
        ({"labels": ["yes", "maybe", "no", "no"]}, "'maybe' is not in label_names"),
        ({"label_matrix": np.eye(4)}, "not both"),
        ({"labels": None, "label_matrix": np.eye(3)}, "does not match 4 documents"),
        ({"labels": None, "label_matrix": 2 * np.eye(4)}, "only 0 and 1"),
        ({"metadata": {"year": [1]}}, "'year' of shape"),
        ({"counts": np.array([[1, -1, 0]] * 4)}, "row 0, column 1 holds -1"),
        ({"counts": np.array([[1, 0.5, 0]] * 4)}, "not an integer"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ([4], IndexError, "no document 4"),
        ([-5], IndexError, "no document -5"),
        ([], ValueError, "no document is selected"),
        ([True, False], ValueError, "does not match 4 documents"),
        ([0.5], TypeError, "mask, integers or a slice"),
    ],
)
def test_select_refuses(documents, error, message):
    with pytest.raises(error, match=message):
        small().select(documents)


@pytest.mark.parametrize(
    "options",
    [
        {"test_size": 1.0},
        {"test_size": 4},
        {"test_size": 0.5, "fractions": (0.5, 0.5)},
        {"fractions": (0.5, 0.6)},
        {"fractions": (0.01, 0.99)},
        {"stratify": [1, 2]},
    ],
)
def test_split_refuses(options):
    with pytest.raises(ValueError, match=r"test_size|fractions|stratify"):
        small().split(**options)


def test_align_counts_in_other_words():
    corpus = Corpus(np.array([[1, 2, 0], [0, 0, 3]]), ["ape", "bee", "cat"], labels=["x", "y"])
    aligned = corpus.align(["cat", "dog", "ape"])
    assert aligned.counts.toarray().tolist() == [[0, 0, 1], [3, 0, 0]]
    assert aligned.counts.has_canonical_format
    assert list(aligned.vocabulary) == ["cat", "dog", "ape"]
    assert list(aligned.labels) == [0, 1]
    back = aligned.align(corpus.vocabulary)
    assert back.counts.toarray().tolist() == [[1, 0, 0], [0, 0, 3]]
    with pytest.raises(ValueError, match="have no names"):
        Corpus(np.eye(2, dtype=int)).align(["ape", "bee"])
