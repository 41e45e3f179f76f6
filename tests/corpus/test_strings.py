"""Texts in the place of counts: which call to make; new texts are counted as those of a fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bursty

TEXTS = ["rain and wind", "sun today", "more rain"] * 3
AS_TEXTS = {
    "one string": "rain and wind",
    "list": TEXTS,
    "tuple with a gap": (None, *TEXTS),
    "array": np.array(TEXTS),
    "array of objects": np.array(TEXTS, dtype=object),
    "tokens": [text.split() for text in TEXTS],
    "pandas series": pd.Series(TEXTS),
    "polars series": pl.Series(TEXTS),
}
AS_FRAMES = {
    "pandas": pd.DataFrame({"said": TEXTS, "year": 1999}),
    "pandas objects": pd.DataFrame({"said": pd.Series([None, *TEXTS[1:]], dtype=object)}),
    "polars": pl.DataFrame({"said": TEXTS}),
}


@pytest.mark.parametrize("name", AS_TEXTS)
def test_texts_in_the_place_of_counts(name):
    """Every estimator, in every method, says which call makes counts of them."""
    model = bursty.families.DCM().fit(bursty.Corpus.from_texts(TEXTS))
    with pytest.raises(ValueError, match=r"takes counts of words, not texts.*bursty\.Corpus\.from_texts\(texts\)"):
        bursty.Corpus(AS_TEXTS[name])
    for estimator in (bursty.Mixture(2), bursty.DPMFS(), bursty.LDA(2), bursty.DCMLDA(2), bursty.families.EDCM()):
        with pytest.raises(ValueError, match=r"not texts.*bursty\.Corpus\.from_texts\(texts\)"):
            estimator.fit(AS_TEXTS[name])
    with pytest.raises(ValueError, match=r"not texts.*bursty\.Corpus\.from_texts\(texts\)"):
        bursty.BayesClassifier().fit(AS_TEXTS[name], [0, 1, 0] * 3)
    for method in (model.log_prob, model.perplexity, model.score):
        with pytest.raises(ValueError, match=r"not texts.*bursty\.Corpus\.from_texts\(texts, like=model\)"):
            method(AS_TEXTS[name])


@pytest.mark.parametrize("name", AS_FRAMES)
def test_a_data_frame_with_texts(name):
    with pytest.raises(ValueError, match=r"'said' contains text.*bursty\.Corpus\.from_frame\(frame, text='said'\)"):
        bursty.Mixture(2).fit(AS_FRAMES[name])
    assert len(bursty.Corpus.from_frame(AS_FRAMES[name], text="said")) == 9


def test_of_several_columns_with_strings_that_with_most_text_is_named():
    frame = pd.DataFrame({"id": ["r1", "r2"], "said": ["rain in the hills", None], "label": ["wet", "dry"]})
    with pytest.raises(ValueError, match=r"'said' contains text.*text='said'"):
        bursty.Mixture(2).fit(frame)


def test_new_texts_are_counted_as_those_of_the_fit(tmp_path):
    corpus = bursty.Corpus.from_texts(TEXTS, stop_words=["and"], ngram_range=(1, 2))
    model = bursty.families.DCM(smoothing=0.1).fit(corpus)
    new = bursty.Corpus.from_texts(["Rain AND wind", "unknown words"], like=model)
    assert new.vocabulary.tolist() == corpus.vocabulary.tolist()
    assert new.counts.sum() == 3  # rain, wind, "rain wind"
    loaded = bursty.load(bursty.save(model, tmp_path / "m.bursty"))
    assert loaded.text_options_ == model.text_options_
    frame = pd.DataFrame({"text": ["Rain AND wind"]})
    (tmp_path / "new.csv").write_text("text\nRain AND wind\n")
    corpus.save(tmp_path / "old.bcorpus")
    for made in (
        bursty.Corpus.from_frame(frame, like=loaded),
        bursty.read_corpus(tmp_path / "new.csv", like=loaded),
        bursty.Corpus.from_texts(["Rain AND wind"], like=bursty.read_corpus(tmp_path / "old.bcorpus")),
    ):
        assert made.counts.toarray().tolist() == new.counts.toarray()[:1].tolist()
    again = bursty.read_corpus(tmp_path / "old.bcorpus", like=model)
    assert np.array_equal(model.log_prob(again), model.log_prob(corpus))
    with pytest.raises(ValueError, match="min_df= does not go with like="):
        bursty.Corpus.from_texts(TEXTS, like=model, min_df=2)
    with pytest.raises(ValueError, match="like= needs"):
        bursty.Corpus.from_texts(TEXTS, like=bursty.families.DCM().fit(corpus.counts))
    model.fit(corpus.counts)
    assert not hasattr(model, "text_options_")


@pytest.mark.parametrize(
    "damage", [{"lowercase": 1}, {"token_pattern": None}, {"ngram_range": [1]}, {"analyzer": "x"}, {"html": "y"}, []]
)
def test_stored_options_are_checked(damage):
    corpus = bursty.Corpus.from_texts(TEXTS).with_info(text_options=damage)
    with pytest.raises(ValueError, match="invalid"):
        _ = corpus.text_options
