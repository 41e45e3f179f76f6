"""Reuters-21578, the "ModApte" split with the 90 classes that have both training and test documents.

A document belongs to the split if its attributes are TOPICS="YES" and LEWISSPLIT="TRAIN" or "TEST". Classes without
training or test documents are dropped, and so are documents that have no other class: 7,770 training and 3,019 test
documents remain ([Madsen2005] section 5.2).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bursty.corpus import Corpus, count_texts
from bursty.corpus.decoding import read_text
from bursty.corpus.labels import encode_label_sets, strings
from bursty.corpus.sources import open_binary, walk_archive

_DOCUMENT = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)\s*=\s*"([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_PARTS = {part: re.compile(rf"<{part}\b[^>]*>(.*?)</{part}>", re.DOTALL) for part in ("TEXT", "TITLE", "BODY", "DATE")}


@dataclass(frozen=True)
class Story:
    """A document of the split."""

    id: str
    subset: str
    topics: frozenset[str]
    text: str
    date: str


def load_reuters21578(path: Path, *, subset: str = "all", title: bool = True, **text_options: Any) -> Corpus:
    """Multi-label corpus of the ModApte split with 90 classes.

    Parameters
    ----------
    path : Path
        The archive, or the folder, of the 22 SGML files.
    subset : "train", "test" or "all"
        Documents to load; the vocabulary is that of all documents, so that "train" and "test" have the same columns.
    title : bool
        Whether to count the words of the title as well as those of the body. The title is always counted if there is no
        body.
    **text_options
        What counts as a word; see `bursty.corpus.TextOptions`.
    """
    if subset not in ("train", "test", "all"):
        raise ValueError(f"subset={subset!r} must be 'train', 'test' or 'all'")
    stories = _modapte(list(_stories(path, title)))
    matrix, names = encode_label_sets([story.topics for story in stories])
    counts, vocabulary = count_texts((story.text for story in stories), **text_options)
    corpus = Corpus(
        counts,
        vocabulary,
        ids=[story.id for story in stories],
        label_matrix=matrix,
        label_names=names,
        metadata={
            "subset": strings(story.subset for story in stories),
            "date": strings(story.date for story in stories),
        },
    )
    return corpus if subset == "all" else corpus.select(corpus.metadata["subset"] == subset)


def _modapte(stories: list[Story]) -> list[Story]:
    """Stories with a class that occurs in both halves, without their other classes; training stories first."""
    in_train, in_test = (
        {topic for story in stories if story.subset == subset for topic in story.topics} for subset in ("train", "test")
    )
    classes = in_train & in_test
    kept = [
        Story(story.id, story.subset, story.topics & classes, story.text, story.date)
        for story in stories
        if story.topics & classes
    ]
    order = np.argsort([story.subset == "test" for story in kept], kind="stable")
    return [kept[position] for position in order]


def _stories(path: Path, title: bool) -> Iterator[Story]:
    """Documents with TOPICS="YES" of the training and test halves, in the order of the files."""
    for content in _sgml(path):
        for found in _DOCUMENT.finditer(content):
            attributes = dict(_ATTRIBUTE.findall(found[1]))
            subset = attributes.get("LEWISSPLIT", "").lower()
            if attributes.get("TOPICS") != "YES" or subset not in ("train", "test"):
                continue
            topics = _TOPICS.search(found[2])
            yield Story(
                attributes.get("NEWID", ""),
                subset,
                frozenset(html.unescape(topic.strip()) for topic in _TOPIC.findall(topics[1] if topics else "")),
                _text(found[2], title),
                _part(found[2], "DATE") or "",
            )


def _text(document: str, with_title: bool) -> str:
    """Title and body; the raw text of documents that have neither."""
    title, body = _part(document, "TITLE"), _part(document, "BODY")
    if body is not None:
        return f"{title}\n{body}" if with_title and title else body
    return title if title is not None else _part(document, "TEXT") or ""


def _part(document: str, name: str) -> str | None:
    found = _PARTS[name].search(document)
    return None if found is None else html.unescape(found[1]).strip()


def _sgml(path: Path) -> Iterator[str]:
    """The SGML files, in the order of their names; the collection is in latin-1."""
    if path.is_dir():
        for file in sorted(path.rglob("*.sgm")):
            with open_binary(file) as stream:
                yield read_text(stream, str(file), "latin-1")
        return
    files = {}
    for name, stream in walk_archive(path):
        if name.endswith(".sgm"):
            files[name] = read_text(stream, f"{path}:{name}", "latin-1")
    for name in sorted(files):
        yield files[name]
