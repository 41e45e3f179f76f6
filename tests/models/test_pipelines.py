"""Pipelines of a vectorizer and a model: words, files, and pickles; what is stored contains no code."""

from __future__ import annotations

import pickle
import random
import zipfile

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline

import bursty
from bursty import report
from bursty.models.vectorizers import to_columns

RNG = random.Random(3)
WORDS = {"money": ["bank", "loan", "bond", "price", "dollar"], "sport": ["goal", "team", "coach", "league", "referee"]}
KINDS = ["money", "sport"] * 12
TEXTS = [" ".join([*RNG.choices(WORDS[kind], k=12), "The", "and"]) + "!" for kind in KINDS]
NEW = ["The loan and the bond, a bank bond", "coach and team", "nothing known", ""]
VECTORIZERS = {
    "counts": CountVectorizer(),
    "options": CountVectorizer(
        stop_words=["and"], ngram_range=(1, 2), min_df=2, binary=True, lowercase=False, dtype=np.int32
    ),
    "english": CountVectorizer(stop_words="english", max_features=7, token_pattern=r"[a-z]+"),
    "characters": CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), strip_accents="unicode"),
    "fixed": CountVectorizer(vocabulary=["team", "bank", "goal", "bond"]),
    "tf-idf": TfidfVectorizer(sublinear_tf=True),
    "frequencies": TfidfVectorizer(use_idf=False, norm="l1"),
    "hashing": HashingVectorizer(n_features=64, alternate_sign=False, norm=None),
    "hashing, l1": HashingVectorizer(n_features=32, alternate_sign=False, norm="l1"),
}


def fitted(name: str) -> Pipeline:
    family = "multinomial" if name in ("tf-idf", "frequencies", "hashing, l1") else "dcm"
    return make_pipeline(VECTORIZERS[name], bursty.BayesClassifier(family)).fit(TEXTS, KINDS)


@pytest.mark.parametrize("name", VECTORIZERS)
def test_a_whole_pipeline_is_saved(name, tmp_path):
    pipeline = fitted(name)
    path = bursty.save(pipeline, tmp_path / "pipeline")
    loaded = bursty.load(path)
    assert isinstance(loaded, Pipeline)
    assert [step for step, _ in loaded.steps] == [step for step, _ in pipeline.steps]
    assert np.array_equal(loaded[0].transform(NEW).toarray(), pipeline[0].transform(NEW).toarray())
    assert np.array_equal(loaded.predict_proba(NEW), pipeline.predict_proba(NEW))
    assert loaded[0].get_params() == pipeline[0].get_params()
    with zipfile.ZipFile(path) as archive:
        assert not any("pickle" in member or member.endswith(".pkl") for member in archive.namelist())
    # And again, from what was loaded.
    again = bursty.load(bursty.save(loaded, tmp_path / "again"))
    assert np.array_equal(again.predict_proba(NEW), pipeline.predict_proba(NEW))


@pytest.mark.parametrize("name", VECTORIZERS)
def test_documents_of_a_corpus_get_the_columns_of_the_vectorizer(name):
    vectorizer = fitted(name)[0]
    corpus = bursty.Corpus.from_texts(NEW, analyzer=vectorizer.build_analyzer())
    np.testing.assert_allclose(to_columns(vectorizer, corpus).toarray(), vectorizer.transform(NEW).toarray(), 1e-12)


def test_the_words_of_the_vectorizer_are_those_of_the_model(tmp_path):
    pipeline = make_pipeline(CountVectorizer(), bursty.Mixture(2, random_state=0)).fit(TEXTS)
    words = {*WORDS["money"], *WORDS["sport"]}
    page = report.render(pipeline, TEXTS)
    assert "referee" in page
    assert "word no. 0" not in page
    assert not hasattr(pipeline[-1], "feature_names_in_")  # a report changes nothing
    for model in (
        bursty.load(bursty.save(pipeline, tmp_path / "p"))[-1],
        pipeline[-1].set_words(pipeline[:-1]),
        pipeline[-1].set_words(pipeline),
        pipeline[-1].set_words(pipeline[0].get_feature_names_out().tolist()),
    ):
        assert {word for row in model.top_words(5) for word in row} == words
        assert set(model.summary()["words"][0]) & words
    assert pipeline.predict(NEW).shape == (4,)  # without a warning, though a sparse table has no names


