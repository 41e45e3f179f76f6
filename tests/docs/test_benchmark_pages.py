"""The harness of comparisons with other libraries, and the page that is made from what it writes."""

from __future__ import annotations

import sys

import pytest
from benchmarks.peers.harness import Case, Column, Contender, run, show, write

from doc_pages import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import benchmark_pages


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
    write(found, tmp_path / "results")
    monkeypatch.setattr(benchmark_pages, "RESULTS", tmp_path / "results")
    benchmark_pages.write_all(tmp_path)
    page = (tmp_path / "benchmarks" / "peers.md").read_text(encoding="utf-8")
    assert "| theirs | **2 (1 to 3)** | **0.9** |" in page
    assert "Others are best in: time, s (theirs), score (theirs)." in page
    assert (tmp_path / "benchmarks" / "generated" / "toy.svg").stat().st_size > 1000
