"""Starts of EM: how many runs they take, what they keep of them, and the state they end with."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import Mixture, datasets, metrics
from bursty.engines import LocalEngine
from bursty.families import get_family
from bursty.inference import em, lsa, points, posteriors, starts

FAMILY = get_family("multinomial")
X = np.array([[4, 0, 1], [3, 1, 0], [0, 3, 2], [0, 1, 5], [1, 1, 4]])


def problem(counts=X, n_components=2, **more):
    documents = LocalEngine(1).place(sp.csr_array(np.asarray(counts).astype(np.int32)))
    more = {"labels": documents.split(None), "perturbation": 0.1, **more}
    return em.Problem(documents, FAMILY, n_components=n_components, **more)


def shares(resp, sample_weight=None):
    """Maximum likelihood of given responsibilities, with the floor of EM."""
    resp = resp if sample_weight is None else resp * sample_weight[:, None]
    tokens = X.T @ resp
    tokens = tokens + em.FLOOR * tokens.sum(axis=1, keepdims=True)
    return tokens / tokens.sum(axis=0), resp.sum(axis=0) / resp.sum()


def test_softened_labels_sum_to_one():
    """Nine tenths follow the label; all components share the rest."""
    found = starts.soften(np.array([2, 0]), 4)
    np.testing.assert_allclose(found, [[0.025, 0.025, 0.925, 0.025], [0.925, 0.025, 0.025, 0.025]])


@pytest.mark.parametrize("sample_weight", [None, np.array([1.0, 0.5, 2.0, 1.0, 3.0])])
def test_a_start_from_labels_is_the_m_step(sample_weight):
    one = problem(sample_weight=sample_weight)
    labels = one.documents.put(one.documents.split(np.array([0, 0, 1, 1, 1], dtype=np.int32)))
    state = starts._softened(one, labels)
    theta, weights = shares(starts.soften(np.array([0, 0, 1, 1, 1]), 2), sample_weight)
    np.testing.assert_allclose(state.params.theta, theta)
    np.testing.assert_allclose(state.weights, weights)
    resp = np.random.default_rng(0).dirichlet(np.ones(2), size=5)
    given = starts.from_responsibilities(one, resp)
    np.testing.assert_allclose(given.params.theta, shares(resp, sample_weight)[0])
    np.testing.assert_allclose(given.weights, shares(resp, sample_weight)[1])


def test_a_component_without_responsibility_has_hardly_any_weight():
    state = starts.from_responsibilities(problem(), np.tile([1.0, 0.0], (5, 1)))
    assert state.weights[0] == 1.0
    assert 0 < state.weights[1] < 1e-200


@pytest.mark.parametrize("sample_weight", [None, np.array([1.0, 4.0, 2.0, 1.0, 3.0])])
def test_labelled_documents_weigh_as_much_as_the_others(monkeypatch, sample_weight):
    """A labelled document belongs to its component alone; the background has the same total weight."""
    seen = []
    monkeypatch.setattr(starts, "from_responsibilities", lambda problem, resp: seen.append(resp))
    starts.labelled(problem(sample_weight=sample_weight), np.array([0, -1, 1, -1, -1]), np.random.default_rng(0))
    (resp,), one = seen, np.ones(5) if sample_weight is None else sample_weight
    np.testing.assert_array_equal(resp[[0, 2]], [[1, 0], [0, 1]])
    assert one[[1, 3, 4]] @ resp[[1, 3, 4]].sum(axis=1) == pytest.approx(one[0] + one[2])
    assert np.ptp(resp[[1, 3, 4]] / resp[[1, 3, 4]].sum(axis=1, keepdims=True), axis=0).min() > 0.01  # unevenly
    starts.labelled(problem(sample_weight=sample_weight), np.array([0, 1, 1, 0, 0]), np.random.default_rng(0))
    np.testing.assert_array_equal(seen[1].argmax(axis=1), [0, 1, 1, 0, 0])


def test_perturbed_copies_of_one_component():
    state = starts.perturb(problem(n_components=3), np.random.default_rng(0))
    np.testing.assert_array_equal(state.weights, 1 / 3)
    np.testing.assert_allclose(state.params.theta, np.tile((X.sum(axis=0) / X.sum())[:, None], 3), rtol=0.5)
    assert len(np.unique(state.params.theta[0])) == 3


@pytest.mark.parametrize(("work", "expected"), [(1e8, 10), (10.0, 2), (11 * 2 * 5.9, 5)])
def test_number_of_runs_of_kmeans(monkeypatch, work, expected):
    """Ten, but at least two, and in between as many as the work allows; the run with the largest cosine is kept."""
    monkeypatch.setattr(starts, "KMEANS_WORK", work)
    one, calls = problem(), []
    labels = [one.documents.put(one.documents.split(np.full(5, k % 2, dtype=np.int32))) for k in range(10)]

    def run(*args):
        calls.append(args)
        return labels[len(calls) - 1], 1.0 if len(calls) == 2 else 0.5

    monkeypatch.setattr(starts, "spherical_kmeans", run)
    assert one.documents.n_cells == 11
    state = starts.kmeans(one, np.random.default_rng(0))
    assert len(calls) == expected
    np.testing.assert_allclose(state.weights, [0.05, 0.95])


@pytest.mark.parametrize(
    ("kind", "work", "expected"),
    [
        ("tfidf", 1e9, 30),
        ("tfidf", 1.0, 5),
        ("tfidf", 5 * 50 * 2 * 7.9, 7),
        ("hellinger", 5 * 50 * 2 * 7.9, 7),
        ("directions", 5 * 3 * 2 * 7.9, 7),
    ],
)
def test_number_of_runs_in_a_space(monkeypatch, kind, work, expected):
    """Points x dimensions x clusters per step; the space of the rows themselves has as many dimensions as words."""
    monkeypatch.setattr(starts, "SPACE_WORK", work)
    monkeypatch.setattr(starts, "SHORT_WORK", 1.0)  # no short runs of EM
    calls = []
    monkeypatch.setattr(starts, "_from_kmeans", lambda *args: calls.append(args[3:]))
    starts._in_space(problem(), kind, np.random.default_rng(0))
    assert calls == [(expected, points.MAX_ITER)]


def test_a_sample_bounds_the_work(monkeypatch):
    monkeypatch.setattr(starts, "SPACE_WORK", 2 * 3 * 2 * 7.9)
    monkeypatch.setattr(points, "SAMPLE", 2)
    monkeypatch.setattr(starts, "SHORT_WORK", 1.0)
    calls = []
    monkeypatch.setattr(starts, "_from_kmeans", lambda *args: calls.append(args[3]))
    starts._in_space(problem(), "directions", np.random.default_rng(0))
    assert calls == [7]


@pytest.mark.parametrize(("work", "fresh", "shaken"), [(1e8, 20, 20), (1.0, 1, 0), (11 * 2 * 10 * 5.9, 3, 2)])
def test_several_starts_are_the_best_of_short_runs(monkeypatch, work, fresh, shaken):
    """Half of them from single runs of k-means, some of one step, and half from the best so far."""
    monkeypatch.setattr(starts, "SHORT_WORK", work)
    steps, judged, shaken_from = [], [], []

    def from_kmeans(problem, kind, rng, n_runs, n_steps):
        steps.append((n_runs, n_steps))
        return len(steps)

    def short_run(problem, state):
        judged.append(state)
        return {3: 1.0, -1: 2.0, -2: 1.5}.get(state, 0.0), state

    def shake(problem, state, rng):
        shaken_from.append(state)
        return -len(shaken_from)

    monkeypatch.setattr(starts, "_from_kmeans", from_kmeans)
    monkeypatch.setattr(starts, "_short_run", short_run)
    monkeypatch.setattr(starts, "_shaken", shake)
    chosen = starts._in_space(problem(n_starts=3), "tfidf", np.random.default_rng(0))
    assert (len(steps), len(shaken_from)) == (fresh, shaken)
    assert {n for n, _ in steps} == {1}
    if shaken:
        assert shaken_from == [3] + [-1] * (shaken - 1)
        assert (chosen, len(judged)) == (-1, fresh + shaken)
    else:
        assert (chosen, judged) == (1, [])  # nothing to compare with
    if fresh == 20:
        assert {n for _, n in steps} == {1, points.MAX_ITER}


def test_only_maximum_likelihood_of_small_tables_searches_for_one_start(monkeypatch):
    calls = []
    monkeypatch.setattr(starts, "_search", lambda *args: calls.append("search"))
    monkeypatch.setattr(starts, "_from_kmeans", lambda *args: calls.append("k-means"))
    cases = [("hellinger", {}), ("tfidf", {}), ("hellinger", {"tempering": True}), ("hellinger", {"prior": object()})]
    for kind, more in [*cases, ("tfidf", {"prior": object(), "n_starts": 2})]:
        starts._in_space(problem(**more), kind, np.random.default_rng(0))
    assert calls == ["search", "k-means", "k-means", "k-means", "search"]


def test_mixtures_search_for_one_start_where_likelihood_alone_counts(monkeypatch):
    searched = []
    search = starts._search
    monkeypatch.setattr(starts, "_search", lambda *args: searched.append(args[1]) or search(*args))
    table = np.tile(X, (4, 1))
    Mixture(2, random_state=0).fit(table)
    assert searched == ["hellinger"]
    Mixture(2, random_state=0, prior="shared", shrinkage=0.1).fit(table)
    assert searched == ["hellinger"]
    Mixture(2, random_state=0, n_init=2).fit(table)
    assert searched == ["hellinger"] * 3


def test_some_documents_are_moved(monkeypatch):
    """About a tenth of them to random components; the others take a step of EM."""
    counts = np.tile(X, (200, 1))
    one = problem(counts)
    state = starts.from_responsibilities(one, starts.soften(np.tile([0, 0, 1, 1, 1], 200), 2))
    resp = np.concatenate(
        [posteriors.responsibilities(chunk, None, FAMILY, state)[0] for chunk in one.documents.chunks]
    )
    expected = 0.9 * resp.mean(axis=0) + 0.1 * 0.5
    np.testing.assert_allclose(starts._shaken(one, state, np.random.default_rng(0)).weights, expected, atol=0.03)
    monkeypatch.setattr(starts, "SHAKEN", 0.0)
    still, step = starts._shaken(one, state, np.random.default_rng(0)), one.maximise(one.expectation(state), None)
    np.testing.assert_allclose(still.weights, step.weights, rtol=1e-6)
    np.testing.assert_allclose(still.params.theta, step.params.theta, rtol=1e-4)
    monkeypatch.setattr(starts, "SHAKEN", 1.0)
    labels = np.random.default_rng(3)
    labels.random(1000)  # which documents move
    forgotten = starts.from_responsibilities(one, np.eye(2)[labels.integers(2, size=1000)])
    moved = starts._shaken(one, state, np.random.default_rng(3))
    np.testing.assert_allclose(moved.params.theta, forgotten.params.theta, rtol=1e-9)


def test_a_short_run_is_ten_steps_of_em():
    one = problem()
    begin = starts.from_responsibilities(one, starts.soften(np.array([0, 1, 0, 1, 0]), 2))
    score, found = starts._short_run(one, begin)
    state = begin
    for _ in range(10):
        expectation = one.expectation(state)
        state = one.maximise(expectation, state.params)
    np.testing.assert_allclose(found.params.theta, state.params.theta)
    assert score == (expectation.resp.min() >= starts.LEAST_DOCUMENTS, pytest.approx(expectation.log_evidence))


def test_a_short_run_that_leaves_a_component_one_document_comes_last():
    one = problem(100 * np.vstack([X, X, [[1, 0, 0]]]))
    groups = np.array([*[0, 0, 1, 1, 1] * 2, 0]), np.array([0] * 10 + [1])
    scores = [starts._short_run(one, starts.from_responsibilities(one, np.eye(2)[labels]))[0] for labels in groups]
    assert [enough for enough, _ in scores] == [True, False]


@pytest.mark.parametrize("kind", ["tfidf", "hellinger", "directions"])
def test_a_space_is_made_once_and_has_the_same_bits(monkeypatch, kind):
    """Of as many dimensions as there are clusters, if these are more than 50."""
    made, coordinates = [], lsa.coordinates

    def counted(documents, directions, rank, *args):
        made.append(rank)
        return coordinates(documents, directions, rank, *args)

    monkeypatch.setattr(lsa, "coordinates", counted)
    one, again = problem(), problem()
    for rng in (np.random.default_rng(0), np.random.default_rng(1)):
        starts._from_kmeans(one, kind, rng, 1, 5)
    starts._from_kmeans(again, kind, np.random.default_rng(2), 1, 5)
    assert made == ([] if kind == "directions" else [50, 50])
    same = [documents.documents.gather(documents.spaces[kind]).tobytes() for documents in (one, again)]
    assert same[0] == same[1]
    monkeypatch.setattr(starts, "SPACE_RANK", 2)
    starts._from_kmeans(problem(n_components=4), kind, np.random.default_rng(0), 1, 5)
    assert made[2:] == ([] if kind == "directions" else [4])


@pytest.mark.parametrize("name", starts.STARTS)
def test_every_start_finds_clear_clusters(name):
    corpus = datasets.make_bursty_mixture(n_documents=60, n_words=60, n_components=3, mean_length=60, random_state=0)[0]
    one = problem(corpus.counts.toarray(), 3)
    state = starts.STARTS[name](one, np.random.default_rng(0))
    assert state.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(state.params.theta.sum(axis=0), 1.0)
    if name != "perturb":
        labels = np.concatenate([posteriors.label(chunk, None, FAMILY, state)[0] for chunk in one.documents.chunks])
        assert metrics.normalized_mutual_information(corpus.labels, labels) > 0.8
