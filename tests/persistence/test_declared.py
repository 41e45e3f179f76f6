"""What a class declares about its values holds for every file: whatever array of a model is changed, loading refuses it
or gives a model that works."""

from __future__ import annotations

import copy
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import bursty
from bursty.storage import read_tree, write_tree
from bursty.storage.schema import stored_classes
from fixtures import make_models

FIXTURES = sorted(Path(make_models.FOLDER).glob("*.bursty"))


def rewritten(path, source, change):
    """A copy of a saved model, changed by hand, with right checksums."""
    bursty.load(source)  # so that the classes are known
    tree = read_tree(source, "model", stored_classes())
    change(tree["model"])
    tree["corpus"] = None
    return write_tree(path, "model", tree, stored_classes())


def fixture(name):
    return make_models.FOLDER / f"{name}.bursty"


def put(value, *path, to):
    """Set what lies at the end of a path of attributes and keys."""
    *before, last = path
    for name in before:
        value = value[name] if isinstance(value, dict | list) else getattr(value, name)
    if isinstance(value, dict | list):
        value[last] = to
    else:
        object.__setattr__(value, last, to)


def longer(array):
    return np.concatenate([array, array[-1:]])


LIES = {
    "more alphas than topics": ("lda", ("_params", "alpha"), lambda m: longer(m._params.alpha)),
    "fewer words in beta": ("lda", ("_params", "beta"), lambda m: m._params.beta[:-1]),
    "more topics in beta": ("dcmlda", ("_params", "beta"), lambda m: np.hstack([m._params.beta] * 2)),
    "alpha below zero": ("lda", ("_params", "alpha"), lambda m: -m._params.alpha),
    "topic numbers": ("lda", ("_topics",), lambda m: m._topics + 200),
    "mixtures that do not sum to one": ("lda", ("doc_topic_",), lambda m: m.doc_topic_ * 2),
    "fewer weights": ("mixture-dcm", ("_state", "weights"), lambda m: m._state.weights[:1] / m._state.weights[0]),
    "weights that do not sum to one": ("mixture-edcm", ("_state", "weights"), lambda m: m._state.weights * 2),
    "weights that are not there": ("mixture-edcm", ("weights_",), lambda m: m.weights_ * np.nan),
    "labels above": ("mixture-edcm", ("labels_",), lambda m: m.labels_ + 2),
    "labels below": ("mixture-edcm", ("labels_",), lambda m: m.labels_ - 1),
    "parameters below zero": ("mixture-dcm", ("_state", "params", "alpha"), lambda m: -m._state.params.alpha),
    "infinite parameters": ("dcm", ("_parameters", "alpha"), lambda m: m._parameters.alpha + np.inf),
    "two components in one": ("dcm", ("_parameters", "alpha"), lambda m: np.hstack([m._parameters.alpha] * 2)),
    "another class": ("dcm", ("_parameters",), lambda m: bursty.load(fixture("edcm"))._parameters),
    "slots": ("dpmfs", ("_components", "slot"), lambda m: m._components.slot + 100),
    "clusters": ("dpmfs", ("n_clusters_",), lambda m: 7),
    "stream": ("lda", ("_stream", "mean", "word_topics"), lambda m: sp.csr_array((12, 3))),
    "a stream that claims": ("lda", ("_stream", "mean", "words", "weights"), lambda m: sp.csr_array((169, 2**30))),
    "classes": ("classifier", ("classes_",), lambda m: m.classes_[:1]),
    "groups": ("classifier-multilabel", ("parameters_", "beta"), lambda m: m.parameters_.beta[:, :3].copy()),
    "statistics of a class": ("classifier", ("_seen", "stats"), lambda m: m._seen.stats[:1]),
    "discounts": ("classifier", ("_seen", "documents"), lambda m: m._seen.documents[:1]),
    "codes": ("classifier", ("_seen", "sample", "targets", "codes"), lambda m: m._seen.sample.targets.codes + 9),
    "another layout": ("classifier", ("_layout", "multilabel"), lambda m: True),
    "words": ("dcm", ("n_features_in_",), lambda m: 10**12),
    # Found by the fuzzer: results would not have been numbers.
    "a prior above one": ("classifier-multilabel", ("class_log_prior_",), lambda m: m.class_log_prior_ + 9e15),
    "a prior that is no number": ("classifier", ("class_log_prior_",), lambda m: m.class_log_prior_ * np.nan),
    "a probability above one": ("classifier-multilabel", ("class_log_prior_",), lambda m: -m.class_log_prior_ + 1),
    "words that cannot occur": ("dpmfs", ("_components", "weights"), lambda m: m._components.weights * 0),
    "parameters without end": ("dcm", ("_parameters", "alpha"), lambda m: m._parameters.alpha + 1e300),
    # What users see is not what documents are compared with.
    "other weights": ("mixture-dcm", ("weights_",), lambda m: m.weights_[::-1].copy()),
    "other components": ("mixture-dcm", ("components_",), lambda m: m.components_ * 2),
    "other words": ("dpmfs", ("discriminative_",), lambda m: ~m.discriminative_),
    "other prior weights": ("lda", ("alpha_",), lambda m: m.alpha_ * 2),
    "other topics": ("dcmlda", ("beta_",), lambda m: m.beta_ * 2),
    "other parameters": ("dcm", ("alpha_",), lambda m: m.alpha_ * 2),
    "other counts": ("classifier", ("class_count_",), lambda m: m.class_count_ + 1),
    "too many members": ("mixture-dcm", ("sizes_",), lambda m: m.sizes_ + 1),
    "confidence": ("mixture-dcm", ("confidence_",), lambda m: m.confidence_ + 1),
}


