"""LDA on a card: phi is drawn there, and sweeps count the words of the topics for the next one."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from bursty.engines.card import column_sums, copied, empty, launch, on_card, zeros
from bursty.engines.cuda import CudaChunk
from bursty.inference.topics import cuda_sweeps
from bursty.inference.topics.cuda_sweeps import Shape, Sweep, Weights, n_columns
from bursty.kernels import streams
from bursty.kernels.cuda import gibbs, maximise, sums, variates
from bursty.samplers import lda
from bursty.typing import Array

# Gamma draws of tiny shape underflow; this is what no sweep can tell from 0.
_LEAST = 1e-30


class CardTable:
    """Tokens of each word and topic, on the card."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __add__(self, other: CardTable) -> CardTable:
        out = empty(self.values.shape, np.int32)
        launch(sums.add_tables, out.size, self.values, other.values, out)
        return CardTable(out)

    def fetch(self) -> Array:
        """In this process."""
        return np.asarray(self.values.copy_to_host())


class CardPhi:
    """Word probabilities of topics on the card, in the columns of a table."""

    def __init__(self, table: Any, n_topics: int) -> None:
        self.table, self.n_topics = table, n_topics

    def fetch(self) -> Array:
        """In this process."""
        return np.ascontiguousarray(self.table.copy_to_host()[:, : self.n_topics])


def new_phi(word_topics: Any, beta: Array, seed: int, number: int) -> CardPhi:
    """`lda.new_phi`, of counts on the card or here."""
    if not isinstance(word_topics, CardTable):
        word_topics = CardTable(on_card(word_topics.astype(np.int32)))
    counts = word_topics.values
    values, n_topics = empty(counts.shape, np.float64), counts.shape[1]
    stream = number + streams.PHI_PAIRS
    launch(variates.draw_gammas, values.size, counts, on_card(beta), _LEAST, seed, stream, values)
    table = empty((len(counts), n_columns(n_topics)), np.float32)
    launch(variates.scale_to_table, table.size, values, column_sums(values), table)
    return CardPhi(table, n_topics)


def sweep(
    chunk: CudaChunk, offset: int, topics: Any, model: lda.Topics, seed: int, number: int, dtype: Any
) -> tuple[Any, CardTable]:
    """`lda.sweep`: new topics of a chunk's tokens, and their words."""
    shape = Shape.of(len(model.alpha), chunk)
    topics, phi = copied(topics), cast(Any, model.phi)
    if not isinstance(phi, CardPhi):
        table = empty((len(phi), n_columns(len(model.alpha))), np.float32)
        launch(maximise.to_table, table.size, on_card(phi), table)
        phi = CardPhi(table, len(model.alpha))
    alpha = cuda_sweeps.padded(model.alpha, 0.0)
    weights = Weights(phi.table, alpha, alpha, False, phi.n_topics)
    words = zeros((chunk.n_words, phi.n_topics), np.int32)
    mixtures = zeros((phi.n_topics, chunk.on_card.longest + 1), np.int32)
    Sweep(chunk, offset, topics, weights, seed, number, (mixtures, words), shape).run()
    return topics, CardTable(words)


def word_topics_of(chunk: CudaChunk, offset: int, topics: Any, n_topics: int, dtype: Any) -> CardTable:
    """`lda.word_topics_of`."""
    tokens, words = chunk.on_card, zeros((chunk.n_words, n_topics), np.int32)
    launch(gibbs.count_tokens, len(tokens.codes), tokens.codes, on_card(topics), words)
    return CardTable(words)
