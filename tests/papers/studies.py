"""Measures of no paper, for tests of the framework; in a module of their own, so that processes can import them."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from bursty.datasets import DatasetUnavailable


def draw(run, level=0.0):
    """A number that depends on the seed; JSON needs a plain one."""
    return {"NMI": level + run.seed / 10, "seed": run.seed}


ASKED = []


def missing(run):
    ASKED.append(run.seed)
    raise DatasetUnavailable("the corpus 'atlantis' is not on this machine")


def slow_to_converge(run):
    warnings.warn("not yet", ConvergenceWarning, stacklevel=2)
    return {"NMI": 0.5}
