"""The M step of mixtures of urns on a GPU: one thread per pair of a word and a component.

| name | what | shape |
|---|---|---|
| first | index of the first level of each word | W + 1 |
| values | repeats of the word, increasing within a word | levels |
| weights | weight of the documents at each level | levels x K |
| types | weight of the documents that have the word | W x K |
| lambdas | slope that all words share | K |
"""

from __future__ import annotations

from numba import cuda

from bursty.kernels.cuda.rising import inverse_sums

# Newton squares the error: a relative change this small is the last one needed.
_SMALL = 1e-6


@cuda.jit(cache=True)
def add_column(table, column, out):
    """``out = table + column[:, None]``."""
    pair = cuda.grid(1)
    if pair < out.size:
        row, k = pair // out.shape[1], pair % out.shape[1]
        out[row, k] = table[row, k] + column[row]


@cuda.jit(cache=True)
def scale_columns(table, factors, is_quotient, out):
    """``out = table * factors``, or ``table / factors``."""
    pair = cuda.grid(1)
    if pair < out.size:
        row, k = pair // out.shape[1], pair % out.shape[1]
        out[row, k] = table[row, k] / factors[k] if is_quotient else table[row, k] * factors[k]


@cuda.jit(cache=True)
def expected_draws(first, values, weights, types, alpha, out):
    """`bursty.kernels.polya.expected_draws`; levels are weights of their own here, not tails."""
    pair = cuda.grid(1)
    if pair < out.size:
        word, k = pair // out.shape[1], pair % out.shape[1]
        a, again = alpha[word, k], 0.0
        for level in range(first[word], first[word + 1]):
            if weights[level, k] > 0.0:
                again += weights[level, k] * inverse_sums(a + 1.0, values[level])[0]
        out[word, k] = types[word, k] + a * again


@cuda.jit(cache=True)
def solve(first, values, weights, types, lambdas, max_steps, alpha, slope):
    """`bursty.kernels.maximise.solve_pairs` for all pairs; those without repeats have ``types / lambda``.

    A component whose lambda is not positive is left alone; words that it does not repeat get 0.
    """
    pair = cuda.grid(1)
    if pair < alpha.size:
        word, k = pair // alpha.shape[1], pair % alpha.shape[1]
        begin, end, target = first[word], first[word + 1], lambdas[k]
        repeats = 0.0
        for level in range(begin, end):
            repeats += weights[level, k]
        least = types[word, k] / target if target > 0.0 else 0.0
        if repeats <= 0.0:
            alpha[word, k], slope[word, k] = least, least / target if target > 0.0 else 0.0
        elif target > 0.0:
            a, change = max(alpha[word, k], least), 0.0
            for _ in range(max_steps):
                g = types[word, k] / a
                q = g / a
                for level in range(begin, end):
                    if weights[level, k] > 0.0:
                        first_sum, second_sum = inverse_sums(a + 1.0, values[level])
                        g += weights[level, k] * first_sum
                        q += weights[level, k] * second_sum
                before = a
                a = max(least, before + g * (g / target - 1.0) / q)
                change = (g / target) ** 2 / q
                if abs(a - before) <= _SMALL * a:
                    break
            alpha[word, k], slope[word, k] = a, change


@cuda.jit(cache=True)
def move(types, lambdas, changes, alpha, slope, out):
    """The solutions, moved along their slopes to ``lambdas``, which are higher by ``changes``."""
    pair = cuda.grid(1)
    if pair < out.size:
        word, k = pair // out.shape[1], pair % out.shape[1]
        out[word, k] = max(types[word, k] / lambdas[k], alpha[word, k] - slope[word, k] * changes[k])
