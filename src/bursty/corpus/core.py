"""The corpus: a table of counts, and the names of its rows and columns, that never come apart.

| symbol | name | shape |
|---|---|---|
| x_dw | `counts` | documents x words, `csr_array` of int32, canonical |
| w | `vocabulary` | one string a word |
| d | `ids` | one string a document |
| y_d | `labels` | one integer a document, -1 where there is none |
| Y_dc | `label_matrix` | documents x classes, 0 or 1; any number of classes a document |

Every method gives a new corpus whose rows are still aligned; nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus import words
from bursty.corpus.checks import (
    check_ids,
    check_label_matrix,
    check_labels,
    check_metadata,
    check_rows,
    check_texts,
    check_vocabulary,
)
from bursty.corpus.description import Description, describe
from bursty.corpus.labels import label_table, strings
from bursty.corpus.splitting import split_rows
from bursty.corpus.texts import Texts
from bursty.validation import check_counts

Array = np.ndarray[Any, Any]


class Corpus:
    """Counts of words in documents, with names and labels.

    Parameters
    ----------
    counts : {array-like, sparse matrix, data frame} of shape (n_documents, n_words)
        Non-negative integers. Stored as a canonical `csr_array` of int32.
    vocabulary : sequence of str, optional
        One name per word, all different. By default the columns of a data frame; otherwise the words get placeholder
        names (``w0000``, ...) and `has_words` is False, so that nothing shows them as if they meant something.
    ids : sequence of str, optional
        One name per document. By default the index of a data frame, or the row numbers.
    labels : sequence of int or str, optional
        One label per document. Integers number the classes from 0, with -1 for "no label"; strings are sorted into
        `label_names`, with ``""`` or None for "no label".
    label_names : sequence of str, optional
        The name of each class.
    label_matrix : array-like or sparse matrix of shape (n_documents, n_classes), optional
        0 or 1, for documents with any number of classes; give this or `labels`, not both.
    metadata : mapping of name to column, optional
        More columns with one value per document: dates, authors, prices.
    info : mapping, optional
        Facts about the whole corpus that JSON can hold, such as ``name`` and ``note``.
    texts : sequence of str, optional
        One text per document, from which reports show excerpts. Kept compressed, on disk where it is large.

    See Also
    --------
    Corpus.from_texts : Count the words of a list of texts.
    Corpus.from_frame : Count the words of a column of a data frame.
    bursty.read_corpus : Read files.

    Notes
    -----
    A multi-label corpus (one made with `label_matrix`) has `labels` None and `is_multilabel` True: no single integer
    would be right. `label_matrix` is there for both kinds, derived from `labels` for the single-label one.

    Examples
    --------
    >>> from bursty import Corpus
    >>> Corpus([[2, 0, 1], [0, 3, 0]], ["rain", "sun", "wind"], labels=["wet", "dry"])
    <Corpus 2 documents x 3 words, 6 tokens, 2 classes>
    """

    def __init__(
        self,
        counts: Any,
        vocabulary: Sequence[str] | Array | None = None,
        *,
        ids: Sequence[str] | Array | None = None,
        labels: Sequence[Any] | Array | None = None,
        label_names: Sequence[str] | Array | None = None,
        label_matrix: Any = None,
        metadata: Mapping[str, Any] | None = None,
        info: Mapping[str, Any] | None = None,
        texts: Sequence[str] | None = None,
    ) -> None:
        if labels is not None and label_matrix is not None:
            raise ValueError("give labels (one a document) or label_matrix (any number a document), not both")
        vocabulary, ids = _names_of_frame(counts, vocabulary, ids)
        self._counts = _small_indices(check_counts(counts, owner="Corpus"))
        n_documents, n_words = self._counts.shape
        self._vocabulary = check_vocabulary(vocabulary, n_words)
        self._has_words = vocabulary is not None
        self._ids = check_ids(ids, n_documents)
        self._labels, self._label_names = check_labels(labels, label_names, n_documents)
        self._label_matrix: sp.csr_array | None = None
        if label_matrix is not None:
            self._label_matrix, self._label_names = check_label_matrix(label_matrix, label_names, n_documents)
        self._metadata = check_metadata(metadata, n_documents)
        self._info = dict(info or {})
        self._texts = check_texts(texts, n_documents)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Any],
        labels: Sequence[Any] | Array | None = None,
        ids: Sequence[Any] | Array | None = None,
        metadata: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Corpus:
        """Count the words of texts.

        Parameters
        ----------
        texts : iterable of str, or of lists of str
            One text per document, or its tokens, which are counted as given. None and NaN are empty documents.
        labels : sequence of int or str, optional
            One label per document; None, NaN and ``""`` mean that a document has none.
        ids : sequence, optional
            One name per document.
        metadata : mapping of name to column, optional
            More columns with one value per document; years and dates give trends in reports of topics.
        **options
            What counts as a word: ``stop_words``, ``min_df``, ``ngram_range``, ...; see `bursty.corpus.TextOptions`.

        Returns
        -------
        Corpus

        See Also
        --------
        Corpus.from_frame : Texts in a column of a data frame.
        bursty.read_corpus : Texts in files.

        Examples
        --------
        >>> from bursty import Corpus
        >>> corpus = Corpus.from_texts(["to be or not to be", "to sleep"], labels=["hamlet", None])
        >>> corpus.vocabulary.tolist()
        ['be', 'not', 'or', 'sleep', 'to']
        >>> corpus.labels.tolist()
        [0, -1]
        """
        from bursty.corpus.memory import from_texts

        return from_texts(texts, labels, ids, metadata, options)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        text: str | Sequence[str] | None = None,
        label: str | bool | None = None,
        id: str | bool | None = None,
        metadata: Sequence[str] = (),
        *,
        label_separator: str | None = None,
        **options: Any,
    ) -> Corpus:
        """Count the words of texts in a pandas or polars data frame.

        Parameters
        ----------
        frame : pandas or polars DataFrame, or pyarrow Table
            One row per document.
        text : str or list of str, optional
            Column of the text, or several, which are joined. By default the column called text, document, body or
            content.
        label, id : str or False, optional
            Columns of the class and of the name of each document. By default label, class or category, and id, where
            there is one; False for none.
        metadata : list of str, optional
            More columns to keep. A column called year, date, created or the like is kept without being named.
        label_separator : str, optional
            The label column has several classes with this between them.
        **options
            What counts as a word; see `bursty.corpus.TextOptions`.

        Returns
        -------
        Corpus

        Examples
        --------
        >>> import pandas as pd
        >>> from bursty import Corpus
        >>> frame = pd.DataFrame({"text": ["rain and wind", "wind"], "label": ["wet", "dry"], "year": [1999, 2001]})
        >>> corpus = Corpus.from_frame(frame)
        >>> corpus.label_names.tolist(), corpus.metadata["year"].tolist()
        (['dry', 'wet'], [1999, 2001])
        """
        from bursty.corpus.memory import from_frame

        roles = {"text": text, "label": label, "id": id, "metadata": metadata, "label_separator": label_separator}
        return from_frame(frame, roles, options)

    @classmethod
    def from_gensim(cls, documents: Iterable[Any], dictionary: Any) -> Corpus:
        """Take over gensim's bags of words: lists of (word, count), and the `Dictionary` that numbers the words."""
        from bursty.corpus.memory import from_gensim

        return from_gensim(documents, dictionary)

    @property
    def counts(self) -> sp.csr_array:
        """Documents x words, int32, canonical."""
        return self._counts

    @property
    def vocabulary(self) -> Array:
        """One string a word."""
        return self._vocabulary

    @property
    def has_words(self) -> bool:
        """False when the words have placeholder names only: then do not show them to anybody."""
        return self._has_words

    @property
    def ids(self) -> Array:
        """One string a document."""
        if self._ids is None:
            self._ids = strings(map(str, range(len(self))))
        return self._ids

    @property
    def labels(self) -> Array | None:
        """One integer a document, -1 where there is none; None without labels and for multi-label corpora."""
        return self._labels

    @property
    def label_names(self) -> Array | None:
        """The name of each class; None without labels."""
        return self._label_names

    @property
    def label_matrix(self) -> sp.csr_array | None:
        """Documents x classes, 0 or 1; None without labels."""
        if self._label_matrix is not None:
            return self._label_matrix
        if self._labels is None or self._label_names is None:
            return None
        return label_table(self._labels, len(self._label_names))

    @property
    def is_multilabel(self) -> bool:
        """Whether a document may have several classes."""
        return self._label_matrix is not None

    @property
    def metadata(self) -> Mapping[str, Array]:
        """More columns, one value a document."""
        return MappingProxyType(self._metadata)

    @property
    def info(self) -> Mapping[str, Any]:
        """Facts about the whole corpus."""
        return MappingProxyType(self._info)

    @property
    def texts(self) -> Texts | None:
        """One text per document, read when asked for; None where the corpus was made without."""
        return self._texts

    def without_texts(self) -> Corpus:
        """The same corpus without its texts, for data that must not be shown."""
        return self._replace(texts=None)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self._counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words."""
        return int(self._counts.shape[1])

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        classes = 0 if self._label_names is None else len(self._label_names)
        parts = [f"{len(self):,} documents x {self.n_words:,} words", f"{int(self._counts.sum()):,} tokens"]
        if classes:
            parts.append(f"{classes:,} classes" + (" (multi-label)" if self.is_multilabel else ""))
        if not self._has_words:
            parts.append("words have no names")
        name = self._info.get("name")
        return f"<Corpus {name + ': ' if name else ''}{', '.join(parts)}>"

    def select(self, documents: Any) -> Corpus:
        """The documents of a mask, of indices (in that order, repeats allowed) or of a slice."""
        rows = check_rows(documents, len(self))
        if self._label_matrix is not None:
            target: dict[str, Any] = {"label_matrix": self._label_matrix[rows]}
        else:
            target = {"labels": None if self._labels is None else self._labels[rows]}
        return self._replace(
            counts=self._counts[rows],
            ids=self.ids[rows],
            metadata={name: column[rows] for name, column in self._metadata.items()},
            texts=None if self._texts is None else self._texts.select(rows),
            **target,
        )

    def filter_words(self, min_df: float = 1, max_df: float = 1.0, drop_most_common: int = 0) -> Corpus:
        """Leave out rare words, words of most documents, and the most common words; every document stays.

        Parameters
        ----------
        min_df, max_df : int or float
            Keep the words of at least `min_df` and at most `max_df` documents: a number of documents when
            whole (int), a share of them when a fraction (float).
        drop_most_common : int
            Then leave out the words with the most tokens, so many of them ([Madsen2005] leaves out 500).
        """
        return self.select_words(words.keep_words(self._counts, min_df, max_df, drop_most_common))

    def select_words(self, mask: Any) -> Corpus:
        """The words of a mask, one truth value a word; every document stays."""
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != (self.n_words,):
            raise ValueError(f"a mask of {mask.dtype} and shape {mask.shape} does not match {self.n_words} words")
        if not mask.any():
            raise ValueError("no word is selected: a corpus has at least one")
        return self._replace(counts=words.select_words(self._counts, mask), vocabulary=self._vocabulary[mask])

    def align(self, vocabulary: Sequence[str] | Array) -> Corpus:
        """The same documents counted in these words, in this order, as a model fitted on them needs it.

        Words that are not among them are left out; every document stays.
        """
        if not self._has_words:
            raise ValueError("the words of these documents have no names, so they cannot be matched: give a vocabulary")
        return self._replace(
            counts=words.align_words(self._counts, self._vocabulary, np.asarray(vocabulary, dtype=object)),
            vocabulary=vocabulary,
        )

    def drop_empty(self) -> Corpus:
        """Without the documents that have no word."""
        return self.select(np.diff(self._counts.indptr) > 0)

    def split(
        self,
        test_size: float | None = None,
        *,
        fractions: Sequence[float] | None = None,
        stratify: bool | Sequence[Any] | Array = False,
        random_state: Any = None,
    ) -> tuple[Corpus, ...]:
        """Cut into corpora at random; together they have every document once, in the order of this corpus.

        Parameters
        ----------
        test_size : float or int, default 0.25
            Share (float) or number (int) of documents of the second corpus of two.
        fractions : sequence of float, optional
            Instead: the share of each corpus; they sum to 1.
        stratify : bool or sequence
            Give every class its share of each corpus, to within one document; True takes `labels`.
        random_state : int, numpy Generator or RandomState, optional
            Same state, same split.
        """
        if stratify is True:
            if self._labels is None:
                kind = "a document may have several" if self.is_multilabel else "it has none"
                raise ValueError(f"stratify=True needs one label a document, but {kind}: give stratify an array")
            stratify = self._labels
        groups = None if stratify is False else np.asarray(stratify)
        parts = split_rows(len(self), test_size, fractions, groups, random_state)
        return tuple(self.select(rows) for rows in parts)

    def describe(self) -> Description:
        """Documents, words, tokens, mean length, sparsity, burstiness, empty documents and classes.

        Burstiness is tokens over distinct pairs of document and word: 1 when no word ever comes twice in a
        document.
        """
        return describe(self._counts, 0 if self._label_names is None else len(self._label_names))

    def with_labels(
        self, labels: Sequence[Any] | Array | None, label_names: Sequence[str] | Array | None = None
    ) -> Corpus:
        """The same documents with other labels, as the constructor takes them; None for no labels."""
        return self._replace(labels=labels, label_names=label_names, label_matrix=None)

    def with_info(self, **facts: Any) -> Corpus:
        """The same corpus with more facts in `info`."""
        return self._replace(info=self._info | facts)

    def save(self, path: str | Path) -> Path:
        """Keep the corpus in one file (suffix ``.bcorpus``) that `read_corpus` takes; no pickle."""
        from bursty.corpus.storage import save_corpus

        return save_corpus(self, path)

    def _replace(self, **changes: Any) -> Corpus:
        kept: dict[str, Any] = {
            "counts": self._counts,
            "vocabulary": self._vocabulary,
            "ids": self._ids,
            "labels": self._labels,
            "label_names": self._label_names,
            "label_matrix": self._label_matrix,
            "metadata": self._metadata,
            "info": self._info,
            "texts": self._texts,
        }
        made = Corpus(**(kept | changes))
        made._has_words = self._has_words
        return made


def _names_of_frame(counts: Any, vocabulary: Any, ids: Any) -> tuple[Any, Any]:
    """The names of the columns and rows of a data frame, where no others were given."""
    if vocabulary is None and hasattr(counts, "columns"):
        vocabulary = [str(name) for name in counts.columns]
    index = getattr(counts, "index", None)
    if ids is None and index is not None and not callable(index) and not hasattr(index, "step"):
        ids = [str(name) for name in index]
    return vocabulary, ids


def _small_indices(counts: sp.csr_array) -> sp.csr_array:
    """int32 positions wherever they fit: half the memory, and one type for the code below."""
    if counts.indices.dtype == np.int32 and counts.indptr.dtype == np.int32:
        return counts
    if max(counts.nnz, *counts.shape) > np.iinfo(np.int32).max:
        return counts
    indices, indptr = counts.indices.astype(np.int32, copy=False), counts.indptr.astype(np.int32, copy=False)
    return sp.csr_array((counts.data, indices, indptr), shape=counts.shape)
