"""Moves of many tokens at once: draws from the conditional distribution of a block's topic, by lists of all states."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from bursty.engines import Chunk
from bursty.kernels import gibbs_blocks, threads
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import HeldWords, State, Tokens, random_topics
from samplers import oracles_topics as oracles

ALPHA = np.array([0.7, 1.6, 0.4, 0.2])
BETA = np.array([[0.05, 2.0, 0.3, 1.0], [1.2, 0.1, 0.3, 0.4], [0.05, 0.4, 4.0, 0.1], [0.9, 0.1, 0.3, 0.8]])
PHI = BETA / BETA.sum(axis=0)
WORDS = np.array([0, 0, 0, 1, 3, 3])
MODELS = {"dcmlda": dcmlda.Hyperparameters(ALPHA, BETA), "lda": lda.Topics(ALPHA, PHI)}


def tokens_of(dense):
    return Tokens.numbered(Chunk(sp.csr_array(np.asarray(dense, dtype=np.int32))), 0)


def copies(n):
    return tokens_of(np.tile(np.bincount(WORDS, minlength=4), (n, 1)))


def log_joint(name, z):
    if name == "dcmlda":
        return oracles.dcmlda_log_joint(WORDS, z, ALPHA, BETA)
    return oracles.log_beta(np.bincount(z, minlength=4) + ALPHA) + np.log(PHI[WORDS, list(z)]).sum()


def moved(z, block, k):
    result = np.array(z)
    result[block] = k
    return tuple(int(topic) for topic in result)


def relabelled(name, z):
    """Distribution of the states after each topic, in the order they occur, was drawn anew."""
    states = {tuple(z): 1.0}
    for first in dict.fromkeys(z):
        block = [i for i, k in enumerate(z) if k == first]
        after = {}
        for state, p in states.items():
            others = {k for i, k in enumerate(state) if i not in block}
            targets = [moved(state, block, k) for k in range(4) if k not in others]
            weights = np.exp([log_joint(name, target) for target in targets])
            for target, weight in zip(targets, weights / weights.sum(), strict=True):
                after[target] = after.get(target, 0.0) + p * weight
        states = after
    return states


def regrouped(z):
    """The same for the tokens of a word in one topic, where there are several, among topics above the floor."""
    states = {tuple(z): 1.0}
    for word in np.unique(WORDS):
        own = np.flatnonzero(word == WORDS)
        listed = [k for k in range(4) if BETA[word, k] > BETA[:, k].min()]
        for first in dict.fromkeys(z[i] for i in own):
            block = [i for i in own if z[i] == first]
            if len(block) < 2:
                continue
            after = {}
            for state, p in states.items():
                others = {state[i] for i in own if i not in block}
                targets = [moved(state, block, k) for k in listed if k not in others]
                if state[block[0]] not in listed:
                    targets = [state]
                weights = np.exp([log_joint("dcmlda", target) for target in targets])
                for target, weight in zip(targets, weights / weights.sum(), strict=True):
                    after[target] = after.get(target, 0.0) + p * weight
            states = after
    return states


def check(topics, expected):
    """Rows of topics come from these states with these probabilities."""
    found, times = np.unique(topics.reshape(-1, len(WORDS)), axis=0, return_counts=True)
    seen = {tuple(int(k) for k in row): int(n) for row, n in zip(found, times, strict=True)}
    assert set(seen) <= set(expected)
    n = sum(seen.values())
    likely = [state for state, p in expected.items() if p * n >= 5]
    counts = np.array([seen.get(state, 0) for state in likely])
    goal = np.array([expected[state] for state in likely])
    if len(likely) > 1:
        rest = n - counts.sum()
        goal, counts = np.append(goal, 1 - goal.sum()), np.append(counts, rest)
        keep = goal * n >= 1e-6
        assert stats.chisquare(counts[keep], goal[keep] / goal[keep].sum() * n).pvalue > 1e-4


STARTS = [(0, 0, 0, 0, 0, 0), (1, 1, 2, 0, 2, 2), (0, 1, 0, 1, 0, 1), (3, 3, 3, 1, 1, 1), (2, 2, 1, 0, 3, 3)]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", MODELS)
def test_a_topic_is_drawn_from_its_conditional(name, start):
    n, model = 20_000, MODELS[name]
    tokens, topics = copies(n), np.tile(np.array(start, dtype=np.uint8), n)
    gibbs_blocks.relabel(tokens.documents, topics, ALPHA, *model.word_weights, 1, 2, 0, n)
    check(topics, relabelled(name, start))


@pytest.mark.parametrize("start", STARTS)
def test_the_tokens_of_a_word_are_drawn_from_their_conditional(start):
    n = 20_000
    tokens, topics = copies(n), np.tile(np.array(start, dtype=np.uint8), n)
    gibbs_blocks.regroup(tokens.documents, topics, MODELS["dcmlda"].tables, 1, 2, 0, n)
    check(topics, regrouped(start))


@pytest.mark.parametrize("name", MODELS)
def test_moves_leave_the_posterior_as_it_is(name):
    states = oracles.all_topics(len(WORDS), 4)
    weights = np.exp([log_joint(name, z) for z in states])
    weights /= weights.sum()
    n = 40_000
    drawn = np.random.default_rng(0).choice(len(states), size=n, p=weights)
    state = State(copies(n), np.array(states, dtype=np.uint8)[drawn].ravel())
    for number in range(2):
        state = MODELS[name].move_blocks(state, 3, number)
    check(state.topics, dict(zip(states, weights, strict=True)))


def prefix_joint(name, words, z):
    if name == "dcmlda":
        return oracles.dcmlda_log_joint(words, z, ALPHA, BETA)
    return oracles.log_beta(np.bincount(z, minlength=4) + ALPHA) + np.log(PHI[words, list(z)]).sum()


@pytest.mark.parametrize("name", MODELS)
def test_a_chain_begins_word_after_word(name):
    """From a word at random on, each token's topic is drawn given those before it."""
    cells = [np.flatnonzero(word == WORDS) for word in np.unique(WORDS)]
    expected = dict.fromkeys(oracles.all_topics(len(WORDS), 4), 0.0)
    for first in range(len(cells)):
        order = np.concatenate(cells[first:] + cells[:first])
        states = {(): 1.0}
        for n in range(1, len(WORDS) + 1):
            after = {}
            for state, p in states.items():
                weights = np.exp([prefix_joint(name, WORDS[order[:n]], (*state, k)) for k in range(4)])
                for k, weight in enumerate(weights / weights.sum()):
                    after[*state, k] = p * weight
            states = after
        for state, p in states.items():
            z = np.empty(len(WORDS), dtype=int)
            z[order] = state
            expected[tuple(int(k) for k in z)] += p / len(cells)
    check(MODELS[name].begin(copies(40_000), 5).topics, expected)


