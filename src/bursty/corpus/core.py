"""The corpus: a matrix of counts, kept together with the names of its rows and columns.

| symbol | name | shape |
|---|---|---|
| x_dw | `counts` | documents x words, `csr_array` of int32, canonical |
| w | `vocabulary` | one string per word |
| d | `ids` | one string per document |
| y_d | `labels` | one integer per document, -1 for no label |
| Y_dc | `label_matrix` | documents x classes, 0 or 1; any number of classes per document |

Every method returns a new corpus with aligned rows; nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty import markup
from bursty.corpus import words
from bursty.corpus.checks import (
    check_ids,
    check_label_matrix,
    check_labels,
    check_metadata,
    check_rows,
    check_texts,
    check_vocabulary,
    names_of_frame,
    small_indices,
)
from bursty.corpus.description import Description, describe
from bursty.corpus.labels import label_table, strings
from bursty.corpus.splitting import split_rows
from bursty.corpus.text import TextOptions
from bursty.corpus.texts import Texts
from bursty.corpus.units import Units
from bursty.typing import Array
from bursty.validation import check_counts
from bursty.wording import counted


class Corpus:
    """Counts of words in documents, with names and labels.

    Parameters
    ----------
    counts : {array-like, sparse matrix, data frame} of shape (n_documents, n_words)
        Non-negative integers. Stored as a canonical `csr_array` of int32.
    vocabulary : sequence of str, optional
        One name per word, all different. By default the columns of a data frame; otherwise the words get placeholder
        names (``w0000``, ...) and `has_words` is False, so that reports and plots do not show them.
    ids : sequence of str, optional
        One name per document. By default the index of a data frame, or the row numbers.
    labels : sequence of int or str, optional
        One label per document. Integers number the classes from 0, with -1 for "no label"; strings are sorted into
        `label_names`, with ``""`` or None for "no label".
    label_names : sequence of str, optional
        The name of each class.
    label_matrix : array-like or sparse matrix of shape (n_documents, n_classes), optional
        0 or 1, for documents with any number of classes; mutually exclusive with `labels`.
    metadata : mapping of name to column, or data frame, optional
        More columns with one value per document: dates, authors, prices.
    info : mapping, optional
        JSON-serialisable facts about the whole corpus, such as ``name`` and ``note``.
    texts : sequence of str, optional
        One text per document, from which reports show excerpts. Stored compressed, and on disk if large.
    units : sequence of three str, optional
        What a document, a word and a token are called in reports, plots and tables, such as
        ``("sample", "taxon", "read")``; "ox/oxen" also gives the plural. Saved with the corpus.

    See Also
    --------
    Corpus.from_texts : Count the words of a list of texts.
    Corpus.from_frame : Count the words of a column of a data frame.
    read_corpus : Read files.

    Notes
    -----
    A multi-label corpus (one created with `label_matrix`) has `labels` None and `is_multilabel` True. `label_matrix`
    is available for both kinds; for a single-label corpus it is derived from `labels`.

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
        units: Sequence[str] | str | None = None,
    ) -> None:
        if labels is not None and label_matrix is not None:
            raise ValueError("give labels (one per document) or label_matrix (any number per document), not both")
        vocabulary, ids = names_of_frame(counts, vocabulary, ids)
        self._counts = small_indices(check_counts(counts, owner="Corpus"))
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
        if units is not None:
            self._info["units"] = Units.of(units).names
        self._units = Units.of(self._info.get("units"))
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
            One text per document, or its tokens, which are counted unchanged. None and NaN are empty documents.
        labels : sequence of int or str, optional
            One label per document; None, NaN and ``""`` mean that a document has none.
        ids : sequence, optional
            One name per document.
        metadata : mapping of name to column, or data frame, optional
            More columns with one value per document; years and dates enable trends in topic reports.
        **options
            What counts as a word: ``stop_words``, ``min_df``, ``ngram_range``, ...; see `bursty.corpus.TextOptions`.
            Or ``like``, a corpus or a model fitted on one: the same words are counted in the same way.

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
        >>> Corpus.from_texts(["not to sleep"], like=corpus).counts.toarray().tolist()
        [[0, 1, 0, 1, 1]]
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
            Separator of several classes in the label column.
        **options
            What counts as a word; see `bursty.corpus.TextOptions`. Or ``like``, as in `from_texts`.

        Returns
        -------
        Corpus

        Examples
        --------
        >>> import pandas as pd
        >>> from bursty import Corpus
        >>> columns = {"text": ["rain and wind", "wind"], "label": ["wet", "dry"], "year": [1999, 2001]}
        >>> frame = pd.DataFrame(columns)
        >>> corpus = Corpus.from_frame(frame)
        >>> corpus.label_names.tolist(), corpus.metadata["year"].tolist()
        (['dry', 'wet'], [1999, 2001])
        """
        from bursty.corpus.memory import from_frame

        roles = {"text": text, "label": label, "id": id, "metadata": metadata, "label_separator": label_separator}
        return from_frame(frame, roles, options)

    @classmethod
    def from_gensim(
        cls,
        documents: Iterable[Any],
        dictionary: Any,
        labels: Sequence[Any] | Array | None = None,
        ids: Sequence[Any] | Array | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Corpus:
        """Convert gensim's bags of words.

        Parameters
        ----------
        documents : iterable of lists of (int, int)
            The number and the count of each word of a document, as `Dictionary.doc2bow` returns them.
        dictionary : gensim.corpora.Dictionary
            The words of these numbers.
        labels, ids, metadata : optional
            As in `from_texts`.

        Returns
        -------
        Corpus
        """
        from bursty.corpus.memory import from_gensim

        return from_gensim(documents, dictionary, labels, ids, metadata)

    @property
    def counts(self) -> sp.csr_array:
        """Documents x words, int32, canonical."""
        return self._counts

    @property
    def vocabulary(self) -> Array:
        """One string per word."""
        return self._vocabulary

    @property
    def has_words(self) -> bool:
        """False if the words have only placeholder names, which should not be displayed."""
        return self._has_words

    @property
    def ids(self) -> Array:
        """One string per document."""
        if self._ids is None:
            self._ids = strings(map(str, range(len(self))))
        return self._ids

    @property
    def labels(self) -> Array | None:
        """One integer per document, -1 for no label; None without labels and for multi-label corpora."""
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
        """More columns, one value per document."""
        return MappingProxyType(self._metadata)

    @property
    def info(self) -> Mapping[str, Any]:
        """Facts about the whole corpus."""
        return MappingProxyType(self._info)

    @property
    def units(self) -> Units:
        """What documents, words and tokens are called."""
        return self._units

    def with_units(self, units: Sequence[str] | str) -> Corpus:
        """The same corpus with other names for documents, words and tokens, such as ``("sample", "taxon", "read")``."""
        return self._replace(units=units)

    @property
    def texts(self) -> Texts | None:
        """One text per document, read on demand; None if the corpus was created without texts."""
        return self._texts

    @property
    def text_options(self) -> TextOptions | None:
        """How texts became counts, without the options that select words; None if the corpus was not made of texts."""
        return TextOptions.from_info(self._info)

    def without_texts(self) -> Corpus:
        """The same corpus without its texts, for data that must not be published."""
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
        documents, words, tokens = self._units.count(len(self), self.n_words, int(self._counts.sum()))
        parts = [f"{documents} x {words}", tokens]
        if classes:
            parts.append(counted(classes, "class", "classes") + (" (multi-label)" if self.is_multilabel else ""))
        if not self._has_words:
            parts.append("words have no names")
        name = self._info.get("name")
        return f"<Corpus {name + ': ' if name else ''}{', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the size of the corpus, and its first documents with their most frequent words."""
        columns: dict[str, list[Any]] = {self._units.singular[0]: list(self.ids[:5])}
        rows = [self._counts[[row]] for row in range(min(5, len(self)))]
        if self._labels is not None and self._label_names is not None:
            columns["label"] = [self._label_names[k] if k >= 0 else "" for k in self._labels[:5]]
        columns[self._units.plural[2]] = [int(row.sum()) for row in rows]
        if self._has_words:
            best = [row.indices[np.argsort(-row.data, kind="stable")[:6]] for row in rows]
            columns[self._units.say("most frequent words")] = [", ".join(self._vocabulary[words]) for words in best]
        return f"<p>{markup.cell(repr(self)[1:-1])}</p>{markup.table(columns)}"

    def select(self, documents: Any) -> Corpus:
        """The documents selected by a mask, by indices (in that order, repeats allowed) or by a slice."""
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

    def filter_words(
        self,
        min_df: float = 1,
        max_df: float = 1.0,
        drop_most_common: int = 0,
        stop_words: str | Iterable[str] | None = None,
    ) -> Corpus:
        """Drop stop words, rare words, words that occur in most documents, and the most common words.

        Every document is kept.

        Parameters
        ----------
        min_df, max_df : int or float
            Keep the words that occur in at least `min_df` and at most `max_df` documents: a number of documents
            (int) or a share of them (float).
        drop_most_common : int
            Number of words with the most tokens that are then dropped ([Madsen2005] drops 500).
        stop_words : "english" or iterable of str, optional
            Words to drop first, with the phrases that contain one.
        """
        if stop_words is None:
            return self.select_words(words.keep_words(self._counts, min_df, max_df, drop_most_common))
        if not self._has_words:
            raise ValueError("stop_words= needs the names of the words, which these documents do not have")
        left = self.select_words(words.without_stop_words(self._vocabulary, stop_words))
        return left.filter_words(min_df, max_df, drop_most_common)

    def select_words(self, mask: Any) -> Corpus:
        """The words selected by a mask, one boolean per word; every document is kept."""
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != (self.n_words,):
            raise ValueError(
                f"a mask of {mask.dtype} and shape {mask.shape} does not match {counted(self.n_words, 'word')}"
            )
        if not mask.any():
            raise ValueError("no word is selected: a corpus must have at least one")
        return self._replace(counts=words.select_words(self._counts, mask), vocabulary=self._vocabulary[mask])

    def align(self, vocabulary: Sequence[str] | Array) -> Corpus:
        """The same documents with these columns, in this order, as required by a model with this vocabulary.

        Other words are dropped; every document is kept.
        """
        if not self._has_words:
            raise ValueError("the words of these documents have no names, so they cannot be matched: give a vocabulary")
        return self._replace(
            counts=words.align_words(self._counts, self._vocabulary, np.asarray(vocabulary, dtype=object)),
            vocabulary=vocabulary,
        )

    def drop_empty(self) -> Corpus:
        """The corpus without the documents that have no words."""
        return self.select(np.diff(self._counts.indptr) > 0)

    def split(
        self,
        test_size: float | None = None,
        *,
        fractions: Sequence[float] | None = None,
        stratify: bool | Sequence[Any] | Array = False,
        random_state: Any = None,
    ) -> tuple[Corpus, ...]:
        """Split at random into corpora that together have every document once, in the order of this corpus.

        Parameters
        ----------
        test_size : float or int, default 0.25
            Share (float) or number (int) of the documents in the second of two corpora.
        fractions : sequence of float, optional
            Share of the documents in each corpus, summing to 1; mutually exclusive with `test_size`.
        stratify : bool or sequence
            Keep the proportions of the classes in each corpus, to within one document; True uses `labels`.
        random_state : int, numpy Generator or RandomState, optional
            Seed or generator for reproducible splits.
        """
        if stratify is True:
            if self._labels is None:
                kind = "a document may have several" if self.is_multilabel else "it has none"
                raise ValueError(f"stratify=True needs one label per document, but {kind}: pass an array instead")
            stratify = self._labels
        groups = None if stratify is False else np.asarray(stratify)
        parts = split_rows(len(self), test_size, fractions, groups, random_state)
        return tuple(self.select(rows) for rows in parts)

    def describe(self) -> Description:
        """Numbers of documents, words and tokens, mean length, sparsity, burstiness, empty documents and classes.

        Burstiness is the number of tokens over the number of distinct (document, word) pairs: 1 if no document
        repeats a word.
        """
        return describe(self._counts, 0 if self._label_names is None else len(self._label_names))

    def with_labels(
        self, labels: Sequence[Any] | Array | None, label_names: Sequence[str] | Array | None = None
    ) -> Corpus:
        """The same documents with other labels, given as to the constructor; None for no labels."""
        return self._replace(labels=labels, label_names=label_names, label_matrix=None)

    def with_info(self, **facts: Any) -> Corpus:
        """The same corpus with more facts in `info`."""
        return self._replace(info=self._info | facts)

    def save(self, path: str | Path) -> Path:
        """Save the corpus to one file (suffix ``.bcorpus``) for `read_corpus`; no pickle is used."""
        from bursty.corpus.storage import save_corpus

        return save_corpus(self, path)

    def _replace(self, **changes: Any) -> Corpus:
        names = ("counts", "vocabulary", "ids", "labels", "label_names", "label_matrix", "metadata", "info", "texts")
        kept = {name: getattr(self, f"_{name}") for name in names}
        made = Corpus(**(kept | changes))
        made._has_words = self._has_words
        return made
