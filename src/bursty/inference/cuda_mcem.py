"""What Monte Carlo EM counts at its end, on a card."""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.engines.card import launch_blocks, on_card, zeros
from bursty.engines.cuda import CudaChunk
from bursty.kernels.cuda import rising
from bursty.kernels.cuda import topics as by_topic


def add_topics(chunk: CudaChunk, offset: int, topics: Any, counts: Any, n_topics: int) -> Any:
    """`mcem.add_topics`; ``counts`` are changed in place."""
    counts = zeros((chunk.n_documents, n_topics), np.int32) if counts is None else on_card(counts)
    count_topics(chunk, topics, n_topics, counts=counts)
    return counts


def count_topics(chunk: CudaChunk, topics: Any, n_topics: int, *, counts: Any = None, mixtures: Any = None) -> None:
    """Add to ``counts``, tokens by document and topic, or to ``mixtures``, documents by topic and tokens."""
    spans, nothing = chunk.on_card.spans, zeros((1, 1), np.int32)
    tables = nothing if counts is None else counts, nothing if mixtures is None else mixtures
    if len(spans):
        args = spans, on_card(topics), n_topics, counts is not None, *tables
        launch_blocks(by_topic.count_topics, len(spans), rising.THREADS, *args, shared_bytes=4 * n_topics)