@pytest.mark.parametrize(("name", "path", "wrong"), LIES.values(), ids=LIES)
def test_parts_that_do_not_fit(name, path, wrong, tmp_path):
    lie = rewritten(tmp_path / "lie.bursty", fixture(name), lambda model: put(model, *path, to=wrong(model)))
    with pytest.raises(ValueError, match="its parts do not match"):
        bursty.load(lie)


def arrays_in(value, path=()):
    """Paths of all arrays in a value."""
    if isinstance(value, np.ndarray):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays_in(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from arrays_in(item, (*path, place))
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays_in(getattr(value, field.name), (*path, field.name))
    elif hasattr(value, "__dict__") and not sp.issparse(value):
        for name, item in vars(value).items():
            yield from arrays_in(item, (*path, name))


def at(value, path):
    for name in path:
        value = value[name] if isinstance(value, dict | list) else getattr(value, name)
    return value


def changed(array):
    """The array in other sizes and with values that hurt."""
    yield array[:-1]
    yield np.concatenate([array, array])
    if array.ndim == 2:
        yield array[:, :-1].copy()
        yield np.hstack([array, array])
    if array.size and array.dtype.kind in "iuf":
        for value in (np.nan, np.inf, -1.0) if array.dtype.kind == "f" else (-1, 2**31 - 1, 255):
            if array.dtype.kind != "f" and not np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
                continue
            wrong = array.copy()
            wrong.flat[array.size // 2] = value
            yield wrong


def use(model):
    """Everything that walks what was loaded; finite where it is a probability."""
    documents, labels = make_models.corpus(100), None
    if isinstance(model, bursty.BayesClassifier):
        labels = make_models.two_labels(documents) if model._layout.multilabel else make_models.labels(documents)
    if hasattr(model, "predict_proba"):
        assert np.all(np.isfinite(model.predict_proba(documents)))
    elif isinstance(model, bursty.LDA | bursty.DCMLDA):
        assert np.all(np.isfinite(model.transform(documents)))
        model.set_params(n_samples=2, burn_in=1)
    else:
        assert np.all(np.isfinite(model.log_prob(documents)))
    if hasattr(model, "partial_fit") and model.get_params().get("transform") != "tfidf":
        model.partial_fit(documents) if labels is None else model.partial_fit(documents, labels)


# What is shown to people and walked by nothing compiled.
SHOWN = {"trace_", "diagnostics_", "feature_names_in_", "classes_", "selection_", "confidence_", "similarity_"}
SHOWN |= {"samples_", "class_log_prior_", "class_count_"}


@pytest.mark.parametrize("source", FIXTURES, ids=lambda path: path.stem)
def test_every_array_in_turn(source, tmp_path):
    model = bursty.load(source)
    vars(model).pop("feature_names_in_", None)
    bursty.save(model, tmp_path / "whole.bursty")
    paths = [path for path in arrays_in(model) if path[0] not in SHOWN]
    assert paths
    for path in paths:
        for wrong in changed(at(model, path)):
            lie = copy.deepcopy(model)
            put(lie, *path, to=wrong)
            tree = {"library": "0", "vocabulary": None, "model": lie, "corpus": None, "run": None}
            write_tree(tmp_path / "lie.bursty", "model", tree, stored_classes())
            try:
                read = bursty.load(tmp_path / "lie.bursty")
            except ValueError:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(read)


def test_names_are_those_of_the_first_version():
    """Files have these names for ever; new ones may follow."""
    names = """
        Mixture DPMFS BayesClassifier LDA DCMLDA Multinomial DCM EDCM VonMisesFisher Levels Expectation State Selection
        MultinomialParameters DCMParameters EDCMParameters VMFParameters MultinomialStatistics DCMStatistics
        EDCMStatistics VMFStatistics Constant Kept Layout Sample Seen Shrinkage Targets Temperature Transform
        DPMFSComponents LDAHyperparameters DCMLDAHyperparameters"""
    bursty.load(FIXTURES[0])
    assert set(names.split()) <= stored_classes().keys()
