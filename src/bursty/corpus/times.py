"""Times of documents: years, dates and timestamps in the formats found in tables.

`as_times` parses a column; `bin_times` groups it by day, month, year or decade, whichever gives a readable number of
groups. A document without a time (NaT) is in no group.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Names of columns that are always kept, because they contain times.
USUAL_NAMES = ("year", "date", "created", "created_at", "published", "published_at", "timestamp", "datetime", "time")
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


def as_times(values: Any) -> Array | None:
    """The times in a column, or None if it does not contain times.

    Parameters
    ----------
    values : array-like of shape (n_documents,)
        Years as numbers or text, ISO dates and timestamps (``2024-05``, ``2024-05-17``, ``2024-05-17T12:00Z``), dates
        of mails (RFC 2822), `datetime` objects, NumPy or pandas timestamps. None, NaN, NaT and "" are missing values.

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
    parsed = [_parse(value) for value in column.tolist()]
    given = sum(not _is_gap(value) for value in column.tolist())
    read = [time for time in parsed if time is not None]
    if not read or len(read) < _READABLE * given:
        return None
    unit = max((np.datetime_data(time)[0] for time in read), key="YMDs".index)
    return np.array(["NaT" if time is None else time for time in parsed], dtype=f"datetime64[{unit}]")


def looks_like_time(name: str) -> bool:
    """Whether a column of this name is expected to contain times."""
    return name.strip().lower().replace(" ", "_") in USUAL_NAMES


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
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _parse(value: Any) -> np.datetime64 | None:
    """One time, in the unit in which it was given; None for missing and invalid values."""
    if _is_gap(value) or isinstance(value, bool):
        return None
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, date):
        return np.datetime64(value, "D")
    if isinstance(value, int | float):
        whole = int(value) == value if np.isfinite(value) else False
        return np.datetime64(int(value) - 1970, "Y") if whole and FIRST_YEAR <= value <= LAST_YEAR else None
    return _parse_text(str(value).strip()) if isinstance(value, str) else None


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
        return _instant(datetime.fromisoformat(text))
    except ValueError:
        return _parse_mail(text)


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
