"""One partition from many draws, and the components of that partition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from bursty.engines import Chunk
from bursty.families.dcm import DCMFamily, DCMParameters
from bursty.kernels import dpmfs_labels, select
from bursty.metrics import best_partition, posterior_similarity
from bursty.models.dpmfs.chains import Chain, most_frequent
from bursty.samplers.dpmfs import DPMFSData
from bursty.samplers.dpmfs_units import LinkedDocuments
from bursty.storage.schema import floats, integers, storable
from bursty.typing import Array

#: Chains are compared in this number of draws of each, and of documents.
COMPARED_DRAWS, COMPARED_DOCUMENTS = 100, 1_000


@storable(
    "DPMFSComponents",
    prior=floats("K", above=0, sums=0),
    weights=floats("slots", "K", above=0),
    slot=integers("n_words", low=-1, high="slots"),
)
@dataclass(frozen=True)
class Components:
    """Components for prediction: an urn per cluster (words x clusters), and the prior probability of each cluster.

    ``slot`` is the row of each column of X in ``weights``, -1 for words that are not discriminative.
    """

    slot: Array
    weights: Array
    prior: Array

    def merged(self, into: Array, bursty: bool) -> Components:
        """Merge cluster k into cluster ``into[k]``: urns of counts are added, urns that sum to s are averaged."""
        prior = np.bincount(into, weights=self.prior)
        weights = np.zeros((len(self.weights), len(prior)))
        for k, cluster in enumerate(into):
            weights[:, cluster] += self.weights[:, k] * (self.prior[k] / prior[cluster] if bursty else 1.0)
        return replace(self, weights=weights, prior=prior)


def partition(chains: list[Chain], rule: str, known: Array | None) -> Array:
    """Labels from 0, classes first, then the largest cluster first.

    The paper's rule uses only the chain with the largest joint probability, because the labels of different chains do
    not correspond.
    """
    if rule == "frequent":
        best = max(chains, key=lambda chain: chain.score)
        labels = most_frequent(best.samples)
    else:
        labels = best_partition(np.concatenate([np.stack(chain.samples) for chain in chains]), rule)
    return rename(labels, known)


def chain_overlap(chains: list[Chain]) -> Array:
    """For each two chains: of the pairs of documents that either puts into one cluster, the share for which both do.

    A pair counts by the share of the draws in which it is together: the sum of the smaller of the two chains' shares
    over that of the larger. At most `COMPARED_DRAWS` draws and `COMPARED_DOCUMENTS` documents are used, evenly spaced.
    """
    overlap, together = np.ones((len(chains), len(chains))), []
    for chain in chains if len(chains) > 1 else []:
        draws = np.stack(chain.samples)
        draws = draws[evenly(len(draws), COMPARED_DRAWS)][:, evenly(draws.shape[1], COMPARED_DOCUMENTS)]
        together.append(posterior_similarity(draws)[np.triu_indices(draws.shape[1], 1)])
    for i, j in combinations(range(len(chains)), 2):
        either = np.maximum(together[i], together[j]).sum()
        if either > 0:
            overlap[i, j] = overlap[j, i] = np.minimum(together[i], together[j]).sum() / either
    return overlap


def evenly(n: int, most: int) -> Array:
    """At most this number of the first n integers."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)


def log_bayes_factor(chains: list[Chain], omega: float, *, odds_are_known: bool) -> Array:
    """Logarithm of the posterior odds that a word is selected, divided by the prior odds.

    If the odds of every draw are known, the posterior is the mean of their probabilities, which also ranks words that
    were always selected. Otherwise half a sweep is added on either side, so that the odds of such words are finite.
    """
    windows = [chain.window for chain in chains]
    if not all(window.n_sweeps for window in windows):
        return np.zeros(chains[0].problem.n_words)
    least = 1e-300 if odds_are_known else 0.5
    inside, outside = sum(window.inside for window in windows), sum(window.outside for window in windows)
    odds = np.log(inside + least) - np.log(outside + least)
    return np.asarray(odds - (math.log(omega) - math.log1p(-omega)))


