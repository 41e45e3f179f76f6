"""Numbers of things: one thing is singular, wherever a number is told."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bursty import LDA, BayesClassifier, Corpus, Mixture, report
from bursty.wording import counted


def test_numbers():
    assert [counted(n, "word") for n in (0, 1, 2, 12_345)] == ["0 words", "1 word", "2 words", "12,345 words"]
    assert counted(np.int64(1), "class", "classes") == "1 class"
    assert counted(2, "class is", "classes are") == "2 classes are"


def test_one_document():
    one = Corpus.from_texts(["one single document"], labels=["x"])
    assert repr(one) == "<Corpus 1 document x 3 words, 3 tokens, 1 class>"
    assert repr(Corpus(np.array([[1]]))) == "<Corpus 1 document x 1 word, 1 token, words have no names>"
    model = Mixture(1, random_state=0).fit(one)
    page = report.render(model, one)
    assert "1 cluster in 1 document<" in page
    assert not re.search(r"\b1</strong> documents", page)
    assert "A classifier of 1 class" not in page
    assert "1 topic in 1 document<" in report.render(LDA(1, n_iter=2, tol=0, random_state=0).fit(one), one)


def test_units():
    one = Corpus(np.array([[2]]), ["Dorea"], units=("sample", "taxon", "read"))
    assert repr(one) == "<Corpus 1 sample x 1 taxon, 2 reads>"


def test_one_mistake():
    corpus = Corpus(np.array([[3, 0], [0, 3], [1, 0]]), ["ham", "spam"], labels=[0, 1, 1])
    model = BayesClassifier().fit(corpus.select([0, 1]), corpus.labels[:2])
    page = report.render(model, corpus)
    assert "1 of 3 documents was misclassified" in " ".join(page.split())
    with pytest.raises(ValueError, match="1 name does not match 2 words"):
        model.set_words(["a"])
