from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import oracles
from bursty import Mixture, datasets, metrics
from bursty.families import DCM
from bursty.kernels import threads
from weights import NOT_FOR_COUNTS

FAMILIES = ["edcm", "dcm", "multinomial", "vonmisesfisher"]
ANNEALED = {"temperatures": (25, 5, 1), "tempering": None, "prior": None}


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(n_documents=150, n_words=200, n_components=3, mean_length=60, random_state=0)[0]


def nmi(corpus, labels):
    return metrics.normalized_mutual_information(corpus.labels, labels)


@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("family", ["auto", *FAMILIES])
def test_passes_scikit_learns_checks(family):
    check_estimator(Mixture(2, family=family), on_skip=None, expected_failed_checks=NOT_FOR_COUNTS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("init", ["auto", "lsa", "hellinger", "kmeans", "perturb"])
def test_finds_the_clusters(corpus, family, init):
    options = ANNEALED | {"temperatures": (1,)} if family == "vonmisesfisher" else ANNEALED
    options = options if init in ("kmeans", "perturb") else {}
    model = Mixture(3, family=family, init=init, n_init=5, random_state=0, **options).fit(corpus)
    assert nmi(corpus, model.labels_) > 0.9
    np.testing.assert_array_equal(model.labels_, model.predict(corpus))
    np.testing.assert_allclose(model.predict_proba(corpus).sum(axis=1), 1.0)
    assert model.components_.shape == (3, 200)
    assert model.weights_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(np.sort(model.sizes_), np.sort(np.bincount(model.labels_, minlength=3)))


@pytest.mark.parametrize("family", ["edcm", "dcm", "multinomial"])
def test_likelihood_never_falls_within_a_phase(corpus, family):
    options = {"init": "perturb", **ANNEALED, "stopping": "relative", "tol": 1e-9}
    trace = Mixture(3, family=family, random_state=1, **options).fit(corpus).trace_
    for phase in range(3):
        rises = np.diff(trace["log_likelihood"][trace["phase"] == phase])
        # The floor under the parameters (1e-6 of the corpus) may cost a little; EM itself never does.
        assert np.all(rises > -1e-3)
    assert list(np.unique(trace["temperature"])) == [1.0, 5.0, 25.0]
    assert trace["weights"].shape == (len(trace["phase"]), 3)


def test_an_iteration_is_bayes_rule_and_maximum_likelihood():
    """One plain EM step against the oracle, EDCM, smoothing off."""
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(20, 6)) + np.eye(6, dtype=int)[rng.integers(0, 6, 20)]
    resp = rng.dirichlet(np.ones(2), size=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = {"family": "edcm", "prior": None, "tempering": None, "smoothing": 0.0}
        model = Mixture(2, init=resp, temperatures=(7.0,), max_iter=1, **plain).fit(X)
    beta = [fit_edcm(X, resp[:, k] + 1e-6) for k in range(2)]
    log_prob = np.stack([oracles.edcm_log_prob(X, b) for b in beta], axis=1)
    expected = oracles.soft_max(log_prob / 7.0 + np.log(resp.mean(axis=0)))
    np.testing.assert_allclose(model.weights_, expected.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(model.components_[0], fit_edcm(X, expected[:, 0] + 1e-6), rtol=1e-6)


def fit_edcm(X, weights):
    from bursty.families import EDCM

    return EDCM().fit(X, sample_weight=weights).beta_


@pytest.mark.parametrize("family", FAMILIES)
def test_same_bits_for_any_number_of_threads(corpus, family, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    fits = [Mixture(3, family=family, random_state=3, n_jobs=n, max_iter=20, tol=1e-3).fit(corpus) for n in (1, 2, 5)]
    for other in fits[1:]:
        assert fits[0].components_.tobytes() == other.components_.tobytes()
        assert fits[0].predict_proba(corpus).tobytes() == other.predict_proba(corpus).tobytes()


def test_seeds(corpus):
    first, again, other = (Mixture(3, init="perturb", random_state=s).fit(corpus) for s in (0, 0, 1))
    assert first.components_.tobytes() == again.components_.tobytes()
    assert first.components_.tobytes() != other.components_.tobytes()


def test_more_starts_never_lower_the_likelihood(corpus):
    options = {"init": "perturb", **ANNEALED, "restart": False, "smoothing": 0.0}
    one, five = (Mixture(4, n_init=n, random_state=0, **options).fit(corpus) for n in (1, 5))
    assert five.lower_bound_ >= one.lower_bound_ - 1e-9


def test_annealing_divides_the_likelihood_only():
    """At a huge temperature the posterior is the mixing weights."""
    X = np.array([[5, 0, 1], [0, 5, 1], [4, 1, 0], [0, 3, 3]])
    resp = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.1]])
    with pytest.warns(ConvergenceWarning, match="ha(s|ve) no documents"):
        model = Mixture(2, init=resp, temperatures=(1e9,), max_iter=3, tol=1.0).fit(X)
    np.testing.assert_allclose(model.weights_, resp.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_of_some_documents(corpus, family):
    y = np.full(len(corpus), -1)
    for label in range(3):
        y[np.flatnonzero(corpus.labels == label)[:5]] = label + 10
    model = Mixture(3, family=family, random_state=0).fit(corpus, y)
    np.testing.assert_array_equal(model.classes_, [10, 11, 12])
    known = y >= 0
    np.testing.assert_array_equal(model.classes_[model.labels_[known]], y[known])
    assert np.mean(model.labels_ == corpus.labels) > 0.9


def test_y_without_unlabelled_documents_is_ignored(corpus):
    plain = Mixture(3, random_state=0).fit(corpus)
    for y in (corpus.labels, np.full(len(corpus), -1)):
        np.testing.assert_array_equal(Mixture(3, random_state=0).fit(corpus, y).labels_, plain.labels_)


def test_partial_fit_follows_a_stream(corpus):
    rng = np.random.default_rng(0)
    model = Mixture(3, random_state=0).partial_fit(corpus.counts[:60])
    before = model.score(corpus.counts)
    for _ in range(6):
        model.partial_fit(corpus.counts[rng.permutation(150)[:50]])
    assert model.score(corpus.counts) > before
    assert nmi(corpus, model.predict(corpus.counts)) > 0.9
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.ones((3, 7), dtype=int))


