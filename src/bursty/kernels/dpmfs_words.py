"""Discriminative words: the change of the joint probability when a word changes sides.

[Yu2010] eq. 11 is kept as running sums: a flip costs time proportional to the number of documents that have the word
and of occupied components.

| symbol | name |
|---|---|
| x, t | ``Cells.counts`` and ``Cells.tables``: tokens, and fresh tokens |
| n_i1, n_i2 | ``Lengths.inside``, ``Lengths.outside``: number of tokens of each document on the two sides |
| g_1, g_0 | ``Lengths.inside_term``, ``Lengths.outside_term``: log factors of n_i1 and n_i2, by length |
| n_k | ``ClusterSums.totals``: t of each component over the chosen words |
| Lambda_1, Lambda_0 | ``sums[0]``, ``sums[1]``: sum of lambda over the chosen words, and over the others |
| t_0 | ``sums[2]``: sum of t over the words that are not chosen |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bursty.kernels.compile import kernel
from bursty.typing import Array


class Cells(NamedTuple):
    """The documents word by word: cells of ``documents``, x and t, and the sum of t over each word."""

    indptr: Array
    documents: Array
    counts: Array
    tables: Array
    totals: Array


class WordPrior(NamedTuple):
    """lambda of each word; log-odds that a word is chosen; log s_1 / s_0, per fresh token."""

    lam: Array
    log_odds: float
    fresh_odds: float


class Lengths(NamedTuple):
    """Tokens of each document on both sides, which flips keep up to date, and what each number of tokens counts for."""

    inside: Array
    outside: Array
    inside_term: Array
    outside_term: Array


class ClusterSums(NamedTuple):
    """Labels and sizes; ``totals`` are kept up to date by flips; ``tally`` is scratch, zero before and after."""

    labels: Array
    sizes: Array
    totals: Array
    tally: Array


@kernel
def log_share(weight, total, n_words):
    """``log Gamma(weight) - log Gamma(weight + total)``; 0 if there are no words."""
    if n_words == 0:
        return 0.0
    return math.lgamma(weight) - math.lgamma(weight + total)


@kernel
def tally_word(word, cells, labels, out):
    """Add the t of a word to the component of each document that has it."""
    for cell in range(cells.indptr[word], cells.indptr[word + 1]):
        out[labels[cells.documents[cell]]] += cells.tables[cell]


@kernel
def length_gain(word, cells, lengths, on):
    """Gain of choosing the word from the lengths of the documents (the factors T_i); ``on``: it is chosen now."""
    gain = 0.0
    inside_term, outside_term = lengths.inside_term, lengths.outside_term
    for cell in range(cells.indptr[word], cells.indptr[word + 1]):
        document, x = cells.documents[cell], cells.counts[cell]
        n_in = lengths.inside[document] - on * x
        n_out = lengths.outside[document] + on * x
        gain += inside_term[n_in + x] - inside_term[n_in] + outside_term[n_out - x] - outside_term[n_out]
    return gain


@kernel
def component_gain(clusters, lam, weight, n_inside, on):
    """Gain of choosing the word from the occupied components (the factors Q and R_k)."""
    gain, log_lam, tally = 0.0, math.lgamma(lam), clusters.tally
    for k in range(len(clusters.sizes)):
        if clusters.sizes[k] > 0:
            rest = clusters.totals[k] - on * tally[k]
            gain += log_share(weight + lam, rest + tally[k], n_inside + 1) - log_share(weight, rest, n_inside)
            if tally[k] > 0:
                gain += math.lgamma(tally[k] + lam) - log_lam
    return gain


@kernel
def flip(words, draws, gibbs, cells, prior, lengths, clusters, chosen, sums, log_odds):
    """Flip the indicators of some words one after the other; returns the number of changes.

    With ``gibbs`` each is drawn from its conditional, whose log-odds are kept in ``log_odds``; otherwise a change is
    proposed and accepted by Metropolis ([Yu2010] eq. 12). ``chosen``, ``lengths``, ``clusters.totals`` and ``sums`` are
    kept up to date.
    """
    n_inside, changed = 0, 0
    for word in range(len(chosen)):
        n_inside += int(chosen[word])
    for i in range(len(words)):
        word = words[i]
        on, first, last = int(chosen[word]), cells.indptr[word], cells.indptr[word + 1]
        lam, total = prior.lam[word], cells.totals[word]
        tally_word(word, cells, clusters.labels, clusters.tally)
        others, outsiders = n_inside - on, len(chosen) - n_inside + on
        # Sums without the word among the chosen ones.
        weight_in = sums[0] - on * lam if others > 0 else 0.0
        weight_out, total_out = sums[1] + on * lam, sums[2] + on * total
        gain = prior.log_odds + prior.fresh_odds * total + math.lgamma(lam) - math.lgamma(lam + total)
        left = max(weight_out - lam, 0.0)
        gain += log_share(left, total_out - total, outsiders - 1)
        gain -= log_share(weight_out, total_out, outsiders)
        gain += length_gain(word, cells, lengths, on)
        gain += component_gain(clusters, lam, weight_in, others, on)
        change = -gain if on else gain
        if gibbs:
            log_odds[word] = gain
            accepted = draws[i] * (1.0 + math.exp(min(-change, 700.0))) < 1.0
        else:
            accepted = change >= 0.0 or draws[i] < math.exp(change)
        if accepted:
            sign = 1 - 2 * on
            changed += 1
            n_inside += sign
            chosen[word] = 1 - on
            sums[0] = weight_in + (1 - on) * lam
            sums[1] = weight_out - (1 - on) * lam
            sums[2] = total_out - (1 - on) * total
            for k in range(len(clusters.totals)):
                clusters.totals[k] += sign * clusters.tally[k]
            for cell in range(first, last):
                lengths.inside[cells.documents[cell]] += sign * cells.counts[cell]
                lengths.outside[cells.documents[cell]] -= sign * cells.counts[cell]
        for cell in range(first, last):
            clusters.tally[clusters.labels[cells.documents[cell]]] = 0
    return changed


@kernel
def lengths_inside(indptr, documents, counts, chosen, out):
    """Number of tokens of each document among the chosen words.

    Equivalent to ``X[:, chosen].sum(axis=1)``.
    """
    out[:] = 0
    for word in range(len(chosen)):
        if chosen[word]:
            for cell in range(indptr[word], indptr[word + 1]):
                out[documents[cell]] += counts[cell]


@kernel
def log_words(chosen, cells, labels, lam, tally):
    """Terms of the words in the joint probability: log Gamma(n + lambda) / Gamma(lambda), each on its own side."""
    total = 0.0
    for word in range(len(chosen)):
        if not chosen[word]:
            total += math.lgamma(cells.totals[word] + lam[word]) - math.lgamma(lam[word])
            continue
        tally_word(word, cells, labels, tally)
        for cell in range(cells.indptr[word], cells.indptr[word + 1]):
            k = labels[cells.documents[cell]]
            if tally[k] > 0:
                total += math.lgamma(tally[k] + lam[word]) - math.lgamma(lam[word])
                tally[k] = 0
    return total
