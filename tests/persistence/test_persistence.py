"""Saved models: what was learned comes back to the same bits, in this version and in later ones."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import bursty
from bursty import persistence
from bursty.models.classify import BayesClassifier
from bursty.models.mixture import Mixture
from fixtures import make_models

TARGETS = {"classifier": make_models.labels, "classifier-multilabel": make_models.two_labels}
FITTED: dict[str, object] = {}


def fitted(name):
    if name not in FITTED:
        FITTED[name] = make_models.MODELS[name]()
    return FITTED[name]


def answers(model) -> dict[str, np.ndarray]:
    """All that the model says about documents it has not seen."""
    new = make_models.corpus(first=100)
    found = {}
    for method in ("predict", "predict_proba", "score_samples", "log_prob", "score", "perplexity"):
        if not hasattr(model, method) or (method == "perplexity" and "vonmisesfisher" in repr(model).lower()):
            continue
        extra = [make_models.labels(new)] if method == "score" and isinstance(model, BayesClassifier) else []
        if extra and model._layout.multilabel:
            extra = [make_models.two_labels(new)]
        found[method] = np.asarray(getattr(model, method)(new, *extra))
    if hasattr(model, "doc_topic_"):
        found["transform"] = model.transform(new)
        found["empirical"] = model.empirical_likelihood(new)
    if hasattr(model, "sample"):
        drawn = model.sample([3, 9], random_state=1)
        first = drawn[0] if isinstance(drawn, tuple) else drawn
        found["sample"] = first.toarray() if sp.issparse(first) else np.asarray(first)
    if hasattr(model, "top_words"):
        found["words"] = np.asarray(model.top_words(3))
    return found


def same(one, other) -> bool:
    """Equal to the bit, in structure and type too."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert np.array_equal(value, other[name], equal_nan=value.dtype.kind == "f"), name
    return True


@pytest.mark.parametrize("name", make_models.MODELS)
def test_a_saved_model_comes_back(name, tmp_path):
    model = fitted(name)
    path = bursty.save(model, tmp_path / "kept")
    assert path.name == "kept.bursty"
    assert os.listdir(tmp_path) == ["kept.bursty"]
    back = bursty.load(path)
    assert type(back) is type(model)
    assert repr(back) == repr(model)
    assert vars(back).keys() == vars(model).keys()
    assert same(answers(model), answers(back))
    saved = persistence.read(path)
    assert (saved.corpus, saved.run) == (None, None)


@pytest.mark.parametrize(
    "name", ["mixture-edcm", "mixture-dcm", "classifier", "classifier-multilabel", "lda", "dcmlda"]
)
def test_learning_goes_on_to_the_same_bits(name, tmp_path):
    model = make_models.MODELS[name]()
    back = bursty.load(bursty.save(model, tmp_path / "kept"))
    for first in (200, 300):
        more = make_models.corpus(first)
        for learner in (model, back):
            learner.partial_fit(more, TARGETS[name](more) if name in TARGETS else None)
    assert same(answers(model), answers(back))


SETTINGS = [
    Mixture(2, init=np.tile([0.9, 0.1, 0.1, 0.9], (18, 1)).reshape(36, 2), smoothing=0.0, temperatures=[1.0]),
    Mixture(3, family="multinomial", n_init=2, tol=np.float64(1e-3)),
    BayesClassifier(bursty.families.EDCM(smoothing=0.5), complement=True, class_prior=np.array([0.25, 0.75])),
    BayesClassifier("multinomial", transform="log", normalize_weights=True, smoothing="auto"),
    BayesClassifier("vonmisesfisher", smoothing=0.0),
    bursty.LDA(2, alpha=0.5, learn_hyperparameters=False, n_iter=3, tol=0.0),
    bursty.LDA(2, learn_hyperparameters=True, n_iter=3, tol=0.0),
    bursty.LDA(1, n_iter=3, tol=0.0),
    bursty.DCMLDA(2, beta=1.0, learn_hyperparameters=False, n_iter=3, tol=0.0),
    bursty.DCMLDA(3, n_iter=3, tol=0.0),
    bursty.DPMFS(6, sampler="paper", n_iter=30, burn_in=10),
]


@pytest.mark.parametrize("model", SETTINGS, ids=lambda model: type(model).__name__)
def test_any_setting_comes_back_and_goes_on(model, tmp_path):
    corpus, more = make_models.corpus(), make_models.corpus(50)
    if "random_state" in model.get_params():
        model.set_params(random_state=1)
    classifies = isinstance(model, BayesClassifier)
    model.fit(corpus, make_models.labels(corpus) if classifies else None)
    back = bursty.load(bursty.save(model, tmp_path / "kept"))
    assert same(answers(model), answers(back))
    if hasattr(model, "partial_fit"):
        for learner in (model, back):
            learner.partial_fit(more, make_models.labels(more) if classifies else None)
        again = bursty.load(bursty.save(back, tmp_path / "kept"))
        assert same(answers(model), answers(again))


def test_partly_labelled_clusters_come_back(tmp_path):
    corpus = make_models.corpus()
    known = np.where(np.arange(36) < 10, corpus.labels, -1)
    for model in (Mixture(2, random_state=0), bursty.DPMFS(n_iter=20, random_state=0)):
        back = bursty.load(bursty.save(model.fit(corpus, known), tmp_path / "kept"))
        assert np.array_equal(back.classes_, model.classes_)
        assert np.array_equal(back.predict(corpus), model.predict(corpus))


