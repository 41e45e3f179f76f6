"""Fitted models in one file, and back to the same bits: `bursty.save` and `bursty.load`.

A saved model is a tree (`bursty.storage`) of

| key | what |
|---|---|
| `library` | the version of bursty that wrote it |
| `model` | the estimator: its parameters, and everything it learned |
| `vocabulary` | a hash of its words, or None where they have no names |
| `corpus` | optional: the documents it was fitted on |
| `run` | optional: what was run, as plain values |

There is no code for single models. An estimator is rebuilt from its parameters and its other attributes, and these
may only be plain values, arrays and objects of `known_classes`.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bursty.corpus import Corpus
from bursty.corpus.storage import rebuild, take_apart
from bursty.engines import Levels
from bursty.families.base import FAMILIES, Parameters, Statistics, classes_of_families
from bursty.inference import em
from bursty.models.classify import BayesClassifier
from bursty.models.classify.calibration import Temperature
from bursty.models.classify.heldout import Sample
from bursty.models.classify.labels import Targets
from bursty.models.classify.layout import Layout
from bursty.models.classify.seen import Seen
from bursty.models.classify.smoothing import Constant, Shrinkage
from bursty.models.classify.sums import Kept
from bursty.models.classify.transforms import Transform
from bursty.models.dcmlda import DCMLDA
from bursty.models.dpmfs import DPMFS
from bursty.models.dpmfs.estimate import Components
from bursty.models.lda import LDA
from bursty.models.mixture import Mixture
from bursty.models.selection import Selection
from bursty.models.topics import TopicModel
from bursty.samplers import dcmlda, lda
from bursty.storage import read_tree, write_tree

Array = np.ndarray[Any, Any]

KIND = "model"
SUFFIX = ".bursty"
# Parameters that belong to a machine, and what is kept where they are objects.
_OF_THE_MACHINE = {"engine": "local", "checkpoint": None}

_MODELS = (Mixture, DPMFS, BayesClassifier, LDA, DCMLDA)
_PARTS = (
    *(Levels, em.Expectation, em.State, Selection),
    *(Constant, Kept, Layout, Sample, Seen, Shrinkage, Targets, Temperature, Transform),
)
#: What a file may hold besides the families' own classes, under the name it has there. A name stays for ever, or old
#: files cannot be read.
_OWN: Mapping[str, type] = {
    **{kind.__name__: kind for kind in (*_MODELS, *_PARTS)},
    "DPMFSComponents": Components,
    "LDAHyperparameters": lda.Hyperparameters,
    "DCMLDAHyperparameters": dcmlda.Hyperparameters,
}


def known_classes() -> dict[str, type]:
    """What a file may hold, by the names it has there: nothing else is ever rebuilt."""
    return {**classes_of_families(), **_OWN}


@dataclass(frozen=True)
class Saved:
    """What a file holds: the model, the corpus it was fitted on and what was run, where these were kept."""

    model: Any
    corpus: Corpus | None
    run: dict[str, Any] | None


def save(model: Any, path: str | Path, *, corpus: Corpus | None = None, run: Mapping[str, Any] | None = None) -> Path:
    """Keep a fitted model in one file (suffix ``.bursty``), without pickle.

    Parameters
    ----------
    model : fitted estimator of bursty
    path : str or path
        An older file there is replaced at the end, and only if all went well.
    corpus : Corpus, optional
        Keep these documents in the file too, so that a report can be made from it alone.
    run : mapping, optional
        What was run: data, parameters, seed, versions, times. Plain values.

    Returns
    -------
    Path
        Where the file is.
    """
    _check_model(model)
    if corpus is not None and corpus.n_words != model.n_features_in_:
        raise ValueError(
            f"the corpus has {corpus.n_words} words and {type(model).__name__} was fitted on "
            f"{model.n_features_in_}: give the documents of the fit"
        )
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(SUFFIX)
    tree = {
        "library": version("bursty"),
        "vocabulary": _hash_words(model),
        "model": _portable(model),
        "corpus": None if corpus is None else list(take_apart(corpus)),
        "run": None if run is None else dict(run),
    }
    return write_tree(path, KIND, tree, known_classes())


def load(path: str | Path) -> Any:
    """The model that `save` kept: it predicts, and goes on learning, to the same bits.

    Raises
    ------
    ValueError
        The file is no saved model: truncated, damaged, or something else. No code in it is ever run.
    """
    return read(path).model


def read(path: str | Path) -> Saved:
    """The model of a file with all that was kept beside it."""
    tree = read_tree(path, KIND, known_classes())
    try:
        model, corpus, run = tree["model"], tree["corpus"], tree["run"]
        _check_model(model)
        if tree["vocabulary"] != _hash_words(model):
            raise ValueError("its words are not those it was saved with")
        return Saved(model, None if corpus is None else rebuild(*corpus), None if run is None else dict(run))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is not a readable bursty model file: its parts do not fit ({error})") from error


def _check_model(model: Any) -> None:
    """The same before it is written and after it is read, so that what can be saved can be loaded."""
    if type(model) not in (models := (*_MODELS, *FAMILIES.values())):
        names = ", ".join(kind.__name__ for kind in models)
        raise TypeError(f"a saved model is one of {names}, not {type(model).__name__}")
    check_is_fitted(model)
    for part in _walk(model, frozenset(known_classes().values())):
        _check_sizes(part, int(model.n_features_in_))
    if isinstance(model, TopicModel):
        _check_topics(model)


def _hash_words(model: Any) -> str | None:
    words = getattr(model, "feature_names_in_", None)
    if words is None:
        return None
    text = "\n".join(f"{len(word)} {word}" for word in map(str, words))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _portable(model: Any) -> Any:
    """The model without the machines it ran on."""
    model = copy.copy(model)
    for name, value in model.get_params(deep=False).items():
        if name in _OF_THE_MACHINE and not isinstance(value, str):
            model.set_params(**{name: _OF_THE_MACHINE[name]})
        elif isinstance(value, BaseEstimator):
            model.set_params(**{name: _portable(value)})
    return model


def _walk(value: Any, known: frozenset[type]) -> Iterator[Any]:
    """The listed objects inside a value, itself first."""
    yield value
    if isinstance(value, dict | list):
        inner = list(value.values() if isinstance(value, dict) else value)
    elif is_dataclass(value):
        inner = [getattr(value, field.name) for field in fields(value)]
    else:
        inner = list(vars(value).values())
    for item in inner:
        if isinstance(item, dict | list) or type(item) in known:
            yield from _walk(item, known)


def _check_sizes(part: Any, n_words: int) -> None:
    """What compiled loops take for granted: a row for each word, a column for each component, places inside."""
    if isinstance(part, Levels):
        _check_levels(part, (1, n_words))
    elif isinstance(part, lda.Hyperparameters | dcmlda.Hyperparameters):
        shape = (n_words,) if isinstance(part, lda.Hyperparameters) else (n_words, len(part.alpha))
        _expect(part.alpha.ndim == 1 and part.beta.shape == shape, part)
        _expect(part.alpha.dtype == np.float64 and part.beta.dtype == np.float64, part)
    elif isinstance(part, Components):
        _expect(part.slot.shape == (n_words,) and part.slot.dtype == np.int32, part)
        _expect(part.slot.min() >= -1 and part.slot.max() < len(part.weights), part)
        _expect(part.weights.shape[1:] == part.prior.shape and part.weights.dtype == np.float64, part)
    elif isinstance(part, Sample):
        _expect(part.counts.shape == (len(part.weights), n_words) and len(part.targets) == len(part.weights), part)
    elif isinstance(part, Targets):
        _expect(part.codes is None or _inside(part.codes, len(part.classes)), part)
        _expect(part.table is None or part.table.shape[1] == len(part.classes), part)
    elif isinstance(part, Kept):
        _check_kept(part, (1, n_words))
    elif isinstance(part, Seen):
        _expect(part.documents.ndim == 2 and part.documents.shape[1] == len(part.stats), part)
        _expect(part.document_frequency.shape == (n_words,), part)
    elif isinstance(part, Statistics) and isinstance(getattr(part, fields(part)[0].name), Kept):
        sums = [getattr(part, field.name) for field in fields(part)]
        widths = {len(one.columns if isinstance(one, Kept) else one) for one in sums}
        _expect(len(widths) == 1 and sums[0].n_items == n_words and sums[0].values is None, part)
    elif isinstance(part, Parameters | Statistics):
        arrays = [getattr(part, field.name) for field in fields(part)]
        arrays = [array for array in arrays if isinstance(array, np.ndarray)]
        widths = {array.shape[-1] for array in arrays}
        _expect(len(widths) == 1 and all(array.dtype == np.float64 for array in arrays), part)
        _expect(all(array.ndim == 1 or array.shape == (n_words, *widths) for array in arrays), part)
        _expect(isinstance(part, em.Expectation) or any(array.ndim == 2 for array in arrays), part)


def _check_levels(levels: Levels, numbers: tuple[int, ...]) -> None:
    """Pairs of item and value in order, with items below a number that is one of these."""
    items, values, weights = levels.items, levels.values, levels.weights
    _expect(items.dtype == values.dtype == np.int32 and items.ndim == values.ndim == 1, levels)
    _expect(len(items) == len(values) == weights.shape[0] and weights.ndim == 2, levels)
    _expect(levels.n_items in numbers and weights.dtype == np.float64, levels)
    if len(items):
        _expect(items[0] >= 0 and items[-1] < levels.n_items and values.min() >= 0, levels)
        _expect(bool(np.all(np.diff(items) >= 0)), levels)


def _check_kept(sums: Kept, numbers: tuple[int, ...]) -> None:
    """Rows in order, with items below a number that is one of these, and as many sums in each column."""
    rows = [sums.items, *sums.columns, *([] if sums.values is None else [sums.values])]
    _expect(sums.items.dtype == np.int32 and all(row.ndim == 1 and row.dtype.kind in "iuf" for row in rows), sums)
    _expect(len({len(row) for row in rows}) == 1 and sums.n_items in numbers, sums)
    if len(sums.items):
        _expect(sums.items[0] >= 0 and sums.items[-1] < sums.n_items and bool(np.all(np.diff(sums.keys) > 0)), sums)


def _check_topics(model: TopicModel) -> None:
    n_topics, n_words = shape = len(model.alpha_), model.n_features_in_
    _expect(model.components_.shape == model.beta_.shape == shape, model)
    for part in model._stream["mean"].values():
        if isinstance(part, dict):
            _check_levels(Levels(**part), (0, 1, n_topics, n_words, n_topics * n_words))
        else:
            _expect(isinstance(part, float) or part.shape == (n_words, n_topics), model)
    _expect(_inside(model._topics, len(model.alpha_)), model)


def _inside(numbers: Array, end: int) -> bool:
    """Whole numbers in a row, from 0 to before the end."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        return False
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < end)


def _expect(fits: bool, part: Any) -> None:
    if not fits:
        raise ValueError(f"the sizes or types of {type(part).__name__} are not those of a fitted model")
