"""`bursty papers`, through the command."""

from __future__ import annotations

import json
import re

import pytest

import bursty
from bursty.cli import run
from bursty.papers import measures


def test_list_names_all(capsys):
    assert run(["papers", "list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 30
    assert any(line.startswith("elkan2006.table1 ") for line in shown)
    assert run(["papers", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"id", "title", "runs", "where", "page"} == set(rows[0])


def test_run_writes_and_goes_on(tmp_path, capsys):
    arguments = ["papers", "run", "madsen2005.figure5", "--out", str(tmp_path / "results")]
    assert run(arguments) == 0
    first = capsys.readouterr()
    assert "holds: the smaller the parameters of a DCM" in first.out
    assert "seed 0" in first.err
    found = {path.name for path in (tmp_path / "results").iterdir()}
    assert found == {"runs.jsonl", "summary.md", *(f"madsen2005.figure5.{kind}" for kind in ("csv", "md", "png"))}
    page = tmp_path / "results" / "madsen2005.figure5.md"
    told = page.read_text().splitlines()[-1]
    assert re.fullmatch(rf"Run with bursty {re.escape(bursty.__version__)}, \d{{4}}-\d\d-\d\d( to \S+)?\.", told)
    journal = tmp_path / "results" / "runs.jsonl"
    # Runs of two days; lines that have none are read, too.
    first_run, *others = [json.loads(line) for line in journal.read_text().splitlines()]
    del others[-1]["day"]
    lines = [{**first_run, "day": "2026-01-02"}, *others]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run(arguments) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert "seed 0" not in second.err
    assert "2026-01-02 to 20" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["papers", "run", "elkan2006.tabel1"], "did you mean elkan2006.table1"),
        (["papers", "run", "elkan2006", "--runs", "0"], "runs"),
        (["papers", "run"], "ID"),
    ],
)
def test_bad_usage(arguments, message, capsys):
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_missing_data_is_named_and_the_rest_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("BURSTY_DATA", str(tmp_path))
    monkeypatch.setattr("bursty.datasets.fetch._cache", lambda: tmp_path)
    measures.load.cache_clear()
    out = ["--quick", "--out", str(tmp_path / "results")]
    assert run(["papers", "run", "madsen2005.figure3", "elkan2006.figure1", *out]) == 0
    said = capsys.readouterr()
    assert "the corpus 'nips391'" in said.err
    assert "nips391.mat into a folder and set the environment variable BURSTY_DATA" in said.err
    assert "holds: all probability is near the most likely counts" in said.out
    assert "not checked: EDCM and DCM give nearly the same" in said.out
