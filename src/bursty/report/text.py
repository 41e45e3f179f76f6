"""Words and names as a page may show them: no control characters, not longer than a line, NaN as nothing."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LONGEST_WORD = 40
LONGEST_NAME = 120

# JSON inside HTML: what could end the element, and the two line ends that old scripts stumble over.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
# Control, surrogate, private and unassigned characters, and line and paragraph separators. Format characters (Cf) are
# looked at one by one: some hold emoji and scripts together, others turn the direction of everything after them.
_HIDDEN = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def clean(text: Any, longest: int = LONGEST_WORD) -> str:
    """Text that does no harm to the line it stands in."""
    head = str(text)[: longest + 1]
    shown = "".join("\ufffd" if unicodedata.category(c) in _HIDDEN or c in _TURNING else c for c in head)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def to_json(data: Any) -> str:
    """JSON that can stand in a script element, whatever strings it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def numbers(values: Any, digits: int = 4) -> list[float | int | None]:
    """Numbers of so many significant digits, None where there is none."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return [int(value) for value in array.ravel()]
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.ravel().tolist()]


def percent(share: float) -> str:
    """A share as a reader wants it."""
    if not np.isfinite(share):
        return "unknown"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{share:.0%}" if share >= 0.0995 or share == 0 else f"{share:.1%}"


def value(number: Any) -> str:
    """A number, or whatever it is, for a table of facts."""
    if isinstance(number, bool | np.bool_ | str) or number is None:
        return clean(number, LONGEST_NAME)
    if isinstance(number, int | np.integer):
        return f"{int(number):,}" if abs(int(number)) >= 10_000 else str(int(number))
    if isinstance(number, float | np.floating):
        return f"{float(number):,.4g}"
    if isinstance(number, np.ndarray):
        return f"array of shape {number.shape}"
    return clean(number, LONGEST_NAME)


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.1f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _plain(item: Any) -> Any:
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, np.floating):
        return float(item) if np.isfinite(item) else None
    if isinstance(item, np.ndarray):
        return item.tolist()
    raise TypeError(f"{type(item).__name__} has no place in a report")