@pytest.mark.parametrize("model", [bursty.Mixture(2, random_state=0), bursty.LDA(2, n_iter=5, tol=0, random_state=0)])
def test_a_model_without_words_says_how_to_name_them(model):
    pipeline = make_pipeline(CountVectorizer(), model).fit(TEXTS)
    for show in (model.top_words, model.summary):
        with pytest.warns(UserWarning, match=r"numbers of columns.*pipeline\[-1\]\.set_words\(pipeline\)"):
            show()
    assert "set_words(pipeline)" in model._repr_html_()
    model.set_words(pipeline)
    assert set(model.top_words(1)[0]) <= set(pipeline[0].get_feature_names_out())
    assert "set_words" not in model._repr_html_()


def test_hashed_words_have_no_names():
    hashing = HashingVectorizer(n_features=16, alternate_sign=False, norm=None)
    pipeline = make_pipeline(hashing, bursty.Mixture(2, random_state=0)).fit(TEXTS)
    for words in (pipeline, pipeline[:-1], hashing):
        with pytest.raises(ValueError, match="has no names of columns"):
            pipeline[-1].set_words(words)


@pytest.mark.parametrize(
    ("names", "message"),
    [(["a"], "1 name does not match"), (["a"] * 12, "same name"), (range(12), "must be strings, not int")],
)
def test_names_that_do_not_fit(names, message):
    pipeline = make_pipeline(CountVectorizer(), bursty.families.DCM()).fit(TEXTS)
    with pytest.raises(ValueError, match=message):
        pipeline[-1].set_words(names)


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (
            CountVectorizer(tokenizer=str.split, token_pattern=None),
            r"tokenizer=\.\.\.\) cannot be saved",
        ),
        (CountVectorizer(preprocessor=str.upper), "preprocessor"),
        (CountVectorizer(analyzer=str.split), "analyzer=.*functions are code"),
    ],
)
def test_functions_are_refused(vectorizer, message, tmp_path):
    pipeline = make_pipeline(vectorizer, bursty.families.DCM()).fit(TEXTS)
    with pytest.raises(TypeError, match=message):
        bursty.save(pipeline, tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_pipelines_of_other_steps_are_refused(tmp_path):
    three = make_pipeline(CountVectorizer(), TfidfTransformer(), bursty.families.Multinomial()).fit(TEXTS)
    with pytest.raises(TypeError, match="two steps, a vectorizer and a model, not 3"):
        bursty.save(three, tmp_path / "p")
    with pytest.raises(TypeError, match="TfidfTransformer cannot be saved: its first step must be CountVectorizer"):
        bursty.save(Pipeline(three.steps[1:]), tmp_path / "p")


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "Pipeline"},
        {"parameters": {"input": "filename"}},
        {"parameters": {"tokenizer": "os.system"}},
        {"parameters": {"analyzer": 3}},
        {"parameters": {"dtype": "object"}},
        {"words": None},
        {"words": np.array(["a"], dtype=object)},
        {"idf": np.ones(12)},
    ],
    ids=str,
)
def test_a_stored_vectorizer_is_checked(damage, tmp_path, monkeypatch):
    from dataclasses import replace

    from bursty import persistence

    made = persistence.StoredVectorizer.of

    def damaged(vectorizer):
        stored = made(vectorizer)
        changes = dict(damage)
        if "parameters" in changes:
            changes["parameters"] = stored.parameters | changes["parameters"]
        return replace(stored, **changes)

    monkeypatch.setattr(persistence.StoredVectorizer, "of", damaged)
    pipeline = make_pipeline(CountVectorizer(), bursty.families.DCM()).fit(TEXTS)
    path = bursty.save(pipeline, tmp_path / "p")
    with pytest.raises(ValueError, match="not a readable bursty model file"):
        bursty.load(path)


@pytest.mark.parametrize(
    "model",
    [
        bursty.Mixture(2, random_state=0),
        bursty.DPMFS(n_iter=6, burn_in=3, random_state=0),
        bursty.LDA(2, n_iter=3, tol=0, random_state=0),
        bursty.DCMLDA(2, n_iter=3, tol=0, random_state=0),
        bursty.families.DCM(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pickles_work(model):
    corpus = bursty.Corpus.from_texts(TEXTS)
    model = model.fit(corpus)
    again = pickle.loads(pickle.dumps(model))
    method = next(name for name in ("predict_proba", "transform", "log_prob") if hasattr(model, name))
    assert np.array_equal(getattr(again, method)(corpus), getattr(model, method)(corpus))


def test_pipelines_and_corpora_can_be_pickled():
    pipeline = fitted("counts")
    assert np.array_equal(pickle.loads(pickle.dumps(pipeline)).predict(NEW), pipeline.predict(NEW))
    corpus = bursty.Corpus.from_texts(TEXTS, KINDS)
    again = pickle.loads(pickle.dumps(corpus))
    assert np.array_equal(again.counts.toarray(), corpus.counts.toarray())
    assert again.texts[3] == TEXTS[3]
