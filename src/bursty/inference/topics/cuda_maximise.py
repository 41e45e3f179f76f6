"""The M step of DCMLDA on a card.

`step_beta` is the one step that an iteration takes, `families.solve.solve_urns` from a start, as a row of kernels:
nothing comes back, so that the card need not wait. `solve_beta` goes on to the maximum, for which the loop is here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.engines.card import column_sums, copied, empty, host_sums, launch, launch_blocks, on_card, zeros
from bursty.engines.cuda import TALL
from bursty.families.solve import S_MAX, S_MIN, solve_urns
from bursty.families.sparse_urns import UNSEEN
from bursty.inference.topics.base import FLOOR
from bursty.kernels import streams
from bursty.kernels.cuda import maximise, rising, tall, variates
from bursty.kernels.cuda import topics as by_topic
from bursty.typing import Array

# Steps to the maximum of alpha, and the change of log lambda that ends them.
_MAX_STEPS, _NEAR = 5, 1e-6


class CardUrns:
    """The equations of all words and topics, as `families.solve.Equations`, on the card."""

    def __init__(self, stats: Any, shape: tuple[int, int]) -> None:
        self.stats, self.tokens = stats, stats.chunk.on_card
        self.types, self.occurrences = empty(shape, np.float64), empty(shape, np.float64)
        args = stats.words, self.tokens.level_first
        launch(maximise.count_types, self.types.size, *args, TALL, stats.scale, self.types, self.occurrences)
        self._launch_tall(tall.count_types, *args, stats.scale, self.types, self.occurrences)
        #: Types of each topic, on the card (1 x K) and, for the loop that is here, in this process.
        self.sums_of_types = column_sums(self.types)
        self.totals: Array = np.empty(0)

    def _launch_tall(self, kernel: Any, *args: Any) -> None:
        """A block for each topic of a tall word."""
        n_blocks = len(self.tokens.tall) * self.types.shape[1]
        launch_blocks(kernel, n_blocks, rising.THREADS, self.tokens.tall, *args)

    def sums(self, start: Any) -> Array:
        """Of what to start from."""
        return host_sums(start)

    def start(self, scale: Array, alpha: Any) -> None:
        """Where to start from: `alpha`, which is on the card, or else the types times a scale for each topic."""
        self.slope = zeros(self.types.shape, np.float64)
        self.solution = empty(self.types.shape, np.float64) if alpha is None else copied(alpha)
        if alpha is None:
            launch(maximise.begin, self.solution.size, self.types, on_card(scale), self.solution)

    def solve_on_card(self, lambdas: Any, n_steps: int) -> None:
        """Solutions for these lambdas, which are on the card."""
        first = self.stats.words, self.tokens.level_first
        rest = self.stats.scale, self.types, self.occurrences, lambdas, n_steps, self.solution, self.slope
        launch(maximise.solve, self.types.size, *first, TALL, *rest)
        self._launch_tall(tall.solve, *first, *rest)

    def solve(self, lambdas: Array, n_steps: int) -> tuple[Array, Array]:
        """Sum of alpha and of ``-1 / g'`` over the words, for each topic with a positive lambda."""
        self._lambdas = lambdas
        self.solve_on_card(on_card(lambdas), n_steps)
        return np.where(lambdas > 0, host_sums(self.solution), 0.0), host_sums(self.slope)

    def move(self, lambdas: Any, change: Any, type_factors: Any, token_factors: Any) -> Any:
        """`maximise.move`."""
        result = empty(self.types.shape, np.float64)
        args = self.types, self.occurrences, lambdas, change, type_factors, token_factors
        launch(maximise.move, result.size, *args, self.solution, self.slope, result)
        return result

    def alpha(self, lambdas: Array) -> Any:
        """The solutions, W x K: those of the last solve, moved along their slopes to these lambdas."""
        none = on_card(np.zeros_like(lambdas))
        return self.move(on_card(lambdas), on_card(lambdas - self._lambdas), none, none)

    def set_limits(self, alpha: Any, no_repeat: Array, one_word: Array) -> None:
        """Where s has no finite maximum: the multinomial's proportions at S_MAX, the first words' at S_MIN."""
        kept = copied(alpha)
        factors = []
        for at_limit, weights, s in ((one_word, self.types, S_MIN), (no_repeat, self.occurrences, S_MAX)):
            sums = host_sums(weights)
            factors.append(on_card(np.divide(s, sums, out=np.zeros_like(sums), where=at_limit & (sums > 0))))
        launch(maximise.set_limits, alpha.size, self.types, self.occurrences, kept, *factors, alpha)


def solve_beta(stats: Any, last: Any) -> tuple[Any, Any]:
    """beta of greatest likelihood and the background, from the start."""
    urns = CardUrns(stats, last.shape)
    urns.totals = np.asarray(urns.sums_of_types.copy_to_host()[0])
    return _spread(stats, solve_urns(urns, stats.of_mixtures().sizes(), None), last)


