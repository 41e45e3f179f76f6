"""A family in one file: this one. Everything that takes a family takes it, and knows of it only what it says."""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import poisson
from sklearn.base import clone

import bursty
from bursty import BayesClassifier, Corpus, Mixture, families, plot, report
from bursty.families import FAMILIES, Family, FamilyEstimator, Parameters, Statistics, get_family
from bursty.families.base import weighted_logs
from bursty.inference.checkpoint import Checkpoint
from bursty.storage import schema

# The family ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PoissonStatistics(Statistics):
    """Weighted counts of the words (W x K) and weight of the documents (K)."""

    tokens: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class PoissonParameters(Parameters):
    """Expected counts: W x K."""

    rate: np.ndarray


class PoissonFamily(Family[PoissonStatistics, PoissonParameters]):
    """Every count is Poisson; of one sequence of words ``log p = sum_w x_w log rate_w - sum_w rate_w - log n!``."""

    name = "poisson"
    title = "Poisson"
    citation = "S. D. Poisson. Recherches sur la probabilité des jugements. Paris, 1837."

    def summarize(self, chunk, resp):
        return PoissonStatistics(chunk.sum_tokens(resp), chunk.total(resp))

    def update(self, stats, *, smoothing=0.0, start=None):
        return PoissonParameters((stats.tokens + smoothing) / np.maximum(stats.weight, 1e-300))

    def log_prob(self, chunk, params):
        log_prob = chunk.tokens(params.log_table)
        self.add_length_term(chunk, params, log_prob)
        return log_prob

    def word_evidence(self, chunk, table, trust=None):
        return chunk.tokens(weighted_logs(table, trust))

    def add_length_term(self, chunk, params, log_prob, constants=None):
        log_prob -= params.rate.sum(axis=0) + gammaln(chunk.lengths + 1.0)[:, None]

    def sample(self, params, lengths, rng):
        shares = params.rate[:, 0] / params.rate[:, 0].sum()
        return sp.csr_array(rng.multinomial(lengths, shares))


class Poisson(FamilyEstimator):
    """Independent Poisson counts."""

    _family = PoissonFamily()


class OpaqueFamily(PoissonFamily):
    """The same, but it does not say what single words have to do with it."""

    name = "opaque"
    title = "Opaque"
    word_evidence = Family.word_evidence


class Opaque(FamilyEstimator):
    """A family that is no sum over words."""

    _family = OpaqueFamily()


# Defining a class registers it; tests of other modules must not know these.
del FAMILIES["poisson"], FAMILIES["opaque"]


@pytest.fixture(scope="module", autouse=True)
def registered():
    """For the tests of this module alone."""
    FAMILIES["poisson"], FAMILIES["opaque"] = Poisson, Opaque
    yield
    del FAMILIES["poisson"], FAMILIES["opaque"]


# What takes it -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    rates = np.array([[4.0, 3.0, 2.0, 0.5, 0.2, 1.0], [0.3, 0.5, 1.0, 3.0, 4.0, 1.0]])
    counts = sp.csr_array(rng.poisson(rates[labels]).astype(np.int32))
    words = ["bank", "loan", "bond", "goal", "team", "year"]
    return Corpus(counts, words, labels=labels, label_names=["money", "sport"])


def test_fit_and_log_prob(corpus):
    X = corpus.counts.toarray()
    model = Poisson().fit(X)
    np.testing.assert_allclose(model.rate_, X.mean(axis=0))
    np.testing.assert_allclose(model.log_prob(X, coefficient=True), poisson.logpmf(X, model.rate_).sum(axis=1))
    assert model.perplexity(X) == pytest.approx(np.exp(-model.log_prob(X).sum() / X.sum()))
    assert model.sample([3, 0], random_state=0).sum(axis=1).tolist() == [3, 0]
    assert isinstance(get_family("poisson"), PoissonFamily)
    assert get_family(model) is Poisson._family


