"""Stopping rules, which look at the trace of a run.

A rule is a class with one method, ``settled(trace)``. The run must record in its trace what the rule looks at. A new
rule is one class here; the schedule of a run names the rule to use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bursty.inference.runs import Trace
from bursty.metrics import normalized_mutual_information

Array = np.ndarray[Any, Any]


class Rule(Protocol):
    """A stopping rule."""

    def settled(self, trace: Trace) -> bool:
        """Whether further steps would change little."""


@dataclass(frozen=True)
class RelativeChange:
    """The log-likelihood changed by at most ``tol`` in relative terms in the last step: EM at one temperature."""

    tol: float

    def settled(self, trace: Trace) -> bool:
        """Compare the last two steps."""
        values = trace["log_likelihood"]
        return len(values) > 1 and bool(abs(values[-1] - values[-2]) <= self.tol * abs(values[-1]))


@dataclass(frozen=True)
class Moved:
    """Responsibilities moved by at most ``tol`` per document in the last step: EM that maximises no likelihood."""

    tol: float = 0.002

    def settled(self, trace: Trace) -> bool:
        """Look at the last step."""
        return bool(trace["moved"]) and bool(trace["moved"][-1] <= self.tol)


@dataclass(frozen=True)
class ChangePerDocument:
    """The log-likelihood changed by at most ``tol`` nats per document, and responsibilities moved little: EM to the
    maximum. A tolerance relative to the whole log-likelihood would stop early on long documents.
    """

    tol: float
    moved: Moved = Moved()

    def settled(self, trace: Trace) -> bool:
        """Compare the last two steps."""
        values = trace["log_likelihood"]
        return len(values) > 1 and bool(abs(values[-1] - values[-2]) <= self.tol) and self.moved.settled(trace)


@dataclass(frozen=True)
class MeanGain:
    """The mean log-likelihood of the last ``window`` steps exceeds that of the ``window`` before by at most ``tol``,
    in relative terms (never, if ``tol`` is 0): Monte Carlo EM, whose steps are noisy.
    """

    tol: float
    window: int = 10

    def settled(self, trace: Trace) -> bool:
        """Compare the last two windows."""
        values, window = np.asarray(trace["log_likelihood"]), self.window
        if self.tol == 0 or len(values) < 2 * window:
            return False
        gain = values[-window:].mean() - values[-2 * window : -window].mean()
        return bool(gain <= self.tol * abs(values[-1]))


@dataclass(frozen=True)
class SamePartition:
    """The last two partitions agree, as normalized mutual information measures it: chains of clusterings."""

    least: float = 0.999

    def settled(self, trace: Trace) -> bool:
        """Compare the last two partitions."""
        if len(trace["partition"]) < 2:
            return False
        before, last = trace["partition"][-2:]
        n_clusters = len(np.unique(last))
        if n_clusters != len(np.unique(before)):
            return False
        return n_clusters == 1 or normalized_mutual_information(last, before) >= self.least
