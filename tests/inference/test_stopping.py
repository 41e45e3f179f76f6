"""Stopping rules at and around their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from bursty.inference.runs import Trace
from bursty.inference.stopping import ChainsAgree, ChangePerDocument, MeanGain, Moved, RelativeChange, SamePartition


def trace(values):
    return Trace({"log_likelihood": list(values)})


def test_rules():
    assert not RelativeChange(1.0).settled(trace([-5.0]))
    assert RelativeChange(0.1).settled(trace([-5.0, -4.9]))
    assert not RelativeChange(0.01).settled(trace([-5.0, -4.9]))
    assert not MeanGain(0.0, 2).settled(trace([1.0] * 10))
    assert not MeanGain(0.1, 2).settled(trace([1.0] * 3))
    assert MeanGain(0.1, 2).settled(trace([1.0] * 4))
    assert not MeanGain(0.1, 2).settled(trace([1.0, 1.0, 2.0, 2.0]))
    assert MeanGain(0.1, 2, n_skipped=2).settled(trace([1.0, 1.0, 2.0, 2.0, 2.0, 2.0]))
    assert not MeanGain(0.1, 2, n_skipped=2).settled(trace([1.0] * 5))
    same, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert not SamePartition().settled(Trace({"partition": [same]}))
    assert SamePartition().settled(Trace({"partition": [other, same, 1 - same]}))
    assert not SamePartition().settled(Trace({"partition": [same, other]}))
    assert SamePartition().settled(Trace({"partition": [same * 0, same * 0 + 3]}))
    assert not SamePartition().settled(Trace({"partition": [same, same * 0]}))


def test_rules_of_em():
    seen = Trace({"log_likelihood": [-5.0, -4.0, -3.9995], "moved": [1.0, 0.5, 0.001]})
    assert Moved(0.002).settled(seen)
    assert not Moved(0.0005).settled(seen)
    assert ChangePerDocument(1e-3).settled(seen)
    assert not ChangePerDocument(1e-4).settled(seen)
    assert not ChangePerDocument(10.0).settled(seen.until(2))  # documents still move


def test_rules_at_their_bounds():
    """What a rule allows at most, it allows."""
    assert RelativeChange(0.25).settled(trace([-5.0, -4.0]))
    assert RelativeChange(0.25).settled(trace([-3.0, -4.0]))
    assert not RelativeChange(0.2).settled(trace([-5.0, -4.0]))
    assert MeanGain(0.5, 1).settled(trace([1.0, 2.0]))
    assert not MeanGain(0.49, 1).settled(trace([1.0, 2.0]))
    assert MeanGain(0.25, 2).settled(trace([9.0, -6.0, -4.0, -5.0, -3.0, -3.0, -5.0]))  # -4.5 to -4 of 5
    assert not MeanGain(0.09, 2).settled(trace([9.0, -6.0, -4.0, -5.0, -4.0, -3.0, -5.0]))
    assert Moved(0.25).settled(Trace({"moved": [0.25]}))
    assert not Moved().settled(Trace({"moved": []}))
    slow = Trace({"log_likelihood": [1.0, 1.5], "moved": [0.0, 0.0]})
    assert ChangePerDocument(0.5).settled(slow)
    assert not ChangePerDocument(0.49).settled(slow)
    assert not ChangePerDocument(0.5).settled(slow.until(1))
    nearly = np.arange(1000) % 2
    other = nearly.copy()
    other[0] = 1
    assert not SamePartition(0.999).settled(Trace({"partition": [nearly, other]}))
    assert SamePartition(0.98).settled(Trace({"partition": [nearly, other]}))


def test_chains_agree():
    rule = ChainsAgree(1.05, 100.0)
    good = {"r_hat": 1.05, "ess": 100.0}
    assert rule.settled({"a": good})
    assert not rule.settled({})
    for worse, said in (
        ({"r_hat": 1.06, "ess": 100.0}, "b: R-hat 1.06 (above 1.05)"),
        ({"r_hat": 1.0, "ess": 99.0}, "b: effective sample size 99 (below 100)"),
        ({"r_hat": np.nan, "ess": 500.0}, "b: R-hat nan (above 1.05)"),
        ({"r_hat": 1.0, "ess": np.nan}, "b: effective sample size nan (below 100)"),
    ):
        assert not rule.settled({"a": good, "b": worse})
        assert rule.complaints({"a": good, "b": worse}) == [said]
    both = rule.complaints({"b": {"r_hat": 2.0, "ess": 3.0}})
    assert both == ["b: R-hat 2.00 (above 1.05), effective sample size 3 (below 100)"]


def test_chains_are_diagnosed_from_four_draws_on():
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(2, 400)) + np.array([[0.0], [5.0]])
    found = ChainsAgree.diagnose(
        {"few": apart[:, :3], "four": apart[:, :4], "same": rng.normal(size=(2, 400)), "apart": apart}
    )
    assert list(found) == ["four", "same", "apart"]
    assert found["same"]["r_hat"] == pytest.approx(1.0, abs=0.02)
    assert found["apart"]["r_hat"] > 3
    assert ChainsAgree().settled({"same": found["same"]})
    assert not ChainsAgree().settled(found)
