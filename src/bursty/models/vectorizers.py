"""Pipelines of a scikit-learn vectorizer and a model: their words, their storage, and documents read through them.

A vectorizer is stored as the name of its class, its plain parameters and what it has learned (its words and weights).
Functions cannot be stored, and are never loaded: a vectorizer with its own tokenizer, preprocessor or analyzer is
refused.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from bursty.corpus import Corpus
from bursty.corpus.text import RULES, among
from bursty.storage.schema import floats, items, maybe, storable
from bursty.typing import Array

_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (CountVectorizer, TfidfVectorizer, HashingVectorizer)}
_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The parameters that are stored, and what they may be. Those of _ALWAYS must have this value.
_STORED: dict[str, Callable[[Any], bool]] = {
    **{name: rule for name, rule in RULES.items() if name != "html"},
    "encoding": lambda value: isinstance(value, str),
    "decode_error": among("strict", "ignore", "replace"),
    "token_pattern": lambda value: value is None or isinstance(value, str),
    "binary": among(True, False),
    "dtype": among(*_DTYPES),
    "max_df": _is_number,
    "min_df": _is_number,
    "max_features": lambda value: value is None or _is_number(value),
    "norm": among(None, "l1", "l2"),
    "use_idf": among(True, False),
    "smooth_idf": among(True, False),
    "sublinear_tf": among(True, False),
    "alternate_sign": among(True, False),
    "n_features": lambda value: _is_number(value) and 0 < value < 2**31,
}
_ALWAYS = {"input": "content", "preprocessor": None, "tokenizer": None}


def _check_stored(stored: StoredVectorizer, sizes: dict[str, int]) -> None:
    if stored.kind not in _KINDS:
        raise ValueError(f"{stored.kind!r} is not a vectorizer that can be stored")
    for name, value in stored.parameters.items():
        if name not in _STORED or not _STORED[name](value):
            raise ValueError(f"{stored.kind} has the invalid parameter {name}={value!r}")
    hashes = stored.kind == "HashingVectorizer"
    n_columns = stored.parameters.get("n_features") if hashes else 0 if stored.words is None else len(stored.words)
    if n_columns != sizes["n_words"]:
        raise ValueError(f"{stored.kind} makes {n_columns} columns, and the model has {sizes['n_words']} words")
    words = [] if stored.words is None else stored.words.tolist()
    if not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
        raise ValueError(f"the words of {stored.kind} are not different strings")
    if stored.parameters.get("use_idf", False) == (stored.idf is None):
        raise ValueError(f"{stored.kind} has the weights of its words where it should not, or lacks them")


@storable("Vectorizer", check=_check_stored, words=maybe(items("n_words")), idf=maybe(floats("n_words", low=0)))
@dataclass(frozen=True)
class StoredVectorizer:
    """A vectorizer as plain values: `of` takes it apart, `rebuild` makes it again."""

    kind: str
    parameters: dict[str, Any]
    words: Array | None
    is_fixed: bool
    idf: Array | None

    @classmethod
    def of(cls, vectorizer: Any) -> StoredVectorizer:
        """The vectorizer taken apart; raises an error if it has parts that cannot be stored."""
        kind = type(vectorizer).__name__
        if type(vectorizer) is not _KINDS.get(kind):
            raise TypeError(f"a pipeline with {kind} cannot be saved: its first step must be {' or '.join(_KINDS)}")
        given = vectorizer.get_params(deep=False)
        for name, needed in _ALWAYS.items():
            if given.get(name, needed) != needed:
                raise TypeError(f"{kind}({name}=...) cannot be saved: only {name}={needed!r} can. {_WAY_OUT}")
        parameters = {name: _plain(name, value) for name, value in given.items() if name in _STORED}
        for name, value in parameters.items():
            if not _STORED[name](value):
                raise TypeError(f"{kind}({name}={value!r}) cannot be saved: functions are code. {_WAY_OUT}")
        idf = np.asarray(vectorizer.idf_, dtype=np.float64) if parameters.get("use_idf") else None
        return cls(kind, parameters, words_of(vectorizer), bool(getattr(vectorizer, "fixed_vocabulary_", False)), idf)

    def rebuild(self) -> Any:
        """The vectorizer, as it was fitted."""
        dtype = np.dtype(self.parameters["dtype"]).type
        vectorizer = _KINDS[self.kind](**{**self.parameters, "dtype": dtype})
        if self.words is None:
            return vectorizer
        words = self.words.tolist()
        if self.is_fixed:
            vectorizer.set_params(vocabulary=words)
        vectorizer.vocabulary_ = {word: place for place, word in enumerate(words)}
        vectorizer.fixed_vocabulary_ = self.is_fixed
        if self.kind == "TfidfVectorizer":
            vectorizer._tfidf = _weighting(vectorizer, self.idf, len(words))
        return vectorizer


_WAY_OUT = "Count the texts yourself, or save the steps of the pipeline one by one: bursty.save(pipeline[-1], path)"


def split_pipeline(pipeline: Pipeline) -> tuple[Any, Any]:
    """The vectorizer and the model of a fitted pipeline of the two."""
    steps = [step for _, step in pipeline.steps if step is not None and step != "passthrough"]
    if len(steps) != 2:
        raise TypeError(
            f"a pipeline must have two steps, a vectorizer and a model, not {len(steps)}: "
            f"{', '.join(type(step).__name__ for step in steps)}"
        )
    return steps[0], steps[1]


def words_of(vectorizer: Any) -> Array | None:
    """The words of a fitted vectorizer in the order of its columns; None if it has none, as after hashing."""
    if not hasattr(vectorizer, "get_feature_names_out"):
        return None
    check_is_fitted(vectorizer)
    return np.asarray(vectorizer.get_feature_names_out(), dtype=object)


def named(pipeline: Pipeline) -> Any:
    """The model of a pipeline, with the words of its vectorizer; the pipeline itself stays as it is."""
    vectorizer, model = split_pipeline(pipeline)
    words = words_of(vectorizer)
    return model if words is None else copy.copy(model).set_words(words)


def read_texts(pipeline: Pipeline, texts: Any) -> Corpus:
    """The corpus that the vectorizer of a pipeline makes of texts, with its words; texts are kept for excerpts."""
    vectorizer, _ = split_pipeline(pipeline)
    texts = list(texts)
    return Corpus(vectorizer.transform(texts), words_of(vectorizer), texts=texts)


def to_columns(vectorizer: Any, corpus: Corpus) -> sp.csr_array:
    """The columns that the vectorizer makes of documents whose tokens its own analyzer has counted."""
    if isinstance(vectorizer, HashingVectorizer):
        hasher = FeatureHasher(
            vectorizer.n_features, input_type="string", dtype=vectorizer.dtype, alternate_sign=vectorizer.alternate_sign
        )
        table = sp.csr_array(corpus.counts @ hasher.transform([word] for word in corpus.vocabulary.tolist()))
    else:
        table = corpus.align(vectorizer.get_feature_names_out()).counts.astype(vectorizer.dtype)
    if vectorizer.binary:
        table.data[:] = 1
    if isinstance(vectorizer, TfidfVectorizer):
        weights = _weighting(vectorizer, vectorizer.idf_ if vectorizer.use_idf else None, table.shape[1])
        return sp.csr_array(weights.transform(table))
    norm = getattr(vectorizer, "norm", None)
    return table if norm is None else sp.csr_array(normalize(table, norm))


def _plain(name: str, value: Any) -> Any:
    if name == "dtype":
        return np.dtype(value).name
    if name == "stop_words" and isinstance(value, frozenset | set | tuple):
        return sorted(value)
    if name == "ngram_range" and isinstance(value, list | tuple):
        return tuple(int(item) for item in value)
    return value.item() if isinstance(value, np.generic) else value


def _weighting(vectorizer: Any, idf: Array | None, n_words: int) -> TfidfTransformer:
    """The fitted weights of a tf-idf vectorizer."""
    names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
    weights = TfidfTransformer(**{name: getattr(vectorizer, name) for name in names})
    weights.n_features_in_ = n_words
    if idf is not None:
        weights.idf_ = np.asarray(idf)
    return weights
