"""HTML to text: what a reader sees, from files and columns, in time and memory that grow with the page."""

from __future__ import annotations

import json
import sys

import pytest

from bursty import Corpus, read_corpus
from bursty.corpus.html import declared_encoding, html_to_text

PAGE = """<!DOCTYPE html><html><head><title>Harbour news</title><style>p {color: red}</style></head><body>
<h1>Her<i>ring</i> boats</h1><p>Nets&nbsp;and ropes<br>caf&eacute;</p><!-- hidden remark -->
<script>let secret = "<p>nothing</p>";</script><ul><li>first<li>second</ul></body></html>"""


def test_a_page_reads_as_it_is_seen():
    assert html_to_text(PAGE).split("\n") == [
        "Harbour news",
        "Herring boats",
        "Nets and ropes",
        "caf\u00e9",
        "first",
        "second",
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("", ""),
        ("   \n ", ""),
        ("no markup at all", "no markup at all"),
        ("a < b &amp; c", "a < b & c"),
        ("<p>one</p><p>two", "one\ntwo"),
        ("<td>cell</td><td>next</td>", "cell\nnext"),
        ("un<b>bro</b>ken", "unbroken"),
        ("lone \ud800 surrogate", "lone ? surrogate"),
        ("<!-- " * 3, ""),
        ("<script>x", ""),
    ],
)
def test_fragments(markup, text):
    assert html_to_text(markup) == text


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 200_000 + "word",
        "<b><i>" * 3_000 + "<p>word" * 3_000,
        "<select>" + "<option>word" * 100_000,
        "<a " + " ".join(f"a{number}=1" for number in range(100_000)) + ">word",
        "<table>" * 5_000 + "<b>" * 2_000 + "word",
        "word" + "<p" * 300_000,
        "word" + "<!--" * 100_000,
        "word" + "&" * 1_000_000,
        "<a><p>" * 5_000 + "word" + "</a>" * 5_000,
    ],
    ids=lambda markup: markup[:8],
)
def test_hostile_pages_lose_no_words_and_take_no_time(markup):
    assert html_to_text(markup).startswith("word")


def test_files_of_a_folder(tmp_path):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "OLD.HTM").write_bytes(b'<meta http-equiv="x" content="text/html; charset=ISO-8859-1"><p>na\xefve')
    (tmp_path / "note.txt").write_text("<p> stays as it is")
    corpus = read_corpus(tmp_path, keep_texts=True)
    words = [set(corpus.vocabulary[row.indices]) for row in (corpus.counts[[n], :] for n in range(3))]
    by_name = dict(zip(corpus.ids, words, strict=True))
    assert by_name["OLD.HTM"] == {"na\u00efve"}
    assert {"herring", "boats", "caf\u00e9"} <= by_name["page.html"]
    assert not by_name["page.html"] & {"script", "secret", "color", "remark", "nbsp", "body"}
    assert by_name["note.txt"] == {"stays", "as", "it", "is"}
    assert "Herring boats" in corpus.texts[list(corpus.ids).index("page.html")]
    assert "body" in read_corpus(tmp_path, html=False).vocabulary
    assert "body" not in read_corpus(tmp_path, html=True).vocabulary


def test_columns_and_lists_only_if_asked(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"text": "<p>rain</p>"}, {"text": "<div>sun</div>"}]))
    assert "div" in read_corpus(path).vocabulary
    corpus = read_corpus(path, html=True)
    assert corpus.vocabulary.tolist() == ["rain", "sun"]
    made = Corpus.from_texts(["<p>rain</p>", "<div>sun</div>"], html=True)
    assert made.vocabulary.tolist() == ["rain", "sun"]
    # New texts are read as those before them.
    assert Corpus.from_texts(["<sun>rain</sun>"], like=made).counts.toarray().tolist() == [[1, 0]]


def test_without_the_library(tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "note.txt").write_text("plain words")
    monkeypatch.setitem(sys.modules, "lxml", None)
    monkeypatch.setitem(sys.modules, "lxml.etree", None)
    with pytest.raises(ValueError, match=r"page.html.*pip install 'bursty\[html\]'.*exclude='\*.htm\*'"):
        read_corpus(tmp_path)
    with pytest.raises(ValueError, match=r"html=True needs lxml: pip install 'bursty\[html\]'"):
        Corpus.from_texts(["<p>x"], html=True)
    assert read_corpus(tmp_path, exclude="*.htm*").ids.tolist() == ["note.txt"]


def test_a_page_is_bounded_by_the_budget_of_its_source(tmp_path):
    (tmp_path / "page.html").write_text("<p>word" * 100_000)
    with pytest.raises(ValueError, match="max_memory"):
        read_corpus(tmp_path, max_memory="1MB")


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"<meta charset=utf-8>", "utf-8"),
        (b"<META CHARSET='latin1'>", "cp1252"),
        (b"<meta charset=utf-16>", None),
        (b"<meta charset=rot13>", None),
        (b"<meta charset=nonsense>", None),
        (b"no declaration", None),
    ],
)
def test_declared_encodings(head, encoding):
    assert declared_encoding(head) == encoding
