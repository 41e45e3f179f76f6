"""Discriminative words: the change of the joint probability when a word changes sides.

[Yu2010] eq. 11 is kept as running sums: a flip costs time proportional to the number of documents that have the word
and of occupied components.

| symbol | name |
|---|---|
| x, t | ``counts`` and ``tables`` of the cells, word by word: tokens, and fresh tokens |
| n_i1, n_i2 | ``inside``, ``outside``: number of tokens of each document among the chosen words, and the others |
| g_1, g_0 | ``inside_term``, ``outside_term``: log factors of n_i1 and n_i2, by length |
| n_k | ``totals``: t of each component over the chosen words |
| Lambda_1, Lambda_0 | ``sums[0]``, ``sums[1]``: sum of lambda over the chosen words, and over the others |
| t_0 | ``sums[2]``: sum of t over the words that are not chosen |
"""

from __future__ import annotations

import math

from bursty.kernels.compile import kernel


@kernel
def log_share(weight, total, n_words):
    """``log Gamma(weight) - log Gamma(weight + total)``; 0 if there are no words."""
    if n_words == 0:
        return 0.0
    return math.lgamma(weight) - math.lgamma(weight + total)


@kernel
def tally_word(first, last, documents, tables, labels, out):
    """Add the t of a word to the component of each document that has it."""
    for cell in range(first, last):
        out[labels[documents[cell]]] += tables[cell]


@kernel
def length_gain(first, last, documents, counts, inside, outside, inside_term, outside_term, on):
    """Gain of choosing the word from the lengths of the documents (the factors T_i); ``on``: it is chosen now."""
    gain = 0.0
    for cell in range(first, last):
        document, x = documents[cell], counts[cell]
        n_in = inside[document] - on * x
        n_out = outside[document] + on * x
        gain += inside_term[n_in + x] - inside_term[n_in] + outside_term[n_out - x] - outside_term[n_out]
    return gain


@kernel
def component_gain(tally, totals, sizes, lam, weight, n_inside, on):
    """Gain of choosing the word from the occupied components (the factors Q and R_k)."""
    gain, log_lam = 0.0, math.lgamma(lam)
    for k in range(len(sizes)):
        if sizes[k] > 0:
            rest = totals[k] - on * tally[k]
            gain += log_share(weight + lam, rest + tally[k], n_inside + 1) - log_share(weight, rest, n_inside)
            if tally[k] > 0:
                gain += math.lgamma(tally[k] + lam) - log_lam
    return gain


@kernel
def flip(
    words, draws, gibbs, log_odds, fresh_odds, indptr, documents, counts, tables, word_totals, lam,
    labels, sizes, inside_term, outside_term, chosen, inside, outside, totals, sums, tally,
):  # fmt: skip
    """Flip the indicators of some words one after the other; returns the number of changes.

    With ``gibbs`` each is drawn from its conditional; otherwise a change is proposed and accepted by Metropolis
    ([Yu2010] eq. 12). ``chosen``, ``inside``, ``outside``, ``totals`` and ``sums`` are kept up to date; ``tally`` is
    scratch, zero before and after. ``log_odds`` are those of the prior; ``fresh_odds`` is log s_1 / s_0, per fresh
    token.
    """
    n_inside, changed = 0, 0
    for word in range(len(chosen)):
        n_inside += int(chosen[word])
    for i in range(len(words)):
        word = words[i]
        on, first, last = int(chosen[word]), indptr[word], indptr[word + 1]
        tally_word(first, last, documents, tables, labels, tally)
        others, outsiders = n_inside - on, len(chosen) - n_inside + on
        # Sums without the word among the chosen ones.
        weight_in = sums[0] - on * lam[word] if others > 0 else 0.0
        weight_out, total_out = sums[1] + on * lam[word], sums[2] + on * word_totals[word]
        gain = (
            log_odds
            + fresh_odds * word_totals[word]
            + math.lgamma(lam[word])
            - math.lgamma(lam[word] + word_totals[word])
        )
        left = max(weight_out - lam[word], 0.0)
        gain += log_share(left, total_out - word_totals[word], outsiders - 1)
        gain -= log_share(weight_out, total_out, outsiders)
        gain += length_gain(first, last, documents, counts, inside, outside, inside_term, outside_term, on)
        gain += component_gain(tally, totals, sizes, lam[word], weight_in, others, on)
        change = -gain if on else gain
        if gibbs:
            accepted = draws[i] * (1.0 + math.exp(min(-change, 700.0))) < 1.0
        else:
            accepted = change >= 0.0 or draws[i] < math.exp(change)
        if accepted:
            sign = 1 - 2 * on
            changed += 1
            n_inside += sign
            chosen[word] = 1 - on
            sums[0] = weight_in + (1 - on) * lam[word]
            sums[1] = weight_out - (1 - on) * lam[word]
            sums[2] = total_out - (1 - on) * word_totals[word]
            for k in range(len(totals)):
                totals[k] += sign * tally[k]
            for cell in range(first, last):
                inside[documents[cell]] += sign * counts[cell]
                outside[documents[cell]] -= sign * counts[cell]
        for cell in range(first, last):
            tally[labels[documents[cell]]] = 0
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
def log_words(chosen, indptr, documents, tables, labels, lam, word_totals, tally):
    """Terms of the words in the joint probability: log Gamma(n + lambda) / Gamma(lambda), each on its own side."""
    total = 0.0
    for word in range(len(chosen)):
        if not chosen[word]:
            total += math.lgamma(word_totals[word] + lam[word]) - math.lgamma(lam[word])
            continue
        first, last = indptr[word], indptr[word + 1]
        tally_word(first, last, documents, tables, labels, tally)
        for cell in range(first, last):
            k = labels[documents[cell]]
            if tally[k] > 0:
                total += math.lgamma(tally[k] + lam[word]) - math.lgamma(lam[word])
                tally[k] = 0
    return total
