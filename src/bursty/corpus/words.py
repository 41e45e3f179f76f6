"""Word selection by document frequency and by number of tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from bursty.typing import Array
from bursty.wording import counted


def document_frequency(counts: sp.csr_array) -> Array:
    """Number of documents that contain each word (counts are canonical: one entry per document and word)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def keep_words(counts: sp.csr_array, min_df: float = 1, max_df: float = 1.0, drop_most_common: int = 0) -> Array:
    """Mask of the words to keep.

    In `min_df` and `max_df` an int is a number of documents and a float a share of all documents, as in scikit-learn;
    both bounds are inclusive. Of the words that pass, the `drop_most_common` words with the most tokens are dropped
    (ties are broken by column, lowest first).
    """
    tokens = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
    return keep_of(document_frequency(counts), tokens, counts.shape[0], min_df, max_df, drop_most_common)


def keep_of(
    df: Array, tokens: Array, n_documents: int, min_df: float = 1, max_df: float = 1.0, drop_most_common: int = 0
) -> Array:
    """`keep_words`, given the numbers of documents and tokens of each word."""
    low = _document_bound(min_df, n_documents, "min_df")
    high = _document_bound(max_df, n_documents, "max_df")
    if low > high:
        raise ValueError(f"min_df={min_df} is above max_df={max_df}: no word can pass both")
    mask = (df >= low) & (df <= high)
    if drop_most_common:
        mask[_most_common(tokens, mask, drop_most_common)] = False
    if not mask.any():
        raise ValueError(
            f"no word is left of {len(df)} with min_df={min_df}, max_df={max_df} and "
            f"drop_most_common={drop_most_common}: lower min_df or drop_most_common, or raise max_df"
        )
    return np.asarray(mask)


def without_stop_words(vocabulary: Array, stop_words: str | Iterable[str]) -> Array:
    """Mask of the words that are no stop words, and phrases that contain none."""
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ValueError(f"stop_words={stop_words!r} is unknown: give 'english' or a list of words")
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        stop_words = ENGLISH_STOP_WORDS
    stops = frozenset(stop_words)
    mask = np.array([stops.isdisjoint((word, *word.split(" "))) for word in vocabulary.tolist()], dtype=bool)
    if not mask.any():
        raise ValueError(f"stop_words= leaves none of the {counted(len(mask), 'word')}")
    return mask


def select_words(counts: sp.csr_array, mask: Array) -> sp.csr_array:
    """The columns of `mask`; every row is kept."""
    stays = mask[counts.indices]
    ends = np.concatenate([[0], np.cumsum(stays, dtype=np.int64)])[counts.indptr]
    column = (np.cumsum(mask) - 1).astype(counts.indices.dtype)
    indices = column[counts.indices[stays]]
    shape = (counts.shape[0], int(mask.sum()))
    return sp.csr_array((counts.data[stays], indices, ends.astype(counts.indptr.dtype)), shape=shape)


def _document_bound(value: float, n_documents: int, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number of documents (int) or a share of them (float), not {value!r}")
    if isinstance(value, int | np.integer):
        if value < 0:
            raise ValueError(f"{name}={value} is negative: give a number of documents")
        return float(value)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name}={value} is a fraction outside 0 to 1: write {int(value)} for a number of documents")
    return float(value) * n_documents


def _most_common(tokens: Array, mask: Array, number: int) -> Array:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
        raise ValueError(f"drop_most_common={number!r} must be a non-negative integer")
    candidates = np.flatnonzero(mask)
    order = np.argsort(-tokens[candidates], kind="stable")
    return candidates[order[:number]]


def align_words(counts: sp.csr_array, have: Array, want: Array) -> sp.csr_array:
    """The counts with the columns of `want`: other words are dropped, and new words have counts of zero."""
    place = {word: position for position, word in enumerate(want)}
    moved = np.array([place.get(word, -1) for word in have], dtype=np.int64)[counts.indices]
    kept = moved >= 0
    before = np.append(0, np.cumsum(kept))
    aligned = sp.csr_array((counts.data[kept], moved[kept], before[counts.indptr]), shape=(counts.shape[0], len(want)))
    aligned.sort_indices()
    return aligned
