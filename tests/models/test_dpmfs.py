from __future__ import annotations

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from bursty import DPMFS, datasets, metrics
from bursty.cli import clusters
from bursty.engines import Chunk
from bursty.families import DCM, EDCM, Multinomial
from bursty.models.dpmfs import chains, estimate, settings
from bursty.models.dpmfs.constraints import Constraints
from samplers import oracles_dpmfs as oracles
from weights import NOT_FOR_COUNTS

SHORT = {"n_iter": 60, "burn_in": 30, "random_state": 0}
# The paper's settings for its synthetic data.
PAPER = {"max_components": 30, "omega": 0.01, "lam": 0.1, "family": "multinomial"}


@pytest.fixture(scope="module")
def synthetic():
    return datasets.make_yu2010(0)[0]


@pytest.fixture(scope="module")
def bursty():
    return datasets.make_bursty_mixture(n_documents=120, n_words=250, n_components=3, s=20.0, random_state=0)[0]


def test_how_many_words_are_expected_to_matter(bursty):
    """50, as in the paper; with DCM components that is learned."""
    for options, least, most in (
        ({"family": "multinomial"}, 50 / 176, 50 / 176),
        ({"sampler": "paper"}, 50 / 176, 50 / 176),
        ({"omega": 0.3}, 0.3, 0.3),
        ({}, 0.35, 0.95),
        ({"family": "multinomial", "omega": "learned"}, 0.01, 0.99),
    ):
        model = DPMFS(n_iter=20, random_state=0, **options).fit(bursty)
        assert least - 1e-12 <= model.omega_ <= most + 1e-12
        assert (len(np.unique(model.trace_["omega"])) > 10) == (least < most)
        assert ("omega" in model.diagnostics_) == (least < most)


def test_the_prior_alone_makes_no_word_discriminative():
    """Documents of one distribution and a large omega: most words are chosen most of the time, few are evident."""
    X = np.random.default_rng(0).poisson(1.0, size=(40, 30))
    model = DPMFS(omega=0.95, lam_prior=None, n_iter=60, random_state=0).fit(X)
    assert np.mean(model.inclusion_prob_ > 0.7) > 0.6
    evident = model.log_bayes_factor_ > np.log(3.0)
    assert evident.sum() < 15
    np.testing.assert_array_equal(model.discriminative_, evident & (model.inclusion_prob_ > 0.7))
    window = chains.Window(inside=np.array([57.0, 59.0, 10.0]), outside=np.array([3.0, 1.0, 50.0]), n_sweeps=60)
    chain = SimpleNamespace(window=window, problem=SimpleNamespace(n_words=3))
    found = estimate.log_bayes_factor([chain, chain], 0.95, odds_are_known=True)
    np.testing.assert_allclose(np.exp(found), [1.0, 59 / 19, 0.2 / 19], rtol=1e-12)


def test_words_are_ranked_by_evidence(synthetic):
    model = DPMFS(**PAPER, **SHORT).fit(synthetic)
    assert set(np.argsort(-model.log_bayes_factor_)[:40]) <= set(range(50))
    assert len(np.unique(model.log_bayes_factor_[model.inclusion_prob_ == 1.0])) > 10
    doubtful = model.inclusion_prob_ < 0.5
    odds = model.inclusion_prob_[doubtful] / (1 - model.inclusion_prob_[doubtful])
    np.testing.assert_allclose(np.exp(model.log_bayes_factor_[doubtful]), odds * 99, atol=15)


