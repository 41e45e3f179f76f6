"""Moves of blocks of tokens on a GPU, one warp per document: `bursty.kernels.gibbs_blocks` has what and why.

A block is known by its first token, which does not change when the block moves; blocks are visited in that order. The
logarithm of each weight is taken relative to that of the present topic, so that single precision is enough where it
matters. Unlike on the CPU, the tokens of a word may move to every topic, not only to those of its table.

`spans`, `codes`, `topics`, `table`, `alpha`, `totals`, `keys` are those of `gibbs`, with T lanes and S topics per lane.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from numba import cuda, float32, int32, uint32

from bursty.kernels.cuda import lanes as warp
from bursty.kernels.cuda import random
from bursty.kernels.cuda.gibbs import FIRST

#: Larger blocks practically never move.
LARGEST = 256
_0, _1, _NEVER = float32(0.0), float32(1.0), float32(-1e30)
place, meet, read, read_before, votes = warp.place, warp.meet, warp.read, warp.read_before, warp.votes
stream, single = random.stream, random.single


@lru_cache
def move_kernel(n_lanes: int, n_slots: int, by_word: bool) -> Any:
    """The kernel that moves the tokens of a word and topic (``by_word``), or of a topic, in each document."""
    T, S, ROW = n_lanes, n_slots, n_lanes * n_slots
    DEPTH = n_lanes.bit_length() - 1

    @cuda.jit(device=True)
    def draw(logs, u, lane, home, own):
        """A topic by its weight; ``logs`` are changed."""
        largest = _NEVER
        for j in range(S):
            largest = max(largest, logs[j])
        for depth in range(DEPTH):
            largest = max(largest, read(largest, home + (lane ^ (1 << depth))))
        total = _0
        for j in range(S):
            weight = _0
            if logs[j] > _NEVER:
                weight = math.exp(logs[j] - largest)
            total += weight
            logs[j] = total
        upto = total
        for depth in range(DEPTH):
            before = read_before(upto, 1 << depth)
            if lane >= 1 << depth:
                upto += before
        left = u * read(upto, home + T - 1)
        # A lane without weight wins nothing, whatever the roundings.
        hits = votes(left < upto and total > _0) >> home
        new = own
        if hits != 0:
            winner = int32(cuda.ffs(uint32(hits))) - 1
            left = max(left - (upto - total), _0)
            slot = int32(0)
            for j in range(S):
                slot += int32(logs[j] <= left)
            slot = min(slot, int32(S - 1))
            while slot > 0 and logs[slot] == logs[slot - 1]:
                slot -= int32(1)
            new = read(int32(lane + T * slot), home + winner)
        return new

    @cuda.jit(cache=True, fastmath=True)
    def move(spans, codes, topics, table, alpha, totals, keys, seed, number, n_topics):
        memory = cuda.shared.array(0, float32)
        logs = cuda.local.array(S, float32)
        thread = int32(cuda.threadIdx.x)
        lane, tile = int32(thread % T), int32(thread // T)
        home = int32(place() - lane)
        sizes, heads = int32(tile * 2 * ROW), int32(tile * 2 * ROW + ROW)
        span = cuda.blockIdx.x * (cuda.blockDim.x // T) + tile
        if span >= spans.shape[0]:
            return
        begin = spans[span, 1]
        length = int32(spans[span, 2] - begin)
        key, step = stream(seed, number, keys[spans[span, 0]])
        for j in range(S):
            memory[uint32(sizes + lane + T * j)] = _0
            memory[uint32(heads + lane + T * j)] = _0 if by_word else float32(length)
        meet()
        for i in range(lane, length, T):
            cuda.atomic.add(memory, uint32(sizes + topics[begin + i]), _1)
            if not by_word:
                cuda.atomic.min(memory, uint32(heads + topics[begin + i]), float32(i))
        meet()
        n_blocks = int32(0)
        for start in range(0, length, T):
            topic, code = int32(0), int32(0)
            is_head = False
            if start + lane < length:
                topic, code = int32(topics[begin + start + lane]), int32(codes[begin + start + lane])
                is_head = code & 3 == FIRST if by_word else memory[uint32(heads + topic)] == float32(start + lane)
            heads_here = uint32(votes(is_head) >> home)
            while heads_here != 0:
                bit = int32(cuda.ffs(heads_here)) - 1
                heads_here &= heads_here - uint32(1)
                at = int32(start + bit)
                if by_word:
                    word = int32(read(code, home + bit) >> 2)
                    n_tokens, more = int32(0), True
                    while more:
                        i = at + n_tokens + lane
                        mine = i < length and int32(codes[begin + i]) >> 2 == word
                        if mine:
                            cuda.atomic.add(memory, uint32(heads + topics[begin + i]), _1)
                        n_same = int32(cuda.popc(uint32(votes(mine) >> home)))
                        n_tokens += n_same
                        more = n_same == T
                    meet()
                    for i in range(n_tokens if n_tokens <= LARGEST else 0):
                        own = int32(topics[begin + at + i])
                        is_earlier = False
                        for other in range(lane, i, T):
                            is_earlier = is_earlier or topics[begin + at + other] == own
                        size = int32(memory[uint32(heads + own)])
                        if votes(is_earlier) >> home == 0 and size > 1:
                            own_n = memory[uint32(sizes + own)] - float32(size)
                            for j in range(S):
                                k = lane + T * j
                                logs[j] = _NEVER
                                if k == own:
                                    logs[j] = _0
                                elif k < n_topics and memory[uint32(heads + k)] == _0:
                                    n, beta, total = memory[uint32(sizes + k)], table[word, k], _0
                                    for m in range(size):
                                        x = float32(m)
                                        factor = (n + alpha[k] + x) / (n + totals[k] + x) * (beta + x)
                                        factor /= (own_n + alpha[own] + x) * (table[word, own] + x)
                                        total += math.log(factor * (own_n + totals[own] + x))
                                    logs[j] = total
                            new = draw(logs, single(key, step, n_blocks), lane, home, own)
                            n_blocks += int32(1)
                            meet()
                            if new != own:
                                for other in range(lane, n_tokens, T):
                                    if topics[begin + at + other] == own:
                                        topics[begin + at + other] = new
                                if lane == 0:
                                    memory[uint32(sizes + own)] -= float32(size)
                                    memory[uint32(sizes + new)] += float32(size)
                                    memory[uint32(heads + new)] = float32(size)
                                    memory[uint32(heads + own)] = _0
                            meet()
                    for j in range(S):
                        memory[uint32(heads + lane + T * j)] = _0
                    meet()
                else:
                    own = read(topic, home + bit)
                    size = int32(memory[uint32(sizes + own)])
                    if size <= LARGEST:
                        for j in range(S):
                            k = lane + T * j
                            logs[j] = _NEVER
                            if k < n_topics and (k == own or memory[uint32(sizes + k)] == _0):
                                logs[j] = _0
                        x, again, last = _0, _0, int32(-1)
                        for first in range(start, length, T):
                            mine, its_code = False, int32(0)
                            if first + lane < length:
                                mine = topics[begin + first + lane] == own
                                its_code = int32(codes[begin + first + lane])
                            left = uint32(votes(mine) >> home)
                            while left != 0:
                                other = int32(cuda.ffs(left)) - 1
                                left &= left - uint32(1)
                                word = int32(read(its_code, home + other) >> 2)
                                again = again + _1 if word == last else _0
                                last = word
                                divisor = (alpha[own] + x) * (table[word, own] + again) / (totals[own] + x)
                                for j in range(S):
                                    k = lane + T * j
                                    if logs[j] > _NEVER and k != own:
                                        factor = (alpha[k] + x) / (totals[k] + x) * (table[word, k] + again)
                                        logs[j] += math.log(factor / divisor)
                                x += _1
                        new = draw(logs, single(key, step, n_blocks), lane, home, own)
                        n_blocks += int32(1)
                        meet()
                        if new != own:
                            for other in range(start + lane, length, T):
                                if topics[begin + other] == own:
                                    topics[begin + other] = new
                            if lane == 0:
                                memory[uint32(sizes + new)] = memory[uint32(sizes + own)]
                                memory[uint32(heads + new)] = memory[uint32(heads + own)]
                                memory[uint32(sizes + own)] = _0
                                memory[uint32(heads + own)] = float32(length)
                        meet()

    return move


def shared_bytes(n_slots: int, n_threads: int) -> int:
    """Shared memory of a block of this many threads."""
    return 8 * n_slots * n_threads
