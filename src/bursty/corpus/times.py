"""Times of documents: years, dates and timestamps in the formats found in tables.

`as_times` parses a column; `bin_times` groups it by day, month, year or decade, whichever gives a readable number of
groups. A document without a time (NaT) is in no group.

Formats are tried from the strict to the loose: ISO, dates of mails, then dates as people write them
(`_parse_written`). Whether ``05/06/2020`` is in May or in June is a property of the column, not of the value: a day
above 12 anywhere in the column tells; without one the column is ambiguous, and not taken for times.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from bursty.typing import Array
from bursty.validation import is_missing

#: Names of columns that are always kept, because they contain times.
USUAL_NAMES = ("year", "date", "created", "created_at", "published", "published_at", "timestamp", "datetime", "time")
#: Parts of other names, such as ``publication_year``, which are kept if they contain times.
_PARTS = frozenset({"year", "date", "datetime", "timestamp", "created", "published", "posted"})
#: Numbers outside this range are not taken for years.
FIRST_YEAR, LAST_YEAR = 1000, 2999
#: Share of the given values that must be parsable.
_READABLE = 0.9
#: Maximum number of groups, if a coarser unit gives at least three.
_MOST_GROUPS = 60
_YEAR = re.compile(r"\d{4}(?:\.0)?")
_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})")
_DAY = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")
_UNITS = {"day": "D", "month": "M", "year": "Y"}
# Written out, because the names of `calendar` are those of the user's language.
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_ISO = re.compile(r"(?:\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d-?\d)[T ].+")
_CLOCK = r"(?:,?[ T]+(?:at )?(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?: ?([AaPp])\.?[Mm]\.?)?(?: ?(?:UTC|GMT|Z))?)?"
_NUMERIC = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}){_CLOCK}")
_DAY_FIRST = re.compile(
    rf"(?:[A-Za-z]{{3,9}},? )?(\d{{1,2}})(?:st|nd|rd|th|\.)?[ -]([A-Za-z]{{3,9}})\.?,?[ -](\d{{4}}){_CLOCK}"
)
_MONTH_FIRST = re.compile(
    rf"(?:[A-Za-z]{{3,9}},? )?([A-Za-z]{{3,9}})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}}){_CLOCK}"
)
_MONTH_YEAR = re.compile(r"([A-Za-z]{3,9})\.?,?[ -](\d{4})")
_QUARTER = re.compile(r"(\d{4})[ -]?[Qq]([1-4])")
_EPOCH = re.compile(r"\d{8,19}(?:\.\d*)?")
# Seconds since 1970 from 1973 to 2286; larger numbers of the same length are milli-, micro- and nanoseconds.
_FIRST_SECOND, _LAST_SECOND = 10**8, 10**10


def as_times(values: Any, *, epochs: bool = False) -> Array | None:
    """The times in a column, or None if it does not contain times.

    Parameters
    ----------
    values : array-like of shape (n_documents,)
        Years as numbers or text, ISO dates and timestamps (``2024-05``, ``2024-05-17``, ``2024-05-17T12:00Z``), dates
        of mails (RFC 2822), written dates (``17.05.2024``, ``5/17/2024``, ``May 17, 2024``, ``2024-Q2``), `datetime`
        objects, NumPy or pandas timestamps. None, NaN, NaT and "" are missing values.
    epochs : bool, default False
        Whether large numbers are times, too: seconds, milli-, micro- or nanoseconds since 1970, and ``20240517``.
        Otherwise they might be anything.

    Returns
    -------
    ndarray of datetime64 or None
        In years, months, days or seconds, the finest unit that occurs. Times with a time zone are converted to UTC.
        Missing values, and up to a tenth of invalid ones, are NaT; with more invalid values the result is None.
    """
    column = np.asarray(values)
    if column.dtype.kind == "M":
        return column
    if column.ndim != 1 or column.dtype.kind not in "iufOUS":
        return None
    listed = column.tolist()
    parsed = [_parse(value, epochs) for value in listed]
    if any(time is None for time in parsed):
        month_first = _month_first(listed)
        parsed = [
            _parse_written(value, month_first) if time is None else time
            for value, time in zip(listed, parsed, strict=True)
        ]
    given = sum(not _is_gap(value) for value in listed)
    read = [time for time in parsed if time is not None]
    if not read or len(read) < _READABLE * given:
        return None
    unit = max((np.datetime_data(time)[0] for time in read), key="YMDs".index)
    return np.array(["NaT" if time is None else time for time in parsed], dtype=f"datetime64[{unit}]")


def looks_like_time(name: str) -> bool:
    """Whether a column of this name is expected to contain times."""
    return name.strip().lower().replace(" ", "_") in USUAL_NAMES


def may_be_time(name: str) -> bool:
    """Whether a column of this name often contains times, such as ``publicationYear`` or ``Date posted``.

    Examples
    --------
    >>> [may_be_time(name) for name in ("publicationYear", "Date posted", "created_utc", "update", "reading_time")]
    [True, True, True, False, False]
    """
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return looks_like_time(name) or not _PARTS.isdisjoint(part.lower() for part in parts)


def bin_times(times: Array, unit: str | None = None) -> tuple[Array, str]:
    """The start of each document's period, and the unit.

    Parameters
    ----------
    times : ndarray of datetime64
    unit : {"day", "month", "year", "decade"}, optional
        By default the finest unit of the times that gives at most 60 periods between the first and the last; decades
        if every other unit gives more.
    """
    if unit is not None and unit not in (*_UNITS, "decade"):
        raise ValueError(f'unit must be "day", "month", "year" or "decade", not {unit!r}')
    finest = {"Y": "year", "M": "month"}.get(np.datetime_data(times.dtype)[0], "day")
    units = [*_UNITS, "decade"]
    for candidate in [unit] if unit else units[units.index(finest) :]:
        starts = _starts(times, candidate)
        known = starts[~np.isnat(starts)].astype(f"datetime64[{_UNITS.get(candidate, 'Y')}]").astype(np.int64)
        step = 10 if candidate == "decade" else 1
        if unit or candidate == "decade" or not len(known) or (np.ptp(known) // step) < _MOST_GROUPS:
            return starts, candidate
    raise AssertionError("a decade is always accepted")


def _starts(times: Array, unit: str) -> Array:
    if unit != "decade":
        return times.astype(f"datetime64[{_UNITS[unit]}]")
    years = times.astype("datetime64[Y]")
    decades = years.astype(np.int64) + 1970
    starts = (decades // 10 * 10 - 1970).astype("datetime64[Y]")
    return np.where(np.isnat(years), np.datetime64("NaT", "Y"), starts)


def _is_gap(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _parse(value: Any, epochs: bool = False) -> np.datetime64 | None:
    """One time, in the unit in which it was given; None for missing and invalid values."""
    if _is_gap(value) or isinstance(value, bool):
        return None
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, date):
        return np.datetime64(value, "D")
    if isinstance(value, int | float):
        whole = int(value) == value if np.isfinite(value) else False
        if whole and FIRST_YEAR <= value <= LAST_YEAR:
            return np.datetime64(int(value) - 1970, "Y")
        return _parse_epoch(float(value)) if epochs and np.isfinite(value) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    return _parse_epoch(float(text)) if epochs and _EPOCH.fullmatch(text) else _parse_text(text)


def _parse_epoch(value: float) -> np.datetime64 | None:
    """The time of a number: ``20240517``, or seconds, milli-, micro- or nanoseconds since 1970."""
    for scale in (1.0, 1e3, 1e6, 1e9):
        if _FIRST_SECOND <= value / scale < _LAST_SECOND:
            return _instant(datetime.fromtimestamp(int(value / scale), UTC))
    if FIRST_YEAR * 10**4 <= value <= LAST_YEAR * 10**4 and value == int(value):
        return _parse_text(str(int(value)))
    return None


def _parse_text(text: str) -> np.datetime64 | None:
    if len(text) > 64:
        return None
    try:
        if _YEAR.fullmatch(text):
            return _parse(int(text[:4]))
        if match := _MONTH.fullmatch(text):
            return np.datetime64(f"{match[1]}-{int(match[2]):02d}", "M")
        if match := _DAY.fullmatch(text):
            return np.datetime64(date(*map(int, match.groups())), "D")
        if len(text) <= 10:
            return np.datetime64(date.fromisoformat(text), "D")
        # Python takes any character, even a digit, between date and time.
        return _instant(datetime.fromisoformat(text)) if _ISO.fullmatch(text) else _parse_mail(text)
    except ValueError:
        return _parse_mail(text)


def _month_first(values: list[Any]) -> bool | None:
    """Whether the dates of a column are month/day/year; None if no day above 12 tells."""
    matches = [match for value in values if isinstance(value, str) and (match := _NUMERIC.fullmatch(value.strip()))]
    first = sum(int(match[1]) > 12 for match in matches if match[2] != ".")
    second = sum(int(match[3]) > 12 for match in matches if match[2] != ".")
    return None if first == second else second > first


def _parse_written(value: Any, month_first: bool | None) -> np.datetime64 | None:
    """One date as people write it: with the month as a word, or as numbers with the year at the end."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    text = " ".join(value.split())
    try:
        if match := _NUMERIC.fullmatch(text):
            if match[2] != "." and month_first is None:
                return None
            day, month = (match[3], match[1]) if match[2] != "." and month_first else (match[1], match[3])
            return _at(int(match[4]), int(month), int(day), match.groups()[4:])
        if match := _DAY_FIRST.fullmatch(text):
            return _at(int(match[3]), _month(match[2]), int(match[1]), match.groups()[3:])
        if match := _MONTH_FIRST.fullmatch(text):
            return _at(int(match[3]), _month(match[1]), int(match[2]), match.groups()[3:])
        if match := _MONTH_YEAR.fullmatch(text):
            return np.datetime64(f"{match[2]}-{_month(match[1]):02d}", "M")
        if match := _QUARTER.fullmatch(text):
            return np.datetime64(f"{match[1]}-{3 * int(match[2]) - 2:02d}", "M")
    except ValueError:
        return None
    return None


def _month(name: str) -> int:
    """The number of an English month, given by its first three letters or more."""
    for number, month in enumerate(_MONTHS, start=1):
        if month.startswith(name.lower()):
            return number
    raise ValueError(name)


def _at(year: int, month: int, day: int, clock: tuple[str | None, ...]) -> np.datetime64:
    hour, minute, second = (int(part or 0) for part in clock[:3])
    if clock[3] is not None:
        hour = hour % 12 + (12 if clock[3] in "Pp" else 0)
    return _instant(datetime(year, month, day, hour, minute, second))


def _parse_mail(text: str) -> np.datetime64 | None:
    try:
        return _instant(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _instant(time: datetime) -> np.datetime64:
    """A timestamp in seconds; midnight becomes a day."""
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    if (time.hour, time.minute, time.second, time.microsecond) == (0, 0, 0, 0):
        return np.datetime64(time.date(), "D")
    return np.datetime64(time.replace(microsecond=0), "s")
