"""Text from strangers in results: nothing runs in a spreadsheet or steers a terminal, and raw values can be had."""

from __future__ import annotations

import csv
import json

import pytest

from bursty.cli.messages import as_json, printable
from bursty.cli.tables import Table, write_table

HOSTILE = [
    "=cmd|' /C calc'!A0",
    "+1",
    "-2+3",
    "@SUM(1)",
    " =1",
    "\t=1",
    "\x9b31m",
    "\u202egnp.exe",
    "a\x1b[2Jb",
    "\ud800",
]
PLAIN = ["word", "naïve", "日本", "a=b", "3-4", "it's"]


@pytest.fixture
def table():
    return Table("words", {"word": [*HOSTILE, *PLAIN], "value": [-1.5] * (len(HOSTILE) + len(PLAIN))})


def test_csv_runs_nothing(table, tmp_path):
    path = write_table(table, tmp_path, "csv")
    content = path.read_text(encoding="utf-8")
    assert not set(content) & set("\x1b\x9b\u202e\t")
    rows = list(csv.DictReader(content.splitlines()))
    assert [row["word"] for row in rows[len(HOSTILE) :]] == PLAIN
    assert all(row["word"].startswith("'") for row in rows[:6])
    assert {row["value"] for row in rows} == {"-1.5"}  # a number is no formula


def test_json_has_every_value_as_it_is_and_steers_nothing(table, tmp_path):
    content = write_table(table, tmp_path, "jsonl").read_text(encoding="utf-8")
    assert content == "".join(as_json(record) + "\n" for record in table.records())
    assert content.replace("\n", "") == printable(content.replace("\n", ""))
    assert [json.loads(line)["word"] for line in content.splitlines()] == [*HOSTILE, *PLAIN]
    assert "日本" in content


def test_parquet_has_every_value_as_it_is(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    whole = [text for text in HOSTILE if text != "\ud800"]
    path = write_table(Table("words", {"word": whole}), tmp_path, "parquet")
    assert pq.read_table(path)["word"].to_pylist() == whole