@pytest.mark.parametrize("family", ["poisson", Poisson()], ids=["by name", "by class"])
def test_mixture(family, corpus):
    model = Mixture(2, family=family, temperatures=(1,), random_state=0).fit(corpus)
    assert bursty.metrics.normalized_mutual_information(corpus.labels, model.labels_) > 0.8
    assert model.score_samples(corpus).shape == (60,)
    assert model.perplexity(corpus) < Poisson().fit(corpus).perplexity(corpus)
    assert model.top_words(1) in ([["bank"], ["team"]], [["team"], ["bank"]])


@pytest.mark.parametrize("family", ["poisson", "opaque"])
@pytest.mark.parametrize("complement", [False, True])
def test_classifier_scores_by_the_family_s_own_log_prob(family, complement, corpus):
    model = BayesClassifier(family, smoothing=0.5, complement=complement, calibrate=None).fit(corpus, corpus.labels)
    parts = [Poisson(smoothing=0.5).fit(corpus.select(corpus.labels == (k ^ complement))) for k in (0, 1)]
    scores = (-1.0 if complement else 1.0) * np.stack([part.log_prob(corpus) for part in parts], axis=1)
    np.testing.assert_allclose(model.scores(corpus), scores, rtol=1e-10)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(corpus), odds / odds.sum(axis=1, keepdims=True), atol=1e-12)


def test_smoothing_of_a_classifier_is_learned_where_the_family_has_any(corpus):
    model = BayesClassifier("poisson").fit(corpus, corpus.labels)
    assert type(model.smoothing_).__name__ == "Constant"
    assert model.temperature_ is not None
    assert model.score(corpus, corpus.labels) > 0.9
    with pytest.raises(ValueError, match="does not go with Poisson"):
        BayesClassifier("poisson", smoothing="shrink").fit(corpus, corpus.labels)
    with pytest.raises(ValueError, match="heuristic for the multinomial, not for Poisson"):
        BayesClassifier("poisson", normalize_weights=True).fit(corpus, corpus.labels)


def test_explanations_are_the_family_s_evidence(corpus):
    model = BayesClassifier("poisson", smoothing=0.5).fit(corpus, corpus.labels)
    explained = model.explain(corpus.select([0]), top=6)[0]
    rate = model.parameters_.rate
    label = list(model.classes_).index(explained.label)
    expected = {word: np.log(rate[w, label] / rate[w, 1 - label]) for w, word in enumerate(corpus.vocabulary)}
    np.testing.assert_allclose(explained.first, [expected[word] for word in explained.words])
    with pytest.raises(ValueError, match="a sum over words, which Opaque does not have"):
        BayesClassifier("opaque", smoothing=0.5).fit(corpus, corpus.labels).explain(corpus)


@pytest.mark.parametrize(
    "model",
    [Poisson(smoothing=0.1), Mixture(2, family="poisson", random_state=0), BayesClassifier(Poisson(smoothing=0.5))],
    ids=["family", "mixture", "classifier"],
)
def test_saved_and_loaded(model, corpus, tmp_path):
    model.fit(corpus, corpus.labels)
    again = bursty.load(bursty.save(model, tmp_path / "model"))
    ask = "log_prob" if isinstance(model, Poisson) else "predict_proba"
    assert getattr(again, ask)(corpus).tobytes() == getattr(model, ask)(corpus).tobytes()


def test_a_file_whose_family_is_not_defined_is_refused(corpus, tmp_path, monkeypatch):
    path = bursty.save(Poisson().fit(corpus), tmp_path / "model")
    monkeypatch.delitem(schema._BY_NAME, "Poisson")
    with pytest.raises(ValueError, match=r"'Poisson'.* is unknown"):
        bursty.load(path)


