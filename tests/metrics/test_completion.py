"""Document completion: the split, the mean over samples, the perplexity and its error."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import DCMLDA, LDA, Mixture, datasets
from bursty.corpus.shards import write_shards
from bursty.engines import Chunk
from bursty.inference import completion, heldout
from bursty.kernels import gibbs_predict, threads
from bursty.metrics import document_completion
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import Tokens, random_topics
from samplers import oracles_topics as oracles

ALPHA = np.array([0.7, 1.6, 0.4])
BETA = np.array([[0.05, 2.0, 0.3], [1.2, 0.1, 0.3], [0.05, 0.4, 4.0], [0.9, 0.1, 0.3]])
PHI = BETA / BETA.sum(axis=0)
OBSERVED = np.array([[3, 1, 0, 2], [0, 0, 2, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 2]])
HELD = np.array([[2, 0, 1, 1], [1, 0, 3, 0], [0, 0, 0, 0], [0, 2, 1, 0], [0, 1, 0, 1]])
MODELS = {"dcmlda": dcmlda.Hyperparameters(ALPHA, BETA), "lda": lda.Topics(ALPHA, PHI)}


def words_of(row):
    return np.repeat(np.arange(len(row)), row)


def predictive(name, words):
    """p(w | d) for all words, by the sum over all topics of the observed tokens."""
    if name == "dcmlda":
        total = oracles.dcmlda_log_prob(words, ALPHA, BETA)
        return np.exp([oracles.dcmlda_log_prob([*words, w], ALPHA, BETA) - total for w in range(4)])
    total = oracles.lda_log_prob(words, ALPHA, PHI)
    return np.exp([oracles.lda_log_prob([*words, w], ALPHA, PHI) - total for w in range(4)])


@pytest.mark.parametrize("name", MODELS)
def test_held_words_have_the_predictive_probability(name):
    chains = heldout.ShortChains(300, 5, 10)
    args = Chunk(sp.csr_array(OBSERVED)), sp.csr_array(HELD), MODELS[name], 0, chains
    got, sizes = completion.log_predictive(*args)
    np.testing.assert_array_equal(sizes, HELD.sum(axis=1))
    expected = [HELD[d] @ np.log(predictive(name, words_of(OBSERVED[d]))) for d in range(5)]
    np.testing.assert_allclose(got, expected, atol=0.02)
    assert got[2] == 0.0
    # Without observed tokens there is nothing to draw.
    np.testing.assert_allclose(got[3], expected[3], rtol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_for_any_threads_and_neighbours(name, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    results = []
    for n in (1, 2, 5):
        with threads.using(n):
            args = Chunk(sp.csr_array(OBSERVED)), sp.csr_array(HELD), MODELS[name], 7, heldout.ShortChains()
            results.append(completion.log_predictive(*args)[0])
    assert len({result.tobytes() for result in results}) == 1
    order = [4, 0, 1]
    args = Chunk(sp.csr_array(OBSERVED[order])), sp.csr_array(HELD[order]), MODELS[name], 7, heldout.ShortChains()
    np.testing.assert_array_equal(completion.log_predictive(*args)[0], results[0][order])


def test_plain_python_agrees():
    tokens, held = Tokens.by_content(Chunk(sp.csr_array(OBSERVED))), sp.csr_array(HELD)
    topics = random_topics(tokens, 3, 0)
    for kernel, group in (
        (gibbs_predict.dcmlda, MODELS["dcmlda"].tables),
        (gibbs_predict.lda, MODELS["lda"].tables),
    ):
        out, plain = np.zeros(held.nnz), np.zeros(held.nnz)
        args = tokens.documents, topics, group, held.indptr.astype(np.int64), held.indices
        kernel(*args, out, 0, 5)
        getattr(kernel, "py_func", kernel)(*args, plain, 0, 5)
        np.testing.assert_allclose(out, plain, rtol=1e-12)


def test_split_is_random_halves():
    rows = np.array([[5, 0, 2], [0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 8, 0]], dtype=np.int32)
    chunk, drawn = Chunk(sp.csr_array(rows)), []
    for seed in range(2000):
        observed, held = completion.halves(chunk, seed)
        np.testing.assert_array_equal((observed.counts + held).toarray(), rows)
        np.testing.assert_array_equal(held.sum(axis=1), [3, 0, 0, 1, 4])
        assert observed.values.min() > 0
        assert held.data.min() > 0
        drawn.append(held.toarray())
    np.testing.assert_allclose(np.mean(drawn, axis=0)[0], [3 * 5 / 7, 0, 3 * 2 / 7], atol=0.05)
    np.testing.assert_allclose(np.mean(drawn, axis=0)[3], [1 / 3] * 3, atol=0.05)
    # Hypergeometric: the variance of the count of the first word.
    np.testing.assert_allclose(np.var(drawn, axis=0)[0, 0], 3 * 5 / 7 * 2 / 7 * 4 / 6, rtol=0.15)
    tokens, held, plain = Tokens.by_content(chunk), np.empty(7, dtype=np.int32), np.empty(7, dtype=np.int32)
    gibbs_predict.hold_out(tokens.documents, 3, held, 0, 5)
    getattr(gibbs_predict.hold_out, "py_func", gibbs_predict.hold_out)(tokens.documents, 3, plain, 0, 5)
    np.testing.assert_array_equal(held, plain)


class Unigram:
    """Words are independent: completion is then known."""

    def __init__(self, p):
        self.p = np.asarray(p)

    def log_predictive(self, X, held, random_state=None):
        return held @ np.log(self.p), held.sum(axis=1)


def test_perplexity_and_its_error():
    model = Unigram([0.5, 0.25, 0.125, 0.125])
    held = HELD
    log_prob, sizes = held @ np.log(model.p), held.sum(axis=1)
    expected = np.exp(-log_prob.sum() / sizes.sum())
    assert document_completion(model, OBSERVED, held) == pytest.approx(expected)
    value, error = document_completion(model, OBSERVED, held, return_error=True)
    assert value == pytest.approx(expected)
    # The jackknife is another estimate of the same error.
    used = np.flatnonzero(sizes)
    left = [np.exp(-np.delete(log_prob, d).sum() / np.delete(sizes, d).sum()) for d in used]
    jackknife = np.sqrt((len(used) - 1) / len(used) * np.sum((left - np.mean(left)) ** 2))
    assert error == pytest.approx(jackknife, rel=0.3)
    assert np.isnan(document_completion(model, OBSERVED[:1], held[:1], return_error=True)[1])
    assert np.isfinite(document_completion(model, OBSERVED[:2], held[:2], return_error=True)[1])


@pytest.fixture(scope="module")
def corpora():
    corpus, _ = datasets.make_bursty_mixture(220, 60, 3, random_state=0)
    return corpus.select(range(160)), corpus.select(range(160, 220))


@pytest.mark.parametrize("model", [LDA, DCMLDA])
def test_of_fitted_models(corpora, model):
    train, test = corpora
    fitted = model(3, n_iter=30, tol=0, random_state=0).fit(train)
    value, error = document_completion(fitted, test, random_state=1, return_error=True)
    assert isinstance(value, float)
    assert 1 < value < 60
    assert 0 < error < value
    assert document_completion(fitted, test, random_state=1) == value
    assert document_completion(fitted.set_params(n_jobs=2), test, random_state=1) == value
    assert document_completion(fitted, test, random_state=2) != value
    assert document_completion(fitted, test, random_state=np.random.RandomState(1)) > 1
    log_prob, sizes = fitted.log_predictive(test, random_state=1)
    np.testing.assert_array_equal(sizes, test.counts.sum(axis=1) // 2)
    assert value == np.exp(-log_prob.sum() / sizes.sum())
    again = fitted.log_predictive(test, test, random_state=1)[1]
    np.testing.assert_array_equal(again, test.counts.sum(axis=1))


def test_from_disk(corpora, tmp_path):
    """Counts that are not in memory are split where they are."""
    train, test = corpora
    fitted = DCMLDA(3, n_iter=5, tol=0, random_state=0).fit(train)
    shards = write_shards(tmp_path / "shards", [test])
    assert document_completion(fitted, shards, random_state=1) == document_completion(fitted, test, random_state=1)


def test_bad_input(corpora):
    train, test = corpora
    fitted = LDA(3, n_iter=2, tol=0, random_state=0).fit(train.counts)
    with pytest.raises(TypeError, match="for topic models"):
        document_completion(Mixture(2), test)
    with pytest.raises(ValueError, match="one row per document"):
        document_completion(fitted, test.counts, test.counts[:-1])
    with pytest.raises(ValueError, match="60 features"):
        document_completion(fitted, test.counts, test.counts[:, :-1])
    with pytest.raises(ValueError, match="no tokens are held out"):
        document_completion(fitted, np.eye(60, dtype=int))
    with pytest.raises(ValueError, match="Negative"):
        document_completion(fitted, test.counts, -np.ones(test.counts.shape))


def test_error_of_documents_of_one_size_is_that_of_a_mean():
    """The standard error of the mean over documents, those without held tokens apart."""
    values = np.random.default_rng(0).normal(-20.0, 3.0, size=9)

    class Known:
        def log_predictive(self, X, held, random_state):
            return np.append(values, 0.0), np.append(np.full(9, 5.0), 0.0)

    perplexity, error = document_completion(Known(), None, return_error=True)
    assert perplexity == pytest.approx(np.exp(-values.mean() / 5))
    assert error == pytest.approx(perplexity * values.std(ddof=1) / 3 / 5)
