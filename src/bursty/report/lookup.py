"""Word lookup on a page: distribution over groups and burstiness of a word."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.report import charts, excerpts
from bursty.report.content import Content, Panel
from bursty.report.source import ReportSource
from bursty.report.text import numbers
from bursty.typing import Array

#: Number of groups sent per word: those with the most tokens of it.
MOST_GROUPS = 6


def lookup(
    source: ReportSource, shares: Array, titles: list[str], what: str, marks: Array | None = None
) -> dict[str, Any]:
    """Data of the lookup for each word.

    ``shares`` is groups x words: the share of each word's tokens in each group. ``marks`` is the probability of each
    word to be discriminative.
    """
    kept = source.kept
    part = shares[:, kept]
    best = np.argsort(-part, axis=0, kind="stable")[:MOST_GROUPS]
    pairs = [
        [item for k in best[:, w] if part[k, w] >= 0.005 for item in (int(k), round(float(part[k, w]), 3))]
        for w in range(len(kept))
    ]
    found: dict[str, Any] = {"groups": pairs, "titles": titles, "what": what}
    if source.corpus is not None:
        counts = source.corpus.counts
        found["documents"] = numbers(np.bincount(counts.indices, minlength=source.n_words)[kept])
        found["tokens"] = numbers(source.tokens[kept].astype(np.int64))
    if (lines := excerpts.contexts(source)) is not None:
        found["contexts"] = lines
    if marks is not None:
        found["marks"] = numbers(np.asarray(marks)[kept], 3)
    return found


def vocabulary(source: ReportSource) -> list[str]:
    """The words of the page, by number."""
    return [str(word) for word in source.words[source.kept]]


def add_lookup(content: Content, found: dict[str, Any]) -> None:
    """The panel for looking up words."""
    content.data["lookup"] = found
    content.charts["word-groups"] = charts.word_groups()
    content.panels.append(Panel("words", "Words", "words.html"))
