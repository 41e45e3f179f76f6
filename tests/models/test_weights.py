"""`sample_weight`: a document of weight n counts as n of it, wherever weights are taken."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import has_fit_parameter

from bursty import BayesClassifier, Mixture, datasets, families, metrics
from bursty.inference.starts import STARTS

FAMILIES = ["edcm", "dcm", "multinomial", "vonmisesfisher"]
TAKE_WEIGHTS = [*families.FAMILIES.values(), Mixture, BayesClassifier]


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(120, 50, 3, random_state=0)[0]


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(0).integers(0, 4, size=120)


@pytest.mark.parametrize("estimator", TAKE_WEIGHTS)
def test_scikit_learn_sees_the_parameter(estimator):
    assert has_fit_parameter(estimator(), "sample_weight")
    if hasattr(estimator, "partial_fit"):
        with sklearn.config_context(enable_metadata_routing=True):
            assert estimator().set_partial_fit_request(sample_weight=True) is not None


# A start at random may lose a cluster, which is warned of; it loses the same one in both fits.
@pytest.mark.filterwarnings("ignore:.*clusters ha(s|ve) no documents")
@pytest.mark.parametrize("family", FAMILIES)
def test_weights_equal_repetition_in_a_mixture(family, corpus, weights):
    rows = np.repeat(np.arange(len(corpus)), weights)
    resp = np.random.default_rng(1).dirichlet(np.ones(3), size=len(corpus))
    options = {"family": family, "max_iter": 30, "tol": 1e-4}
    weighted = Mixture(3, init=resp, **options).fit(corpus, sample_weight=weights)
    repeated = Mixture(3, init=resp[rows], **options).fit(corpus.select(rows))
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)
    np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-12)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)
    np.testing.assert_array_equal(weighted.labels_, weighted.predict(corpus))
    assert weighted.sizes_.sum() == 120


@pytest.mark.parametrize("init", STARTS)
def test_starts_do_not_see_documents_of_weight_zero(init, corpus):
    """Half of the documents are noise of weight 0: the clusters are those of the others."""
    rng = np.random.default_rng(2)
    noise = rng.multinomial(60, rng.dirichlet(np.ones(50)), size=120)
    counts = np.vstack([corpus.counts.toarray(), noise])
    model = Mixture(3, init=init, random_state=0).fit(counts, sample_weight=np.repeat([1.0, 0.0], 120))
    assert metrics.normalized_mutual_information(corpus.labels, model.labels_[:120]) > 0.9
    heavy = Mixture(3, init=init, random_state=0).fit(corpus, sample_weight=np.full(120, 2.5))
    np.testing.assert_allclose(heavy.weights_.sum(), 1.0)
    assert metrics.normalized_mutual_information(corpus.labels, heavy.labels_) > 0.9


def test_weights_in_streams_labels_and_the_choice_of_a_number(corpus, weights):
    y = np.full(120, -1)
    y[:30] = corpus.labels[:30]
    model = Mixture(3, random_state=0).fit(corpus, y, sample_weight=weights + 1)
    np.testing.assert_array_equal(model.labels_[:30], np.searchsorted(model.classes_, y[:30]))
    half = corpus.select(slice(0, 60))
    once = Mixture(3, random_state=0).fit(half).partial_fit(corpus, sample_weight=np.ones(120))
    plain = Mixture(3, random_state=0).fit(half).partial_fit(corpus)
    np.testing.assert_allclose(once.components_, plain.components_, rtol=1e-9)
    chosen = Mixture("auto", random_state=0).fit(corpus, sample_weight=weights + 1)
    assert len(chosen.weights_) == 3


@pytest.mark.parametrize("bad", [[1.0], [-1.0] * 120, [0.0] * 120, [np.nan] * 120])
def test_bad_weights(bad, corpus):
    with pytest.raises(ValueError, match="sample_weight"):
        Mixture(3).fit(corpus, sample_weight=bad)


@pytest.mark.parametrize("kwargs", [{}, {"complement": True}, {"normalize_weights": True}], ids=str)
def test_weights_equal_repetition_with_tfidf(kwargs, corpus, weights):
    rows = np.repeat(np.arange(len(corpus)), weights)
    options = {"family": "multinomial", "transform": "tfidf", "smoothing": 0.1, "calibrate": None, "refine": None}
    weighted = BayesClassifier(**options, **kwargs).fit(corpus, corpus.labels, sample_weight=weights)
    repeated = BayesClassifier(**options, **kwargs).fit(corpus.select(rows), corpus.labels[rows])
    np.testing.assert_allclose(weighted.scores(corpus), repeated.scores(corpus), rtol=1e-9)


@pytest.mark.parametrize("kwargs", [{}, {"refine": None}, {"smoothing": 0.1, "calibrate": None}], ids=str)
@pytest.mark.parametrize("several", [False, True], ids=["single", "multi"])
def test_a_document_of_weight_zero_is_absent(kwargs, several, corpus):
    """A word that only such documents have is unknown: later documents that have it are not lost."""
    counts = np.hstack([corpus.counts.toarray(), np.zeros((120, 1), dtype=int)])
    y = np.column_stack([corpus.labels == 0, corpus.labels > 0]).astype(int) if several else corpus.labels
    weights = np.ones(120)
    weights[::4] = 0.0
    counts[::4, -1] = 3
    kept = weights > 0
    weighted = BayesClassifier(**kwargs).fit(counts, y, sample_weight=weights)
    without = BayesClassifier(**kwargs).fit(counts[kept], y[kept])
    assert np.array_equal(weighted.predict_log_proba(counts), without.predict_log_proba(counts))
    assert np.array_equal(weighted.count_unseen(counts), counts[:, -1])
    if kwargs.get("refine", "") is None:
        stream = BayesClassifier(**kwargs).partial_fit(
            counts[:60], y[:60], np.unique(corpus.labels) if not several else [0, 1], weights[:60]
        )
        stream.partial_fit(counts[60:], y[60:], sample_weight=weights[60:])
        np.testing.assert_allclose(stream.predict_log_proba(counts), weighted.predict_log_proba(counts), rtol=1e-9)


def test_metadata_routing(corpus, weights):
    """Weights pass through a pipeline and cross-validation, in folds."""
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = BayesClassifier(smoothing=0.1)
        classifier.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(accept_sparse=True), classifier)
        options = {"params": {"sample_weight": weights + 0.5}, "cv": 3, "return_estimator": True}
        found = cross_validate(pipeline, corpus.counts, corpus.labels, **options)
    totals = [estimator[-1].class_count_.sum() for estimator in found["estimator"]]
    np.testing.assert_allclose(sum(totals), 2 * (weights + 0.5).sum())