def test_warm_start_goes_on(corpus):
    model = Mixture(3, prior=None, tempering=None, random_state=0, warm_start=True).fit(corpus)
    first = model.lower_bound_
    model.fit(corpus)
    assert model.lower_bound_ >= first - 1e-6
    assert model.n_iter_ < 10


def test_held_out_documents_have_a_finite_likelihood(corpus):
    train = corpus.counts[:100].toarray()
    train[:, [0, 1]] = 0
    model = Mixture(3, random_state=0).fit(train)
    unseen = np.zeros((2, 200), dtype=int)
    unseen[0, :3] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.all(np.isfinite(model.score_samples(unseen)))
        assert np.all(np.isfinite(model.predict_proba(unseen)))
        assert np.isfinite(model.perplexity(corpus.counts))
    plain = Mixture(3, random_state=0, smoothing=0.0).fit(train)
    assert plain.score_samples(unseen)[0] == -np.inf
    np.testing.assert_allclose(plain.predict_proba(unseen)[0], plain.weights_)


def test_a_mixture_of_one_is_the_family(corpus):
    model = Mixture(1, family="dcm", smoothing=0.0, random_state=0).fit(corpus)
    np.testing.assert_allclose(model.components_[0], DCM().fit(corpus).alpha_, rtol=1e-4)
    assert model.perplexity(corpus) == pytest.approx(DCM().fit(corpus).perplexity(corpus), rel=1e-6)


def test_normalised_perplexity(corpus):
    model = Mixture(3, family="edcm", random_state=0).fit(corpus)
    assert model.perplexity(corpus, normalized=True) < model.perplexity(corpus)
    with pytest.raises(ValueError, match="for EDCM components"):
        Mixture(3, family="dcm", random_state=0).fit(corpus).perplexity(corpus, normalized=True)
    with pytest.raises(ValueError, match="no perplexity"):
        Mixture(3, family="vonmisesfisher", random_state=0).fit(corpus).perplexity(corpus)


def test_sample(corpus):
    model = Mixture(3, random_state=0).fit(corpus.counts)
    documents, labels = model.sample(np.full(300, 40), random_state=0)
    np.testing.assert_array_equal(np.asarray(documents.sum(axis=1)).ravel(), 40)
    assert np.mean(model.predict(documents) == labels) > 0.95


def test_reading_clusters(corpus):
    model = Mixture(3, random_state=0).fit(corpus)
    for by in ("contrast", "parameter", "lift", "discriminative"):
        words = model.top_words(5, by=by)
        assert [len(row) for row in words] == [5, 5, 5]
        assert set(words[0]) <= set(corpus.vocabulary)
    for k, rows in enumerate(model.core_documents(corpus, 4)):
        assert len(rows) == 4
        np.testing.assert_array_equal(model.labels_[rows], k)
    assert np.all((model.confidence_ > 0.5) & (model.confidence_ <= 1.0))
    with pytest.raises(ValueError, match="by must be"):
        model.top_words(by="magic")


