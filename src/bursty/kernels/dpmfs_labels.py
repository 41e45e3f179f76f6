"""Components of the documents: Metropolis steps of [Yu2010], and Gibbs steps with the parameters integrated out.

Documents consist of cells of chosen words only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform
from bursty.kernels.variates import log_dirichlet
from bursty.typing import Array

# Number of factors multiplied before taking a logarithm; few enough that the product neither overflows nor vanishes.
_FACTORS = 8


class UnitArrays(NamedTuple):
    """Cells of ``slots`` (index of the chosen word) and ``tables`` (its t). Labels that are ``held`` do not change.

    A row may stand for several documents that move as one: ``mass`` is their number. Row i shares no cluster with the
    rows ``apart[apart_indptr[i]:apart_indptr[i + 1]]``.
    """

    indptr: Array
    slots: Array
    tables: Array
    mass: Array
    held: Array
    apart_indptr: Array
    apart: Array


class LabelPrior(NamedTuple):
    """Of partitions: alpha, alpha / N (0 without a bound) and the bound; of components: lambda and its sum."""

    alpha: float
    share: float
    most: int
    lam: Array
    lam_total: float


@kernel
def tally_component(indptr, slots, tables, labels, words_first, table):
    """Add the t of every document to its component: components x slots, or its transpose if ``words_first``.

    Equivalent to ``np.add.at(table, (labels[rows], slots), tables)``.
    """
    for document in range(len(labels)):
        k = labels[document]
        for cell in range(indptr[document], indptr[document + 1]):
            if words_first:
                table[slots[cell], k] += tables[cell]
            else:
                table[k, slots[cell]] += tables[cell]


@kernel
def log_prob(document, documents, log_eta):
    """``sum_j t_j log eta_j`` of one document."""
    total = 0.0
    for cell in range(documents.indptr[document], documents.indptr[document + 1]):
        total += documents.tables[cell] * log_eta[documents.slots[cell]]
    return total


@kernel
def metropolis(documents, prior, labels, n_steps, log_eta, drawn, seed, sweep, names):
    """Move each document ``n_steps`` times ([Yu2010] eqs. 14 and 15); returns the number of accepted moves.

    A candidate is the label of another document, or (with weight alpha) any of the N components.
    Parameters of an empty component (``drawn`` is 0) are drawn from its own stream when it is proposed.
    """
    n_documents, n_components, accepted = len(labels), len(drawn), 0
    alpha = prior.share * n_components
    for document in range(n_documents):
        if documents.held[document]:
            continue
        key, step = stream(seed, sweep, document)
        current = log_prob(document, documents, log_eta[labels[document]])
        for i in range(n_steps):
            u = uniform(np.uint64(key), np.uint64(step), 2 * i) * (n_documents - 1 + alpha)
            if u < n_documents - 1:
                other = int(u)
                candidate = labels[other + (other >= document)]
            else:
                candidate = min(int((u - (n_documents - 1)) / prior.share), n_components - 1)
            if candidate == labels[document]:
                continue
            if not drawn[candidate]:
                log_eta[candidate, :] = prior.lam
                log_dirichlet(log_eta[candidate], seed, sweep, names + candidate)
                drawn[candidate] = 1
            new = log_prob(document, documents, log_eta[candidate])
            if new >= current or uniform(np.uint64(key), np.uint64(step), 2 * i + 1) < math.exp(new - current):
                labels[document] = candidate
                current = new
                accepted += 1
    return accepted


@kernel
def log_predictive(document, documents, weights, totals, n_used, product, out):
    """Log-probability of a document given the documents of each component, for the first ``n_used`` components.

    ``weights`` (slots x components) are the t of each component plus lambda, ``totals`` their sums. Equivalent to
    ``gammaln(weights + t) - gammaln(weights)`` summed over words, less the same of ``totals``.
    """
    length, pending = 0.0, 0
    for k in range(n_used):
        out[k] = 0.0
        product[k] = 1.0
    for cell in range(documents.indptr[document], documents.indptr[document + 1]):
        row, t = weights[documents.slots[cell]], documents.tables[cell]
        length += t
        for repeat in range(t):
            for k in range(n_used):
                product[k] *= row[k] + repeat
            pending += 1
            if pending == _FACTORS:
                pending = 0
                for k in range(n_used):
                    out[k] += math.log(product[k])
                    product[k] = 1.0
    if length > 0:
        for k in range(n_used):
            out[k] += math.log(product[k]) + math.lgamma(totals[k]) - math.lgamma(totals[k] + length)


@kernel
def move(document, documents, sign, k, weights, totals):
    """Add a document to a component (``sign`` 1) or remove it (-1)."""
    for cell in range(documents.indptr[document], documents.indptr[document + 1]):
        weights[documents.slots[cell], k] += sign * documents.tables[cell]
        totals[k] += sign * documents.tables[cell]


@kernel
def pick(log_weights, n, u):
    """Draw one of n numbers in proportion to the exponentials of the weights, which are overwritten."""
    largest = -np.inf
    for k in range(n):
        largest = max(largest, log_weights[k])
    total = 0.0
    for k in range(n):
        log_weights[k] = math.exp(log_weights[k] - largest)
        total += log_weights[k]
    u *= total
    for k in range(n):
        u -= log_weights[k]
        if u < 0.0:
            return k
    # If rounding leaves a little of u, take the last one with any weight.
    for k in range(n - 1, -1, -1):
        if log_weights[k] > 0.0:
            return k
    return 0


@kernel
def log_rising(first, n):
    """``log(first (first + 1) ... (first + n - 1))``: the weight of n documents that join one after the other."""
    total = 0.0
    for i in range(n):
        total += math.log(first + i)
    return total


@kernel
def gibbs(start, documents, prior, labels, sizes, weights, totals, seed, sweep, scratch):
    """Draw the component of each document from ``start`` on, given all others; returns (where it stopped, moves).

    An empty component has the lowest free number, where ``weights`` holds lambda. The kernel stops before a document
    if no column is left for a new component; the caller makes room and continues. ``scratch`` has two rows of columns.
    """
    product, scores = scratch[0], scratch[1]
    n_columns, n_moved, n_occupied, n_used = len(sizes), 0, 0, 0
    for k in range(n_columns):
        if sizes[k] > 0:
            n_occupied += 1
            n_used = k + 1
    for document in range(start, len(labels)):
        if documents.held[document]:
            continue
        free = 0
        while free < n_columns and sizes[free] > 0:
            free += 1
        if free == n_columns:
            return document, n_moved
        old = labels[document]
        mass = documents.mass[document]
        move(document, documents, -1, old, weights, totals)
        sizes[old] -= mass
        if sizes[old] == 0:
            n_occupied -= 1
            free = min(free, old)
            for j in range(len(prior.lam)):
                weights[j, old] = prior.lam[j]
            totals[old] = prior.lam_total
        n_used = max(n_used, free + 1)
        log_predictive(document, documents, weights, totals, n_used, product, scores)
        for k in range(n_used):
            if sizes[k] > 0:
                scores[k] += log_rising(sizes[k] + prior.share, mass)
            elif k == free and n_occupied < prior.most:
                scores[k] += math.log(prior.alpha - n_occupied * prior.share) + log_rising(1 + prior.share, mass - 1)
            else:
                scores[k] = -np.inf
        for i in range(documents.apart_indptr[document], documents.apart_indptr[document + 1]):
            scores[labels[documents.apart[i]]] = -np.inf
        key, step = stream(seed, sweep, document)
        new = pick(scores, n_used, uniform(np.uint64(key), np.uint64(step), 0))
        n_occupied += sizes[new] == 0
        sizes[new] += mass
        labels[document] = new
        move(document, documents, 1, new, weights, totals)
        n_moved += new != old
    return len(labels), n_moved


@kernel
def reseat(scores, documents, prior, labels, sizes, seed, sweep, names):
    """Draw the component of each row among the occupied ones, given their parameters; returns the number of moves.

    ``scores`` (rows x components) are log-probabilities of the rows. A row that is alone in its component stays: the
    components that are occupied are given, as their parameters are.
    """
    n_moved, n_components = 0, len(sizes)
    weights = np.empty(n_components)
    for row in range(len(labels)):
        old, mass = labels[row], documents.mass[row]
        if documents.held[row] or sizes[old] == mass:
            continue
        sizes[old] -= mass
        for k in range(n_components):
            weights[k] = -np.inf
            if sizes[k] > 0:
                weights[k] = scores[row, k] + log_rising(sizes[k] + prior.share, mass)
        for i in range(documents.apart_indptr[row], documents.apart_indptr[row + 1]):
            weights[labels[documents.apart[i]]] = -np.inf
        key, step = stream(seed, sweep, names + row)
        new = pick(weights, n_components, uniform(np.uint64(key), np.uint64(step), 0))
        sizes[new] += mass
        labels[row] = new
        n_moved += new != old
    return n_moved
