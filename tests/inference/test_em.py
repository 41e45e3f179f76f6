"""Steps of EM against the formulas, with multinomials, whose log-probability and maximum one can write down."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import oracles
from bursty.engines import Chunk, LocalEngine, chunks, local
from bursty.families import get_family
from bursty.families.multinomial import MultinomialParameters
from bursty.inference import em, posteriors
from bursty.inference.stopping import RelativeChange
from bursty.storage.schema import Mismatch, check

FAMILY = get_family("multinomial")
X = np.array([[4, 0, 1, 0], [0, 3, 0, 2], [1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 5], [2, 2, 0, 1]])
THETA = np.array([[0.5, 0.1, 0.2], [0.2, 0.5, 0.2], [0.2, 0.1, 0.2], [0.1, 0.3, 0.4]])
WEIGHTS = np.array([0.5, 0.3, 0.2])
STATE = posteriors.MixtureState(MultinomialParameters(THETA), WEIGHTS)
LOG_PROB = X @ np.log(THETA)
CHUNK = Chunk(sp.csr_array(X.astype(np.int32)))


def bayes(heat=1.0):
    """Posteriors and log-evidence."""
    table = LOG_PROB / heat + np.log(WEIGHTS)
    return oracles.soft_max(table), np.logaddexp.reduce(table, axis=1)


def problem(counts=X, n_components=3, **more):
    documents = LocalEngine(1).place(sp.csr_array(counts.astype(np.int32)))
    more = {"labels": documents.split(None), "perturbation": 0.1, **more}
    return em.Problem(documents, FAMILY, n_components=n_components, **more)


@pytest.mark.parametrize("temperature", [1.0, 7.0])
@pytest.mark.parametrize("tempering", [False, True])
def test_responsibilities_are_bayes_rule(temperature, tempering):
    distinct = np.array([2, 2, 3, 1, 1, 3])  # an empty document counts as one of one word
    heat = temperature * (np.sqrt(distinct)[:, None] if tempering else 1.0)
    resp, log_evidence = posteriors.responsibilities(CHUNK, None, FAMILY, STATE, temperature, tempering)
    expected = bayes(heat)
    np.testing.assert_allclose(resp, expected[0], rtol=1e-10)
    np.testing.assert_allclose(log_evidence, expected[1], rtol=1e-10, atol=1e-12)


def test_a_labelled_document_is_where_its_label_says():
    labels = np.array([2, -1, 0, -1, -1, -1])
    resp, log_evidence = posteriors.responsibilities(CHUNK, labels, FAMILY, STATE, 3.0)
    free, evidence = bayes(3.0)
    np.testing.assert_array_equal(resp[[0, 2]], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(resp[[1, 3, 4, 5]], free[[1, 3, 4, 5]])
    np.testing.assert_allclose(log_evidence[[1, 3, 4, 5]], evidence[[1, 3, 4, 5]], atol=1e-12)
    own = LOG_PROB[[0, 2], [2, 0]] / 3.0 + np.log(WEIGHTS[[2, 0]])
    np.testing.assert_allclose(log_evidence[[0, 2]], own)
    # -1 means no label, for all documents as for some.
    nobody = posteriors.responsibilities(CHUNK, np.full(6, -1), FAMILY, STATE, 3.0)
    np.testing.assert_allclose(nobody[0], free)
    # The first class is a label too where no document has another.
    first = posteriors.responsibilities(CHUNK, np.array([-1, 0, -1, -1, -1, -1]), FAMILY, STATE, 3.0)
    np.testing.assert_array_equal(first[0][1], [1, 0, 0])


def test_certainties_are_fourth_roots_of_tempered_posteriors():
    heat = np.sqrt(np.array([2, 2, 3, 1, 1, 3]))[:, None]
    roots = bayes(heat)[0] ** 0.25
    shown, log_evidence = posteriors.certainties(CHUNK, None, FAMILY, STATE, tempering=True)
    expected = roots / roots.sum(axis=1, keepdims=True)
    expected[3] = WEIGHTS  # nothing is known of an empty document
    np.testing.assert_allclose(shown, expected)
    np.testing.assert_allclose(log_evidence, bayes(heat)[1], atol=1e-12)
    plain, _ = posteriors.certainties(CHUNK, None, FAMILY, STATE, tempering=False)
    np.testing.assert_allclose(plain, bayes()[0])


def test_a_document_that_no_component_can_make_has_the_mixing_weights():
    never = posteriors.MixtureState(
        MultinomialParameters(np.array([[0.5, 0.6], [0.5, 0.4], [0.0, 0.0]])), np.array([0.25, 0.75])
    )
    chunk = Chunk(sp.csr_array(np.array([[1, 0, 1]], dtype=np.int32)))
    shown, log_evidence = posteriors.certainties(chunk, None, FAMILY, never, tempering=True)
    np.testing.assert_allclose(shown, [[0.25, 0.75]])
    assert log_evidence == -np.inf
    labels, probabilities, *_ = posteriors.label(chunk, None, FAMILY, never, tempering=True)
    assert (labels[0], probabilities[0]) == (1, 0.75)


@pytest.mark.parametrize("tempering", [False, True])
def test_label(tempering):
    labels, probabilities, seconds, second_probabilities, log_evidence = posteriors.label(
        CHUNK, None, FAMILY, STATE, tempering
    )
    shown, _ = posteriors.certainties(CHUNK, None, FAMILY, STATE, tempering)
    order = np.argsort(-shown, axis=1, kind="stable")
    np.testing.assert_array_equal(labels, order[:, 0])
    np.testing.assert_array_equal(seconds, order[:, 1])
    np.testing.assert_allclose(probabilities, np.sort(shown, axis=1)[:, -1])
    np.testing.assert_allclose(second_probabilities, np.sort(shown, axis=1)[:, -2])
    np.testing.assert_allclose(log_evidence, bayes()[1], atol=1e-12)  # never tempered


def test_places_of_given_labels_and_of_one_component():
    resp = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]])
    places = posteriors.Places.of(resp, np.array([2, 0]))
    np.testing.assert_array_equal(places.seconds, [1, 2])
    np.testing.assert_allclose(places.probabilities, [0.3, 0.7])
    np.testing.assert_allclose(places.second_probabilities, [0.5, 0.2])
    alone = posteriors.Places.of(np.ones((2, 1)))
    np.testing.assert_array_equal(alone.seconds, [-1, -1])
    np.testing.assert_array_equal(alone.second_probabilities, [0, 0])
    np.testing.assert_array_equal(alone.probabilities, [1, 1])


@pytest.mark.parametrize("sample_weight", [None, np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0])])
def test_an_e_step(sample_weight):
    one = np.ones(6) if sample_weight is None else sample_weight
    resp, log_evidence = bayes(2.0)
    last = np.array([[0, 0.9], [1, 0.2], [2, 0.1], [0, 0.5], [1, 1.0], [0, 0.0]], dtype=np.float32)
    places, step = em.expect(CHUNK, None, sample_weight, last, FAMILY, STATE, 2.0, False)
    np.testing.assert_array_equal(places[:, 0], resp.argmax(axis=1))
    np.testing.assert_allclose(places[:, 1], resp.max(axis=1), rtol=1e-6)
    np.testing.assert_allclose(step.expectation.resp, one @ resp, rtol=1e-6)
    assert step.expectation.log_evidence == pytest.approx(one @ log_evidence, rel=1e-6)
    moved = np.abs(resp[np.arange(6), last[:, 0].astype(int)] - last[:, 1])
    assert step.moved == pytest.approx(one @ moved, rel=1e-5)
    np.testing.assert_array_equal(step.sizes, np.bincount(resp.argmax(axis=1), minlength=3))
    # Every component has a trace of every document.
    np.testing.assert_allclose(step.expectation.stats.tokens, X.T @ (one[:, None] * (resp + 1e-6)), rtol=1e-5)
    first = em.expect(CHUNK, None, sample_weight, None, FAMILY, STATE, 2.0, False)[1]
    assert first.moved == pytest.approx(one.sum())  # from nowhere


def test_an_m_step_and_smoothing():
    stats = FAMILY.summarize(CHUNK, bayes()[0])
    expectation = em.Expectation(stats, bayes()[0].sum(axis=0), 0.0)
    state = em.maximise(FAMILY, expectation)
    tokens = X.T @ bayes()[0]
    np.testing.assert_allclose(state.weights, bayes()[0].mean(axis=0))
    np.testing.assert_allclose(state.params.theta, tokens / tokens.sum(axis=0))
    softer = em.smoothed(FAMILY, expectation, state, 0.5)
    # Each component borrows from all documents in proportion to its own weight.
    mixed = tokens + 0.5 * state.weights * tokens.sum(axis=1, keepdims=True) + 0.5
    np.testing.assert_allclose(softer.params.theta, mixed / mixed.sum(axis=0))
    np.testing.assert_array_equal(softer.weights, state.weights)


def test_a_prior_takes_the_place_of_maximum_likelihood():
    class Even:
        def update(self, family, stats, start=None, smoothing=0.0):
            return MultinomialParameters(np.full((4, 3), 0.25 + smoothing))

    expectation = em.Expectation(FAMILY.summarize(CHUNK, bayes()[0]), bayes()[0].sum(axis=0), 0.0)
    assert np.all(em.maximise(FAMILY, expectation, prior=Even()).params.theta == 0.25)
    assert np.all(em.smoothed(FAMILY, expectation, STATE, 0.5, Even()).params.theta == 0.75)


def test_components_in_another_order():
    order = np.array([2, 0, 1])
    other = STATE.reordered(order)
    np.testing.assert_array_equal(other.weights, WEIGHTS[order])
    np.testing.assert_array_equal(other.params.theta, THETA[:, order])


def test_a_run_goes_through_its_temperatures(monkeypatch):
    """Against a plain loop; the trace says what was seen before each M step."""
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 4))
    schedule = em.Schedule((5.0, 1.0), 3, RelativeChange(0.0))
    run = em.Run(problem(), schedule, STATE)
    theta, weights, last = THETA, WEIGHTS, None
    for heat in (5.0, 5.0, 5.0, 1.0, 1.0, 1.0):
        assert not run.done
        run.step()
        table = X @ np.log(theta) / heat + np.log(weights)
        resp = oracles.soft_max(table)
        moved = 1.0 if last is None else np.mean(np.abs(resp[np.arange(6), last[0]] - last[1]))
        assert run.score == pytest.approx(np.logaddexp.reduce(table, axis=1).mean(), rel=1e-5)
        assert run.trace["moved"][-1] == pytest.approx(moved, rel=1e-3, abs=1e-6)
        np.testing.assert_allclose(run.trace["weights"][-1], weights, rtol=1e-5)
        last = resp.argmax(axis=1), resp.max(axis=1)
        tokens = X.T @ (resp + em.FLOOR)
        theta, weights = tokens / tokens.sum(axis=0), resp.mean(axis=0)
        np.testing.assert_allclose(run.state.params.theta, theta, rtol=1e-4)
    assert run.done
    assert not run.converged
    assert run.trace["phase"] == [0, 0, 0, 1, 1, 1]
    assert run.trace["iteration"] == [0, 1, 2, 0, 1, 2]
    assert run.trace["temperature"] == [5.0] * 3 + [1.0] * 3


def test_a_phase_ends_when_its_rule_is_satisfied():
    run = em.Run(problem(), em.Schedule((5.0, 1.0), 50, RelativeChange(1.0)), STATE)
    while not run.done:
        run.step()
    assert run.trace["iteration"] == [0, 1, 0, 1]  # a rule that compares needs two steps
    assert run.converged


class AfterTwo:
    def settled(self, trace):
        return len(trace) == 2


def lost_and_found(restart, temperatures=(1e9, 1.0)):
    """Two clear groups: at a huge temperature all documents are in one component, at 1 each has its own."""
    counts = np.array([[9, 1, 0], [8, 1, 0], [0, 1, 9], [0, 2, 9], [0, 1, 8]])
    theta = np.array([[0.5, 0.3], [0.2, 0.2], [0.3, 0.5]])
    state = posteriors.MixtureState(MultinomialParameters(theta), np.array([0.4, 0.6]))
    run = em.Run(problem(counts, 2), em.Schedule(temperatures, 50, AfterTwo(), restart), state)
    while not run.done:
        run.step()
    return run


def test_a_run_that_loses_components_is_restarted_lower():
    """The components become one at the first temperature and stay so; from the start, at 1, they do not."""
    plain, again = lost_and_found(False), lost_and_found(True)
    assert plain.trace["phase"] == [0, 0, 1, 1]
    assert plain.begin is None
    assert np.ptp(plain.state.params.theta, axis=1).max() < 1e-5
    assert len(again.attempts) == 2
    assert again.attempts[0]["end"] == 4
    assert again.attempts[1]["score"] > again.attempts[0]["score"]
    assert again.score == again.attempts[1]["score"]
    assert again.trace["phase"] == [0, 0, 1, 1, 1, 1]
    labels = posteriors.label(Chunk(sp.csr_array(np.eye(3, dtype=np.int32))), None, FAMILY, again.state)[0]
    assert labels[0] != labels[2]
    # One temperature leaves nothing to restart at, and a run that loses nothing is not restarted.
    assert lost_and_found(True, (1.0,)).attempts == []
    assert len(lost_and_found(True, (2.0, 1.0)).attempts) == 1


def test_the_best_attempt_is_kept():
    run = lost_and_found(True)
    worse = em.Run(run.problem, run.schedule, run.state, run.trace, 2, 6, True, None, run.begin)
    worse.attempts = [{"state": STATE, "converged": False, "end": 4, "score": 100.0}]
    worse._start_again(n_lost=1)  # no lower temperature is left
    assert worse.state is STATE
    assert not worse.converged
    assert len(worse.trace) == 4


def test_a_run_is_resumed_where_it_stood():
    schedule = em.Schedule((5.0, 1.0), 3, RelativeChange(0.0), restart=True)
    whole, stopped = (em.Run(problem(), schedule, STATE) for _ in range(2))
    for _ in range(4):
        stopped.step()
    again = em.Run.resumed(problem(), schedule, stopped.standing())
    for run in (whole, again):
        while not run.done:
            run.step()
    assert whole.state.params.theta.tobytes() == again.state.params.theta.tobytes()
    assert whole.trace["moved"] == again.trace["moved"]
    for name, value in {"phase": 3, "phase_start": 5, "places": np.zeros((6, 3), dtype=np.float32)}.items():
        with pytest.raises(ValueError, match=name):
            em.Run.resumed(problem(), schedule, {**stopped.standing(), name: value})
    em.Run.resumed(problem(), schedule, {**stopped.standing(), "phase": 2, "phase_start": 4})
    attempt = [STATE, True, 1, 0.5]
    em.Run.resumed(problem(), schedule, {**stopped.standing(), "attempts": [attempt]})
    for wrong in (attempt[:3], [*attempt, 0.5]):
        with pytest.raises(ValueError, match="argument 2 is"):
            em.Run.resumed(problem(), schedule, {**stopped.standing(), "attempts": [wrong]})


def test_weights_stand_for_copies():
    """A document of weight 2 counts like two, in the statistics of given responsibilities and in a step."""
    weights = np.array([2.0, 1.0, 1.0, 1.0, 3.0, 1.0])
    copies = np.repeat(np.arange(6), weights.astype(int))
    one, other = problem(sample_weight=weights), problem(X[copies])
    resp = bayes()[0]
    np.testing.assert_allclose(one.statistics(resp).tokens, other.statistics(resp[copies]).tokens)
    first, second = one.expectation(STATE), other.expectation(STATE)
    np.testing.assert_allclose(first.resp, second.resp)
    assert first.log_evidence == pytest.approx(second.log_evidence)


def test_what_is_stored_is_checked():
    """Responsibilities are any non-negative numbers, and mixing weights sum to one."""
    stats = FAMILY.summarize(CHUNK, bayes()[0])
    check(em.Expectation(stats, np.array([0.0, 0.5, 7.0]), -3.0), {"n_words": 4})
    check(STATE, {"n_words": 4})
    for wrong in (
        em.Expectation(stats, np.array([-0.1, 0.5, 7.0]), -3.0),
        em.Expectation(stats, np.array([0.5, 7.0]), -3.0),
        em.Expectation(stats, np.ones(3), np.nan),
        posteriors.MixtureState(STATE.params, np.array([0.5, 0.5, 0.5])),
        posteriors.MixtureState(STATE.params, np.array([1.0, 0.5, -0.5])),
        posteriors.MixtureState(STATE.params, np.array([0.5, 0.5])),
    ):
        with pytest.raises(Mismatch):
            check(wrong, {"n_words": 4})
