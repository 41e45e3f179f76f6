"""Excerpts of the texts of a corpus: the most informative passage, and words in context.

Excerpts are plain text in parts; templates and scripts escape it. Their size is bounded: a passage has about `WIDTH`
characters, and all contexts together have at most `MOST_CONTEXT`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from bursty.report.source import Source
from bursty.report.text import clean

Array = np.ndarray[Any, Any]

#: A passage: pieces of text, each with its role: "" for plain text, "for" and "against" for evidence.
Passage = list[tuple[str, str]]

WIDTH = 280
#: Number of words of a group by which passages are chosen.
WORDS = 60
#: Number of characters of a text that are searched.
_MOST_TEXT = 100_000
#: Words in context: number of words, lines per word, characters on each side, texts searched, total characters.
_CONTEXT_WORDS, _CONTEXT_LINES, _CONTEXT_SIDE, _CONTEXT_TEXTS = 3000, 3, 45, 2000
MOST_CONTEXT = 400_000
_TOKEN = re.compile(r"\w+")


def has_texts(source: Source) -> bool:
    """Whether there are texts to show."""
    return source.corpus is not None and source.corpus.texts is not None


def passage(text: str, weights: Mapping[str, float], width: int = WIDTH) -> Passage:
    """The part of a text with the highest density of weighted words, which are marked.

    Parameters
    ----------
    text : str
    weights : mapping of str to float
        Words in lower case or unchanged; a negative weight is evidence against.
    width : int
        Approximate length in characters.
    """
    text = " ".join(text[:_MOST_TEXT].split())
    tokens = [(match.start(), match.end(), _weight(match[0], weights)) for match in _TOKEN.finditer(text)]
    start, end = _densest(tokens, width)
    start, end = (0, min(len(text), width)) if end == 0 else (start, min(len(text), max(end, start + width)))
    if start > 0:
        start = max(text.rfind(" ", 0, start) + 1, start - 20)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + 1)
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


def group_weights(source: Source, scores: Array) -> dict[str, float]:
    """Top words of a group, each with its share of their total score."""
    best = np.argsort(-scores, kind="stable")[:WORDS]
    best = best[np.isfinite(scores[best]) & (scores[best] > 1e-3 * scores.max(initial=0.0))]
    low = float(scores[best].min()) if len(best) else 0.0
    values = scores[best] - min(low, 0.0)
    names = _names(source)
    return {names[w]: float(value) + 1e-9 for w, value in zip(best, values / max(values.sum(), 1e-300), strict=True)}


def passages(source: Source, rows: Array, weights: Mapping[str, float]) -> list[Passage]:
    """One passage per document; empty if the corpus has no texts."""
    if source.corpus is None or source.corpus.texts is None:
        return [[] for _ in rows]
    return [passage(source.corpus.texts[int(row)], weights) for row in rows]


def contexts(source: Source) -> list[list[list[str]]] | None:
    """Lines in which the most frequent words of the page occur: text before, word, text after."""
    if source.corpus is None or source.corpus.texts is None:
        return None
    texts, names = source.corpus.texts, _names(source)
    place = {names[w]: i for i, w in enumerate(source.kept[:_CONTEXT_WORDS])}
    found: list[list[list[str]]] = [[] for _ in place]
    left, size = len(found) * _CONTEXT_LINES, 0
    step = -(-len(texts) // _CONTEXT_TEXTS)
    for row in range(0, len(texts), step):
        text, seen = " ".join(texts[row][:_MOST_TEXT].split()), set()
        for match in _TOKEN.finditer(text):
            word = _known(match[0], place)
            number = place.get(word, -1)
            if number < 0 or number in seen or len(found[number]) == _CONTEXT_LINES:
                continue
            seen.add(number)
            line = _line(text, match.start(), match.end())
            found[number].append(line)
            left, size = left - 1, size + sum(map(len, line))
        if left == 0 or size > MOST_CONTEXT:
            break
    return found


def _line(text: str, start: int, end: int) -> list[str]:
    before, after = text[max(0, start - _CONTEXT_SIDE) : start], text[end : end + _CONTEXT_SIDE]
    return [clean(before, _CONTEXT_SIDE), clean(text[start:end]), clean(after, _CONTEXT_SIDE)]


def _densest(tokens: list[tuple[int, int, float]], width: int) -> tuple[int, int]:
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


def _weight(token: str, weights: Mapping[str, float]) -> float:
    return weights.get(_known(token, weights), 0.0)


def _known(token: str, words: Mapping[str, Any]) -> str:
    return token if token in words else token.lower()


def _names(source: Source) -> Array:
    """The full words as they occur in texts, not shortened for the page."""
    assert source.corpus is not None
    return source.corpus.vocabulary
