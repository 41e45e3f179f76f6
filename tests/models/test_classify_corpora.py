"""The classifier on real corpora."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import MultinomialNB

from bursty import datasets
from bursty.metrics import break_even
from bursty.models.classify import BayesClassifier

pytestmark = pytest.mark.corpus


@pytest.fixture
def named(data_dir, monkeypatch):
    monkeypatch.setenv("BURSTY_DATA", str(data_dir))
    return datasets.load


@pytest.mark.parametrize("name", ["hitech", "la1", "tr41"])
def test_default_beats_tuned_naive_bayes_on_small_classes(named, name):
    corpus = named(f"zhong15/{name}")
    X, y = corpus.counts, corpus.labels
    keep = np.bincount(y)[y] >= 20
    X, y = X[keep], y[keep]
    accuracy, loss = [], []
    for seed in range(3):
        train, test = train_test_split(
            np.arange(len(y)), train_size=20 * len(np.unique(y)), random_state=seed, stratify=y
        )
        search = GridSearchCV(MultinomialNB(), {"alpha": np.geomspace(1e-4, 10, 6)}, cv=3).fit(X[train], y[train])
        models = search, BayesClassifier().fit(X[train], y[train])
        accuracy.append([model.score(X[test], y[test]) for model in models])
        loss.append([log_loss(y[test], np.clip(model.predict_proba(X[test]), 1e-15, 1)) for model in models])
    theirs, ours = np.mean(accuracy, axis=0)
    assert ours > theirs
    assert np.mean(loss, axis=0)[1] < np.mean(loss, axis=0)[0]


def test_memory_is_two_tables_above_the_documents(named):
    """And, where smoothing is learned, above the statistics and the sample that are kept for the next batch."""
    corpus = named("20news-18828", min_df=2)
    X, y = corpus.counts, corpus.labels
    some = X[::5]
    documents, table = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes, 8 * X.shape[1] * 20
    for family in ("multinomial", "edcm", "dcm"):
        for smoothing in (0.01, None):
            model = BayesClassifier(family, smoothing=smoothing, refine=None)
            model.fit(X[::20], y[::20]).predict(X[:5])  # compiles
            del model.parameters_, model._seen
            tracemalloc.start()
            model.fit(X, y)
            kept, fitting = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            model.predict(some)
            predicting = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            sums = kept - table
            assert sums < documents
            assert max(fitting, predicting) - (0 if smoothing else sums) < 2 * table, (family, smoothing)


def test_reuters_break_even(named):
    """The best row of the paper's Table 3 is macro 0.657 and micro 0.840."""
    corpus = named("reuters21578", min_df=2, stop_words="english")
    train, test = (corpus.metadata["subset"] == subset for subset in ("train", "test"))
    X, Y = corpus.counts, corpus.label_matrix
    model = BayesClassifier.from_name("C-TW-L-M", smoothing=1.0).fit(X[train], Y[train])
    scores = model.scores(X[test])
    assert break_even(Y[test], scores, average="macro") > 0.64
    assert break_even(Y[test], scores, average="micro") > 0.84
