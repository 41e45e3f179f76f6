"""Corpora from texts, tokens, frames and gensim's documents."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from bursty import BayesClassifier, Corpus, Mixture
from bursty.corpus.text import TOKEN_PATTERN

TEXTS = ["Rain, rain and wind", "", "the Wind of the sea", "sea sea sea"]


def test_counts_are_those_of_scikit_learn():
    corpus = Corpus.from_texts(TEXTS)
    vectorizer = CountVectorizer(token_pattern=TOKEN_PATTERN)
    expected = vectorizer.fit_transform(TEXTS)
    assert corpus.vocabulary.tolist() == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(corpus.counts.toarray(), expected.toarray())


@pytest.mark.parametrize("missing", [None, float("nan"), "", pd.NA, pd.NaT])
def test_a_missing_text_is_an_empty_document_wherever_it_stands(missing):
    corpus = Corpus.from_texts([missing, "rain", missing])
    assert corpus.counts.sum(axis=1).tolist() == [0, 1, 0]
    tokens = Corpus.from_texts([missing, ["rain", "rain"], missing])
    assert tokens.counts.sum(axis=1).tolist() == [0, 2, 0]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_label_is_no_class(missing):
    labels = np.array(["wet", missing, "dry"], dtype=object)
    for corpus in (Corpus(np.eye(3, dtype=int), labels=labels), Corpus.from_texts(TEXTS[:3], labels=labels)):
        assert corpus.labels.tolist() == [1, -1, 0]
        assert corpus.label_names.tolist() == ["dry", "wet"]
    with pytest.raises(ValueError, match="1 of 3 documents has no label"):
        BayesClassifier().fit(np.eye(3, dtype=int), labels)


def test_columns_of_pandas_with_gaps():
    frame = pd.DataFrame(
        {
            "text": pd.Series(["rain", pd.NA, "wind"], dtype="string"),
            "label": pd.Series(["wet", "dry", pd.NA], dtype="string"),
            "year": pd.Series([1999, pd.NA, 2001], dtype="Int64"),
        }
    )
    corpus = Corpus.from_frame(frame)
    assert corpus.counts.sum(axis=1).tolist() == [1, 0, 1]
    assert corpus.labels.tolist() == [1, 0, -1]
    assert corpus.metadata["year"].tolist() == ["1999", "", "2001"]


def test_labels_of_bytes_are_not_named_by_their_quotes():
    with pytest.raises(TypeError, match="labels are bytes: decode them"):
        Corpus(np.eye(2, dtype=int), labels=[b"wet", b"dry"])


def test_a_generator_is_read_once():
    assert len(Corpus.from_texts(text for text in TEXTS)) == len(TEXTS)


def test_tokens_are_counted_as_given_with_the_same_options():
    corpus = Corpus.from_texts([["New York", "2024", "the"], ("New York",), []], stop_words=["the"])
    assert corpus.vocabulary.tolist() == ["2024", "New York"]
    assert corpus.counts.toarray().tolist() == [[1, 1], [0, 1], [0, 0]]
    pairs = Corpus.from_texts([["a", "b"], ["b"]], ngram_range=(1, 2), min_df=1)
    assert pairs.vocabulary.tolist() == ["a", "a b", "b"]


def test_no_label_is_none_nan_or_empty():
    for none in (None, float("nan"), ""):
        assert Corpus.from_texts(TEXTS, labels=["b", none, "a", "b"]).labels.tolist() == [1, -1, 0, 1]
    numbers = Corpus.from_texts(TEXTS, labels=[2, None, 0, 2])
    assert numbers.labels.tolist() == [2, -1, 0, 2]


def test_ids_and_metadata_stay_with_their_rows():
    corpus = Corpus.from_texts(TEXTS, ids=[7, 8, 9, 10], metadata={"year": [1999, 2000, None, 2001]})
    part = corpus.select([3, 0])
    assert part.ids.tolist() == ["10", "7"]
    assert part.metadata["year"].tolist() == ["2001", "1999"]


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("one string", TypeError, "give a list of documents"),
        ([], ValueError, "there are no texts"),
        (["a rain", 3], TypeError, "document 1 must be a string or None, not int"),
        ([b"rain"], TypeError, "decode it first"),
        ([["a"], "b"], TypeError, "document 1 is not a list of strings"),
        ([["a", 3]], TypeError, "document 0 is not a list of strings"),
        (["12", "..."], ValueError, "no document has any words"),
    ],
)
def test_what_is_not_text_is_refused(texts, error, message):
    with pytest.raises(error, match=message):
        Corpus.from_texts(texts)


def test_unknown_options_are_listed():
    with pytest.raises(TypeError, match="there is no option 'stopwords'; the options are analyzer"):
        Corpus.from_texts(TEXTS, stopwords="english")
    with pytest.raises(ValueError, match="needs texts"):
        Corpus.from_texts([["a"]], analyzer="char")


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    table = pd.DataFrame(
        {
            "title": ["Rain", "Wind", None],
            "body": ["rain falls", None, "sea and sand"],
            "label": ["wet", None, "dry"],
            "id": ["x", "y", "z"],
            "created": pd.to_datetime(["2020-01-02 00:00", None, "2021-03-04 05:06"]),
        }
    )
    return table if request.param == "pandas" else pl.from_pandas(table)


def test_columns_of_a_frame_are_found_by_name(frame):
    corpus = Corpus.from_frame(frame, text=["title", "body"])
    assert corpus.ids.tolist() == ["x", "y", "z"]
    assert corpus.labels.tolist() == [1, -1, 0]
    assert corpus.counts.sum(axis=1).tolist() == [3, 1, 3]
    assert list(corpus.metadata) == ["created"]


def test_a_frame_without_the_column_says_which_it_has(frame):
    with pytest.raises(ValueError, match="has no column 'texts'; the columns are 'title'"):
        Corpus.from_frame(frame, text="texts")
    with pytest.raises(TypeError, match="data frame"):
        Corpus.from_frame([["rain"]], text="body")


def test_a_frame_of_counts_keeps_its_names():
    table = pd.DataFrame({"Bacteroides": [3, 0], "Prevotella": [1, 9]}, index=["twin1", "twin2"])
    corpus = Corpus(table)
    assert corpus.has_words
    assert corpus.vocabulary.tolist() == ["Bacteroides", "Prevotella"]
    assert corpus.ids.tolist() == ["twin1", "twin2"]
    assert Corpus(pl.DataFrame({"a": [1, 2]})).vocabulary.tolist() == ["a"]
    assert Corpus(table.reset_index(drop=True)).ids.tolist() == ["0", "1"]


class _Dictionary(dict):
    """What gensim's Dictionary gives: numbers to words."""


