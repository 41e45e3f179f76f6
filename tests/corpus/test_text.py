"""Text to counts: equal to scikit-learn's vectorizer, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from bursty.corpus import TextOptions, count_texts
from bursty.corpus.text import CountBuilder

TEXTS = st.lists(st.text(alphabet="abc é9_-.\n", max_size=30), min_size=1, max_size=12)


@given(TEXTS, st.integers(1, 5), st.sampled_from([(1, 1), (1, 2)]))
def test_equals_count_vectorizer_for_any_blocks(texts, block, ngram_range):
    options = TextOptions(ngram_range=ngram_range)
    reference = CountVectorizer(token_pattern=options.token_pattern, ngram_range=ngram_range)
    builder = CountBuilder(options)
    for start in range(0, len(texts), block):
        builder.add(texts[start : start + block])
    try:
        expected = reference.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match="no document has any words"):
            builder.finish()
        return
    counts, vocabulary = builder.finish()
    assert list(vocabulary) == list(reference.get_feature_names_out())
    assert counts.dtype == np.int32
    assert counts.has_canonical_format
    assert np.array_equal(counts.toarray(), expected.toarray())


@given(TEXTS, st.integers(1, 2), st.sampled_from([1.0, 0.5, 3]))
def test_document_frequency_filters_equal_count_vectorizer(texts, min_df, max_df):
    reference = CountVectorizer(token_pattern=TextOptions().token_pattern, min_df=min_df, max_df=max_df)
    try:
        expected = reference.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match=r"no word is left|any words|above max_df"):
            count_texts(texts, min_df=min_df, max_df=max_df)
        return
    counts, vocabulary = count_texts(texts, min_df=min_df, max_df=max_df)
    assert list(vocabulary) == list(reference.get_feature_names_out())
    assert np.array_equal(counts.toarray(), expected.toarray())


def test_defaults_take_words_and_leave_numbers():
    _, vocabulary = count_texts(["In 2008 the H2O of Zürich, a don't, x"])
    assert list(vocabulary) == ["don", "h2o", "in", "of", "the", "zürich"]


def test_stop_words_and_case():
    _, vocabulary = count_texts(["The cat saw the Cat"], stop_words="english", lowercase=False)
    assert list(vocabulary) == ["Cat", "The", "cat", "saw"]
    _, vocabulary = count_texts(["the cat saw the dog"], stop_words=["the", "saw"])
    assert list(vocabulary) == ["cat", "dog"]


def test_most_common_words_leave():
    counts, vocabulary = count_texts(["aa aa aa bb bb cc", "bb dd"], drop_most_common=2)
    assert list(vocabulary) == ["cc", "dd"]
    assert counts.toarray().tolist() == [[1, 0], [0, 1]]


def test_given_vocabulary_keeps_its_order_and_counts_nothing_else():
    counts, vocabulary = count_texts(["cat dog cat", "emu"], vocabulary=["dog", "ape", "cat"])
    assert list(vocabulary) == ["dog", "ape", "cat"]
    assert counts.toarray().tolist() == [[1, 0, 2], [0, 0, 0]]
    with pytest.raises(ValueError, match="is not filtered"):
        count_texts(["cat"], vocabulary=["cat"], min_df=2)
    with pytest.raises(ValueError, match="no duplicates"):
        count_texts(["cat"], vocabulary=["cat", "cat"])


def test_characters():
    counts, vocabulary = count_texts(["abab"], analyzer="char", ngram_range=(2, 2))
    assert dict(zip(vocabulary, counts.toarray()[0], strict=True)) == {"ab": 2, "ba": 1}
    with pytest.raises(ValueError, match="analyzer"):
        count_texts(["ab"], analyzer="sentence")


def test_texts_may_be_a_generator_longer_than_a_block():
    counts, vocabulary = count_texts(f"word{'abc'[number % 3]} same" for number in range(4_500))
    assert counts.shape == (4_500, 4)
    assert counts[:, [0]].sum() == 4_500
    assert list(vocabulary) == ["same", "worda", "wordb", "wordc"]


def test_bytes_are_refused():
    with pytest.raises(TypeError, match="decode bytes"):
        count_texts([b"cat"])