@pytest.fixture
def corpus():
    """Documents with blocks above and below the largest that move, an empty one, and words at their floors."""
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.4, size=(12, 30)) * rng.integers(1, 6, size=(12, 30))
    dense[4], dense[5, 3], dense[6, 2] = 0, gibbs_blocks.LARGEST + 60, 40
    beta = rng.gamma(0.2, size=(30, 7))
    beta = np.where(beta < 0.1, 0.0, beta) + rng.uniform(0.001, 0.01, size=7)
    alpha = rng.gamma(1.0, size=7) + 0.01
    return tokens_of(dense), {"dcmlda": dcmlda.Hyperparameters(alpha, beta), "lda": lda.Topics(alpha, beta)}


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_for_any_threads(corpus, name, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    tokens, models = corpus
    results = []
    for n in (1, 2, 5):
        with threads.using(n):
            state = models[name].begin(tokens, 0)
            results.append(models[name].move_blocks(models[name].sweep(state, 0, 0), 0, 0).topics.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_of_next_words_for_any_threads(corpus, name, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    tokens, models = corpus
    held = next_words(np.where(np.arange(12) == 3, 150, 10))
    state = models[name].begin(tokens, 0)
    results = []
    for n in (1, 2, 5):
        out = np.zeros(len(held.words))
        with threads.using(n):
            models[name].add_predictive(state, held, out)
        results.append(out)
    assert np.all(results[0] > 0)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def next_words(numbers):
    """As many words of each document."""
    words = np.random.default_rng(3).integers(0, 30, numbers.sum()).astype(np.int32)
    return HeldWords(np.append(0, np.cumsum(numbers)), words)


def test_threads_share_work_by_what_it_costs(corpus, monkeypatch):
    """A token of a document or of the words to come costs as much as another, and so does a topic of a word."""
    tokens, models = corpus
    numbers, costs, run = np.arange(12) % 5 * 100, [], threads.run

    def recorded(kernel, cost, *args):
        costs.append(np.diff(cost))
        run(kernel, cost, *args)

    monkeypatch.setattr(threads, "run", recorded)
    for model in models.values():
        state = model.begin(tokens, 0)
        np.testing.assert_array_equal(costs[-1], np.diff(tokens.first))
        model.add_predictive(state, next_words(numbers), np.zeros(numbers.sum()))
        np.testing.assert_array_equal(costs[-1], np.diff(tokens.first) + numbers)
        model.sweep(state, 0, 0)
        np.testing.assert_array_equal(costs[-1], np.diff(tokens.first))
    lda.Topics(ALPHA, PHI).tables  # noqa: B018 - it is computed when it is asked for
    np.testing.assert_array_equal(costs[-1], np.full(4, 4))


def test_plain_python_agrees(corpus):
    tokens, models = corpus
    model, plain = models["dcmlda"], models["lda"]
    calls = (
        *((gibbs_blocks.relabel, (each.alpha, *each.word_weights)) for each in (model, plain)),
        *((gibbs_blocks.begin, (each.alpha, *each.word_weights)) for each in (model, plain)),
        (gibbs_blocks.regroup, (model.tables,)),
    )
    for kernel, args in calls:
        compiled, interpreted = (random_topics(tokens, 7, 0) for _ in range(2))
        kernel(tokens.documents, compiled, *args, 5, 6, 0, 12)
        getattr(kernel, "py_func", kernel)(tokens.documents, interpreted, *args, 5, 6, 0, 12)
        np.testing.assert_array_equal(compiled, interpreted)
