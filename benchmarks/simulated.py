"""Documents of any number, made a part at a time: words by a power law, some of them repeated."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from bursty import Corpus

PART = 32_768


def parts(n_documents, n_words=20_000, length=60, n_groups=20, seed=0):
    """Corpora that together have so many documents; each document prefers the words of its group."""
    vocabulary = [f"word{i}" for i in range(n_words)]
    for number, start in enumerate(range(0, n_documents, PART)):
        rng = np.random.default_rng([seed, number])
        n = min(PART, n_documents - start)
        groups = rng.integers(n_groups, size=n)
        ranks = (n_words ** rng.random(n * length)).astype(np.int64) % n_words
        own = rng.random(n * length) < 0.5
        shift = np.repeat(groups * (n_words // n_groups), length)
        words = np.where(own, (ranks + shift) % n_words, ranks).astype(np.int32)
        counts = 1 + (rng.random(n * length) < 0.15) * rng.integers(1, 5, n * length)
        rows = np.repeat(np.arange(n, dtype=np.int32), length)
        table = sp.csr_array((counts.astype(np.int32), (rows, words)), shape=(n, n_words))
        yield Corpus(table, vocabulary, labels=groups, label_names=[f"group {i}" for i in range(n_groups)])


def joined(n_documents, **options):
    """The same documents in memory."""
    return sp.csr_array(sp.vstack([part.counts for part in parts(n_documents, **options)], format="csr"))