@pytest.mark.parametrize("family", FAMILIES)
def test_hard_cases_have_defined_answers(family):
    same = np.tile([3, 1, 0, 2], (12, 1))
    with pytest.warns(ConvergenceWarning, match="2 of 3 clusters have no documents"):
        model = Mixture(3, family=family, random_state=0).fit(same)
    assert len(set(model.labels_)) == 1 or np.allclose(model.predict_proba(same), model.predict_proba(same)[0])
    assert np.all(np.isfinite(model.components_))
    twice = np.repeat(np.array([[5, 0, 0, 1], [0, 5, 1, 0]]), 6, axis=0)
    labels = Mixture(2, family=family, random_state=0).fit(twice).labels_
    assert len(set(labels[:6])) == len(set(labels[6:])) == 1
    assert labels[0] != labels[6]


def test_empty_documents_get_the_mixing_weights(corpus):
    counts = sp.csr_array(sp.vstack([corpus.counts, sp.csr_array((1, 200), dtype=np.int32)]))
    with pytest.warns(UserWarning, match="1 document has no words"):
        model = Mixture(3, random_state=0).fit(counts)
    assert model.labels_.shape == (151,)
    np.testing.assert_allclose(model.predict_proba(counts)[-1], model.weights_, rtol=1e-10)


def test_says_when_it_does_not_converge(corpus):
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        Mixture(3, init="perturb", max_iter=2, random_state=0).fit(corpus)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be"),
        ({"n_components": 2.5}, "n_components must be"),
        ({"n_components": 500}, "150 documents cannot make 500 clusters"),
        ({"family": "gauss"}, "family must be one of 'auto', .*'dcm'.* or a family estimator, not 'gauss'"),
        ({"init": "magic"}, "init must be one of"),
        ({"init": np.ones((3, 2))}, "it has shape"),
        ({"init": -np.ones((150, 2))}, "non-negative"),
        ({"temperatures": ()}, "temperatures must be positive"),
        ({"temperatures": (5, 0)}, "temperatures must be positive"),
        ({"perturbation": 0}, "perturbation must be"),
        ({"n_init": 0}, "n_init must be"),
        ({"max_iter": -1}, "max_iter must be"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"tol": -1}, "tol must be"),
        ({"tempering": "length"}, "tempering must be one of"),
        ({"prior": "uniform"}, "prior must be one of"),
        ({"prior": 3}, "prior must be one of"),
        ({"shrinkage": -1}, "shrinkage must be"),
        ({"stopping": "soon"}, "stopping must be one of"),
        ({"restart": 1}, "restart must be"),
    ],
)
def test_bad_parameters(corpus, options, message):
    with pytest.raises(ValueError, match=message):
        Mixture(**options).fit(corpus)


def test_bad_labels(corpus):
    y = np.full(150, -1)
    with pytest.raises(ValueError, match="one label per document"):
        Mixture(3).fit(corpus, y[:-1])
    y[:5] = np.arange(5)
    with pytest.raises(ValueError, match="y has 5 classes but n_components is 3"):
        Mixture(3).fit(corpus, y)


def test_nothing_to_cluster():
    with pytest.raises(ValueError, match="nothing to cluster"):
        Mixture(2).fit(np.zeros((4, 3), dtype=int))


@pytest.mark.corpus
def test_classic400_as_in_the_paper(data_dir):
    """A slice of the replication: 8 runs with the paper's settings, and the default."""
    corpus = datasets.load("classic400")
    runs = [Mixture.from_paper("elkan2006", 3, random_state=s).fit(corpus) for s in range(8)]
    assert np.mean([m.perplexity(corpus) for m in runs]) < 900
    assert np.mean([metrics.mutual_information(corpus.labels, m.labels_) for m in runs]) > 0.65
    default = [Mixture(3, random_state=s).fit(corpus).labels_ for s in range(4)]
    assert np.mean([metrics.mutual_information(corpus.labels, labels) for labels in default]) > 0.85


def test_components_may_have_a_prior():
    """Few documents per cluster: s of greatest likelihood is at its limit in some, and with the prior in none."""
    corpus, _ = datasets.make_bursty_mixture(24, 60, 3, random_state=0)
    model = Mixture(3, family=DCM(prior="auto"), random_state=0).fit(corpus)
    assert np.all(model.components_.sum(axis=1) < 1e6)
    assert np.all(np.isfinite(model.score_samples(corpus)))
