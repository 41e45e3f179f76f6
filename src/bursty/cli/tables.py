"""Tables of results, for a terminal, a pipe or a file."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from bursty.cli.messages import as_json, printable

_LONGEST = 40
# A cell that begins so is run by spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
FORMATS = ("csv", "jsonl", "parquet")


@dataclass(frozen=True)
class Table:
    """Columns of equal length; the name is that of its file and its key in JSON."""

    name: str
    columns: Mapping[str, Any]
    title: str = ""
    #: Whether it is printed; if False it is only in files and JSON.
    shown: bool = True
    #: Column of the numbers of clusters or topics, which a terminal shows from 1 as reports do, and programs from 0.
    groups: str = ""
    #: Number of rows printed in a pipe; files and JSON have all.
    most: int | None = None
    #: Columns that a terminal has no room for.
    wide: Collection[str] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Rows of plain Python values."""
        return zip(*([plain(value) for value in column] for column in self.columns.values()), strict=True)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]


def plain(value: Any) -> Any:
    """A value for JSON: Python numbers and strings, None for numbers that are not finite."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)


def write_table(table: Table, folder: Path, format: str) -> Path:
    """Write the table to a file of this format."""
    path = folder / f"{table.name}.{format}"
    if format == "parquet":
        _write_parquet(table, path)
        return path
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        if format == "csv":
            writer = csv.writer(file)
            writer.writerow(table.columns)
            writer.writerows([_for_spreadsheets(_flat(value)) for value in row] for row in table.rows())
        else:
            file.writelines(as_json(record) + "\n" for record in table.records())
    return path


def check_format(format: str) -> None:
    """Raise an error for a format that cannot be written, before any work is done."""
    if format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}, not {format!r}")
    if format == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401 - only to check that it is installed
        except ImportError:
            raise ValueError("Parquet needs pyarrow: pip install 'bursty[parquet]', or use --format csv") from None


def _write_parquet(table: Table, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    columns = {name: [_flat(plain(value)) for value in column] for name, column in table.columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def _flat(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _for_spreadsheets(value: Any) -> Any:
    """Text that no spreadsheet takes for a formula, and no terminal for a command; the other formats have it raw."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if value.lstrip().startswith(_FORMULA) or value.startswith(("\t", "\r", "\n")) else text


def print_facts(facts: Mapping[str, Any], file: IO[str], terminal: bool, say: Callable[[str], str] = str) -> None:
    """Print names and values, one per line; on a terminal with names as ``say`` has them."""
    names = {name: say(spoken(name)) for name in facts}
    width = max(map(len, names.values()), default=0)
    for name, value in facts.items():
        text = _cell(value, long=not terminal)
        print(f"{names[name]:{width}}  {text}" if terminal else f"{name}\t{text}", file=file)


def print_table(
    table: Table, file: IO[str], terminal: bool, limit: int | None = None, say: Callable[[str], str] = str
) -> None:
    """Print a table that fits the terminal, with headings as ``say`` has them; in a pipe, tab-separated fields."""
    if not terminal:
        print("\t".join(map(printable, table.columns)), file=file)
        for row in islice(table.rows(), limit):
            print("\t".join(_cell(value, long=True) for value in row), file=file)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table = _for_people(table)
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, values in table.columns.items():
        numeric = all(isinstance(plain(value), int | float | None) for value in values)
        shown.add_column(Text(say(spoken(name))), justify="right" if numeric else "left", overflow="fold")
    for row in islice(table.rows(), limit):
        shown.add_row(*(Text(_cell(value)) for value in row))
    if table.title:
        print(say(table.title), file=file)
    Console(file=file).print(shown)


def _for_people(table: Table) -> Table:
    """The table as a terminal shows it: groups numbered from 1, without wide columns."""
    columns = {name: values for name, values in table.columns.items() if name not in table.wide}
    if table.groups:
        numbers = [None if value is None else value + 1 for value in columns[table.groups]]
        columns = {
            ("number" if name == table.groups else name): v for name, v in (columns | {table.groups: numbers}).items()
        }
    return replace(table, columns=columns)


def _cell(value: Any, long: bool = False) -> str:
    value = plain(value)
    if value is None:
        return "" if long else "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value) if long else _number(value)
    if isinstance(value, int):
        return str(value) if long else f"{value:,}"
    if isinstance(value, list):
        return (" " if long else ", ").join(_cell(item, long) for item in value)
    text = printable(value)
    return text if long or len(text) <= _LONGEST or " " in text else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _number(value: float) -> str:
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}" if size >= 100 else f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.001 or value == 0 else f"{value:.1e}"


def spoken(name: str) -> str:
    """A name without underscores, for display; a log-likelihood "per word" is one per token, whose unit is another."""
    return printable(name).replace("_per_word", "_per_token").replace("_", " ")
