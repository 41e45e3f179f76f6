"""Likelihood of a new document, word by word from left to right (Wallach et al. 2009, algorithm 3).

    log p(w) = sum_n log p(w_n | w_<n),    p(w_n | w_<n) about the mean over particles of sum_k p(w_n, z_n = k | z_<n)

A particle holds the topics of the words so far. Before each new word it resamples topics of earlier ones
(``max(least, share * n)`` times: of words chosen at random, or of each in turn if they are no more), then draws one for
the new word. Particles are not weighted by how well they predicted the words so far, so that they must move far enough
to forget what they predicted: one pass over a few earlier words is not enough if topics differ much.
Documents are bags of words, so that their words are processed in a random order.

The logarithm of a mean over few particles is too low. Particles are independent, so that leaving out each in turn (the
jackknife) gives the bias to first order in their number, and the standard error: ``out`` has the estimate without that
bias, and its error.

The stream of a particle has its number in place of a sweep. Names are those of `gibbs_counts` and `gibbs_dcmlda`.
"""

from __future__ import annotations

import math

import numpy as np

from bursty.kernels import random
from bursty.kernels.compile import inlined, kernel
from bursty.kernels.gibbs_dcmlda import above_floor, along_floor, along_table, begin_ratios, recount
from bursty.kernels.gibbs_lda import find, from_prior, weigh
from bursty.kernels.streams import WORD_ORDER

#: Moves of one particle of a document above which their number per word no longer grows: at 10,000 words.
MOST_MOVES = 10**7
#: A word with more tokens than this in a document has its topics counted.
LARGE = 256


@kernel
def _shuffled_cells(indptr, counts, document, seed, key_of_document, cells):
    """The cell of each token (counted from the first of the document), in random order."""
    token = 0
    for cell in range(indptr[document], indptr[document + 1]):
        for _ in range(counts[cell]):
            cells[token] = cell - indptr[document]
            token += 1
    key, step = random.stream(seed, WORD_ORDER, key_of_document)
    for i in range(token - 1, 0, -1):
        j = int((i + 1) * random.uniform(np.uint64(key), np.uint64(step), i))
        cells[i], cells[j] = cells[j], cells[i]


