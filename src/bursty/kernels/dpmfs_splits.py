"""Splitting a cluster in two and merging two into one, in one step (Jain and Neal 2004).

Two documents, the anchors, are drawn. If they share a cluster, splitting it is proposed, otherwise merging the two. The
other documents are divided between the anchors: one by one in random order, then by restricted Gibbs scans, the last of
which enters the Metropolis-Hastings ratio with its probability. What precedes the last scan does not depend on the
current division, so that a split and the merge that undoes it have the same proposal.

Rows that must not share a cluster are in different clusters, and stay apart: a split cannot join them, and a merge that
would join them is rejected.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform
from bursty.typing import Array


class Sides(NamedTuple):
    """The two sides: t plus lambda of each word, their sums, and numbers of documents."""

    weights: Array
    totals: Array
    sizes: Array


@kernel
def put(document, documents, sign, side, sides):
    """Add a document to a side (``sign`` 1), or take it away (-1)."""
    for cell in range(documents.indptr[document], documents.indptr[document + 1]):
        sides.weights[side, documents.slots[cell]] += sign * documents.tables[cell]
        sides.totals[side] += sign * documents.tables[cell]


@kernel
def side_odds(document, documents, sides):
    """Log-probability of a document given the documents of side 0, minus that given those of side 1."""
    odds, length, weights, totals = 0.0, 0.0, sides.weights, sides.totals
    for cell in range(documents.indptr[document], documents.indptr[document + 1]):
        a, b = weights[0, documents.slots[cell]], weights[1, documents.slots[cell]]
        length += documents.tables[cell]
        for repeat in range(documents.tables[cell]):
            odds += math.log((a + repeat) / (b + repeat))
    if length > 0:
        odds += math.lgamma(totals[0]) - math.lgamma(totals[0] + length)
        odds -= math.lgamma(totals[1]) - math.lgamma(totals[1] + length)
    return odds


@kernel
def log_marginal(weights, total, prior):
    """Log-probability of all documents of a side, from their sums plus lambda."""
    value, lam = 0.0, prior.lam
    for j in range(len(lam)):
        if weights[j] != lam[j]:
            value += math.lgamma(weights[j]) - math.lgamma(lam[j])
    if len(lam) > 0:
        value += math.lgamma(prior.lam_total) - math.lgamma(total)
    return value


@kernel
def log_sigmoid(x):
    """``-log(1 + exp(-x))``."""
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


@kernel
def scan(members, place, goal, launch, documents, prior, sides, key, step, draw):
    """Assign each member to a side given the others; returns the log-probability and the number of the next draw.

    ``place`` has the side of each member; ``launch``: members have none yet. ``goal``: the final sides, if only their
    probability is needed, or an empty array to draw them.
    """
    log_q, sizes = 0.0, sides.sizes
    for m in range(len(members)):
        mass = documents.mass[members[m]]
        if not launch:
            put(members[m], documents, -1, place[m], sides)
            sizes[place[m]] -= mass
        odds = side_odds(members[m], documents, sides)
        for i in range(mass):
            odds += math.log((sizes[0] + prior.share + i) / (sizes[1] + prior.share + i))
        if len(goal) > 0:
            new = goal[m]
        else:
            new = int(math.log(1.0 - uniform(np.uint64(key), np.uint64(step), draw)) >= log_sigmoid(odds))
            draw += 1
        log_q += log_sigmoid(odds if new == 0 else -odds)
        place[m] = new
        put(members[m], documents, 1, new, sides)
        sizes[new] += mass
    return log_q, draw


@kernel
def gather_members(labels, held, first_anchor, second_anchor, members):
    """The other documents in the clusters of the anchors; returns their number, or -1 if any document is held."""
    n = 0
    for document in range(len(labels)):
        if labels[document] == labels[first_anchor] or labels[document] == labels[second_anchor]:
            if held[document]:
                return -1
            if document not in (first_anchor, second_anchor):
                members[n] = document
                n += 1
    return n


@kernel
def may_merge(documents, labels, first, second):
    """Whether no row of one cluster must be kept apart from one of the other."""
    for document in range(len(labels)):
        if labels[document] == first:
            for i in range(documents.apart_indptr[document], documents.apart_indptr[document + 1]):
                if labels[documents.apart[i]] == second:
                    return False
    return True


@kernel
def shuffle(members, n, key, step, draw):
    """Shuffle the first n; returns the number of the next draw."""
    for i in range(n - 1, 0, -1):
        j = int(uniform(np.uint64(key), np.uint64(step), draw) * (i + 1))
        draw += 1
        members[i], members[j] = members[j], members[i]
    return draw


@kernel
def log_ratio(sides, prior, n_clusters):
    """Log joint probability of the two sides apart, minus that when merged into one of ``n_clusters`` clusters."""
    weights, totals, sizes, share = sides.weights, sides.totals, sides.sizes, prior.share
    apart = log_marginal(weights[0], totals[0], prior) + log_marginal(weights[1], totals[1], prior)
    together = weights[0] + weights[1] - prior.lam
    ratio = apart - log_marginal(together, totals[0] + totals[1] - prior.lam_total, prior)
    ratio += math.lgamma(sizes[0] + share) + math.lgamma(sizes[1] + share) - math.lgamma(1.0 + share)
    return ratio - math.lgamma(sizes[0] + sizes[1] + share) + math.log(prior.alpha - n_clusters * share)


@kernel
def split_or_merge(documents, prior, labels, sizes, n_scans, seed, sweep, name, members):
    """Propose one split or merge; returns 1 if it was accepted. ``sizes`` has room for one more cluster."""
    key, step = stream(seed, sweep, name)
    key, step = np.uint64(key), np.uint64(step)
    n_documents = len(labels)
    anchor = int(uniform(np.uint64(key), np.uint64(step), 0) * n_documents)
    other = int(uniform(np.uint64(key), np.uint64(step), 1) * (n_documents - 1))
    other += other >= anchor
    apart = labels[anchor] != labels[other]
    n_clusters = np.sum(sizes > 0) - apart
    n = gather_members(labels, documents.held, anchor, other, members)
    if n < 0 or n_clusters >= prior.most:
        return 0
    if apart and not may_merge(documents, labels, labels[anchor], labels[other]):
        return 0
    draw = shuffle(members, n, key, step, 2)
    sides = Sides(np.empty((2, len(prior.lam))), np.full(2, prior.lam_total), np.empty(2))
    sides.sizes[0], sides.sizes[1] = documents.mass[anchor], documents.mass[other]
    sides.weights[0], sides.weights[1] = prior.lam, prior.lam
    put(anchor, documents, 1, 0, sides)
    put(other, documents, 1, 1, sides)
    place, goal = np.zeros(n, dtype=np.int64), np.zeros(n if apart else 0, dtype=np.int64)
    for m in range(len(goal)):
        goal[m] = int(labels[members[m]] == labels[other])
    free, log_q = goal[:0], 0.0
    for i in range(n_scans + 1):
        aim = goal if i == n_scans else free
        log_q, draw = scan(members[:n], place, aim, i == 0, documents, prior, sides, key, step, draw)
    ratio = log_ratio(sides, prior, n_clusters) - log_q
    u = math.log(1.0 - uniform(np.uint64(key), np.uint64(step), draw))
    if u >= (-ratio if apart else ratio):
        return 0
    target = labels[anchor]
    if not apart:
        target = 0
        while sizes[target] > 0:
            target += 1
    source = labels[other]
    sizes[source] -= sides.sizes[1]
    sizes[target] += sides.sizes[1]
    labels[other] = target
    for m in range(n):
        if place[m] == 1:
            labels[members[m]] = target
    return 1
