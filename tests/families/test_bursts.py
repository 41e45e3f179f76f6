"""The test for bursts against all orders of the tokens, and what repeats mean against scipy's distributions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import betabinom, binom, binomtest, norm, pearson3, skew

from bursty.engines import Assignment, Chunk, Levels
from bursty.families.bursts import burst_test, burstiness, burstiness_of_pairs, repeat_probabilities
from bursty.families.dcm import DCMFamily


def z_and_p(X):
    stats = DCMFamily().summarize(Chunk(sp.csr_array(X)), Assignment.single(np.ones(len(X))))
    z, p = burst_test(stats.types, stats.repeats, stats.lengths)
    return float(z[0]), float(p[0])


def pairs_of_equal_tokens(words, lengths):
    """C of one order of the tokens."""
    totals = np.bincount(words)
    value, begin = 0.0, 0
    for length in lengths:
        counts = np.bincount(words[begin : begin + length], minlength=len(totals))
        value += (counts * (counts - 1) / 2 / np.maximum(totals, 1))[totals > 1].sum()
        begin += length
    return value


@pytest.mark.parametrize(
    ("words", "lengths"), [((0, 0, 0, 1, 1, 2, 3), (3, 2, 2)), ((0, 0, 0, 0, 1, 1, 1), (4, 3)), ((0, 0, 1), (2, 1))]
)
def test_moments_over_all_orders(words, lengths):
    values = np.array([pairs_of_equal_tokens(np.array(order), lengths) for order in itertools.permutations(words)])
    edges = np.cumsum((0, *lengths))
    X = np.array([np.bincount(words[a:b], minlength=4) for a, b in itertools.pairwise(edges)])
    z = (pairs_of_equal_tokens(np.array(words), lengths) - values.mean()) / values.std()
    found = skew(values)
    expected = pearson3.sf(z, found) if found > 0 else norm.sf(z)
    np.testing.assert_allclose(z_and_p(X), (z, expected), rtol=1e-9)


def test_level_and_power():
    rng = np.random.default_rng(0)
    calm = [z_and_p(rng.multinomial(rng.integers(2, 40, 8), np.full(40, 1 / 40)))[1] for _ in range(4_000)]
    for level in (0.05, 0.01, 0.001):
        assert binomtest(int(np.sum(np.array(calm) < level)), len(calm), level).pvalue > 0.001
    bursty = [z_and_p(rng.multinomial(30, rng.dirichlet(np.full(40, 1.0), 8)))[1] for _ in range(20)]
    assert np.max(bursty) < 0.05


def test_nothing_that_could_be_repeated():
    assert np.isnan(z_and_p(np.eye(3, dtype=int))[0])


@pytest.mark.parametrize("length", [2, 17, 400])
def test_repeats_against_scipy(length):
    alpha = np.array([0.0, 0.02, 0.5, 3.0, 40.0])
    s = alpha.sum()
    got = repeat_probabilities(alpha, length)
    a = alpha[1:]
    used, plain = 1 - betabinom.pmf(0, length, a, s - a), 1 - binom.pmf(0, length, a / s)
    again = used - betabinom.pmf(1, length, a, s - a)
    plain_again = plain - binom.pmf(1, length, a / s)
    np.testing.assert_allclose(got.bursty[1:], again / used, rtol=1e-6)
    np.testing.assert_allclose(got.plain[1:], plain_again / plain, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(got.mean_bursty, again.sum() / used.sum(), rtol=1e-6)
    np.testing.assert_allclose(got.mean_plain, plain_again.sum() / plain.sum(), rtol=1e-6)
    assert np.isnan(got.bursty[0])
    assert got.used[0] == 0.0


def test_without_bursts_both_are_the_same():
    got = repeat_probabilities(np.full(50, 1e8), 30)
    np.testing.assert_allclose(got.bursty, got.plain, rtol=1e-5)


def test_repeats_are_told():
    got = repeat_probabilities(np.array([1e-6, 0.05, 5.0, 20.0]), 50)
    assert str(got).startswith("a word that a document has used once is used again with probability")


@pytest.mark.parametrize(("alpha", "length"), [([-1.0, 2.0], 5), ([0.0, 0.0], 5), ([1.0, 2.0], 1), ([[1.0]], 5)])
def test_what_cannot_be_answered(alpha, length):
    with pytest.raises(ValueError, match="must"):
        repeat_probabilities(alpha, length)


def test_one_word_alone():
    got = repeat_probabilities(np.array([0.0, 3.0]), 4)
    assert got.bursty[1] == got.plain[1] == 1.0


def test_groups_of_documents():
    rng = np.random.default_rng(1)
    bursty, calm = (
        rng.multinomial(40, rng.dirichlet(np.full(60, 0.2), 30)),
        rng.multinomial(40, np.full(60, 1 / 60), 30),
    )
    X, labels = np.vstack([bursty, calm]), np.repeat([0, 1], 30)
    found = burstiness(X, labels)
    assert found.low[0] < 12.0 < found.high[0]
    assert found.s[1] > 500.0
    assert found.p_value[0] < 1e-6 < 0.001 < found.p_value[1]
    assert not found.at_limit[0]
    assert found.again[0] > 1.5 * found.again_by_chance[0]
    np.testing.assert_allclose(found.again[1], found.again_by_chance[1], atol=0.05)
    np.testing.assert_allclose(found.length, 40.0)
    assert "is used again with probability" in found.describe()[0]
    assert len(found.burstiest(0)) > 0
    assert len(found.burstiest(1)) == 0
    word, again, plain = found.burstiest(0)[0]
    used = X[:30, word] > 0
    np.testing.assert_allclose(again, np.mean(X[:30, word][used] > 1))
    assert f"Burstiest: w{word} {again:.0%} ({plain:.0%}), " in found.describe([f"w{w}" for w in range(60)])[0]
    alone = burstiness(X, np.where(labels == 0, 0, -1))
    np.testing.assert_allclose(alone.z, found.z[:1])
    # Lists of pairs say the same.
    items = [(w * 2 + k, x) for d, k in enumerate(labels) for w, x in enumerate(X[d]) if x > 0]
    keys, weights = np.unique(np.array(items), axis=0, return_counts=True)
    words = Levels(*keys.astype(np.int32).T.copy(), weights[:, None].astype(float), 120)
    sizes = Levels(np.zeros(1, dtype=np.int32), np.array([40], dtype=np.int32), np.full((1, 2), 30.0), 1)
    listed = burstiness_of_pairs(words, sizes, 2)
    np.testing.assert_allclose(listed.z, found.z, rtol=1e-9)
    np.testing.assert_allclose(listed.s, found.s, rtol=1e-3)
    np.testing.assert_array_equal(listed.words, found.words)
    np.testing.assert_allclose(listed.words_again, found.words_again)
    np.testing.assert_allclose(listed.words_by_chance, found.words_by_chance)


def test_limits_are_found():
    """But for rounding: without repeats s is at infinity, with one word per document at zero."""
    for n_words in range(2, 20):
        ones = np.eye(n_words, dtype=int)
        assert burstiness(ones * 6).at_limit[0]
        assert burstiness(ones + np.roll(ones, 1, axis=1)).at_limit[0]
        assert not burstiness(np.vstack([ones * 3, np.full((2, n_words), 2)])).at_limit[0]


@pytest.mark.parametrize("labels", [[0, 1], [0.5, 1.0, 2.0], [-1, -1, -1]])
def test_labels_are_one_whole_number_per_document(labels):
    with pytest.raises(ValueError, match=r"labels must be|left out"):
        burstiness(np.eye(3, dtype=int), labels)


@pytest.mark.parametrize("n_documents", [1, 2, 4])
def test_a_group_whose_documents_have_one_token_each(n_documents):
    """Its likelihood does not depend on s: the other groups decide, without an overflow on the way."""
    rng, single = np.random.default_rng(0), np.zeros((n_documents, 12), dtype=int)
    single[np.arange(n_documents), np.arange(n_documents)] = 1
    others = np.array([rng.multinomial(40, p) for p in rng.dirichlet(np.full(12, 0.25), size=60)])
    labels = np.repeat([0, 1, 2], [n_documents, 30, 30])
    s = burstiness(np.vstack([single, others]), labels).s
    assert 1.0 < s[0] < 10.0
