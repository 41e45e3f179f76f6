"""A document without a label belongs to no class, and classes keep their names."""

from __future__ import annotations

import numpy as np
import pytest

import bursty
from bursty import BayesClassifier, Corpus
from bursty.corpus import write_shards

TEXTS = ["cat cat purr", "cat whiskers", "dog bark bark", "dog kennel", "mystery words", "cat dog"]
LABELS = ["cats", "cats", "dogs", "dogs", None, None]


@pytest.fixture
def corpus():
    return Corpus.from_texts(TEXTS, labels=LABELS)


def test_unlabelled_documents_are_left_out(corpus):
    known = corpus.select(corpus.labels >= 0)
    expected = BayesClassifier().fit(known.counts, known.labels).predict_proba(corpus.counts)
    for model in (BayesClassifier().fit(corpus, corpus.labels), BayesClassifier().fit(corpus)):
        assert model.classes_.tolist() == [0, 1]
        assert model.class_names_.tolist() == ["cats", "dogs"]
        np.testing.assert_array_equal(model.predict_proba(corpus), expected)


def test_weights_go_with_their_documents(corpus):
    weights = np.array([1.0, 2.0, 1.0, 1.0, 5.0, 5.0])
    model = BayesClassifier().fit(corpus, sample_weight=weights)
    assert model.class_count_.tolist() == [3.0, 2.0]


def test_minus_one_is_a_class_where_the_caller_says_so(corpus):
    y = np.array([-1, -1, 1, 1, 1, -1])
    assert BayesClassifier().fit(corpus, y).classes_.tolist() == [-1, 1]
    assert BayesClassifier().fit(corpus.counts, np.where(corpus.labels < 0, -1, 1)).classes_.tolist() == [-1, 1]


def test_several_classes_keep_their_names():
    counts = Corpus.from_texts(TEXTS[:4]).counts
    corpus = Corpus(counts, label_matrix=[[1, 0], [1, 1], [0, 1], [0, 1]], label_names=["pet", "loud"])
    model = BayesClassifier().fit(corpus)
    assert model.class_names_.tolist() == ["pet", "loud"]


def test_nothing_to_learn_from_is_said(corpus, tmp_path):
    with pytest.raises(ValueError, match="no document has a label"):
        BayesClassifier().fit(Corpus.from_texts(TEXTS, labels=[""] * 6))
    shards = write_shards(tmp_path / "shards", corpus)
    with pytest.raises(ValueError, match="2 documents have no label in these shards"):
        BayesClassifier().fit(shards)


def test_names_are_saved(corpus, tmp_path):
    model = BayesClassifier().fit(corpus)
    back = bursty.load(bursty.save(model, tmp_path / "model"))
    assert back.class_names_.tolist() == ["cats", "dogs"]
