"""Excerpts of texts on a page: the right passage, bounded, and as text only."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bursty import DCMLDA, BayesClassifier, Corpus, Mixture, report
from bursty.report.excerpts import MOST_BEGINNINGS, MOST_CONTEXT, WIDTH, beginnings, contexts, passage, passages
from bursty.report.source import ReportSource

SEA = "The sea is wide and the waves of the sea are high; waves break on the shore and the sailors see the sea. "
FIELD = "A farmer ploughs the field with oxen; the oxen rest and wheat grows in the field where oxen plough. "


@pytest.fixture(scope="module")
def corpus():
    texts = [(SEA, FIELD)[i % 2] * (1 + i % 3) + f"Note {i}." for i in range(40)]
    return Corpus.from_texts(texts, labels=np.array(["sea", "land"])[np.arange(40) % 2])


def joined(parts):
    return "".join(text for text, _ in parts)


def test_the_passage_is_where_the_words_are():
    text = "nothing here " * 100 + "the whale swims with the whale " + "nothing there " * 100
    parts = passage(text, {"whale": 1.0})
    assert [text for text, kind in parts if kind == "for"] == ["whale", "whale"]
    assert len(joined(parts)) <= WIDTH + 60
    assert joined(parts).startswith("… ")
    assert joined(parts).endswith(" …")


def test_a_passage_does_not_begin_within_a_word():
    """Paths have no spaces, and are cut between their words."""
    text = "nothing " * 60 + "/".join(["hibernate-service"] * 40) + " the whale and the whale " + "nothing " * 60
    begins = joined(passage(text, {"whale": 1.0})).removeprefix("… ")
    assert begins.startswith(("hibernate-service", "service/hibernate"))
    assert "whale" in begins


def test_words_for_and_against_are_told_apart_whatever_their_case():
    parts = passage("Whale and Oxen", {"whale": 1.0, "oxen": -2.0})
    assert parts == [("Whale", "for"), (" and ", ""), ("Oxen", "against")]


@pytest.mark.parametrize("text", ["", "   ", "short", "x" * 5000, "no such word " * 200])
def test_without_the_words_the_beginning_is_shown(text):
    shown = joined(passage(text, {"whale": 1.0})).removesuffix(" …").removesuffix("…").strip()
    assert " ".join(text.split()).startswith(shown)
    assert len(shown) <= WIDTH


def test_documents_with_a_common_part_do_not_all_show_it():
    licence = "permission granted free charge person copy software permission granted " * 3
    gap = {word: " ".join(f"{word}{i}" for i in range(100)) for word in ("whales", "oxen", "bees")}
    texts = [f"{licence} {gap[word]} software about {word} and its {word}" for word in gap]
    corpus = Corpus.from_texts([*texts, "nothing"], keep_texts=True)
    source = ReportSource.of(Mixture(2, random_state=0).fit(corpus), corpus)
    found = [joined(parts) for parts in passages(source, np.arange(3), {"permission": 1.0, "software": 0.5})]
    assert "permission granted" in found[0]
    assert "its oxen" in found[1]
    assert "its bees" in found[2]
    alone = passages(source, np.array([0, 0]), {"permission": 1.0})
    assert alone[0] == alone[1]  # there is no other


def test_contexts_are_cut_between_words_and_from_all_documents():
    texts = [f"early{i} words here" for i in range(50)] + [
        "unbelievably long sentences surround the rare whale " * 5
    ] * 3
    corpus = Corpus.from_texts(texts, keep_texts=True)
    source = ReportSource.of(Mixture(2, random_state=0).fit(corpus), corpus)
    lines = contexts(source)[int(np.flatnonzero(source.words[source.kept] == "whale")[0])]
    assert len(lines) == 3
    for before, _, after in lines:
        assert set(" ".join((before, after)).split()) <= {*texts[-1].split(), "…"}
        assert after.endswith(" …")


def test_the_table_begins_documents_with_their_first_words(corpus):
    source = ReportSource.of(Mixture(2, random_state=0).fit(corpus), corpus)
    shown = beginnings(source, np.array([0, 1]))
    assert shown[0].startswith("The sea is wide and the waves")
    assert shown[0].endswith(" …")
    many = beginnings(source, np.zeros(20_000, dtype=int))
    assert sum(map(len, many)) <= MOST_BEGINNINGS + 2 * len(many)
    assert '"begins":["The sea' in report.render(source.model, corpus).replace(" :", ":")
    assert '"begins":["The sea' not in report.render(source.model, corpus, texts=False)


def test_common_words_do_not_lead_topics():
    rng = np.random.default_rng(0)
    own = [[f"{kind}{i}" for i in range(12)] for kind in ("sea", "land", "sky")]
    often = ["the", "of", "and", "to", "in", "is"]
    # Function words are a different part of each kind of text.
    texts = [" ".join([*rng.choice(own[i % 3], 20), *rng.choice(often, 15 + 15 * (i % 3))]) for i in range(90)]
    corpus = Corpus.from_texts(texts)
    model = DCMLDA(3, n_iter=40, tol=0, random_state=0).fit(corpus)
    page = report.render(model, corpus)
    begin = float(re.search(r'id="relevance"[^>]*value="([\d.]+)"', page)[1])
    top = model.top_words(3, by="relevance", weight=begin)
    assert not set(often) & {word for row in top for word in row}
    assert not set(often) & {word for row in model.summary()["words"] for word in row[:5]}


def test_contexts_are_lines_around_a_word(corpus):
    model = Mixture(2, random_state=0).fit(corpus)
    source = ReportSource.of(model, corpus)
    found = contexts(source)
    word = int(np.flatnonzero(source.words[source.kept] == "oxen")[0])
    before, it, after = found[word][0]
    assert (it, after[:6]) == ("oxen", "; the ")
    assert before.endswith("field with ")
    assert sum(len(piece) for lines in found for line in lines for piece in line) <= MOST_CONTEXT + 400


def test_pages_show_passages_unless_told_not_to(corpus):
    models = [
        Mixture(2, random_state=0).fit(corpus),
        DCMLDA(2, n_iter=5, tol=0, random_state=0).fit(corpus),
    ]
    for model in models:
        page = report.render(model, corpus)
        assert "sailors" in page
        assert "with oxen" not in report.render(model, corpus, texts=False)
    wrong = Corpus.from_texts(list(corpus.texts), labels=np.array(["land", "sea"])[np.arange(40) % 2])
    page = report.render(BayesClassifier().fit(corpus, corpus.labels), wrong)
    assert '<mark class="for">' in page


def test_texts_are_escaped_and_cannot_steer():
    nasty = [
        "<script>window.hacked=1</script>",
        "<img src=x onerror=window.hacked=3>",
        "\u202eturned",
        "a\x00b",
        "{{ 7 }}",
    ]
    texts = [f"{text} alpha beta" for text in nasty] + ["gamma delta"] * 5
    corpus = Corpus.from_texts(texts)
    page = report.render(Mixture(2, random_state=0).fit(corpus), corpus)
    assert "<script>window.hacked" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
