"""Common appearance of all plots: a palette for colour-blind readers, and never colour as the only distinction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bursty.corpus.checks import check_vocabulary
from bursty.corpus.units import units_of
from bursty.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours, highest contrast first; without yellow, which is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
#: White to dark, also readable in grey.
SHADES = "Blues"
INK, FAINT = "#333333", "#999999"
LONGEST_LABEL = 24


class Mark(NamedTuple):
    """Colour, marker and line style of a series."""

    colour: str
    marker: str
    dash: str


def marks() -> Iterator[Mark]:
    """Styles of successive series; the first 56 differ in colour or marker."""
    for i in count():
        yield Mark(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)], DASHES[i // len(COLOURS) % len(DASHES)])


def mark_number(i: int) -> Mark:
    """Style of series i."""
    return next(islice(marks(), i, None))


def axes(ax: Axes | None, *, width: float = 6.4, height: float = 4.2) -> Axes:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "bursty[report]"') from error
    _, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    return made


def finish(ax: Axes, title: str, xlabel: str = "", ylabel: str = "", *, grid: str = "both", of: Any = None) -> Axes:
    """Set title, labels (in the units of a model or corpus) and a light grid, and remove the box."""
    say = units_of(of).say
    ax.set_title(say(title), loc="left", fontsize="medium", color=INK)
    ax.set_xlabel(say(xlabel))
    ax.set_ylabel(say(ylabel))
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(True, axis=grid, color="#e4e4e4", linewidth=0.7)  # type: ignore[arg-type]  # a literal by another name
    return ax


def short(text: Any) -> str:
    """Text short enough for an axis, escaped where matplotlib would parse it as mathematics, or cannot draw it."""
    plain = str(text).encode("utf-8", "backslashreplace").decode().replace("$", r"\$")
    return plain if len(plain) <= LONGEST_LABEL else plain[: LONGEST_LABEL - 1] + "…"


def word_names(model: Any, n_words: int) -> Array:
    """The words of a fitted model; "word no. 7" if they have no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or np.array_equal(np.asarray(names), check_vocabulary(None, n_words)):
        return np.array([f"word no. {i}" for i in range(n_words)], dtype=object)
    return np.asarray(names, dtype=object)


def bars(ax: Axes, names: Any, values: Any, colour: str = COLOURS[0]) -> None:
    """Horizontal bars with names, the first at the top."""
    from matplotlib.ticker import MaxNLocator

    places = np.arange(len(values))
    ax.barh(places, values, color=colour, height=0.7)
    ax.set_yticks(places, [short(name) for name in names])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))  # long numbers fit beside each other


def table(ax: Axes, values: Array, text: list[list[str]], *, largest: float | None = None) -> Any:
    """Draw a table of shaded cells with their values; returns the image, for a colour bar."""
    top = float(largest if largest is not None else np.nanmax(values, initial=0.0)) or 1.0
    image = ax.imshow(values, cmap=SHADES, vmin=0.0, vmax=top, aspect="auto")
    for row, cells in enumerate(text):
        for column, cell in enumerate(cells):
            colour = "white" if values[row, column] > 0.5 * top else "black"
            ax.text(column, row, cell, ha="center", va="center", color=colour, fontsize="small")
    return image


def column_number(number: Any, total: int, what: str) -> int:
    """Check the number of a cluster or topic."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or not 0 <= number < total:
        raise ValueError(f"{what} must be an integer from 0 to {total - 1}, not {number!r}")
    return int(number)
