"""Texts read in parts, counted with a common vocabulary and common label names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from bursty.corpus.core import Corpus
from bursty.corpus.labels import strings
from bursty.corpus.text import TextOptions
from bursty.corpus.words import document_frequency, keep_of


def one_vocabulary(parts: Callable[[TextOptions], Iterator[Corpus]], options: TextOptions) -> Iterator[Corpus]:
    """The same parts as if the whole had been read and split; every call of ``parts`` reads all of them again."""
    plain = replace(options, min_df=1, max_df=1.0, drop_most_common=0)
    frequency, tokens, names = Counter[str](), Counter[str](), set[str]()
    n_documents = 0
    for part in parts(plain):
        n_documents += len(part)
        words = part.vocabulary.tolist()
        for counter, values in ((frequency, document_frequency(part.counts)), (tokens, part.counts.sum(axis=0))):
            for word, value in zip(words, values.tolist(), strict=True):
                counter[word] += value
        names.update([] if part.label_names is None else part.label_names.tolist())
    known = list(frequency) if options.vocabulary is not None else sorted(frequency)
    df, totals = (np.array([counter[word] for word in known]) for counter in (frequency, tokens))
    mask = keep_of(df, totals, n_documents, options.min_df, options.max_df, options.drop_most_common)
    fixed = replace(plain, vocabulary=strings(known)[mask].tolist())
    for part in parts(fixed):
        yield _relabelled(part, sorted(names))


def _relabelled(part: Corpus, names: list[str]) -> Corpus:
    """The same labels as positions in the common names."""
    if part.labels is None or part.label_names is None:
        return part
    place = {name: position for position, name in enumerate(names)}
    positions = np.array([place[name] for name in part.label_names.tolist()] or [0])
    return part.with_labels(np.where(part.labels < 0, -1, positions[part.labels]), names)
