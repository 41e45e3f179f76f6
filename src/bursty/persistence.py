"""Saving fitted models to one file, and loading them to the same bits: `bursty.save` and `bursty.load`.

A saved model is a tree (`bursty.storage`) of

| key | contents |
|---|---|
| `library` | the version of bursty that wrote it |
| `model` | the estimator: its parameters and fitted attributes |
| `vocabulary` | a hash of its words, or None if they have no names |
| `vectorizer`, `steps` | optional: the vectorizer of a Pipeline whose model it is, and the names of the two steps |
| `corpus` | optional: the documents it was fitted on |
| `run` | optional: what was run, as plain values |

There is no code for individual models. An estimator is rebuilt from its parameters and its other attributes. These may
only be plain values, arrays and objects of classes that declare how they are stored (`bursty.storage.schema`), and they
are checked against these declarations.
"""

from __future__ import annotations

import copy
import hashlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from bursty import models
from bursty.corpus import Corpus
from bursty.corpus.storage import rebuild, take_apart
from bursty.models.vectorizers import StoredVectorizer, named, split_pipeline
from bursty.storage import read_tree, write_tree
from bursty.storage.schema import check, items, part, stored_classes, whole
from bursty.wording import counted

KIND = "model"
SUFFIX = ".bursty"
# Parameters that belong to a machine, and what is stored in place of objects.
_OF_THE_MACHINE = {"engine": "local", "checkpoint": None}

_KEYS = {"library", "vocabulary", "model", "corpus", "run"}
_LATER = {"vectorizer", "steps"}  # which files of 0.1 do not have

# A class declares how it is stored when its module is imported.
for _module in pkgutil.iter_modules(models.__path__):
    import_module(f"{models.__name__}.{_module.name}")


@dataclass(frozen=True)
class Saved:
    """Contents of a file.

    Attributes
    ----------
    model : fitted estimator
    corpus : Corpus or None
        The documents it was fitted on, if they were saved.
    run : dict or None
        The facts of the run, if they were saved.
    pipeline : Pipeline or None
        The pipeline whose last step is the model, if it was saved with its vectorizer.

    See Also
    --------
    read

    Examples
    --------
    >>> from bursty import persistence, save
    >>> from bursty.families import DCM
    >>> saved = persistence.read(save(DCM().fit([[3, 0, 1], [0, 4, 0]]), "rain", run={"seed": 1}))
    >>> saved.model, saved.run
    (DCM(), {'seed': 1})
    """

    model: Any
    corpus: Corpus | None
    run: dict[str, Any] | None
    pipeline: Pipeline | None = None


def save(model: Any, path: str | Path, *, corpus: Corpus | None = None, run: Mapping[str, Any] | None = None) -> Path:
    """Save a fitted model to one file (suffix ``.bursty``), without pickle.

    Parameters
    ----------
    model : fitted estimator of bursty, or Pipeline of a vectorizer and one
        The vectorizer is scikit-learn's CountVectorizer, TfidfVectorizer or HashingVectorizer, without functions of
        your own. The words of the vectorizer become those of the saved model.
    path : str or path
        An existing file is replaced at the end, and only if everything succeeded.
    corpus : Corpus, optional
        Save these documents too, so that a report can be made from the file alone.
    run : mapping, optional
        Facts of the run (data, parameters, seed, versions, times), as plain values.

    Returns
    -------
    Path
        The path of the file.

    See Also
    --------
    load : The model back.
    bursty.persistence.read : The model and its vocabulary.
    Checkpoint : For fits that are interrupted.

    Examples
    --------
    >>> import bursty
    >>> from bursty.families import DCM
    >>> path = bursty.save(DCM().fit([[3, 0, 1], [0, 4, 0]]), "rain")
    >>> path.name
    'rain.bursty'
    >>> bursty.load(path)
    DCM()
    """
    steps = vectorizer = None
    if isinstance(model, Pipeline):
        steps = [name for name, step in model.steps if step is not None and step != "passthrough"]
        vectorizer, model = StoredVectorizer.of(split_pipeline(model)[0]), named(model)
    _check_model(model)
    if corpus is not None and corpus.n_words != model.n_features_in_:
        raise ValueError(
            f"the corpus has {counted(corpus.n_words, 'word')} and {type(model).__name__} was fitted on "
            f"{model.n_features_in_}: give the documents of the fit"
        )
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(SUFFIX)
    tree = {
        "library": version("bursty"),
        "vocabulary": _hash_words(model),
        "model": _portable(model),
        "vectorizer": vectorizer,
        "steps": steps,
        "corpus": None if corpus is None else list(take_apart(corpus)),
        "run": None if run is None else dict(run),
    }
    return write_tree(path, KIND, tree, stored_classes())