def test_chains_run_until_they_settle(synthetic, monkeypatch):
    """Judged together at fixed sweeps: the same bits for any number of threads."""
    monkeypatch.setattr(settings, "FIRST_ROUND", 40)
    model = DPMFS(**PAPER, random_state=0, n_jobs=1).fit(synthetic)
    assert model.converged_
    assert model.n_iter_ in (40, 60, 90, 135)
    assert model.trace_["log_joint"].shape == (4, model.n_iter_)
    assert all(facts["r_hat"] <= 1.05 and facts["ess"] >= 100 for facts in model.diagnostics_.values())
    assert model.samples_.shape == (4 * (model.n_iter_ - model.n_iter_ // 2), 300)
    same = DPMFS(**PAPER, random_state=0, n_jobs=3).fit(synthetic)
    assert same.samples_.tobytes() == model.samples_.tobytes()
    assert same.log_bayes_factor_.tobytes() == model.log_bayes_factor_.tobytes()
    assert set(model.summary()["r_hat"]) == {max(facts["r_hat"] for facts in model.diagnostics_.values())}


def test_chains_that_have_not_settled_are_told(bursty, monkeypatch):
    monkeypatch.setattr(settings, "FIRST_ROUND", 8)
    said = r"chains have not settled after 20 sweeps \(.*; any two agree on \d+% or more of the .*\): raise max_iter"
    with pytest.warns(ConvergenceWarning, match=said):
        model = DPMFS(max_iter=20, n_chains=2, random_state=0).fit(bursty)
    assert not model.converged_
    assert model.n_iter_ == 20
    with pytest.warns(ConvergenceWarning, match=r"the chain has not settled after 3 sweeps .*raise n_iter, n_chains"):
        DPMFS(n_iter=3, random_state=0).fit(bursty)


def test_which_family(bursty):
    """The DCM, but the paper's multinomial for the paper's sampler; a family whose draws are not counted is refused."""
    for family, sampler, name in (
        ("auto", "collapsed", "dcm"),
        ("auto", "paper", "multinomial"),
        ("dcm", "paper", "dcm"),
        (DCM(), "collapsed", "dcm"),
        (Multinomial(smoothing=0.1), "collapsed", "multinomial"),
    ):
        model = DPMFS(family=family, sampler=sampler, n_iter=4, random_state=0).fit(bursty)
        assert model.family_ == name
    with pytest.raises(ValueError, match=r"family must be one of 'auto', .*'dcm'.*, not EDCM\(\)"):
        DPMFS(family=EDCM()).fit(bursty)
    assert inspect.signature(clusters.discover).parameters["family"].default == DPMFS().family


def test_log_prob_is_that_of_urns(bursty):
    """Documents of words that count, under each cluster's urn: [Yu2010] eq. 11 as a predictive probability."""
    slot = np.full(250, -1, dtype=np.int32)
    slot[10:60] = np.arange(50)
    weights = np.random.default_rng(0).gamma(2.0, size=(50, 4))
    components = estimate.Components(slot, weights, np.full(4, 0.25))
    found = estimate.log_prob(Chunk(bursty.counts[:6]), components)
    rows = bursty.counts[:6].toarray()[:, 10:60]
    expected = [[oracles.log_dirichlet_multinomial(row, weights[:, k]) for k in range(4)] for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def nmi(corpus, labels):
    return metrics.normalized_mutual_information(corpus.labels, labels)


@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")
@pytest.mark.parametrize("options", [{"sampler": "paper"}, {"sampler": "collapsed"}, {"family": "dcm"}])
def test_passes_scikit_learns_checks(options):
    check_estimator(DPMFS(n_iter=8, burn_in=4, **options), on_skip=None, expected_failed_checks=NOT_FOR_COUNTS)


@pytest.mark.parametrize(
    ("sampler", "lengths"), [("paper", {"n_iter": 2500, "burn_in": 2000}), ("collapsed", {"n_iter": 60})]
)
def test_finds_the_clusters_and_the_words_of_the_paper(synthetic, sampler, lengths):
    """[Yu2010] section 6.2: the true partition, 41 true words; at most 2 false ones."""
    model = DPMFS(**PAPER, sampler=sampler, **lengths, random_state=0).fit(synthetic)
    assert model.n_clusters_ == 3
    assert nmi(synthetic, model.labels_) == pytest.approx(1.0)
    assert model.discriminative_[:50].sum() >= 41
    assert model.discriminative_[50:].sum() <= 2
    assert model.discriminative_.dtype == bool
    np.testing.assert_array_equal(model.discriminative_, model.inclusion_prob_ > 0.7)
    np.testing.assert_array_equal(model.sizes_, [100, 100, 100])
    np.testing.assert_array_equal(model.predict(synthetic), model.labels_)
    np.testing.assert_allclose(model.predict_proba(synthetic).sum(axis=1), 1.0)
    assert {word[:7] for words in model.top_words(5) for word in words} == {"telling"}
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    n_iter = lengths["n_iter"]
    assert {name: len(values) for name, values in model.trace_.items()} == dict.fromkeys(model.trace_, n_iter)
    np.testing.assert_array_equal(model.similarity_ > 0.5, synthetic.labels[:, None] == synthetic.labels)


def test_bursts_are_no_clusters(bursty):
    """Burstiness makes the multinomial find too many clusters; the DCM finds the three there are."""
    plain = DPMFS(family="multinomial", **SHORT).fit(bursty)
    model = DPMFS(**SHORT).fit(bursty)
    assert model.n_clusters_ == 3
    assert nmi(bursty, model.labels_) > 0.95
    assert plain.n_clusters_ > 3
    assert np.mean(model.predict(bursty) == model.labels_) > 0.95


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
@pytest.mark.parametrize("family", ["multinomial", "dcm"])
def test_same_seed_same_bits(bursty, sampler, family):
    fits = [
        DPMFS(sampler=sampler, family=family, n_chains=3, n_iter=20, burn_in=10, random_state=4, n_jobs=n).fit(bursty)
        for n in (1, 2)
    ]
    for name in ("labels_", "inclusion_prob_", "samples_", "components_"):
        assert getattr(fits[0], name).tobytes() == getattr(fits[1], name).tobytes()
    assert fits[0].trace_["log_joint"].tobytes() == fits[1].trace_["log_joint"].tobytes()
    other = DPMFS(sampler=sampler, family=family, n_chains=3, n_iter=20, burn_in=10, random_state=5).fit(bursty)
    assert fits[0].trace_["log_joint"].tobytes() != other.trace_["log_joint"].tobytes()


def test_chains_are_compared(synthetic):
    model = DPMFS(**PAPER, n_chains=2, n_iter=60, random_state=0).fit(synthetic)
    assert model.trace_["n_clusters"].shape == (2, 60)
    assert set(model.diagnostics_) == {"log_joint", "n_clusters", "n_words"}
    assert model.diagnostics_["n_clusters"]["r_hat"] == 1.0
    assert model.diagnostics_["log_joint"]["r_hat"] < 1.2
    assert 1 < model.diagnostics_["log_joint"]["ess"] <= 60
    assert model.samples_.shape == (60, 300)
    assert nmi(synthetic, model.labels_) == pytest.approx(1.0)


def test_how_much_the_partitions_of_chains_overlap(synthetic):
    """One chain has three documents together; the other has the first two in every second draw, and another pair."""

    def chain(*draws):
        return SimpleNamespace(samples=[np.array(labels) for labels in draws])

    first, second = chain([0, 0, 0, 1, 2]), chain([0, 0, 1, 2, 2], [0, 1, 2, 3, 3])
    found = estimate.chain_overlap([first, second, chain([0, 1, 2, 3, 4])])
    # Together in the first: 3 pairs; in the second: half a pair, which is one of these, and one more.
    np.testing.assert_allclose(found, [[1, 0.5 / 4, 0], [0.5 / 4, 1, 0], [0, 0, 1]])
    apart = chain([0, 1, 2])
    np.testing.assert_array_equal(estimate.chain_overlap([apart, apart]), np.ones((2, 2)))  # no pair is together
    model = DPMFS(**PAPER, n_chains=2, n_iter=60, random_state=0).fit(synthetic)
    assert model.chain_overlap_.shape == (2, 2)
    assert model.chain_overlap_.min() > 0.99
    assert DPMFS(n_iter=4, random_state=0).fit(synthetic).chain_overlap_.tolist() == [[1.0]]


def test_large_numbers_of_draws_and_documents_are_thinned():
    rng = np.random.default_rng(0)
    chains_ = [SimpleNamespace(samples=list(rng.integers(5, size=(300, 1_500)))) for _ in range(2)]
    assert 0.5 < estimate.chain_overlap(chains_)[0, 1] < 1.0
    np.testing.assert_array_equal(estimate.evenly(5, 3), [0, 2, 4])
    np.testing.assert_array_equal(estimate.evenly(2, 3), [0, 1])


def test_stops_when_the_partition_is_stable(synthetic):
    model = DPMFS(**PAPER, n_iter=500, patience=10, random_state=0).fit(synthetic)
    assert model.converged_
    assert model.n_iter_ < 100
    assert nmi(synthetic, model.labels_) == pytest.approx(1.0)


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_some_documents_are_labelled(bursty, sampler):
    y = np.full(120, -1)
    y[:40] = bursty.labels[:40] + 7
    model = DPMFS(family="dcm", sampler=sampler, **SHORT).fit(bursty, y)
    np.testing.assert_array_equal(model.classes_, [7, 8, 9])
    np.testing.assert_array_equal(model.labels_[:40], bursty.labels[:40])
    assert np.mean(model.labels_ == bursty.labels) > 0.95
    with pytest.raises(ValueError, match="each class needs a component"):
        DPMFS(2, sampler=sampler).fit(bursty, y)
    with pytest.raises(ValueError, match="one label per document"):
        DPMFS(sampler=sampler).fit(bursty, y[:5])


def test_all_documents_are_labelled(synthetic):
    """What is left to find is the words."""
    model = DPMFS(**PAPER, n_iter=20, random_state=0).fit(synthetic, synthetic.labels)
    np.testing.assert_array_equal(model.labels_, synthetic.labels)
    assert model.discriminative_[:50].sum() >= 41
    assert model.discriminative_[50:].sum() <= 2
    unlabelled = [DPMFS(**PAPER, n_iter=20, random_state=0).fit(synthetic, y) for y in (None, np.full(300, -1))]
    np.testing.assert_array_equal(unlabelled[0].samples_, unlabelled[1].samples_)


def test_small_clusters_go(bursty):
    model = DPMFS(family="multinomial", **SHORT).fit(bursty)
    assert model.sizes_.min() < 10
    large = DPMFS(family="multinomial", **SHORT, min_cluster_size=10).fit(bursty)
    assert large.sizes_.min() >= 10
    assert large.sizes_.sum() == 120
    assert DPMFS(family="multinomial", **SHORT, min_cluster_size=10_000).fit(bursty).n_clusters_ == 1


@pytest.mark.parametrize("rule", ["frequent", "vi", "binder"])
def test_point_estimates_agree_where_there_is_no_doubt(synthetic, rule):
    model = DPMFS(**PAPER, n_iter=60, point_estimate=rule, random_state=0).fit(synthetic)
    assert nmi(synthetic, model.labels_) == pytest.approx(1.0)


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_lambda_and_alpha_are_learned(bursty, sampler):
    model = DPMFS(sampler=sampler, lam_prior="gamma", learn_alpha=True, **SHORT).fit(bursty)
    assert len(np.unique(model.trace_["scale"])) > 10
    assert len(np.unique(model.trace_["alpha"])) > 10
    assert model.alpha_ == pytest.approx(model.trace_["alpha"][30:].mean())
    fixed = DPMFS(sampler=sampler, learn_alpha=False, lam_prior=None, **SHORT).fit(bursty)
    assert set(fixed.trace_["scale"]) == {1.0}
    assert fixed.alpha_ == 1.0


@pytest.mark.parametrize(
    ("options", "n_searches"),
    [({}, 9), ({"n_iter": 60}, 2), ({"n_iter": 500}, 9), ({"n_iter": 20}, 0), ({"burn_in": 10}, 0),
     ({"patience": 50}, 3), ({"max_iter": 30}, 1)],
)  # fmt: skip
def test_chains_search_only_in_sweeps_that_do_not_count(options, n_searches):
    plan = settings.check_settings(DPMFS(**options)).plan
    assert len(plan.searches) == n_searches
    if plan.patience is None:
        first = min(begin for number in range(1, plan.n_iter + 1) for begin, _ in plan.spans(number))
        assert all(plan.held < number < first for number in plan.searches)
    else:
        assert all(plan.held < number < plan.patience for number in plan.searches)


def test_chains_start_apart(bursty):
    """From one cluster, and from many: chains that began alike might agree because they did."""
    counts, starts = sp.csr_array(bursty.counts[:, bursty.counts.sum(axis=0) > 0]), {}
    for family in ("dcm", "multinomial"):
        model = DPMFS(family=family)
        checked = settings.check_settings(model)
        problem = settings.make_problem(model, checked, counts, Constraints(None, None, None), None)
        rng = np.random.default_rng(0)
        chain = [chains.start(model, problem, checked.plan, None, number, rng) for number in range(4)]
        starts[family] = [len(np.unique(one.state.labels)) for one in chain]
        assert all(one.state.chosen.all() == (family == "dcm") for one in chain)
    assert starts == {"dcm": [1, 20, 1, 20], "multinomial": [1, 1, 1, 1]}


@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
def test_lambda_of_each_word_is_learned(bursty, sampler):
    model = DPMFS(sampler=sampler, lam_prior="words", **SHORT).fit(bursty)
    factor = DPMFS(sampler=sampler, lam_prior="lognormal", **SHORT).fit(bursty)
    assert len(np.unique(model.trace_["scale"])) > 10
    assert model.trace_["log_joint"][-1] != factor.trace_["log_joint"][-1]
    assert np.isfinite(model.components_).all()


def test_words_that_never_occur_change_nothing(bursty):
    wide = sp.hstack([bursty.counts, sp.csr_array((120, 500), dtype=np.int32)]).tocsr()
    model, same = DPMFS(**SHORT).fit(bursty.counts), DPMFS(**SHORT).fit(wide)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_array_equal(same.inclusion_prob_, np.append(model.inclusion_prob_, np.zeros(500)))


def test_core_documents(bursty):
    model = DPMFS(family="dcm", **SHORT).fit(bursty)
    for k, rows in enumerate(model.core_documents(bursty, 3)):
        assert np.all(model.labels_[rows] == k)


@pytest.mark.parametrize("family", ["multinomial", "dcm"])
@pytest.mark.parametrize("sampler", ["paper", "collapsed"])
@pytest.mark.parametrize(
    "X",
    [
        pytest.param([[1, 2, 0, 3]], id="one document"),
        pytest.param([[1, 2, 0, 3]] * 6, id="all documents equal"),
        pytest.param(np.eye(5, dtype=int), id="no repeated word"),
        pytest.param([[2, 1, 0], [2, 0, 1], [2, 1, 1], [2, 0, 3]], id="a constant column"),
        pytest.param([[3], [1], [2]], id="one word"),
    ],
)
def test_odd_corpora(X, sampler, family):
    """All give an answer: constant columns have lambda 1, a single word never divides documents."""
    model = DPMFS(50, sampler=sampler, family=family, n_iter=30, random_state=0).fit(X)
    assert len(model.labels_) == len(X)
    assert np.all(np.isfinite(model.trace_["log_joint"]))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_empty_documents_keep_their_row(bursty):
    X = sp.vstack([bursty.counts, sp.csr_array((1, 250), dtype=np.int32)]).tocsr()
    with pytest.warns(UserWarning, match="1 document has no words"):
        model = DPMFS(**SHORT).fit(X)
    assert len(model.labels_) == 121
    np.testing.assert_allclose(model.predict_proba(X)[-1], model.weights_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"omega": 0.0}, "omega must be between 0 and 1"),
        ({"omega": 1.0}, "omega must be between 0 and 1"),
        ({"alpha": 0}, "alpha must be a finite positive number"),
        ({"alpha": np.inf}, "alpha must be a finite positive number"),
        ({"lam": -1.0}, "lam must be finite and above 0"),
        ({"lam": [1.0, 2.0]}, "lam must be a number or have shape"),
        ({"lam": "small"}, "lam must be a positive number"),
        ({"sampler": "slice"}, "sampler must be one of 'paper', 'collapsed'"),
        ({"family": "edcm"}, "family must be one of"),
        ({"lam_prior": "flat"}, "lam_prior must be one of"),
        ({"point_estimate": "map"}, "point_estimate must be one of"),
        ({"n_iter": 10, "burn_in": 10}, "burn_in=10 leaves no sweep of n_iter=10"),
        ({"n_iter": 0}, "n_iter must be a positive integer"),
        ({"max_components": 0}, "max_components must be a positive integer"),
        ({"min_cluster_size": 0}, "min_cluster_size must be a positive integer"),
        ({"threshold": 1.5}, "threshold must be between"),
        ({"n_chains": 0}, "n_chains must be a positive integer"),
        ({"patience": 1}, "patience must be an integer of at least 2"),
        ({"n_iter": "long"}, 'n_iter must be a positive integer or "auto"'),
        ({"n_iter": "auto", "patience": 5}, "give one of them"),
        ({"max_iter": 10, "burn_in": 10}, "burn_in=10 leaves no sweep of max_iter=10"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
        ({"omega": "many"}, 'omega must be between 0 and 1, both excluded or "learned"'),
    ],
)
def test_bad_parameters(bursty, options, message):
    with pytest.raises(ValueError, match=message):
        DPMFS(**options).fit(bursty)


def test_nothing_to_cluster():
    with pytest.raises(ValueError, match="every document is empty"):
        DPMFS().fit(np.zeros((3, 4), dtype=int))


@pytest.mark.corpus
def test_classic400(data_dir):
    """The paper has 8.0 clusters and an NMI of 0.641 of the 3 classes."""
    corpus = datasets.load("classic400")
    model = DPMFS(random_state=0, n_iter=120).fit(corpus)
    assert model.n_clusters_ in (4, 5)
    assert nmi(corpus, model.labels_) > 0.8
    paper = DPMFS(sampler="paper", n_iter=3000, random_state=0).fit(corpus)
    assert nmi(corpus, paper.labels_) > 0.641 - 0.03