def test_checkpoint_goes_on(corpus, tmp_path, monkeypatch):
    model = Mixture(2, family="poisson", init="perturb", random_state=0)
    whole, stopped = clone(model).fit(corpus), model.set_params(checkpoint=Checkpoint(tmp_path / "fit", iterations=1))
    update, calls = PoissonFamily.update, []

    def interrupted(self, stats, **options):
        calls.append(1)
        if len(calls) == 6:
            raise MemoryError
        return update(self, stats, **options)

    with monkeypatch.context() as patch:
        patch.setattr(PoissonFamily, "update", interrupted)
        with pytest.raises(MemoryError):
            stopped.fit(corpus)
    assert (tmp_path / "fit").exists()
    assert stopped.fit(corpus).components_.tobytes() == whole.components_.tobytes()


def test_plots(corpus):
    model, dcm = Poisson().fit(corpus), families.DCM().fit(corpus)
    assert plot.probabilities(model, dcm, corpus).get_xlabel() == "log-probability, Poisson"
    assert plot.parameters(model, dcm).get_xlabel() == "rate of Poisson"
    assert plot.simplex([1.0, 2.0, 3.0], 5, family="poisson").get_title(loc="left").endswith("Poisson")
    assert plot.simplex(Poisson().fit([[1, 2, 0], [0, 1, 3]]), 5).get_title(loc="left").endswith("Poisson")


@pytest.mark.parametrize("family", ["poisson", "opaque"])
def test_reports(family, corpus, tmp_path):
    title = FAMILIES[family]._family.title
    mixture = Mixture(2, family=family, random_state=0).fit(corpus)
    classifier = BayesClassifier(family, smoothing=0.5).fit(corpus, corpus.labels)
    for model, sentence in ((mixture, f"with {title} components"), (classifier, f"one {title} per class")):
        page = report.write(tmp_path / "page.html", model, corpus)
        text = (tmp_path / "page.html" if page is None else page).read_text(encoding="utf-8")
        assert sentence in text
        assert "Recherches sur la probabilité des jugements" in text


def test_command_line(corpus, tmp_path, monkeypatch):
    from bursty.cli import run

    monkeypatch.chdir(tmp_path)
    corpus.save("documents.bursty")
    assert run(["compare", "documents.bursty", "--k", "2", "--iterations", "3", "--out", "compared"]) == 0
    with open("compared/models.csv", newline="", encoding="utf-8") as file:
        models = {row["model"] for row in csv.DictReader(file)}
    assert models == {"multinomial", "dcm", "edcm", "poisson", "opaque", "lda", "dcmlda"}
    assert run(["cluster", "documents.bursty", "--k", "2", "--family", "poisson", "--out", "found"]) == 0
    assert bursty.load("found/model.bursty").family == "poisson"


# What is no family ---------------------------------------------------------------------------------------------


def test_an_unknown_family_is_an_error(corpus):
    for model in (Mixture(2, family="polya"), BayesClassifier("polya"), bursty.DPMFS(family="polya")):
        with pytest.raises(ValueError, match=r"family must be one of .*'dcm'.*, not 'polya'"):
            model.fit(corpus, corpus.labels)
    for family in (Poisson, PoissonFamily(), None, 3, ["dcm"]):
        with pytest.raises(ValueError, match="family must be one of"):
            BayesClassifier(family).fit(corpus, corpus.labels)


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="'poisson' is taken by Poisson"):
        type("Other", (FamilyEstimator,), {"_family": PoissonFamily()})
    again = type("Poisson", (FamilyEstimator,), {"_family": PoissonFamily(), "__module__": __name__})
    assert FAMILIES["poisson"] is again
    FAMILIES["poisson"] = Poisson


def test_a_family_names_its_classes():
    bare = type("BareFamily", (Family,), {"name": "bare", "title": "Bare", "__abstractmethods__": frozenset()})
    bare.__abstractmethods__ = frozenset()
    with pytest.raises(TypeError, match="must name its classes"):
        type("Bare", (FamilyEstimator,), {"_family": bare()})
