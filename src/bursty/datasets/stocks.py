"""Trading days as documents, following [Doyle2009] section 4.

A word is a stock and a direction, ``IBM+`` or ``IBM-``. Its count on a day is the change from opening to closing price
in percentage points, rounded: a stock that opens at 100.00 and closes at 97.40 gives three tokens of ``IBM-``, and one
that moves by less than half a point gives none. Halves are rounded away from zero, in integer ten-thousandths of a
dollar, so that the result does not depend on the last bit of a division.

Only stocks with a price on every day are used: 473 of the 492 on the list. EDS is also excluded, because its prices in
the table are not those of the company.

Differs from [Doyle2009]: the paper counts 501 days between January 2007 and September 2008, where the
exchange had 440, and its list of companies is not known.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bursty.corpus import Corpus
from bursty.corpus.decoding import iter_lines
from bursty.corpus.sources import Source
from bursty.corpus.tables import csv_records

_LEFT_OUT = frozenset({"EDS"})
_UNIT = 10_000


def load_sp500(path: Path, tickers: Path) -> Corpus:
    """Corpus of the days, in order; ``metadata["date"]`` has the date of each."""
    moves, dates = _moves(path, _members(tickers))
    day = {date: row for row, date in enumerate(dates)}
    complete = sorted(ticker for ticker, by_date in moves.items() if len(by_date) == len(dates))
    words = sorted(f"{ticker}{sign}" for ticker in complete for sign in "+-")
    column = {word: index for index, word in enumerate(words)}
    entries = [
        (day[date], column[f"{ticker}{'+' if points > 0 else '-'}"], abs(points))
        for ticker in complete
        for date, points in moves[ticker].items()
        if points
    ]
    rows, columns, counts = np.array(entries, dtype=np.int32).T
    table = sp.coo_array((counts, (rows, columns)), shape=(len(dates), len(words)))
    metadata = {"date": np.array(dates, dtype="datetime64[D]")}
    return Corpus(table, words, ids=dates, metadata=metadata).filter_words(min_df=1)


def percentage_points(opening: float, closing: float) -> int:
    """Rounded percentage points from opening to closing price.

    Examples
    --------
    >>> percentage_points(100.0, 97.4), percentage_points(20.0, 20.1), percentage_points(20.0, 20.09)
    (-3, 1, 0)
    """
    start, end = round(opening * _UNIT), round(closing * _UNIT)
    points = (200 * abs(end - start) + start) // (2 * start)
    return points if end >= start else -points


def _moves(path: Path, members: frozenset[str]) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Moves of each stock by date, and all dates with prices, in order."""
    moves: dict[str, dict[str, int]] = defaultdict(dict)
    dates = set()
    for place, record in csv_records(Source(path), None, ",", quoted=True):
        dates.add(record["date"])
        if record["ticker"] not in members:
            continue
        try:
            opening, closing = float(record["open"]), float(record["close"])
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
        if opening > 0 and closing > 0:
            moves[record["ticker"]][record["date"]] = percentage_points(opening, closing)
    return moves, sorted(dates)


def _members(path: Path) -> frozenset[str]:
    source = Source(path)
    with source.open() as stream:
        return frozenset(line.strip() for line in iter_lines(stream, source.name)) - _LEFT_OUT - {""}
