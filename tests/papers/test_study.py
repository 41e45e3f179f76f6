"""Runs are kept, found again, and compared; whatever the order, the processes or what was killed in between."""

from __future__ import annotations

import csv
import json

import pytest

from bursty.papers import Case, Claim, Entry, comparing, run_entry
from bursty.papers.comparing import Published, Row
from bursty.papers.registry import choose
from bursty.papers.study import JOURNAL
from bursty.papers.writing import cells, markdown, write_outcome, write_summary
from papers import studies


@pytest.fixture
def entry(monkeypatch):
    about = {
        "short": "Nobody (1900)",
        "methods": ["good", "bad"],
        "entries": {
            "table1": {
                "where": "Table 1",
                "page": 7,
                "values": {"good": {"NMI": ["0.150", "0.010"]}, "lost": {"NMI": "0.9"}, "bad": {"NMI": "0.99"}},
            }
        },
    }
    monkeypatch.setattr(comparing, "published", lambda: {"nobody": about})
    monkeypatch.setattr("bursty.papers.writing.published", lambda: {"nobody": about})
    return Entry(
        "nobody.table1",
        "nothing in particular",
        lambda quick: [
            Case("good", studies.draw, {}, "made up"),
            Case("bad", studies.draw, {"level": 0.1}, "made up", runs=2),
            Case("lost", studies.missing, {}, "atlantis"),
        ],
        claims=(
            Claim("good is positive", lambda results: results.mean("good", "NMI") > 0),
            Claim("half of it", lambda results: 0.5),
            Claim("nothing", lambda results: False),
            Claim("nobody knows", lambda results: float("nan")),
            Claim("nobody measured", lambda results: results.mean("lost", "NMI") < 1),
        ),
        runs=4,
        extra={("good", "seed"): "good"},
        beyond={("good", "NMI"): (("bad", "NMI"), "another")},
    )


def lines(folder):
    return (folder / JOURNAL).read_text().splitlines()


def test_verdicts():
    half = Published("0.50", 0.02)

    def verdict(ours, error, measure="NMI", paper=half, **more):
        return Row("what", measure, "", paper, ours, error, 5, **more).verdict

    assert verdict(0.53, 0.01) == "agrees"
    assert verdict(0.60, 0.01) == "better"
    assert verdict(0.40, 0.01) == "worse"
    assert verdict(0.40, 0.01, "perplexity") == "better"
    assert verdict(0.40, 0.01, "words") == "differs, lower"
    assert verdict(0.60, 0.01, own=False) == "differs, higher"  # a stronger baseline is no success
    # Our error counts at most as much as the paper's: a noisy replication does not agree more easily.
    assert verdict(0.60, 1.00) == "better"
    assert verdict(0.60, 0.04, paper=Published("0.50")) == "better"
    assert verdict(0.60, 0.05, paper=Published("0.50")) == "agrees"
    assert verdict(0.504, None, paper=Published("0.50")) == "agrees"  # rounding
    assert verdict(0.52, None, paper=Published("0.50")) == "better"
    assert verdict(0.60, 0.01, reason="other data") == "other data"
    assert verdict(0.60, 0.01, paper=None) == "ours only"
    assert verdict(None, None) == "not run"


@pytest.mark.parametrize(
    ("published", "ours", "n", "expected"),
    [
        # z(.9) - z(.1) is 1.37; two standard errors are 2 sqrt(2 / 7) = 1.07 with ten runs each.
        ("0.10", 0.90, 10, "differs, higher"),
        ("0.40", 0.85, 10, "agrees"),
        ("0.99", 1.00, 10, "agrees"),
        ("0.40", 0.90, 3, "too few runs"),
    ],
)
def test_correlations_are_compared_by_fishers_z(published, ours, n, expected):
    assert Row("what", "correlation", "", Published(published, n_runs=10), ours, None, n).verdict == expected


def test_an_outcome_compares_and_claims(entry, tmp_path):
    outcome = run_entry(entry, tmp_path)
    rows = {(row.what, row.measure): row for row in outcome.rows}
    assert rows["good", "NMI"].ours == pytest.approx(0.15)
    assert rows["good", "NMI"].verdict == "agrees"
    assert rows["good", "NMI"].n_runs == 4
    assert rows["good", "NMI"].beyond == "0.150 (another)"
    assert rows["bad", "NMI"].n_runs == 2
    assert rows["bad", "NMI"].verdict == "worse"
    assert rows["lost", "NMI"].verdict == "data not available"
    assert rows["good", "seed"].verdict == "ours only"
    assert "atlantis" in outcome.missing["lost"]
    verdicts = [verdict for _, verdict in outcome.verdicts]
    assert verdicts == ["holds", "holds partly", "does not hold here", "not checked", "not checked"]


