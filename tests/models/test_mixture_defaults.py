"""What a mixture does by default, and the switches that turn it off."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import bursty
import oracles
from bursty import Mixture, datasets, families, metrics
from bursty.families.base import log_coefficient


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(n_documents=150, n_words=200, n_components=3, mean_length=60, random_state=0)[0]


@pytest.fixture(scope="module")
def table():
    """Three groups in four columns, all of them filled."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    truth = np.repeat(np.arange(3), 30)
    rows = [rng.multinomial(200, rng.dirichlet(60 * centres[k])) for k in truth]
    return np.array(rows), truth


def test_a_step_with_tempering_and_shared_prior():
    """One iteration against the oracle: EDCM, where the update has a closed form."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, size=(20, 6)) + np.eye(6, dtype=int)[rng.integers(0, 6, 20)]
    resp = rng.dirichlet(np.ones(2), size=20)
    options = {"family": "edcm", "tempering": "distinct", "prior": "shared", "shrinkage": 3.0, "smoothing": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Mixture(2, init=resp, max_iter=1, **options).fit(X)
    one = families.EDCM().fit(X)

    def beta(weights):
        draws = weights @ (X > 0) + 3.0 / 20 * (X > 0).sum(axis=0)
        return one.s_ * draws / draws.sum()

    floor = 1e-6
    log_prob = np.stack([oracles.edcm_log_prob(X, beta(resp[:, k] + floor)) for k in range(2)], axis=1)
    heat = np.sqrt((X > 0).sum(axis=1))[:, None]
    expected = oracles.soft_max(log_prob / heat + np.log(resp.mean(axis=0)))
    np.testing.assert_allclose(model.weights_, expected.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(model.components_[0], beta(expected[:, 0] + floor), rtol=1e-6)
    assert model.trace_["moved"].tolist() == [1.0]


def test_tempering_changes_the_posterior_not_the_likelihood(corpus):
    model = Mixture(3, family="dcm", random_state=0).fit(corpus)
    log_prob = np.stack([oracles.dcm_log_prob(corpus.counts.toarray(), alpha) for alpha in model.components_], axis=1)
    heat = np.sqrt(np.diff(corpus.counts.indptr))[:, None]
    tempered = oracles.soft_max(log_prob / heat + np.log(model.weights_))
    # What is shown is the fourth root, which is right more often.
    roots = tempered**0.25
    np.testing.assert_allclose(model.predict_proba(corpus), roots / roots.sum(axis=1, keepdims=True))
    likelihood = np.logaddexp.reduce(log_prob + np.log(model.weights_), axis=1)
    np.testing.assert_allclose(model.score_samples(corpus), likelihood)
    assert model.lower_bound_ == pytest.approx(likelihood.mean())


def test_looks_at_the_data(corpus, table):
    assert Mixture(3, random_state=0).fit(corpus).family_ == "dcm"
    dense = Mixture(3, random_state=0).fit(table[0])
    plain = Mixture(
        3, family="dcm", init="hellinger", tempering=None, prior=None, stopping="likelihood", random_state=0
    )
    assert dense.components_.tobytes() == plain.fit(table[0]).components_.tobytes()
    single = sp.random_array((60, 400), density=0.02, rng=np.random.default_rng(0)) > 0
    assert Mixture(2, random_state=0).fit(single.astype(np.int32)).family_ == "edcm"


def test_annealing_that_loses_components_starts_again_lower(table):
    counts, truth = table
    options = {"init": "kmeans", "temperatures": (25, 5, 1), "tempering": None, "prior": None, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Mixture(3, family="dcm", **options).fit(counts)
    assert metrics.normalized_mutual_information(truth, model.labels_) > 0.9
    assert np.all(model.sizes_ > 0)
    with pytest.warns(ConvergenceWarning, match=r"[12] of 3 clusters ha(s|ve) no documents.*try restart=True, fewer"):
        lost = Mixture(3, family="dcm", restart=False, **options).fit(counts)
    assert np.count_nonzero(lost.sizes_) < 3
    assert model.lower_bound_ > lost.lower_bound_


def test_lost_components_are_told():
    same = np.tile([4, 1, 3], (9, 1))
    with pytest.warns(ConvergenceWarning, match="2 of 3 clusters have no documents.*try fewer"):
        Mixture(3, restart=False, random_state=0).fit(same)  # one temperature: nothing to restart at
    with pytest.warns(ConvergenceWarning, match="2 of 3 clusters have no documents.*try fewer"):
        model = Mixture(3, random_state=0).fit(same)
    np.testing.assert_array_equal(np.isnan(model.confidence_), model.sizes_ == 0)  # of nobody nothing is said
    assert np.nanmax(model.confidence_) <= 1.0


def test_embeddings_in_fewer_groups_than_clusters_settle():
    """The likelihood goes on rising for hundreds of steps in which hardly any vector moves."""
    rng = np.random.default_rng(0)
    centres = np.linalg.qr(rng.standard_normal((48, 2)))[0].T
    truth = rng.integers(2, size=3000)
    vectors = (centres[truth] + rng.standard_normal((3000, 48)) / np.sqrt(48)).astype(np.float32)
    options = {"family": "vonmisesfisher", "random_state": 0, "n_jobs": 1, "max_iter": 200}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Mixture(10, **options).fit(vectors)
    assert model.converged_
    assert model.trace_["moved"][-1] <= 0.002
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        longer = Mixture(10, stopping="likelihood", **options).fit(vectors)
    assert longer.lower_bound_ - model.lower_bound_ < 0.05
    # No cluster mixes the groups.
    table = np.zeros((2, 10))
    np.add.at(table, (truth, model.labels_), 1)
    assert table.max(axis=0).sum() > 0.97 * len(truth)


def test_coefficient(corpus):
    from bursty.engines import Chunk

    model = Mixture(2, random_state=0).fit(corpus)
    difference = model.score_samples(corpus, coefficient=True) - model.score_samples(corpus)
    np.testing.assert_allclose(difference, log_coefficient(Chunk(corpus.counts)))
    densities = Mixture(2, family="vonmisesfisher", random_state=0).fit(corpus), families.Dirichlet().fit(corpus)
    with pytest.raises(ValueError, match="von Mises-Fisher is a density: use coefficient=False"):
        densities[0].score_samples(corpus, coefficient=True)
    with pytest.raises(ValueError, match="Dirichlet is a density"):
        densities[1].log_prob(corpus, coefficient=True)


def test_settings_of_a_paper(corpus):
    model = Mixture.from_paper("elkan2006", 3, random_state=0, max_iter=50)
    assert (model.family, model.init, model.temperatures, model.max_iter) == ("edcm", "perturb", (25, 5, 1), 50)
    assert model.fit(corpus).family_ == "edcm"
    with pytest.raises(ValueError, match="paper must be one of 'elkan2006'"):
        Mixture.from_paper("nobody1999")


def test_saved_and_back(corpus, tmp_path):
    prior = families.GammaPrior(0.2, 0.1)
    for model in (Mixture(3, random_state=0), Mixture(2, family="dcm", prior=prior, random_state=0)):
        model.fit(corpus)
        again = bursty.load(bursty.save(model, tmp_path / "model"))
        assert again.predict_proba(corpus).tobytes() == model.predict_proba(corpus).tobytes()
        assert again.partial_fit(corpus).components_.tobytes() == model.partial_fit(corpus).components_.tobytes()


def test_online_learning_keeps_the_prior_in_proportion(corpus):
    model = Mixture(3, random_state=0).fit(corpus)
    before, absent = model.components_.copy(), model.components_.argmin()
    model.partial_fit(corpus)
    np.testing.assert_allclose(model.components_.sum(axis=1), before.sum(axis=1), rtol=0.05)
    # Twice as many documents have been seen, so the corpus weighs half as much.
    assert model.components_.flat[absent] == pytest.approx(before.flat[absent] / 2, rel=0.2)


@pytest.mark.corpus
@pytest.mark.parametrize(("k", "best"), [(2, -38088.9), (3, -37731.5), (4, -37401.1), (7, -36911.1)])
def test_maximum_likelihood_of_the_twins(data_dir, k, best):
    """The best of three seeds has at least what several programs have reached; with 7, not every seed does."""
    corpus = bursty.read_corpus(data_dir / "twins.csv")
    options = {"family": "dcm", "prior": None, "tempering": None, "n_init": 10, "smoothing": 0.0}
    found = []
    for seed in (1, 2, 3):
        model = Mixture(k, random_state=seed, **options).fit(corpus)
        found.append(model.score_samples(corpus, coefficient=True).sum())
        assert model.converged_
        assert model.sizes_.min() >= 3  # a sample with a component of its own has a larger likelihood
    assert max(found) > best - 0.1
    assert min(found) > best - (2.0 if k == 7 else 0.1)
