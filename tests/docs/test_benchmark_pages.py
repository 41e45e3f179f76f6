"""The harness of comparisons with other libraries, and the page that is made from what it writes."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from benchmarks import scaling
from benchmarks.peers import harness, tables
from benchmarks.peers.harness import Case, Column, Contender, r_version, run, show, write
from scipy.special import gammaln

from doc_pages import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import benchmark_pages
import scaling_page


@pytest.fixture
def result():
    calls = []

    def work(name, seconds, score):
        def one(data, seed):
            calls.append((name, data, seed))
            return {"seconds": seconds * (1 + seed), "score": score}

        return one

    case = Case(
        name="toy",
        title="A toy",
        work="Count.",
        data="nothing",
        load=lambda short: "short" if short else "long",
        contenders={
            "ours": Contender(work("ours", 2.0, 0.5), "bursty"),
            "theirs": Contender(work("theirs", 1.0, 0.9), "numpy"),
            "absent": Contender(work("absent", 1.0, 1.0), "no-such-package-anywhere"),
        },
        columns=(Column("seconds", "time, s", "low", is_time=True), Column("score", "score", "high")),
        rounds=(3, 1),
    )
    return run(case, short=False), calls


def test_contenders_take_turns_after_a_warm_up(result):
    found, calls = result
    assert calls[:2] == [("ours", "short", 0), ("theirs", "short", 0)]
    assert calls[2:] == [(name, "long", seed) for seed in range(3) for name in ("ours", "theirs")]
    assert found["missing"] == ["absent"]
    assert set(found["versions"]) == {"bursty", "numpy"}


def test_medians_ranges_and_ratios_within_rounds(result):
    found, _ = result
    ours, theirs = (row["values"] for row in found["rows"])
    assert ours["seconds"] == {"median": 4.0, "low": 2.0, "high": 6.0}
    assert theirs["seconds_ratio"] == {"median": 0.5, "low": 0.5, "high": 0.5}


def test_the_page_has_table_picture_and_who_wins(result, tmp_path, monkeypatch, capsys):
    found, _ = result
    show(found)
    assert "theirs" in capsys.readouterr().out
    write({**found, "note": "Defaults have changed since."}, tmp_path / "results")
    monkeypatch.setattr(benchmark_pages, "RESULTS", tmp_path / "results")
    benchmark_pages.write_all(tmp_path)
    page = (tmp_path / "benchmarks" / "peers.md").read_text(encoding="utf-8")
    assert "| theirs | **2** | **0.9** | 0.5 |" in page
    assert "| [A toy](#peers-toy) |  | time (theirs); score (theirs) |" in page
    assert "(peers-toy)=\n## A toy" in page
    assert "Others are best in: time (theirs); score (theirs)." in page
    assert "(theirs). Not installed, or too slow: absent. Defaults have changed since." in page
    assert (tmp_path / "benchmarks" / "generated" / "toy.svg").stat().st_size > 1000


def test_exponents_are_those_of_power_laws():
    sizes = [10.0, 20.0, 40.0, 80.0]
    found = scaling.exponents(sizes, [3 * size**1.5 for size in sizes])
    assert found == pytest.approx({"exponent": 1.5, "error": 0.0, "last": 1.5}, abs=1e-12)
    noisy = scaling.exponents(sizes, [1.0, 2.0, 4.0, 16.0])
    slope, covariance = np.polyfit(np.log(sizes), np.log([1.0, 2.0, 4.0, 16.0]), 1, cov=True)
    assert noisy["exponent"] == pytest.approx(slope[0])
    assert noisy["error"] == pytest.approx(np.sqrt(covariance[0, 0]))
    assert noisy["last"] == pytest.approx(2.0)
    assert scaling.exponents([1, 2], [4.0, 2.0]) == {"exponent": -1.0, "error": None, "last": -1.0}


def test_sizes_take_turns_and_the_first_round_does_not_count():
    calls, now = [], [0.0]

    def work(seconds):
        def one():
            calls.append(seconds)
            now[0] += seconds * (10 if len(calls) <= 2 else 1)

        return one

    assert scaling.in_turn([work(1.0), work(2.0)], 2, lambda: now[0]) == [[1.0, 1.0], [2.0, 2.0]]
    assert calls == [1.0, 2.0] * 3


@pytest.mark.parametrize("work", scaling.WORKS)
def test_every_kind_of_work_can_be_repeated(work):
    counts = scaling.simulate({"documents": 40, "words": 60, "cells": 10})
    step = scaling.WORKS[work](scaling.LocalEngine(1), counts, 3)
    step()
    step()


def test_table_of_scaling_has_gaps_where_a_size_was_too_large(capsys):
    seconds = [[1.0], [2.0], [4.0]]
    curves = [scaling.curve("K", name, [1, 2, 4][:n], seconds[:n], {}) for name, n in (("all", 3), ("fewer", 2))]
    scaling.show("K", curves)
    *_, whole, fewer = capsys.readouterr().out.splitlines()
    assert whole.split() == ["all", "1", "2", "4", "1"]
    assert fewer.split() == ["fewer", "1", "2", "1"]
    assert fewer.rindex("1") == whole.rindex("1")


def test_page_of_scaling_is_drawn_from_what_was_measured(tmp_path, monkeypatch):
    fixed = {"documents": 8, "words": 5, "cells": 3, "K": 2}
    curves = [
        scaling.curve("documents", "DCM: fit", [1, 2, 4], [[1.0], [2.0], [4.0]], {**fixed, "documents": 8}),
        scaling.curve("threads", "Mixture: step", [1, 2], [[3.0], [2.0]], fixed),
    ]
    runs = {axis: {"machine": "a toy", "date": "today", "command": f"run {axis}"} for axis in ("documents", "threads")}
    results = tmp_path / "results"
    results.mkdir()
    (results / "scaling.json").write_text(json.dumps({"curves": curves, "runs": runs}), encoding="utf-8")
    cores = {"DCMLDA, K = 20: sweep, seconds": {"1": 8.0, "4": 2.0, "16": 0.5}, "DCMLDA, K = 20: M step, seconds": {}}
    (results / "cores.json").write_text(json.dumps(cores), encoding="utf-8")
    monkeypatch.setattr(scaling_page, "RESULTS", results)
    scaling_page.write(tmp_path)
    page = (tmp_path / "benchmarks" / "scaling.md").read_text(encoding="utf-8")
    assert "| DCM: fit | 1.00\N{NARROW NO-BREAK SPACE}±\N{NARROW NO-BREAK SPACE}0.00 |" in page
    assert "| Mixture: step | 3, 2 | 1.50 | -0.58 |" in page
    assert "| DCMLDA, K = 20, sweep | 1.00 | 4.00 | 16.00 | 1.00 |" in page
    assert "M step, " not in page
    for name in ("growth", "several", "cores"):
        assert (tmp_path / "benchmarks" / "generated" / f"scaling-{name}.svg").stat().st_size > 1000


def test_likelihood_of_a_mixture_is_that_of_its_definition():
    counts = np.array([[2, 0, 1], [0, 3, 0]])
    alpha, weights = np.array([[0.5, 0.0, 2.0], [1.0, 2.0, 3.0]]), np.array([0.25, 0.75])

    def dcm(row, own):
        if (row[own == 0] > 0).any():
            return 0.0
        inside = sum(gammaln(x + a) - gammaln(a) - gammaln(x + 1) for x, a in zip(row, own, strict=True) if a > 0)
        n, s = row.sum(), own.sum()
        return np.exp(inside + gammaln(n + 1) + gammaln(s) - gammaln(s + n))

    expected = sum(np.log(sum(w * dcm(row, own) for w, own in zip(weights, alpha, strict=True))) for row in counts)
    assert tables.log_likelihood(counts, alpha, weights) == pytest.approx(expected)


def test_a_package_of_r_that_is_missing_has_no_version():
    assert r_version("NoSuchPackageAnywhere") is None


def test_memory_is_that_of_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(harness, "_in_a_process", lambda case, name, short: 7.0)
    ours = Contender(lambda data, seed: {"memory": 0.0}, "bursty")
    case = Case("toy", "A toy", "Count.", "nothing", lambda short: None, {"ours": ours}, [harness.MEMORY])
    (row,) = run(case, short=False, rounds=3)["rows"]
    assert row["values"]["memory"] == {"median": 7.0, "low": 7.0, "high": 7.0}
