"""The two recurrences behind the normaliser of the EDCM. All terms are positive, so that nothing cancels.

Both compute the law of a sum of independent 0/1 variables. Probabilities down to `TINY` have full relative accuracy;
smaller ones are dropped along the way.
"""

from __future__ import annotations

import math

from bursty.kernels.compile import kernel

TINY = 1e-290


@kernel
def _add_variable(law, low, high, one, zero):
    """Add a variable that is 1 with probability ``one`` and 0 with ``zero``; the law is supported on [low, high]."""
    top = min(high + 1, len(law) - 1)
    for j in range(top, max(low, 1) - 1, -1):
        law[j] = law[j] * zero + law[j - 1] * one
    if low == 0:
        law[0] *= zero
    elif low <= top:
        law[low - 1] = 0.0
    while top > low and law[top] < TINY:
        law[top] = 0.0
        top -= 1
    while low < top and law[low] < TINY:
        law[low] = 0.0
        low += 1
    return low, top


@kernel
def bernoulli_sum(odds, law):
    """Law of the number of successes, with these odds of success.

    Equivalent to the coefficients of ``prod_w (1 + odds_w t) / (1 + odds_w)``, up to the degree that ``law`` has.
    ``law[0]`` must be 1 and the rest 0 on entry.
    """
    low, high = 0, 0
    for i in range(len(odds)):
        zero = 1.0 / (1.0 + odds[i])
        low, high = _add_variable(law, low, high, odds[i] * zero, zero)


@kernel
def occupancy_sums(y, lengths, log_terms, law, out):
    """``out[i] = log sum_j P_y(J = j | lengths[i]) exp(log_terms[j])``.

    J is the number of tables of a Chinese restaurant with concentration y after ``lengths[i]`` customers: a sum of
    independent 0/1 variables with probabilities y / (y + i). ``lengths`` increase; ``law`` is scratch for the law of J,
    ``law[0]`` = 1 and the rest 0 on entry.
    """
    low, high, seated = 0, 0, 0
    for place in range(len(lengths)):
        while seated < lengths[place]:
            low, high = _add_variable(law, low, high, y / (y + seated), seated / (y + seated))
            seated += 1
        largest = -math.inf
        for j in range(low, high + 1):
            if law[j] > 0.0:
                largest = max(largest, math.log(law[j]) + log_terms[j])
        total = 0.0
        for j in range(low, high + 1):
            if law[j] > 0.0:
                total += math.exp(math.log(law[j]) + log_terms[j] - largest)
        out[place] = largest + math.log(total)
