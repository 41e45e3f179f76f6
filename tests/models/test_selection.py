"""The number of components: rules, criteria, evidence."""

from __future__ import annotations

import numpy as np
import pytest

import bursty
from bursty import Mixture, datasets, families, select_components
from bursty.models import selection
from bursty.models.selection import RULES, _choose, _paired


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(n_documents=150, n_words=200, n_components=3, mean_length=60, random_state=0)[0]


def test_number_of_components(corpus):
    found = select_components(corpus, [1, 2, 3, 6], random_state=0, cv=3)
    assert found.n_components == 3
    assert found.criterion == "heldout"
    assert set(found.choices) == set(RULES)
    assert "<- chosen" in str(found)
    assert "choices: elbow 3" in str(found)
    later = select_components(corpus, [2, 3, 6], random_state=0, cv=3)
    assert later.choices == found.choices
    np.testing.assert_array_equal(later.scores, found.scores[1:])


def test_mixture_and_function_choose_alike(corpus, monkeypatch):
    monkeypatch.setattr(selection, "DEFAULT_KS", (1, 2, 3))
    few = corpus.counts[:60]
    assert Mixture("auto", random_state=0).fit(few).selection_.choices == select_components(few, random_state=0).choices


def test_criteria(corpus):
    found = select_components(corpus.counts[:60], [1, 2], criterion="bic", family="dcm", random_state=0)
    assert found.ks.tolist() == [1, 2]
    assert set(found.columns) == {"aic", "icl", "laplace"}
    assert np.all(found.columns["icl"] <= found.scores + 1e-12)
    assert set(select_components(corpus, [1, 2], criterion="icl", family="multinomial").columns) == {"aic", "bic"}
    with pytest.raises(ValueError, match="criterion must be"):
        select_components(corpus, [1], criterion="luck")
    with pytest.raises(ValueError, match="ks must be"):
        select_components(corpus, [0, 3])
    with pytest.raises(ValueError, match="is for components of family 'dcm', not EDCM"):
        select_components(corpus, [1], criterion="laplace", family="edcm")
    with pytest.raises(ValueError, match="cv must be"):
        select_components(corpus, [1, 2], criterion="heldout", cv=1)


@pytest.mark.parametrize(
    ("family", "criterion"),
    [("auto", "laplace"), ("dcm", "laplace"), (families.DCM(), "laplace"), ("edcm", "heldout")],
)
def test_tables_are_judged_by_evidence_where_the_family_has_one(family, criterion):
    table = np.random.default_rng(0).integers(0, 9, (30, 5))
    assert select_components(table, [1, 2], family=family, cv=2, random_state=0).criterion == criterion


def test_more_components_that_bring_little_are_not_chosen():
    numbers = np.array([1, 2, 3, 4, 8])
    rng = np.random.default_rng(0)
    noise = rng.normal(0.0, 100.0, 500) + rng.normal(0.0, 0.3, (5, 500))

    def chosen(rule, *means):
        scores, errors = _paired(np.array(means)[:, None] + noise)
        return _choose(rule, numbers, scores, errors, np.array([1.0, 0.7, 0.9, 0.8, 0.6]))

    assert chosen("elbow", -9.0, -3.0, -1.0, -0.7, 0.0) == 3
    assert chosen("one_standard_error", -9.0, -3.0, -1.0, -0.7, 0.0) == 8
    assert chosen("elbow", 0.0, -1.0, -2.0, -3.0, -4.0) == 1
    assert chosen("stability", -9.0, -3.0, -1.0, -0.7, 0.0) == 3


@pytest.mark.corpus
def test_evidence_of_the_twins(data_dir):
    """Four clusters, as Holmes, Harris and Quince (2012) found by the same criterion."""
    corpus = bursty.read_corpus(data_dir / "twins.csv")
    found = select_components(corpus, [2, 3, 4, 5, 6], random_state=0)
    assert (found.criterion, found.n_components) == ("laplace", 4)
