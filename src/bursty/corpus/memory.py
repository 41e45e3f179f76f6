"""Corpora from objects in memory: texts, lists of tokens, data frames, gensim's documents.

The public interface is class methods of `Corpus`; the code shared with files is `tables.read_table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp

from bursty.corpus.checks import columns_of
from bursty.corpus.core import Corpus
from bursty.corpus.labels import strings
from bursty.corpus.tables import Records, read_table, tidy_column
from bursty.corpus.text import CountBuilder, TextOptions, with_options_of
from bursty.typing import Array
from bursty.validation import is_bag, is_missing


def from_texts(
    texts: Iterable[Any],
    labels: Sequence[Any] | Array | None,
    ids: Sequence[Any] | Array | None,
    metadata: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Corpus:
    """See `Corpus.from_texts`."""
    text_options = _text_options(options)
    if isinstance(texts, str | bytes):
        raise TypeError("texts is a single string: give a list of documents, such as [first, second]")
    if hasattr(texts, "columns"):
        raise TypeError("texts is a data frame: use Corpus.from_frame(frame, text=column)")
    if isinstance(texts, Mapping):
        raise TypeError("texts is a dictionary: give its values, and ids=list(texts)")
    documents, leading = iter(texts), []
    for document in documents:
        leading.append(document)
        if not _missing(document):
            break
    if not leading:
        raise ValueError("there are no texts: a corpus must have at least one document")
    tokens = isinstance(leading[-1], list | tuple)
    builder = CountBuilder(text_options, tokens=tokens)
    for number, document in enumerate(chain(leading, documents)):
        checked = _document(document, number, tokens)
        builder.append(checked if tokens else text_options.plain_text(checked))
    counts, vocabulary = builder.finish()
    info = None if tokens else text_options.as_info()
    return Corpus(counts, vocabulary, **_about(labels, ids, metadata), texts=builder.texts, info=info)


def from_frame(frame: Any, roles: Mapping[str, Any], options: Mapping[str, Any]) -> Corpus:
    """See `Corpus.from_frame`."""
    text_options = _text_options(options)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"from_frame takes a pandas or polars data frame or a pyarrow table, not {type(frame).__name__}; "
            "Corpus.from_texts takes a list of strings"
        ) from None
    return read_table(_records(table), "the frame", text_options, **roles)


def from_gensim(
    documents: Iterable[Any],
    dictionary: Any,
    labels: Sequence[Any] | Array | None,
    ids: Sequence[Any] | Array | None,
    metadata: Mapping[str, Any] | None,
) -> Corpus:
    """See `Corpus.from_gensim`."""
    if not hasattr(dictionary, "items"):
        raise TypeError(
            f"dictionary must be a gensim.corpora.Dictionary, not {type(dictionary).__name__}: "
            "call Corpus.from_gensim(documents, dictionary)"
        )
    pairs = list(dictionary.items())
    if all(isinstance(key, str) for key, _ in pairs):  # dictionary.token2id, the other way round
        pairs = [(number, word) for word, number in pairs]
    words = {int(number): str(word) for number, word in pairs}
    if not words or min(words) < 0:
        raise ValueError("the dictionary has no words: build it with gensim.corpora.Dictionary(documents)")
    order = sorted(words)
    place = {number: position for position, number in enumerate(order)}
    indices, data, ends = [], [], [0]
    for number, document in enumerate(documents):
        if isinstance(document, str) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in document):
            raise TypeError(
                f"document {number} is not a list of (word, count), as dictionary.doc2bow(tokens) returns: "
                "Corpus.from_texts takes texts and lists of tokens"
            )
        for word, count in document:
            if word not in place:
                raise ValueError(f"document {number} has word {word}, which is not in the dictionary")
            indices.append(place[word])
            data.append(count)
        ends.append(len(indices))
    counts = sp.coo_array(
        (np.array(data), (np.repeat(np.arange(len(ends) - 1), np.diff(ends)), np.array(indices, dtype=np.int64))),
        shape=(len(ends) - 1, len(order)),
    )
    return Corpus(counts, [words[number] for number in order], **_about(labels, ids, metadata))


def _about(
    labels: Sequence[Any] | Array | None, ids: Sequence[Any] | Array | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What is known of documents besides their words, as arguments of `Corpus`."""
    return {
        "ids": None if ids is None else [str(one) for one in ids],
        "labels": None if labels is None else _labels(labels),
        "metadata": {name: tidy_column(list(column)) for name, column in columns_of(metadata)},
    }


def _text_options(options: Mapping[str, Any]) -> TextOptions:
    unknown = sorted(set(options) - TextOptions.names() - {"like"})
    if unknown:
        names = ", ".join(sorted(TextOptions.names() | {"like"}))
        raise TypeError(f"there is no option {unknown[0]!r}; the options are {names}")
    return TextOptions(**{"keep_texts": True, **with_options_of(options)})


def _document(document: Any, number: int, tokens: bool) -> Any:
    if _missing(document):
        return [] if tokens else ""
    if tokens:
        if isinstance(document, list | tuple) and all(isinstance(token, str) for token in document):
            return document
        if is_bag(document):
            raise TypeError(
                f"document {number} is a list of (word, count): use Corpus.from_gensim(documents, dictionary)"
            )
        raise TypeError(f"document {number} is not a list of strings" + (", but the first one is" if number else ""))
    if not isinstance(document, str):
        hint = ": decode it first" if isinstance(document, bytes) else ""
        raise TypeError(f"document {number} must be a string or None, not {type(document).__name__}{hint}")
    return document


def _labels(labels: Sequence[Any] | Array) -> Any:
    """None, NaN and empty strings mean no label; labels stay integers if all of them are."""
    values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    numbers = [value for value in values if not _missing(value)]
    whole = all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in numbers)
    if whole and numbers and min(numbers) >= -1:
        return np.array([-1 if _missing(value) else int(value) for value in values])
    return strings(None if _missing(value) else str(value) for value in values)  # type: ignore[misc]  # None: no label


def _missing(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value)


def _records(table: Any) -> Records:
    for number, record in enumerate(table.iter_rows(named=True)):
        yield f"row {number}", {name: None if is_missing(value) else value for name, value in record.items()}