@kernel
def _n_moves(n, length, moves):
    """Number of times that the topic of one of the n earlier words is resampled before the next word.

    A document of this length has `MOST_MOVES` in all, unless the least number per word is more: the time of long
    documents is linear in their length.
    """
    least, share = moves
    return max(least, min(int(share * n), MOST_MOVES // length)) if n else 0


@inlined
def _choose(move, n_moves, n, key, step, draw):
    """The word whose topic this move draws, and the number of the next draw.

    The last move is for the new word n, the others are for earlier words: at random, or for each in turn if they are so
    few.
    """
    if move == n_moves:
        return n, draw
    if n > n_moves:
        return int(n * random.uniform(key, step, draw)), draw + 1
    return move % n, draw


@kernel
def _jackknife(found):
    """Sum over words of the logarithm of the mean over particles, without its bias to first order, and its error."""
    n_particles, length = found.shape
    whole, without = 0.0, np.zeros(n_particles)
    for n in range(length):
        total = found[:, n].sum()
        whole += math.log(total / n_particles)
        if n_particles > 1:
            for particle in range(n_particles):
                # A particle may have nearly all of the sum, and what is left nothing but rounding.
                rest = max(total - found[particle, n], 1e-300)
                without[particle] += math.log(rest / (n_particles - 1))
    if n_particles == 1:
        return whole, np.nan
    mean = without.mean()
    variance = (n_particles - 1) / n_particles * ((without - mean) ** 2).sum()
    return whole + (n_particles - 1) * (whole - mean), math.sqrt(variance)


@kernel
def _gather_cells(indptr, counts, document, places):
    """Index of the first token of each cell of a document, cell by cell."""
    total = 0
    for cell in range(indptr[document], indptr[document + 1]):
        places[cell - indptr[document]] = total
        total += counts[cell]


@kernel
def _of_the_word(mates, begin, end, topics, token, ratio):
    """``sum_k ratio_k n_dwk``: the ratios of the topics that the word's other tokens have."""
    total = 0.0
    for place in range(begin, end):
        if mates[place] != token:
            total += ratio[topics[mates[place]]]
    return total


@kernel
def _along_the_word(left, mates, begin, end, topics, token, ratio):
    """The topic at ``left`` along the terms of `_of_the_word`."""
    k = topics[token]
    for place in range(begin, end):
        if mates[place] != token:
            k = topics[mates[place]]
            left -= ratio[k]
            if left < 0.0:
                break
    return k


@kernel
def _large_cells(indptr, counts, document, slots):
    """Number the cells of a document with more than `LARGE` tokens, others get -1; returns the number of large ones."""
    n_large = 0
    for cell in range(indptr[document], indptr[document + 1]):
        slots[cell - indptr[document]] = -1
        if counts[cell] > LARGE:
            slots[cell - indptr[document]] = n_large
            n_large += 1
    return n_large


@kernel
def _along_tally(left, tally, ratio):
    """The topic at ``left`` along ``tally * ratio``."""
    last = 0
    for k in range(len(tally)):
        if tally[k] > 0.0:
            last = k
            left -= tally[k] * ratio[k]
            if left < 0.0:
                break
    return last


@kernel
def dcmlda(documents, urns, seed, n_particles, moves, out, start, stop):
    """Estimated log-likelihood of each document under DCMLDA.

    The sums have the three parts of `gibbs_dcmlda.sweep`; the tokens of a word so far (``mates``) each contribute
    their topic, so that no table of words and topics is needed. Words with more than `LARGE` tokens have a tally of
    topics instead: walking their tokens at each step would take quadratic time.
    """
    indptr, words, counts, first, keys = documents
    alpha, totals, floor, background, table_first, table_topics, table_values = urns
    n_topics, alpha_total = len(alpha), alpha.sum()
    n_k, ratio = np.empty(n_topics), np.empty(n_topics)
    weights, bounds = np.empty(n_topics + 3), np.empty((n_topics + 3) // 4)
    sixteens = np.empty((n_topics + 15) // 16)
    for document in range(start, stop):
        begin, length = indptr[document], first[document + 1] - first[document]
        n_cells = indptr[document + 1] - begin
        cells, topics, mates = np.empty((3, length), dtype=np.int64)
        cell_first, cell_end, slots = np.empty((3, n_cells), dtype=np.int64)
        tallies = np.zeros((_large_cells(indptr, counts, document, slots), n_topics))
        found = np.empty((n_particles, length))
        _shuffled_cells(indptr, counts, document, seed, keys[document], cells)
        _gather_cells(indptr, counts, document, cell_first)
        for particle in range(n_particles):
            key, step = random.stream(seed, particle, keys[document])
            draw = 0
            n_k[:] = 0.0
            tallies[:] = 0.0
            cell_end[:] = cell_first
            rest = begin_ratios(n_k, alpha, totals, floor, ratio, sixteens)
            for n in range(length):
                n_renewed = _n_moves(n, length, moves)
                for move in range(n_renewed + 1):
                    i, draw = _choose(move, n_renewed, n, np.uint64(key), np.uint64(step), draw)
                    if i < n:
                        rest += recount(topics[i], -1.0, n_k, alpha, totals, floor, ratio, sixteens)
                    cell = cells[i]
                    slot = slots[cell]
                    if i < n and slot >= 0:
                        tallies[slot, topics[i]] -= 1.0
                    word, own, own_end = words[begin + cell], cell_first[cell], cell_end[cell]
                    table, table_end = np.uint64(table_first[word]), np.uint64(table_first[word + 1])
                    if slot >= 0:
                        drawn = 0.0
                        for k in range(n_topics):
                            drawn += tallies[slot, k] * ratio[k]
                    else:
                        drawn = _of_the_word(mates, own, own_end, topics, i, ratio)
                    above = above_floor(ratio, table_topics, table_values, table, table_end, weights, bounds)
                    total = drawn + above + rest * background[word]
                    if i == n:
                        found[particle, n] = total / (n + alpha_total)
                    left = total * random.uniform(np.uint64(key), np.uint64(step), draw)
                    draw += 1
                    if left < drawn and slot >= 0:
                        topics[i] = _along_tally(left, tallies[slot], ratio)
                    elif left < drawn:
                        topics[i] = _along_the_word(left, mates, own, own_end, topics, i, ratio)
                    elif left < drawn + above:
                        left -= drawn
                        topics[i] = along_table(left, table, table_end, table_topics, weights, bounds)
                    else:
                        topics[i] = along_floor((left - drawn - above) / background[word], ratio, floor, sixteens)
                    if slot >= 0:
                        tallies[slot, topics[i]] += 1.0
                    rest += recount(topics[i], 1.0, n_k, alpha, totals, floor, ratio, sixteens)
                mates[cell_end[cells[n]]] = n
                cell_end[cells[n]] += 1
        out[document] = _jackknife(found)


@kernel
def _join(k, sizes, present, places, n_present):
    """Add a token to the topic, which is appended to the list if it is new; returns the length of the list."""
    if places[k] < 0:
        present[n_present], places[k], sizes[n_present] = k, n_present, 0.0
        n_present += 1
    sizes[places[k]] += 1.0
    return n_present


@kernel
def _leave(k, sizes, present, places, n_present):
    """Remove a token; if it was the last of its topic, the last topic of the list takes its position."""
    place = places[k]
    sizes[place] -= 1.0
    if sizes[place] == 0.0:
        n_present -= 1
        last = present[n_present]
        sizes[place], present[place] = sizes[n_present], last
        places[last] = place
        places[k] = -1
    return n_present


@kernel
def lda(documents, shared, seed, n_particles, moves, out, start, stop):
    """Estimated log-likelihood of each document under LDA with given word probabilities."""
    indptr, words, counts, first, keys = documents
    alpha, phi, smooth = shared
    n_topics, alpha_total = len(alpha), alpha.sum()
    sizes, weights, flat = np.empty(n_topics), np.empty(n_topics), phi.reshape(phi.size)
    present, places = np.empty(n_topics, dtype=np.uint32), np.full(n_topics, -1, dtype=np.int32)
    for document in range(start, stop):
        begin, length = indptr[document], first[document + 1] - first[document]
        cells, topics = np.empty((2, length), dtype=np.int64)
        found = np.empty((n_particles, length))
        _shuffled_cells(indptr, counts, document, seed, keys[document], cells)
        for particle in range(n_particles):
            key, step = random.stream(seed, particle, keys[document])
            draw, n_present = 0, 0
            for n in range(length):
                n_renewed = _n_moves(n, length, moves)
                for move in range(n_renewed + 1):
                    i, draw = _choose(move, n_renewed, n, np.uint64(key), np.uint64(step), draw)
                    if i < n:
                        n_present = _leave(topics[i], sizes, present, places, n_present)
                    word = words[begin + cells[i]]
                    base = np.uint64(word) * np.uint64(n_topics)
                    drawn = weigh(sizes, present, np.uint64(n_present), flat, base, weights)
                    if i == n:
                        found[particle, n] = (drawn + smooth[word]) / (n + alpha_total)
                    left = (drawn + smooth[word]) * random.uniform(np.uint64(key), np.uint64(step), draw)
                    draw += 1
                    if left < drawn:
                        topics[i] = present[find(weights, np.uint64(n_present), left)]
                    else:
                        topics[i] = from_prior(left - drawn, alpha, flat, base)
                    n_present = _join(topics[i], sizes, present, places, n_present)
            for i in range(n_present):
                places[present[i]] = -1
        out[document] = _jackknife(found)
