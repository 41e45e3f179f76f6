"""Excerpts of the texts of a corpus: the most informative passage, and words in context.

Excerpts are plain text in parts; templates and scripts escape it. Their size is bounded: a passage has about `WIDTH`
characters, and all contexts together have at most `MOST_CONTEXT`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from bursty.report.source import ReportSource
from bursty.report.text import clean
from bursty.typing import Array

#: A passage: pieces of text, each with its role: "" for plain text, "for" and "against" for evidence.
Passage = list[tuple[str, str]]

#: A word of a text: where it starts and ends, and its weight.
Token = tuple[int, int, float]

WIDTH = 280
#: Number of words of a group by which passages are chosen.
WORDS = 60
#: Passages are the same if they share this part of their words; number of others of the document that are tried.
_SAME, _TRIES = 0.6, 5
#: Number of characters of a text that are searched.
_MOST_TEXT = 100_000
#: Words in context: number of words, lines per word, characters on each side, texts searched, total characters.
_CONTEXT_WORDS, _CONTEXT_LINES, _CONTEXT_SIDE, _CONTEXT_TEXTS = 3000, 3, 45, 2000
MOST_CONTEXT = 500_000
#: Beginnings of documents: characters of each, and of all together.
BEGINNING, MOST_BEGINNINGS = 90, 600_000
_TOKEN = re.compile(r"\w+")


def has_texts(source: ReportSource) -> bool:
    """Whether there are texts to show."""
    return source.corpus is not None and source.corpus.texts is not None


def passage(
    text: str, weights: Mapping[str, float], width: int = WIDTH, shown: list[Counter[str]] | None = None
) -> Passage:
    """The part of a text with the highest density of weighted words, which are marked.

    Parameters
    ----------
    text : str
    weights : mapping of str to float
        Words in lower case or unchanged; a negative weight is evidence against.
    width : int
        Approximate length in characters.
    shown : list of Counter, optional
        The words of passages of other documents, to which this one is added. Documents that share a part, such as a
        licence or a list of options, do not all show it: another of their passages is taken if there is one.
    """
    text = " ".join(text[:_MOST_TEXT].split())
    tokens = [(match.start(), match.end(), _weight(match[0], weights)) for match in _TOKEN.finditer(text)]
    start, end = _around(text, tokens, _densest(tokens, width), width)
    if shown is not None:
        start, end = _unlike(text, tokens, (start, end), width, shown)
    parts: Passage = [("… ", "")] if start > 0 else []
    at = start
    for first, last, weight in tokens:
        if weight and start <= first and last <= end:
            parts += [(clean(text[at:first], width), ""), (clean(text[first:last]), "for" if weight > 0 else "against")]
            at = last
    parts.append((clean(text[at:end], width), ""))
    if end < len(text):
        parts.append((" …", ""))
    return [(piece, kind) for piece, kind in parts if piece]


def group_weights(source: ReportSource, scores: Array) -> dict[str, float]:
    """Top words of a group, each with its share of their total score."""
    best = np.argsort(-scores, kind="stable")[:WORDS]
    best = best[np.isfinite(scores[best]) & (scores[best] > 1e-3 * scores.max(initial=0.0))]
    low = float(scores[best].min()) if len(best) else 0.0
    values = scores[best] - min(low, 0.0)
    names = _names(source)
    return {names[w]: float(value) + 1e-9 for w, value in zip(best, values / max(values.sum(), 1e-300), strict=True)}


def passages(source: ReportSource, rows: Array, weights: Mapping[str, float]) -> list[Passage]:
    """One passage per document; empty if the corpus has no texts."""
    if source.corpus is None or source.corpus.texts is None:
        return [[] for _ in rows]
    shown: list[Counter[str]] = []
    return [passage(source.corpus.texts[int(row)], weights, shown=shown) for row in rows]


def contexts(source: ReportSource) -> list[list[list[str]]] | None:
    """Lines in which the most frequent words of the page occur: text before, word, text after."""
    if source.corpus is None or source.corpus.texts is None:
        return None
    texts, names = source.corpus.texts, _names(source)
    place = {names[w]: i for i, w in enumerate(source.kept[:_CONTEXT_WORDS])}
    found: list[list[list[str]]] = [[] for _ in place]
    left, size = len(found) * _CONTEXT_LINES, 0
    # From all over the corpus, whose first documents are often of one kind.
    rows = np.random.default_rng(0).permutation(len(texts))[:_CONTEXT_TEXTS]
    for row in rows.tolist():
        text, seen = " ".join(texts[row][:_MOST_TEXT].split()), set()
        # The last third of the room is for words that have no line yet, the third before it for their second one.
        most = max(1, _CONTEXT_LINES - int(_CONTEXT_LINES * size / MOST_CONTEXT))
        for match in _TOKEN.finditer(text):
            word = _known(match[0], place)
            number = place.get(word, -1)
            if number < 0 or number in seen or len(found[number]) >= most:
                continue
            seen.add(number)
            line = _line(text, match.start(), match.end())
            found[number].append(line)
            left, size = left - 1, size + sum(map(len, line))
        if left == 0 or size > MOST_CONTEXT:
            break
    return found


def beginnings(source: ReportSource, rows: Array) -> list[str] | None:
    """The first words of these documents, for a table whose names of documents are often only numbers."""
    if source.corpus is None or source.corpus.texts is None:
        return None
    width = min(BEGINNING, MOST_BEGINNINGS // max(1, len(rows)))
    found = []
    for row in rows:
        text = " ".join(source.corpus.texts[int(row)][: 4 * width].split())
        found.append(clean(text if len(text) <= width else text[:width].rsplit(" ", 1)[0] + " …", width + 2))
    return found


def _line(text: str, start: int, end: int) -> list[str]:
    """Text before, the word, text after; what is cut off is cut between words, and marked."""
    low, high = max(0, start - _CONTEXT_SIDE), min(len(text), end + _CONTEXT_SIDE)
    if low > 0:
        low = text.find(" ", low, start) + 1 or low
    if high < len(text):
        high = max(text.rfind(" ", end, high), end) if " " in text[end:high] else high
    before, after = clean(text[low:start], _CONTEXT_SIDE), clean(text[end:high], _CONTEXT_SIDE)
    return ["… " * (low > 0) + before, clean(text[start:end]), after + " …" * (high < len(text))]


def _densest(tokens: list[Token], width: int) -> tuple[int, int]:
    """Start and end of the window with the largest weight; (0, 0) if there is no weight."""
    best, place, total, first = 0.0, (0, 0), 0.0, 0
    for last, (_, end, weight) in enumerate(tokens):
        total += abs(weight)
        while first < last and tokens[first][0] < end - width:
            total -= abs(tokens[first][2])
            first += 1
        if weight and total > best * (1.0 + 1e-9):
            best, place = total, (tokens[first][0], end)
    return place


def _around(text: str, tokens: list[Token], window: tuple[int, int], width: int) -> tuple[int, int]:
    """Start and end of the passage of a window, between words and with the weighted ones in the middle."""
    start, end = window
    if end > 0:
        marked = [(a, b) for a, b, weight in tokens if weight and start <= a and b <= end]
        start = max(0, marked[0][0] - max(0, width - (marked[-1][1] - marked[0][0])) // 2)
    end = min(len(text), max(end, start + width))
    if start > 0:
        low, space = start - 20, text.rfind(" ", 0, start) + 1
        # Paths and the like go on without a space: these are cut between their words.
        start = space if space >= low else next((a for a, _, _ in tokens if low <= a <= start), low)
    if end < len(text):
        end = max(text.rfind(" ", start, end + 1), start + 1)
    return start, end


def _unlike(
    text: str, tokens: list[Token], first: tuple[int, int], width: int, shown: list[Counter[str]]
) -> tuple[int, int]:
    """The first passage, or the densest that is not one of those `shown` if there is one."""
    start, end = first
    for _ in range(_TRIES):
        words = Counter(_TOKEN.findall(text[start:end].lower()))
        if not any((words & other).total() > _SAME * words.total() for other in shown):
            shown.append(words)
            return start, end
        tokens = [(a, b, 0.0 if start <= a < end else weight) for a, b, weight in tokens]
        window = _densest(tokens, width)
        if window == (0, 0):
            break
        start, end = _around(text, tokens, window, width)
    return first


def _weight(token: str, weights: Mapping[str, float]) -> float:
    return weights.get(_known(token, weights), 0.0)


def _known(token: str, words: Mapping[str, Any]) -> str:
    return token if token in words else token.lower()


def _names(source: ReportSource) -> Array:
    """The full words as they occur in texts, not shortened for the page."""
    assert source.corpus is not None
    return source.corpus.vocabulary
