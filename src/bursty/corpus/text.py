"""Texts to counts, one block of documents at a time.

Texts are tokenised by scikit-learn's analyzers, so that every option of `CountVectorizer` that defines a token has the
same meaning here. The difference is in memory: a block of texts is converted to counts and discarded, the vocabulary
grows as words occur, and words that are too rare or too common are dropped at the end. The texts, or their tokens, are
never in memory all at once.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from bursty.corpus.html import check_installed, html_to_text, is_html
from bursty.corpus.labels import strings
from bursty.corpus.texts import Texts, TextWriter
from bursty.corpus.words import keep_words, select_words
from bursty.storage.limits import PER_CHARACTER, PER_NAME, Budget
from bursty.storage.schema import storable
from bursty.typing import Array

# At least two characters, the first of which is a letter.
TOKEN_PATTERN = r"(?u)\b[^\W\d_]\w+\b"
BLOCK_DOCUMENTS = 2_000
BLOCK_CHARACTERS = 8_000_000
# Key of the options in the facts about a corpus.
_KEY = "text_options"


def _check_stored(options: Any, sizes: Any = None) -> None:
    """Check options that come from a file."""
    for name, rule in RULES.items():
        if not rule(getattr(options, name)):
            raise ValueError(f"the stored option {name}={getattr(options, name)!r} is invalid")


@storable("TextOptions", check=_check_stored)
@dataclass(frozen=True)
class TextOptions:
    """What counts as a word.

    Parameters
    ----------
    lowercase : bool
        Convert texts to lower case.
    token_pattern : str
        Regular expression of a token. By default words of at least two characters that start with a letter, so that
        numbers are excluded.
    stop_words : "english", sequence of str or None
        Words to exclude; none by default.
    ngram_range : pair of int
        ``(1, 2)`` counts words and pairs of words.
    analyzer : "word", "char", "char_wb" or function from str to list of str
        As in scikit-learn. A function gives the tokens of a text; no other option that defines a word then applies.
    strip_accents : "ascii", "unicode" or None
        Remove accents, as in scikit-learn.
    html : bool, optional
        Whether texts are HTML, whose words are counted without tags, scripts and styles. By default the files of a
        folder called .html or .htm are, and nothing else is. Needs the extra ``html``.
    vocabulary : sequence of str, optional
        Count only these words, in this order.
    min_df, max_df : int or float
        Keep the words that occur in at least `min_df` and at most `max_df` documents: a number of documents (int) or a
        share of them (float).
    drop_most_common : int
        Number of most common words to drop; [Madsen2005] drops 500.
    keep_texts : bool
        Whether to keep the texts, compressed (`Corpus.texts`), so that reports can show excerpts.

    See Also
    --------
    Corpus.from_texts, read_corpus

    Examples
    --------
    >>> from bursty.corpus import TextOptions
    >>> tokenise = TextOptions(stop_words=["the"], ngram_range=(1, 2)).build_analyzer()
    >>> tokenise("The rain, the wind")
    ['rain', 'wind', 'rain wind']
    """

    lowercase: bool = True
    token_pattern: str = TOKEN_PATTERN
    stop_words: str | Sequence[str] | None = None
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: str | Callable[[str], list[str]] = "word"
    strip_accents: str | None = None
    html: bool | None = None
    vocabulary: Sequence[str] | None = None
    min_df: float = 1
    max_df: float = 1.0
    drop_most_common: int = 0
    keep_texts: bool = False

    @classmethod
    def names(cls) -> frozenset[str]:
        """The names of the options."""
        return frozenset(option.name for option in fields(cls))

    def defining(self) -> dict[str, Any]:
        """The options that define a word and are not the default, as plain values."""
        found = {name: getattr(self, name) for name in RULES if getattr(self, name) != getattr(type(self), name)}
        return {name: value if isinstance(value, str | bool) else list(value) for name, value in found.items()}

    def as_info(self) -> dict[str, Any]:
        """How the words of a corpus were counted, as a fact about it; nothing if that took a function."""
        return {} if callable(self.analyzer) else {_KEY: self.defining()}

    @classmethod
    def from_info(cls, info: Mapping[str, Any]) -> Self | None:
        """How the words of a corpus were counted, from its facts, which may be those of a file; None if unknown."""
        found = info.get(_KEY)
        if found is None:
            return None
        if not isinstance(found, Mapping):
            raise ValueError("the stored options that define a word are invalid")
        known = {name: value for name, value in found.items() if name in RULES}
        if isinstance(known.get("ngram_range"), list):
            known["ngram_range"] = tuple(known["ngram_range"])
        options = cls(**known)
        _check_stored(options)
        return options

    def plain_text(self, text: str, filename: str = "") -> str:
        """The text without markup if it is HTML."""
        return html_to_text(text) if self.reads_html(filename) else text

    def reads_html(self, filename: str) -> bool:
        """Whether a text is taken for HTML, by the option or by the name of its file."""
        return is_html(filename) if self.html is None else self.html

    def build_analyzer(self, *, tokens: bool = False) -> Callable[[Any], list[str]]:
        """Function from a text to its tokens; if documents are lists of ``tokens``, to those that are counted."""
        from sklearn.feature_extraction.text import CountVectorizer

        if callable(self.analyzer):
            return self.analyzer
        if self.analyzer not in ("word", "char", "char_wb"):
            raise ValueError(f"analyzer={self.analyzer!r} must be 'word', 'char', 'char_wb' or a function")
        stop_words = self.stop_words
        if stop_words is not None and not isinstance(stop_words, str):
            stop_words = list(stop_words)
        vectorizer = CountVectorizer(
            lowercase=self.lowercase,
            token_pattern=self.token_pattern if self.analyzer == "word" else None,
            stop_words=stop_words if self.analyzer == "word" else None,
            ngram_range=tuple(self.ngram_range),
            analyzer=self.analyzer,
            strip_accents=self.strip_accents,
        )
        if tokens:
            if self.analyzer != "word":
                raise ValueError(f"analyzer={self.analyzer!r} needs texts, but the documents are lists of tokens")
            vectorizer.set_params(preprocessor=list, tokenizer=list, token_pattern=None)
        analyze: Callable[[Any], list[str]] = vectorizer.build_analyzer()
        return analyze

    @property
    def filters(self) -> bool:
        """Whether words are dropped at the end."""
        return (self.min_df, self.max_df, self.drop_most_common) != (1, 1.0, 0)


def among(*values: Any) -> Callable[[Any], bool]:
    """Whether a value from a file is one of these: None, booleans or strings."""
    return lambda value: any(value is known or (isinstance(value, str) and value == known) for known in values)


def _are_stop_words(value: Any) -> bool:
    listed = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return listed or among(None, "english")(value)


#: The options that define a word, as opposed to those that select words, and what they may be in a file.
RULES: dict[str, Callable[[Any], bool]] = {
    "lowercase": among(True, False),
    "token_pattern": lambda value: isinstance(value, str),
    "stop_words": _are_stop_words,
    "ngram_range": lambda value: isinstance(value, tuple) and [type(n) for n in value] == [int, int],
    "analyzer": among("word", "char", "char_wb"),
    "strip_accents": among(None, "ascii", "unicode"),
    "html": among(None, True, False),
}


class CountBuilder:
    """Incremental counter: add texts in any number of blocks, then get the counts from `finish`.

    Examples
    --------
    >>> builder = CountBuilder(TextOptions())
    >>> builder.add(["to be or not to be"])
    >>> counts, vocabulary = builder.finish()
    >>> list(vocabulary), counts.toarray().tolist()
    (['be', 'not', 'or', 'to'], [[2, 1, 1, 2]])
    """

    def __init__(self, options: TextOptions, *, tokens: bool = False, budget: Budget | None = None) -> None:
        if options.html and not tokens:
            check_installed("html=True")
        self._options = options
        self._budget = budget
        self._analyze = options.build_analyzer(tokens=tokens)
        self._fixed = options.vocabulary is not None
        self._index: dict[str, int] = defaultdict(None)
        if options.vocabulary is not None:
            self._index = _fixed_index(options)
        else:
            self._index.default_factory = self._index.__len__
        self._indices: list[Array] = []
        self._data: list[Array] = []
        self._lengths: list[Array] = []
        self._texts: list[Any] = []
        self._writer = TextWriter() if options.keep_texts else None
        self._characters = self._n_documents = self._n_cells = 0

    def append(self, text: Any) -> None:
        """Add a document; it is counted when its block is full."""
        self._texts.append(text)
        self._characters += len(text)
        if self._budget is not None:
            self._budget.hold(PER_CHARACTER * len(text), "one document")
        if len(self._texts) >= BLOCK_DOCUMENTS or self._characters >= BLOCK_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Count the pending documents."""
        texts, self._texts, self._characters = self._texts, [], 0
        if texts:
            self.add(texts)

    def add(self, texts: Sequence[Any]) -> None:
        """Count a block of documents."""
        if self._writer is not None:
            for text in texts:
                self._writer.append(text if isinstance(text, str) else " ".join(text))
        tokens, ends = array("i"), array("q", [0])
        for text in texts:
            tokens.extend(self._positions(self._analyze(text)))
            ends.append(len(tokens))
        indices = np.frombuffer(tokens, dtype=np.int32)
        indptr = np.frombuffer(ends, dtype=np.int64).astype(np.int32)
        shape = (len(texts), max(1, len(self._index)))
        block = sp.csr_array((np.ones(len(indices), dtype=np.int32), indices.copy(), indptr), shape=shape)
        block.sum_duplicates()
        self._indices.append(block.indices)
        self._data.append(block.data)
        self._lengths.append(np.diff(block.indptr))
        self._n_documents += len(texts)
        self._n_cells += block.nnz
        if self._budget is not None:
            names = self._n_documents + (0 if self._fixed else len(self._index))
            self._budget.hold(PER_NAME * names + 8 * self._n_cells, "counting its words")

    @property
    def texts(self) -> Texts | None:
        """The counted texts if the options keep them; available after `finish`."""
        return None if self._writer is None else self._writer.finish()

    def finish(self) -> tuple[sp.csr_array, Array]:
        """The matrix of counts and the vocabulary, sorted unless it was given."""
        self.flush()
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(self._lengths or [np.zeros(0)]), dtype=np.int64)])
        indices, data = _join(self._indices), _join(self._data)
        if not self._index:
            raise ValueError(
                "no document has any words: check token_pattern and stop_words, and the column or folder "
                "that the text was read from"
            )
        words, n_words = list(self._index), len(self._index)
        if not self._fixed:
            order = sorted(range(n_words), key=words.__getitem__)
            column = np.empty(n_words, dtype=np.int32)
            column[order] = np.arange(n_words, dtype=np.int32)
            for start in range(0, len(indices), 2**20):
                indices[start : start + 2**20] = column[indices[start : start + 2**20]]
            words = [words[position] for position in order]
        small = indptr[-1] <= np.iinfo(np.int32).max
        counts = sp.csr_array(
            (data, indices, indptr.astype(np.int32 if small else np.int64)), shape=(len(indptr) - 1, n_words)
        )
        counts.has_sorted_indices = False
        counts.sort_indices()
        vocabulary = strings(words)
        if self._options.filters:
            mask = keep_words(counts, self._options.min_df, self._options.max_df, self._options.drop_most_common)
            counts, vocabulary = select_words(counts, mask), vocabulary[mask]
        return counts, vocabulary

    def _positions(self, tokens: list[str]) -> Iterable[int]:
        if not self._fixed:
            return map(self._index.__getitem__, tokens)
        get = self._index.get
        return [position for position in map(get, tokens) if position is not None]


