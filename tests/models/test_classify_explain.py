"""Explanations add up to the log odds, and put first occurrences and repeats where the family has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bursty.corpus import Corpus
from bursty.models.classify import BayesClassifier

X = np.array(
    [[3, 0, 1, 2], [2, 0, 0, 1], [4, 1, 0, 0], [0, 2, 1, 1], [0, 3, 1, 0], [1, 5, 0, 1], [1, 1, 4, 0], [0, 1, 3, 2]]
)
Y = np.array(["cats"] * 3 + ["dogs"] * 3 + ["fish"] * 2)


@pytest.mark.parametrize("family", ["multinomial", "dcm", "edcm"])
@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("smoothing", [0.1, None])
@pytest.mark.parametrize("top", [1, 10])
def test_parts_add_up(family, complement, smoothing, top):
    model = BayesClassifier(family, complement=complement, smoothing=smoothing).fit(X, Y)
    proba = model.predict_joint_log_proba(X)
    for row, why in enumerate(model.explain(X, top=top)):
        order = np.argsort(-proba[row])
        assert why.label == model.classes_[order[0]]
        assert why.against == model.classes_[order[1]]
        np.testing.assert_allclose(why.total, proba[row, order[0]] - proba[row, order[1]], rtol=1e-9, atol=1e-12)
        parts = why.first.sum() + why.repeats.sum() + why.other_words + why.rest
        np.testing.assert_allclose(parts, why.total, rtol=1e-9, atol=1e-12)
        assert len(why.words) == min(top, np.count_nonzero(X[row]))


def test_multinomial_pays_for_repeats_as_for_the_first():
    why = BayesClassifier("multinomial", smoothing=0.1).fit(X, Y).explain(X)[0]
    np.testing.assert_allclose(why.repeats, why.first * (why.counts - 1), atol=1e-12)
    np.testing.assert_allclose(why.rest, 0.0, atol=1e-12)


def test_edcm_pays_nothing_for_repeats_and_dcm_less_than_the_multinomial():
    shares = {}
    for family in ("multinomial", "dcm", "edcm"):
        why = BayesClassifier(family, smoothing=0.1).fit(X, Y).explain([[0, 6, 0, 0]])[0]
        shares[family] = abs(why.repeats[0] / why.first[0])
    assert shares["edcm"] == pytest.approx(0.0, abs=1e-12)
    assert shares["edcm"] < shares["dcm"] < shares["multinomial"] == pytest.approx(5.0)


def test_transformed_counts_split_by_their_logs():
    model = BayesClassifier.from_name("L-M").fit(X, Y)
    why = model.explain(X)[0]
    np.testing.assert_allclose(why.first / (why.first + why.repeats), np.log(2) / np.log1p(why.counts))


def test_against_average_and_against_a_class():
    model = BayesClassifier(smoothing=0.1).fit(X, Y)
    logits = model.predict_joint_log_proba(X)[0]
    average = model.explain(X, against="average")[0]
    np.testing.assert_allclose(average.total, logits[0] - logits[1:].mean())
    fish = model.explain(X, against="fish")[0]
    assert fish.against == "fish"
    np.testing.assert_allclose(fish.total, logits[0] - logits[2])
    with pytest.raises(ValueError, match="against must be"):
        model.explain(X, against="birds")
    with pytest.raises(ValueError, match="top must be"):
        model.explain(X, top=0)


def test_classes_of_a_corpus_are_called_by_their_names():
    corpus = Corpus(X, ["purr", "bark", "swim", "eat"], labels=list(Y))
    model = BayesClassifier(smoothing=0.1).fit(corpus)
    first = corpus.select([0])
    why = model.explain(first, against="fish")[0]
    assert (why.label, why.against) == (0, 2)
    assert str(why).startswith("cats against fish: log odds")
    assert str(model.explain(first, against=2)[0]) == str(why)
    assert str(model.explain(first, against="average")[0]).startswith("cats against average:")


def test_names_of_words_and_a_readable_page():
    frame = pd.DataFrame(X, columns=["purr", "bark", "swim", "eat"])
    why = BayesClassifier(smoothing=0.1).fit(frame, Y).explain(frame.iloc[:1])[0]
    assert why.words[0] == "purr"
    page = str(why)
    assert page.startswith("cats against ")
    assert "purr" in page
    assert "priors and length" in page


def test_several_labels():
    table = (Y[:, None] == np.unique(Y)).astype(int)
    model = BayesClassifier(smoothing=0.1).fit(X, table)
    why = model.explain(X)[0]
    np.testing.assert_allclose(why.total, model.predict_joint_log_proba(X)[0].max())
    assert why.against == "not 0"
