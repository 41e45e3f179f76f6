"""The number of topics by document completion."""

from __future__ import annotations

import numpy as np
import pytest

import bursty
from bursty import DCMLDA, LDA
from bursty.models import topics_selection
from samplers import oracles_topics as oracles

KINDS = [DCMLDA, LDA]
N_TOPICS, N_WORDS = 6, 90


@pytest.fixture(scope="module")
def counts():
    """Documents of six topics with words of their own."""
    rng = np.random.default_rng(0)
    beta = np.full((N_WORDS, N_TOPICS), 0.02)
    for k in range(N_TOPICS):
        beta[15 * k : 15 * k + 15, k] = 2.0
    return oracles.make_dcmlda(rng.integers(30, 60, size=240), np.full(N_TOPICS, 0.1), beta, rng)[0]


def auto(kind, **options):
    return kind("auto", random_state=0, n_iter=20, tol=0, burn_in=10, n_samples=3, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_that_predicts_best(kind, counts, monkeypatch, tmp_path):
    monkeypatch.setattr(topics_selection, "NUMBERS", (1, 2, 6, 20, 30))
    model = auto(kind).fit(counts)
    chosen = model.selection_
    assert chosen.criterion == "completion"
    assert chosen.n_components == len(model.alpha_) == chosen.ks[np.argmax(chosen.scores)]
    assert chosen.n_components >= 6
    assert np.all(chosen.scores[:2] + chosen.standard_errors[:2] < chosen.scores.max())
    assert chosen.standard_errors[np.argmax(chosen.scores)] == 0
    assert model.transform(counts[:3]).shape == (3, chosen.n_components)
    again = auto(kind, n_jobs=2).fit(counts)
    np.testing.assert_array_equal(again.components_, model.components_)
    bursty.save(model, tmp_path / "model.bursty")
    loaded = bursty.load(tmp_path / "model.bursty")
    np.testing.assert_array_equal(loaded.selection_.scores, chosen.scores)
    model.partial_fit(counts[:20])
    assert len(model.alpha_) == chosen.n_components
    # A warm start has the number it had.
    model.set_params(warm_start=True, n_iter=2).fit(counts)
    assert len(model.alpha_) == chosen.n_components


def test_the_search_ends_when_more_topics_do_not_help(counts, monkeypatch):
    monkeypatch.setattr(topics_selection, "NUMBERS", (1, 2, 3))
    tried = []

    class Worse(DCMLDA):
        def log_predictive(self, X, held=None, *, random_state=None):
            tried.append(len(self.alpha_))
            return np.full(24, -float(len(self.alpha_))), np.ones(24)

    selection = topics_selection.select_topics(Worse(2, n_iter=1, tol=0), DCMLDA(2)._place(counts, reset=True), 0)
    assert tried == [1, 2, 3]
    assert selection.n_components == 1
    monkeypatch.setattr(topics_selection, "NUMBERS", (1, 2, 3, 4, 5))
    tried.clear()
    topics_selection.select_topics(Worse(2, n_iter=1, tol=0), DCMLDA(2)._place(counts, reset=True), 0)
    assert tried == [1, 2, 3]


def test_few_documents_and_words():
    model = auto(LDA).fit(np.eye(4, dtype=int) * 5 + 1)
    assert len(model.alpha_) <= 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": "many"}, 'or "auto"'),
        ({"n_components": "auto", "alpha": [0.1, 0.2]}, "give one number"),
    ],
)
def test_bad_parameters(kind, options, message, counts):
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(counts)
