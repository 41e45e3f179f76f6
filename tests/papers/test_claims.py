"""Claims of the papers, checked on made-up measurements: each holds where it should, and can fail."""

from __future__ import annotations

import pytest

from bursty.papers import entries
from bursty.papers.entry import Measurements, NotMeasured

ENTRIES = entries()


def check(entry, begins, by_case):
    """The share of a claim, which begins with these words, that holds for these measurements."""
    (claim,) = (claim for claim in ENTRIES[entry].claims if claim.text.startswith(begins))
    return claim.check(Measurements(by_case))


def runs(measure, *values):
    return [{measure: value} for value in values]


@pytest.mark.parametrize(
    ("begins", "annealed", "plain"),
    [
        ("slower annealing brings no significant benefit", "EDCM, slower annealing", "EDCM"),
        ("von Mises-Fisher does not benefit from annealing", "vMF, annealing", "vMF"),
    ],
)
def test_annealing_brings_nothing(begins, annealed, plain):
    low, high = runs("MI", 0.4, 0.42, 0.41), runs("MI", 0.5, 0.52, 0.51)
    worse = {f"Classic400, {annealed}": low, f"Classic400, {plain}": high}
    better = {f"NIPS, {annealed}": high, f"NIPS, {plain}": low}
    assert check("elkan2006.figure2", begins, worse) == 1.0
    assert check("elkan2006.figure2", begins, better) == 0.0
    assert check("elkan2006.figure2", begins, worse | better) == 0.5
    noise = {f"NIPS, {annealed}": runs("MI", 0.3, 0.7), f"NIPS, {plain}": low}
    assert check("elkan2006.figure2", begins, noise) == 1.0  # a gain within two standard errors is none
    with pytest.raises(NotMeasured):
        check("elkan2006.figure2", begins, {f"NIPS, {annealed}": high[:1], f"NIPS, {plain}": low[:1]})


@pytest.mark.parametrize("table", ["madsen2005.table1", "madsen2005.table2"])
def test_classification_of_madsen(table):
    def found(begins, **means):
        names = {"M": "M, smoothing 0.01", "best": "C-TW-L-M, smoothing 0.01", "complement": "C-DCM"}
        noise = (-0.001, 0.0, 0.0005, 0.001)
        return check(
            table, begins, {names.get(k, k): runs("accuracy", *(v + e for e in noise)) for k, v in means.items()}
        )

    scaled = "a Dirichlet on scaled documents is not useful"
    assert found(scaled, M=0.8, Dirichlet=0.2)
    assert not found(scaled, M=0.8, Dirichlet=0.81)
    heuristics = "complement DCM does not differ significantly"
    uneven = runs("accuracy", 0.80, 0.83, 0.79, 0.82)
    other = runs("accuracy", 0.81, 0.80, 0.81, 0.81)
    assert check(table, heuristics, {"C-DCM": uneven, "C-TW-L-M, smoothing 0.01": other})
    assert not check(table, heuristics, {"C-DCM": other, "C-TW-L-M, smoothing 0.01": runs("accuracy", *[0.7] * 4)})
    smoothing = "smoothing 0.01 is better than 1"
    both = {f"{m}, smoothing {e}": runs("accuracy", v) for m, e, v in (("M", 0.01, 0.8), ("M", 1, 0.6))}
    assert check(table, smoothing, both) == 1.0
    both |= {f"{m}, smoothing {e}": runs("accuracy", v) for m, e, v in (("L-M", 0.01, 0.6), ("L-M", 1, 0.8))}
    both |= {f"C-M, smoothing {e}": runs("accuracy", v) for e, v in ((0.01, 0.6), (1, 0.8))}  # not said of these
    assert check(table, smoothing, both) == 0.5


@pytest.mark.parametrize(("computer", "estate", "holds"), [(25, 24, 1.0), (25, 14, 0.5), (22, 14, 0.0)])
def test_the_first_25_stocks_are_in_one_sector(computer, estate, holds):
    measured = {
        "computer related": runs("top 25 in the sector", computer),
        "real estate": runs("top 25 in the sector", estate),
    }
    assert check("doyle2009.table1", "the 25 most likely stocks", measured) == holds


@pytest.mark.parametrize(("begins", "case", "measure", "most"), [
    ("half of the six", "both models, computer related", "shared with LDA's top 6", 3),
    ("the six most likely", "both models, real estate", "shared with LDA's top 15", 6),
])  # fmt: skip
def test_topics_of_both_models_overlap(begins, case, measure, most):
    assert check("doyle2009.table2", begins, {case: runs(measure, most)})
    assert not check("doyle2009.table2", begins, {case: runs(measure, most - 1)})


def test_the_papers_own_design_is_judged_apart_from_ours():
    one = {"synthetic": runs("% perfect runs", 100, 100, 0), "new collections": runs("% perfect runs", 100, 100, 100)}
    assert check("yu2010.figure4", "the true partition of synthetic data", one) == 0.0
    assert check("yu2010.figure4", "the same with a new collection", one) == 1.0
