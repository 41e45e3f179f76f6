"""Expected number of independent draws behind the counts of a word, less what was fitted: for the estimator of s.

A Polya urn is a Chinese restaurant: draw j + 1 of a word in a document is a new draw from the initial urn with
probability ``a / (a + j)`` and a copy otherwise. With tails T_j (weight of the documents that have the word more than j
times) a word has

    tables  K = sum_j T_j a / (a + j)           expected number of new draws
    shape   R = sum_j T_j (a / (a + j))^2       information about log a

The proportions were fitted to the same counts, so that a is known up to a factor of variance 1 / R. Averaged over it,
the tables are ``K - B``,

    B = sum_j T_j j / (a + j) d_j / (1 - d_j),   d_j = (a / (a + j))^2 / (R + c)

with c the prior's share of the shape. To first order in d this is the term of Cox and Reid, ``1/2 d log R / d log a``;
the quotient makes it exact where a is large (the mean of 1 / a under a gamma distribution of shape R). No draw is
removed more than once: each term is at most ``T_j a / (a + j)``.
"""

from __future__ import annotations

from bursty.kernels.compile import kernel
from bursty.kernels.polya import SHORT, inverse_sums

#: Abscissae and half weights of Gauss and Legendre on (0, 1): blocks of long steps are integrated.
NODES = (0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970262)
WEIGHTS = (0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692)


@kernel
def removed(a, j, shape):
    """The term of B for one j, of weight 1; what it is to first order; its derivative with respect to log a less that
    through the shape; and what the derivative of log shape is to be multiplied with."""
    share = a / (a + j)
    d = share * share / shape
    first = (1.0 - share) * d
    if d >= 1.0 or first >= share * (1.0 - d):
        return share, first, share * (1.0 - share), 0.0
    term, gain = first / (1.0 - d), 1.0 / (1.0 - d)
    return term, first, term * (2.0 * (1.0 - share) * gain - share), term * gain


@kernel
def removed_sum(a, lo, hi, shape):
    """Sums of `removed` over lo <= j < hi, for lo >= 1; blocks that grow by half are integrated from 4 SHORT on."""
    total, first, change, through = 0.0, 0.0, 0.0, 0.0
    while lo < hi and lo < 4 * SHORT:
        term = removed(a, float(lo), shape)
        total += term[0]
        first += term[1]
        change += term[2]
        through += term[3]
        lo += 1
    while lo < hi:
        stop = min(hi, lo + (lo >> 1))
        for i in range(4):
            term = removed(a, lo - 0.5 + NODES[i] * (stop - lo), shape)
            weight = WEIGHTS[i] * (stop - lo)
            total += weight * term[0]
            first += weight * term[1]
            change += weight * term[2]
            through += weight * term[3]
        lo = stop
    return total, first, change, through


@kernel
def pair_tables(a, types, offset, values, tails, c):
    """K, B and dB / d log a of one word; j runs from 1 to below its levels, ``values + offset``."""
    tables, shape, lo = types, types, 1
    for level in range(len(values)):
        hi = values[level] + offset
        if hi > lo and tails[level] > 0.0:
            first, second = inverse_sums(a, lo, hi)
            tables += tails[level] * a * first
            shape += tails[level] * a * a * second
            lo = hi
    shape = max(shape + c, 1e-3 * types)
    bias, to_first_order, change, through, lo = 0.0, 0.0, 0.0, 0.0, 1
    for level in range(len(values)):
        hi = values[level] + offset
        if hi > lo and tails[level] > 0.0:
            sums = removed_sum(a, lo, hi, shape)
            bias += tails[level] * sums[0]
            to_first_order += tails[level] * sums[1]
            change += tails[level] * sums[2]
            through += tails[level] * sums[3]
            lo = hi
    return tables, bias, change - 2.0 * to_first_order * through


@kernel
def table_of_tables(first, values, tails, types, alpha, own, tables, bias, change, start, stop):
    """`pair_tables` of words ``start`` to ``stop`` in all components: W x K, from levels of repeats x components."""
    for word in range(start, stop):
        begin, end = first[word], first[word + 1]
        for k in range(types.shape[1]):
            result = types[word, k], 0.0, 0.0
            if begin < end and tails[begin, k] > 0.0 and alpha[word, k] > 0.0:
                levels = values[begin:end], tails[begin:end, k]
                result = pair_tables(alpha[word, k], types[word, k], 1, levels[0], levels[1], own[word, k])
            tables[word, k], bias[word, k], change[word, k] = result


@kernel
def list_of_tables(first, values, tails, types, alpha, own, tables, bias, change, start, stop):
    """`pair_tables` of pairs ``start`` to ``stop``, from their levels of counts."""
    for pair in range(start, stop):
        begin, end = first[pair], first[pair + 1]
        result = types[pair], 0.0, 0.0
        if values[end - 1] > 1 and alpha[pair] > 0.0:
            levels = values[begin:end], tails[begin:end]
            result = pair_tables(alpha[pair], types[pair], 0, levels[0], levels[1], own[pair])
        tables[pair], bias[pair], change[pair] = result
