"""The burstiest words against chance from scipy's binomial, its interval, and all words ranked one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from bursty.families import burstiest
from bursty.families.burstiest import N_WORDS, burstiest_words


def chance_of(tokens, lengths):
    """Document by document."""
    part = np.asarray(lengths) / np.sum(lengths)
    return binom.sf(1, tokens, part).sum() / binom.sf(0, tokens, part).sum()


def limit_of(again, used, n_compared):
    """Two-sided, so that each side has half of what is left."""
    return binomtest(again, used).proportion_ci(1.0 - 2.0 * 0.05 / n_compared, "wilson").low


def table(X):
    """Number of documents with each word, that repeat it, and tokens; distinct lengths and their documents."""
    lengths, documents = np.unique(X.sum(axis=1), return_counts=True)
    counts = (X > 0).sum(axis=0), (X > 1).sum(axis=0), X.sum(axis=0)
    return *(column.astype(float) for column in counts), lengths, documents.astype(float)


def documents(n_documents, n_words, seed=0):
    rng = np.random.default_rng(seed)
    present = rng.random((n_documents, n_words)) < rng.uniform(0.02, 0.3, n_words)
    return present * rng.geometric(rng.uniform(0.1, 1.0, n_words), (n_documents, n_words))


@pytest.mark.parametrize(("n_documents", "n_words"), [(60, 30), (80, 1500)])
def test_the_best_of_all_words(n_documents, n_words):
    X = documents(n_documents, n_words)
    X = X[X.sum(axis=1) > 0]
    used, again = (X > 0).sum(axis=0), (X > 1).sum(axis=0)
    compared = [w for w in range(n_words) if used[w] >= max(5, 0.05 * len(X))]
    gains = {
        w: limit_of(int(again[w]), int(used[w]), len(compared)) - chance_of(X[:, w].sum(), X.sum(axis=1))
        for w in compared
    }
    expected = [w for w in sorted(gains, key=lambda w: -gains[w])[:N_WORDS] if gains[w] > 0]
    words, share, chance = burstiest_words(*table(X))
    assert words.tolist() == expected
    np.testing.assert_allclose(share, again[expected] / used[expected])
    np.testing.assert_allclose(chance, [chance_of(X[:, w].sum(), X.sum(axis=1)) for w in expected], rtol=1e-6)
    assert len(expected) >= 3


def test_most_chances_are_not_computed(monkeypatch):
    asked = []
    real = burstiest._again_by_chance
    monkeypatch.setattr(burstiest, "_again_by_chance", lambda w, *args: asked.append(len(w)) or real(w, *args))
    used, again, *rest = table(documents(80, 1500))
    burstiest.burstiest_words(used, again, *rest)
    assert 0 < sum(asked) < 0.7 * np.sum(used >= 5)


def test_no_word_without_bursts():
    """Long documents repeat words without bursts."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(5, 500, 200)
    X = np.array([rng.multinomial(n, np.full(500, 0.002)) for n in lengths])
    assert len(burstiest_words(*table(X))[0]) == 0
    bursty = np.array([rng.multinomial(n, rng.dirichlet(np.full(500, 0.02))) for n in lengths])
    words, share, chance = burstiest_words(*table(bursty))
    assert len(words) == N_WORDS
    assert np.all(share - chance > 0.2)


def test_a_word_needs_documents():
    X = np.zeros((200, 4), dtype=int)
    X[:4, 0], X[:9, 1], X[:12, 2], X[:, 3] = 9, 9, 9, 1
    assert burstiest_words(*table(X))[0].tolist() == [2], "words of fewer than ten documents are left out"


def test_lengths_of_a_few_samples():
    """The mean over samples may have fewer tokens than one document of one sample."""
    found = burstiest_words(
        np.array([6.0]), np.array([6.0]), np.array([12.0]), np.array([1, 90]), np.array([8.0, 0.05])
    )
    assert found[0].tolist() == [0]
    assert 0.0 < found[2][0] < 1.0


def test_one_document_and_none():
    assert len(burstiest_words(*table(np.array([[5, 3, 1]])))[0]) == 0
    empty = np.zeros(0)
    assert len(burstiest_words(empty, empty, empty, empty, empty)[0]) == 0
