"""Input of all parts of a report: the model, its documents if available, and names for the words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus import Corpus
from bursty.corpus.times import as_times, may_be_time
from bursty.plot.style import word_names
from bursty.report.text import LONGEST_NAME, clean, numbers
from bursty.typing import Array
from bursty.wording import counted

#: Number of most frequent words on the page: enough to look up, few enough to send by mail.
MOST_WORDS = 20_000
KEYWORDS = 4
MOST_COLUMNS = 4


@dataclass(frozen=True)
class ReportSource:
    """A fitted model and a matching corpus; ``corpus`` may be None."""

    model: Any
    corpus: Corpus | None

    @classmethod
    def of(cls, model: Any, corpus: Any) -> ReportSource:
        """Create a source, after checking that the corpus has the words of the model."""
        if corpus is None:
            return cls(model, None)
        if not isinstance(corpus, Corpus):
            raise TypeError(
                f"corpus must be a Corpus, not {type(corpus).__name__}: use bursty.Corpus(counts, vocabulary), or, "
                "for texts, bursty.Corpus.from_texts(texts, like=model)"
            )
        known = getattr(model, "feature_names_in_", None)
        differs = known is not None and corpus.has_words and not np.array_equal(known, corpus.vocabulary)
        if corpus.n_words != model.n_features_in_ or differs:
            raise ValueError(
                f"the corpus ({counted(corpus.n_words, 'word')}) does not have the vocabulary of the model "
                f"({counted(model.n_features_in_, 'word')}): give the documents it was fitted on, or read others with "
                "its vocabulary"
            )
        if len(corpus) == 0 or corpus.counts.nnz == 0:
            raise ValueError("the corpus has no documents" + (" with words" if len(corpus) else ""))
        return cls(model, corpus)

    @property
    def n_words(self) -> int:
        """Number of words of the model."""
        return int(self.model.n_features_in_)

    @cached_property
    def words(self) -> Array:
        """Display names of the words."""
        if self.corpus is not None and self.corpus.has_words:
            names = self.corpus.vocabulary
        else:
            names = word_names(self.model, self.n_words)
        return np.array(distinct([clean(name) for name in names]), dtype=object)

    @cached_property
    def group_names(self) -> list[str] | None:
        """Display names of the clusters or topics of the model, if it has any."""
        if not hasattr(self.model, "suggest_names"):
            return None
        corpus = None if self.corpus is None or self.corpus.texts is None else self.corpus
        names = self.model._names_for(corpus)
        if not self.are_named and self.model._names is None:
            scores = self.model.word_scores("representative")
            best = np.argsort(-scores, axis=1, kind="stable")[:, :3]
            return [", ".join(str(self.words[w]) for w in row) for row in best]
        return [clean(name, LONGEST_NAME) for name in names]

    @cached_property
    def are_named(self) -> bool:
        """Whether the words have names of their own."""
        return str(self.words[0]) != "word no. 0"

    @cached_property
    def word_shown(self) -> dict[str, str]:
        """Mapping from the model's names of words to display names."""
        names = getattr(self.model, "feature_names_in_", range(self.n_words))
        return {str(name): str(word) for name, word in zip(names, self.words, strict=True)}

    @cached_property
    def tokens(self) -> Array:
        """Number of tokens of each word; without documents, an estimate that ranks words in the same order."""
        if self.corpus is not None:
            counts = self.corpus.counts
            return np.bincount(counts.indices, weights=counts.data, minlength=self.n_words)
        components = getattr(self.model, "components_", None)
        return np.ones(self.n_words) if components is None else np.asarray(components).max(axis=0)

    @cached_property
    def kept(self) -> Array:
        """The words on the page, most frequent first."""
        return np.argsort(-self.tokens, kind="stable")[:MOST_WORDS]

    @cached_property
    def number_on_page(self) -> Array:
        """Position of each word among those, -1 for other words."""
        places = np.full(self.n_words, -1)
        places[self.kept] = np.arange(len(self.kept))
        return places

    @cached_property
    def tfidf(self) -> sp.csr_array:
        """Documents weighted by log count times log inverse document frequency, normalised to unit length."""
        assert self.corpus is not None
        counts = self.corpus.counts
        frequency = np.bincount(counts.indices, minlength=self.n_words)
        idf = np.log((1.0 + counts.shape[0]) / (1.0 + frequency)) + 1e-9
        values = np.log1p(counts.data) * idf[counts.indices]
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=counts.shape[0]))
        values = values / np.maximum(norms, 1e-300)[rows]
        return sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)

    def keywords(self) -> list[list[int]]:
        """Keywords of each document, the words with the largest weights, as positions on the page."""
        table, places = self.tfidf, self.number_on_page
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        known = places[table.indices] >= 0
        rows, columns, weights = rows[known], table.indices[known], table.data[known]
        order = np.lexsort((-weights, rows))
        rows, columns = rows[order], columns[order]
        starts = np.searchsorted(rows, np.arange(table.shape[0] + 1))
        return [places[columns[a : min(b, a + KEYWORDS)]].tolist() for a, b in pairwise(starts)]

    def document_names(self, n_documents: int) -> list[str]:
        """Name of each document."""
        names = range(n_documents) if self.corpus is None else self.corpus.ids
        return [clean(name, LONGEST_NAME) for name in names]

    @cached_property
    def lengths(self) -> Array:
        """Number of tokens of each document."""
        assert self.corpus is not None
        return np.asarray(self.corpus.counts.sum(axis=1)).ravel()

    @cached_property
    def empty(self) -> Array:
        """The rows of documents without words, which belong to no cluster and no topic."""
        return np.zeros(0, dtype=np.int64) if self.corpus is None else np.flatnonzero(self.lengths == 0)

    def say_empty(self, what: str) -> str:
        """A sentence about them, if there are any."""
        n = len(self.empty)
        said = counted(n, "document has no words and is", "documents have no words and are")
        return f" {said} in no {what}." if n else ""

    def facts(self) -> list[dict[str, Any]]:
        """Columns of the table of documents from the corpus: labels and metadata."""
        if self.corpus is None:
            return []
        columns = [] if (label := self.label_texts) is None else [text_column("Label", label)]
        told = [(n, v) for n, v in self.corpus.metadata.items() if label is None or list(map(clean, v)) != label]
        for name, values in told[:MOST_COLUMNS]:
            title = clean(name).capitalize()
            if values.dtype.kind in "iuf":
                columns.append({"title": title, "type": "plain", "values": numbers(values, 8)})
            else:
                columns.append(text_column(title, [clean(value) for value in values]))
        return columns

    @cached_property
    def label_texts(self) -> list[str] | None:
        """Label of each document (several are joined); None if the corpus has no labels."""
        corpus = self.corpus
        if corpus is None or corpus.label_names is None or corpus.label_matrix is None:
            return None
        names = [clean(name) for name in corpus.label_names]
        table = corpus.label_matrix
        ends = table.indptr
        return [", ".join(names[c] for c in table.indices[a:b]) for a, b in pairwise(ends)]

    @cached_property
    def groupings(self) -> dict[str, Array]:
        """Columns by which documents can be ordered or grouped: times, numbers, labels, names with few values."""
        found: dict[str, Array] = {}
        if self.corpus is None:
            return found
        for name, values in self.corpus.metadata.items():
            distinct = len(set(values.tolist()))
            times = as_times(values, epochs=may_be_time(name))
            if times is not None and len(np.unique(times[~np.isnat(times)])) >= 2:
                found[clean(name)] = times
            elif values.dtype.kind in "iuf" and distinct >= 3:
                found[clean(name)] = values
            elif values.dtype.kind in "OUS" and 2 <= distinct <= 60:
                found[clean(name)] = np.array([clean(value) for value in values], dtype=object)
        if not self.corpus.is_multilabel and (labels := self.label_texts) is not None:
            same = any(np.array_equal(labels, values) for values in found.values())
            if not same and len(set(labels)) > 1:
                found["label"] = np.array([label or "(none)" for label in labels], dtype=object)
        return found


def text_column(title: str, texts: list[str]) -> dict[str, Any]:
    """A column of the table; repeated texts are sent once."""
    names = sorted(set(texts))
    if len(names) > len(texts) // 2:
        return {"title": title, "type": "text", "values": texts}
    number = {text: i for i, text in enumerate(names)}
    return {"title": title, "type": "code", "names": names, "values": [number[text] for text in texts]}


def distinct(names: list[str]) -> list[str]:
    """Number names that became equal when shortened."""
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names
