"""Splitting a cluster in two and merging two into one, in one step (Jain and Neal 2004).

Two documents, the anchors, are drawn. If they share a cluster, splitting it is proposed, otherwise merging the two. The
other documents are divided between the anchors: one by one in random order, then by restricted Gibbs scans, the last of
which enters the Metropolis-Hastings ratio with its probability. What precedes the last scan does not depend on the
current division, so that a split and the merge that undoes it have the same proposal.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels.compile import kernel
from bursty.kernels.random import stream, uniform


@kernel
def put(first, last, slots, tables, sign, weights, total):
    """Add a document to a side, or take it away; returns the side's new total."""
    for cell in range(first, last):
        weights[slots[cell]] += sign * tables[cell]
        total += sign * tables[cell]
    return total


@kernel
def side_odds(first, last, slots, tables, weights, totals):
    """Log-probability of a document given the documents of side 0, minus that given those of side 1."""
    odds, length = 0.0, 0.0
    for cell in range(first, last):
        a, b = weights[0, slots[cell]], weights[1, slots[cell]]
        length += tables[cell]
        for repeat in range(tables[cell]):
            odds += math.log((a + repeat) / (b + repeat))
    if length > 0:
        odds += math.lgamma(totals[0]) - math.lgamma(totals[0] + length)
        odds -= math.lgamma(totals[1]) - math.lgamma(totals[1] + length)
    return odds


@kernel
def log_marginal(weights, lam, total, lam_total):
    """Log-probability of all documents of a side, from their sums plus lambda."""
    value = 0.0
    for j in range(len(lam)):
        if weights[j] != lam[j]:
            value += math.lgamma(weights[j]) - math.lgamma(lam[j])
    if len(lam) > 0:
        value += math.lgamma(lam_total) - math.lgamma(total)
    return value


@kernel
def log_sigmoid(x):
    """``-log(1 + exp(-x))``."""
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


@kernel
def scan(members, sides, goal, launch, share, indptr, slots, tables, weights, totals, sizes, key, step, draw):
    """Assign each member to a side given the others; returns the log-probability and the number of the next draw.

    ``launch``: members have no side yet. ``goal``: the final sides, if only their probability is needed, or an empty
    array to draw them.
    """
    log_q = 0.0
    for m in range(len(members)):
        first, last = indptr[members[m]], indptr[members[m] + 1]
        if not launch:
            old = sides[m]
            totals[old] = put(first, last, slots, tables, -1, weights[old], totals[old])
            sizes[old] -= 1
        odds = side_odds(first, last, slots, tables, weights, totals)
        odds += math.log((sizes[0] + share) / (sizes[1] + share))
        if len(goal) > 0:
            new = goal[m]
        else:
            new = int(math.log(1.0 - uniform(np.uint64(key), np.uint64(step), draw)) >= log_sigmoid(odds))
            draw += 1
        log_q += log_sigmoid(odds if new == 0 else -odds)
        sides[m] = new
        totals[new] = put(first, last, slots, tables, 1, weights[new], totals[new])
        sizes[new] += 1
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
def shuffle(members, n, key, step, draw):
    """Shuffle the first n; returns the number of the next draw."""
    for i in range(n - 1, 0, -1):
        j = int(uniform(np.uint64(key), np.uint64(step), draw) * (i + 1))
        draw += 1
        members[i], members[j] = members[j], members[i]
    return draw


@kernel
def log_ratio(weights, totals, lam, lam_total, sizes, n_clusters, alpha, share):
    """Log joint probability of the two sides apart, minus that when merged into one of ``n_clusters`` clusters."""
    apart = log_marginal(weights[0], lam, totals[0], lam_total) + log_marginal(weights[1], lam, totals[1], lam_total)
    together = weights[0] + weights[1] - lam
    ratio = apart - log_marginal(together, lam, totals[0] + totals[1] - lam_total, lam_total)
    ratio += math.lgamma(sizes[0] + share) + math.lgamma(sizes[1] + share) - math.lgamma(1.0 + share)
    return ratio - math.lgamma(sizes[0] + sizes[1] + share) + math.log(alpha - n_clusters * share)


@kernel
def split_or_merge(
    indptr, slots, tables, held, labels, sizes, most, alpha, share, lam, lam_total, n_scans, seed, sweep, name, members
):
    """Propose one split or merge; returns 1 if it was accepted. ``sizes`` has room for one more cluster."""
    key, step = stream(seed, sweep, name)
    key, step = np.uint64(key), np.uint64(step)
    n_documents = len(labels)
    anchor = int(uniform(np.uint64(key), np.uint64(step), 0) * n_documents)
    other = int(uniform(np.uint64(key), np.uint64(step), 1) * (n_documents - 1))
    other += other >= anchor
    apart = labels[anchor] != labels[other]
    n_clusters = np.sum(sizes > 0) - apart
    n = gather_members(labels, held, anchor, other, members)
    if n < 0 or n_clusters >= most:
        return 0
    draw = shuffle(members, n, key, step, 2)
    weights, totals, side_sizes = np.empty((2, len(lam))), np.full(2, lam_total), np.ones(2)
    weights[0], weights[1] = lam, lam
    totals[0] = put(indptr[anchor], indptr[anchor + 1], slots, tables, 1, weights[0], totals[0])
    totals[1] = put(indptr[other], indptr[other + 1], slots, tables, 1, weights[1], totals[1])
    sides, goal = np.zeros(n, dtype=np.int64), np.zeros(n if apart else 0, dtype=np.int64)
    for m in range(len(goal)):
        goal[m] = int(labels[members[m]] == labels[other])
    free, log_q = goal[:0], 0.0
    for i in range(n_scans + 1):
        aim = goal if i == n_scans else free
        log_q, draw = scan(
            members[:n], sides, aim, i == 0, share, indptr, slots, tables, weights, totals, side_sizes, key, step, draw
        )
    ratio = log_ratio(weights, totals, lam, lam_total, side_sizes, n_clusters, alpha, share) - log_q
    u = math.log(1.0 - uniform(np.uint64(key), np.uint64(step), draw))
    if u >= (-ratio if apart else ratio):
        return 0
    target = labels[anchor]
    if not apart:
        target = 0
        while sizes[target] > 0:
            target += 1
    source = labels[other]
    sizes[source] -= side_sizes[1]
    sizes[target] += side_sizes[1]
    labels[other] = target
    for m in range(n):
        if sides[m] == 1:
            labels[members[m]] = target
    return 1