def test_models_of_nameless_words_come_back(tmp_path):
    counts = make_models.corpus().counts
    back = bursty.load(bursty.save(bursty.families.DCM().fit(counts), tmp_path / "kept"))
    assert not hasattr(back, "feature_names_in_")
    assert np.array_equal(back.log_prob(counts), bursty.families.DCM().fit(counts).log_prob(counts))


@pytest.mark.parametrize("name", ["mixture-edcm", "lda", "dcmlda"])
def test_warm_starts_go_on_to_the_same_bits(name, tmp_path):
    model = make_models.MODELS[name]().set_params(warm_start=True)
    back = bursty.load(bursty.save(model, tmp_path / "kept"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(make_models.corpus())
        back.fit(make_models.corpus())
    assert same(answers(model), answers(back))
    assert {name: len(values) for name, values in model.trace_.items()} == {
        name: len(values) for name, values in back.trace_.items()
    }


@pytest.mark.parametrize("name", make_models.MODELS)
def test_files_of_earlier_versions_load(name):
    """The fixture was written once and stays: it must load for ever, and mean the same."""
    saved = persistence.read(make_models.FOLDER / f"{name}.bursty")
    expected = make_models.corpus()
    assert saved.run == make_models.RUN
    assert (saved.corpus.counts != expected.counts).nnz == 0
    assert list(saved.corpus.ids) == list(expected.ids)
    assert np.array_equal(saved.corpus.metadata["year"], expected.metadata["year"])
    assert list(saved.model.feature_names_in_) == list(expected.vocabulary)
    for name, values in answers(saved.model).items():
        assert values.dtype.kind not in "f" or np.isfinite(values).all(), name


def test_what_was_run_and_the_documents_are_kept(tmp_path):
    corpus = make_models.corpus()
    run = {"seed": 1, "versions": {"bursty": "0"}, "seconds": 1.5, "empty": None}
    path = bursty.save(fitted("mixture-edcm"), tmp_path / "kept.bursty", corpus=corpus, run=run)
    saved = persistence.read(path)
    assert saved.run == run
    assert list(saved.corpus.vocabulary) == list(corpus.vocabulary)
    assert list(saved.corpus.labels) == list(corpus.labels)
    assert np.array_equal(saved.model.predict(saved.corpus), saved.model.labels_)


def test_random_generators_and_engines_are_taken_along(tmp_path):
    from bursty.engines import get_engine

    model = Mixture(2, random_state=np.random.default_rng(3), engine=get_engine("local", 1), warm_start=True)
    model.fit(make_models.corpus())
    back = bursty.load(bursty.save(model, tmp_path / "kept"))
    assert back.engine == "local"
    assert model.engine != "local"
    assert back.random_state.random() == model.random_state.random()


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "kept.bursty"
    with pytest.raises(NotFittedError, match="Mixture"):
        bursty.save(Mixture(), path)
    with pytest.raises(TypeError, match=r"only .*Mixture.* can be saved, not dict"):
        bursty.save({}, path)
    with pytest.raises(ValueError, match="the corpus has 3 words and EDCM was fitted on 12"):
        bursty.save(fitted("edcm"), path, corpus=bursty.Corpus(np.eye(3, dtype=int)))
    with pytest.raises(TypeError, match=r"it\['run'\]\['when'\] is of type"):
        bursty.save(fitted("edcm"), path, run={"when": object()})
    assert not os.listdir(tmp_path)


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = bursty.save(fitted("edcm"), tmp_path / "kept.bursty")
    before = path.read_bytes()
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, most))
    try:
        with pytest.raises(OSError, match=r"kept\.bursty"):
            bursty.save(fitted("mixture-edcm"), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["kept.bursty"]


def test_a_corpus_is_not_a_model(tmp_path):
    path = make_models.corpus().save(tmp_path / "documents.bcorpus")
    with pytest.raises(ValueError, match=r"documents\.bcorpus is not .* model file: it is a file of kind 'corpus'"):
        bursty.load(path)
    with pytest.raises(FileNotFoundError):
        bursty.load(tmp_path / "nothing.bursty")


def test_loading_needs_no_training_code_and_imports_nothing_by_name(tmp_path):
    path = bursty.save(fitted("edcm"), tmp_path / "kept.bursty")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts["manifest.json"])
    text = json.dumps(manifest).replace('"EDCMParameters"', '"antigravity"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, text if name == "manifest.json" else data)
    with pytest.raises(ValueError, match="'antigravity', which is unknown"):
        bursty.load(path)
    assert "antigravity" not in sys.modules


def test_the_suffix_may_be_left_out(tmp_path):
    assert bursty.save(fitted("dcm"), tmp_path / "rain").name == "rain.bursty"
    assert bursty.load(tmp_path / "rain").get_params() == fitted("dcm").get_params()
    (tmp_path / "rain").write_bytes(b"a file of this very name comes first")
    with pytest.raises(ValueError, match="not a readable bursty model file"):
        bursty.load(tmp_path / "rain")
    with pytest.raises(FileNotFoundError, match="snow'"):
        bursty.load(tmp_path / "snow")


def test_the_folder_of_the_command_line_is_loaded(tmp_path):
    model = Mixture(2, random_state=0).fit([[3, 0], [4, 1], [0, 5], [1, 6]])
    path = bursty.save(model, tmp_path / "model.bursty")
    assert bursty.load(tmp_path).labels_.tolist() == model.labels_.tolist()
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"is a folder without model\.bursty"):
        bursty.load(tmp_path)
