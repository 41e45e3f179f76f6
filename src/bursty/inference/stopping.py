"""Stopping rules, which look at the trace of a run.

A rule is a class with one method, ``settled(trace)``. The run must record in its trace what the rule looks at. A new
rule is one class here; the schedule of a run names the rule to use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bursty.inference.runs import Trace
from bursty.metrics import effective_sample_size, normalized_mutual_information, r_hat
from bursty.typing import Array

#: Largest R-hat of chains that have settled: the variance of the chains' means is then a tenth of that within a chain.
MOST_R_HAT = 1.05
#: Least effective sample size: the error of a posterior mean is then a tenth of the posterior's standard deviation.
LEAST_ESS = 100.0


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
    in relative terms (never, if ``tol`` is 0): Monte Carlo EM, whose steps are noisy. The first ``n_skipped`` steps do
    not count.
    """

    tol: float
    window: int = 10
    n_skipped: int = 0

    def settled(self, trace: Trace) -> bool:
        """Compare the last two windows."""
        values, window = np.asarray(trace["log_likelihood"])[self.n_skipped :], self.window
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


@dataclass(frozen=True)
class ChainsAgree:
    """Chains of a sampler agree with each other, and have moved enough to say so; judged on several numbers at once."""

    most_r_hat: float = MOST_R_HAT
    least_ess: float = LEAST_ESS

    @staticmethod
    def diagnose(values: Mapping[str, Array]) -> dict[str, dict[str, float]]:
        """R-hat and effective sample size of each number (chains x draws); empty if there are fewer than 4 draws."""
        return {
            name: {"r_hat": r_hat(chains), "ess": effective_sample_size(chains)}
            for name, chains in values.items()
            if chains.shape[1] >= 4
        }

    def settled(self, diagnostics: Mapping[str, Mapping[str, float]]) -> bool:
        """Whether every number is within the bounds."""
        return bool(diagnostics) and not self.complaints(diagnostics)

    def complaints(self, diagnostics: Mapping[str, Mapping[str, float]]) -> list[str]:
        """What is out of bounds, in words."""
        found = []
        for name, facts in diagnostics.items():
            said = []
            if not facts["r_hat"] <= self.most_r_hat:
                said.append(f"R-hat {facts['r_hat']:.2f} (above {self.most_r_hat:g})")
            if not facts["ess"] >= self.least_ess:
                said.append(f"effective sample size {facts['ess']:.0f} (below {self.least_ess:g})")
            if said:
                found.append(f"{name}: {', '.join(said)}")
        return found
