"""What holds for the kernels of a card, on it or in numba's simulator: ``python tests/kernels/cuda_cases.py``.

Plain functions: `test_cuda` runs them in the simulator, ``benchmarks.gpu`` on a card, with more documents there.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from numba import cuda
from scipy import stats as laws

sys.path.insert(0, str(Path(__file__).parents[1]))

from bursty import DCMLDA, LDA, Checkpoint, Mixture, save
from bursty.engines import Chunk, Levels
from bursty.engines import cuda as engine
from bursty.engines.card import CardMatrix, copied, on_card, zeros
from bursty.engines.cuda import CudaChunk, fetch
from bursty.families import get_family, priors
from bursty.families.cuda_sparse_urns import CardListedUrns
from bursty.families.priors import UrnPrior, solve_with_prior
from bursty.families.shared import Shared
from bursty.families.sparse_urns import ListedUrns, PairUrns
from bursty.inference import cuda_em, em, posteriors
from bursty.inference.topics import cuda_dcmlda, cuda_lda, cuda_maximise, cuda_sweeps, dcmlda
from bursty.inference.topics.cuda_sweeps import Shape, Sweep
from bursty.kernels import streams
from bursty.kernels.cuda import gibbs, variates
from bursty.kernels.cuda.lanes import SIMULATED
from bursty.samplers import lda
from bursty.samplers.dcmlda import Hyperparameters
from samplers import oracles_topics as oracles

if SIMULATED:  # where each thread costs time
    cuda_sweeps.SHAPES, cuda_sweeps.MOVES, cuda_sweeps._COUNTING = ((2**31, 2, 4),), (2, 2), 2


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
    return swept_by(dense, topics, lambda d, *counts: conditional(*counts), along, seed, number, offset)


def swept_by(dense, topics, weigh, along, seed, number, offset):
    """The same, with weights that depend on the document, or weights and the order in which topics are laid along."""
    n_topics, topics, first = len(along), topics.astype(int), 0
    for d, row in enumerate(dense):
        words = np.repeat(np.arange(len(row)), row)
        own = topics[first : first + len(words)]
        draws = np.floor(oracles.uniforms(seed, number, offset + d, len(words)) * 2**24) / 2**24
        for i, word in enumerate(words):
            rest = np.delete(own, i)
            n_w = np.bincount(rest[np.delete(words, i) == word], minlength=n_topics)
            found = weigh(d, np.bincount(rest, minlength=n_topics), n_w, word)
            weights, order = found if isinstance(found, tuple) else (found, along)
            ends = np.cumsum(weights[order])
            own[i] = order[np.searchsorted(ends, draws[i] * ends[-1], "right")]
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
        found, tallies = copied(topics), empty_tallies(chunk, n_topics)
        weights = cuda_dcmlda.CardHyperparameters.of(params).weights
        Sweep(chunk, 3, found, weights, 7, 2, tallies, shape).run()
        expected = swept(dense, topics, conditional, n_topics, shape.n_lanes, 7, 2, 3)
        agree(fetch(found), expected)
        tallies_are_right(chunk, dense, found, tallies)


def empty_tallies(chunk, n_topics):
    tokens = chunk.on_card
    return zeros((n_topics, tokens.longest + 1), np.int32), zeros((max(1, tokens.n_levels), n_topics), np.int32)


def tallies_are_right(chunk, dense, topics, tallies):
    mixtures, words = (fetch(table) for table in tallies)
    table = tables(dense, fetch(topics), len(mixtures))
    for k, n in np.ndindex(mixtures.shape):
        assert mixtures[k, n] == (n > 0) * (table.sum(axis=1)[:, k] == n).sum()
    first = fetch(chunk.on_card.level_first)
    for word, k in np.ndindex(table.shape[1:]):
        counted = words[first[word] : first[word + 1], k]
        assert counted.tolist() == [(table[:, word, k] == v + 1).sum() for v in range(len(counted))]


def check_long_documents_are_cut(n_documents=4, n_topics=5):
    """With auxiliary variables as drawn; their distribution is checked below."""
    for bursty in (True, False):
        dense, _, params, topics = case(n_documents, n_topics, 5)
        limits = {"_LONG": 2, "_SIDE_BY_SIDE": 10**9, "_SEGMENT": 2, "_HEAVY": 2}
        with mock.patch.multiple(engine, **limits):
            chunk = CudaChunk(Chunk(sp.csr_array(dense.astype(np.int32))))
            own = chunk.on_card.segments
        assert len(own.heavy) > 0
        params = Hyperparameters(params.alpha, params.beta + 0.5)
        weights, found = cuda_dcmlda.CardHyperparameters.of(params).weights, copied(topics)
        assert weights.can_cut
        weights = replace(weights, bursty=bursty)
        shape, tallies = Shape.of(n_topics, chunk), empty_tallies(chunk, n_topics) if bursty else None
        sweep = Sweep(chunk, 3, found, weights, 7, 2, tallies, shape)
        given, ends = (None if table is None else fetch(table).copy() for table in sweep.draw_auxiliary(own))
        heavy = fetch(own.heavy)
        sweep.run()
        rows = {document: row for row, document in enumerate(own.documents)}
        place = {(row, word): i for i, (row, word) in enumerate(heavy)}
        along = np.concatenate([np.arange(lane, n_topics, shape.n_lanes) for lane in range(shape.n_lanes)])

        def weigh(
            document, n_k, n_w, word, bursty=bursty, rows=rows, place=place, given=given, ends=ends, params=params
        ):
            if document not in rows:
                return oracles.dcmlda_conditional(n_k, n_w, params.alpha, params.beta[word], params.totals)
            row = given[rows[document], : len(n_k)]
            if bursty and (rows[document], word) in place:
                return np.diff(ends[place[rows[document], word]], prepend=0.0), np.arange(len(n_k))
            return row * (params.beta[word] + n_w) if bursty else row * params.beta[word]

        if not bursty:
            short = [d for d in range(len(dense)) if d not in rows]
            assert all(dense[d].sum() <= 2 for d in short)
            dense_of_long = dense.copy()
            dense_of_long[short] = 0
            tokens = np.repeat(np.isin(np.arange(len(dense)), short), dense.sum(axis=1))
            moved = swept_by(dense, topics, weigh, along, 7, 2, 3)
            agree(fetch(found)[~tokens], moved[~tokens])
        else:
            agree(fetch(found), swept_by(dense, topics, weigh, along, 7, 2, 3))
            tallies_are_right(chunk, dense, found, tallies)
        # Where s is not above alpha, they are drawn as the others are.
        params = Hyperparameters(params.alpha + params.totals, params.beta)
        weights, found = cuda_dcmlda.CardHyperparameters.of(params).weights, copied(topics)
        assert not weights.can_cut
        Sweep(chunk, 3, found, weights, 7, 2, None, shape).run()
        plain = CudaChunk(Chunk(sp.csr_array(dense.astype(np.int32))))
        assert plain.on_card.segments is None
        expected = copied(topics)
        Sweep(plain, 3, expected, weights, 7, 2, None, shape).run()
        np.testing.assert_array_equal(fetch(found), fetch(expected))


def check_auxiliary_variables_have_their_distribution(n_documents=150):
    """r ~ Beta(n + alpha, s - alpha) in DCMLDA, g ~ Gamma(n + alpha) in LDA; heavy words Gamma(beta + n) times r."""
    counts = np.tile(np.array([[3, 1]], dtype=np.int32), (n_documents, 1))
    with mock.patch.multiple(engine, _LONG=2, _SIDE_BY_SIDE=10**9, _SEGMENT=2, _HEAVY=2):
        chunk = CudaChunk(Chunk(sp.csr_array(counts)))
        assert chunk.on_card.segments is not None
    params = Hyperparameters(np.array([0.6, 0.3]), np.array([[0.5, 1.5], [0.7, 2.0]]))
    topics = copied(np.tile(np.array([0, 0, 1, 1], dtype=np.uint8), n_documents))
    weights = cuda_dcmlda.CardHyperparameters.of(params).weights
    for bursty in (True, False):
        sweep = Sweep(chunk, 0, topics, replace(weights, bursty=bursty), 3, 1, None, Shape.of(2, chunk))
        given = fetch(sweep.draw_auxiliary(chunk.on_card.segments)[0])
        for k in range(2):
            shape = 2 + params.alpha[k]
            law = laws.beta(shape, params.totals[k] - params.alpha[k]) if bursty else laws.gamma(shape)
            assert laws.kstest(given[:, k], law.cdf).pvalue > 1e-3
    sweep = Sweep(chunk, 0, topics, weights, 3, 1, None, Shape.of(2, chunk))
    given, ends = (fetch(table) for table in sweep.draw_auxiliary(chunk.on_card.segments))
    for k, n in enumerate((2, 1)):
        ratio = np.diff(ends, prepend=0.0)[:, k] / given[:, k]
        assert laws.kstest(ratio, laws.gamma(n + params.beta[0, k]).cdf).pvalue > 1e-3


def check_moves_of_blocks_are_those_of_the_joint(n_documents=5, n_topics=4):
    """Each block goes to a topic by the joint probability of words and topics, of one document after the other."""
    dense, chunk, params, topics = case(n_documents, n_topics, 6, n_words=4)
    topics %= 2
    n_lanes = cuda_sweeps.MOVES[0]
    along = np.concatenate([np.arange(lane, n_topics, n_lanes) for lane in range(n_lanes)])
    expected, first, n_moved = topics.astype(int), 0, 0
    for d, row in enumerate(dense):
        words = np.repeat(np.arange(len(row)), row)
        own = expected[first : first + len(words)]
        for by_word, stream in ((True, streams.REGROUP), (False, streams.RELABEL)):
            draws = np.floor(oracles.uniforms(7, 2 + stream, 3 + d, len(words)) * 2**24) / 2**24
            groups = (
                [np.flatnonzero(words == word) for word in np.unique(words)] if by_word else [np.arange(len(words))]
            )
            number = 0
            for group in groups:
                for head in group:
                    block = group[own[group] == own[head]]
                    if block[0] != head or (by_word and len(block) < 2):
                        continue
                    free = [k for k in range(n_topics) if k == own[head] or not np.any(own[group] == k)]
                    logs = np.full(n_topics, -np.inf)
                    for k in free:
                        state = own.copy()
                        state[block] = k
                        logs[k] = oracles.dcmlda_log_joint(words, state, params.alpha, params.beta)
                    ends = np.cumsum(np.exp(logs - logs.max())[along])
                    new = along[np.searchsorted(ends, draws[number] * ends[-1], "right")]
                    n_moved += new != own[head]
                    own[block], number = new, number + 1
        first += len(words)
    found = copied(topics)
    cuda_sweeps.move_blocks(chunk, 3, found, cuda_dcmlda.CardHyperparameters.of(params).weights, 7, 2)
    assert n_moved > 2
    agree(fetch(found), expected)


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
    shape, found = Shape(n_lanes, -(-n_topics // n_lanes), n_threads), copied(topics)
    gibbs.sweep_kernel.cache_clear()
    with mock.patch.object(gibbs, "single", almost_one if SIMULATED else gibbs.single):
        Sweep(chunk, 0, found, cuda_dcmlda.CardHyperparameters.of(params).weights, 0, 0, None, shape).run()
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
    """Words of which a document has three tokens or more are for the kernels of words with very many."""
    with ExitStack() as limits:
        for module in (engine, cuda_dcmlda, cuda_maximise):
            limits.enter_context(mock.patch.object(module, "TALL", 2))
        limits.enter_context(mock.patch.object(cuda_dcmlda, "_FEW", 2))
        # A search for alpha that has not ended would go on in the next iteration; the processor's ends.
        limits.enter_context(mock.patch.object(cuda_maximise, "_MAX_STEPS", 50))
        statistics_and_update_are_those_of_the_processor(n_documents, n_topics)


def statistics_and_update_are_those_of_the_processor(n_documents, n_topics):
    _, chunk, params, topics = case(n_documents, n_topics, 2)
    assert len(chunk.on_card.tall) > 0
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
    # An odd number of chunks: those of the last are still on the card when they are added.
    np.testing.assert_array_equal((found + stats).words.weights, 2 * expected.words.weights)


def check_drawn_words_have_their_mean(n_documents=5, n_topics=3):
    """The shapes of the gamma variates are those of the processor; then, the mean of some draws."""
    _, chunk, params, topics = case(n_documents, n_topics, 3)
    _, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(4, 5), True)
    shapes = []

    def means(given, names, seed, number, out, start, stop):
        shapes.append(given)
        out[start:stop] = given[start:stop]

    with mock.patch.object(dcmlda.variates, "gammas", means):
        mean = dcmlda.draw_params(stats.fetch(), params, 1, 2).beta
    if SIMULATED:
        with mock.patch.object(variates, "log_gamma", lambda shape, key, step: math.log(shape)):
            found = cuda_dcmlda.draw_params(stats, params, 1, 2).fetch()
        np.testing.assert_allclose(found.beta, mean, rtol=1e-8)
    last, n_draws = cuda_dcmlda.CardHyperparameters.of(params), 2 if SIMULATED else 500
    args = stats, last.on_card, last.sums, 1
    draws = np.array([fetch(cuda_maximise.draw_beta(*args, i)[0]) for i in range(n_draws)])
    s, share = mean.sum(axis=0), mean / mean.sum(axis=0)
    error = s * np.sqrt(share * (1.0 - share) / len(draws))  # of one draw in all, which is more than there can be
    np.testing.assert_allclose(draws.sum(axis=1), np.broadcast_to(s, (len(draws), n_topics)), rtol=0.02)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * error)
    assert not np.array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(fetch(cuda_maximise.draw_beta(*args, 0)[0]), draws[0])


def check_mixture_steps_are_those_of_the_processor(n_documents=5, n_components=3):
    """With documents that have labels and weights, rows in several pieces, and the places of the last step."""
    _, chunk, params, _ = case(n_documents, n_components, 8)
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(n_documents) == 0, 2, -1)
    last = np.stack([rng.integers(0, 3, n_documents), rng.random(n_documents)], axis=1).astype(np.float32)
    last.flags.writeable = False  # as what has travelled is
    for name in ("edcm", "dcm", "multinomial"):
        family = get_family(name)
        state = posteriors.MixtureState(family.from_weights(params.beta), np.array([0.5, 0.3, 0.2]))
        for given in ((None, None, None), (labels, rng.random(n_documents) + 0.5, last)):
            with mock.patch.object(cuda_em, "_PIECE", 2):
                places, found = cuda_em.expect(chunk, *given, family, state, 2.0, True)
            expected_places, expected = em.expect(chunk, *given, family, state, 2.0, True)
            np.testing.assert_allclose(fetch(places), expected_places, rtol=1e-5)
            np.testing.assert_array_equal(found.sizes, expected.sizes)
            np.testing.assert_allclose(found.moved, expected.moved, rtol=1e-5)
            ours, theirs = found.expectation, expected.expectation
            np.testing.assert_allclose(ours.resp, theirs.resp, rtol=1e-5)
            np.testing.assert_allclose(ours.log_evidence, theirs.log_evidence, rtol=1e-6)
            for field in fields(ours.stats):
                both = (getattr(stats, field.name) for stats in (fetch(ours.stats), theirs.stats))
                one, other = (getattr(part, "weights", part) for part in both)
                assert isinstance(one, np.ndarray)
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-8)


def check_the_last_m_step_is_that_of_the_processor(n_words=7, n_topics=3):
    """s under the prior, from pairs of which some are alike and some have long gaps between their levels."""
    rng = np.random.default_rng(0)
    items = np.sort(rng.choice(n_words * n_topics, size=n_words * n_topics - 4, replace=False))
    sizes = rng.integers(1, 4, size=len(items))
    values = np.concatenate([np.sort(rng.choice([1, 2, 3, 17, 100, 900], size, replace=False)) for size in sizes])
    weights = rng.integers(1, 9, size=(len(values), 1)) * 0.5
    levels = Levels(np.repeat(items, sizes).astype(np.int32), values.astype(np.int32), weights, n_words * n_topics)
    lengths = Levels(
        np.zeros(3, dtype=np.int32), np.array([3, 50, 1000], dtype=np.int32), np.full((3, n_topics), 40.0), 1
    )
    urns = PairUrns(levels, n_topics)
    ours, theirs = CardListedUrns(urns), ListedUrns(urns)
    start = np.append(rng.gamma(1.0, size=len(theirs.types)), np.zeros(n_topics))
    for found, expected in zip(ours.tables(start, 0.3), theirs.tables(start, 0.3), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    with mock.patch.object(priors, "_MAX_ROUNDS", 3):
        found, expected = (solve_with_prior(own, lengths, UrnPrior()) for own in (ours, theirs))
    np.testing.assert_allclose(found.s, expected.s, rtol=1e-7)
    np.testing.assert_allclose(found.alpha, expected.alpha, rtol=1e-7)
    _, chunk, params, topics = case(4, n_topics, 2)
    stats = cuda_dcmlda.begin_statistics(chunk, 0, topics, n_topics)
    method = dcmlda.Method(prior=UrnPrior())
    with mock.patch.object(priors, "_MAX_ROUNDS", 3):
        found, expected = cuda_dcmlda.conclude(method, stats, params), method.conclude(fetch(stats), params)
    np.testing.assert_allclose(found.beta, expected.beta, rtol=1e-6)


def check_m_steps_of_mixtures_are_those_of_the_processor(n_documents=4, n_components=3):
    """Maximum likelihood and a shared prior; empty components, and counts without repeats or with nothing else."""
    dense, chunk, params, _ = case(n_documents, n_components, 10)
    rng = np.random.default_rng(0)
    one_word = np.diag([3, 2, 0, 4, 2, 5])[:4].astype(np.int32)
    for own, weights in (
        (chunk, np.array([0.5, 0.3, 0.2])),
        (chunk, np.array([0.5, 0.5, 0.0])),
        (CudaChunk(Chunk(sp.csr_array((dense > 0).astype(np.int32)))), np.array([0.5, 0.3, 0.2])),
        (CudaChunk(Chunk(sp.csr_array(one_word))), np.array([0.5, 0.3, 0.2])),
    ):
        for name in ("edcm", "dcm", "multinomial"):
            family = get_family(name)
            state = posteriors.MixtureState(family.from_weights(params.beta), weights)
            given = None, rng.random(own.n_documents) + 0.5, None, family, state, 2.0, False
            _, step = cuda_em.expect(own, *given)
            found, expected = step.expectation, fetch(step.expectation)
            assert not isinstance(next(iter(vars(found.stats).values())), np.ndarray)
            everyone = family.summarize(own, np.ones((own.n_documents, 1)))
            shared = Shared.of(family, everyone, own.n_documents, 1.0)
            exact = ((None, None),) if own is chunk else ()
            for prior, start in ((None, state.params), (shared, state.params), *exact):
                ours = cuda_em.maximise(family, found, start, prior)
                theirs = em.maximise(family, expected, start, prior)
                assert isinstance(ours.params.table, CardMatrix)
                np.testing.assert_array_equal(ours.weights, theirs.weights)
                np.testing.assert_allclose(fetch(ours).params.table, theirs.params.table, rtol=1e-7, atol=1e-300)
                if start is not None:  # again, from parameters on the card
                    ours = fetch(cuda_em.maximise(family, found, ours.params, prior))
                    theirs = em.maximise(family, expected, theirs.params, prior)
                    np.testing.assert_allclose(ours.params.table, theirs.params.table, rtol=1e-7, atol=1e-300)
            elsewhere = cuda_em.maximise(family.with_prior(UrnPrior()), found, None, None).params
            assert isinstance(elsewhere.table, np.ndarray) == family.has_s


def check_fits_of_mixtures(n_documents=6):
    """As in this process, in one chunk or in several, with a checkpoint; what stays is plain."""
    dense = case(n_documents, 2, 11)[0]
    for family, prior, tempering, size in (("dcm", None, None, 3), ("dcm", "shared", "distinct", n_documents)):
        options = {"family": family, "prior": prior, "tempering": tempering, "max_iter": 2, "tol": 0, "n_init": 1}
        options |= {"init": np.random.default_rng(0).dirichlet(np.ones(2), size=n_documents)}
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            expected = Mixture(2, **options).fit(dense)
            with mock.patch.object(engine, "_CHUNK", size):
                every = Checkpoint(Path(folder) / "a.checkpoint", iterations=1)
                model = Mixture(2, engine="cuda", checkpoint=every, **options).fit(dense)
            np.testing.assert_allclose(model.components_, expected.components_, rtol=1e-4)
            np.testing.assert_allclose(model.trace_["log_likelihood"], expected.trace_["log_likelihood"], rtol=1e-5)
            assert isinstance(model.components_, np.ndarray)
            save(model, Path(folder) / "model.bursty")


def check_tables_have_the_arithmetic_of_statistics():
    """Sums and multiples, and nothing else."""
    values = np.arange(6.0).reshape(3, 2)
    table = CardMatrix(on_card(values))
    for found, expected in (
        (table + table, 2 * values),
        (table + np.arange(3.0)[:, None], values + np.arange(3.0)[:, None]),
        (table * np.array([2.0, 3.0]), values * np.array([2.0, 3.0])),
        (table * 0.5, values * 0.5),
        (table / np.array([2.0, 3.0]), values / np.array([2.0, 3.0])),
    ):
        assert isinstance(found, CardMatrix)
        np.testing.assert_array_equal(np.asarray(found), expected)
    np.testing.assert_array_equal(table.sum(axis=0), values.sum(axis=0))
    for wrong in (lambda: table - table, lambda: np.log(table), lambda: 2.0 * table):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="axis 0"):
        table.sum(axis=1)


def check_directions_are_those_of_the_processor(n_documents=5, n_components=3):
    """Von Mises-Fisher, with dense rows (some without a direction, in pieces) and with counts."""
    _, chunk, _, _ = case(n_documents, n_components, 9)
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((n_documents, 7)).astype(np.float32)
    rows[2] = 0.0
    family, labels = get_family("vonmisesfisher"), np.where(np.arange(n_documents) == 3, 2, -1)
    last = np.stack([rng.integers(0, 3, n_documents), rng.random(n_documents)], axis=1).astype(np.float32)
    for one in (*engine.CudaEngine(1).place(rows).chunks, chunk):
        mu = rng.standard_normal((one.n_words, n_components))
        params = family.parameters_type(mu / np.linalg.norm(mu, axis=0), np.array([0.5, 3.0, 20.0]))
        state = em.MixtureState(params, np.array([0.5, 0.3, 0.2]))
        for given in ((None, None, None), (labels, rng.random(n_documents) + 0.5, last)):
            with mock.patch.object(cuda_em, "_PIECE_OF_POINTS", 2):
                places, found = cuda_em.expect(one, *given, family, state, 1.0, False)
            expected_places, expected = em.expect(one, *given, family, state, 1.0, False)
            assert not isinstance(places, np.ndarray)
            np.testing.assert_allclose(fetch(places), expected_places, rtol=1e-5)
            np.testing.assert_allclose(found.moved, expected.moved, rtol=1e-5)
            ours, theirs = found.expectation, expected.expectation
            np.testing.assert_allclose(ours.log_evidence, theirs.log_evidence, rtol=1e-6)
            np.testing.assert_allclose(ours.stats.resultant, theirs.stats.resultant, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(ours.stats.weight, theirs.stats.weight, rtol=1e-6)


def check_products_of_many_tiles():
    """More rows, coordinates and columns than a tile has, and none at all."""
    rng = np.random.default_rng(2)
    for n_rows, n_columns in ((11, 9), (0, 3)):
        rows = rng.standard_normal((n_rows, 5)).astype(np.float32)
        (chunk,) = engine.CudaEngine(1).place(np.vstack([rows, np.ones((1, 5), dtype=np.float32)])).chunks
        own, table = cuda_em.CardChunk(chunk).points, rng.standard_normal((5, n_columns))
        directions = own.directions.copy_to_host().astype(np.float64)
        found = own.products(table, np.arange(float(n_columns))).copy_to_host()
        np.testing.assert_allclose(found, directions @ table + np.arange(n_columns), rtol=1e-12)
        weights = rng.random((n_rows + 1, n_columns))
        with mock.patch.object(cuda_em, "_PIECE_OF_POINTS", 3):
            found = own.sum_rows(on_card(weights)).copy_to_host()
        np.testing.assert_allclose(found, directions.T @ weights, rtol=1e-12, atol=1e-15)


def check_chunks_leave_a_small_card():
    """Counts that do not fit are cut into chunks, and each makes room for the next."""
    counts = sp.csr_array(np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 2, 2]], dtype=np.int32))
    chunks = []

    def n_here():
        return sum("on_card" in chunk.__dict__ for chunk in chunks)

    def room():
        return 500 - 400 * n_here()

    with mock.patch.object(engine, "room", room), mock.patch.object(engine, "_resident", []):
        chunks += engine.CudaEngine(1).place(counts).chunks
        assert len(chunks) > 1
        for chunk in chunks:
            assert chunk.on_card.n_levels > 0
            assert n_here() == 1
        with mock.patch.object(engine, "room", return_value=10), pytest.raises(MemoryError, match="partial_fit"):
            engine.make_room(11)


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
