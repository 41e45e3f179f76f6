"""Names of two or three words for clusters and topics, without lists of any language.

A word of probability p in a group of weight w, and q in all groups together, is at most 1 / w times as frequent in the
group as elsewhere. It represents the group by

    p max(0, log(p / q) / log(1 / w) - 1/2),

so that a word that all groups have does not count, however frequent it is. The larger the group, the less this says:
beside tables, lists of names or encoded files, what distinguishes prose is its function words. So the score is
multiplied by

    min(1, max(log2(1 / (2 d)), 1/500))^min(1, 4 w^2)

if the share d of the documents that have the word is known. As with idf, a word that half of all documents have says
little; one that a quarter of them has counts in full. If the corpus has its texts, two such words that are often
adjacent in the central documents of the group are a phrase.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bursty.typing import Array

#: Number of documents per group, of their characters, and of words per group that phrases are looked for in.
EXAMPLES, _MOST_TEXT, _WORDS = 30, 20_000, 40
# The factor of a word that half of the documents have, in a group that has as many.
_COMMON = 0.002
# A word of a phrase has at least this share of the best score: words that hardly represent the group are in no phrase.
_LEAST = 0.05
_TOKEN = re.compile(r"\w+")
LONGEST_NAME = 120


def representative(p: Array, weights: Array, q: Array, documents: Array | None = None) -> Array:
    """How well each word represents each group, from its probabilities in groups (rows of p) and in all of them, q.

    ``documents`` is the share of all documents that have each word, where it is known. A group that has everything is
    compared with nothing: there is no lift then. For vectors with negative entries, how far each entry is above that of
    all groups.
    """
    if np.any(p < 0):
        return p - q
    shares = np.clip(np.asarray(weights, dtype=np.float64), 1e-12, 1.0)[:, None]
    most = np.maximum(-np.log(shares), 1e-12)
    lift = np.log(np.maximum(p, 1e-300) / np.maximum(q, 1e-300)) / most
    scores = np.where(shares > 1.0 - 1e-9, p, p * np.maximum(lift - 0.5, 1e-6 * np.clip(lift, 0.0, 1.0)))
    if documents is None:
        return scores
    rare = np.clip(-np.log2(np.maximum(2.0 * documents, 1e-300)), _COMMON, 1.0)
    return scores * rare ** np.minimum(1.0, 4.0 * shares**2)


def name_of(words: Sequence[str], phrase: str | None = None) -> str:
    """The most representative word and the phrase, or three words; a word of the phrase is not repeated."""
    if phrase is None:
        return ", ".join(words[:3])
    inside = phrase.lower().split()
    others = [word for word in words if word.lower() not in inside]
    # The phrase comes first if it has the most representative word in it.
    parts = [phrase, *others[:1]] if words and words[0].lower() in inside else [*others[:1], phrase]
    return ", ".join(parts)


def find_phrase(texts: Sequence[str], weights: Mapping[str, float]) -> str | None:
    """The two weighted words that are adjacent in the most texts, as they are spelled there; None if rare.

    A phrase occurs in two texts or more and in a tenth of them, and one of its words hardly occurs without the other.
    """
    documents: Counter[Any] = Counter()
    spelled: dict[tuple[str, str], Counter[str]] = {}
    for text in texts:
        seen: set[Any] = set()
        last, before, end = "", "", -1
        for match in _TOKEN.finditer(text[:_MOST_TEXT]):
            word = match[0] if match[0] in weights else match[0].lower()
            if word not in weights:
                end = -1
                continue
            seen.add(word)
            if end >= 0 and last != word and text[end : match.start()].isspace():
                pair = last, word
                seen.add(pair)
                spelled.setdefault(pair, Counter())[f"{before} {match[0]}"] += 1
            last, before, end = word, match[0], match.end()
        documents.update(seen)
    least = max(2.0, 0.1 * len(texts))
    scores = {
        pair: documents[pair] * float(np.sqrt(weights[pair[0]] * weights[pair[1]]))
        for pair in spelled
        if documents[pair] >= max(least, 0.3 * min(documents[pair[0]], documents[pair[1]]))
    }
    if not scores:
        return None
    best = max(sorted(scores), key=lambda pair: scores[pair])
    return spelled[best].most_common(1)[0][0]


def suggest(scores: Array, vocabulary: Array, texts: Any = None, rows: Sequence[Array] = ()) -> list[str]:
    """A name for each group from its scores of words; ``rows`` are its central documents, if there are texts."""
    names = []
    for k, row in enumerate(scores):
        best = np.argsort(-row, kind="stable")[:_WORDS]
        best = best[row[best] > 0]
        words = [str(vocabulary[w]) for w in best]
        phrase = None
        if texts is not None:
            scored = zip(words, row[best].tolist(), strict=True)
            weights = {word: score for word, score in scored if score >= _LEAST * row[best[0]]}
            phrase = find_phrase([texts[int(d)] for d in rows[k]], weights)
        names.append(name_of(words, phrase)[:LONGEST_NAME])
    return names