def rename(labels: Array, known: Array | None) -> Array:
    """Renumber: cluster c has the documents of the known class c; the others follow by size."""
    names, codes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(codes)
    order = np.argsort(-sizes, kind="stable")
    if known is not None:
        classes = [codes[np.flatnonzero(known == c)[0]] for c in range(int(known.max()) + 1)]
        order = np.array(classes + [k for k in order if k not in classes])
    new = np.empty(len(names), dtype=np.int64)
    new[order] = np.arange(len(names))
    return new[codes]


def make_components(
    problem: DPMFSData, tables: Array, burst: float, lam: Array, share: float,
    labels: Array, discriminative: Array, columns: Array, n_columns: int,
) -> Components:  # fmt: skip
    """The urns of a partition.

    With multinomial components, the urn of a cluster holds the counts of its documents plus lambda; with DCM components
    it has the same proportions and sums to s. ``columns`` are the columns of X of the words of the problem.
    """
    words = np.flatnonzero(discriminative)
    slot = np.full(n_columns, -1, dtype=np.int32)
    slot[columns[words]] = np.arange(len(words), dtype=np.int32)
    weights = np.repeat(lam[words][:, None], int(labels.max()) + 1, axis=1)
    indptr, slots, values = _cells(problem.indptr, columns[problem.words], tables, slot)
    dpmfs_labels.tally_component(indptr, slots, values, labels, True, weights)
    if problem.bursty and len(words):
        weights *= burst / weights.sum(axis=0)
    sizes = np.bincount(labels) + share
    return Components(slot, weights, sizes / sizes.sum())


def _cells(indptr: Array, words: Array, values: Array, slot: Array) -> tuple[Array, Array, Array]:
    """The cells of discriminative words."""
    known = (slot >= 0).astype(np.uint8)
    new_indptr, new_words = np.empty(len(indptr), dtype=np.int64), np.empty(len(words) + 1, dtype=np.int32)
    new_values = np.empty(len(words) + 1, dtype=np.int32)
    kept = select.keep_known(indptr, words, values, known, new_indptr, new_words, new_values)
    return new_indptr, slot[new_words[:kept]], new_values[:kept]


def log_prob(chunk: Chunk, components: Components) -> Array:
    """Log-probability of the discriminative tokens of each document, as one sequence: documents x clusters.

    A multinomial whose probabilities are integrated out is a DCM, too.
    """
    if not len(components.weights):
        return np.zeros((chunk.n_documents, len(components.prior)))
    indptr, slots, values = _cells(chunk.indptr, chunk.indices, chunk.values, components.slot)
    counting = Chunk.from_parts(indptr.astype(np.int32), slots, values, n_words=len(components.weights))
    return DCMFamily().log_prob(counting, DCMParameters(components.weights))


def posterior(chunk: Chunk, components: Components) -> Array:
    """Probability of each cluster for each document."""
    return share_out(log_prob(chunk, components), components.prior)


def share_out(log_prob: Array, prior: Array) -> Array:
    """Bayes' rule."""
    scores = log_prob + np.log(prior)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def dissolve_small(labels: Array, least: int, scores: Array, known: Array | None, units: LinkedDocuments) -> Array:
    """Move the documents of small clusters to the most probable of the others; clusters of classes stay.

    If every cluster is small, the largest stays. Documents that must share a cluster move together, and stay where they
    are if the constraints rule out all other clusters.
    """
    sizes = np.bincount(labels)
    stays = sizes >= least
    if known is not None:
        stays[: int(known.max()) + 1] = True
    stays[int(np.argmax(sizes))] = True
    rows = np.arange(len(labels)) if units.number is None else units.number
    summed = np.zeros((len(units.mass), len(sizes)))
    np.add.at(summed, rows, scores)
    moved = units.labels(labels)
    for unit in np.flatnonzero(~stays[moved]):
        others = moved[units.apart[units.apart_indptr[unit] : units.apart_indptr[unit + 1]]]
        open_to = stays.copy()
        open_to[others] = False
        if open_to.any():
            moved[unit] = np.where(open_to, summed[unit], -np.inf).argmax()
    return rename(units.expand(moved), known)
