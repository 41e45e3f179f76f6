"""One large count takes no memory by its value; what cannot be done with it is refused before anything is allocated."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

import bursty
from bursty import families, metrics

TOP = 2**31 - 1
LARGE = np.array([[TOP - 3, 1, 0, 2], [1, 3, 2, 0], [0, 2, 5, 1], [3, 0, 1, 1], [2, 2, 0, 1], [TOP - 9, 1, 1, 4]])
TOO_LARGE = np.array([[TOP, 1, 0, 2], [1, 3, 2, 0]])


def peak(function):
    """What a function gives, and the memory that Python and numpy took for it."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("family", ["Multinomial", "DCM", "EDCM", "VonMisesFisher", "Dirichlet"])
def test_families(family):
    kind = getattr(families, family)
    options = {} if family == "VonMisesFisher" else {"smoothing": 0.01}
    log_prob, taken = peak(lambda: kind(**options).fit(LARGE).log_prob(LARGE))
    assert np.all(np.isfinite(log_prob))
    assert taken < 40 * 2**20
    if family not in ("VonMisesFisher", "Dirichlet"):  # which are densities
        assert np.all(log_prob <= 0)


@pytest.mark.parametrize("family", ["multinomial", "dcm", "edcm"])
def test_mixtures_and_classifiers(family):
    mixture, taken = peak(lambda: bursty.Mixture(2, family=family, random_state=0).fit(LARGE))
    assert np.isfinite(mixture.score(LARGE))
    np.testing.assert_allclose(mixture.weights_.sum(), 1.0)
    assert taken < 40 * 2**20
    classifier, taken = peak(lambda: bursty.BayesClassifier(family).fit(LARGE, [0, 1, 0, 1, 0, 1]))
    np.testing.assert_allclose(classifier.predict_proba(LARGE).sum(axis=1), 1.0)
    assert taken < 40 * 2**20


def test_files_and_measures(tmp_path):
    path = tmp_path / "docword.a.txt"
    path.write_text(f"3\n4\n4\n1 1 {TOP - 10}\n1 2 3\n2 3 1\n3 4 2\n")
    corpus, taken = peak(lambda: bursty.read_corpus(path))
    assert corpus.describe().tokens == TOP - 10 + 6
    assert taken < 40 * 2**20
    _, taken = peak(lambda: (metrics.burstiness(LARGE), metrics.count_probabilities(LARGE)))
    assert taken < 40 * 2**20


@pytest.mark.parametrize(
    "model",
    [bursty.LDA(2, n_iter=1), bursty.DCMLDA(2, n_iter=1), bursty.DPMFS(n_iter=4, family="multinomial")],
    ids=lambda model: type(model).__name__,
)
def test_what_walks_tokens_asks_for_memory_first(model, monkeypatch):
    monkeypatch.setenv("BURSTY_MAX_MEMORY", "1GB")

    def refused():
        with pytest.raises(ValueError, match=r"needs about [\d,]+ bytes of memory, and 1,000,000,000 are free"):
            model.fit(LARGE)

    assert peak(refused)[1] < 40 * 2**20


def test_new_documents_ask_too(monkeypatch):
    monkeypatch.setenv("BURSTY_MAX_MEMORY", "1GB")
    small = np.minimum(LARGE, 5)
    model = bursty.LDA(2, n_iter=1, tol=0, random_state=0).fit(small)
    with pytest.raises(ValueError, match="needs about"):
        model.transform(LARGE)


def test_tables_of_large_counts():
    with pytest.raises(ValueError, match=r"above the maximum of 32,768 for DPMFS with DCM components"):
        bursty.DPMFS(n_iter=4, family="dcm").fit(LARGE)


@pytest.mark.parametrize(
    "model",
    [families.DCM(), families.EDCM(), bursty.Mixture(2), bursty.LDA(2), bursty.DPMFS(), bursty.Corpus],
    ids=lambda model: getattr(type(model), "__name__", "Corpus"),
)
def test_documents_that_are_too_long(model):
    with pytest.raises(ValueError, match=r"row 0 has 2,147,483,650 tokens, above the 2,147,483,647"):
        model(TOO_LARGE) if isinstance(model, type) else model.fit(TOO_LARGE)


def test_fractions_whose_squares_overflow():
    with pytest.raises(ValueError, match=r"row 0 has 1e\+200 tokens, above the 1e\+150"):
        families.VonMisesFisher().fit(np.array([[1e200, 1.0], [1.0, 2.0]]))
