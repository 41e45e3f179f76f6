"""The measures once more, by loops over their definitions. Imports nothing of bursty."""

from __future__ import annotations

import math
from collections import Counter


def entropy(labels):
    n = len(labels)
    return -sum(c / n * math.log(c / n) for c in Counter(labels).values())


def mutual_information(a, b):
    n = len(a)
    joint, left, right = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    return sum(c / n * math.log((c / n) / (left[i] / n * right[j] / n)) for (i, j), c in joint.items())


def yu2010_eq18(classes, clusters):
    """In numbers of documents, with the factor d that makes equal partitions give 1."""
    d = len(classes)
    d_h, c_l, d_hl = Counter(classes), Counter(clusters), Counter(zip(classes, clusters, strict=True))
    above = sum(n * math.log(d * n / (d_h[h] * c_l[c])) for (h, c), n in d_hl.items())
    below = sum(n * math.log(n / d) for n in d_h.values()) * sum(n * math.log(n / d) for n in c_l.values())
    return above / math.sqrt(below)


def break_even_of_class(truth, scores):
    """Walk all thresholds (and the one above all scores); average over the nearest to as many as are true."""
    n_true = sum(truth)
    if n_true == 0:
        return math.nan
    found = {}
    for threshold in [*sorted(set(scores)), None]:
        called = [t for t, s in zip(truth, scores, strict=True) if threshold is not None and s >= threshold]
        precision = sum(called) / len(called) if called else 0.0
        found.setdefault(abs(len(called) - n_true), []).append((precision + sum(called) / n_true) / 2)
    nearest = found[min(found)]
    return sum(nearest) / len(nearest)


def burstiness(rows):
    cells = [x for row in rows for x in row if x > 0]
    return sum(cells) / len(cells) if cells else math.nan


def count_probability(rows, words, x):
    """Share of the pairs (document, word of the group) whose count is x."""
    pairs = [row[w] for row in rows for w in words]
    return sum(value == x for value in pairs) / len(pairs)
