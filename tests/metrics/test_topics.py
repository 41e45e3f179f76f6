"""Measures of topics."""

from __future__ import annotations

import numpy as np
import pytest

from bursty.metrics import topics as measures
from samplers import oracles_topics as oracles

N_WORDS = 40


def phi():
    table = np.full((N_WORDS, 3), 0.002)
    for k in range(3):
        table[12 * k : 12 * k + 12, k] = 1.0
    return table / table.sum(axis=0)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    return oracles.make_lda(rng.integers(40, 100, size=150), np.array([0.3, 0.6, 0.2]), phi(), rng)


@pytest.mark.parametrize("measure", ["npmi", "umass"])
def test_coherence(corpus, measure):
    oracle = getattr(oracles, measure)
    rng = np.random.default_rng(0)
    scores = rng.random((5, N_WORDS))
    got = measures.coherence(scores, corpus, measure=measure, n_words=6)
    np.testing.assert_allclose(got, [oracle(np.argsort(-row)[:6], corpus) for row in scores], rtol=1e-12)


def test_coherence_prefers_real_topics(corpus):
    real_topics = phi().T
    mixed = real_topics[:, np.random.default_rng(0).permutation(N_WORDS)]
    for measure in ("npmi", "umass"):
        real, random = (measures.coherence(t, corpus, measure=measure).mean() for t in (real_topics, mixed))
        assert real > random
    never = np.array([[1, 0], [0, 1]])
    np.testing.assert_array_equal(measures.coherence([[2.0, 1.0]], never), [-1.0])
    np.testing.assert_array_equal(measures.coherence([[2.0, 1.0]], never + 1), [1.0])
    assert np.isnan(measures.coherence([[2.0]], [[1], [2]])[0])
    with pytest.raises(ValueError, match="measure must be"):
        measures.coherence(real_topics, corpus, measure="magic")
    with pytest.raises(ValueError, match="topics have shape"):
        measures.coherence(np.ones((2, 3)), corpus)


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.5, 0.5], [[0.5, 0.5]]), ([[0.5, 0.5]], [0.5, 0.5]), ([[0.5, 0.5]], [[0.2, 0.3, 0.5]])],
)
def test_topics_of_other_shapes_are_not_matched(first, second):
    with pytest.raises(ValueError, match="topics over the same words"):
        measures.match_topics(first, second)


def test_topics_are_matched_whatever_their_sums():
    order, overlap = measures.match_topics([[2.0, 2.0, 0.0]], [[0.0, 1.0, 3.0], [9.0, 3.0, 0.0], [0.0, 0.0, 1.0]])
    assert order.tolist() == [1]
    np.testing.assert_allclose(overlap, [0.75])


def test_diversity_is_the_share_of_different_words():
    topics = np.array([[5, 4, 3, 2, 1, 0], [5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5]], dtype=float)
    for n_words in (1, 2, 3, 5):
        best = [set(np.argsort(-row)[:n_words]) for row in topics]
        assert measures.diversity(topics, n_words=n_words) == len(set.union(*best)) / (3 * n_words)
    assert measures.diversity(topics) == 6 / 18  # ten words where there are six
    for wrong in (np.ones(3), np.empty((0, 3)), np.empty((2, 0))):
        with pytest.raises(ValueError, match="topics must have shape"):
            measures.diversity(wrong)
