"""Habits of scikit-learn: what clusterers are, give and keep; smoothing by word."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.pipeline import make_pipeline

import bursty
from bursty.datasets import make_bursty_mixture
from bursty.families import DCM, EDCM, Dirichlet, Multinomial

CORPUS, _ = make_bursty_mixture(60, 40, 3, random_state=1)
CLUSTERERS = [bursty.Mixture(3, random_state=0), bursty.DPMFS(n_iter=20, burn_in=10, random_state=0)]
WEIGHTS = np.arange(60) % 4 + 1.0


@pytest.fixture(scope="module", params=CLUSTERERS, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param).fit(CORPUS)


def test_clusterers_are_clusterers(model):
    assert is_clusterer(model)
    assert is_clusterer(make_pipeline(clone(model)))


def test_transform_is_the_posterior(model):
    posterior = model.transform(CORPUS)
    assert np.array_equal(posterior, model.predict_proba(CORPUS))
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    name = type(model).__name__.lower()
    assert model.get_feature_names_out().tolist() == [f"{name}{k}" for k in range(posterior.shape[1])]
    frame = clone(model).set_output(transform="pandas").fit(CORPUS).transform(CORPUS)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    assert np.array_equal(frame.to_numpy(), posterior)
    assert np.array_equal(clone(model).fit_transform(CORPUS), posterior)


@pytest.mark.parametrize("kind", [bursty.LDA, bursty.DCMLDA])
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_topics_are_a_frame_if_asked_for(kind, container):
    topics = kind(3, tol=1.0, random_state=0).set_output(transform=container).fit(CORPUS)
    frame = topics.transform(CORPUS)
    assert list(frame.columns) == topics.get_feature_names_out().tolist()
    assert np.array_equal(frame.to_numpy(), clone(topics).set_output(transform="default").fit(CORPUS).transform(CORPUS))
    assert list(clone(topics).fit_transform(CORPUS).columns) == list(frame.columns)


def test_sums_of_counts_are_kept(model, tmp_path):
    table = CORPUS.counts.toarray()
    expected = np.array([table[model.labels_ == k].sum(axis=0) for k in range(len(model.weights_))])
    assert np.array_equal(model.feature_count_, expected)
    assert np.array_equal(bursty.load(bursty.save(model, tmp_path / "m")).feature_count_, expected)


def test_sums_follow_weights_streams_and_merges():
    table = CORPUS.counts.toarray()
    model = bursty.Mixture(3, random_state=0).fit(CORPUS, sample_weight=WEIGHTS)
    expected = [(table * WEIGHTS[:, None])[model.labels_ == k].sum(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.feature_count_, expected)
    model.merge([0, 1])
    np.testing.assert_allclose(model.feature_count_.sum(axis=0), table.T @ WEIGHTS)
    assert len(model.feature_count_) == 2
    stream = bursty.Mixture(3, random_state=0).partial_fit(CORPUS.select(slice(0, 40)))
    stream.partial_fit(CORPUS.select(slice(40, None)))
    assert np.array_equal(stream.feature_count_.sum(axis=0), table.sum(axis=0))


@pytest.mark.parametrize("family", [Multinomial, DCM, EDCM])
def test_smoothing_by_word(family):
    even = family(smoothing=0.5).fit(CORPUS)
    same = family(smoothing=np.full(40, 0.5)).fit(CORPUS)
    assert np.array_equal(same.log_prob(CORPUS), even.log_prob(CORPUS))
    amounts = np.zeros(40)
    amounts[:5] = 2.0
    model, plain = family(smoothing=amounts).fit(CORPUS), family().fit(CORPUS)
    (name,) = (name for name in ("theta_", "alpha_", "beta_") if hasattr(model, name))
    before, after = getattr(plain, name), getattr(model, name)
    ratio = after / np.where(before > 0, before, 1.0)
    assert np.all(after[:5] / after[5:].sum() > before[:5] / before[5:].sum())
    np.testing.assert_allclose(ratio[5:][before[5:] > 0], ratio[5:][before[5:] > 0][0])


def test_smoothing_by_word_of_the_multinomial_is_added_to_the_counts():
    amounts = np.linspace(0.0, 3.0, 40)
    expected = CORPUS.counts.sum(axis=0) + amounts
    np.testing.assert_allclose(Multinomial(smoothing=amounts).fit(CORPUS).theta_, expected / expected.sum())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: bursty.Mixture(2, smoothing=a), "one number, not an array of shape.*Multinomial, DCM and EDCM"),
        (lambda a: bursty.BayesClassifier(smoothing=a), "one number, not an array of shape"),
        (lambda a: bursty.BayesClassifier(Multinomial(smoothing=a)), "one number, not an array of shape"),
        (lambda a: Dirichlet(smoothing=a), "one number, not an array of shape"),
        (lambda a: DCM(smoothing=a[:3]), r"each of the 40 words, not an array of float64 and shape \(3,\)"),
        (lambda a: DCM(smoothing=-a), "word 0 is -1"),
        (lambda a: Multinomial(smoothing=a.astype(str)), "one number for each"),
    ],
)
def test_smoothing_by_word_where_it_does_not_go(make, message):
    with pytest.raises(ValueError, match=message):
        make(np.ones(40)).fit(CORPUS, np.arange(60) % 2)


def test_clusters_of_blobs():
    """What `check_clustering` checks, with data that are counts."""
    rng = np.random.default_rng(0)
    rates = rng.gamma(1.0, 8.0, size=(3, 30))
    truth = np.repeat(np.arange(3), 20)
    counts = rng.poisson(rates[truth])
    for model in (bursty.Mixture(3, random_state=1), bursty.DPMFS(n_iter=20, burn_in=10, random_state=1)):
        labels = clone(model).fit(counts).labels_
        assert labels.shape == (60,)
        assert np.array_equal(clone(model).fit_predict(counts), labels)
        assert bursty.metrics.normalized_mutual_information(truth, labels) > 0.9


def test_weights_of_a_sampler_are_copies():
    weights = np.arange(60) % 3
    copies = CORPUS.select(np.repeat(np.arange(60), weights))
    options = {"n_iter": 20, "burn_in": 10, "random_state": 0}
    plain = bursty.DPMFS(**options).fit(copies)
    model = bursty.DPMFS(**options).fit(CORPUS, sample_weight=weights)
    assert np.array_equal(model.components_, plain.components_)
    assert np.array_equal(model.predict_proba(CORPUS), plain.predict_proba(CORPUS))
    first = np.searchsorted(np.repeat(np.arange(60), weights), np.arange(60))
    known = weights > 0
    assert np.array_equal(model.labels_[known], plain.labels_[first[known]])
    assert np.array_equal(model.labels_[~known], plain.predict(CORPUS)[~known])
    assert model.samples_.shape[1] == 60
    assert model.similarity_.shape == (60, 60)
    assert model.fitted_on(CORPUS)
    np.testing.assert_allclose(model.feature_count_.sum(axis=0), CORPUS.counts.T @ weights)
    with pytest.raises(ValueError, match="must be integers, since its sampler moves whole documents"):
        bursty.DPMFS(**options).fit(CORPUS, sample_weight=np.full(60, 0.5))
