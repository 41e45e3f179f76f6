"""What holds for the kernels of a card, on it or in numba's simulator: ``python tests/kernels/cuda_cases.py``.

Plain functions: `test_cuda` runs them in the simulator, ``benchmarks.gpu`` on a card, with more documents there.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.sparse as sp
from numba import cuda

sys.path.insert(0, str(Path(__file__).parents[1]))

from bursty import DCMLDA, LDA, save
from bursty.engines import Chunk
from bursty.engines.cuda import CudaChunk, fetch
from bursty.inference.topics import cuda_dcmlda, cuda_lda, cuda_sweeps, dcmlda
from bursty.inference.topics.cuda_sweeps import Shape
from bursty.kernels.cuda import gibbs
from bursty.kernels.cuda.lanes import SIMULATED
from bursty.samplers import lda
from bursty.samplers.dcmlda import Hyperparameters
from samplers import oracles_topics as oracles

if SIMULATED:  # where each thread costs time
    cuda_sweeps.SHAPES = ((2**31, 2, 4),)


def case(n_documents, n_topics, seed=0, n_words=6):
    """Counts with repeated words and an empty document; parameters."""
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.4, size=(n_documents, n_words)) * rng.integers(1, 4, size=(n_documents, n_words))
    dense[1] = 0
    chunk = CudaChunk(Chunk(sp.csr_array(dense.astype(np.int32))))
    params = Hyperparameters(rng.gamma(1.0, size=n_topics) + 0.1, rng.gamma(0.5, size=(n_words, n_topics)) + 0.01)
    topics = rng.integers(0, n_topics, size=int(dense.sum())).astype(np.uint8)
    return dense, chunk, params, topics


def swept(dense, topics, conditional, n_topics, n_lanes, seed, number, offset):
    """One sweep in plain Python; topics are laid along the unit interval lane by lane."""
    along = np.concatenate([np.arange(lane, n_topics, n_lanes) for lane in range(n_lanes)])
    topics, first = topics.astype(int), 0
    for d, row in enumerate(dense):
        words = np.repeat(np.arange(len(row)), row)
        own = topics[first : first + len(words)]
        draws = np.floor(oracles.uniforms(seed, number, offset + d, len(words)) * 2**24) / 2**24
        for i, word in enumerate(words):
            rest = np.delete(own, i)
            n_w = np.bincount(rest[np.delete(words, i) == word], minlength=n_topics)
            ends = np.cumsum(conditional(np.bincount(rest, minlength=n_topics), n_w, word)[along])
            own[i] = along[np.searchsorted(ends, draws[i] * ends[-1], "right")]
        first += len(words)
    return topics


def tables(dense, topics, n_topics):
    """Tokens by document, word and topic."""
    out = np.zeros((*dense.shape, n_topics), dtype=int)
    documents, words = (np.repeat(numbers.ravel(), dense.ravel()) for numbers in np.indices(dense.shape))
    np.add.at(out, (documents, words, topics), 1)
    return out


def shapes(n_topics):
    """Those of a card, or few threads where each costs time."""
    choices = ((2, 4),) if SIMULATED else ((4, 64), (8, 128), (16, 128), (32, 256))
    return [Shape(n_lanes, -(-n_topics // n_lanes), threads) for n_lanes, threads in choices]


def agree(found, expected):
    """The same, but for draws so near the edge of a topic that single precision decides."""
    assert np.count_nonzero(found != expected) <= len(found) // 1000, (found, expected)


def check_dcmlda_sweep_is_that_of_the_formula(n_documents=4, n_topics=5):
    dense, chunk, params, topics = case(n_documents, n_topics)

    def conditional(n_k, n_w, word):
        return oracles.dcmlda_conditional(n_k, n_w, params.alpha, params.beta[word], params.totals)

    for shape in shapes(n_topics):
        found = cuda_sweeps.copied(topics)
        n_levels = max(1, chunk.on_card.n_levels)
        mixtures = cuda_sweeps.zeros((n_topics, chunk.on_card.longest + 1), np.int32)
        words = cuda_sweeps.zeros((n_levels, n_topics), np.int32)
        weights = cuda_dcmlda.CardHyperparameters.of(params).weights
        cuda_sweeps.sweep(chunk, 3, found, weights, 7, 2, (mixtures, words), shape)
        expected = swept(dense, topics, conditional, n_topics, shape.n_lanes, 7, 2, 3)
        agree(fetch(found), expected)
        table = tables(dense, fetch(found), n_topics)
        for k, n in np.ndindex(mixtures.shape):
            assert fetch(mixtures)[k, n] == (n > 0) * (table.sum(axis=1)[:, k] == n).sum()
        first = fetch(chunk.on_card.level_first)
        for word, k in np.ndindex(table.shape[1:]):
            counted = fetch(words)[first[word] : first[word + 1], k]
            assert counted.tolist() == [(table[:, word, k] == v + 1).sum() for v in range(len(counted))]


def check_lda_sweep_is_that_of_the_formula(n_documents=4, n_topics=5):
    dense, chunk, params, topics = case(n_documents, n_topics, 1)
    phi = (params.beta / params.beta.sum(axis=0)).astype(np.float32)
    model = lda.Topics(params.alpha, phi)

    def conditional(n_k, n_w, word):
        return (n_k + params.alpha) * phi[word]

    found, words = cuda_lda.sweep(chunk, 0, topics, model, 7, 2, np.int32)
    n_lanes = Shape.of(n_topics, chunk).n_lanes
    agree(fetch(found), swept(dense, topics, conditional, n_topics, n_lanes, 7, 2, 0))
    np.testing.assert_array_equal(words.fetch(), tables(dense, fetch(found), n_topics).sum(axis=0))


def check_lanes_without_topics_get_no_tokens(n_documents=12, n_topics=5):
    """Draws at the upper end, where the sums of lanes differ by roundings (in the simulator, which keeps no cache)."""
    _, chunk, params, topics = case(n_documents, n_topics, 3)
    n_lanes, n_threads = (8, 8) if SIMULATED else (32, 64)
    shape, found = Shape(n_lanes, -(-n_topics // n_lanes), n_threads), cuda_sweeps.copied(topics)
    gibbs.sweep_kernel.cache_clear()
    with mock.patch.object(gibbs, "single", almost_one if SIMULATED else gibbs.single):
        cuda_sweeps.sweep(chunk, 0, found, cuda_dcmlda.CardHyperparameters.of(params).weights, 0, 0, None, shape)
    gibbs.sweep_kernel.cache_clear()
    assert fetch(found).max() < n_topics


@cuda.jit(device=True)
def almost_one(key, step, draw):
    return np.float32(1.0 - 2.0**-24)


def check_phi_is_a_dirichlet(n_words=12, n_topics=2):
    counts = np.random.default_rng(0).integers(0, 30, size=(n_words, n_topics))
    beta = np.full(n_words, 0.3)
    draws = np.array([cuda_lda.new_phi(counts, beta, 0, i).fetch() for i in range(4 if SIMULATED else 500)])
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, rtol=1e-5)
    mean = lda.mean_phi(counts, beta)
    error = np.sqrt(mean * (1.0 - mean) / (counts + beta[:, None]).sum(axis=0) / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * error)


def check_statistics_and_update_are_those_of_the_processor(n_documents=5, n_topics=3):
    _, chunk, params, topics = case(n_documents, n_topics, 2)
    method, numbers = dcmlda.Method(), range(4, 6)
    moved, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, numbers, True)
    state = dcmlda.State(dcmlda.Tokens.numbered(chunk, 0), fetch(moved))
    total = float(dcmlda.log_joint(state, params).sum())
    expected, found = dcmlda.statistics(state, n_topics, total), stats.fetch()
    np.testing.assert_allclose(found.log_joint, expected.log_joint, rtol=1e-9)
    for name in ("mixtures", "lengths", "words"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        for part in ("items", "values", "weights"):
            np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part), err_msg=f"{name}.{part}")
    new, same = cuda_dcmlda.update(method, stats, params).fetch(), method.update(expected, params)
    np.testing.assert_allclose(new.alpha, same.alpha, rtol=1e-8)
    np.testing.assert_allclose(new.beta, same.beta, rtol=1e-8)
    start, begun = np.ones((6, n_topics)), cuda_dcmlda.begin_statistics(chunk, 0, moved, n_topics)
    np.testing.assert_array_equal(begun.fetch().words.weights, expected.words.weights)
    np.testing.assert_array_equal(begun.fetch().mixtures.weights, expected.mixtures.weights)
    learned = zip(
        cuda_dcmlda.learn_beta(begun, start, exact=True), dcmlda.learn_beta(expected, start, exact=True), strict=True
    )
    for ours, theirs in learned:
        np.testing.assert_allclose(fetch(ours), theirs, rtol=1e-6)
    twice = (stats * 0.5 + stats * 0.5).fetch()
    np.testing.assert_array_equal(twice.words.weights, expected.words.weights)
    np.testing.assert_array_equal(twice.lengths.weights, expected.lengths.weights)


def check_a_whole_fit():
    """Everything that a fit, more of a stream and a resumed fit take, and what stays of it is plain."""
    counts = np.array([[2, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]])
    options = {"engine": "cuda", "n_iter": 2, "n_sweeps": 1, "burn_in": 1, "n_samples": 2, "random_state": 0}
    with mock.patch.object(dcmlda, "_START_SWEEPS", 2), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (DCMLDA(2, **options).fit(counts), LDA(2, **options).fit(counts)):
            assert all(isinstance(value, np.ndarray) for value in (model.beta_, model.alpha_, model.doc_topic_))
            np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
            np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
            assert np.all(np.isfinite(model.trace_["log_likelihood"]))
            assert type(model._params).__name__ == "Hyperparameters"
            assert model._topics.shape == (6,)
            with tempfile.TemporaryDirectory() as folder:
                save(model, Path(folder) / "model.bursty")
            model.partial_fit(counts[:2])
            assert np.all(np.isfinite(model.beta_))


CASES = [function for name, function in list(globals().items()) if name.startswith("check_")]

if __name__ == "__main__":
    # The simulator's whole numbers are NumPy's, which warn where 64 bits overflow, as those of a hash do.
    warnings.filterwarnings("ignore", message="overflow encountered")
    print("in the simulator" if SIMULATED else cuda.get_current_device().name.decode())
    for function in CASES:
        began = time.perf_counter()
        function()
        print(f"{function.__name__}: passed in {time.perf_counter() - began:.1f} s", flush=True)
