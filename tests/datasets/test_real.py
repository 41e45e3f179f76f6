"""The real collections have the numbers that the papers, and their own descriptions, give."""

from __future__ import annotations

import numpy as np
import pytest

from bursty import datasets

pytestmark = [pytest.mark.corpus, pytest.mark.usefixtures("data_dir")]

# [Elkan2006] Table 3: documents, words, classes, mean length (before words are left out).
TABLE_3 = {
    "NG20": (19949, 43585, 20, 120.0),
    "NG17-19": (2998, 15808, 3, 164.9),
    "classic": (7089, 12009, 4, 42.9),
    "ohscal": (11162, 11465, 10, 104.2),
    "hitech": (2301, 10080, 6, 228.3),
    "reviews": (4069, 18482, 5, 281.2),
    "la1": (3204, 17265, 6, 248.3),
    "la12": (6279, 11231, 6, 246.3),
    "la2": (3075, 15203, 6, 244.2),
    "k1b": (2340, 13856, 6, 194.3),
    "tr11": (414, 6412, 9, 1025.4),
    "tr23": (204, 5814, 6, 2416.2),
    "tr41": (878, 7445, 10, 404.9),
    "tr45": (690, 8249, 10, 937.0),
}


@pytest.mark.parametrize("name", TABLE_3)
def test_zhong15_has_the_sizes_of_the_paper(name):
    documents, words, classes, _ = TABLE_3[name]
    found = datasets.load(f"zhong15/{name}").describe()
    assert (found.documents, found.words, found.classes) == (documents, words, classes)
    assert found.empty_documents == 0


def test_la12_published_size_is_not_that_of_the_stated_filter():
    stated = datasets.load("zhong15/la12", filter="stated")
    assert stated.n_words == 21_596
    assert len(stated) == 6279


def test_classic400():
    corpus = datasets.load("classic400")
    found = corpus.describe()
    assert (found.documents, found.words, found.classes) == (400, 6205, 3)
    assert round(found.mean_length, 1) == 78.8
    assert np.bincount(corpus.labels).tolist() == [100, 100, 200]
    assert corpus.has_words
    assert "librarianship" in corpus.vocabulary


def test_nips391():
    corpus = datasets.load("nips391")
    found = corpus.describe()
    assert (found.documents, found.words, found.classes, found.tokens) == (391, 6871, 9, 520_955)
    assert round(found.mean_length, 1) == 1332.4
    assert round(found.burstiness, 2) == 2.64
    assert not corpus.has_words
    assert "do not show" in corpus.info["note"]


@pytest.fixture(scope="module")
def newsgroups(data_dir):
    return datasets.load("20news-18828")


def test_20news(newsgroups):
    assert len(newsgroups) == 18_828
    assert len(newsgroups.label_names) == 20
    assert np.bincount(newsgroups.labels)[list(newsgroups.label_names).index("sci.space")] == 987
    assert newsgroups.ids[0] == "alt.atheism/49960"
    assert newsgroups.describe().empty_documents == 0
    # [Madsen2005] has 61,298 words, and does not say which rare ones it left out.
    assert 55_000 < newsgroups.filter_words(min_df=2, drop_most_common=500).n_words < 70_000


def test_reuters(data_dir):
    corpus = datasets.load("reuters21578")
    subset = corpus.metadata["subset"]
    assert (np.sum(subset == "train"), np.sum(subset == "test")) == (7770, 3019)
    assert corpus.is_multilabel
    assert corpus.label_matrix.shape == (10_789, 90)
    assert corpus.label_matrix[subset == "train"].sum(axis=0).min() >= 1
    assert corpus.label_matrix[subset == "test"].sum(axis=0).min() >= 1
    assert corpus.label_matrix.sum(axis=1).min() == 1
    assert corpus.describe().empty_documents == 0
    by_name = dict(zip(corpus.label_names, corpus.label_matrix[subset == "train"].sum(axis=0), strict=True))
    assert (by_name["earn"], by_name["acq"], by_name["grain"]) == (2877, 1650, 433)


def test_sp500():
    corpus = datasets.load("sp500")
    assert corpus.counts.shape == (440, 946)
    assert corpus.metadata["date"].min() == np.datetime64("2007-01-03")
    assert corpus.metadata["date"].max() == np.datetime64("2008-09-30")
    assert len({word[:-1] for word in corpus.vocabulary}) == 473
    assert not any(word[:-1] == "EDS" for word in corpus.vocabulary)
    # Counted with exact fractions.
    assert (corpus.describe().tokens, corpus.counts.nnz) == (312_984, 152_274)


def test_ap():
    corpus = datasets.load("ap")
    assert corpus.counts.shape == (2246, 10_473)
    assert list(corpus.vocabulary[:3]) == ["i", "new", "percent"]


def test_industry_sector():
    corpus = datasets.load("industry-sector-12")
    assert len(corpus) == 8817
    assert len(corpus.label_names) == 12
    assert round(corpus.describe().mean_length) == 190
    assert "stands in" in corpus.info["note"]


@pytest.mark.parametrize(
    ("name", "documents", "clusters"),
    [("T", 11_109, 152), ("S", 11_109, 152), ("TS", 11_109, 152), ("Tweet", 2472, 89)],
)
def test_short(name, documents, clusters):
    corpus = datasets.load(f"short/{name}")
    assert (len(corpus), len(corpus.label_names)) == (documents, clusters)


def test_cve():
    corpus = datasets.load("cve")
    assert len(corpus) == 167_093
    # 80,580 have "n/a" and one has nothing.
    assert np.sum(corpus.labels == -1) == 80_581


def test_arxiv():
    corpus = datasets.load("arxiv", labels="all", max_documents=3_000)
    assert len(corpus) == 3_000
    assert corpus.is_multilabel
    assert corpus.ids[0] == "acc-phys/9502002"
    assert corpus.metadata["created"][0] == "1995-02-21"