def count_texts(texts: Iterable[str], **options: Any) -> tuple[sp.csr_array, Array]:
    """Count the words of texts.

    Parameters
    ----------
    texts : iterable of str
        One text per document. It may be a generator, which is consumed one block at a time.
    **options
        What counts as a word; see `TextOptions`.

    Returns
    -------
    counts : csr_array of shape (n_documents, n_words)
    vocabulary : ndarray of shape (n_words,)

    See Also
    --------
    Corpus.from_texts : A corpus at once.

    Examples
    --------
    >>> from bursty.corpus import count_texts
    >>> counts, vocabulary = count_texts(["to be or not to be", "to sleep"])
    >>> vocabulary.tolist()
    ['be', 'not', 'or', 'sleep', 'to']
    >>> counts.toarray().tolist()
    [[2, 1, 1, 0, 2], [0, 0, 0, 1, 1]]
    """
    chosen = TextOptions(**options)
    builder = CountBuilder(chosen)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a document must be a string, not {type(text).__name__}: decode bytes first")
        builder.append(chosen.plain_text(text))
    return builder.finish()


def with_options_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, of which ``like`` (a corpus or a fitted model) is replaced by how its words were counted."""
    options = dict(options)
    like = options.pop("like", None)
    if like is None:
        return options
    words = getattr(like, "feature_names_in_", None)
    if words is None and getattr(like, "has_words", False):
        words = like.vocabulary
    if words is None:
        raise ValueError(
            "like= needs a corpus, or a model fitted on one, whose words have names; the corpus of a vectorizer is "
            "bursty.Corpus(vectorizer.transform(texts), vectorizer.get_feature_names_out(), texts=texts)"
        )
    counted = getattr(like, "text_options", None) or getattr(like, "text_options_", None)
    clash = sorted({"vocabulary", "min_df", "max_df", "drop_most_common"} & set(options))
    if clash:
        raise ValueError(f"{clash[0]}= does not go with like=, which has its own words")
    defining = {} if counted is None else {name: getattr(counted, name) for name in counted.defining()}
    return {**defining, "vocabulary": [str(word) for word in words], **options}


def _fixed_index(options: TextOptions) -> dict[str, int]:
    if options.filters:
        raise ValueError("a given vocabulary is not filtered: remove min_df, max_df and drop_most_common")
    words = [] if options.vocabulary is None else list(options.vocabulary)
    index = {word: position for position, word in enumerate(words)}
    if len(index) < len(words) or not words:
        raise ValueError("the given vocabulary must have at least one word, and no duplicates")
    return index


def _join(blocks: list[Array]) -> Array:
    """Concatenate blocks; each is released once it is copied, so that memory is not doubled."""
    joined = np.empty(sum(len(block) for block in blocks), dtype=np.int32)
    done = len(joined)
    while blocks:
        block = blocks.pop()
        joined[done - len(block) : done] = block
        done -= len(block)
    return joined