def test_finished_runs_are_kept_and_others_done(entry, tmp_path, monkeypatch):
    run_entry(entry, tmp_path, runs=2)
    assert len(lines(tmp_path)) == 4
    heard = []
    first = run_entry(entry, tmp_path, runs=3, report=heard.append)
    assert len(lines(tmp_path)) == 5
    assert sum("seed 2" in message for message in heard) == 1
    assert not any("seed 0" in message for message in heard)
    assert run_entry(entry, tmp_path, runs=3).rows == first.rows
    run_entry(entry, tmp_path, runs=1, seed=2)
    assert len(lines(tmp_path)) == 6  # seed 2 of "good" was done; that of "bad" was not


def test_data_that_is_missing_is_asked_for_once(entry, tmp_path):
    studies.ASKED.clear()
    heard = []
    run_entry(entry, tmp_path, report=heard.append)
    assert studies.ASKED == [0]
    assert sum("atlantis" in message for message in heard) == 1


def test_a_line_cut_short_is_done_again(entry, tmp_path):
    whole = run_entry(entry, tmp_path)
    path = tmp_path / JOURNAL
    content = path.read_bytes()
    for keep in range(len(content)):
        path.write_bytes(content[:keep])
        assert run_entry(entry, tmp_path).rows == whole.rows
        assert len(lines(tmp_path)) == 6
        for line in lines(tmp_path):
            json.loads(line)


def test_a_foreign_journal_is_refused(entry, tmp_path):
    (tmp_path / JOURNAL).write_text('{"something": "else"}\n')
    with pytest.raises(ValueError, match="line 1: not a finished run"):
        run_entry(entry, tmp_path)


def test_processes_give_the_same(entry, tmp_path):
    alone, together = (run_entry(entry, tmp_path / name, jobs=jobs) for name, jobs in (("one", 1), ("two", 2)))
    assert alone.rows == together.rows
    assert alone.missing == together.missing
    assert sorted(json.loads(line)["key"] for line in lines(tmp_path / "one")) == sorted(
        json.loads(line)["key"] for line in lines(tmp_path / "two")
    )


def test_runs_that_do_not_converge_are_counted(entry, tmp_path):
    slow = Entry(entry.id, "slow", lambda quick: [Case("good", studies.slow_to_converge, {}, "made up")], runs=3)
    outcome = run_entry(slow, tmp_path)
    assert outcome.not_converged == 3
    assert "3 of 3 runs reached their maximum number of iterations" in markdown(outcome, with_picture=False)


def test_files(entry, tmp_path):
    outcome = run_entry(entry, tmp_path)
    table, page = write_outcome(outcome, tmp_path)
    with open(table, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["what"] == "good"
    assert float(rows[0]["ours"]) == pytest.approx(0.15)
    assert float(rows[0]["paper_error"]) == pytest.approx(0.01)
    text = page.read_text()
    assert "Nobody (1900), Table 1, page 7" in text
    assert "| good | NMI | 0.150 ± 0.010 | 0.150 ± 0.065 | +0.000 | agrees | 0.150 (another) | 4 | made up |" in text
    assert "| half of it | holds partly |" in text
    assert "Not run: the corpus 'atlantis' is not on this machine." in text
    assert "| nobody | Table 1 | nothing | does not hold here |" in write_summary([outcome], tmp_path).read_text()


def test_whole_published_numbers_show_small_ratios_with_a_digit():
    row = Row("what", "time ratio DCM / EDCM", "", Published("21"), 2.43, None, 1)
    assert cells(row)[3] == "2.4"


def test_names_stand_for_entries():
    assert [entry.id for entry in choose(["madsen-edcm"])] == [
        f"madsen-edcm.{p}" for p in ("figure1", "figure2", "table1")
    ]
    assert [entry.id for entry in choose(["elkan2006.table1", "elkan2006.table1"])] == ["elkan2006.table1"]
    assert len(choose(["all"])) == 30
    with pytest.raises(ValueError, match=r"did you mean .*elkan2006\.table1"):
        choose(["elkan2006.tabel1"])
