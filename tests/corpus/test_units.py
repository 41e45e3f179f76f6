"""Names of documents, words and tokens: plurals, articles, capitals, and where they come from."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bursty.corpus.units import Units, units_of

UNITS = ("sample", "taxon", "read")


@pytest.mark.parametrize(
    ("given", "plural"),
    [
        (UNITS, ("samples", "taxa", "reads")),
        ("basket,item,query", ("baskets", "items", "queries")),
        (["box", "ox/oxen", "day"], ("boxes", "oxen", "days")),
    ],
)
def test_plurals(given, plural):
    assert Units.of(given).plural == plural
    assert Units.of(Units.of(given).names) == Units.of(given)


def test_sentences():
    assert Units.of(["event", "item", "read"]).say("A document of a word; Tokens") == "An event of an item; Reads"
    assert Units().say("a document") == "a document"
    for bad in (["a"], "a,b", ["a", "", "c"], [1, 2, 3]):
        with pytest.raises(ValueError, match="three names"):
            Units.of(bad)


def test_sentences_of_every_word():
    units = Units.of(["ox/oxen", "item", "tally"])
    said = units.say("Documents, a document; a Word of words. A token, TOKENS; documented")
    assert said == "Oxen, an ox; an Item of items. A tally, Tallies; documented"
    assert Units.of(UNITS).say("a token per word") == "a read per taxon"
    assert (Units().are_default, units.are_default, Units.of(None).are_default) == (True, False, True)
    assert Units.of("document,word,token") == Units()


@pytest.mark.parametrize(
    ("one", "many"), [("bus", "buses"), ("wish", "wishes"), ("day", "days"), ("city", "cities"), ("series", "series")]
)
def test_rules_of_plurals(one, many):
    assert Units.of([one, "b", "c"]).plural[0] == many


def test_names_have_an_end():
    assert Units.of(["a" * 40, "b", "c"]).singular[0] == "a" * 40
    with pytest.raises(ValueError, match="at most 40 characters, not 41"):
        Units.of(["a" * 41, "b", "c"])
    for bad in (["a", "b", "c", "d"], ["a", "b", 3], ["a", "b", " "]):
        with pytest.raises(ValueError, match="three names"):
            Units.of(bad)


def test_the_first_source_that_has_units():
    samples, plain = SimpleNamespace(units=Units.of(UNITS)), SimpleNamespace(units=Units())
    others = SimpleNamespace(units=Units.of(["a", "b", "c"]))
    assert units_of(None, plain, samples, others) == Units.of(UNITS)
    assert units_of(None, plain) == Units()
