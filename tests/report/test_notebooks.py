"""What notebooks show: reports in a frame, tables of corpora, models and selections; all text escaped."""

from __future__ import annotations

import html
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn import config_context

from bursty import BayesClassifier, Corpus, Mixture, report
from bursty.models.selection import Selection


def test_a_report_in_a_frame(mixture, corpus):
    page = report.show(mixture, corpus, height=300)
    shown = page._repr_html_()
    assert re.fullmatch(r'<iframe srcdoc="[^"]*" title="report" style="[^"]*height: 300px[^"]*"></iframe>', shown)
    assert html.unescape(shown.split('"')[1]) == report.render(mixture, corpus)
    assert "report of" in repr(page)


def test_reports_need_no_ipython():
    code = "import sys, bursty.report; assert 'IPython' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_corpus(corpus, nasty):
    shown = corpus._repr_html_()
    assert "120 documents x 60 words" in shown
    assert "<td>doc 0</td>" in shown
    attack = nasty._repr_html_()
    assert "<script" not in attack
    assert "<img" not in attack
    assert "&lt;script&gt;" in attack
    assert "most frequent" not in Corpus(np.ones((2, 3), dtype=int))._repr_html_()


def test_models_below_their_diagram(mixture, topics, nasty):
    for model in (mixture, topics):
        shown = model._repr_html_()
        assert shown.count("sk-top-container") >= 1
        assert all(f"<td>{name}</td>" in shown for name in model.names_)
        assert model._repr_mimebundle_()["text/html"].endswith(shown[shown.rindex("<table>") :])
        with config_context(display="text"):
            assert "text/html" not in model._repr_mimebundle_()
    assert "<table><thead><tr><th>number" not in Mixture(2)._repr_html_()
    named = Mixture(2, random_state=0).fit(nasty).rename({0: "<script>alert(1)</script>"})
    assert "<script>alert" not in named._repr_html_()


def test_a_classifier_below_its_diagram(corpus):
    model = BayesClassifier().fit(corpus, ["a<b" if row % 2 else "c" for row in range(len(corpus))])
    shown = model._repr_html_()
    assert "<td>a&lt;b</td><td>60</td>" in shown
    assert model._repr_mimebundle_()["text/html"].endswith(shown[shown.rindex("<table>") :])
    words = shown[shown.rindex("<td>") + 4 :].split("</td>")[0].split(", ")
    assert set(words) <= set(corpus.vocabulary)
    assert "set_words" not in shown
    assert "set_words" in BayesClassifier().fit(corpus.counts, np.arange(len(corpus)) % 2)._repr_html_()
    assert "<th>documents</th>" not in BayesClassifier()._repr_html_()
    directions = BayesClassifier("vonmisesfisher").fit(corpus, np.arange(len(corpus)) % 2)
    assert "<td>60</td></tr></tbody>" in directions._repr_html_()


def test_a_selection():
    found = Selection("heldout", np.array([1, 2]), np.array([-2.0, -1.0]), np.zeros(2), 2, {"a<b": np.zeros(2)})
    assert "<td>2</td><td>-1</td><td>0</td><td>0</td><td>chosen</td>" in found._repr_html_()
    assert "a&lt;b" in found._repr_html_()


@pytest.mark.parametrize("n", [3, 50])
def test_long_tables_are_cut(n):
    from bursty import markup

    shown = markup.table({"n": range(n)})
    assert shown.count("<tr>") == min(n, markup.MOST_ROWS) + 1
    assert (f"and {n - markup.MOST_ROWS} more" in shown) == (n > markup.MOST_ROWS)
