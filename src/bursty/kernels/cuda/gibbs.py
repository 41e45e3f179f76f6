"""Gibbs sweeps of DCMLDA and LDA on a GPU, with several lanes per document.

    DCMLDA    p(z = k) in proportion to (n_dk + alpha_k) / (n_dk + s_k) * (beta_wk + n_dwk)
    LDA       p(z = k) in proportion to (n_dk + alpha_k) * phi_wk

Lane l of a document owns the topics l, l + T, l + 2 T, ... of its counts, which no other lane reads: the first factor,
n_dk and n_dwk, in shared memory. A token costs a sum over the topics of the lane, a scan over the lanes, and two
changed counts. Documents are processed longest first, so that those that share a warp end together. A document is a
chain of draws; `segments` says how long ones are cut.

n_dwk is filled at the first token of a word and cleared at the next word, so that a word with c tokens costs time
proportional to c. The last sweep also tallies the counts once they are final, which is all that the M step needs.

| name | what | shape |
|---|---|---|
| spans | what a chain goes through, longest first: document, index of its first token, of the last one plus 1, of the \
first one in its document, and of the row of ``given`` | n x 5 |
| given | the first factor of each row, where it does not depend on n_dk | rows, at least T * S |
| codes | 4 times the word of a token, plus 0: its only token, 1: the first of several, 2: a later one | tokens |
| topics | the topic of each token, changed in place | tokens |
| table | beta or phi, columns padded with zeros | W, at least T * S |
| alpha, totals | alpha and s, padded with 0 and 1 | the same |
| keys | the key of the random stream of each document | D |
| mixtures | number of documents by topic and tokens in it | K, longest + 1 |
| words | DCMLDA: number of documents by level (word, tokens) and topic; LDA: of tokens by word and topic | levels, K |
| level_first | index of the first level of each word | W + 1 |
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import cuda, float32, int32, uint32, uint64

from bursty.kernels.cuda import lanes as warp
from bursty.kernels.cuda import random

ONLY, FIRST, ANOTHER = 0, 1, 2
_0, _1 = float32(0.0), float32(1.0)
# Unsigned, so that compiled code need not check indices for a sign.
place, meet, read, read_before, votes = warp.place, warp.meet, warp.read, warp.read_before, warp.votes
stream, single = random.stream, random.single


@lru_cache
def sweep_kernel(
    n_lanes: int, n_slots: int, bursty: bool, tally: bool, is_given: bool = False, max_registers: int | None = None
) -> Any:
    """The sweep with T = ``n_lanes`` (a power of 2, at most 32) and S = ``n_slots`` topics per lane.

    ``bursty``: DCMLDA, else LDA. ``tally``: with counts. ``is_given``: the first factor is. ``max_registers`` per
    thread: fewer let more documents run in parallel. `shared_bytes` gives the shared memory of a block.
    """
    T, S, ROW = n_lanes, n_slots, n_lanes * n_slots
    SIZE, DEPTH = 3 * ROW, n_lanes.bit_length() - 1

    # The cache of Numba distinguishes kernels by the numbers they close over.
    LIMIT = max_registers or 255
    options: dict[str, Any] = {} if max_registers is None else {"max_registers": max_registers}

    @cuda.jit(cache=True, fastmath=True, **options)
    def sweep(
        spans, codes, topics, table, alpha, totals, given, keys, seed, number, n_topics, mixtures, words, level_first
    ):
        if LIMIT == 0:
            return
        memory = cuda.shared.array(0, float32)
        sums = cuda.local.array(S, float32)
        thread = int32(cuda.threadIdx.x)
        lane, tile = int32(thread % T), int32(thread // T)
        home = int32(place() - lane)
        ratio, sizes, mates = int32(tile * SIZE), int32(tile * SIZE + ROW), int32(tile * SIZE + 2 * ROW)
        last_slot, last_lane = int32((n_topics - 1 - lane) // T), int32(min(n_topics, T) - 1)
        no_lane = int32((n_topics - 1) % T)
        # Of 64 bits, so that the topics of a lane are at fixed distances from one address.
        own, own_ratio, own_mates = uint64(lane), uint64(ratio + lane), uint64(mates + lane)
        span = int32(cuda.blockIdx.x * (cuda.blockDim.x // T) + tile)
        begin, length, shift, row = spans[0, 1], int32(0), int32(0), int32(0)
        key, step = uint64(0), uint64(0)
        if span < spans.shape[0]:
            begin = spans[span, 1]
            length = int32(spans[span, 2] - begin)
            shift, row = int32(spans[span, 3]), int32(spans[span, 4])
            key, step = stream(seed, number, keys[spans[span, 0]])
        n_steps = read(length, 0)
        for j in range(S):
            memory[uint32(sizes + lane + T * j)] = _0
            memory[uint32(mates + lane + T * j)] = _0
        meet()
        if not is_given:
            for i in range(lane, length, T):
                cuda.atomic.add(memory, uint32(sizes + topics[begin + i]), _1)
            meet()
        for j in range(S):
            k = lane + T * j
            if is_given:
                memory[uint32(ratio + k)] = given[row, k]
            else:
                n = memory[uint32(sizes + k)]
                memory[uint32(ratio + k)] = (n + alpha[k]) / (n + totals[k]) if bursty else n + alpha[k]
        topic, code, u, filled = int32(0), int32(0), _0, int32(-1)
        for i in range(n_steps):
            at = int32(i & (T - 1))
            if at == 0:
                if i > 0 and i + lane - T < length:
                    topics[begin + i + lane - T] = topic
                if i + lane < length:
                    topic, code = int32(topics[begin + i + lane]), int32(codes[begin + i + lane])
                    u = single(key, step, shift + i + lane)
            old, own_code, left = read(topic, home + at), read(code, home + at), read(u, home + at)
            word, kind, active = int32(own_code >> 2), int32(own_code & 3), i < length
            if bursty:
                if active and kind != ANOTHER and filled >= 0:
                    for j in range(S):
                        n = int32(memory[own_mates + uint64(T * j)])
                        memory[own_mates + uint64(T * j)] = _0
                        if tally and n > 0:
                            cuda.atomic.add(words, (level_first[filled] + n - 1, lane + T * j), 1)
                    filled = int32(-1)
                if votes(active and kind == FIRST) != 0:
                    meet()
                    if active and kind == FIRST:
                        filled, mate = word, int32(i + lane)
                        while mate < length and int32(codes[begin + mate]) >> 2 == word:
                            cuda.atomic.add(memory, uint32(mates + topics[begin + mate]), _1)
                            mate += T
                    meet()
            if active and lane == int32(old & (T - 1)):
                if not is_given:
                    n = memory[uint32(sizes + old)] - _1
                    memory[uint32(sizes + old)] = n
                    memory[uint32(ratio + old)] = (
                        (n + alpha[uint32(old)]) / (n + totals[uint32(old)]) if bursty else n + alpha[uint32(old)]
                    )
                if bursty and kind != ONLY:
                    memory[uint32(mates + old)] -= _1
            total = _0
            for j in range(S):
                weight = table[uint64(word), own + uint64(T * j)]
                if bursty:
                    weight += memory[own_mates + uint64(T * j)]
                total += memory[own_ratio + uint64(T * j)] * weight
                sums[j] = total
            upto = total
            for depth in range(DEPTH):
                before = read_before(upto, 1 << depth)
                if lane >= int32(1 << depth):
                    upto += before
            left *= read(upto, home + T - 1)
            hits = uint32((uint32(votes(left < upto)) >> uint32(home & 31)) & ((1 << T) - 1))
            # The lanes add up in different orders, so that one without a topic may end a rounding above all others.
            winner = min(int32(cuda.ffs(hits) - 1), last_lane) if hits != 0 else no_lane
            left -= upto - total
            slot = int32(0)
            for j in range(S):
                slot = int32(slot + int32(sums[j] <= left))
            new = read(int32(lane + T * min(slot, last_slot)), home + winner)
            if active and lane == winner:
                if not is_given:
                    n = memory[uint32(sizes + new)] + _1
                    memory[uint32(sizes + new)] = n
                    memory[uint32(ratio + new)] = (
                        (n + alpha[uint32(new)]) / (n + totals[uint32(new)]) if bursty else n + alpha[uint32(new)]
                    )
                if bursty and kind != ONLY:
                    memory[uint32(mates + new)] += _1
                elif tally and bursty:
                    cuda.atomic.add(words, (level_first[word], new), 1)
                if tally and not bursty:
                    cuda.atomic.add(words, (word, new), 1)
            if lane == at:
                topic = new
        i = int32((max(n_steps, 1) - 1) // T * T) + lane
        if i < length:
            topics[begin + i] = topic
        if tally:
            for j in range(S):
                k = lane + T * j
                if bursty and filled >= 0:
                    n = int32(memory[uint32(mates + k)])
                    if n > 0:
                        cuda.atomic.add(words, (level_first[filled] + n - 1, k), 1)
                if not is_given:
                    n = int32(memory[uint32(sizes + k)])
                    if length > 0 and n > 0:
                        cuda.atomic.add(mixtures, (k, n), 1)

    return sweep


@cuda.jit(cache=True)
def count_tokens(codes, topics, words):
    """Number of tokens by word and topic: one thread per token."""
    token = cuda.grid(1)
    if token < codes.shape[0]:
        cuda.atomic.add(words, (codes[token] >> 2, topics[token]), 1)


@cuda.jit(cache=True)
def count_words(codes, topics, most, level_first, words):
    """Number of documents by level (word, tokens) and topic, for given topics: one thread per word of a document.

    Words with more than ``most`` tokens in the document are left to `count_large`.
    """
    token = cuda.grid(1)
    if token < codes.shape[0]:
        kind, word = codes[token] & 3, codes[token] >> 2
        if kind == ONLY:
            cuda.atomic.add(words, (level_first[word], topics[token]), 1)
        elif kind == FIRST:
            end = token + 1
            while end < codes.shape[0] and codes[end] & 3 == ANOTHER:
                end += 1
                if end - token > most:
                    return
            for mate in range(token, end):
                before, n = False, 0
                for other in range(token, end):
                    if topics[other] == topics[mate]:
                        before = before or other < mate
                        n += 1
                if not before:
                    cuda.atomic.add(words, (level_first[word] + n - 1, topics[mate]), 1)


@cuda.jit(cache=True)
def count_large(cells, topics, level_first, words):
    """The same for words with many tokens in a document, ``cells`` (first token, last + 1, word): a block for each."""
    memory = cuda.shared.array(0, float32)
    cell, n_topics = cuda.blockIdx.x, words.shape[1]
    for k in range(cuda.threadIdx.x, n_topics, cuda.blockDim.x):
        memory[k] = _0
    cuda.syncthreads()
    for token in range(cells[cell, 0] + cuda.threadIdx.x, cells[cell, 1], cuda.blockDim.x):
        cuda.atomic.add(memory, topics[token], _1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, n_topics, cuda.blockDim.x):
        n = int(memory[k])
        if n > 0:
            cuda.atomic.add(words, (level_first[cells[cell, 2]] + n - 1, k), 1)


def shared_bytes(n_lanes: int, n_slots: int, n_threads: int) -> int:
    """Shared memory of a block of this many threads."""
    return 12 * n_slots * n_threads
