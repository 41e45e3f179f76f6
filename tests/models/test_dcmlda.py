from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from bursty import datasets
from bursty.families import DCM
from bursty.kernels import threads
from bursty.metrics import diversity
from bursty.metrics import topics as measures
from bursty.models.dcmlda import DCMLDA
from bursty.models.lda import LDA
from samplers.oracles_topics import N_WORDS, make_three_topics, three_topics


@pytest.fixture(scope="module")
def corpus():
    return make_three_topics(150)[0]


@pytest.fixture(scope="module")
def fitted(corpus):
    return DCMLDA(3, random_state=0).fit(corpus)


def errors(model):
    """Relative error of alpha, of s and of the words' shares, after the topics are put in order."""
    alpha, beta = three_topics()
    order, overlap = measures.match_topics(beta.T, model)
    s = beta.sum(axis=0)
    return (
        np.abs(model.alpha_[order] / alpha - 1).mean(),
        np.abs(np.log(model.s_[order] / s)).mean(),
        1 - overlap.mean(),
    )


@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_passes_scikit_learns_checks():
    check_estimator(DCMLDA(2, n_iter=4, random_state=0), on_skip=None)


def test_recovers_the_truth_better_from_more_documents():
    few, many = (errors(DCMLDA(3, random_state=0).fit(make_three_topics(n)[0])) for n in (60, 1000))
    assert many[0] < 0.15
    assert many[1] < 0.15
    assert many[2] < 0.08
    assert few[2] > 2 * many[2]


def test_mixtures_are_near_those_that_made_the_documents():
    counts, mixtures = make_three_topics(300)
    model = DCMLDA(3, random_state=1, n_init=3).fit(counts)
    order, _ = measures.match_topics(three_topics()[1].T, model)
    share = mixtures / mixtures.sum(axis=1, keepdims=True)
    assert np.abs(model.doc_topic_[:, order] - share).mean() < 0.1
    assert np.abs(model.transform(counts)[:, order] - share).mean() < 0.1
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)