def step_beta(stats: Any, last: Any, s: Any) -> tuple[Any, Any]:
    """beta after one step from ``last``, whose sums are ``s`` (1 x K), and the background."""
    return _spread(stats, _stepped(stats, last, s), last)


def draw_beta(stats: Any, last: Any, s: Any, seed: int, number: int) -> tuple[Any, Any]:
    """The same with the words of each topic drawn: `dcmlda.draw_params`."""
    beta = _stepped(stats, last, s)
    s, lambdas, draws, given, background = _discounted(stats, beta)
    gammas, new = empty(beta.shape, np.float64), empty(lambdas.shape, np.float64)
    stream = seed, number + streams.TOPIC_WORDS
    launch(variates.draw_pairs, gammas.size, draws, given, *stream, gammas)
    shares = column_sums(given), column_sums(draws), FLOOR, beta.size
    launch(variates.draw_new, new.size, s, lambdas, *shares, *stream, new)
    launch(variates.normalise, beta.size, gammas, new, column_sums(gammas), s, FLOOR, background, last, beta)
    return beta, background


def _stepped(stats: Any, last: Any, s: Any) -> Any:
    urns, n_topics = CardUrns(stats, last.shape), last.shape[1]
    state, sizes = empty((n_topics,), np.int32), _sum_sizes(stats, s)
    lambdas, change, type_factors, token_factors = (empty((n_topics,), np.float64) for _ in range(4))
    launch(by_topic.begin_lambda, n_topics, urns.sums_of_types, sizes, state, lambdas)
    urns.start(np.empty(0), last)
    urns.solve_on_card(lambdas, 1)
    s, slopes = column_sums(urns.solution), column_sums(urns.slope)
    args = s, slopes, S_MIN, S_MAX, state, lambdas, change, type_factors, token_factors
    launch(by_topic.step_lambda, n_topics, urns.sums_of_types, _sum_sizes(stats, s), *args)
    return urns.move(lambdas, change, type_factors, token_factors)


def _sum_sizes(stats: Any, s: Any) -> Any:
    """`topics.sum_sizes`; s is 1 x K."""
    n_topics = len(stats.mixtures)
    sizes = empty((n_topics, 4), np.float64)
    launch_blocks(by_topic.sum_sizes, n_topics, by_topic.THREADS, stats.mixtures, stats.scale, s, sizes)
    return sizes


def _spread(stats: Any, beta: Any, last: Any) -> tuple[Any, Any]:
    """`PairUrns.discounted` and what `dcmlda.learn_beta` makes of it; beta is changed in place."""
    s, _, draws, given, background = _discounted(stats, beta)
    args = draws, given, s, column_sums(given), column_sums(draws), FLOOR, background, last
    launch(maximise.add_background, beta.size, beta, *args)
    return beta, background


def _discounted(stats: Any, beta: Any) -> tuple[Any, ...]:
    """s (1 x K), draws per unit of beta (K), draws of each pair and those it gives up (W x K), the background (W)."""
    n_words, n_topics = beta.shape
    s = column_sums(beta)
    lambdas = empty((n_topics,), np.float64)
    launch(by_topic.pick, n_topics, _sum_sizes(stats, s), by_topic.SLOPE, lambdas)
    numbers, topics = zeros((3,), np.int32), zeros((n_words,), np.int32)
    launch(maximise.count_draws, beta.size, beta, lambdas, numbers, topics)
    given, draws, background = (empty(shape, np.float64) for shape in (beta.shape, beta.shape, (n_words,)))
    launch(maximise.give_up, beta.size, beta, lambdas, numbers, given, draws)
    launch(maximise.weigh_words, n_words, topics, numbers, UNSEEN, background)
    return s, lambdas, draws, given, background


def learn_alpha(stats: Any, start: Any, s: Any) -> Any:
    """`topics.base.learn_alpha` on the card, from ``start``; s is anything positive."""
    n_topics, one, each = len(start), (1, by_topic.THREADS), (len(start), by_topic.THREADS)
    sums, alpha, slope = _sum_sizes(stats, s), copied(start), zeros((n_topics,), np.float64)
    search, result = empty((5,), np.float64), empty((n_topics,), np.float64)
    launch_blocks(by_topic.begin_alpha, *one, *stats.lengths, sums, alpha, search)
    # A search that has ended costs next to nothing, and one that has not goes on in the next iteration.
    for _ in range(_MAX_STEPS):
        args = stats.mixtures, stats.scale, sums, search, _MAX_STEPS, alpha, slope
        launch_blocks(by_topic.solve_alpha, *each, *args)
        args = *stats.lengths, sums, alpha, slope, S_MIN, S_MAX, _NEAR, search
        launch_blocks(by_topic.step_alpha, *one, *args)
    launch_blocks(by_topic.finish_alpha, *one, sums, alpha, slope, S_MIN, S_MAX, FLOOR, search, result)
    return result