def load(path: str | Path) -> Any:
    """Load a model or Pipeline that `save` wrote: it predicts, and continues to learn, to the same bits.

    Parameters
    ----------
    path : str or Path
        The file (as in `save`, its suffix may be left out), or a folder that the command line wrote (``--out``), which
        has the file ``model.bursty``.

    Raises
    ------
    ValueError
        If the file is not a saved model, or is truncated or damaged. Code in a file is never run.

    See Also
    --------
    save, bursty.persistence.read

    Examples
    --------
    >>> import bursty
    >>> model = bursty.Mixture(2, random_state=0).fit([[3, 0], [4, 1], [0, 5], [1, 6]])
    >>> model = bursty.load(bursty.save(model, "two"))
    >>> len(model.labels_)
    4
    """
    saved = read(path)
    return saved.model if saved.pipeline is None else saved.pipeline


def read(path: str | Path) -> Saved:
    """Read the model of a file with everything that was saved beside it.

    See Also
    --------
    bursty.load : The model alone.
    Saved : The result.

    Examples
    --------
    >>> import bursty
    >>> from bursty import persistence
    >>> corpus = bursty.Corpus([[3, 0, 1], [0, 4, 0]])
    >>> path = bursty.save(bursty.families.DCM().fit(corpus), "rain", corpus=corpus)
    >>> persistence.read(path).corpus
    <Corpus 2 documents x 3 words, 8 tokens, words have no names>
    """
    path = locate(Path(path))
    if path.is_dir():
        raise FileNotFoundError(f"{path} is a folder without model.bursty: give the file of a saved model")
    tree = read_tree(path, KIND, stored_classes())
    try:
        if tree.keys() not in (_KEYS, _KEYS | _LATER):
            raise ValueError(f"it contains {', '.join(map(repr, tree))}")
        model, corpus, run = tree["model"], tree["corpus"], tree["run"]
        if run is not None and not isinstance(run, dict):
            raise ValueError("the facts of its run have no names")
        _check_model(model)
        if tree["vocabulary"] != _hash_words(model):
            raise ValueError("its words are not those that it was saved with")
        pipeline = _pipeline(tree.get("vectorizer"), tree.get("steps"), model)
        documents = None if corpus is None else rebuild(*corpus)
        return Saved(model, documents, None if run is None else dict(run), pipeline)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is not a readable bursty model file: its parts do not match ({error})") from error


def locate(path: Path) -> Path:
    """The file of a saved model: in a folder of the command line, or with the suffix that `save` adds."""
    if path.is_dir():
        inside = path / f"model{SUFFIX}"
        return inside if inside.is_file() else path
    named = path if path.suffix or path.exists() else path.with_suffix(SUFFIX)
    return named if named.exists() else path


def _check_model(model: Any) -> None:
    """The same check before writing and after reading, so that what can be saved can be loaded."""
    if not isinstance(model, BaseEstimator) or type(model) not in stored_classes().values():
        names = ", ".join(name for name, kind in stored_classes().items() if issubclass(kind, BaseEstimator))
        raise TypeError(f"only {names} can be saved, not {type(model).__name__}")
    check_is_fitted(model)
    whole(low=1, high=2**31 - 1)(model.n_features_in_, {}, "n_features_in_")
    sizes = {"n_words": int(model.n_features_in_)}
    if hasattr(model, "feature_names_in_"):
        items("n_words")(model.feature_names_in_, sizes, "feature_names_in_")
    check(model, sizes, type(model).__name__)


def _pipeline(stored: Any, names: Any, model: Any) -> Pipeline | None:
    """The pipeline of the stored vectorizer and the model."""
    if stored is None:
        if names is not None:
            raise ValueError("it has names of steps and no vectorizer")
        return None
    if not np.array_equal([] if stored.words is None else stored.words, getattr(model, "feature_names_in_", [])):
        raise ValueError("the words of its vectorizer are not those of the model")
    part(StoredVectorizer)(stored, {"n_words": int(model.n_features_in_)}, "vectorizer")
    if not isinstance(names, list) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of its steps are invalid")
    return Pipeline(list(zip(names, (stored.rebuild(), model), strict=True)))


def _hash_words(model: Any) -> str | None:
    words = getattr(model, "feature_names_in_", None)
    if words is None:
        return None
    text = "\n".join(f"{len(word)} {word}" for word in map(str, words))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _portable(model: Any) -> Any:
    """A copy of the model without engines and checkpoints of this machine."""
    model = copy.copy(model)
    for name, value in model.get_params(deep=False).items():
        if name in _OF_THE_MACHINE and not isinstance(value, str):
            model.set_params(**{name: _OF_THE_MACHINE[name]})
        elif isinstance(value, BaseEstimator):
            model.set_params(**{name: _portable(value)})
    return model
