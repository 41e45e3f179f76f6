"""Where the time of an iteration of DCMLDA goes on a card, for `benchmarks.gpu`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import cuda, uint32

from bursty.engines import Chunk
from bursty.engines.card import column_sums, copied, zeros
from bursty.engines.cuda import CudaChunk
from bursty.inference.topics import cuda_dcmlda, cuda_maximise, dcmlda
from bursty.inference.topics.cuda_sweeps import Shape, Sweep, move_blocks
from bursty.kernels.cuda.lanes import SIMULATED
from bursty.models.dcmlda import DCMLDA

# Microseconds for which the card is kept busy.
_DELAY = 20_000


@cuda.jit
def wait(microseconds):
    """Do nothing for about so many microseconds."""
    if not SIMULATED:
        for _ in range(microseconds):
            cuda.nanosleep(uint32(1000))


def of_fit(counts: sp.csr_array, n_topics: int, n_iter: int) -> dict[str, Any]:
    """The parts of an iteration after some others, and the speed of these."""
    options = {"n_iter": n_iter, "tol": 0, "n_samples": 1, "random_state": 0, "engine": "cuda"}
    model = DCMLDA(n_topics, **options).fit(counts)
    chunk, params = CudaChunk(Chunk(counts)), cuda_dcmlda.CardHyperparameters.of(model._params)
    parts = parts_of_iteration(chunk, copied(model._topics), params, n_topics)
    speed = float(np.median(model.trace_["tokens_per_second"]))
    return {"M tokens/s, median of iterations": speed / 1e6, "ms on the card, until launched": parts}


def parts_of_iteration(chunk: Any, topics: Any, params: Any, n_topics: int) -> dict[str, tuple[float, float]]:
    """Milliseconds of the parts, on the card and until they are launched."""
    shape, tokens, weights = Shape.of(n_topics, chunk), chunk.on_card, params.weights
    _, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(1, 3), True)
    tallies = zeros((n_topics, tokens.longest + 1), np.int32), zeros((tokens.n_levels, n_topics), np.int32)
    plain = Sweep(chunk, 0, topics, weights, 1, 3, None, shape)
    urns = cuda_maximise.CardUrns(stats, params.on_card.shape)
    urns.start(np.empty(0), params.on_card)
    lambdas, beta = cuda.to_device(np.full(n_topics, 10.0)), params.on_card
    parts: dict[str, Callable[[], Any]] = {
        "copy of the topics": lambda: copied(topics),
        "tables cleared": lambda: zeros((tokens.n_levels, n_topics), np.int32),
        "sweep": plain.run,
        "of which documents that are not cut": lambda: plain._chains(tokens.short, 0),
        "moves of blocks": lambda: move_blocks(chunk, 0, topics, weights, 1, 20),
        "sweep with tallies": replace(plain, tallies=tallies).run,
        "log-likelihood of words": lambda: cuda_dcmlda._log_words(stats.words, chunk, beta),
        "of mixtures": lambda: cuda_dcmlda._log_mixtures(stats.mixtures, chunk, params),
        "beta": lambda: cuda_maximise.step_beta(stats, beta, params.sums),
        "of which types": lambda: cuda_maximise.CardUrns(stats, beta.shape),
        "of which sizes": lambda: cuda_maximise._sum_sizes(stats, params.sums),
        "of which solve": lambda: urns.solve_on_card(lambdas, 1),
        "of which column sums": lambda: column_sums(beta),
        "of which background": lambda: cuda_maximise._spread(stats, copied(beta), beta),
        "alpha": lambda: cuda_maximise.learn_alpha(stats, params.alpha_on_card, params.sums),
        "table": lambda: cuda_dcmlda.CardHyperparameters(params.alpha_on_card, beta).weights,
        "4 sweeps, 1 with tallies, and the update": lambda: cuda_dcmlda.update(
            dcmlda.Method(), cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(1, 6), True)[1], params
        ),
    }
    if tokens.segments is not None:
        parts["auxiliary variables"] = lambda: plain.draw_auxiliary(tokens.segments)
    return {name: on_card_and_launched(part) for name, part in parts.items()}


def on_card_and_launched(part: Callable[[], Any], rounds: int = 7) -> tuple[float, float]:
    """Milliseconds between two events around a part, and until it is launched: medians, without the first round.

    Something else keeps the card busy until all is launched, so that the first is the time of the kernels alone (except
    where a part waits for a number from the card).
    """
    on_card, launched = [], []
    for _ in range(rounds + 1):
        before, after = cuda.event(), cuda.event()
        cuda.synchronize()
        wait[1, 1](_DELAY)
        before.record()
        began = time.perf_counter()
        result = part()
        launched.append(1e3 * (time.perf_counter() - began))
        after.record()
        after.synchronize()
        del result  # its memory may be used again only now
        on_card.append(before.elapsed_time(after))
    return float(np.median(on_card[1:])), float(np.median(launched[1:]))
