"""Document completion: how probable is one part of a document, given the other?

The observed part gets topics from short Gibbs chains (`heldout.ShortChains`), given the fitted topics. Each
sample of them gives a distribution of the document's next word (`kernels.gibbs_predict`); their arithmetic mean over
all samples of all chains is p(w | d). Held tokens are scored independently of each other, given the observed ones.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.inference.heldout import ShortChains, samples
from bursty.kernels import gibbs_predict, threads
from bursty.samplers.tokens import HeldWords, State, Tokens, Topics
from bursty.typing import Array


def log_predictive(
    chunk: Chunk, held: sp.csr_array | None, model: Topics, seed: int, chains: ShortChains
) -> tuple[Array, Array]:
    """Log-probability of the held tokens of each document given the observed ones, and the number of them.

    The chunk has the observed tokens, or all tokens if ``held`` is None; then half of each document is held out.
    """
    observed, held = halves(chunk, seed) if held is None else (chunk, held)
    tokens, cells = Tokens.by_content(observed), HeldWords(held.indptr.astype(np.int64), held.indices)
    probabilities = np.zeros(len(cells.words))
    for topics in samples(tokens, model, seed, chains):
        model.add_predictive(State(tokens, topics), cells, probabilities)
    scores = np.log(probabilities / (chains.n_chains * chains.n_samples)) * held.data
    return _by_row(scores, held), _by_row(held.data.astype(np.float64), held)


def halves(chunk: Chunk, seed: int) -> tuple[Chunk, sp.csr_array]:
    """Split the tokens of each document at random, by its own stream, into two halves: observed and held."""
    tokens, chosen = Tokens.by_content(chunk), np.empty_like(chunk.values)
    threads.run(gibbs_predict.hold_out, tokens.first, tokens.documents, seed, chosen)
    return Chunk(_with(chunk.counts, chunk.values - chosen)), _with(chunk.counts, chosen)


def _with(counts: sp.csr_array, values: Array) -> sp.csr_array:
    """The same cells with other counts, without those that are zero."""
    result = sp.csr_array((values, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
    result.eliminate_zeros()
    return result


def _by_row(values: Array, held: sp.csr_array) -> Array:
    """Sums of the values of each row's cells."""
    return np.asarray(sp.csr_array((values, held.indices, held.indptr), shape=held.shape).sum(axis=1)).ravel()
