"""Texts kept beside the counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bursty
from bursty import Corpus, read_corpus
from bursty.corpus.texts import BLOCK, LONGEST, Texts

MANY = [f"text number {number} " + "é" * (number % 7) for number in range(3 * BLOCK + 5)]


@given(st.lists(st.text(), max_size=80))
@settings(max_examples=30, deadline=None)
def test_texts_come_back_as_they_were(texts):
    kept = Texts.of(texts)
    assert list(kept) == [text.encode("utf-8", "replace").decode() for text in texts]
    assert list(Texts.unpack(**kept.pack())) == list(kept)


def test_rows_are_selected_without_copying():
    texts = Texts.of(MANY)
    part = texts.select(np.array([70, 3, 3]))
    assert list(part) == [MANY[70], MANY[3], MANY[3]]
    assert list(part[1:]) == [MANY[3], MANY[3]]
    assert list(part.select(np.array([0]))) == [MANY[70]]
    assert list(Texts.unpack(**part.pack())) == list(part)
    assert part[-1] == MANY[3]
    with pytest.raises(IndexError, match="there is no text 3"):
        part[3]


def test_a_long_text_is_cut():
    assert len(Texts.of(["x" * (LONGEST + 9)])[0]) == LONGEST


def test_a_corpus_keeps_its_texts_through_every_door(tmp_path):
    corpus = Corpus.from_texts(MANY, labels=np.arange(len(MANY)) % 2)
    assert list(corpus.select([5, 2]).texts) == [MANY[5], MANY[2]]
    assert list(corpus.filter_words(min_df=2).texts) == MANY
    back = read_corpus(corpus.save(tmp_path / "kept"))
    assert list(back.texts) == MANY
    assert back.without_texts().texts is None
    model = bursty.families.DCM(smoothing=0.01).fit(corpus)
    saved = bursty.save(model, tmp_path / "model", corpus=corpus)
    from bursty.persistence import read

    assert list(read(saved).corpus.texts) == MANY
    assert Corpus.from_texts(MANY, keep_texts=False).texts is None


def test_readers_keep_texts_when_asked(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("text,label\nrain falls,a\nwind,b\n")
    assert read_corpus(table).texts is None
    assert list(read_corpus(table, keep_texts=True).texts) == ["rain falls", "wind"]
    for name in ("b", "a"):
        (tmp_path / "folder" / name).mkdir(parents=True)
        (tmp_path / "folder" / name / "1.txt").write_text(f"words of {name}")
    assert list(read_corpus(tmp_path / "folder", keep_texts=True).texts) == ["words of a", "words of b"]


def test_texts_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="texts has 1 entry for 2 documents"):
        Corpus([[1], [2]], texts=["one"])
    with pytest.raises(TypeError, match="text 1 is int"):
        Corpus([[1], [2]], texts=["one", 2])


def _damage(name, change):
    parts = Texts.of(MANY).pack()
    parts[name] = change(parts[name].copy())
    return parts


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("data", lambda data: data[:-1]),
        ("data", lambda data: data.astype(np.int64)),
        ("ends", lambda ends: ends[::-1].copy()),
        ("ends", lambda ends: ends[:-1]),
        ("ends", lambda ends: ends.astype(np.float64)),
        ("lengths", lambda lengths: -lengths),
        ("lengths", lambda lengths: lengths + 2**40),
    ],
)
def test_stored_texts_are_checked_before_they_are_read(name, change):
    with pytest.raises(ValueError, match="texts"):
        Texts.unpack(**_damage(name, change))


@pytest.mark.parametrize(
    ("name", "change"), [("data", lambda data: data ^ 255), ("lengths", lambda lengths: lengths + 1)]
)
def test_damaged_blocks_say_so(name, change):
    with pytest.raises(ValueError, match="damaged"):
        Texts.unpack(**_damage(name, change))[0]
