"""What a fit has found out about its documents is not computed again."""

from __future__ import annotations

import numpy as np
import pytest

from bursty import DCMLDA, DPMFS, Mixture, datasets, report
from bursty.families.edcm import EDCMFamily
from bursty.inference import em, starts
from bursty.models import dpmfs
from bursty.persistence import read


@pytest.fixture
def scored(monkeypatch):
    """How often documents were scored, and how often by an E step."""
    calls = {"scored": 0, "steps": 0}

    def count(owner, name, key):
        function = getattr(owner, name)

        def counted(*args, **kwargs):
            calls[key] += 1
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    count(EDCMFamily, "log_prob", "scored")
    count(em, "expect", "steps")
    count(starts, "_summarize_shaken", "steps")
    count(dpmfs.estimate, "log_prob", "scored")
    return calls


def test_a_clustering_with_a_report_scores_each_document_once_more(bench, scored):
    """E steps, the one whose statistics are smoothed among them, and one scoring by the smoothed components."""
    outcome = bench("cluster", "mails", "--k", "2", "--family", "edcm", "--out", "new", "--report")
    assert outcome.code == 0, outcome.err
    assert scored["scored"] == scored["steps"] + 1
    before = scored["scored"]
    assert bench("report", "new/model.bursty", "--out", "page.html").code == 0
    assert scored["scored"] == before
    saved = read("new/model.bursty")
    np.testing.assert_array_equal(saved.model.probabilities_, saved.model.predict_proba(saved.corpus).max(axis=1))


def test_a_sampler_scores_its_documents_once(bench, scored):
    outcome = bench("discover", "mails", "--iterations", "8", "--out", "new", "--report")
    assert outcome.code == 0, outcome.err
    assert scored["scored"] == 1


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(60, 40, 2, random_state=0)[0]


@pytest.mark.parametrize("model", [Mixture(2, random_state=0), DPMFS(family="multinomial", n_iter=40, random_state=0)])
def test_kept_and_computed_answers_agree(model, corpus, scored):
    model.fit(corpus)
    before = scored["scored"]
    labels, probabilities = model.label_documents(corpus)
    kept = model.core_documents(corpus, 4)
    assert scored["scored"] == before
    model._fitted_on = None
    again, computed = model.label_documents(corpus)
    same = labels == again
    assert same.mean() > 0.9
    np.testing.assert_allclose(probabilities[same], computed[same])
    for rows, others in zip(kept, model.core_documents(corpus, 4), strict=True):
        np.testing.assert_array_equal(rows, others)


def test_other_documents_are_scored(corpus):
    model = Mixture(2, random_state=0).fit(corpus.select(slice(0, 50)))
    assert model.fitted_on(corpus.select(slice(0, 50)))
    assert not model.fitted_on(corpus.select(slice(10, 60)))
    np.testing.assert_array_equal(model.label_documents(corpus)[0], model.predict(corpus))
    assert "60 documents" in report.render(model, corpus)
    topics = DCMLDA(2, n_iter=3, tol=0, random_state=0).fit(corpus)
    assert topics.fitted_on(corpus)
    assert not topics.fitted_on(corpus.select(np.arange(60)[::-1]))
