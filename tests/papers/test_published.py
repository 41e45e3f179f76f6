"""What was typed from the papers is consistent with itself, and with the entries that use it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from bursty.papers import entries
from bursty.papers.comparing import published, published_values, source

ENTRIES = entries()
RESULTS = Path(__file__).parents[2] / "docs" / "papers" / "results"


def test_every_table_and_figure_of_the_issue_is_there():
    parts = {
        "elkan2006": ["figure1", "figure2", "table1", "table2", "table3"],
        "madsen-edcm": ["figure1", "figure2", "table1"],
        "yu2010": ["figure4", "figure5", "figure6", "figure7", "figure8", "table1", "table2", "table3"],
        "madsen2005": [
            "figure1",
            "figure2",
            "figure3",
            "figure4",
            "figure5",
            "perplexity",
            "table1",
            "table2",
            "table3",
        ],
        "doyle2009": ["figure2", "figure3", "stability", "table1", "table2"],
    }
    assert {paper: sorted(about["entries"]) for paper, about in published().items()} == parts
    assert sorted(ENTRIES) == sorted(f"{paper}.{part}" for paper, found in parts.items() for part in found)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.id)
def test_an_entry_has_a_page_cases_and_numbers(entry):
    assert isinstance(source(entry)["page"], int)
    for quick in (False, True):
        cases = entry.cases(quick)
        assert len({case.name for case in cases}) == len(cases) > 0
        assert all(case.data for case in cases)
    assert entry.claims or entry.id == "yu2010.table1"
    for value in published_values(entry).values():
        assert value.value == pytest.approx(float(value.text))
        assert value.error is None or value.error > 0


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.id)
def test_published_cases_are_measured_or_derived(entry):
    """A name that is spelled differently in two places would be left out of the table in silence."""
    measured = {case.name for case in entry.cases(False)}
    shown = [*published_values(entry), *entry.extra, *entry.beyond, *(other for other, _ in entry.beyond.values())]
    derived = {case for case, _ in shown} - measured
    assert not derived or entry.derive is not None, derived


@pytest.mark.parametrize(
    ("paper", "part", "measure"),
    [
        ("madsen2005", "table1", "accuracy"),
        ("madsen2005", "table2", "accuracy"),
        ("madsen2005", "table3", "macro break-even"),
    ],
)
def test_tables_that_are_printed_in_order_are_in_order(paper, part, measure):
    entry = ENTRIES[f"{paper}.{part}"]
    values = [value.value for (_, name), value in published_values(entry).items() if name == measure]
    assert len(values) == {"table1": 14, "table2": 8, "table3": 14}[part]
    assert all(a <= b for a, b in itertools.pairwise(values))


def test_table_3_of_elkan_has_fifteen_collections_and_edcm_is_always_lower():
    values = published_values(ENTRIES["elkan2006.table3"])
    sets = {case.rpartition(", ")[0] for case, _ in values}
    assert len(sets) == 15
    for name in sets:
        assert values[f"{name}, EDCM", "perplexity"].value < values[f"{name}, multinomial", "perplexity"].value


def test_the_cells_of_elkans_table_2_sum_to_what_it_says():
    values = published_values(ENTRIES["elkan2006.table2"])
    cells = [values["best run, EDCM", f"{name}, largest cell"].value for name in ("Medline", "CISI", "Cranfield")]
    assert sum(cells) == values["best run, EDCM", "documents in the right cluster"].value


def test_a_standard_deviation_over_splits_becomes_a_standard_error():
    value = published_values(ENTRIES["madsen2005.table2"])["DCM", "accuracy"]
    assert value.error == pytest.approx(0.005 / 10**0.5)


@pytest.mark.parametrize("name", ENTRIES)
def test_results_of_the_pages_say_what_ran_them(name):
    last = (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()[-1]
    assert re.fullmatch(
        r"Run with bursty \d+\.\d+\.\d+( in development)?, 20\d\d-\d\d-\d\d( to 20\d\d-\d\d-\d\d)?\.", last
    )