def test_gensim_documents_keep_their_words():
    corpus = Corpus.from_gensim([[(5, 2)], [], [(2, 1), (5, 1)]], _Dictionary({5: "rain", 2: "sea"}))
    assert corpus.vocabulary.tolist() == ["sea", "rain"]
    assert corpus.counts.toarray().tolist() == [[0, 2], [0, 0], [1, 1]]
    turned = Corpus.from_gensim([[(5, 2)], [], [(2, 1), (5, 1)]], {"rain": 5, "sea": 2})  # its token2id
    assert turned.vocabulary.tolist() == ["sea", "rain"]
    assert (turned.counts != corpus.counts).nnz == 0
    with pytest.raises(ValueError, match="document 0 has word 9"):
        Corpus.from_gensim([[(9, 1)]], _Dictionary({5: "rain"}))


@pytest.mark.parametrize("words", [{}, {-1: "rain", 0: "sea"}])
def test_a_dictionary_without_words_says_how_to_build_one(words):
    with pytest.raises(ValueError, match="the dictionary has no words"):
        Corpus.from_gensim([], _Dictionary(words))


def test_gensim_documents_have_labels_names_and_columns():
    about = {"labels": ["wet", None], "ids": [7, 8], "metadata": {"year": [1999, 2001]}}
    corpus = Corpus.from_gensim([[(0, 2)], [(1, 1)]], _Dictionary({0: "rain", 1: "sea"}), **about)
    assert corpus.labels.tolist() == [0, -1]
    assert corpus.ids.tolist() == ["7", "8"]
    assert corpus.metadata["year"].tolist() == [1999, 2001]


BAGS = [[(0, 2)], [(0, 1), (1, 3)]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Corpus.from_gensim(BAGS, None), "not NoneType: call Corpus.from_gensim"),
        (lambda: Corpus.from_gensim(_Dictionary({0: "sea"}), BAGS), "not list: call Corpus.from_gensim"),
        (lambda: Corpus.from_gensim([["sea", "rain"]], _Dictionary({0: "sea"})), "Corpus.from_texts takes texts and"),
        (lambda: Corpus.from_gensim(["sea"], _Dictionary({0: "sea"})), "Corpus.from_texts takes texts and"),
        (lambda: Corpus.from_texts({"first": "rain", "second": "sea"}), r"give its values, and ids=list\(texts\)"),
        (lambda: Corpus.from_texts(pd.DataFrame({"text": ["rain", "sea"]})), r"from_frame\(frame, text=column\)"),
        (lambda: Corpus.from_texts(BAGS), r"document 0 is a list of \(word, count\): use Corpus.from_gensim"),
        (lambda: Corpus.from_texts([["sea"], [3]]), "document 1 is not a list of strings, but the first one is"),
        (lambda: Corpus(BAGS), "Corpus takes a matrix of counts, not lists of .* bursty.Corpus.from_gensim"),
        (lambda: Mixture(2).fit(BAGS), "Mixture takes a matrix of counts, not lists of .* bursty.Corpus.from_gensim"),
    ],
)
def test_bags_of_words_lead_to_the_call_that_takes_them(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
