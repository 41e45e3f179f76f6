"""Years, dates and timestamps in every form that tables have them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from bursty.corpus.times import as_times, bin_times, looks_like_time, may_be_time


def texts(values):
    return [str(value) for value in as_times(values)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1999, 2001], ["1999", "2001"]),
        ([1999.0, float("nan")], ["1999", "NaT"]),
        (["1999", "", "2001"], ["1999", "NaT", "2001"]),
        (["1999.0", None], ["1999", "NaT"]),
        (["2020-05", "2021-12"], ["2020-05", "2021-12"]),
        (["2020/5/7", "2020.06.01"], ["2020-05-07", "2020-06-01"]),
        (["2020-05-17", "1999"], ["2020-05-17", "1999-01-01"]),
        (["2020-05-17T12:30:00Z"], ["2020-05-17T12:30:00"]),
        (["2020-05-17 12:30:00+02:00"], ["2020-05-17T10:30:00"]),
        (["Mon, 17 May 2021 10:00:00 +0200"], ["2021-05-17T08:00:00"]),
        (["17.05.2021", "1.6.2021"], ["2021-05-17", "2021-06-01"]),
        (["17.05.2021 08:30"], ["2021-05-17T08:30:00"]),
        (["05/17/2021", "6/1/2021"], ["2021-05-17", "2021-06-01"]),
        (["17/05/2021", "1/6/2021"], ["2021-05-17", "2021-06-01"]),
        (["5/17/2021 1:05 PM", "5/18/2021 12:05 AM"], ["2021-05-17T13:05:00", "2021-05-18T00:05:00"]),
        (["May 17, 2021", "Sept. 1st 2021", "1 June 2021"], ["2021-05-17", "2021-09-01", "2021-06-01"]),
        (["Tue, 02-Nov-2021", "Tuesday, 2 November 2021"], ["2021-11-02", "2021-11-02"]),
        (["May 2021", "Dec 2021"], ["2021-05", "2021-12"]),
        (["2021Q2", "2021-Q4"], ["2021-04", "2021-10"]),
        ([date(2020, 1, 2), None], ["2020-01-02", "NaT"]),
        ([datetime(2020, 1, 2), datetime(2020, 1, 3)], ["2020-01-02", "2020-01-03"]),
        ([datetime(2020, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))], ["2020-01-01T23:00:00"]),
    ],
)
def test_times_are_read_in_their_own_unit(values, expected):
    assert texts(values) == expected


def test_a_column_tells_days_from_months_and_without_a_sign_it_is_not_read():
    assert texts(["1/2/2020", "3/25/2020"])[0] == "2020-01-02"
    assert texts(["1/2/2020", "25/3/2020"])[0] == "2020-02-01"
    assert as_times(["1/2/2020", "3/4/2020"]) is None
    assert as_times(["Marble 2020", "Decade 1999"]) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1_621_240_200, 1_621_240_201.7], ["2021-05-17T08:30:00", "2021-05-17T08:30:01"]),
        (["1621240200", ""], ["2021-05-17T08:30:00", "NaT"]),
        ([1_621_240_200_000], ["2021-05-17T08:30:00"]),
        ([1_621_240_200_000_000_000], ["2021-05-17T08:30:00"]),
        ([20210517, 20210518], ["2021-05-17", "2021-05-18"]),
        ([1999, 2001], ["1999", "2001"]),
    ],
)
def test_large_numbers_are_times_only_where_times_are_expected(values, expected):
    assert [str(time) for time in as_times(values, epochs=True)] == expected
    if expected[0] != "1999":
        assert as_times(values) is None
    assert as_times([3, 4], epochs=True) is None


def test_names_that_contain_the_name_of_a_time():
    assert all(may_be_time(name) for name in ("created", "created_utc", "publicationYear", "Date Posted", "YEAR"))
    assert not any(may_be_time(name) for name in ("update", "yearly", "reading_time", "candidate", ""))


def test_numpy_and_pandas_times_stay():
    stamps = pd.Series(pd.to_datetime(["2020-01-02", None]))
    assert as_times(stamps).dtype.kind == "M"
    assert np.isnat(as_times(stamps)[1])


@pytest.mark.parametrize(
    "values",
    [[3, 4], [99999], ["alpha", "beta"], ["1999", "x", "y"], [True, False], ["", None], [[1999]], ["9" * 5000]],
)
def test_what_is_not_a_time_is_none(values):
    assert as_times(np.asarray(values, dtype=object) if isinstance(values[0], list) else values) is None


def test_a_few_unreadable_values_are_gaps():
    assert texts(["1999"] * 19 + ["unknown"])[-1] == "NaT"


@pytest.mark.parametrize(
    ("values", "unit", "n"),
    [
        (["2020-01-01", "2020-02-20"], "day", 2),
        (["2020-01-01", "2020-07-01"], "month", 2),
        (["2000-01-01", "2020-07-01"], "year", 2),
        (["1999", "2001"], "year", 2),
        (["1801", "1999", "1804"], "decade", 2),
    ],
)
def test_the_unit_gives_a_readable_number_of_periods(values, unit, n):
    starts, chosen = bin_times(as_times(values))
    assert chosen == unit
    assert len(np.unique(starts)) == n


def test_a_unit_may_be_chosen_and_gaps_stay_gaps():
    starts, unit = bin_times(as_times(["1969-05-01", "", "1971-01-01"]), "decade")
    assert unit == "decade"
    assert [str(start) for start in starts] == ["1960", "NaT", "1970"]
    with pytest.raises(ValueError, match="unit must be"):
        bin_times(as_times([1999]), "week")


def test_names_that_speak_for_themselves():
    assert looks_like_time("Year")
    assert looks_like_time("created at")
    assert not looks_like_time("yearly income")
