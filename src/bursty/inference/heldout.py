"""Likelihood of new documents under a topic model, which has no closed form: two estimators.

*Empirical likelihood* ([Doyle2009] section 5): draw many pseudo-documents, that is, their word probabilities, from the
model, and average the likelihood of the document under each. It is unbiased for any number of pseudo-documents, but few
of them are near a long document, so that its logarithm is then too low; the standard error shows how much to trust it.

*Left to right* (Wallach et al. 2009): predict each word from the preceding ones, with particles for their topics. It is
far more accurate for long documents, and ``score`` uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bursty.engines import Chunk
from bursty.kernels import gibbs_counts, gibbs_pseudo, threads
from bursty.samplers.tokens import Tokens, Topics
from bursty.typing import Array

#: Moves of left-to-right estimation, as (least, share of the earlier words).
GROWING_MOVES = (20, 0.1)
# Number of pseudo-documents drawn at a time.
_BLOCK = 64
# Maximum number of entries of a dense table for some documents.
_TABLE = 2**24


def left_to_right(chunk: Chunk, model: Topics, seed: int, n_particles: int, moves: tuple[int, float]) -> Array:
    """Estimated log-likelihood of each document, as one sequence of words, and its standard error: D x 2."""
    return model.left_to_right(Tokens.by_content(chunk), seed, n_particles, moves)


@dataclass(frozen=True)
class ShortChains:
    """How topics of new documents are sampled: number of chains, of sweeps to discard and of sweeps to use in each.

    Every sweep is followed by moves of blocks. If alpha is small, a chain stays for long with the topics it found
    first; several short chains explore more than a long one with the same number of sweeps.
    """

    n_chains: int = 16
    burn_in: int = 2
    n_samples: int = 3


def mixtures(chunk: Chunk, model: Topics, seed: int, chains: ShortChains) -> Array:
    """Posterior topic mixture of each document: the mean over the sweeps after burn-in of all chains, D x K."""
    tokens = Tokens.by_content(chunk)
    counts = np.zeros((chunk.n_documents, len(model.alpha)))
    for topics in samples(tokens, model, seed, chains):
        counts += tokens.document_topics(topics, len(model.alpha))
    mixture = counts / (chains.n_chains * chains.n_samples) + model.alpha
    return mixture / mixture.sum(axis=1, keepdims=True)


def cell_topics(chunk: Chunk, model: Topics, seed: int, chains: ShortChains) -> tuple[Array, ...]:
    """Posterior topics of each cell, that is, of each distinct word of a document.

    Returns
    -------
    tuple of ndarray
        Number of cells of each document; word, count, most probable topic and number of topics of each cell; these
        topics, and the share of the tokens of the cell that each had over the sweeps.
    """
    n_topics, n_samples = len(model.alpha), chains.n_chains * chains.n_samples
    best, sizes, columns, shares = [], [], [], []
    for block in _blocks(chunk, n_topics):
        tokens = Tokens.by_content(block)
        table = np.zeros((len(block.indices), n_topics), dtype=np.int32)
        for topics in samples(tokens, model, seed, chains):
            threads.run(gibbs_counts.add_by_cell, tokens.cell_first, tokens.cell_first, topics, table)
        cells, found = np.nonzero(table)
        best.append(table.argmax(axis=1).astype(np.int32))
        sizes.append(np.count_nonzero(table, axis=1))
        columns.append(found.astype(np.int32))
        shares.append(table[cells, found] / (block.values[cells] * float(n_samples)))
    parts = (np.concatenate(part) for part in (best, sizes, columns, shares))
    return np.diff(chunk.indptr), chunk.indices, chunk.values, *parts


def _blocks(chunk: Chunk, n_topics: int) -> Iterator[Chunk]:
    """Yield the documents in blocks, so that tables of cells x topics stay small."""
    starts, start = chunk.indptr * np.int64(n_topics), 0
    while start < chunk.n_documents:
        stop = max(start + 1, int(np.searchsorted(starts, starts[start] + _TABLE, side="right")) - 1)
        yield Chunk(chunk.counts[start:stop])
        start = stop


def samples(tokens: Tokens, model: Topics, seed: int, chains: ShortChains) -> Iterator[Array]:
    """Yield the topics of the tokens after each sweep that is used."""
    for chain in range(chains.n_chains):
        # Chains differ in their seed; within a chain, sweeps are numbered.
        state = model.begin(tokens, seed + chain)
        for number in range(chains.burn_in + chains.n_samples):
            state = model.move_blocks(model.sweep(state, seed + chain, number), seed + chain, number)
            if number >= chains.burn_in:
                yield state.topics


def pseudo_documents(model: Topics, seed: int, numbers: range) -> Array:
    """Log word probabilities of the pseudo-documents of these numbers: W x ``len(numbers)``."""
    theta = np.empty((len(numbers), len(model.alpha)))
    gibbs_pseudo.mixtures(model.alpha, seed, numbers.start, theta, 0, len(theta))
    return model.pseudo_documents(theta, seed, numbers.start)


def empirical_likelihood(chunk: Chunk, model: Topics, seed: int, n_pseudo: int) -> tuple[Array, Array]:
    """Log of the mean likelihood of each document under the pseudo-documents, and its standard error."""
    counts, n_documents = chunk.counts, chunk.n_documents
    log_sum, log_squares = np.full(n_documents, -np.inf), np.full(n_documents, -np.inf)
    for begin in range(0, n_pseudo, _BLOCK):
        block = counts @ pseudo_documents(model, seed, range(begin, min(n_pseudo, begin + _BLOCK)))
        log_sum = np.logaddexp(log_sum, logsumexp(block, axis=1))
        log_squares = np.logaddexp(log_squares, logsumexp(2.0 * block, axis=1))
    # Relative variance of the mean, which is the variance of its logarithm to first order.
    ratio = np.exp(log_squares - 2.0 * log_sum)
    return log_sum - np.log(n_pseudo), np.sqrt(np.maximum(ratio - 1.0 / n_pseudo, 0.0))
