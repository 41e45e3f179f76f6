"""Collections published as tables of counts."""

from __future__ import annotations

from pathlib import Path

from bursty.corpus import Corpus, read_corpus


def load_classic400(path: Path) -> Corpus:
    """Abstracts on medicine, information science and aeronautics, in 3 classes ([Elkan2006] Table 1).

    The confusion matrices of [Elkan2006] Table 2 and the class sizes identify only Cranfield (200 documents), so the
    classes keep their numbers.
    """
    return read_corpus(path)


def load_nips391(path: Path) -> Corpus:
    """Papers of two NIPS conferences in 9 areas ([Elkan2006] Table 1); words without names."""
    return read_corpus(path)


def load_zhong15(path: Path, *, filter: str | None = "published") -> Corpus:
    """A collection of [Elkan2006] Table 3.

    Parameters
    ----------
    path : Path
        The .mat file, named after the collection.
    filter : "published", "stated" or None
        The rule stated in [Elkan2006] section 5 drops words that occur in only one document or in more than half of
        all documents, and then documents without words. It gives the published number of words for every collection
        but la12, where it gives 21,596. The published 11,231 are exactly the words with at least ten tokens, so
        "published" takes those for la12. None drops nothing: the published mean lengths are those of the unfiltered
        collections.
    """
    if filter not in ("published", "stated", None):
        raise ValueError(f"filter={filter!r} must be 'published', 'stated' or None")
    corpus = read_corpus(path)
    if filter is None:
        return corpus
    if filter == "published" and path.stem == "la12":
        return corpus.select_words(corpus.counts.sum(axis=0) >= 10).drop_empty()
    return corpus.filter_words(min_df=2, max_df=0.5).drop_empty()


def load_ap(path: Path) -> Corpus:
    """Articles of the Associated Press: 2,246 documents, no labels."""
    return read_corpus(path, format="ldac")
