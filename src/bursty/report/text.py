"""Words, names and numbers for display: no control characters, at most one line, NaN as None."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import numpy as np

from bursty.families.bursts import Burstiness
from bursty.typing import Array

LONGEST_WORD = 40
LONGEST_NAME = 120

# JSON inside HTML: characters that could end the element, and the two line separators that old parsers reject.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
# Control, surrogate, private and unassigned characters, and line and paragraph separators. Format characters (Cf) are
# considered one by one: some join emoji and scripts, others change the direction of all following text.
_HIDDEN = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def clean(text: Any, longest: int = LONGEST_WORD) -> str:
    """Text that is safe to display in one line."""
    head = str(text)[: longest + 1]
    shown = "".join("\ufffd" if unicodedata.category(c) in _HIDDEN or c in _TURNING else c for c in head)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def to_json(data: Any) -> str:
    """JSON that is safe in a script element, whatever strings it contains."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def numbers(values: Any, digits: int = 4) -> list[float | int | None]:
    """Numbers rounded to significant digits, None for NaN."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return [int(value) for value in array.ravel()]
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.ravel().tolist()]


def percent(share: float) -> str:
    """A share as a percentage."""
    if not np.isfinite(share):
        return "unknown"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{share:.0%}" if share >= 0.0995 or share == 0 else f"{share:.1%}"


def repeats_sentence(bursts: Burstiness, k: int, where: str = "a document") -> str:
    """What burstiness means for the words of a group."""
    again, plain = float(bursts.again[k]), float(bursts.again_by_chance[k])
    if not np.isfinite(again):
        return "no word could be repeated"
    return f"a word used once in {where} is used again with probability {again:.0%} (by chance {plain:.0%})"


def burstiest_words(bursts: Burstiness, k: int, names: Array) -> list[tuple[str, str, str]]:
    """The burstiest words of a group: name, share of the documents with the word that use it again, and by chance."""
    return [(str(names[w]), f"{again:.0%}", f"{plain:.0%}") for w, again, plain in bursts.burstiest(k)]


def value(number: Any) -> str:
    """A value of any type as text, for a table of facts."""
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
    """A duration in words."""
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
    raise TypeError(f"a report cannot contain {type(item).__name__}")