def test_no_topic_runs_to_the_limit():
    """Words without bursts, in too many topics: maximum likelihood puts s at its limit."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(40, 30))
    options = {"n_iter": 30, "tol": 0, "random_state": 0}
    assert np.any(DCMLDA(4, prior=None, **options).fit(X).s_ > 1e9)
    model = DCMLDA(4, **options).fit(X)
    assert np.all(model.s_ < 1e6)
    found = model.burstiness()
    assert found.at_limit.any()
    np.testing.assert_allclose(found.s, model.s_, rtol=0.01)
    assert np.all(model.beta_ > 0)


def test_prior_is_checked_first():
    with pytest.raises(ValueError, match='prior must be "auto" or None'):
        DCMLDA(2, prior=3).fit(make_three_topics(20)[0])


def test_one_topic_is_the_dcm(corpus):
    model = DCMLDA(1, random_state=0, n_iter=30).fit(corpus)
    np.testing.assert_allclose(model.s_[0], DCM().fit(corpus).s_, rtol=0.01)
    exact = DCM().fit(corpus).log_prob(corpus)
    np.testing.assert_allclose(model.score_samples(corpus), exact, rtol=2e-3)


def test_the_likelihood_of_bursty_documents_is_above_that_of_lda(corpus, fitted):
    new = make_three_topics(60, seed=9)[0]
    other = LDA(3, random_state=0).fit(corpus)
    assert fitted.score(new) > other.score(new) + 5
    assert fitted.perplexity(new) < other.perplexity(new) < N_WORDS


def test_the_trace_grows_and_the_fit_stops(fitted):
    trace = fitted.trace_
    assert fitted.converged_
    assert len(trace["log_likelihood"]) == fitted.n_iter_ < fitted.n_iter
    assert trace["log_likelihood"][-10:].mean() > trace["log_likelihood"][:3].mean()
    assert np.all(trace["tokens_per_second"] > 0)
    assert np.all(np.diff(trace["sweep"]) == 5)


def test_attributes(fitted, corpus):
    assert fitted.beta_.shape == fitted.components_.shape == (3, N_WORDS)
    assert fitted.alpha_.shape == fitted.s_.shape == (3,)
    assert fitted.doc_topic_.shape == (150, 3)
    np.testing.assert_allclose(fitted.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(fitted.beta_.sum(axis=1), fitted.s_)
    assert np.all(fitted.beta_ > 0)
    assert list(fitted.get_feature_names_out()) == ["dcmlda0", "dcmlda1", "dcmlda2"]


def test_same_bits_for_any_number_of_threads(corpus, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    fits = [DCMLDA(3, random_state=3, n_jobs=n, n_iter=8, tol=0).fit(corpus) for n in (1, 2, 5)]
    for other in fits[1:]:
        assert fits[0].beta_.tobytes() == other.beta_.tobytes()
        assert fits[0].doc_topic_.tobytes() == other.doc_topic_.tobytes()
        assert fits[0].transform(corpus).tobytes() == other.transform(corpus).tobytes()
        assert fits[0].score_samples(corpus[:20]).tobytes() == other.score_samples(corpus[:20]).tobytes()


def test_same_bits_for_any_chunks(corpus, monkeypatch):
    from bursty.engines import chunks, local

    whole = DCMLDA(3, random_state=3, n_iter=8, tol=0).fit(corpus)
    monkeypatch.setattr(local, "cut", lambda counts: chunks.cut(counts, 37))
    parts = DCMLDA(3, random_state=3, n_iter=8, tol=0).fit(corpus)
    assert whole.beta_.tobytes() == parts.beta_.tobytes()
    assert whole.doc_topic_.tobytes() == parts.doc_topic_.tobytes()


def test_seeds(corpus):
    first, again, other = (DCMLDA(3, random_state=s, n_iter=3, tol=0, burn_in=2).fit(corpus) for s in (0, 0, 1))
    assert first.beta_.tobytes() == again.beta_.tobytes()
    assert first.beta_.tobytes() != other.beta_.tobytes()


def test_formats_give_the_same(corpus, fitted):
    for X in (sp.csr_matrix(corpus), sp.csc_array(corpus), corpus.astype(float)):
        np.testing.assert_array_equal(fitted.transform(X), fitted.transform(corpus))


def test_given_hyperparameters_are_kept(corpus):
    alpha, beta = three_topics()
    model = DCMLDA(3, alpha=alpha, beta=beta.T, learn_hyperparameters=False, n_iter=3, random_state=0, tol=0)
    model.fit(corpus)
    np.testing.assert_array_equal(model.alpha_, alpha)
    np.testing.assert_array_equal(model.beta_, beta.T)


def test_warm_start_goes_on(corpus):
    model = DCMLDA(3, random_state=0, n_iter=10, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="still growing"):
        model.set_params(tol=1e-12).fit(corpus)
    last = model.trace_["log_likelihood"][-1]
    model.set_params(tol=0, n_iter=20).fit(corpus)
    assert model.trace_["log_likelihood"][0] > last - 0.1
    assert model.trace_["sweep"][0] > 60
    # On other documents the topics begin at random, with the alpha and beta there are.
    model.set_params(tol=0, n_iter=2).fit(make_three_topics(80, seed=3)[0])
    assert model.doc_topic_.shape == (80, 3)
    with pytest.raises(ValueError, match="warm_start needs"):
        model.set_params(n_components=4).fit(corpus)


def test_interrupted_fit_keeps_what_it_has(corpus):
    class Interrupted(DCMLDA):
        def _on_iteration(self, trace):
            if len(trace) == 4:
                raise KeyboardInterrupt

    model = Interrupted(3, random_state=0)
    with pytest.warns(UserWarning, match=r"interrupted after 4 iterations.*warm_start=True"):
        model.fit(corpus)
    assert model.beta_.shape == (3, N_WORDS)
    assert model.transform(corpus).shape == (150, 3)


def test_empty_and_short_documents(corpus):
    counts = np.vstack([corpus, np.zeros((1, N_WORDS), dtype=int), np.eye(N_WORDS, dtype=int)[:1]])
    with pytest.warns(UserWarning, match="1 document has no words"):
        model = DCMLDA(3, random_state=0, n_iter=5, tol=0).fit(counts)
    np.testing.assert_allclose(model.doc_topic_[150], model.alpha_ / model.alpha_.sum(), rtol=0.3)
    np.testing.assert_allclose(model.transform(counts)[150], model.alpha_ / model.alpha_.sum())
    scores = model.score_samples(counts)
    assert scores[150] == 0.0
    mean = model.alpha_ @ model.components_ / model.alpha_.sum()
    np.testing.assert_allclose(scores[151], np.log(mean[0]), rtol=1e-10)
    assert np.isfinite(model.perplexity(counts[151:]))
    with pytest.raises(ValueError, match="these documents have no words"):
        model.perplexity(counts[150:151])


def test_documents_that_never_repeat_a_word():
    counts = (np.random.default_rng(0).random((60, 30)) < 0.3).astype(int)
    counts[:, 0] = 1
    model = DCMLDA(2, random_state=0, n_iter=10, tol=0).fit(counts)
    assert np.all(np.isfinite(model.beta_))
    assert np.all(np.isfinite(model.score_samples(counts)))


def test_sample(fitted):
    documents, mixtures = fitted.sample(np.full(2000, 60), random_state=0)
    np.testing.assert_array_equal(np.asarray(documents.sum(axis=1)).ravel(), 60)
    np.testing.assert_array_equal(mixtures.sum(axis=1), 60)
    share = fitted.alpha_ / fitted.alpha_.sum()
    np.testing.assert_allclose(mixtures.mean(axis=0) / 60, share, atol=0.05)
    np.testing.assert_allclose(np.asarray(documents.mean(axis=0)).ravel() / 60, share @ fitted.components_, atol=0.02)
    with pytest.raises(ValueError, match="non-negative integers"):
        fitted.sample([2.5])


def test_reading_topics(fitted):
    corpus = datasets.make_bursty_mixture(60, 50, 2, random_state=0)[0]
    model = DCMLDA(2, random_state=0, n_iter=5, tol=0).fit(corpus)
    for by in ("contrast", "probability", "lift", "relevance"):
        words = model.top_words(4, by=by)
        assert [len(row) for row in words] == [4, 4]
        assert set(words[0]) <= set(corpus.vocabulary)
        assert isinstance(model.ranking(by), str)
    with pytest.raises(ValueError, match="by must be"):
        model.top_words(by="magic")
    with pytest.raises(ValueError, match="by must be"):
        model.ranking("magic")
    names, prevalence = model.prevalence(corpus.labels)
    np.testing.assert_array_equal(names, [0, 1])
    np.testing.assert_allclose(prevalence[1], model.doc_topic_[corpus.labels == 1].mean(axis=0))
    with pytest.raises(ValueError, match="give one each"):
        model.prevalence([1, 2])
    dates = np.where(corpus.labels == 1, "2020-05-01", "2021-06-01").astype(object)
    dates[np.flatnonzero(corpus.labels == 0)[0]] = ""
    periods, shares, errors = model.prevalence(dates, unit="year", return_error=True)
    assert [str(period) for period in periods] == ["2020", "2021"]
    np.testing.assert_allclose(shares[0], prevalence[1])
    rows = model.doc_topic_[corpus.labels == 1]
    np.testing.assert_allclose(errors[0], rows.std(axis=0, ddof=1) / np.sqrt(len(rows)))
    with pytest.raises(ValueError, match="cannot be read as times"):
        model.prevalence(np.full(len(dates), "red"), unit="year")
    order, overlap = measures.match_topics(fitted, fitted.components_[[2, 0, 1]])
    np.testing.assert_array_equal(order, [1, 2, 0])
    np.testing.assert_allclose(overlap, 1.0)
    with pytest.warns(UserWarning, match="numbers of columns"):
        assert fitted.top_words(2)[0][0].isdigit()


def test_held_out_likelihood_has_a_seed(fitted, corpus):
    new = corpus[:10]
    values, error = measures.empirical_likelihood(fitted, new, random_state=0, n_pseudo=50, return_error=True)
    assert values.shape == error.shape == (10,)
    np.testing.assert_array_equal(values, fitted.empirical_likelihood(new, random_state=0, n_pseudo=50))
    assert np.any(values != fitted.empirical_likelihood(new, random_state=1, n_pseudo=50))
    np.testing.assert_array_equal(measures.left_to_right(fitted, new), fitted.score_samples(new))
    assert np.any(measures.left_to_right(fitted, new, random_state=5) != fitted.score_samples(new))
    with pytest.raises(TypeError, match="for topic models"):
        measures.left_to_right(DCM(), new)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be"),
        ({"n_components": 2.5}, "n_components must be"),
        ({"n_components": 41}, "40 words cannot make 41 topics"),
        ({"n_iter": 0}, "n_iter must be"),
        ({"burn_in": -1}, "burn_in must be a non-negative integer"),
        ({"tol": np.nan}, "tol must be"),
        ({"alpha": np.inf}, "alpha must be finite and above 0, but holds inf"),
        ({"alpha": [1.0, 2.0]}, r"alpha must be a number or have shape \(3,\)"),
        ({"alpha": "much"}, "alpha must be a positive number"),
        ({"beta": np.nan}, "beta must be finite"),
        ({"beta": np.zeros((3, 40))}, "beta must be finite and above 0, but holds 0"),
        ({"beta": np.ones((40, 3))}, r"\(3, 40\) or \(40,\)"),
        ({"learn_hyperparameters": False}, "give beta"),
        ({"engine": "magic"}, "engine must be"),
    ],
)
def test_bad_parameters(corpus, options, message):
    with pytest.raises(ValueError, match=message):
        DCMLDA(**{"n_components": 3, **options}).fit(corpus)


def test_bad_documents(fitted):
    with pytest.raises(ValueError, match="every document is empty"):
        DCMLDA(2).fit(np.zeros((4, 3), dtype=int))
    with pytest.raises(ValueError, match="features"):
        fitted.transform(np.ones((3, 7), dtype=int))
    corpus = datasets.make_bursty_mixture(30, 20, 2, random_state=0)[0]
    model = DCMLDA(2, random_state=0, n_iter=2, tol=0, burn_in=1)
    with pytest.warns(ConvergenceWarning):
        model.set_params(tol=1e-9).fit(corpus)
    renamed = type(corpus)(corpus.counts, [f"x{i}" for i in range(20)])
    with pytest.raises(ValueError, match="vocabulary of these documents"):
        model.transform(renamed)


def test_contrast_takes_off_what_topics_have_in_common():
    """Common words head all topics by probability; the factor grows until they do not, and no further."""
    rng = np.random.default_rng(0)
    own = np.kron(np.eye(4), rng.uniform(1.0, 2.0, size=15))
    common = np.append(np.zeros(60), rng.uniform(3.0, 4.0, size=20))
    model = DCMLDA(4)
    for extra in (common, 0.0):
        words = np.hstack([own, np.zeros((4, 20))]) + extra + 1e-3
        model.components_, model.alpha_ = words / words.sum(axis=1, keepdims=True), np.ones(4)
        model.n_features_in_ = words.shape[1]
        model.set_words([str(number) for number in range(words.shape[1])])
        by_probability, by_contrast = diversity(model.components_), diversity(model.word_scores())
        factor = float(model.ranking().split("less ")[1].split()[0]) if "less" in model.ranking() else 0.0
        assert by_contrast >= 0.85
        roots = np.sqrt(model.components_)
        np.testing.assert_allclose(model.word_scores(), roots - factor * roots.mean(axis=0))
        if np.any(extra):
            assert by_probability < 0.5
            assert 0 < factor <= 4
            assert diversity(roots - (factor - 0.25) * roots.mean(axis=0)) < 0.85
            assert all(int(word) < 60 for row in model.top_words(10) for word in row) or by_contrast < 1
        else:
            assert factor == 0
            assert model.ranking() == "probability in the topic"
