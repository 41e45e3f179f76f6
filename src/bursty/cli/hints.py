"""Hints before a fit: what about the documents will make results harder to read."""

from __future__ import annotations

from typing import Any

from bursty.cli.messages import say

# Words of most documents are function words if they are many of the tokens of a corpus of texts.
_SHARE, _LEAST = 0.25, 20
_SHOWN = 5


def hint_common_words(corpus: Any) -> None:
    """Say that the vocabulary looks unfiltered, and which options filter it; no list of any language is needed."""
    import numpy as np

    from bursty.corpus import Corpus
    from bursty.models.mixture_settings import DENSE

    if not isinstance(corpus, Corpus) or not corpus.has_words or len(corpus) < _LEAST:
        return
    counts = corpus.counts
    if counts.nnz > DENSE * len(corpus) * corpus.n_words:
        return
    documents = np.bincount(counts.indices, minlength=corpus.n_words)
    tokens = np.bincount(counts.indices, weights=counts.data, minlength=corpus.n_words)
    common = np.flatnonzero(documents > len(corpus) / 2)
    share = tokens[common].sum() / max(1.0, tokens.sum())
    if share < _SHARE:
        return
    first = common[np.argsort(-tokens[common], kind="stable")][:_SHOWN]
    say(
        f"{share:.0%} of the tokens are words that most documents have ({', '.join(corpus.vocabulary[first])}, ...); "
        "--stop-words english or --max-df 0.5 leaves them out"
    )
